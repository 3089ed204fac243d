#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sroce-top: its figures are those of counters and of `rdma resource`.
set -uo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip "top" "about sroce only"; done_testing; exit; }

TOP=$PWD/tools/sroce-top
OUT=$(mktemp)
PIDS=()
trap 'end_traffic; rm -f "$OUT"' EXIT

# ---- traffic of which something is known -------------------------------------

start_traffic()
{
	local ga gb
	ga=$(gid_index "$DEV_A" v4) && gb=$(gid_index "$DEV_B" v4) || return
	become "$NS_B" timeout 600 ib_write_bw -F -d "$DEV_B" -x "$gb" -D 500 >/dev/null 2>&1 &
	PIDS+=($!)
	wait_until 10 listens_tcp b 18515 || return
	become "$NS_A" timeout 600 ib_write_bw -F -d "$DEV_A" -x "$ga" -D 500 $IP4_B >/dev/null 2>&1 &
	PIDS+=($!)
	wait_until 20 sending
}

end_traffic()
{
	local p
	for p in "${PIDS[@]}"; do
		kill "$p"
		wait "$p"
	done 2>/dev/null
	PIDS=()
}

sending() { [ "$(counter "$DEV_A" tx_pkts)" -gt 1000 ]; }

# ---- what is printed -----------------------------------------------------------

# cell DEVICE HEADING: of the last table with that heading, in the first row of the device
cell()
{
	awk -v dev="$1" -v want="$2" '
		$1 == "DEVICE" { col = 0; for (i = 1; i <= NF; i++) if ($i == want) col = i; next }
		col && $1 == dev { value = $col; col = 0 }
		END { print value }' "$OUT"
}

# reason DEVICE COUNTER: its total
reason() { awk -v dev="$1" -v name="$2" '$1 == dev && $2 == name { v = $4 } END { print v }' "$OUT"; }

# about A B PERCENT: two figures differ by less
about()
{
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN {
		d = a - b
		if (d < 0) d = -d
		exit !(b > 0 && 100 * d <= p * b)
	}' || { echo "$1, should be about $2"; return 1; }
}

# What the counters say that it did, over the time that it says it took. It reads them
# somewhere between our two readings, so there is a range.
rates_are_counted()
{
	local bytes pkts seconds mb
	bytes=$(counter "$DEV_A" tx_bytes) pkts=$(counter "$DEV_A" tx_pkts)
	in_a "$TOP" -b -n 1 -i 3 -d "$DEV_A" >"$OUT" || return
	bytes=$(($(counter "$DEV_A" tx_bytes) - bytes))
	pkts=$(($(counter "$DEV_A" tx_pkts) - pkts))
	seconds=$(sed -n 's/^sroce-top .* over \([0-9.]*\) s$/\1/p' "$OUT")
	mb=$(cell "$DEV_A" TX_MB/s)
	# bytes for each packet do not depend on when they are read
	about "$(awk -v m="$mb" -v p="$(cell "$DEV_A" TX_pkt/s)" 'BEGIN { print m * 1e6 / p }')" \
		"$((bytes / pkts))" 5 || return
	awk -v m="$mb" -v s="$seconds" -v b="$bytes" 'BEGIN {
		seen = m * 1e6 * s
		exit !(s >= 3 && seen > 0.2 * b && seen <= 1.001 * b)
	}' || { echo "$mb MB/s for $seconds s of $bytes bytes"; cat "$OUT"; return 1; }
}

qp_is_shown()
{
	local lqpn
	lqpn=$(rdma resource show qp link "$DEV_A" | grep 'type RC' | grep -oP 'lqpn \K[0-9]+')
	[ "$(cell "$DEV_A" LQPN)" = "$lqpn" ] && [ "$(cell "$DEV_A" STATE)" = RTS ] &&
	grep -qE "^$DEV_A +ib_write_bw\([0-9]+\)" "$OUT" &&
	[ "$(cell "$DEV_A" QPs)" = 1 ] && return
	echo "QP $lqpn:"
	cat "$OUT"
	return 1
}

# One QP without losses sends all packets of the device, each PSN once.
psn_rate_is_packet_rate() { about "$(cell "$DEV_A" SQ_psn/s)" "$(cell "$DEV_A" TX_pkt/s)" 25; }

round_trip_is_shown()
{
	[ "$(cell "$DEV_A" SRTT_us)" -gt 0 ] && [ "$(cell "$DEV_A" CWND)" -gt 0 ]
}

