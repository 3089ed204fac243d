# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Two ends of perftest between two namespaces, and what counters say of them. For tests that
# have sourced lib/common.sh, and set OUT to a file.

quietly() { "$@" >"$OUT" 2>&1 || { cat "$OUT"; return 1; }; }

# pair TOOL [option...]
pair() { quietly perftest_pair "$@"; }

# killed COUNTER TOOL [option...]: both ends die, often, while the counter moves
killed()
{
	local counter=$1 pid
	shift
	for _ in 1 2 3 4 5 6 7 8; do
		PORT=$((${PORT:-18700} + 1))
		pair "$@" >/dev/null 2>&1 & pid=$!
		wait_until 20 moves "$counter" || { kill $pid; return 1; }
		pkill -9 "$1"
		wait $pid 2>/dev/null
	done
	return 0
}

moves()	# counter
{
	local n
	n=$(both "$1")
	sleep 0.1
	[ "$(both "$1")" -gt "$n" ]
}

nothing_left()
{
	! rdma resource show qp | grep 'link sroce' | grep -v 'type GSI' || return
	quietly topo_down && wait_until 20 rmmod sroce
}
