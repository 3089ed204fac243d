#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The whole matrix of netem.test.sh, and goodput in each of its cells beside
# rdma_rxe's and TCP's: one veth pair, one VM run.
#
# NETEM_CELLS="loss1 loss5+reorder" measures only those, NETEM_WITH=sroce only that;
# NETEM_MATRIX=no leaves the tests out. With NETEM_WHY=yes, what did not get through says why.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"
# shellcheck source=selftests/lib/faults.sh
. "$DIR/lib/faults.sh"
# shellcheck source=selftests/bench/lib.sh
. "$DIR/bench/lib.sh"

MS=${NETEM_MS:-600}
ROWS=/tmp/netem.rows

all_cells()
{
	local l o
	for l in none loss0.1 loss1 loss5 loss30; do
		for o in none duplicate reorder corrupt delay; do
			case $l+$o in
			none+*)	echo "$o" ;;
			*+none)	echo "$l" ;;
			*)	echo "$l+$o" ;;
			esac
		done
	done
}

# One operation: MB/s (k/s for atomics), or - if it did not get through.
one()	# op size
{
	local mb
	faults "$CELL" || { echo -; return; }
	mb=$(verbs_goodput "$1" "$2" "$MS")
	[ "$mb" != - ] || [ -z "${NETEM_WHY:-}" ] ||
		sed "s/^/# $CELL $1: /" $PEERS_OUT >&2
	if [ "$1" != fadd ] || [ "$mb" = - ]; then
		echo "$mb"
		return
	fi
	sed -n 's|.*MB/s, \([0-9]*\) /s.*|\1|p' $PEERS_OUT |
		awk '{ printf "%.2f\n", $1 / 1000 }'
}

verbs_row()
{
	echo "$(one write 1048576) $(one read 1048576) $(one send 65536) \
$(one fadd 8)"
}

tcp_row()
{
	local mb
	faults "$CELL" || { echo -; return; }
	B_PORT=$((B_PORT + RANDOM % 1000))	# this is a subshell
	mb=$(tcp_bw 1 2>/dev/null)
	echo "${mb:--}"
}

measure_all()	# contender
{
	local dev
	contender "$1"
	for dev in /sys/class/infiniband/*; do
		# both ends are in one namespace, and the wire is to be used
		[ ! -e "$dev/loopback" ] || echo 0 >"$dev/loopback"
	done
	for CELL in ${NETEM_CELLS:-$(all_cells)}; do
		case $1 in
		tcp)	echo "$1 $CELL $(tcp_row)" ;;
		*)	echo "$1 $CELL $(verbs_row)" ;;
		esac | tee -a $ROWS | sed 's/^/# /'
	done
}

# sroce, rxe and TCP of a cell in one line
table()
{
	awk '
	{ if (!seen[$2]++) order[++n] = $2
	  row[$1, $2] = sprintf("%7s %7s %7s %7s", $3, $4, $5, $6) }
	END {
		printf "%-26s|%-32s|%-32s| %s\n", "", " sroce", " rdma_rxe", "TCP"
		h = sprintf("%7s %7s %7s %7s", "WRITE", "READ", "SEND", "FADD")
		printf "%-26s|%32s|%32s|\n", "MB/s; FETCH_ADD: k/s", h, h
		for (i = 1; i <= n; i++)
			printf "%-26s|%32s|%32s|%s\n", order[i],
				row["sroce", order[i]], row["rxe", order[i]],
				row["tcp", order[i]]
	}' $ROWS
}

rc=0
[ "${NETEM_MATRIX:-}" = no ] || NETEM=all NETEM_BARS=100 "$DIR/vm/netem.test.sh" || rc=1
rmmod sroce 2>/dev/null
NS_A=none NS_B=none FAULTS_A=$B_V0 FAULTS_B=$B_V1
modprobe -a sch_netem ifb act_mirred cls_matchall cls_u32
bench_topology 1500
faults_up a $B_V0 && faults_up b $B_V1 || exit 1
# a CPU for each end, or chance would say whether they share one
taken_in_on a $B_V0 1
taken_in_on b $B_V1 2
LISTENER_ON="taskset -c 1" CONNECTER_ON="taskset -c 0"
: >$ROWS
for who in ${NETEM_WITH:-tcp sroce rxe}; do measure_all "$who"; done
table
exit $rc
