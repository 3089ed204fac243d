#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets that cross a wire one by one are received as trains, where NAPI brings them
# together (drv/rx/gro.c): how many, that none is lost, changed or out of place, whatever
# is between, and what does not join a train.
set -uo pipefail
shopt -s extglob
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"
# shellcheck source=selftests/lib/router.sh
. "$DIR/lib/router.sh"

OUT=$(mktemp)
VLAN=7

[ "$LINK_TYPE" = sroce ] || { skip gro "about sroce only"; done_testing; exit; }

# As a NIC without segmentation would send. gro: of the receiver, with veth's NAPI
cut_up()	# a|b|r NETDEV on|off
{
	"in_$1" ethtool -K "$2" tso off gso off tx-udp-segmentation off gro "$3" >/dev/null
}

# ---- transfers -------------------------------------------------------------

bw()	# tool [option...]
{
	perftest_pair "$@" -s 65536 -n 200 --qp-timeout 18 >"$OUT" 2>&1 ||
		{ cat "$OUT"; return 1; }
}

# bring_together DEVICE LEAST command...: packets of a train, on average, of one transfer in six.
# How many come in one round of NAPI depends on when the sender has a CPU: 13 to 42 of SENDs.
bring_together() { one_of 6 brings_together "$@"; }

brings_together()
{
	local dev=$1 least=$2 trains packets all
	shift 2
	trains=$(counter "$dev" rx_gro_trains) packets=$(counter "$dev" rx_gro_pkts)
	all=$(counter "$dev" rx_pkts)
	"$@" || return
	trains=$(($(counter "$dev" rx_gro_trains) - trains))
	packets=$(($(counter "$dev" rx_gro_pkts) - packets))
	all=$(($(counter "$dev" rx_pkts) - all))
	echo "$packets of $all packets in $trains trains"
	[ $trains -gt 0 ] && [ $packets -ge $((trains * least)) ] &&
		[ $packets -gt $((all / 2)) ]
}

trains_and_stress() { grows rx_gro_trains stress "$1" 2 1; }

test_transfers()
{
	local family
	for family in v6 v4; do
		# shellcheck disable=SC2034 # perftest_pair needs them
		GID_A=$(gid_index "$DEV_A" $family) GID_B=$(gid_index "$DEV_B" $family)
		check "$family: packets of WRITEs come together" \
			bring_together "$DEV_B" 16 bw ib_write_bw
		check "$family: those of READ responses" \
			bring_together "$DEV_A" 16 bw ib_read_bw
		check "$family: those of SENDs" bring_together "$DEV_B" 16 bw ib_send_bw
		check "$family: they arrive as they were sent" trains_and_stress "${family#v}"
	done
}

captured()
{
	local rc=0
	start_capture /tmp/gro.pcap vb "$NS_B" || return
	trains_and_stress 4 || rc=$?
	kill "$CAPTURE"
	wait "$CAPTURE"
	return $rc
}

# A reader that keeps what it gets for later has all of it: its clone of a train refers to the
# same packets as the one that is received.
read_later()
{
	local reader rc=0
	rm -f /tmp/reader.go
	in_b /usr/bin/python3 -c '
import os, socket, struct, sys, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
s.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
s.bind(("vb", 0))
s.settimeout(0.5)
print("ready", flush=True)
while not os.path.exists("/tmp/reader.go"):
    time.sleep(0.1)
trains = 0
try:
    while True:
        data = s.recv(1 << 17)
        length = 14 + struct.unpack("!H", data[16:18])[0]
        if len(data) < length:
            sys.exit("%d of %d bytes" % (len(data), length))
        trains += length > 1514
except TimeoutError:
    print(trains, "trains")
    sys.exit(trains < 10)' >/tmp/reader 2>&1 &
	reader=$!
	wait_until 30 grep -q ready /tmp/reader || { kill $reader; return 1; }
	bw ib_write_bw || rc=$?
	touch /tmp/reader.go
	wait $reader || { cat /tmp/reader; return 1; }
	return $rc
}

# ---- bursts ----------------------------------------------------------------

COUNTERS="rx_qkey_violations rx_icrc_errors rx_malformed rx_unknown_qp rx_gro_trains rx_gro_pkts
rx_gro_broken_trains"

