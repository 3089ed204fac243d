#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the benchmarks read out of the tools' output, on the host.
# shellcheck disable=SC2034
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh
# shellcheck source=selftests/bench/count.sh
. selftests/bench/count.sh

DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
B_CLIENT=$DIR/client B_RAW=$DIR/raw TRACING=$DIR/tracing COUNTS=$DIR/counts

bw_output()
{
	cat <<-'END'
	---------------------------------------------------------------------------------------
	                    RDMA_Write BW Test
	 Dual-port       : OFF		Device         : sroce0
	 Number of qps   : 1		Transport type : IB
	 Connection type : RC		Using SRQ      : OFF
	 local address: LID 0000 QPN 0x0011 PSN 0xf7c60d RKey 0x000100 VAddr 0x007f3a5ed37000
	 GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:00:00:01
	---------------------------------------------------------------------------------------
	 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
	 65536      1500             0.00               300.00 		   0.004800
	---------------------------------------------------------------------------------------
	END
}

lat_output()	# samples
{
	cat <<-'END'
	 GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:00:00:01
	#, usec
	END
	[ "$1" -eq 0 ] || seq 1 "$1" | awk '{ print $1 ", " $1 / 100 }'
	cat <<-'END'
	 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
	 8       4000          5.10           95.55        6.70     	       6.90        	1.20		8.80    		21.50
	END
}

sockperf_output()
{
	cat <<-'END'
	sockperf: Summary: Latency is 7.104 usec
	sockperf: Total 70211 observations; each percentile contains 702.11 observations
	sockperf: ---> <MAX> observation =  512.040
	sockperf: ---> percentile 99.990 =   88.125
	sockperf: ---> percentile 99.900 =   22.500
	sockperf: ---> percentile 50.000 =    6.750
	sockperf: ---> <MIN> observation =    5.990
	END
}

# says FUNCTION EXPECTED: what it makes of $B_CLIENT, as one line
says()
{
	local out
	out=$($1 | xargs)
	[ "$out" = "$2" ] || { echo "it says: $out"; return 1; }
}

bw() { bw_output >"$B_CLIENT"; says bw_says "314.57 4.8000"; }

# A run that died has no result, and not one of zero.
nothing() { bw_output | head -n 9 >"$B_CLIENT"; says bw_says "" && says lat_says ""; }

lat()
{
	lat_output 0 >"$B_CLIENT"
	says lat_says "min 5.10 max 95.55 p50 6.70 p99 8.80 p99.9 21.50"
}

histogram()
{
	lat_output 4000 >"$B_CLIENT"
	says lat_says "min 5.10 max 95.55 p50 6.70 p99 8.80 p99.9 21.50 \
p25 10.01 p75 30.01 p90 36.01"
}

sockperf()
{
	sockperf_output >"$B_CLIENT"
	says sockperf_says "max 512.040 p99.99 88.125 p99.9 22.500 p50 6.750 \
min 5.990"
}

# Of two CPUs
hist_output()	# values
{
	cat <<-END
	# event histogram
	#
	# trigger info: hist:keys=common_cpu:vals=hitcount,len:sort=hitcount:size=2048 [active]
	#

	{ common_cpu:          1 } hitcount:        100${1:+  len:     102400}
	{ common_cpu:          0 } hitcount:       2000${1:+  len:    2097152}

	Totals:
	    Hits: 2100
	    Entries: 2
	    Dropped: 0
	END
}

# What a point has counted, and that nothing is left of it
points()
{
	local ev=$TRACING/events
	mkdir -p "$ev/bench/crc_bytes" "$ev/kmem/kmalloc"
	hist_output len >"$ev/bench/crc_bytes/hist"
	hist_output "" >"$ev/kmem/kmalloc/hist"
	: >"$TRACING/kprobe_profile"
	printf '%s\n' "crc_bytes $ev/bench/crc_bytes %dx" \
		"kmallocs $ev/kmem/kmalloc " >"$COUNTS.points"
	echo 0 >"$COUNTS.trips"
	counted_points() { counting_ends | grep -v ^ip_trips; }
	says counted_points "crc_bytes 2199552 kmallocs 2100" &&
		[ "$(cat "$TRACING/kprobe_events")" = -:bench/crc_bytes ] &&
		[ "$(cat "$ev/kmem/kmalloc/trigger")" = "!$HIST" ]
}

# A long run less a short one; what only one of them has is no figure.
differs()
{
	printf '%s\n' "skbs 100" "kmallocs 90" "lost 1" >"$DIR/short"
	printf '%s\n' "skbs 740" "kmallocs 90.5" >"$DIR/long"
	by_64() { difference "$DIR/short" "$DIR/long" 64; }
	says by_64 "skbs 10.000 kmallocs 0.008"
}

raw_lines()
{
	PLACE=veth MTU=1500 B_NOW=sroce REP=2
	raw_begin
	row write_bw RC 65536 1 poll bandwidth MB/s 314.57 >/dev/null
	B_NOW=tcp
	row stream "" 0 1 "" bandwidth MB/s 300 >/dev/null
	selftests/bench/report.py "$B_RAW" >"$DIR/table"
	grep -qE "WRITE 64 KiB .* 314\.6 .* 1\.05$" "$DIR/table" ||
		{ cat "$B_RAW" "$DIR/table"; return 1; }
}

# Each limit is of something that is counted, or it would always be exceeded.
limits_are_counted()
{
	local who test size metric limit bad=0 names
	names=$(count_points sroce | cut -d' ' -f1; printf '%s\n' ip_trips $QP_METRICS)
	while read -r who test size metric limit; do
		grep -qx "$metric" <<<"$names" ||
			{ echo "nobody counts $metric"; bad=1; }
	done < <(grep '^[^#]' selftests/bench/limits)
	return $bad
}

check "bandwidth and rate of perftest" bw
check "nothing of a run that has died" nothing
check "latencies of perftest" lat
check "more of them from its histogram" histogram
check "latencies of sockperf" sockperf
check "what points have counted on all CPUs, and their end" points
check "what a long run costs beyond a short one" differs
check "raw results are what the report takes" raw_lines
check "all that has a limit is counted" limits_are_counted
done_testing
