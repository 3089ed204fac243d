#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What goes over the wire, seen by programs that are not ours, or share nothing with the
# module: tshark has to dissect every frame, and lib/frames.py to agree with all that is in its
# headers, and with its ICRC, as scapy does. On plain netdevs, where sroce segments, and behind
# a switch that segments as NICs do: on bonds that fail over, and on VLANs whose MTU changes.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"
# shellcheck source=selftests/lib/faults.sh
. "$DIR/lib/faults.sh"

CAP=/tmp/roce.pcap

# ---- all kinds of packets, segmented by sroce --------------------------------

# Frames as they would leave a real NIC: without segmentation offload they are
# single before a capture sees them. Checksums and scatter/gather stay,
# or there would be no trains.
no_offloads()
{
	in_a ethtool -K va tso off gso off tx-udp-segmentation off
	in_b ethtool -K vb tso off gso off tx-udp-segmentation off
} >/dev/null 2>&1

trains_left() { [ "$(counter "$DEV_A" tx_segmented_trains)" -gt 20 ] &&
	[ "$(counter "$DEV_B" tx_segmented_trains)" -gt 20 ]; }

# Each step has QPs of its own.
OPERATIONS="send:5000:10 send:64:10 write:16384:16:both write_imm:3000:10 read:16384:10:both
fadd:8:10 cswap:8:10 send_imm:600:10 uc:1024:10 ud:1024:10"

# shellcheck disable=SC2086 # a list
operations() { peers --family "${1#v}" $OPERATIONS || { cat $PEERS_OUT; return 1; }; }

# What rdma_cm says, by UD to QP 1
stock_args() { echo "-C 3 -V -v -S 3000 -p $CM_PORT"; }

frames() { /usr/bin/python3 "$DIR/lib/frames.py" "$@"; }

# One pass of tshark for all the questions: it takes seconds to start here.
dissect()
{
	# shellcheck disable=SC2046
	tshark $(no_guesses) -r $CAP -T fields -E separator=/t -e frame.number -e udp.dstport \
		-e infiniband.bth.opcode -e _ws.malformed -e _ws.expert.message \
		2>/tmp/tshark.log >/tmp/fields && [ -s /tmp/fields ] ||
		{ cat /tmp/tshark.log; return 1; }
}

all_infiniband() { ! awk -F'\t' '$2 == 4791 && $3 == ""' /tmp/fields | grep .; }

none_malformed() { ! awk -F'\t' '$4 != ""' /tmp/fields | head -n 20 | grep .; }

# The opcodes that the above cannot do without.
opcodes_seen()
{
	local o seen missing=''
	seen=$(cut -f3 /tmp/fields | sort -nu | tr '\n' ' ')
	# RC: SEND first/middle/last/only and with immediate, WRITE first/middle/last and with
	# immediate, READ request and first/middle/last response, ACK, atomic ack, CMP_SWAP,
	# FETCH_ADD; UC and UD SEND only with immediate; UD SEND only
	for o in 0 1 2 4 5 6 7 8 9 12 13 14 15 17 18 19 20 37 100 101; do
		[[ " $seen" == *" $o "* ]] || missing+=" $o"
	done
	[ -z "$missing" ] || { echo "missing:$missing; seen: $seen"; return 1; }
}

test_operations()
{
	local fam
	no_offloads
	# not in check's subshell, which would keep the pid
	if start_capture $CAP va "$NS_A"; then ok "capture starts"; else not_ok "capture starts"; fi
	for fam in v4 v6; do
		check "rping over IP$fam, captured" stock_tool rping b $fam
		check "all operations over IP$fam, captured" operations $fam
	done
	check "capture is complete" stop_capture
	[ "$LINK_TYPE" = rxe ] ||
		check "much of it left in trains, segmented here" trains_left
	check "tshark reads it" dissect
	check "every frame on UDP 4791 is InfiniBand to tshark" all_infiniband
	check "none is malformed" none_malformed
	check "all kinds of operations are in it" opcodes_seen
	check "headers and ICRC of every frame are right, IPv4 and IPv6" \
		frames --limit 1500 --want v4=300 --want v6=300 $CAP
}

