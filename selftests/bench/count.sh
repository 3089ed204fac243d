# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What a transfer costs, counted: such figures are the same on every machine,
# more or less, as some packets and allocations are of others. Sourced after
# selftests/bench/lib.sh.
#
# Both ends are on this machine, and so are both ends' costs. They share a CPU
# and give way to the kernel's threads, or it would be chance how many packets
# are there when somebody looks. Two runs are counted, a short one and a long
# one: what they differ by is what messages cost, without what programs do to
# begin and to end.

TRACING=/sys/kernel/tracing
COUNT_CPU=0

# Packets, or trains, that the IP stack has sent
ip_trips() { awk '/^Ip: [0-9]/ { print $11 }' /proc/net/snmp; }

# A tracepoint's hits, a function's calls, or, where there is a register, the
# sum of an argument.
count_points()	# contender
{
	echo "skbs skb_release_head_state"
	echo "device_xmits net:net_dev_start_xmit"
	echo "kmallocs kmem:kmalloc"
	echo "cache_allocs kmem:kmem_cache_alloc"
	echo "page_allocs kmem:mm_page_alloc"
	# headers, and packets that a device wants in one piece
	echo "pulled_bytes __pskb_pull_tail %si"
	case $1 in
	sroce)	echo "crc_bytes sroce:sroce_crc32 %dx"
		echo "copied_out_bytes sroce:sroce_mr_copy_from,sroce:fill_span %si"
		echo "copied_in_bytes sroce:sroce_segs_rx_span %si" ;;
	# what the driver updates the hash with
	rxe)	echo "crc_bytes crypto_shash_update %dx" ;;
	esac
}

