#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A machine that stands still, whole or CPU by CPU, is no dead peer: perftest between two
# namespaces, while selftests/harness/stalled.sh holds the VM up from outside. A peer that is
# gone is still reported.
#
# usage: in the VM, by selftests/harness/stalled.sh. ROUNDS: of the tools, each time. ITERS: of
# each size
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

ASKED=$SROCE_JOB/shared
TOOLS=(ib_write_bw ib_read_bw ib_write_lat "ib_send_bw -b" "ib_write_bw -q 8")
# What is killed takes its peer with it, which then reports a dead one.
TIMEOUT=3600
# Some hundred of 8 MiB take an emulated CPU a second or more, and the smallest stay countable.
ITERS=${ITERS:-200}

# held_up HOW...: ask the host to begin; it says so, and later that it has ended
held_up()
{
	echo "$*" >"$ASKED/ask.new" && mv "$ASKED/ask.new" "$ASKED/ask"
	wait_until 60 test -e "$ASKED/begun"
}

# let_go: ask the host to end, if it has not yet
let_go()
{
	touch "$ASKED/enough"
	wait_until 120 test -e "$ASKED/ended"
	rm -f "$ASKED"/{begun,enough,ended}
}

ended() { [ -e "$ASKED/ended" ]; }

all_sizes() { perftest_pair "$@" -a -n $ITERS >"$OUT" 2>&1 || { tail -n 15 "$OUT"; return 1; }; }

# Is nothing retried until it fails, in any of the tools?
tools()
{
	local tool line
	for tool in "${TOOLS[@]}"; do
		read -ra line <<<"$tool"
		check "$1: $tool" stays retry_exceeded_err all_sizes "${line[@]}"
	done
}

# rounds NAME HOW...: so often, while the machine is held up
rounds()
{
	local name=$1 i
	shift
	check "$name: the host begins" held_up "$@"
	for ((i = 1; i <= ${ROUNDS:-1}; i++)); do tools "$name, round $i"; done
	let_go
	diag "$name: excused timeouts so far: $(both excused_ack_timeouts)," \
		"others: $(both local_ack_timeout_err)"
}

# stops NAME HOW...: until the host has done it as often as it is to
stops()
{
	local name=$1 i=0
	shift
	check "$name: the host begins" held_up "$@"
	until ended || [ $i -ge 50 ]; do tools "$name, round $((i += 1))"; done
	check "$name: the host has ended" ended
	let_go
}

OUT=$(mktemp)
make -s -C "$DIR/verbs" || exit 1
trap 'topo_down; rm -f "$OUT"' EXIT
topo_veth
GID_A=$(gid_index "$DEV_A" v4) GID_B=$(gid_index "$DEV_B" v4)

for n in ${SPINNERS:-4}; do rounds "$n programs spin on the host" spin "$n"; done
rounds "single CPUs are held up" cpus 4
stops "the VM is stopped 20 times for 500 ms" stop 20 0.5
gone() { timeout 300 "$DIR/verbs/.out/retries" "$DEV_A@$NS_A" "$DEV_B@$NS_B" --only "peer in RESET"; }
check "a peer that is gone is reported, and in time" gone
done_testing