# ---- identifications, and who segments ---------------------------------------

# The packets of a message: most are of MTU 256, and the largest 16 bytes larger
PACKET=272 LARGEST=288

bw()	# messages of 16 KiB
{
	GID_A=$(gid_index "$DEV_A" v4) && GID_B=$(gid_index "$DEV_B" v4) &&
		perftest_pair ib_write_bw -m 256 -s 16384 -n "$1"
}

# Enough packets that their identifications pass 0x8000 or 0x10000
many()
{
	local rc=0
	start_capture $CAP va "$NS_A" || return
	bw 600 || rc=$?
	stop_capture && return $rc
}

# Hardware that segments may count with 15 bits: no train crosses 0x8000, but some end there.
identifications()
{
	many || return
	/usr/bin/python3 - "$DIR/lib" $CAP "$IP4_A" $PACKET $LARGEST <<-'END'
		import socket
		import sys
		sys.path.insert(0, sys.argv[1])
		from frames import frames_of
		source, sizes = socket.inet_aton(sys.argv[3]), list(map(int, sys.argv[4:]))
		trains, crossed, ended = 0, 0, 0
		for frame in frames_of(sys.argv[2]):
		    if not frame.is_roce or frame.ip[12:16] != source:
		        continue
		    length, ident = (int.from_bytes(frame.ip[i:i + 2], "big") for i in (2, 4))
		    first = frame.ip[28] == 0x06
		    end = ident + -((28 - length) // sizes[first])
		    trains += end > ident + 1
		    crossed += ident // 0x8000 != (end - 1) // 0x8000
		    ended += end % 0x8000 == 0
		print(trains, "trains,", crossed, "cross 0x8000,", ended, "end there")
		sys.exit(not (trains > 100 and not crossed and ended))
	END
}

# A kernel that gets a train by a virtual NIC may take 64 segments, and drop what has more.
segments_are_few()
{
	local event=$TRACE/events/net/net_dev_start_xmit rc=0
	trace_up && echo 'name == "va" && gso_segs >= 60' >"$event/filter" &&
		echo 1 >"$event/enable" || return
	GID_A=$(gid_index "$DEV_A" v4) GID_B=$(gid_index "$DEV_B" v4)
	perftest_pair ib_write_bw -m 256 -s 65536 -n 100 || rc=$?
	echo 0 >"$event/enable"
	grep -o 'gso_segs=[0-9]*' "$TRACE/trace" | sort | uniq -c >/tmp/segments
	trace_down
	awk -F= '{ most = $2 > most ? $2 : most } END { exit !(most >= 60 && most <= 64) }' \
		/tmp/segments || { cat /tmp/segments; return 1; }
	return $rc
}

trains_are() { echo "$1" >"/sys/class/infiniband/$DEV_A/trains"; }

# With the attribute, each packet is a skb of its own.
no_trains()
{
	local n
	n=$(counter "$DEV_A" tx_trains)
	trains_are 0 && bw 30 || return
	trains_are 1
	n=$(($(counter "$DEV_A" tx_trains) - n))
	[ $n -eq 0 ] || { echo "$n trains"; return 1; }
}

# Whoever has segmentation gets whole trains, and who has none gets packets. The netdev is
# asked each time.
segmented_here()
{
	local dev=$1
	stays tx_segmented_trains bw 30 &&
		in_a ethtool -K "$dev" tx-udp-segmentation off >/dev/null &&
		grows tx_segmented_trains bw 30 &&
		in_a ethtool -K "$dev" tx-udp-segmentation on >/dev/null &&
		stays tx_segmented_trains bw 30
}

# A VLAN segments nothing itself, whatever it says.
vlan_segments()
{
	local rc=0 IP4_A=10.8.0.1 IP4_B=10.8.0.2
	in_a ip link add link va name va.7 type vlan id 7 &&
		in_b ip link add link vb name vb.7 type vlan id 7 &&
		in_a rdma link delete "$DEV_A" && in_b rdma link delete "$DEV_B" &&
		addresses "$NS_A" va.7 $IP4_A fd08::1 && addresses "$NS_B" vb.7 $IP4_B fd08::2 &&
		in_a rdma link add "$DEV_A" type sroce netdev va.7 &&
		in_b rdma link add "$DEV_B" type sroce netdev vb.7 || return
	segmented_here va || rc=$?
	in_a ip link delete va.7
	in_b ip link delete vb.7
	in_a rdma link add "$DEV_A" type sroce netdev va &&
		in_b rdma link add "$DEV_B" type sroce netdev vb && return $rc
}

# 50 segments of 4 bytes, that nothing on the way cuts up
tiny_train()
{
	local n
	n=$(counter "$DEV_B" rx_malformed)
	in_a /usr/bin/python3 - <<-END || return
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.setsockopt(socket.IPPROTO_UDP, 103, 4)  # UDP_SEGMENT
		s.sendto(bytes(200), ("$IP4_B", 4791))
	END
	n=$(($(counter "$DEV_B" rx_malformed) - n))
	[ $n -eq 1 ] || { echo "counted $n times"; return 1; }
}

# Rules for packets that go through a host tell them from its own by the netdev they came by.
is_local()
{
	local rules rc=0 GID_A GID_B
	GID_A=$(gid_index "$DEV_A" v4) GID_B=$(gid_index "$DEV_B" v4)
	in_a nft add table inet t &&
		in_a nft 'add chain inet t post { type filter hook postrouting priority 0; }' &&
		in_a nft 'add rule inet t post iifname "va" udp dport 4791 counter' &&
		in_a nft 'add rule inet t post oifname "va" udp dport 4791 counter' ||
		{ echo "no rules"; return 1; }
	perftest_pair ib_write_bw -s 65536 -n 100 >/dev/null 2>&1 || rc=1
	rules=$(in_a nft list chain inet t post)
	echo "$rules"
	in_a nft delete table inet t
	[[ $rules == *iifname*packets\ 0\ *oifname*packets* ]] &&
		[[ $rules != *oifname*packets\ 0\ * ]] && return $rc
}

# ---- behind a switch, segmented as by a NIC ------------------------------------

# Its ports can do nothing themselves. So whatever leaves them has been segmented by the stack, as
# a NIC would do it, with all checksums.
SWITCH=switch RATE=8mbit
JUMBO=9000

switch_up()
{
	ns_add $SWITCH && ip -n $SWITCH link add name sw mtu $JUMBO up type bridge \
		mcast_snooping 0 forward_delay 0
}

# port a|b NETDEV: a netdev of that end, with the port NETDEV-a or NETDEV-b of the switch
port()
{
	local to=$2-$1
	ip link add "$2" netns "$1" type veth peer name "$to" netns $SWITCH mtu $JUMBO &&
		ip netns exec $SWITCH ethtool -K "$to" tx off sg off tso off gso off \
			tx-udp-segmentation off >/dev/null &&
		ip -n $SWITCH link set "$to" master sw up &&
		ip netns exec $SWITCH tc qdisc add dev "$to" root tbf rate $RATE \
			burst 20k latency 300ms
}

# With DEV_A and DEV_B on NETDEV of each end
ends()	# netdev
{
	local end
	topo_down
	for end in a b; do ns_add $end && "end_with_$1" $end || return; done
	addresses a "$1" "$IP4_A" "$IP6_A" && addresses b "$1" "$IP4_B" "$IP6_B" &&
		in_a rdma link add "$DEV_A" type sroce netdev "$1" &&
		in_b rdma link add "$DEV_B" type sroce netdev "$1"
}

end_with_eth0() { port "$1" eth0; }

end_with_eth0.7()
{
	port "$1" eth0 && ip -n "$1" link set eth0 up &&
		ip -n "$1" link add link eth0 name eth0.7 type vlan id 7
}

end_with_bond0()
{
	port "$1" eth0 && port "$1" eth1 &&
		ip -n "$1" link add bond0 type bond mode active-backup miimon 50 &&
		ip -n "$1" link set eth0 master bond0 && ip -n "$1" link set eth1 master bond0
}

# All that leaves the switch, by its ports
captures_begin()	# port...
{
	local port
	CAPTURES=() CAPTURED=()
	for port; do
		ip netns exec $SWITCH tcpdump -i "$port" -Q out -B 16384 -s 0 -w "/tmp/$port.pcap" \
			"udp port 4791 or vlan and udp port 4791" >"/tmp/$port.log" 2>&1 &
		CAPTURES+=($!) CAPTURED+=("/tmp/$port.pcap")
	done
	for port; do wait_until 15 grep -q 'listening on' "/tmp/$port.log" || return; done
}

captures_end()
{
	local file rc=0
	sleep 0.3
	kill -TERM "${CAPTURES[@]}"
	wait "${CAPTURES[@]}"
	for file in "${CAPTURED[@]}"; do
		grep -q '^0 packets dropped by kernel' "${file%.pcap}.log" ||
			{ cat "${file%.pcap}.log"; rc=1; }
	done
	return $rc
}

# Verified transfers in both directions over both families, in the background, until loads_end
loads_begin()	# name
{
	local family
	rm -f $ENOUGH
	for family in 4 6; do
		PEERS_PATH=/tmp/$1.$family PEERS_OUT=/tmp/$1.$family.out \
			peers --family $family --timeout 17 --depth 4 --until $ENOUGH \
			write:16384:99999:both &
		LOADS+=($!) LOADED+=("/tmp/$1.$family.out")
	done
	wait_until 20 under_way $((2 * ${#LOADS[@]})) || echo "$1: no load"
}

# So many QPs are connected.
under_way() { [ "$(rdma resource show qp | grep -c 'type RC state RTS')" -ge "$1" ]; }

loads_end()
{
	local i rc=0
	touch $ENOUGH
	for i in "${!LOADS[@]}"; do
		wait "${LOADS[i]}" || { cat "${LOADED[i]}"; rc=1; }
	done
	LOADS=() LOADED=()
	return $rc
}

# carried "PORT..." command...: what leaves the ports meanwhile is complete
carried()
{
	local rc=0
	# shellcheck disable=SC2086
	captures_begin $1 || return
	shift
	"$@" || rc=1
	captures_end && return $rc
}

fails_over()
{
	local rc=0
	loads_begin bond
	sleep 0.3
	other_slave a && sleep 0.3 && other_slave b && wait_until 10 both_carry eth1 60000 || rc=1
	loads_end && return $rc
}

# Either way by the ports of a netdev, so many bytes at least
both_carry()	# netdev bytes
{
	[ "$(carried_by "$1-a")" -ge "$2" ] && [ "$(carried_by "$1-b")" -ge "$2" ]
}

carried_by() { ip netns exec $SWITCH cat "/sys/class/net/$1/statistics/tx_bytes"; }

other_slave()	# a|b
{
	ip -n "$1" link set eth0 down
	wait_until 5 active_is "$1" eth1 || { echo "$1 stays on eth0"; return 1; }
}

active_is() { [ "$("in_$1" cat /sys/class/net/bond0/bonding/active_slave)" = "$2" ]; }

mtu()	# bytes
{
	local end
	for end in a b; do
		ip -n $end link set eth0 mtu "$1" && ip -n $end link set eth0.7 mtu "$1" || return
	done
}

now() { date +%s.%N; }

# QPs of a path MTU of 1,024 and of 4,096 bytes. The latter can't send anything for a while.
changes_mtu()
{
	local rc=0
	loads_begin mtu
	mtu $JUMBO || rc=1
	loads_begin jumbo
	sleep 0.3
	mtu 1500 || rc=1
	# what is in the queues of the switch is larger
	sleep 0.3
	wait_until 10 queues_were_sent "$(queued eth0-a)" "$(queued eth0-b)"
	LOW=$(now)
	sleep 0.3
	LOW+=:$(now)
	mtu 4500 || rc=1
	sleep 0.3
	wait_until 10 both_carry eth0 1200000
	loads_end && return $rc
}

# Bytes that a port has sent, and with those that wait in its queue
has_sent()	# port
{
	ip netns exec $SWITCH tc -s -j qdisc show dev "$1" root |
		sed -n 's/.*"bytes":\([0-9]*\).*/\1/p'
}

queued()	# port
{
	local terms
	terms=$(ip netns exec $SWITCH tc -s -j qdisc show dev "$1" root |
		sed -n 's/.*"bytes":\([0-9]*\).*"backlog":\([0-9]*\).*/\1 + \2/p')
	echo $((terms))
}

queues_were_sent() { [ "$(has_sent eth0-a)" -ge "$1" ] && [ "$(has_sent eth0-b)" -ge "$2" ]; }

# Each of the captures is of some dozens of packets at least.
sizes() { stat -c '%n %s' "$@" && ! stat -c %s "$@" | awk '$1 < 50000' | grep -q .; }

switched() { stays tx_segmented_trains grows tx_trains "$@"; }

# Segments of trains have checksums and identifications that count up.
BOTH="--want v4=400 --want v6=400 --want full=200 --want counted=100"

# shellcheck disable=SC2086 # lists
test_switched()
{
	check "a switch" switch_up
	check "bond: ends of it" ends bond0
	in_case "bond" "eth0-a eth0-b eth1-a eth1-b" fails_over
	check "bond: headers and ICRC of every frame are right" \
		frames $BOTH --limit 1500 "${CAPTURED[@]}"
	check "bond: many of them after both have failed over" sizes /tmp/eth1-{a,b}.pcap
	check "VLAN: ends of it" ends eth0.7
	in_case "VLAN, while the MTU changes" "eth0-a eth0-b" changes_mtu
	check "VLAN: headers and ICRC of every frame are right, and none is too large" \
		frames $BOTH --want tagged=800 --want mtu1024=800 --want mtu4096=20 \
		--limit $JUMBO --limit "1500:${LOW:-0:0}" "${CAPTURED[@]}"
	topo_down
	ip netns delete $SWITCH
}

LOADS=() LOADED=() ENOUGH=/tmp/enough

# in_case WHAT "PORT..." command...: not in a subshell, which would keep what it sets
in_case()
{
	local what=$1
	shift
	if switched carried "$@" >/tmp/case 2>&1; then
		ok "$what: transfers are right"
	else
		not_ok "$what: transfers are right" "$(cat /tmp/case)"
	fi
}

make -s -C "$DIR/verbs" || exit 1
topo_veth || { not_ok "two namespaces, a link in each"; done_testing; exit 1; }
[ "$LINK_TYPE" = rxe ] || {
	check "to netfilter no packet of the device is forwarded" is_local
	check "a train of what can't be packets is dropped as a whole" tiny_train
	check "identifications of a train do not cross 0x8000" identifications
	check "a train has 64 segments at most" segments_are_few
	check "no trains leave with the attribute trains off" no_trains
	check "trains are segmented here only if the netdev can't" segmented_here va
	check "and so by what is below a VLAN" vlan_segments
}
test_operations
[ "$LINK_TYPE" = rxe ] || test_switched
topo_down
done_testing