# Where in $TRACING/events a point is; a probe is made for a function, or one for
# all of several.
count_event()	# name point [register]
{
	local ev=$TRACING/events/${2/://}
	if [ -d "$ev" ]; then
		echo "$ev"
		return
	fi
	ev=$TRACING/events/bench/$1
	if [ ! -d "$ev" ]; then
		local at
		for at in ${2//,/ }; do
			echo "p:bench/$1 $at ${3:+len=$3:u32}" >>$TRACING/kprobe_events ||
				return
		done
	fi
	echo "$ev"
}

HIST=hist:keys=common_cpu

counting_begins()	# contender
{
	local name point reg ev
	[ -e $TRACING/kprobe_events ] || mount -t tracefs tracefs $TRACING
	while read -r name point reg; do
		ev=$(count_event "$name" "$point" "$reg") || {
			echo "# cannot count $name: no $point" >&2
			continue
		}
		echo "$HIST${reg:+:vals=len}" >"$ev/trigger"
		echo "$name $ev $reg"
	done < <(count_points "$1") >"$COUNTS.points"
	ip_trips >"$COUNTS.trips"
} 2>/dev/null

# The sum over all CPUs, of lines such as
# { common_cpu:  0 } hitcount:  10  len:  10240
hist_sum()	# file [register]
{
	local field=hitcount
	[ -z "${2:-}" ] || field=len
	sed -n "s/^{.*\b$field: *\([0-9]*\).*/\1/p" "$1" |
		awk '{ s += $1 } END { print s + 0 }'
}

# "name count" lines; no probe is left.
counting_ends()
{
	local name ev reg
	echo "ip_trips $(($(ip_trips) - $(cat "$COUNTS.trips")))"
	while read -r name ev reg; do
		echo "$name $(hist_sum "$ev/hist" "$reg")"
		echo "!$HIST${reg:+:vals=len}" >"$ev/trigger"
		[[ $ev != */bench/* ]] ||
			echo "-:bench/$name" >>$TRACING/kprobe_events
	done <"$COUNTS.points"
	awk '$3 > 0 { print "# probe missed: " $0 }' \
		$TRACING/kprobe_profile >&2
}

# "name count" lines of what a command costs
count_of()	# contender command...
{
	local who=$1 rc=0
	shift
	counting_begins "$who"
	"$@" >/dev/null || rc=$?
	counting_ends
	return $rc
}

# Both of "name count" on stdin: the second less the first, by a divisor
difference()	# short long divisor
{
	awk -v by="$3" 'NR == FNR { short[$1] = $2; next }
		$1 in short { printf "%s %.3f\n", $1, ($2 - short[$1]) / by }' \
		"$1" "$2"
}

# count_rows test transport size unit divisor: from both runs
count_rows()
{
	local what count
	while read -r what count; do
		row "$1" "$2" "$3" 1 counted "$what" "$4" "$count"
	done < <(difference $COUNTS.short $COUNTS.long "$5")
}

# Counters say what it was busy with. NOT_COUNTED is for the caller.
counted_failed()	# what
{
	local dev
	NOT_COUNTED+=("$*")
	echo "# not counted: $*"
	for dev in "$B_DEV0" "$B_DEV1"; do
		rdma statistic show link "$dev/1" | sed 's/ [a-z_]* 0\b//g'
	done
	return 1
} >&2

# Sum of counters of sroce, at either end
counters_sum()	# regex
{
	local dev
	for dev in "$B_DEV0" "$B_DEV1"; do
		rdma statistic show link "$dev/1"
	done | awk -v names="^($1)\$" '{
		for (i = 1; i < NF; i++)
			if ($i ~ names)
				s += $(i + 1)
	} END { print s + 0 }'
}

# While a host has no time for an answer, packets are sent again and the window is decreased.
# That is no cost of a transfer; if it is always so, the run with the fewest of these counts.
count_clean()	# file regex-of-counters command...
{
	local to=$1 which=$2 i n least=''
	shift 2
	for i in {1..12}; do
		n=$(counters_sum "$which")
		count_of "$B_NOW" "$@" >"$to.now" || return
		n=$(($(counters_sum "$which") - n))
		[ -n "$least" ] && [ $n -ge "$least" ] || { least=$n; mv "$to.now" "$to"; }
		[ $n -gt 0 ] || return 0
		echo "# counted again: $*, $i: $n" >&2
	done
}

# count_case TEST SIZE N args...: N messages; per MiB, or per message where
# those are small
count_case()
{
	local test=$1 size=$2 n=$3 unit="per MiB" by less
	shift 3
	by=$(awk "BEGIN { print $n * $size / 1048576 }")
	[ "$size" -ge 4096 ] || { unit="per message" by=$n; }
	less=$((n / 8))
	# what the short run sends twice would be missing from the rest
	count_clean $COUNTS.short 'retransmitted_pkts|replayed_[a-z]+' perftest "ib_$test" \
		-s "$size" -n $less -N "$@" &&
	count_clean $COUNTS.long 'cwnd_decreases|read_retries' perftest "ib_$test" \
		-s "$size" -n $((n + less)) -N "$@" || { counted_failed "$test $size"; return; }
	count_rows "$test" RC "$size" "$unit" "$by"
}

tcp_megabytes()	# n
{
	local rc=0
	B_PORT=$((B_PORT + 1))
	server_begin iperf3 -s -1 -p $B_PORT -B "$B_IP1"
	timeout -k 1 "$B_LIMIT" iperf3 -c "$B_IP1" -B "$B_IP0" -p $B_PORT \
		-n "$1M" >/dev/null || rc=$?
	[ $rc -eq 0 ] || at_server stop_serving
	server_end || rc=$?
	return $rc
}

count_tcp()
{
	count_of tcp tcp_megabytes 8 >$COUNTS.short &&
	count_of tcp tcp_megabytes 72 >$COUNTS.long ||
		{ counted_failed stream; return; }
	count_rows stream "" 0 "per MiB" 64
}

# What QPs cost, by selftests/verbs/stress/qpcost.c: lines of name, value and unit. Memory is
# counted: it is the same on every machine of as many CPUs.
qp_costs()	# QPs
{
	timeout -k 1 "$B_LIMIT" "$VERBS/.out/qpcost" "$B_DEV0" "$B_DEV1" "$1"
}

QP_METRICS="init_memory connect_memory"

count_qps()
{
	local what value unit
	qp_costs 2000 >$COUNTS.qps || { counted_failed qp; return; }
	while read -r what value unit; do
		[[ " $QP_METRICS " != *" $what "* ]] ||
			row qp RC 0 1 counted "$what" "$unit" "$value"
	done <$COUNTS.qps
}

count_all_cases()
{
	case $B_NOW in
	tcp)	count_tcp ;;
	*)	count_qps
		count_case write_bw 1048576 64
		count_case read_bw 1048576 64
		count_case send_bw 1048576 64 -r 32 -e
		count_case send_bw 64 10240 -l 32 -e ;;
	esac
}

# All that is counted of the contender that is loaded. What is started here
# inherits the CPU and the policy.
counted()
{
	local cpus
	cpus=$(taskset -cp $BASHPID | sed 's/.*: //')
	taskset -cp $COUNT_CPU $BASHPID >/dev/null
	gives_way
	count_all_cases
	gives_way no longer
	taskset -cp "$cpus" $BASHPID >/dev/null
}

COUNTS=${COUNTS:-/tmp/bench.counts}	# files, no subshell that forgets the port
