#!/bin/bash
# sroce, rdma_rxe and TCP on one veth pair, in a few minutes: medians of
# interleaved repetitions, and figures that are counted and so do not depend
# on the machine. Runs inside the VM (make bench-quick).
#
#   SROCE_BENCH_REPS=3 SROCE_BENCH_MTU=1500 SROCE_BENCH_WITH="sroce rxe tcp"
#   SROCE_BENCH_CASES="w64k s64k r64k w1m s1m r1m msg msgl wlat slat"
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
# shellcheck source=selftests/lib.sh
. selftests/lib.sh
# shellcheck source=tools/bench-lib.sh
. tools/bench-lib.sh

REPS=${SROCE_BENCH_REPS:-2}
MTU=${SROCE_BENCH_MTU:-1500}
WITH=${SROCE_BENCH_WITH:-sroce rxe tcp}
CASES=${SROCE_BENCH_CASES:-w64k s64k r64k w1m s1m r1m msg msgl wlat slat}
OUT=/tmp/bench
mkdir -p $OUT

# Iterations that take about half a second
iters()	# case
{
	case $B_NOW$1 in
	rxe?64k)	echo 300 ;;
	rxe?1m)		echo 12 ;;
	sroce?64k)	echo 1500 ;;
	sroce?1m)	echo 96 ;;
	rxemsg*)	echo 14400 ;;
	sroce?lat|rxe?lat)	echo 4000 ;;
	*)		echo 28800 ;;
	esac
}

run_case()	# case: appends to $OUT/$B_NOW.case
{
	local n
	n=$(iters "$1")
	case $1 in
	w64k)	perftest ib_write_bw -s 65536 -n "$n" -N | bw_mb ;;
	s64k)	perftest ib_send_bw -s 65536 -n "$n" -N | bw_mb ;;
	r64k)	perftest ib_read_bw -s 65536 -n "$n" -N | bw_mb ;;
	w1m)	perftest ib_write_bw -s 1048576 -n "$n" -N | bw_mb ;;
	s1m)	perftest ib_send_bw -s 1048576 -n "$n" -N -r 32 | bw_mb ;;
	r1m)	perftest ib_read_bw -s 1048576 -n "$n" -N | bw_mb ;;
	msg)	perftest ib_send_bw -s 64 -n "$n" -N | bw_k ;;
	msgl)	perftest ib_send_bw -s 64 -n "$n" -N -l 32 | bw_k ;;
	wlat)	perftest ib_write_lat -s 8 -n "$n" | lat_us ;;
	slat)	perftest ib_send_lat -s 8 -n "$n" | lat_us ;;
	esac | tee -a "$OUT/$B_NOW.$1" | sed "s/^/# $B_NOW $1: /"
}

run_tcp()
{
	tcp_bw 1 >>$OUT/tcp.bw
	tcp_lat 1 >>$OUT/tcp.lat
}

rounds()
{
	local rep who c
	for ((rep = 0; rep < REPS; rep++)); do
		for who in $WITH; do
			contender "$who"
			if [ "$who" = tcp ]; then
				run_tcp
				continue
			fi
			for c in $CASES; do
				run_case "$c"
			done
		done
	done
}

snmp() { awk '/^Ip: [0-9]/ { print $11 }' /proc/net/snmp; }

# What 64 WRITEs of 1 MiB cost, per MiB
counted()
{
	local before after ev
	contender sroce
	mkfifo $OUT/fifo
	before=$(snmp)
	perf stat -a -x, -o $OUT/perf -e skb:consume_skb -e skb:kfree_skb \
		-e net:net_dev_start_xmit -e kmem:kmalloc \
		-e kmem:kmem_cache_alloc -e kmem:mm_page_alloc -- \
		cat $OUT/fifo &
	local perf=$!
	exec 5>$OUT/fifo
	sleep 0.5
	perftest ib_write_bw -s 1048576 -n 64 -N >/dev/null 5>&-
	after=$(snmp)
	exec 5>&-
	wait $perf
	printf '%-24s %8.1f per MiB\n' "trips through IP" \
		"$(awk "BEGIN { print ($after - $before) / 64 }")"
	for ev in skb:consume_skb net:net_dev_start_xmit kmem:kmalloc \
		kmem:kmem_cache_alloc kmem:mm_page_alloc; do
		printf '%-24s %8.1f per MiB\n' "$ev" "$(awk -F, -v e=$ev \
			'$3 == e { print $1 / 64 }' $OUT/perf)"
	done
}

med() { [ -s "$OUT/$1" ] && awk -v c="$2" '{ print $c }' "$OUT/$1" | median; }

ratio() { awk -v a="${1:-0}" -v b="${2:-0}" \
	'BEGIN { if (b > 0) printf "%.2f", a / b; else printf "-" }'; }

row()	# label case tcp-file column
{
	local s r t
	s=$(med "sroce.$2" "$4") r=$(med "rxe.$2" "$4") t=$(med "$3" "$4")
	printf '%-28s %9s %9s %9s %9s %9s\n' "$1" "${s:--}" "${r:--}" \
		"${t:--}" "$(ratio "$s" "$r")" "$(ratio "$s" "$t")"
}

report()
{
	printf '%-28s %9s %9s %9s %9s %9s\n' "$(uname -r), MTU $MTU" \
		sroce rxe tcp "/rxe" "/tcp"
	row "WRITE 64 KiB, MB/s" w64k tcp.bw 1
	row "SEND 64 KiB, MB/s" s64k tcp.bw 1
	row "READ 64 KiB, MB/s" r64k tcp.bw 1
	row "WRITE 1 MiB, MB/s" w1m tcp.bw 1
	row "SEND 1 MiB, MB/s" s1m tcp.bw 1
	row "READ 1 MiB, MB/s" r1m tcp.bw 1
	row "SEND 64 B, k/s" msg none 1
	row "SEND 64 B, lists of 32, k/s" msgl none 1
	row "WRITE 8 B, us" wlat tcp.lat 1
	row "SEND 8 B, us" slat tcp.lat 1
	row "WRITE 8 B, us, 99.9 %" wlat tcp.lat 2
	row "SEND 8 B, us, 99.9 %" slat tcp.lat 2
}

bench_topology "$MTU"
rounds
report
[[ " $WITH " != *" sroce "* ]] || counted
contender none
exit 0
