#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A NIC with several transmit queues, each of which belongs to a CPU: the packets of a
# QP stay in order, although doorbells and acknowledges come on different CPUs. Two
# machines with sroce, on a wire that loses nothing.
#
# make txqueues runs it with QEMU's igb and with virtio-net; ROUNDS=10 repeats it.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"
# shellcheck source=selftests/lib/faults.sh
. "$DIR/lib/faults.sh"
# shellcheck source=selftests/lib/two.sh
. "$DIR/lib/two.sh"

two_machines ||
	{ skip txqueues "takes two machines: make txqueues"; done_testing; exit; }

PORT=18800 MODE=tcp
# All that is under way at a time, of both directions, has room in a receive ring: what
# is overtaken is not mixed up with what is lost.
LOAD="-q 8 -s 16384 -t 8" RING=4096
# What counts packets that something has overtaken, or that are missing; and what says why
OVERTAKEN="out_of_sequence|ofo_queued|implied_nak_seq_err|packet_seq_err"
OVERTAKEN+="|out_of_window_responses"
WHY=".*drops|.*_errors|steer.*|backlog.*|.*congest.*|.*timeout.*"

device_of() { echo sroce0; }

queues() { find /sys/class/net/eth0/queues -name 'tx-*' | wc -l; }

# Each CPU has a queue. No queue is too short, and none drops what waits for long.
# Packets leave singly: QEMU's igb makes fragments of what it should segment.
set_up()
{
	local q
	ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off
	ethtool -G eth0 rx $RING
	ip link set eth0 txqueuelen 100000
	sysctl -qw net.core.default_qdisc=pfifo
	tc qdisc replace dev eth0 root handle 1: mq || return
	for ((q = 0; q < $(queues); q++)); do
		printf %x $((1 << q)) >"/sys/class/net/eth0/queues/tx-$q/xps_cpus" || return
	done
	load_module && rdma link add sroce0 type sroce netdev eth0
} 2>/dev/null

several_queues()
{
	local n
	n=$(queues)
	echo "$n transmit queues, $(nproc) CPUs"
	[ "$n" -ge 2 ] && [ "$(nproc)" -ge 2 ]
}

# Packets that each queue has sent so far
sent_by_queue()
{
	tc -s qdisc show dev eth0 | awk '
	$1 == "qdisc" { queue = $4 == "parent" || $5 == "parent" }
	queue && $1 == "Sent" { print $4 }'
}

# What this machine has sent and received, once nothing is under way any more
traffic()
{
	local dir=/sys/class/net/eth0/statistics last='' now
	for _ in {1..20}; do
		now="$(<$dir/tx_packets) $(<$dir/rx_packets)"
		[ "$now" != "$last" ] || break
		last=$now
		sleep 0.3
	done
	echo "$now"
}

# The process that posts changes its CPU, again and again.
chase()	# tool
{
	local n=0
	while :; do
		taskset -apc $((n++ % 2)) "$(pgrep -o "$1")" >/dev/null 2>&1
		sleep 0.1
	done
}

# ---- a transfer -----------------------------------------------------------

note() { counters sroce0 >"/tmp/counts.$1"; traffic >"/tmp/traffic.$1"; }

# What has moved on this machine since the note, of the counters named like that
moved_here()	# pattern
{
	note after
	moved /tmp/counts.before /tmp/counts.after |
		awk -v names="^($1)$" '$1 ~ names' | paste -sd, | sed 's/,/, /g'
}

# Packets that this machine has sent and received since the note
traffic_here()
{
	paste -d' ' /tmp/traffic.before /tmp/traffic.after |
		awk '{ print $3 - $1, $4 - $2 }'
}

transfer()	# tool option...
{
	local tool=$1 both chaser rc=0
	PORT=$((PORT + 1))
	both="$* $LOAD -F -p $PORT --qp-timeout 18 -d sroce0"
	SERVER="$both -x ${GID[2]}"
	CLIENT="$both -x ${GID[1]} 10.9.0.2"
	chase "$tool" & chaser=$!
	pair 2 || rc=$?
	kill $chaser
	return $rc
}

# The machines are looked at one after the other: some packets that are of no QP may be
# between.
same_packets()
{
	local tx1 rx1 tx2 rx2
	read -r tx1 rx1 <<<"$(traffic_here)"
	read -r tx2 rx2 <<<"$(on 2 traffic_here)"
	echo "machine 1 sent $tx1, 2 received $rx2; machine 2 sent $tx2, 1 received $rx1"
	[ $((tx1 - rx2)) -le 4 ] && [ $((tx2 - rx1)) -le 4 ]
}

in_order()
{
	local one two
	one=$(moved_here "$OVERTAKEN") two=$(on 2 moved_here "'$OVERTAKEN'")
	[ -n "$one$two" ] || return 0
	printf 'machine %s: %s; %s\n' 1 "$one" "$(moved_here "$WHY")" \
		2 "$two" "$(on 2 moved_here "'$WHY'")"
	return 1
}

one()	# tool option...
{
	note before
	on 2 note before
	check "$*: all get through" transfer "$@"
	check "$*: nothing is overtaken" in_order
	check "$*: nothing is lost on the way" same_packets
}

# TCP by the same queues: if it is overtaken, it is the machine. Not so by taps: they
# deliver by the queue that a flow's last answer came from, and TCP's ACKs change theirs.
tcp_in_order()
{
	local before
	PORT=$((PORT + 1))
	before=$(on 2 overtaken_tcp)
	there "serve iperf3 -s -1 -p $PORT"
	on 2 listening tcp - $PORT || return
	iperf3 -c 10.9.0.2 -p $PORT -t 3 -P 4 -w 128K >/tmp/tcp 2>&1 ||
		{ cat /tmp/tcp; return 1; }
	before=$(($(on 2 overtaken_tcp) - before))
	[ $before -eq 0 ] || { echo "$before segments were"; return 1; }
}

by_tap() { [ "${SROCE_NIC:-}" = virtio-mq ]; }

overtaken_tcp() { nstat -asz TcpExtTCPOFOQueue | awk '/OFO/ { print $2 }'; }

all_queues_sent()	# the counts before
{
	local now i=0 n
	mapfile -t now < <(sent_by_queue)
	[ ${#now[@]} -ge 2 ] || { echo "${now[*]}"; return 1; }
	for n; do
		echo "queue $i: $((now[i] - n)) packets"
		[ $((now[i] - n)) -ge 100 ] || return
		i=$((i + 1))
	done
}

round()
{
	local sent
	mapfile -t sent < <(sent_by_queue)
	one ib_write_bw -n 400
	one ib_send_bw -n 400
	one ib_read_bw -n 400
	one ib_write_bw -b -n 200
	one ib_send_bw -b -n 200
	check "QPs are spread over the queues" all_queues_sent "${sent[@]}"
}

lead()
{
	local i
	declare -gA GID
	check "several queues on machine 1" several_queues
	check "several queues on machine 2" on 2 several_queues
	if GID[1]=$(gid_index sroce0 v4) && GID[2]=$(on 2 gid_index sroce0 v4); then
		ok "a link on each machine"
		by_tap || check "TCP is not overtaken" tcp_in_order
		for ((i = 0; i < ${ROUNDS:-1}; i++)); do round; done
	else
		not_ok "a link on each machine"
	fi
	there leave
}

modprobe -a ib_uverbs rdma_ucm
two_run