# What is sent within a slot leaves at once, so that one run of NAPI receives it.
in_slots() { in_a tc qdisc replace dev va root netem slot 200ms 200ms limit 10000; }

# One program sends all bursts, as it takes an emulated CPU a second to start Python.
BURSTS=/tmp/bursts
bursts_up()
{
	rm -f $BURSTS.*
	mkfifo $BURSTS.in $BURSTS.out
	ip netns exec "$NS_A" python3 "$DIR/lib/burst.py" - <$BURSTS.in >$BURSTS.out \
		2>$BURSTS.err &
	BURSTS_PID=$!
	exec 7>$BURSTS.in 8<$BURSTS.out
}

bursts_down()
{
	exec 7>&- 8<&-
	kill "$BURSTS_PID"
	wait "$BURSTS_PID"
} 2>/dev/null

send_burst()	# FROM TO LETTERS
{
	local answer=''
	echo "$*" >&7
	read -rt 60 answer <&8
	[ "$answer" = sent ] || { cat $BURSTS.err; return 1; }
}

# burst DEVICE FROM TO LETTERS "COUNTER=N...": how far the counters of DEVICE move. Where the sender
# has no CPU in the middle of it, its packets come in two slots: those of trains may move otherwise
# twice, all others never.
burst()
{
	for _ in 1 2 3; do
		! burst_once "$@" || return 0
		arrived "$1" "$5" || return
	done
	return 1
}

burst_once()
{
	counters_note "$1"
	send_burst "$2" "$3" "$4" || return
	wait_until 3 arrived "$1" "$5" >/dev/null
	sleep .05
	counters_moved "$1" "$5"
}

# Whether all that is not of trains has moved so far
arrived()	# device wanted
{
	local COUNTERS=${COUNTERS//rx_gro_*([a-z_])/}
	counters_moved "$@"
}

# received WHAT FROM TO LETTERS TRAINS IN-TRAINS BROKEN [GOOD [MORE]]: by b
received()
{
	check "$1" burst "$DEV_B" "$2" "$3" "$4" "rx_qkey_violations=${8:-${#4}} \
rx_gro_trains=$5 rx_gro_pkts=$6 rx_gro_broken_trains=$7 ${9:-}"
}

TEN=..........

test_bursts()	# name from to
{
	local v=$1
	shift
	received "$v: a burst is one train" "$@" $TEN$TEN$TEN 1 30 0
	received "$v: at most 64 packets are" "$@" $TEN$TEN$TEN$TEN$TEN$TEN$TEN 2 70 0
	received "$v: one with CE is none of it" "$@" ${TEN}c$TEN 2 20 2
	received "$v: packets with CE are a train" "$@" ${TEN}cccc$TEN 3 24 2
	received "$v: another TTL" "$@" ${TEN}t$TEN 2 20 2
	received "$v: one longer" "$@" ${TEN}l$TEN 3 21 1
	received "$v: one shorter is the last" "$@" ${TEN}s$TEN 2 21 0
	if [ "$v" = IPv6 ]; then
		received "$v: another flow does not end it" "$@" ${TEN}ooo$TEN 2 23 0
		received "$v: nor one to another QP" "$@" ${TEN}qqq$TEN 2 23 0 20 rx_unknown_qp=3
		received "$v: two QPs in turn are two trains" \
			"$@" .q.q.q.q.q.q.q.q 2 16 0 8 rx_unknown_qp=8
		received "$v: nor one that is too short" "$@" ${TEN}m$TEN 1 20 0 20 rx_malformed=1
	else
		received "$v: but for the identification" "$@" ${TEN}ooo$TEN 3 23 1
		received "$v: one to another QP is none of it" \
			"$@" ${TEN}qqq$TEN 3 23 1 20 rx_unknown_qp=3
		received "$v: nor one that is too short" "$@" ${TEN}m$TEN 2 20 1 20 rx_malformed=1
	fi
	received "$v: with UDP checksums" "$@" kkkkkkkk 1 8 0
	received "$v: with and without them" "$@" ${TEN}kkkk$TEN 3 24 2
	received "$v: a forged packet costs no other one" \
		"$@" ${TEN}x$TEN 1 21 0 20 rx_icrc_errors=1
	received "$v: nor does one at the begin" "$@" x$TEN 1 11 0 10 rx_icrc_errors=1
	received "$v: nor one whose lengths differ" \
		"$@" ${TEN}u$TEN 2 20 1 20 rx_icrc_errors=1
}

test_identification()
{
	received "a gap in the identification" "$@" ${TEN}i$TEN 2 21 1
	received "a packet that may be fragmented" "$@" ${TEN}f$TEN 2 20 2
}

# ---- early packets ---------------------------------------------------------

qps_ready() { grep -q ready /tmp/early; }

# early FROM TO: what a user keeps of packets that are early has a limit: a fifth of 1/64 of the
# memory, for all contexts together. Of 8 times 2,500 of a KiB each, in trains, for a context
# each, no more are kept than fit.
early()
{
	local qps held trains fit
	"$DIR/verbs/.out/early" "$DEV_A@$NS_A" "$DEV_B@$NS_B" --family 4 >/tmp/early 2>&1 &
	qps=$!
	wait_until 20 qps_ready || { cat /tmp/early; kill $qps; return 1; }
	held=$(counter "$DEV_B" ofo_queued) trains=$(counter "$DEV_B" rx_gro_pkts)
	# shellcheck disable=SC2046
	in_a python3 "$DIR/lib/early.py" "$1" "$2" 2500 $(sed 's/ready//' /tmp/early)
	sleep 0.5
	held=$(($(counter "$DEV_B" ofo_queued) - held))
	trains=$(($(counter "$DEV_B" rx_gro_pkts) - trains))
	kill $qps
	wait $qps 2>/dev/null
	fit=$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)
	fit=$((fit / 64 / 5))
	echo "$trains packets in trains; $held are kept, of a KiB and more, where $fit KiB may be"
	[ $trains -gt 10000 ] && [ $held -gt 500 ] && [ $held -lt $fit ]
}