# netem drops so much that something has to be sent again, and by whom
losses_are_shown()
{
	local before after
	in_a tc qdisc add dev va root netem loss 5% || return
	sleep 1
	before=$(counter "$DEV_A" retransmitted_pkts)
	"$TOP" -b -n 1 -i 4 -d "$DEV_A" >"$OUT"
	after=$(counter "$DEV_A" retransmitted_pkts)
	in_a tc qdisc delete dev va root
	awk -v r="$(cell "$DEV_A" RETX/s)" -v d=$((after - before)) \
		'BEGIN { exit !(r > 0 && r * 4 <= 1.01 * d) }' && return
	echo "$before, then $after:"
	cat "$OUT"
	return 1
}

# A packet with a wrong ICRC, at the other end
drops_have_reasons()
{
	"$TOP" -b -n 1 -i 0.1 -d "$DEV_B" >"$OUT"
	[ -z "$(reason "$DEV_B" rx_malformed)" ] || return
	in_a bash -c "for i in 1 2 3; do printf nothing >/dev/udp/$IP4_B/4791; done"
	"$TOP" -b -n 1 -i 0.1 -d "$DEV_B" >"$OUT"
	[ "$(reason "$DEV_B" rx_malformed)" = 3 ] && return
	cat "$OUT"
	return 1
}

# Python may take longer to start than the datagrams to be sent, so wait for an update, and
# add up those after it.
rate_of_drops()
{
	local top
	"$TOP" -b -n 3 -i 3 -d "$DEV_B" >"$OUT" &
	top=$!
	wait_until 60 grep -q '^sroce-top' "$OUT"
	in_a bash -c "for i in {1..10}; do printf nothing >/dev/udp/$IP4_B/4791; done"
	wait $top
	about "$(awk -v dev="$DEV_B" '/^sroce-top/ { s = $(NF - 1) }
		$1 == dev && $2 == "vb" { n += s * $NF } END { print n }' "$OUT")" 10 8
}

updates()
{
	[ "$("$TOP" -b -n 3 -i 0.2 | grep -c '^sroce-top')" -eq 3 ]
}

both_devices()
{
	"$TOP" -b -n 1 -i 0.1 >"$OUT" && grep -q "^$DEV_A  *va " "$OUT" &&
		grep -q "^$DEV_B  *vb " "$OUT"
}

# A process may have any name, such as one that clears the screen.
odd_name()
{
	local dir file pid rc=0
	dir=$(mktemp -d)
	file=$dir/$'a\xff\e"[2J'
	cp "$(command -v ibv_rc_pingpong)" "$file"
	become "$NS_A" "$file" -d "$DEV_A" -g "$(gid_index "$DEV_A" v4)" >/dev/null 2>&1 &
	pid=$!
	wait_until 30 sh -c "rdma resource show qp | grep -qa '2J'" &&
		"$TOP" -b -n 1 -i 0.1 -d "$DEV_A" >"$OUT" 2>&1 &&
		grep -q 'a??"\[2J(' "$OUT" || { rc=1; cat -v "$OUT"; }
	kill $pid
	wait $pid 2>/dev/null
	rm -r "$dir"
	return $rc
}

# on_terminal TERM: of 100 columns
on_terminal()
{
	TERM=$1 script -qec "stty cols 100 rows 30; $TOP -n 1 -i 0.3" "$OUT.tty" >/dev/null </dev/null
	grep -q DEVICE "$OUT.tty" && grep -q "$DEV_A" "$OUT.tty" && rm "$OUT.tty"
}

without_devices() { "$TOP" -b -n 1 -i 0.1 | grep -q '^no sroce device'; }

load_module || { not_ok "loading the module"; done_testing; exit 1; }
check "without a device it says so" without_devices
topo_veth
check "drops have a reason, and how many" drops_have_reasons
check "and a rate" rate_of_drops
start_traffic || not_ok "traffic" "does not start"
check "rates are those of the counters" rates_are_counted
check "the QP is that of rdma resource" qp_is_shown
check "its PSNs advance with the packets" psn_rate_is_packet_rate
check "its window and round trip" round_trip_is_shown
check "what is sent again" losses_are_shown
end_traffic
check "so many updates" updates
check "all devices" both_devices
check "a process whose name is no text" odd_name
check "on a terminal" on_terminal xterm
check "on a terminal without colours" on_terminal vt220
check_fails "an interval of nothing is refused" 'more than 0' "$TOP" -i 0
topo_down
done_testing
