#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A network that is shared: sroce through a router whose port is the bottleneck, alone
# and beside one TCP flow. It has to take what TCP takes, lose next to nothing, leave
# TCP its part, and not let others wait for longer than TCP does.
#
# make router measures all of ROUTER_RATES, ROUTER_QUEUES and ROUTER_DELAYS, for
# ROUTER_SECONDS each, and prints a table.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"
# shellcheck source=selftests/lib/router.sh
. "$DIR/lib/router.sh"

[ "$LINK_TYPE" = sroce ] || { skip router "about sroce only"; done_testing; exit; }

ROWS=/tmp/router.rows
MATRIX=${ROUTER_RATES:-}
SECONDS_EACH=${ROUTER_SECONDS:-$([ -n "$MATRIX" ] && echo 10 || echo 5)}
TRIES=$([ -n "$MATRIX" ] && echo 1 || echo 4) SECONDS_AGAIN=10
SETTLE=2	# seconds that two flows have before they are compared

# Each: RATE-MBIT QUEUE DELAY-MS
cells()
{
	local rate queue delay
	[ -n "$MATRIX" ] || { echo "20 pfifo 10"; echo "20 red 10"; return; }
	for rate in $MATRIX; do
		for queue in ${ROUTER_QUEUES:-pfifo fq_codel red}; do
			for delay in ${ROUTER_DELAYS:-0 10 50}; do
				echo "$rate $queue $delay"
			done
		done
	done
}

# ---- one cell -------------------------------------------------------------

# alone roce|tcp: sets M[WHO.rate], .dropped and .marked in packets, .lost and .ce in
# percent of those sent, and .wait, in ms
alone()
{
	local who=$1 proto=udp from pid
	[ "$who" = roce ] || proto=tcp
	bottleneck "$RATE" "$R_QUEUE" "$DELAY" || return
	from=$(arrived $proto)
	rm -f /tmp/wait
	"$who" "$SECONDS_EACH" >/tmp/rate &
	pid=$!
	wait_until 10 flowing $proto "$from" && ping_mean $((SECONDS_EACH - 2)) >/tmp/wait
	wait $pid || { echo "$who did not get through"; return 1; }
	M[$who.rate]=$(cat /tmp/rate) M[$who.wait]=$(cat /tmp/wait)
	read -r from "M[$who.dropped]" "M[$who.marked]" <<<"$(bottleneck_stats)"
	M[$who.lost]=$(percent "${M[$who.dropped]}" $((from + M[$who.dropped])))
	M[$who.ce]=$(percent "${M[$who.marked]}" "$from")
}

percent() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", b ? 100 * a / b : 0 }'; }

# Bytes of udp and tcp that arrive in a while
arrivals()
{
	local u t
	u=$(arrived udp) t=$(arrived tcp)
	sleep "$SECONDS_EACH"
	echo $(($(arrived udp) - u)) $(($(arrived tcp) - t))
}

# Sets M[share], what of the bytes that arrive is sroce's, in percent, and M[both.lost].
# TCP is first, or the connections of the tools would have to get through, and it goes
# on for as long as it takes.
together()
{
	local u t sent dropped tcp roce rc=0
	bottleneck "$RATE" "$R_QUEUE" "$DELAY" || return
	u=$(arrived udp) t=$(arrived tcp)
	tcp 100 >/dev/null 2>&1 & tcp=$!
	wait_until 10 flowing tcp "$t" || { echo "TCP does not begin"; rc=1; }
	roce $((SECONDS_EACH + SETTLE + 3)) >/dev/null & roce=$!
	wait_until 20 flowing udp "$u"
	sleep $SETTLE
	read -r u t <<<"$(arrivals)"
	read -r sent dropped _ <<<"$(bottleneck_stats)"
	wait $roce || { echo "roce did not get through"; rc=1; }
	pkill -x iperf3
	wait $tcp
	M[share]=$(percent "$u" $((u + t)))
	M[both.lost]=$(percent "$dropped" $((sent + dropped)))
	return $rc
}

measure_alone() { alone tcp && alone roce; }

# ---- bars -----------------------------------------------------------------

# is EXPRESSION: of awk, with numbers
is() { awk "BEGIN { exit !($1) }"; }

takes_what_tcp_takes() { is "${M[roce.rate]} >= 0.95 * ${M[tcp.rate]}"; }

# What cannot be marked is of perftest's own connection.
loses_little()
{
	case $R_QUEUE in
	red)	[ "${M[roce.dropped]}" -le 2 ] ;;
	*)	is "${M[roce.lost]} <= 1" ;;
	esac
}

# 2 ms: a flow that hardly waits at all
lets_others_through() { is "${M[roce.wait]} <= 1.1 * ${M[tcp.wait]} + 2"; }

