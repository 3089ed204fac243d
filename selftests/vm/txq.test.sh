#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Transmit queues: all packets of a QP take one queue of the netdev, with the priority of
# their SL or traffic class, and a QP gives the qdisc no more than that can keep. What a
# qdisc keeps for ever holds up nobody.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

OUT=$(mktemp)

[ "$LINK_TYPE" = sroce ] || { skip txq "about sroce only"; done_testing; exit; }
[ "$(nproc)" -gt 1 ] || { skip txq "one CPU"; done_testing; exit; }

bw()	# tool [option...]
{
	perftest_pair "$@" --qp-timeout 18 >"$OUT" 2>&1 || { cat "$OUT"; return 1; }
}

# As topo_veth, with four queues at each end.
queues_up()
{
	load_module
	ns_add $NS_A
	ns_add $NS_B
	ip link add va netns $NS_A numtxqueues 4 numrxqueues 4 type veth \
		peer name vb netns $NS_B numtxqueues 4 numrxqueues 4
	addresses $NS_A va $IP4_A $IP6_A
	addresses $NS_B vb $IP4_B $IP6_B
	links_up
}

links_up()
{
	in_a rdma link add "$DEV_A" type sroce netdev va
	in_b rdma link add "$DEV_B" type sroce netdev vb
	GID_A=$(gid_index "$DEV_A" v4) GID_B=$(gid_index "$DEV_B" v4)
}

# ---- one queue for a QP ----------------------------------------------------

# A qdisc for each queue, as it counts packets; the segments of a train are one each.
count_queues()	# a|b netdev
{
	local i
	"in_$1" tc qdisc del dev "$2" root 2>/dev/null
	"in_$1" tc qdisc add dev "$2" root handle 1: mq || return
	for i in 1 2 3 4; do
		"in_$1" tc qdisc add dev "$2" parent "1:$i" handle "1$i:" \
			pfifo limit 100000 || return
	done
}

queue_pkts()	# a|b netdev: of each queue, the busiest first
{
	"in_$1" tc -s -j qdisc show dev "$2" |
		grep -oP '"kind":"pfifo".*?"packets":\K[0-9]+' | sort -rn
}

xps()	# a|b netdev mask...
{
	local i=0 mask
	for mask in "${@:3}"; do
		echo "$mask" | "in_$1" tee "/sys/class/net/$2/queues/tx-$((i++))/xps_cpus" \
			>/dev/null || return
	done
}

# What perftest says over TCP, and ARP, are some dozen packets on any queue.
one_queue()	# a|b netdev
{
	local -a n
	mapfile -t n < <(queue_pkts "$1" "$2")
	echo "packets by queue: ${n[*]}"
	[ "${#n[@]}" -eq 4 ] && [ "${n[0]}" -ge 1000 ] && [ "$((n[1] + n[2] + n[3]))" -lt 250 ]
}

by_one_queue()	# tool
{
	count_queues a va && count_queues b vb || return
	bw "$1" -s 65536 -n $((2000 / ${SLOWNESS:-1})) || return
	case $1 in
	ib_read_bw)	one_queue b vb ;;
	*)	one_queue a va ;;
	esac
}

no_mq()
{
	in_a tc qdisc del dev va root
	in_b tc qdisc del dev vb root
	xps a va 0 0 0 0
	xps b vb 0 0 0 0
}

test_one_queue()
{
	local tool
	for tool in ib_write_bw ib_read_bw ib_send_bw; do
		check "without XPS all packets take one queue: $tool" by_one_queue $tool
	done
	xps a va 1 2 0 0
	xps b vb 1 2 0 0
	for tool in ib_write_bw ib_read_bw ib_send_bw; do
		check "with XPS all packets take one queue: $tool" by_one_queue $tool
	done
	no_mq
}

# ---- a queue that is too short ---------------------------------------------

slow()	# a|b netdev
{
	"in_$1" tc qdisc replace dev "$2" root handle 1: tbf rate 20mbit burst 5k limit 10mb &&
		"in_$1" tc qdisc replace dev "$2" parent 1:1 pfifo limit 100
}

qdisc_drops()	# a|b netdev
{
	"in_$1" tc -s -j qdisc show dev "$2" | grep -oP '"kind":"pfifo".*?"drops":\K[0-9]+'
}

# The first two trains may be too much for it. A QP without back-pressure has 15 to 20 %
# of 3200 packets dropped.
few_drops()	# a|b netdev tool
{
	local n
	slow "$1" "$2" || return
	TIMEOUT=60 bw "$3" -s 65536 -n 50 -t 16 --mtu 1024 || return
	n=$(qdisc_drops "$1" "$2")
	echo "$n packets dropped"
	[ "$n" -le 60 ]
}

test_short_queue()
{
	check "a slow qdisc with a short queue drops few packets of a WRITE" \
		few_drops a va ib_write_bw
	check "the QP was stopped" test "$(counter "$DEV_A" tx_queue_stopped)" -gt 0
	in_a tc qdisc del dev va root
	check "and few responses of a READ" few_drops b vb ib_read_bw
	in_b tc qdisc del dev vb root
}