# ---- sockets of others -------------------------------------------------------

# strangers: a socket in a namespace without a device, which does not read, queues no more of
# the packets that trains were cut into than its buffer allows
strangers()
{
	local reader sent rc=0
	in_b rdma link delete "$DEV_B" || return
	rm -f /tmp/strangers.sent
	in_b /usr/bin/python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
s.bind(("0.0.0.0", 4791))
print("ready", flush=True)
sys.stdin.readline()
s.settimeout(0.5)
n = 0
try:
    while s.recv(65536):
        n += 1
except TimeoutError:
    print(n, "queued")
    sys.exit(not 0 < n < 200)' >/tmp/reader 2>&1 < <(
		until [ -e /tmp/strangers.sent ]; do nap 0.1; done
		echo) &
	reader=$!
	wait_until 30 grep -q ready /tmp/reader || { kill $reader; return 1; }
	sent=$(counter "$DEV_A" tx_segmented_trains)
	"$DIR/verbs/.out/siege" stray "$DEV_A@$NS_A" "$IP4_B" || rc=$?
	touch /tmp/strangers.sent
	[ $rc -eq 0 ] || return $rc
	sent=$(($(counter "$DEV_A" tx_segmented_trains) - sent))
	wait $reader || { cat /tmp/reader; return 1; }
	in_b rdma link add "$DEV_B" type sroce netdev vb || return
	echo "$sent trains were segmented; $(cat /tmp/reader)"
	[ $sent -gt 10 ]
}

# ---- what is between -------------------------------------------------------

vlans()
{
	local end
	topo_down
	topo_netdevs
	for end in a:va b:vb; do
		ip -n "${end%:*}" link add link "${end#*:}" name "${end#*:}.$VLAN" type vlan id $VLAN
	done
	addresses a va.$VLAN 10.8.0.1 fd08::1
	addresses b vb.$VLAN 10.8.0.2 fd08::2
	cut_up a va on && cut_up b vb on && cut_up a va.$VLAN on && cut_up b vb.$VLAN on &&
	in_a rdma link add "$DEV_A" type sroce netdev va.$VLAN &&
	in_b rdma link add "$DEV_B" type sroce netdev vb.$VLAN
}

