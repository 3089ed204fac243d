#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# QPs in the error state, in several processes of a user: the receives that are posted to them
# are flushed by one work item, of which one timer says when it runs. However many QPs there are,
# the kernel's tracepoints must not count more, and no round may flush more than its budget.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip flusher "about sroce only"; done_testing; exit; }

OUT=$(mktemp -d)
PROCESSES=4 QPS=250
# Rounds per s: with 1,000 QPs without receives one in 65 ms, with receives one in a ms
IDLE_MOST=20 POSTED_MOST=1100
# A batch, and what the last QP of a round has beyond it
BUDGET=511
SECONDS_TRACED=4
PIDS=()

traced_up()
{
	trace_up || return
	echo 0 >$TRACE/tracing_on
	echo 16384 >$TRACE/buffer_size_kb
	echo 1 >$TRACE/events/timer/hrtimer_expire_entry/enable
	echo 1 >$TRACE/events/workqueue/workqueue_execute_start/enable
}

now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }

# Sets TIMERS, WORKS and FLUSHED: how often while some seconds pass, which are MS ms then
trace()
{
	local start flushed
	echo >$TRACE/trace
	flushed=$(counter "$DEV_A" wc_flushed)
	start=$(now_ms)
	echo 1 >$TRACE/tracing_on
	sleep $SECONDS_TRACED
	echo 0 >$TRACE/tracing_on
	MS=$(($(now_ms) - start))
	FLUSHED=$(($(counter "$DEV_A" wc_flushed) - flushed))
	TIMERS=$(grep -c 'hrtimer_expire_entry.*\[sroce\]' $TRACE/trace)
	WORKS=$(grep -c 'workqueue_execute_start.*\[sroce\]' $TRACE/trace)
	diag "$TIMERS timers, $WORKS work items, $FLUSHED flushed in $MS ms"
}

# Neither while it was read, nor overwritten before
no_loss()
{
	! grep -q 'LOST' $TRACE/trace &&
		sed -n 's|^# entries-in-buffer/entries-written: \([0-9]*\)/\([0-9]*\) .*|\1 \2|p' \
			$TRACE/trace | awk '{ n++; bad += $1 != $2 } END { exit !n || bad }'
}

# besiege MODE: processes of one user, who has no privileges
besiege()
{
	local i
	PIDS=()
	for ((i = 0; i < PROCESSES; i++)); do
		ip netns exec $NS_A setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$DIR/verbs/.out/siege" "$1" "$DEV_A" $QPS >"$OUT/$i" 2>&1 &
		PIDS+=($!)
	done
	for ((i = 0; i < PROCESSES; i++)); do
		wait_until 120 grep -q ready "$OUT/$i" || { cat "$OUT"/*; return 1; }
	done
	# the time between two rounds doubles until it is the longest
	sleep 1
}

lift()
{
	[ ${#PIDS[@]} -eq 0 ] || kill -9 "${PIDS[@]}"
	wait "${PIDS[@]}"
	PIDS=()
} 2>/dev/null

# few N: neither more timers nor more work items than N per s, but some
few()
{
	local most=$(($1 * MS / 1000))
	[ "$TIMERS" -gt 0 ] && [ "$TIMERS" -le $most ] && [ "$WORKS" -gt 0 ] &&
		[ "$WORKS" -le $most ] && return
	echo "$TIMERS timers and $WORKS work items in $MS ms, at most $most are meant"
	return 1
}

in_budget()
{
	[ "$FLUSHED" -gt 0 ] && [ "$FLUSHED" -le $(((WORKS + 1) * BUDGET)) ] && return
	echo "$FLUSHED receives in $WORKS rounds"
	return 1
}

make -s -C "$DIR/verbs" || exit 1
trap 'lift; trace_down; topo_down; rm -rf "$OUT"' EXIT
topo_veth
chmod 666 /dev/infiniband/uverbs*
check "tracepoints" traced_up
besiege idle || not_ok "QPs in the error state"
trace
check "1,000 QPs in the error state have few timers and work items" few $IDLE_MOST
check "the trace of that is complete" no_loss
lift
besiege errors || not_ok "QPs in the error state, to which receives are posted"
trace
check "nor have they many when receives are posted to all" few $POSTED_MOST
check "no round flushes more than its budget" in_budget
check "the trace is complete" no_loss
lift
sleep 1
trace
check "nothing runs when they are gone" [ $((TIMERS + WORKS)) -eq 0 ]
done_testing
