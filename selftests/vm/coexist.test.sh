#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sroce beside rdma_rxe: loaded before and after it, each removed first, both
# carrying traffic, netdev events reaching both.
#
# rdma_rxe up to 6.x binds UDP 4791 in the initial namespace when it is
# loaded, so there only one of the two can have links; rxe then has the initial
# namespace and sroce the others.
set -uo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip "coexist" "about sroce only"; done_testing; exit; }
modprobe -n rdma_rxe 2>/dev/null ||
	{ skip "coexist" "no rdma_rxe in this kernel"; done_testing; exit; }

rxe_owns_port() { ss -lunH 'sport = :4791' | grep -q .; }

rxe_up()
{
	modprobe rdma_rxe || return
	ip link add vr type veth peer name vrp || return
	ip addr add 10.8.0.1/24 dev vr
	ip link set vrp up
	ip link set vr up
	rdma link add rxe0 type rxe netdev vr
}

rxe_down()
{
	! link_exists rxe0 || rdma link delete rxe0
	[ ! -e /sys/class/net/vr ] || ip link delete vr
	! grep -q '^rdma_rxe ' /proc/modules || rmmod rdma_rxe
}

sroce_traffic() { stock_tool ibv_rc_pingpong b v4 && stock_tool rping b v6; }

# rxe0 to itself, in the initial namespace.
rxe_traffic()
{
	local gid pid
	gid=$(gid_index rxe0 v4) || return
	timeout 30 ibv_rc_pingpong -d rxe0 -g "$gid" -p 18600 -n 200 \
		>/tmp/rxe.s 2>&1 &
	pid=$!
	wait_until 10 sh -c "ss -ltnH 'sport = :18600' | grep -q ."
	timeout 30 ibv_rc_pingpong -d rxe0 -g "$gid" -p 18600 -n 200 127.0.0.1 \
		>/tmp/rxe.c 2>&1 && wait $pid && return
	tail -n 5 /tmp/rxe.s /tmp/rxe.c
	return 1
}

both_at_once()
{
	local pid
	rxe_traffic &
	pid=$!
	sroce_traffic && wait $pid
}

# Up, down and MTU changes of every netdev, which both drivers hear about.
events()
{
	local i
	for i in 1 2 3; do
		ip link set vr mtu 1400 && ip link set vr down &&
			ip link set vr mtu 1500 && ip link set vr up || return
		in_a ip link set va mtu 1400 && in_a ip link set va down &&
			in_a ip link set va mtu 1500 && in_a ip link set va up ||
			return
	done
	# a link that goes down loses its IPv6 addresses
	in_a ip addr replace $IP6_A/64 dev va nodad
	wait_until 10 ip netns exec a ping -c1 -W1 $IP4_B &&
		wait_until 10 ip netns exec a ping -c1 -W1 $IP6_B
}

init_ns_refused()
{
	local out
	ip link add td0 type dummy
	out=$(link_add t0 td0 2>&1)
	local rc=$?
	ip link delete td0
	[ $rc -ne 0 ] || { echo "was accepted"; return 1; }
	grep -qi 'in use' <<<"$out" || { echo "$out"; return 1; }
	dmesg | tail -n 20 | grep -q "sroce: can't add t0: UDP port 4791" ||
		{ echo "no reason in the log"; return 1; }
}

no_links() { ! link_exists $DEV_A && ! link_exists $DEV_B; }

both_up()
{
	check "$1: both carry traffic at once" both_at_once
	check "$1: netdevs go up, down, change MTU" events
	check "$1: both carry traffic after that" both_at_once
	if rxe_owns_port; then
		check "$1: sroce in the initial namespace says who has the port" \
			init_ns_refused
	else
		skip "$1: sroce in the initial namespace says who has the port" \
			"this rxe binds no port at load"
	fi
}

rxe_first()
{
	check "rxe first: rxe0 in the initial namespace" rxe_up
	check "rxe first: sroce links in two others" topo_veth
	both_up "rxe first"
	topo_down
	check "rxe first: sroce leaves first" wait_until 10 rmmod sroce
	check "rxe first: rxe goes on" rxe_traffic
	check "rxe first: rxe leaves" rxe_down
}

sroce_first()
{
	check "sroce first: links in two namespaces" topo_veth
	check "sroce first: rxe0 in the initial namespace" rxe_up
	both_up "sroce first"
	# The stock provider only serves devices with rxe's driver_id, and the
	# kernel unregisters all devices of that id when rdma_rxe is unloaded:
	# ours go too, which must be clean, and they can be added again.
	check "sroce first: rxe leaves first" rxe_down
	check "sroce first: the kernel took sroce's links along" no_links
	topo_down
	check "sroce first: links can be added again" topo_veth
	check "sroce first: and carry traffic" sroce_traffic
	topo_down
	check "sroce first: sroce leaves" wait_until 10 rmmod sroce
}

# sroce already has the port in the initial namespace when rxe comes.
sroce_has_port()
{
	load_module
	ip link add td0 type dummy
	link_add t0 td0
	if modprobe rdma_rxe 2>/dev/null; then
		diag "rdma_rxe loads although the port is taken"
		rmmod rdma_rxe
	fi
	check "sroce keeps its link when rxe finds the port taken" \
		rdma link show t0/1
	rdma link delete t0
	ip link delete td0
	check "rxe loads once the port is free" modprobe rdma_rxe
	check "and unloads" rmmod rdma_rxe
}

rxe_first
sroce_first
sroce_has_port
done_testing
