#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Small messages that are posted one by one in a stream leave together; those that
# stand alone, answer others, or are long or in lists already leave at once. That
# each arrives is checked by verbs/stress/flood.c.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"
# shellcheck source=selftests/lib/pairs.sh
. "$DIR/lib/pairs.sh"

PARAM=/sys/module/sroce/parameters/tx_coalesce
OUT=$(mktemp)

[ "$LINK_TYPE" = sroce ] || { skip coalesce "about sroce only"; done_testing; exit; }
# a doorbell takes longer there than anything is held
[[ $(uname -r) != *-debug ]] || { skip coalesce "too slow a kernel"; done_testing; exit; }

# Where CPUs are busy a process is held up so often that it makes no stream.
in_trains() { one_of 6 share_trains; }

# What is held shares its train and its acknowledge with others.
share_trains()
{
	local packets trains held
	packets=$(both tx_pkts) trains=$(both tx_trains)
	held=$(both coalesced_doorbells)
	pair ib_send_bw -s 64 -n 20000 || return
	packets=$(($(both tx_pkts) - packets))
	trains=$(($(both tx_trains) - trains))
	held=$(($(both coalesced_doorbells) - held))
	echo "$packets packets, $trains trains, $held held"
	[ $held -gt 2000 ] && [ $trains -gt $((held / 40)) ] &&
		[ $((packets + held / 2)) -lt 40000 ]
}

# One at a time from each of two programs that answer each other
alone() { stays coalesced_doorbells pair "$@"; }

trap 'topo_down; rm -f "$OUT"' EXIT
topo_veth
GID_A=$(gid_index "$DEV_A" v4) GID_B=$(gid_index "$DEV_B" v4)

check "a stream of SENDs leaves in trains" in_trains
check "a stream of WRITEs is held" grows coalesced_doorbells pair ib_write_bw -s 64 -n 40000
check "ping-pong by SEND is not" alone ib_send_lat -s 8 -n 2000
check "nor by WRITE" alone ib_write_lat -s 8 -n 2000
check "nor by READ" alone ib_read_lat -s 8 -n 2000
check "nor are lists" alone ib_send_bw -s 64 -l 32 -n 9600
check "nor long messages" alone ib_write_bw -s 65536 -n 300
check "nor UC" alone ib_write_bw -c UC -s 64 -n 5000
check "nor short queues" alone ib_write_bw -s 64 -t 8 -n 2000
echo 0 >$PARAM
check "tx_coalesce=0: nothing is" alone ib_send_bw -s 64 -n 10000
echo 1 >$PARAM
check "processes are killed in streams" killed coalesced_doorbells ib_write_bw -s 64 -D 20
check "the next ones get through" pair ib_write_bw -s 64 -n 2000
check "nothing is left of that" nothing_left
done_testing
