#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SMC-R: programs for TCP whose data takes the devices if both ends have a name in
# common, the enterprise ID (UEID), and TCP otherwise.
set -uo pipefail
# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SMC="timeout -k 1 100 python3 selftests/apps/smc.py"
MIB=8

talk()	# port
{
	local srv rc=0
	in_b $SMC server "$IP4_B" "$1" >/tmp/smc.server 2>&1 &
	srv=$!
	wait_until 20 grep -q listening /tmp/smc.server
	in_a $SMC client "$IP4_B" "$1" $MIB || rc=$?
	[ $rc -eq 0 ] || end_of $srv
	wait $srv || rc=$?
	[ $rc -eq 0 ] || cat /tmp/smc.server
	return $rc
}

ueid() { $SMC ueid SROCE-TEST; }

check "two ends" topo_veth
if ! has_modules smc; then
	skip "data by the devices" "this kernel has no SMC"
	done_testing
	exit
fi
check "the kernel's SMC" modprobe smc
check "data without an ID: TCP" idle talk 7100
check "an ID, which is for the whole kernel" ueid
check "data by the devices" took $((2 * MIB * 1000000)) talk 7101
check "again, by the same link group" took $((2 * MIB * 1000000)) talk 7102
topo_down
check "the module goes" modprobe -r smc
done_testing
