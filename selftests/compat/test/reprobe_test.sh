#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The probes of drv/compat are run again after a change of what their answers come from, and
# only then.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh
# shellcheck source=tools/kernel.sh
. tools/kernel.sh

KDIR=${KDIR:-$(kernel_headers "${KERNEL:-6.1}")}
unset MAKEFLAGS MFLAGS KERNEL BUILD
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT

# A header below those that probe.h names, and a compiler
touch "$DIR/deep.h"
compiler()	# version
{
	cat >"$DIR/cc" <<-END
	#!/bin/sh
	[ "\$*" != --version ] || { echo "gcc (it's #$1) $1"; exit 0; }
	exec gcc "\$@"
	END
	chmod +x "$DIR/cc"
}

# The least of a build for which the probes have to be run
build()
{
	make --no-print-directory KDIR="$KDIR" BUILD="$DIR/build" CC="$DIR/cc" \
		KCFLAGS="-include $DIR/deep.h" MODULE_GOAL=drv/core/mem/ring.o module >"$DIR/log" 2>&1
}

probes() { build && grep -q PROBE "$DIR/log" || { cat "$DIR/log"; return 1; }; }
probes_nothing() { build && ! grep -qE 'PROBE|CC' "$DIR/log" || { cat "$DIR/log"; return 1; }; }

# In the build directory it is a link to the source, which stays as it is.
probe_changes()
{
	local f=$DIR/build/drv/compat/probes/flush.c
	cp --remove-destination drv/compat/probes/flush.c "$f"
	make -C "$KDIR" M="$DIR/build" CC="$DIR/cc" KCFLAGS="-include $DIR/deep.h" \
		drv/core/mem/ring.o 2>&1 | tee "$DIR/log" | grep PROBE
}

compiler 12
check "the first build runs them" probes
check "the second does not, nor does it compile" probes_nothing
touch "$DIR/deep.h"
check "a header that others include has changed" probes
compiler 13
check "the compiler is another by the same name" probes
check "a probe has changed" probe_changes
check "nothing has changed" probes_nothing
done_testing
