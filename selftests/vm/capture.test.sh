#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What goes over the wire, seen by two programs that are not ours: tshark has
# to dissect every frame, and scapy and Annex A17 have to agree on every ICRC.
set -uo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

CAP=/tmp/roce.pcap
TOOLS="rping ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw ibv_uc_pingpong
ibv_ud_pingpong"

# Frames as they would leave a real NIC: without segmentation offload they are
# single before a capture sees them. Checksums and scatter/gather stay,
# or there would be no trains.
no_offloads()
{
	in_a ethtool -K va tx-udp-segmentation off
	in_b ethtool -K vb tx-udp-segmentation off
} >/dev/null 2>&1

trains_left() { [ "$(counter "$DEV_A" tx_segmented_trains)" -gt 20 ] &&
	[ "$(counter "$DEV_B" tx_segmented_trains)" -gt 20 ]; }

# UDP length and IP length say the same, in frames that were cut from a train
# too, and none is larger than the MTU.
lengths_agree()
{
	! awk -F'\t' '$5 > 1514 || ($6 && $6 != $8 + 20) || ($7 && $7 != $8)' /tmp/fields |
		head -n 20 | grep .
}

small_args()
{
	case $1 in
	rping)		echo "-C 10 -V -v -S 3000 -p $CM_PORT" ;;
	ib_atomic_bw)	echo "-n 20" ;;
	ib_*)		echo "-s 5000 -n 10" ;;
	ibv_*)		echo "-s 1024 -n 10" ;;
	esac
}
eval "$(declare -f small_args | sed 's/small_args/stock_args/')"

# One pass of tshark for all the questions: it takes seconds to start here.
dissect()
{
	# shellcheck disable=SC2046
	tshark $(no_guesses) -r $CAP -T fields -E separator=/t -e frame.number -e udp.dstport \
		-e infiniband.bth.opcode -e _ws.malformed -e frame.len -e ip.len \
		-e ipv6.plen -e udp.length -e _ws.expert.message \
		2>/tmp/tshark.log >/tmp/fields
	[ -s /tmp/fields ] || { cat /tmp/tshark.log; return 1; }
}

all_infiniband() { ! awk -F'\t' '$2 == 4791 && $3 == ""' /tmp/fields | grep .; }

none_malformed() { ! awk -F'\t' '$4 != ""' /tmp/fields | head -n 20 | grep .; }

# The opcodes that the tools above cannot do without.
opcodes_seen()
{
	local o seen missing=''
	seen=$(cut -f3 /tmp/fields | sort -nu | tr '\n' ' ')
	# RC: SEND first/middle/last/only, WRITE first/middle/last, READ request
	# and first/middle/last response, ACK, atomic ack, FETCH_ADD; UC and UD
	# SEND only
	for o in 0 1 2 4 6 7 8 12 13 14 15 17 18 20 36 100; do
		[[ " $seen" == *" $o "* ]] || missing+=" $o"
	done
	[ -z "$missing" ] || { echo "missing:$missing; seen: $seen"; return 1; }
}

# The largest packet of a message: 16 bytes more than most, too few to be one more
LARGEST=1056

# Enough packets that their identifications pass 0x8000 or 0x10000
many()
{
	local rc=0
	GID_A=$(gid_index "$DEV_A" v4) && GID_B=$(gid_index "$DEV_B" v4) &&
		start_capture $CAP va "$NS_A" || return
	perftest_pair ib_write_bw -m 1024 -s 65536 -n 600 || rc=$?
	stop_capture && return $rc
}

# Hardware that segments may count with 15 bits: no train crosses 0x8000, but some end there.
identifications()
{
	many || return
	tcpdump -n -v -r $CAP "src host $IP4_A" 2>/dev/null |
		sed -n 's/^.*IP (.* id \([0-9]*\),.* length \([0-9]*\))$/\1 \2/p' |
		/usr/bin/python3 -c '
import sys
seg, trains, crossed, ended = int(sys.argv[1]), 0, 0, 0
for line in sys.stdin:
    ident, length = (int(x) for x in line.split())
    end = ident + -((28 - length) // seg)
    trains += end > ident + 1
    crossed += ident // 0x8000 != (end - 1) // 0x8000
    ended += end % 0x8000 == 0
print(trains, "trains,", crossed, "cross 0x8000,", ended, "end there")
sys.exit(not (trains > 100 and not crossed and ended))' $LARGEST
}

trains_are() { echo "$1" >"/sys/class/infiniband/$DEV_A/trains"; }

# With the attribute, each packet is a skb of its own.
no_trains()
{
	local n
	n=$(counter "$DEV_A" tx_trains)
	trains_are 0 && some || return
	trains_are 1
	n=$(($(counter "$DEV_A" tx_trains) - n))
	[ $n -eq 0 ] || { echo "$n trains"; return 1; }
}

some()
{
	GID_A=$(gid_index "$DEV_A" v4) && GID_B=$(gid_index "$DEV_B" v4) &&
		perftest_pair ib_write_bw -m 1024 -s 65536 -n 50
}

# Whoever has segmentation gets whole trains, and who has none gets packets. The netdev is
# asked each time.
segmented_here()
{
	local dev=$1
	stays tx_segmented_trains some &&
		in_a ethtool -K "$dev" tx-udp-segmentation off >/dev/null &&
		grows tx_segmented_trains some &&
		in_a ethtool -K "$dev" tx-udp-segmentation on >/dev/null &&
		stays tx_segmented_trains some
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

topo_veth || { not_ok "two namespaces, a link in each"; done_testing; exit 1; }
[ "$LINK_TYPE" = rxe ] ||
	check "a train of what can't be packets is dropped as a whole" tiny_train
[ "$LINK_TYPE" = rxe ] || {
	check "identifications of a train do not cross 0x8000" identifications
	check "no trains leave with the attribute trains off" no_trains
	check "trains are segmented here only if the netdev can't" segmented_here va
	check "and so by what is below a VLAN" vlan_segments
}
no_offloads
# not in check's subshell, which would keep the pid
if start_capture $CAP va "$NS_A"; then ok "capture starts"; else not_ok "capture starts"; fi
for fam in v4 v6; do
	for tool in $TOOLS; do
		check "$tool over IP$fam, captured" stock_tool "$tool" b $fam
	done
done
check "capture is complete" stop_capture
[ "$LINK_TYPE" = rxe ] ||
	check "much of it left in trains, segmented here" trains_left
check "tshark reads it" dissect
check "frames fit the MTU, lengths agree" lengths_agree
check "every frame on UDP 4791 is InfiniBand to tshark" all_infiniband
check "none is malformed" none_malformed
check "all kinds of operations are in it" opcodes_seen
check "every ICRC is right, IPv4 and IPv6" \
	/usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/../lib/icrc.py" $CAP
topo_down
done_testing
