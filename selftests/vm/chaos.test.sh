#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Everything is taken away while it is in use: objects, processes, links,
# netdevs, namespaces, the module. The traffic has no result to check; the
# kernel log, the leak counter at unload and what works afterwards have.
# shellcheck disable=SC2086
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip "chaos" "about sroce only"; done_testing; exit; }

PIDS=()

churn_start()	# seconds number
{
	local i
	PIDS=()
	for ((i = 1; i <= $2; i++)); do
		"$DIR/verbs/.out/churn" $DEV_A@$NS_A $DEV_B@$NS_B --seconds "$1" \
			--seed $i >/tmp/churn.$i 2>&1 &
		PIDS+=($!)
	done
}

has_moved() { [ "$(both rx_pkts)" -ge $(($1 + 1000)) ]; }

# Packets have come, and all processes run.
at_work()
{
	wait_until 20 has_moved "$(both rx_pkts)" && all_run "${PIDS[@]}" && return
	echo "no traffic, or a process has ended"
	cat /tmp/churn.?
	churn_kill
	return 1
}

# They may find their devices gone, but have to end, and not by a signal.
churn_end()
{
	local pid rc bad=0
	for pid in "${PIDS[@]}"; do
		wait "$pid"
		rc=$?
		[ $rc -lt 128 ] || { echo "exit status $rc"; bad=1; }
	done
	PIDS=()
	return $bad
}

churn_kill()
{
	local pid
	for pid in "${PIDS[@]}"; do kill -KILL "$pid"; done 2>/dev/null
	for pid in "${PIDS[@]}"; do wait "$pid"; done 2>/dev/null
	PIDS=()
}

gone() { ! link_exists "$1"; }
module_gone() { rmmod sroce; }
idle() { ! rdma resource show qp 2>/dev/null | grep -q ' comm churn'; }

up()
{
	topo_veth && gid_index $DEV_A v4 >/dev/null &&
		gid_index $DEV_B v4 >/dev/null
}

works() { stock_tool ibv_rc_pingpong b v4; }

objects()
{
	churn_start 6 3
	churn_end && grep -h '^#' /tmp/churn.? &&
		! grep -h '^not ok' /tmp/churn.?
}

killed()
{
	local i
	for i in 1 2 3 4; do
		churn_start 30 3
		at_work || return
		sleep 0.$i
		churn_kill
	done
	wait_until 20 idle || { rdma resource show qp; return 1; }
	works
}

# What may happen to a netdev in use: it goes down and up, its MTU, name and
# addresses change. Each leaves it as it was.
nudge()	# command that runs in its namespace, netdev, IPv4, IPv6
{
	local in=$1 dev=$2
	$in ip link set $dev down && $in ip link set $dev up &&
	$in ip link set $dev mtu 700 && $in ip link set $dev mtu 9000 &&
	$in ip addr del $3/24 dev $dev && $in ip addr add $3/24 dev $dev &&
	$in ip -6 addr replace $4/64 dev $dev nodad &&
	$in ip -6 addr del $4/64 dev $dev &&
	$in ip addr add 10.66.0.1/24 dev $dev &&
	$in ip link add link $dev name vl0 type vlan id 9 &&
	$in ip addr add 10.67.0.1/24 dev vl0 && $in ip link set vl0 up &&
	$in ip link set $dev down && $in ip link set $dev name other &&
	$in ip link set other name $dev && $in ip link set $dev up &&
	$in ip link delete vl0 && $in ip addr del 10.66.0.1/24 dev $dev &&
	$in ip link set $dev mtu 1500 &&
	$in ip -6 addr replace $4/64 dev $dev nodad
}

# The same at once, by one program
nudge_quickly()	# command that runs in its namespace, netdev, IPv4, IPv6
{
	$1 ip -batch - <<-END
	link set $2 down
	link set $2 up
	link set $2 mtu 700
	link set $2 mtu 9000
	addr del $3/24 dev $2
	addr add $3/24 dev $2
	addr replace $4/64 dev $2 nodad
	addr del $4/64 dev $2
	addr add 10.66.0.1/24 dev $2
	link add link $2 name vl0 type vlan id 9
	addr add 10.67.0.1/24 dev vl0
	link set vl0 up
	link set $2 down
	link set $2 name other
	link set other name $2
	link set $2 up
	link delete vl0
	addr del 10.66.0.1/24 dev $2
	link set $2 mtu 1500
	addr replace $4/64 dev $2 nodad
	END
}

# Tables follow from a work queue, which may have much to do.
settled()
{
	local was
	was=$(gids $DEV_A; gids $DEV_B)
	sleep 1
	[ "$was" = "$(gids $DEV_A; gids $DEV_B)" ]
}

nudged()
{
	local i how
	churn_start 25 3
	at_work || return
	for how in nudge nudge_quickly nudge_quickly; do
		sleep 0.3
		$how in_a va $IP4_A $IP6_A && $how in_b vb $IP4_B $IP6_B ||
			return
	done
	churn_kill
	wait_until 20 settled
	wait_until 20 gid_index $DEV_A v6 && wait_until 20 gid_index $DEV_B v6 &&
		works && stock_tool ibv_rc_pingpong b v6 && return
	for i in in_a in_b; do
		$i ip addr; $i ip -6 route; $i ip neigh
	done
	return 1
}