# A train for this host that something sends elsewhere instead: it is cut up again.
redirect()
{
	ip netns add c &&
	ip link add vx netns b type veth peer name vy netns c &&
	ip -n c link set vy address "$(in_b cat /sys/class/net/vb/address)" &&
	in_b ip link set vx up && addresses c vy "$IP4_B" "$IP6_B" &&
	in_b ethtool -K vx tso off gso off tx-udp-segmentation off "$@" >/dev/null &&
	ip netns exec c ethtool -K vy gro off >/dev/null &&
	ip netns exec c rdma link add sroce2 type sroce netdev vy &&
	in_b tc qdisc add dev vb clsact && elsewhere ip && elsewhere ipv6
}

elsewhere()	# ip|ipv6
{
	in_b tc filter add dev vb ingress protocol "$1" flower ip_proto udp dst_port 4791 \
		action mirred egress redirect dev vx
}

# Whoever looks for packets that the host drops sees one, if packets of a train are dropped.
drops_are_traced() { grep -q 'kfree_skb:' $TRACE/trace; }

one_is_dropped()
{
	local rc=0 n
	trace_up || return
	echo 'protocol == 2048' >$TRACE/events/skb/kfree_skb/filter &&
		echo 1 >$TRACE/events/skb/kfree_skb/enable || return
	echo >$TRACE/trace
	burst_once "$DEV_B" "$IP4_A" "$IP4_B" "${TEN}x$TEN" \
		"rx_qkey_violations=20 rx_icrc_errors=1 rx_gro_trains=1 rx_gro_pkts=21" || rc=1
	# packets are freed after they were counted, and all of a train at once
	wait_until 3 drops_are_traced
	sleep .2
	echo 0 >$TRACE/events/skb/kfree_skb/enable
	n=$(grep -c 'kfree_skb:' $TRACE/trace)
	[ "$n" = 1 ] || { echo "$n dropped"; grep kfree_skb: $TRACE/trace; return 1; }
	return $rc
}

test_redirect()
{
	local of
	check "what b receives goes to c" redirect
	for of in "$IP4_A $IP4_B" "$IP6_A $IP6_B"; do
		# shellcheck disable=SC2086
		check "each packet arrives as it was: $of" \
			burst sroce2 $of $TEN${TEN}x${TEN}k${TEN}c$TEN \
			"rx_qkey_violations=52 rx_icrc_errors=1"
	done
	in_b tc qdisc del dev vb clsact
	ip netns delete c
}

router()
{
	local port
	router_up || return
	for port in a:va r:ra r:rb b:vb; do cut_up "${port%:*}" "${port#*:}" on || return; done
	in_r rdma link add sroce2 type sroce netdev rb
}

none_at_router() { [ "$(counter sroce2 rx_gro_trains)" -eq 0 ]; }

make -s -C "$DIR/verbs" || exit 1
trap 'trace_down; router_down; ip netns delete c 2>/dev/null; rm -f "$OUT"' EXIT
topo_veth
check "trains are cut up, and the receivers use NAPI" eval 'cut_up a va on && cut_up b vb on'
test_transfers
check "so they do while somebody captures them" captured
check "who reads them later gets all of each" read_later
check "bursts" in_slots
bursts_up
test_bursts IPv4 "$IP4_A" "$IP4_B"
test_bursts IPv6 "$IP6_A" "$IP6_B"
test_identification "$IP4_A" "$IP4_B"
check "a train of which packets are dropped counts as one" one_is_dropped
in_a tc qdisc replace dev va root netem slot 20ms 20ms limit 10000
check "early packets are kept as far as a user may, by many contexts, in trains, too" \
	early "$IP4_A" "$IP4_B"
in_slots
test_redirect
cut_up a va off
cut_up b vb off
received "without GRO packets remain single" "$IP4_A" "$IP4_B" $TEN$TEN 0 0 0
in_a tc qdisc del dev va root
check "and arrive as they were sent" stays rx_gro_trains stress 4 2 1
check "a socket where no device is queues what fits its buffer" strangers
bursts_down
check "VLANs" vlans
check "VLAN: packets come together, and are right" trains_and_stress 4
router_down
# not in the subshell of check: it sets addresses and GIDs
if router >"$OUT" 2>&1; then ok "a router"; else not_ok "a router" "$(cat "$OUT")"; fi
check "router: packets come together behind it" bring_together "$DEV_B" 2 bw ib_write_bw
check "router: they are right" trains_and_stress 4
check "router: it forwards packets one by one" none_at_router
done_testing