# ---- priority and ECN ------------------------------------------------------

# The devices have GIDs of the VLANs on their netdevs, too.
vlans_up()
{
	local map="0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7"
	# shellcheck disable=SC2086
	in_a ip link add link va name va.7 type vlan id 7 egress-qos-map $map &&
		in_b ip link add link vb name vb.7 type vlan id 7 egress-qos-map $map ||
		return
	addresses $NS_A va.7 10.8.0.1 fd08::1
	addresses $NS_B vb.7 10.8.0.2 fd08::2
	wait_until 10 vlan_gid "$DEV_A" 0a08:0001 && wait_until 10 vlan_gid "$DEV_B" 0a08:0002
}

vlan_gid() { gids "$1" | grep -oP "^[0-9]+(?= .*$2\$)"; }

# sent_as REGEX [option...]: what tcpdump says of the requests of $TOOL, by default a
# WRITE, over the VLAN
sent_as()
{
	local want=$1 pid
	local GID_A GID_B IP4_B=10.8.0.2
	shift
	GID_A=$(vlan_gid "$DEV_A" 0a08:0001) GID_B=$(vlan_gid "$DEV_B" 0a08:0002)
	in_b timeout $((30 * ${SLOWNESS:-1})) tcpdump -l -i vb -env -c 20 --immediate-mode \
		'vlan 7 and src 10.8.0.1 and udp port 4791' >"$OUT.pcap" 2>"$OUT.log" & pid=$!
	wait_until 15 grep -q 'listening on' "$OUT.log"
	bw "${TOOL:-ib_write_bw}" -s 1024 -n 200 "$@" || return
	# a train is one packet here, so there may be fewer than that
	wait_until 10 grep -q 'vlan 7,' "$OUT.pcap"
	pkill -INT -x tcpdump
	wait $pid
	grep -qE "$want" "$OUT.pcap" || { head -5 "$OUT.pcap"; return 1; }
	! grep 'vlan 7,' "$OUT.pcap" | grep -vE "$want"
}

ecn() { echo "$1" >"/sys/class/infiniband/$DEV_A/ecn"; }
cc() { echo "$1" >"/sys/class/infiniband/$DEV_A/congestion_control"; }

test_priority()
{
	check "VLANs on both ends" vlans_up
	check "without SL and traffic class the priority is 0" sent_as 'vlan 7, p 0,.*tos 0x0,'
	check "the SL is the priority" sent_as 'vlan 7, p 5,' --sl 5
	check "without SL it follows the traffic class" sent_as 'vlan 7, p 6,.*tos 0x10' \
		--tclass 16
	check "an SL precedes the traffic class" sent_as 'vlan 7, p 3,.*tos 0x10' \
		--sl 3 --tclass 16
	check "ECN bits of the traffic class are sent" sent_as 'tos 0x1,ECT\(1\)' --tclass 1
	ecn 1
	check "ecn=1: packets are ECN-capable" sent_as 'tos 0x2,ECT\(0\)'
	check "ecn=1: the traffic class's own ECN bits stay" sent_as 'tos 0x1,ECT\(1\)' \
		--tclass 1
	TOOL=ib_send_bw check "ecn=1: UC, which heeds no CNP, is not ECN-capable" \
		sent_as 'tos 0x0,' -c UC
	TOOL=ib_send_bw check "ecn=1: nor is UD" sent_as 'tos 0x0,' -c UD
	cc 0
	check "ecn=1: nor is RC without congestion control" sent_as 'tos 0x0,'
	check "ecn=1: there, too, the traffic class's own ECN bits stay" \
		sent_as 'tos 0x1,ECT\(1\)' --tclass 1
	cc 1
	ecn 0
	in_a ip link del va.7
	in_b ip link del vb.7
}

# By the service, as UC has no queue for responses
test_marks()
{
	local service
	for service in RC UC; do
		check "$service: packets that were marked are reported to who sent them" \
			grows np_cnp_sent bw ib_send_bw -s 1024 -n 100 -c $service --tclass 3
	done
}

limit() { echo "$1" >"/sys/class/infiniband/$DEV_A/tx_limit"; }
limit_is() { [ "$(cat "/sys/class/infiniband/$DEV_A/tx_limit")" -eq "$1" ]; }

test_limit()
{
	check "two trains are the limit by default" limit_is 131072
	limit 8000
	check "the limit can be set" limit_is 8000
	check "a small one stops the QP" grows tx_queue_stopped bw ib_write_bw -s 65536 -n 500
	limit 4294967295
	check "the largest one never does" stays tx_queue_stopped bw ib_write_bw -s 65536 -n 500
	limit 0
	check "0 is the default again" limit_is 131072
	in_a ip link set va gso_max_size 16384
	check "which is two trains of this netdev, at once" limit_is 32768
	in_a ip link set va gso_max_size 65536
	check "and follows it back" limit_is 131072
}

# ---- a qdisc that keeps its packets ----------------------------------------

