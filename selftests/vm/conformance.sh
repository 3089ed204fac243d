#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In the VM, for tools/conformance.sh: a link of type SROCE_LINK_TYPE, and scripts of
# selftests/wire on it. What is found is kept with the VM's own files.
#
# usage: conformance.sh SECONDS NAME...
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"
# shellcheck source=selftests/wire/topo.sh
. "$DIR/wire/topo.sh"

# Whatever the device does, the next script is run.
echo 0 >/proc/sys/kernel/panic_on_oops

OUT=$SROCE_JOB/vm$VM_ID/conformance
mkdir -p "$OUT"
topo_wire
wire_ends
uname -r >"$OUT/release"
seconds=$1
shift
"$DIR/wire/conformance.sh" "$OUT" "$seconds" "${WIRE_ENDS[@]}" -- "$@"
