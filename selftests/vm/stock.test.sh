#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every stock tool in both directions over IPv4 and IPv6, ROUNDS times; with sanitizers, where to
# start a program takes seconds, in one direction each.
set -uo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

ITERS=${ITERS:-$((200 / ${SLOWNESS:-1}))}
PAIRS="b:v4 b:v6 a:v4 a:v6"
[ "${SLOWNESS:-1}" -lt 4 ] || PAIRS="b:v4 a:v6"

topo_veth || { not_ok "two namespaces, a link in each"; done_testing; exit 1; }

for round in $(seq "${ROUNDS:-1}"); do
	for tool in $STOCK_TOOLS; do
		for pair in $PAIRS; do
			end=${pair%:*} fam=${pair#*:}
			name="$tool, server in $end, IP$fam"
			[ "${ROUNDS:-1}" = 1 ] || name+=", round $round"
			check "$name" stock_tool "$tool" "$end" "$fam"
		done
	done
done

# rdma_cm takes the client's path MTU: a server with less can't have it, and says why.
mtu_differs()
{
	local mark=stock-test-$RANDOM$RANDOM rc=0
	in_a ip link set va mtu 9000 && in_b ip link set vb mtu 1500 || return
	echo "$mark" >/dev/kmsg
	in_b timeout 30 rping -s -a "$IP4_B" -C 1 >/tmp/server 2>&1 &
	wait_until 20 listens_cm "$DEV_B" 7174
	in_a timeout 30 rping -c -a "$IP4_B" -C 1 >/tmp/client 2>&1 || rc=$?
	wait $!
	in_a ip link set va mtu 1500
	if [ $rc -eq 0 ] || [ $rc -eq 124 ]; then
		echo "the client: status $rc"
		cat /tmp/client
		return 1
	fi
	dmesg | sed "0,/$mark/d" | grep -q "$DEV_B: path MTU 4096.* exceeds MTU 1500 of vb" ||
		{ dmesg | sed "0,/$mark/d"; cat /tmp/server; return 1; }
}

# With the same MTU all is well.
mtu_agrees()
{
	in_b timeout 30 rping -s -a "$IP4_B" -C 1 >/tmp/server 2>&1 &
	wait_until 20 listens_cm "$DEV_B" 7174
	in_a timeout 30 rping -c -a "$IP4_B" -C 1 -v && wait $!
}

if [ "$LINK_TYPE" = sroce ]; then
	check "rping, the client's MTU is larger: the log says so" mtu_differs
	check "rping, with the same MTU" mtu_agrees
fi

topo_down
done_testing
