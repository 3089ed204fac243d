#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Verified traffic through losses, duplicates, reordering, corruption and delay,
# made by netem; counters as the oracle; goodput under loss; a peer that goes.
#
# NETEM=all runs each loss rate with each other fault, instead of a choice;
# NETEM=goodput leaves them all out.
set -uo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
# shellcheck source=selftests/lib/faults.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/faults.sh"

[ "$LINK_TYPE" = sroce ] || { skip netem "about sroce only"; done_testing; exit; }

CHOICE="none delay duplicate reorder corrupt loss0.1 loss1 loss5 loss30
loss5+duplicate+reorder+corrupt"
LOSSES="none loss0.1 loss1 loss5 loss30"
OTHERS="none duplicate reorder corrupt delay"

# ---- one cell -------------------------------------------------------------

# What may count whatever happens; when the host stalls, and a silence is taken
# for a loss; and when there are losses.
TRAFFIC="tx_pkts tx_trains tx_segmented_trains tx_pkt_batches tx_msg_batches rx_pkt_batches tx_bytes rx_pkts rx_bytes tx_ack
acks_with_answer acks_held_in_vain answers_alone
out_of_credits tx_rnr_nak rx_rnr_nak backlog_pkts coalesced_doorbells
tx_queue_stopped tx_order_waits paced_trains"
SILENCE="ack_probes held_ack_probes retransmitted_pkts read_retries replayed_reads cwnd_decreases
idle_cwnd_decreases jitter_losses replayed_atomics duplicate_request duplicate_ack local_ack_timeout_err
excused_ack_timeouts rx_unknown_qp"
REPAIR="$SILENCE tx_nak_seq packet_seq_err out_of_sequence
ofo_queued implied_nak_seq_err out_of_window_responses resent_windows"

allowed()	# fault
{
	case $1 in
	none|delay)	echo "$TRAFFIC $SILENCE" ;;
	*corrupt*)	echo "$TRAFFIC $REPAIR" rx_icrc_errors rx_malformed \
				rx_unknown_opcode ;;
	*)		echo "$TRAFFIC $REPAIR" ;;
	esac
}

# The counters of which one at least has to move
required()	# fault
{
	case $1 in
	*corrupt*)	echo rx_icrc_errors ;;
	*duplicate*)	echo duplicate_request duplicate_ack ;;
	*reorder*)	echo out_of_sequence implied_nak_seq_err ;;
	loss0.1)	;;
	loss*)		echo retransmitted_pkts ;;
	esac
}

count_begin()
{
	counters "$DEV_A" >/tmp/before.a
	counters "$DEV_B" >/tmp/before.b
}

# Both ends' counters that have moved, added up, in /tmp/moved
count_end()
{
	counters "$DEV_A" >/tmp/after.a
	counters "$DEV_B" >/tmp/after.b
	{
		moved /tmp/before.a /tmp/after.a
		moved /tmp/before.b /tmp/after.b
	} | awk '{ n[$1] += $2 } END { for (c in n) print c, n[c] }' \
		>/tmp/moved
}

moved_by() { awk -v c="$1" '$1 == c { n = $2 } END { print n + 0 }' /tmp/moved; }

only_right_counters()	# fault
{
	local ok c sum=0 need
	ok=" $(allowed "$1" | tr '\n' ' ') "
	# shellcheck disable=SC2013
	for c in $(cut -d' ' -f1 /tmp/moved); do
		[[ $ok == *" $c "* ]] ||
			{ echo "$c moved:"; cat /tmp/moved; return 1; }
	done
	need=$(required "$1")
	for c in $need; do sum=$((sum + $(moved_by "$c"))); done
	[ -z "$need" ] || [ $sum -gt 0 ] ||
		{ echo "none of $need moved:"; cat /tmp/moved; return 1; }
	# Without a loss nothing is sent again, but where the host stalled
	case $1 in
	none|delay)
		[ "$(moved_by retransmitted_pkts)" -le \
			$((2 * ($(moved_by ack_probes) + $(moved_by local_ack_timeout_err) +
				$(moved_by excused_ack_timeouts)))) ] ||
			{ cat /tmp/moved; return 1; } ;;
	esac
}

