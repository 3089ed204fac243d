#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Users who want to hold others up, all at once: 1,000 QPs in the error state to which
# receives are posted, 300 QPs that wait for pages that never come, forged datagrams in
# trains of 64, from a namespace without a device, as that of a device lets none out, and an
# SRQ that is resized without a pause. What becomes of another user's latency, of a
# thread of the highest priority, and of the memory?
#
# The processes have the lowest nice value, as how much CPU time users get is not up to the
# device. A machine that is busy holds threads up by itself, so the same is measured without
# them, in turn. HOSTILE_ROUNDS: how often
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip hostile "about sroce only"; done_testing; exit; }

IP4_C=10.7.0.3
ITERS=20000
TIMEOUT=300
# Longest time that a thread of the highest priority may be held up, in ms
HELD_UP=20
OUT=$(mktemp -d)
ENEMIES=()

siege() { "$DIR/verbs/.out/siege" "$@"; }

# here NAME command...: check, but not in a subshell, as processes are to be waited for
here()
{
	local name=$1
	shift
	if "$@" >"$OUT/why" 2>&1; then ok "$name"; else not_ok "$name" "$(cat "$OUT/why")"; fi
}

# Execs all the way, so that $! is the program
enemy()	# name command...
{
	local name=$1
	shift
	nice -n 19 "$@" >"$OUT/$name" 2>&1 &
	ENEMIES+=($!)
}

as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

ready() { grep -q ready "$OUT/errors" && grep -q ready "$OUT/resize" && pids; }
# The process IDs of the daemon and of the process that waits for pages
pids() { grep -E '^[0-9]+ [0-9]+$' "$OUT/pages"; }

enemies_up()
{
	enemy errors ip netns exec $NS_A "${as_nobody[@]}" "$DIR/verbs/.out/siege" errors "$DEV_A" 1000
	enemy resize ip netns exec $NS_A "${as_nobody[@]}" "$DIR/verbs/.out/siege" resize "$DEV_A"
	STUCK_HOLD=300 enemy pages "$DIR/verbs/.out/stuck" "$DEV_A@$NS_A" "$DEV_B@$NS_B" --family 4
	enemy trains ip netns exec c "${as_nobody[@]}" python3 "$DIR/lib/forge.py" \
		$IP4_C "$IP4_B" 4791 64 3600
	wait_until 120 ready && wait_until 60 forged || { head "$OUT"/*; return 1; }
}

forged() { grows rx_qkey_violations sleep 0.2; }

enemies_down()
{
	# shellcheck disable=SC2046
	[ ${#ENEMIES[@]} -eq 0 ] || kill -9 "${ENEMIES[@]}" $(pids)
	wait "${ENEMIES[@]}"
	ENEMIES=()
} 2>/dev/null

all_alive() { [ ${#ENEMIES[@]} -eq 4 ] && all_run "${ENEMIES[@]}"; }

# A macvlan of A's netdev in a namespace without a device: B takes its packets
third_namespace()
{
	ns_add c && ip -n $NS_A link add link va name mc type macvlan mode bridge &&
		ip -n $NS_A link set mc netns c && addresses c mc $IP4_C fd07::3 &&
		wait_until 20 ip netns exec c ping -c 1 -W 1 "$IP4_B"
}

# measure WHO: adds a line to $OUT/WHO.all: p99 of the latency, in us; how long a thread was held
# up at most, in ms; how often that was too long; load
measure()
{
	local probe p99
	siege probe 10 >"$OUT/probe" &
	probe=$!
	perftest_pair ib_write_lat -s 8 -n $ITERS >"$OUT/lat" 2>&1 ||
		{ tail -n 15 "$OUT/lat"; return 1; }
	wait $probe || return
	p99=$(awk '$1 == 8 && NF >= 8 { print $8; exit }' "$OUT/lat")
	[ -n "$p99" ] || { cat "$OUT/lat"; return 1; }
	echo "$p99 $(cat "$OUT/probe") $(cut -d' ' -f1 /proc/loadavg)" >>"$OUT/$1.all"
}

told()	# who
{
	local p99 worst long load
	read -r p99 worst long load < <(tail -n 1 "$OUT/$1.all")
	diag "$1: p99 $p99 us, held up $worst ms at most, $long times for over $HELD_UP; load $load"
}

available_kb() { sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo; }
total_kb() { sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo; }

# The smallest of COLUMN of WHO: what the host's own pauses have added least to
least()	# who column
{
	cut -d' ' -f"$2" "$OUT/$1.all" | sort -g | head -n 1
}

is() { awk "BEGIN { exit !($*) }"; }

as_fast()
{
	echo "$(least idle 1) us, then $(least attacked 1)"
	is "$(least attacked 1) <= 2 * $(least idle 1)"
}

not_held_up()
{
	echo "$(least idle 2) ms, then $(least attacked 2)"
	is "$(least attacked 2) < $HELD_UP || $(least attacked 2) < 2 * $(least idle 2)"
}

# A user's share, the pages of the programs themselves, and of what the others measure
within_share()
{
	local used=$((BEFORE - DURING)) share=$(($(total_kb) / 16 + 100000))
	echo "$used kB more in use, $share allowed"
	[ "$used" -le $share ]
}

rounds()
{
	local i
	for ((i = 1; i <= ${HOSTILE_ROUNDS:-2}; i++)); do
		here "round $i: latency of an idle machine" measure idle
		told idle
		BEFORE=$(available_kb)
		here "round $i: the others begin" enemies_up
		here "round $i: latency beside them" grows rx_qkey_violations measure attacked
		told attacked
		DURING=$(available_kb)
		diag "$(within_share)"
		check "round $i: they are all at it" all_alive
		check "round $i: what they take is within a user's share" within_share
		enemies_down
	done
}

make -s -C "$DIR/verbs" || exit 1
trap 'enemies_down; topo_down; ip netns delete c 2>/dev/null; rm -rf "$OUT"' EXIT
topo_veth
GID_A=$(gid_index "$DEV_A" v4) GID_B=$(gid_index "$DEV_B" v4)
chmod 666 /dev/infiniband/uverbs*
modprobe -q macvlan
check "a namespace without a device" third_namespace
rounds
diag "p99: $(as_fast); held up: $(not_held_up)"
check "another user's p99 is at most twice as long" as_fast
check "a thread of the highest priority is not held up" not_held_up
done_testing
