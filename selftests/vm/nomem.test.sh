#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each allocation of each verb fails once, on a kernel that can be told to
# (make check-debug); the leak check at unload has the last word.
# shellcheck disable=SC2086
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip "nomem" "about sroce only"; done_testing; exit; }
[ -e /proc/self/fail-nth ] || {
	skip "nomem" "this kernel has no fault injection"; done_testing; exit; }

# Silent, and allocations that may sleep and single pages count.
prepare_faults()
{
	local kind
	for kind in failslab fail_page_alloc; do
		echo 0 >/sys/kernel/debug/$kind/verbose &&
			echo 0 >/sys/kernel/debug/$kind/ignore-gfp-wait || return
	done
	echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
}

# The module counts what is alive; users of the core are told by the log.
unloads()
{
	topo_down
	rmmod sroce || return
	dmesg | grep 'sroce: .* leaked' && return 1
	load_module
}

make -s -C "$DIR/verbs" || exit 1
trap topo_down EXIT
check "fault injection" prepare_faults
topo_veth
gid_index $DEV_A v4 >/dev/null && gid_index $DEV_B v4 >/dev/null
in_b ip link add nomem type dummy
"$DIR/verbs/.out/nomem" $DEV_A@$NS_A $DEV_B@$NS_B >/tmp/nomem 2>&1
tap_relay </tmp/nomem
check "the program came to its end" grep -q '^1\.\.' /tmp/nomem
check "nothing is left" unloads
done_testing