# The cases that the client of peers() has reported
pass_on()	# prefix
{
	local line
	while IFS= read -r line; do
		if [[ $line =~ ^ok\ [0-9]+\ -\ (.*)$ ]]; then
			ok "$1: ${BASH_REMATCH[1]}"
		elif [[ $line =~ ^not\ ok\ [0-9]+\ -\ (.*)$ ]]; then
			not_ok "$1: ${BASH_REMATCH[1]%% # *}" \
				"${BASH_REMATCH[1]#* # }"
		elif [[ $line == "Bail out!"* ]]; then
			not_ok "$1: $line" "$(tail -n 3 /tmp/peers.server)"
		fi
	done <$PEERS_OUT
}

cell()	# fault
{
	local rc=0
	# one CPU: nothing overtakes, nothing is counted that is not netem's
	local PEERS_ON="taskset -c 0"
	echo 0 >/sys/module/sroce/parameters/steer
	faults "$1" || not_ok "$1: netem is set"
	count_begin
	peers --timeout 14 --seed $((RANDOM + 1)) \
		write:65536:24 read:65536:24 send:16384:60 send_imm:3000:60 \
		fadd:8:60 cswap:8:60 mix:20000:100:both || rc=$?
	count_end
	echo 1 >/sys/module/sroce/parameters/steer
	pass_on "$1"
	[ $rc -le 1 ] || not_ok "$1: both ends get to the end" \
		"$(tail -n 3 $PEERS_OUT /tmp/peers.server)"
	check "$1: the right counters move, and no others" \
		only_right_counters "$1"
}

matrix()
{
	local l o
	case ${NETEM:-} in
	all)	;;
	goodput)	return ;;
	*)	for o in $CHOICE; do cell "$o"; done
		return ;;
	esac
	for l in $LOSSES; do
		for o in $OTHERS; do
			case $l+$o in
			none+*)	cell "$o" ;;
			*+none)	cell "$l" ;;
			*)	cell "$l+$o" ;;
			esac
		done
	done
}

# ---- goodput --------------------------------------------------------------

ROUNDS_MAX=4

# The best so far of each kind, as the machine is busy with other things, too.
# Each end has a CPU of its own: elsewhere chance would say whether they share.
measure()	# fault
{
	local op now LISTENER_ON="taskset -c 1" CONNECTER_ON="taskset -c 0"
	faults "$1" || return
	peers --timeout 14 --depth 4 write:1048576:9999:out:1000 \
		read:8388608:1:out read:8388608:1:out ||
		{ cat $PEERS_OUT; return 1; }
	[ "$1" = none ] || has_dropped || return
	for op in write read; do
		now=$(sed -n "s/^# result $op .*, \([0-9.]*\) MB.*/\1/p" \
			$PEERS_OUT | sort -g | tail -n1)
		BEST[$op.$1]=$(printf '%s\n' "$now" "${BEST[$op.$1]:-0}" |
			sort -g | tail -n1)
	done
}

# at_least OP FAULT PERCENT: of the goodput without it
at_least()
{
	awk -v got="${BEST[$1.$2]}" -v all="${BEST[$1.none]}" -v want="$3" \
		'BEGIN { exit !(all > 0 && got * 100 >= all * want) }'
}

# `make netem` measures against the bars; a check must not fail because the
# machine is busy, nor because what is lossless has become faster, and is content
# with a part of them.
PART=${NETEM_BARS:-40}
WRITE1=$((60 * PART / 100)) WRITE5=$((25 * PART / 100)) READ1=$((50 * PART / 100))

bars_hold()
{
	at_least write loss1 $WRITE1 && at_least write loss5 $WRITE5 &&
		at_least read loss1 $READ1
}

