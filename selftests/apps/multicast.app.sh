#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Multicast with rdma_cm: mckey. With RoCEv2 the kernel's rdma_cm joins IPv4 groups only.
set -uo pipefail
# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

COUNT=50

# mckey's receiver ends when it has got them all, which is why the sender sends more.
group()	# receiver its-address sender its-address group
{
	local srv rc=0
	"in_$1" timeout 60 stdbuf -oL mckey -m "$5" -b "$2" -C $COUNT -S 1024 >/tmp/mckey.b 2>&1 &
	srv=$!
	wait_until 20 grep -q 'receiving data' /tmp/mckey.b
	sleep 1
	"in_$3" timeout 60 mckey -m "$5" -b "$4" -s -C $COUNT -S 1024 || rc=$?
	wait $srv || { rc=$?; cat /tmp/mckey.b; }
	return $rc
}

check "two ends" topo_veth
check "an IPv4 group" took $((COUNT * 1024)) group b "$IP4_B" a "$IP4_A" 239.7.7.7
check "another group, the other direction" took $((COUNT * 1024)) group a "$IP4_A" b "$IP4_B" 239.8.8.8
done_testing