within()	# seconds command...
{
	local start=$SECONDS
	timeout "$@" || return
	echo "$((SECONDS - start)) s"
}

backlog()	# packets in the qdisc of va
{
	in_a tc -s -j qdisc show dev va | grep -oP '"qlen":\K[0-9]+' | sort -rn | head -1
}

keeps_packets() { [ "$(backlog)" -gt 0 ]; }

# keep QDISC...: have packets of a QP kept by a qdisc, then kill the processes
keep()
{
	local pid
	perftest_pair ib_write_bw -s 65536 -D 60 >/dev/null 2>&1 & pid=$!
	wait_until 20 moving || { echo "no transfer"; return 1; }
	in_a tc qdisc replace dev va root "$@" || return
	wait_until 10 keeps_packets || { echo "nothing is kept"; return 1; }
	pkill -9 ib_write_bw
	wait $pid 2>/dev/null
	wait_until 10 no_perftest
}

moving() { [ "$(counter "$DEV_A" tx_pkts)" -gt 1000 ]; }
no_perftest() { ! pgrep -x ib_write_bw; }

test_kept()	# name qdisc...
{
	local name=$1
	shift
	check "$name keeps packets of a QP whose process ends" keep "$@"
	check "$name: deleting the link takes no time" within 5 rdma link delete "$DEV_A"
	check "$name: and so does removing the module" wait_until 10 timeout 10 rmmod sroce
	check "$name: the packets are still there" keeps_packets
	in_a tc qdisc del dev va root
	check "$name: loading the module again" load_module
	links_up
}

# ---- packets that outlive the namespace of their QP ------------------------

# The UDP that B gets from A goes into a qdisc of B that keeps it, with A's socket as the owner.
keep_in_b()
{
	local pid
	perftest_pair ib_write_bw -s 65536 -D 60 >/dev/null 2>&1 & pid=$!
	wait_until 20 moving || { echo "no transfer"; return 1; }
	# without packets of its own
	in_b ip link add keeper type dummy &&
		in_b sysctl -qw net.ipv6.conf.keeper.disable_ipv6=1 &&
		in_b ip link set keeper up &&
		in_b tc qdisc add dev keeper root netem delay "$1" limit 10000 &&
		in_b tc qdisc add dev vb clsact &&
		in_b tc filter add dev vb ingress protocol ip u32 match ip protocol 17 0xff \
			action mirred egress redirect dev keeper || return
	wait_until 10 b_keeps || { echo "nothing is kept"; return 1; }
	pkill -9 ib_write_bw
	wait $pid 2>/dev/null
	wait_until 10 no_perftest
}

b_keeps() { in_b tc -s -j qdisc show dev keeper | grep -qP '"qlen":[1-9]'; }
b_keeps_none() { ! b_keeps; }
a_gone() { ! rdma link show "$DEV_A/1" >/dev/null 2>&1 && ! ip netns list | grep -qw $NS_A; }

# Its end is complete once another one has ended as well: they end in turn.
end_a()
{
	b_keeps || return
	ip netns del $NS_A && wait_until 10 a_gone || return
	ip netns add "$NS_A.next" && ip netns del "$NS_A.next" && b_keeps
}

no_splat() { ! dmesg | grep -E 'BUG:|WARNING:|Oops|refcount_t|KASAN'; }

test_outlive()
{
	check "packets wait in another namespace" keep_in_b 45s
	check "the namespace of their QP ends before them" end_a
	check "they go on their way" wait_until 90 b_keeps_none
	check "and the kernel has nothing to say" no_splat
}

# ---- packets of a QP's former life -------------------------------------------

# A netdev that takes all packets at once, and a peer on it that is not there. The MAC makes
# a link-local GID with ff:ff where an IPv4 address has them.
former()
{
	local rc=0
	ip link add former address 02:00:ff:00:07:01 type dummy &&
		ip addr add 10.7.0.1/24 dev former &&
		ip link set former up &&
		ip neigh add 10.7.0.2 lladdr 02:00:00:00:07:02 dev former nud permanent &&
		rdma link add former type sroce netdev former &&
		gid_index former v4 >/dev/null || return
	"$DIR/verbs/.out/former" former former ::ffff:10.7.0.2 >"$OUT" 2>&1 || rc=$?
	cat "$OUT"
	rdma link delete former
	ip link delete former
	return $rc
}

perftest_tools() { command -v ib_write_bw >/dev/null; }

perftest_tools || { skip txq "no perftest"; done_testing; exit; }
trap 'topo_down; rm -f "$OUT"*' EXIT
queues_up
for end in in_a in_b; do
	$end sysctl -qw net.ipv4.tcp_orphan_retries=1 net.ipv4.tcp_retries2=2
done
test_one_queue
test_short_queue
test_limit
test_marks
test_priority
test_kept tbf tbf rate 8bit burst 1600 limit 10mb
test_kept netem netem delay 60s limit 10000
test_outlive
check "RESET drops packets that wait for others of their train" former
done_testing