bar()	# name op fault percent
{
	local name="$1: ${BEST[$2.$3]} of ${BEST[$2.none]} MB/s"
	if at_least "$2" "$3" "$4"; then ok "$name"; else not_ok "$name"; fi
}

goodput_bars()
{
	local f i
	declare -A BEST
	taken_in_on a va 1
	taken_in_on b vb 2
	for ((i = 0; i < ROUNDS_MAX; i++)); do
		for f in none loss1 loss5; do
			measure $f || { not_ok "goodput with $f" \
				"$(cat $PEERS_OUT)"; return; }
		done
		# the first one is not what the machine can do
		[ $i -eq 0 ] || ! bars_hold || break
	done
	bar "1 MiB WRITE at 1 % loss, at least $WRITE1 %" write loss1 $WRITE1
	bar "1 MiB WRITE at 5 % loss, at least $WRITE5 %" write loss5 $WRITE5
	bar "8 MiB READ at 1 % loss, at least $READ1 %" read loss1 $READ1
}

# ---- a peer that goes -----------------------------------------------------

# timeout 14 and retry_cnt 3: four times 67 ms, two to four times as long; time in which
# this machine stands still does not count
GONE_MIN=536 GONE_MAX=1074
STILL_OUT=/tmp/still
STILL_READY=/tmp/still.ready

# Until it is killed: ms in which this machine did not run what was due, on either CPU. It is
# prepared for that once the file exists.
stands_still()	# file
{
	exec /usr/bin/python3 -c '
import os, signal, sys, time
def total(*args):
    print(int(1000 * late))
    sys.stdout.flush()
    os._exit(0)
signal.signal(signal.SIGTERM, total)
open(sys.argv[1], "w").close()
late, nap = 0, 0.005
while True:
    start = time.monotonic()
    time.sleep(nap)
    took = time.monotonic() - start - nap
    late += took if took > nap else 0' "$1"
}

peer_goes()
{
	local pid still ms closed
	faults none || return
	peers --timeout 14 --retry 3 write:65536:999999:out:20000 &
	pid=$!
	sleep 1.5
	rm -f $STILL_READY
	chrt -f 50 bash -c "$(declare -f stands_still); stands_still $STILL_READY" >$STILL_OUT &
	still=$!
	wait_until 20 test -e $STILL_READY
	faults gone || { kill $still; return 1; }
	! wait $pid || { kill $still; echo "nothing failed"; return 1; }
	kill $still
	wait $still
	cat $PEERS_OUT
	echo "stood still for $(<$STILL_OUT) ms, $(counter "$DEV_A" excused_ack_timeouts) excused"
	grep -q 'transport retry counter exceeded' $PEERS_OUT || return
	ms=$(sed -n 's/.*exceeded, \([0-9]*\) ms after.*/\1/p' $PEERS_OUT)
	closed=$(sed -n 's/.*QP closed in \([0-9]*\).*/\1/p' $PEERS_OUT)
	# what one acknowledge completes is looked at for a while, byte by byte
	[ "$ms" -ge $((GONE_MIN - 100)) ] &&
		[ "$ms" -le $((GONE_MAX + 100 + $(<$STILL_OUT))) ] &&
		[ "$closed" -lt $((250 + $(<$STILL_OUT))) ]
}

# ---------------------------------------------------------------------------

make -s -C "$VERBS" || exit 1
modprobe -a sch_netem ifb act_mirred cls_matchall cls_u32
trap topo_down EXIT
topo_veth || { not_ok "two namespaces, a link in each"; done_testing; exit 1; }
gid_index "$DEV_A" v4 >/dev/null && gid_index "$DEV_B" v4 >/dev/null
check "netem in front of A" faults_up a va
check "netem in front of B" faults_up b vb
matrix
goodput_bars
check "a peer that goes: IBV_WC_RETRY_EXC_ERR in time, and the QP is gone at once" \
	peer_goes
done_testing