link_deleted()
{
	churn_start 30 2
	at_work || return
	rdma link delete $DEV_A && rdma link delete $DEV_B || return
	churn_end || return
	topo_down
	up && works
}

netdev_deleted()
{
	churn_start 30 2
	at_work || return
	in_a ip link delete va || return
	wait_until 20 gone $DEV_A && wait_until 20 gone $DEV_B || return
	churn_end || return
	topo_down
	up && works
}

# The processes stand in the namespaces, which go when they do.
netns_deleted()
{
	churn_start 30 2
	at_work || return
	ip netns delete $NS_A && ip netns delete $NS_B || return
	churn_kill
	wait_until 20 gone $DEV_A && wait_until 20 gone $DEV_B
}

# Two ways of removing a device meet.
delete_and_delete()
{
	local i
	for i in {1..25}; do
		ip link add td0 type dummy && link_add t0 td0 || return
		rdma link delete t0 2>/dev/null &
		sleep 0.0$((i % 5))$((i * 3 % 10))
		ip link delete td0 || return
		wait $!
		wait_until 10 gone t0 || return
	done
}

delete_and_events()
{
	local pid n=0
	ip link add td0 type dummy || return
	while :; do
		ip link set td0 up && ip link set td0 down
	done &
	pid=$!
	while [ $n -lt 15 ] && link_add t0 td0 && rdma link delete t0; do n=$((n + 1)); done
	kill $pid
	wait $pid 2>/dev/null
	ip link delete td0
	[ $n -eq 15 ] && gone t0
}

# A netdev leaves while a link is added to it: no link may stay behind.
move_and_add()
{
	local i
	ns_add c
	ip link add td0 type dummy || return
	for i in {1..15}; do
		link_add t0 td0 2>/dev/null &
		sleep 0.$((i / 4))$((i % 4 * 25))
		ip link set td0 netns c || return
		wait $!
		wait_until 5 gone t0 || return
		ip -n c link set td0 netns 1
	done
	ip link delete td0 && ip netns delete c
}

# A netdev that leaves its namespace, which ends before the link has.
moved_and_deleted()
{
	local i
	for i in {1..10}; do
		ns_add c
		ip -n c link add td0 type dummy
		ip netns exec c rdma link add t0 type sroce netdev td0 || return
		ip -n c link set td0 netns 1 && ip netns delete c || return
		wait_until 10 gone t0 || return
		ip link delete td0
	done
}

hoard_ready() { grep -q ready /tmp/hoard; }

# The same, while the removal of the link takes longer than the namespace does.
moved_and_deleted_slowly()
{
	local pid
	ns_add c
	ip -n c link add td0 type dummy
	ip -n c addr add 10.77.0.1/24 dev td0 && ip -n c link set td0 up
	ip netns exec c rdma link add t0 type sroce netdev td0 || return
	gid_index t0 v4 || return
	"$DIR/verbs/.out/hoard" t0 100 >/tmp/hoard 2>&1 &
	pid=$!
	wait_until 20 hoard_ready || { cat /tmp/hoard; kill $pid; return 1; }
	ip -n c link set td0 netns 1 && ip netns delete c || return
	wait_until 30 gone t0
	kill $pid
	wait $pid 2>/dev/null
	gone t0 && ip link delete td0
}

add_and_delete()
{
	local pid n=0
	ip link add td0 type dummy || return
	while :; do rdma link delete t0; done 2>/dev/null &
	pid=$!
	for _ in {1..20}; do link_add t0 td0 && n=$((n + 1)); done 2>/dev/null
	kill $pid
	wait $pid 2>/dev/null
	rdma link delete t0 2>/dev/null
	echo "$n of 20 were added"
	gone t0 && ip link delete td0 && [ $n -ge 2 ]
}

# The last close of a verbs file may still be on its way.
module_removed()
{
	up || return
	churn_start 30 3
	at_work || return
	churn_kill
	wait_until 20 module_gone || { rmmod sroce; return 1; }
	dmesg | grep 'sroce: .* leaked' && return 1
	topo_down
	load_module && up && works
}

make -s -C "$DIR/verbs" || exit 1
trap 'churn_kill; topo_down' EXIT
check "links for everything that follows" up
check "objects come and go under traffic" objects
check "processes are killed under traffic" killed
check "netdevs change under traffic" nudged
check "links are deleted under traffic" link_deleted
check "a netdev is deleted under traffic" netdev_deleted
check "namespaces are deleted under traffic" netns_deleted
check "a link and its netdev are deleted at once" delete_and_delete
check "a link comes and goes while its netdev goes up and down" \
	delete_and_events
check "a link is deleted as soon as it is added" add_and_delete
check "a netdev leaves while a link is added to it" move_and_add
check "a netdev leaves a namespace that ends" moved_and_deleted
check "a netdev leaves a namespace that ends, and its link lingers" \
	moved_and_deleted_slowly
check "the module is removed right after the traffic" module_removed
done_testing
