#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ACKs leave with the answers of programs that answer each other, and at once without
# answers, over the wire between two namespaces' devices. When, is in unit/t_answer.c.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"
# shellcheck source=selftests/lib/pairs.sh
. "$DIR/lib/pairs.sh"

make -s -C "$DIR/verbs" || exit 1
OUT=$(mktemp)

[ "$LINK_TYPE" = sroce ] || { skip answer "about sroce only"; done_testing; exit; }
# the timer may be late there, so no ACK is held
[[ $(uname -v) != *PREEMPT_RT* ]] || { skip answer "a real-time kernel"; done_testing; exit; }
# an answer takes longer there than any ACK is held
[[ $(uname -r) != *-debug ]] || { skip answer "too slow a kernel"; done_testing; exit; }

# Nothing waits for an answer that is not like that.
alone() { stays acks_with_answer stays acks_held_in_vain pair "$@"; }

attribute()	# name value
{
	local dev
	for dev in "$DEV_A" "$DEV_B"; do
		echo "$2" >"/sys/class/infiniband/$dev/$1" || return
	done
}

turn() { attribute ack_with_answer "$1"; }

trains() { attribute trains "$1"; }

untrained()	# command...
{
	local rc
	trains 0 && counts_alone "$@"
	rc=$?
	trains 1
	return $rc
}

# Answers are counted that no ACK can leave with, and no ACK is held for them.
counts_alone() { moves_by 2000 answers_alone alone "$@"; }

moves_by()	# least counter command...
{
	local n least=$1 counter=$2
	n=$(both "$counter")
	shift 2
	"$@" || return
	n=$(($(both "$counter") - n))
	echo "$n $counter"
	[ $n -ge "$least" ]
}

trap 'topo_down; rm -f "$OUT"' EXIT
topo_veth
GID_A=$(gid_index "$DEV_A" v4) GID_B=$(gid_index "$DEV_B" v4)

# two that wait for each other on one CPU: the host's other work holds up both or neither
taskset -pc 0 $BASHPID >/dev/null
check "without ack_with_answer nothing does" alone ib_send_lat -e -s 8 -n 3000
check "it is turned on" turn 1
timeout -k 5 300 "$DIR/verbs/.out/pingpong" "$DEV_A@$NS_A" "$DEV_B@$NS_B" --family 4 >"$OUT" 2>&1
rc=$?
tap_relay <"$OUT"
relay_ended pingpong $rc
check "a stream does not" alone ib_write_bw -s 64 -n 5000
check "nor do READs" alone ib_read_lat -e -s 8 -n 500
check "nor what is short of time" alone ib_send_lat -e -s 8 -n 1000 -u 10
check "nor what leaves without trains" untrained ib_send_lat -e -s 8 -n 3000
check "it is turned off" turn 0
check "then nothing does" alone ib_send_lat -e -s 8 -n 3000
turn 1
check "processes are killed in the midst of it" \
	killed acks_with_answer ib_send_lat -e -s 8 -n 1000000
check "the next ones get through" pair ib_send_lat -e -s 8 -n 500
check "nothing is left of that" nothing_left
done_testing