shares_with_tcp() { is "${M[share]} >= 30 && ${M[share]} <= 70"; }

ALONE="takes_what_tcp_takes loses_little lets_others_through"
TOGETHER="shares_with_tcp"

hold()	# bars
{
	local bar
	for bar in $1; do $bar || return; done
}

says()	# bar
{
	case $1 in
	takes*)	echo "${M[roce.rate]} of TCP's ${M[tcp.rate]} Mbit/s alone" ;;
	loses*)	echo "${M[roce.lost]} % dropped alone (TCP: ${M[tcp.lost]} %)" ;;
	lets*)	echo "others wait ${M[roce.wait]} ms (TCP: ${M[tcp.wait]} ms)" ;;
	shares*)	echo "${M[share]} % of the link beside TCP" ;;
	esac
}

# A check must not fail because the machine was busy: it may measure TRIES times, all but
# the first for longer.
measure_until()	# bars measure
{
	local i
	$2 || return
	for ((i = 1; i < TRIES; i++)); do
		! hold "$1" || return 0
		diag "measured again:$(for bar in $1; do echo " $(says "$bar");"; done)" >&3
		SECONDS_EACH=$SECONDS_AGAIN $2 || return
	done
}

measure_cell()
{
	M=()
	measure_until "$ALONE" measure_alone && measure_until "$TOGETHER" together
}

cell()	# RATE QUEUE DELAY
{
	local bar name="$1 Mbit/s, $2, $3 ms"
	RATE=$1 R_QUEUE=$2 DELAY=$3
	measure_cell 3>&1 >/tmp/why 2>&1 ||
		{ not_ok "$name: all get through" "$(cat /tmp/why)"; return; }
	for bar in $ALONE $TOGETHER; do
		if $bar; then ok "$name: $(says $bar)"; else not_ok "$name: $(says $bar)"; fi
	done
	echo "$1 $2 $3 ${M[tcp.rate]} ${M[tcp.lost]} ${M[tcp.wait]} ${M[roce.rate]}" \
		"${M[roce.lost]} ${M[roce.ce]} ${M[roce.wait]} ${M[share]} ${M[both.lost]}" \
		>>$ROWS
}

table()
{
	awk 'BEGIN {
		print "bottleneck                 | TCP alone              | sroce alone" \
			"                                  | both"
		print "Mbit/s queue     delay, ms | Mbit/s dropped% ping ms | Mbit/s of TCP%" \
			" dropped% marked% ping ms | sroce% dropped%"
	}
	{ printf "%6s %-9s %9s | %6s %8s %7s | %6s %7.0f %8s %7s %7s | %6s %8s\n", $1, $2,
		$3, $4, $5, $6, $7, 100 * $7 / $4, $8, $9, $10, $11, $12 }' $ROWS | sed 's/^/# /'
}

# ---- the place ------------------------------------------------------------

# A train on the way to the router would be one packet to its queue.
packets_cross_singly()
{
	local dump n
	in_r timeout 15 tcpdump -n -i ra -c 500 -w /tmp/router.pcap \
		'udp port 4791 and src 10.7.1.1' 2>/tmp/tcpdump.log &
	dump=$!
	wait_until 10 grep -q 'listening on' /tmp/tcpdump.log
	roce 2 >/dev/null || return
	wait $dump || { cat /tmp/tcpdump.log; return 1; }
	n=$(tcpdump -n -r /tmp/router.pcap 'greater 1515' 2>/dev/null | wc -l)
	[ "$n" -eq 0 ] || { echo "$n of 500 are larger than the link's MTU"; return 1; }
}

# What the machine can carry, or nothing is said about the bottleneck: a CPU that is
# busy lets others wait, too.
carries_more()	# MBIT
{
	local name="the machine carries twice the rate of the bottleneck" tcp roce
	bottleneck 0
	tcp=$(tcp 3 2>&1) roce=$(roce 4 2>&1)
	if is "${tcp:-0} > 2 * $1 && ${roce:-0} > 2 * $1"; then
		ok "$name: TCP $tcp, sroce $roce Mbit/s"
	else
		not_ok "$name" "TCP $tcp, sroce $roce Mbit/s"
	fi
}

modprobe -a sch_netem sch_tbf sch_red cls_u32 act_gact
load_module || { not_ok "loading the module"; done_testing; exit 1; }
trap router_down EXIT
router_up >/tmp/why 2>&1 ||
	{ not_ok "two ends and a router" "$(cat /tmp/why)"; done_testing; exit 1; }
declare -A M
: >$ROWS
check "packets reach the router one by one" packets_cross_singly
[ -z "$MATRIX" ] || carries_more "$(cells | sort -n | tail -n 1 | cut -d' ' -f1)"
while read -r rate queue delay; do cell "$rate" "$queue" "$delay"; done < <(cells)
table
done_testing
