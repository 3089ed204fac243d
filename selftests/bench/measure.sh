#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sroce, rdma_rxe, siw and TCP beside each other: runs inside the VM, and leaves raw
# results in shared/ of the job's directory, for selftests/bench/report.py.
#
#   measure.sh full	one machine: a veth pair at two MTUs, the same host, losses,
#			and figures that are counted
#   measure.sh wire	the veth pair as a wire: trains are cut up before it, with and
#			without GRO at the receiver, at three MTUs
#   measure.sh nvme	NVMe over Fabrics, on the veth pair and on the wire
#   measure.sh native	one CPU that is not emulated (a kernel SERIES-uml): the veth pair, the
#			wire, and NVMe on both
#   measure.sh two	two machines (tools/vm.sh --two)
#   measure.sh icount	guest instructions (tools/vm.sh --icount), on the veth pair and on
#			the wire
#   measure.sh quick	some minutes: the veth pair, the counted figures against
#			their limits; prints the table
#
#   BENCH_REPS=5	repetitions, interleaved; icount and quick do two
#   BENCH_WITH=		contenders: "sroce sroce-stack rxe siw tcp"
#   BENCH_ONLY=		a regular expression of cases, each of which is
#			PLACE/MTU/CONTENDER/TEST/TRANSPORT/SIZE/QPS/MODE, such as
#			veth/1500/sroce/write_bw/RC/65536/1/poll
#   BENCH_SKIP=		cases, as above, that are not run
#   BENCH_SECONDS=0.4	how long a run should measure
#   BENCH_MTU=1500	the netdevs' MTU in quick
#   BENCH_RUN_LIMIT=20	seconds that a run may take, of a machine that is busy
#   BENCH_LIMIT=	seconds after which no run begins any more: of a machine
#			that is too slow, the last repetitions are missing
#
# Runs that fail are missing from the results; what they were is in shared/, too, and the
# exit status is 1.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=selftests/lib/common.sh
. selftests/lib/common.sh
# shellcheck source=selftests/lib/two.sh
. selftests/lib/two.sh
# shellcheck source=selftests/lib/faults.sh
. selftests/lib/faults.sh
# shellcheck source=selftests/bench/lib.sh
. selftests/bench/lib.sh
# shellcheck source=selftests/bench/count.sh
. selftests/bench/count.sh
# shellcheck source=selftests/apps/nvme.sh
. selftests/apps/nvme.sh
# shellcheck source=selftests/bench/nvme.sh
. selftests/bench/nvme.sh
# BASH_SOURCE of a sourced file is as it was named
VERBS=$PWD/selftests/verbs

WHAT=${1:-quick}
WITH=${BENCH_WITH:-sroce sroce-stack rxe siw tcp}
ONLY=${BENCH_ONLY:-.}
HALF=${BENCH_SECONDS:-0.4}
TIME=${SROCE_TIMEOUT:-600}	# seconds, of tools/vm.sh
B_RAW=$SROCE_JOB/shared/bench-$WHAT.csv
FAILURES=$SROCE_JOB/shared/failed-$WHAT
declare -A RATE BAD
LATE=

# Seconds of the host's clock: with icount the guest's own are instructions.
now()
{
	cat /sys/class/rtc/rtc0/since_epoch 2>/dev/null || date +%s
}

BEGAN=$(now)
UNDER_WAY=$SROCE_JOB/shared/under-way

# What is under way, for who finds this machine dead or stuck
under_way() { echo "$PLACE/$MTU/$B_NOW/$1" >"$UNDER_WAY"; }

# A machine that is stuck in one case is ended; selftests/bench/run.sh goes on
# without the case, in another.
watch_out()
{
	local last
	while sleep 10; do
		last=$(stat -c %Y "$UNDER_WAY" "$B_RAW" | sort -n | tail -n 1)
		[ $(($(now) - last)) -gt 180 ] || continue
		echo "# stuck in $(cat "$UNDER_WAY")"
		dmesg | tail -n 40
		echo o >/proc/sysrq-trigger
	done
}

failed()	# what
{
	echo "$PLACE $MTU $B_NOW $*" >>"$FAILURES"
	echo "# failed: $PLACE $MTU $B_NOW $*"
}

none_failed()
{
	[ -s "$FAILURES" ] || return 0
	echo "# $(wc -l <"$FAILURES") runs failed, and are missing:"
	sed 's/^/#   /' "$FAILURES"
	return 1
}

# ---- one case -------------------------------------------------------------

# Messages that take about as long as a run should: by what the last one did,
# or a guess. What has lists takes whole ones, and as a QP each.
iterations()	# case test size qps
{
	local least=5 most=30000 guess="12 3"
	case $B_NOW in rxe) guess="25 16" ;; esac
	# four pollers may share two CPUs of the host
	case $PLACE in vms) guess="100 30" ;; esac
	case $2 in *_lat) least=200 most=5000 ;; esac
	# what nobody has posted a receive for is lost
	case $1 in *_bw:UD:*) most=2000 ;; esac
	awk -v rate="${RATE[$PLACE$MTU$B_NOW$1]:-}" -v guess="$guess" \
		-v size="$3" -v qps="$4" -v least=$least -v most=$most \
		-v s="$HALF" -v lat="$([[ $2 != *_lat ]] || echo 2)" 'BEGIN {
		split(guess, g, " ")
		if (rate == "")
			rate = 1000 / (g[1] + size * g[2] / 1000) / (lat ? lat : 1)
		n = rate * 1000 * s
		if (n > most) n = most
		n = n / qps
		if (n < least) n = least
		if (n >= 64) n -= n % 32
		print int(n)
	}'
}

args_of()	# test transport size qps mode
{
	local a=()
	[[ $1 == atomic* ]] || a+=(-s "$3")
	[ "$2" = RC ] || a+=(-c "$2")
	[ "$4" = 1 ] || a+=(-q "$4" -t 64)
	case $1 in
	*_bw)	a+=(-N) ;;
	*_lat)	[[ $5 != poll || $3 != 8 ]] || a+=(-H) ;;
	esac
	case $1/$2/$4 in
	send_bw/UD/*)	a+=(-r 2048) ;;
	send_bw/*/1)	[ "$3" -lt 1048576 ] || a+=(-r 32) ;;
	send_bw/*)	a+=(-r 128) ;;
	esac
	case $5 in
	event)	a+=(-e) ;;
	list*)	a+=(-l "${5#list}") ;;
	esac
	echo "${a[*]}"
}

# A run that fails leaves no result, and is told of; who fails twice is not
# waited for again.
measured()	# case test transport size qps mode
{
	local what n val bw rate args me=$PLACE$MTU$B_NOW$1
	[ "${BAD[$me]:-0}" -lt 2 ] || return
	read -ra args <<<"$(args_of "${@:2}")"
	n=$(iterations "$1" "$2" "$4" "$5")
	perftest "ib_$2" "${args[@]}" -n "$n" ||
		{ BAD[$me]=$((${BAD[$me]:-0} + 1)); failed "$*"; return; }
	case $2 in
	*_bw)	read -r bw rate < <(bw_says) || { failed "$*"; return; }
		RATE[$me]=$rate
		if counts_instructions; then
			instructions "$rate" "$bw" "${@:2}"
			return
		fi
		row "${@:2}" bandwidth MB/s "$bw"
		row "${@:2}" rate k/s "$rate" ;;
	*_lat)	while read -r what val; do
			case $PLACE/$what in
			icount*/p50)	instructions "$(awk \
					"BEGIN { print 1e3 / $val }")" 0 "${@:2}" ;;
			icount*/*)	;;
			*)		row "${@:2}" "$what" us "$val" ;;
			esac
			[ "$what" != p50 ] || RATE[$me]=$(awk \
				"BEGIN { print 500 / ($val + 0.01) }")
			n=
		done < <(lat_says)
		# it has said nothing
		[ -z "$n" ] || failed "$*" ;;
	esac
}

# Whether another CPU may receive what one has sent
steer() { [ "$B_NOW" != sroce ] || echo "$1" >/sys/module/sroce/parameters/steer; }

# A pair of programs to each QP, on a CPU of its own, which does all of its work:
# the sum. All measure the middle of three seconds.
measured_apart()	# test transport size qps mode
{
	local i pids=() sum
	rm -f /tmp/bench.apart.*
	steer 0
	for ((i = 0; i < $4; i++)); do
		B_PORT=$((B_PORT + 1))
		(
			B_CLIENT+=.$i B_SERVER+=.$i
			taskset -cp $i $BASHPID >/dev/null
			perftest "ib_$1" -s "$3" -c "$2" -D 3 -f 1 && bw_says
		) >/tmp/bench.apart.$i &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || failed "$*"; done
	steer 1
	[ "$(cat /tmp/bench.apart.* | wc -l)" -eq "$4" ] || return
	sum=$(cat /tmp/bench.apart.* | awk '{ s += $1 } END { print s }')
	rm /tmp/bench.apart.*
	row "$@" bandwidth MB/s "$sum"
}

counts_instructions() { [[ $PLACE == icount* ]]; }

# With one CPU whose clock counts instructions, 1 ns is one of them: a rate
# says how many there are to a message. What they are spent on includes all
# that runs meanwhile, and who polls.
instructions()	# k/s MB/s test transport size qps mode
{
	if [ "$5" -ge 4096 ]; then
		row "${@:3}" instructions "instr/MiB" \
			"$(awk "BEGIN { printf \"%.0f\", 1048576e3 / $2 }")"
	else
		row "${@:3}" instructions "instr/message" \
			"$(awk "BEGIN { printf \"%.0f\", 1e6 / $1 }")"
	fi
}

measured_tcp()	# stream|pingpong
{
	local mb what val
	if [ "$1" = pingpong ]; then
		tcp_lat 1 >/tmp/bench.tcp
		[ -s /tmp/bench.tcp ] || failed "$1"
		while read -r what val; do
			row pingpong "" 14 1 "" "$what" us "$val"
		done </tmp/bench.tcp
		return
	fi
	tcp_bw 1 >/tmp/bench.tcp
	mb=$(cat /tmp/bench.tcp)
	if [ -z "$mb" ]; then
		failed "$1"
	elif counts_instructions; then
		instructions 1 "$mb" stream "" 1048576 1 ""
	else
		row stream "" 0 1 "" bandwidth MB/s "$mb"
	fi
}

# Instructions where the clock counts them
measured_qp()
{
	local what value unit
	qp_costs 1000 >/tmp/bench.qps || { failed qp; return; }
	while read -r what value unit; do
		[[ $what == *_time ]] || continue
		! counts_instructions ||
			{ unit=instr/QP value=$(awk "BEGIN { print $value * 1e3 }"); }
		row qp RC 0 1 "" "$what" "$unit" "$value"
	done </tmp/bench.qps
}

one_case()	# test:transport:size:qps:mode
{
	local f
	IFS=: read -ra f <<<"$1"
	under_way "${1//://}"
	case $1 in
	nvme_*)	measured_nvme "${f[@]}" ;;
	stream*|pingpong*)	measured_tcp "${f[0]}" ;;
	*:apart)	measured_apart "${f[@]}" ;;
	qp:*)	measured_qp ;;
	memcpy*)	row memcpy "" 0 1 "" bandwidth MB/s "$(perf bench \
				--format=simple mem memcpy -s 64KB -l 20000 \
				-f default | awk '/^[0-9.]+$/ { print $1 / 1e6 }')" ;;
	*)		measured "$1" "${f[@]}" ;;
	esac
}

# ---- which cases ----------------------------------------------------------

cases_veth_1500()
{
	printf '%s\n' {write,read,send}_bw:RC:{8,512,4096,65536,1048576,8388608}:1:poll \
		{write,send}_bw:RC:64:{1,2,8,64}:poll \
		{write,send}_bw:RC:64:1:list32 \
		write_bw:RC:65536:{2,8}:poll write_bw:RC:65536:{1,2}:apart \
		{send,read}_bw:RC:65536:1:event send_bw:RC:64:1:event \
		atomic_bw:RC:8:1:{poll,event} \
		{write,send}_bw:UC:65536:1:poll send_bw:UD:{64,1024}:1:poll \
		{write,send,read,atomic}_lat:RC:8:1:poll \
		{send,read}_lat:RC:8:1:event write_lat:RC:65536:1:poll \
		write_lat:UC:8:1:poll send_lat:UD:64:1:poll qp:RC:0:1:
}

cases_veth_4500()
{
	printf '%s\n' {write,read,send}_bw:RC:{4096,65536,1048576,8388608}:1:poll \
		send_bw:RC:64:1:list32 send_bw:UD:4096:1:poll \
		{write,send}_lat:RC:8:1:poll
}

cases_wire()
{
	printf '%s\n' {write,read,send}_bw:RC:65536:1:poll write_bw:RC:1048576:1:poll
	[ "$MTU" != 1500 ] || printf '%s\n' send_bw:RC:64:1:{poll,list32} \
		{write,send}_lat:RC:8:1:poll
}

cases_same_host()
{
	printf '%s\n' {write,read,send}_bw:RC:{65536,1048576}:1:poll \
		write_bw:RC:{8,4096,8388608}:1:poll write_bw:UC:65536:1:poll \
		send_bw:RC:64:1:{list32,event} {write,send}_lat:RC:8:1:poll \
		send_lat:RC:8:1:event
}

cases_vms()
{
	printf '%s\n' {write,read,send}_bw:RC:{8,4096,65536,1048576}:1:poll \
		write_bw:RC:8388608:1:poll send_bw:RC:64:{1,8}:poll send_bw:RC:64:1:list32 \
		send_bw:RC:65536:1:event \
		{write,send,read,atomic}_lat:RC:8:1:poll
}

# Two that poll on one CPU wait for each other: who has a peer that waits for
# messages sleeps, and who polls gives way.
cases_icount()
{
	printf '%s\n' write_bw:RC:{65536,1048576}:1:poll write_bw:RC:64:1:{poll,list32} \
		read_bw:RC:{65536,1048576}:1:event \
		send_bw:RC:{64,65536,1048576}:1:event send_lat:RC:8:1:event qp:RC:0:1:
}

cases_icount_wire()
{
	printf '%s\n' write_bw:RC:65536:1:poll {read,send}_bw:RC:65536:1:event
	[ "$MTU" != 1500 ] || printf '%s\n' write_bw:RC:64:1:{poll,list32}
}

# A poller would keep the CPU from its peer. Where system calls take as long as 10 KiB, 1 MiB shows
# what the network does.
cases_native() { cases_icount | grep -v ^qp; }

cases_native_wire()
{
	cases_icount_wire
	printf '%s\n' write_bw:RC:1048576:1:poll {read,send}_bw:RC:1048576:1:event
}

cases_nvme() { printf '%s\n' nvme_bw:RC:65536:1:qd32 nvme_lat:RC:4096:1:qd1; }

cases_quick()
{
	printf '%s\n' {write,send,read}_bw:RC:65536:1:poll \
		{write,send,read}_bw:RC:1048576:1:poll \
		send_bw:RC:64:1:{poll,list32} {write,send}_lat:RC:8:1:poll
}

# Those that there are over iWARP by rdma_cm, as perftest has it
cases_iwarp() { grep -E '^(write|read|send)_(bw|lat):RC:' | grep -v ':apart$'; }

wanted() { [[ $1 =~ $ONLY && " ${BENCH_SKIP:-} " != *" $1 "* ]]; }

# What a contender is to do here
cases()	# name contender
{
	case $1/$2 in
	nvme/*)	cases_nvme ;;
	*/tcp)	echo stream::0:1:
		counts_instructions || echo pingpong::14:1: ;;
	*/memcpy)	echo memcpy::0:1: ;;
	*/siw)	"cases_$1" | cases_iwarp ;;
	*)	"cases_$1" ;;
	esac | while read -r c; do
		! wanted "$PLACE/$MTU/$2/${c//:/\/}" || echo "$c"
	done
}

out_of_time()
{
	[ $(($(now) - BEGAN)) -ge "$LIMIT" ] || return
	[ -n "$LATE" ] || echo "# out of time in repetition $REP: $PLACE $MTU"
	LATE=1
}

# All contenders once, with the cases of a name
round()	# name contender...
{
	local name=$1 who c list
	shift
	for who; do
		mapfile -t list < <(cases "$name" "$who")
		[ ${#list[@]} -gt 0 ] && ! out_of_time || continue
		contender "$who" || { failed "to load $who"; continue; }
		for c in "${list[@]}"; do
			out_of_time || one_case "$c"
		done
		[ "$name" = same_host ] || wire_is_used
	done
}

# Those of "$@" that are to take part
taking_part()
{
	local who
	for who; do
		[[ " $WITH memcpy " != *" $who "* ]] || echo "$who"
	done
}

# ---- places ---------------------------------------------------------------

place_veth()	# mtu
{
	PLACE=veth MTU=$1
	contender none
	at_veth
	bench_mtu "$MTU"
}

veth_round()	# mtu cases
{
	local list
	mapfile -t list < <(taking_part sroce rxe siw tcp)
	place_veth "$1"
	round "$2" "${list[@]}"
}

# wire_round MTU wire|wire_gro [PREFIX]: every packet crosses the pair alone, and with GRO NAPI
# brings some together. The place is called PREFIXwire or PREFIXwire-gro.
wire_round()
{
	local list cases=${3:-}wire
	mapfile -t list < <(taking_part sroce rxe siw tcp)
	place_veth "$1"
	PLACE=${3:-}${2/_/-}
	"at_$2"
	round "${cases/-/_}" "${list[@]}"
}

wire_rounds()	# [PREFIX]
{
	local mtu
	for mtu in 1500 4500 9000; do
		wire_round $mtu wire "${1:-}"
		wire_round $mtu wire_gro "${1:-}"
	done
}

same_host_round()
{
	local list
	mapfile -t list < <(taking_part sroce sroce-stack rxe siw tcp memcpy)
	PLACE=same-host MTU=1500
	contender none
	at_same_host
	round same_host "${list[@]}"
}

# The short cut takes connected QPs of one host past the wire: were it taken
# here, what crosses the veth would be told too well of.
wire_is_used()
{
	local n dev
	[ "$B_NOW" = sroce ] || return 0
	for dev in $(printf '%s\n' "$B_DEV0" "$B_DEV1" | sort -u); do
		n=$(counter "$dev" loopback_pkts)
		[ "${n:-1}" -eq 0 ] || failed "to use the wire: loopback_pkts of $dev is $n"
	done
}

count_all()	# contender...
{
	local who what
	place_veth 1500
	REP=0
	for who; do
		wanted "$PLACE/$MTU/$who/counted" || continue
		contender "$who" || { failed "to load $who"; continue; }
		under_way counted
		NOT_COUNTED=()
		counted
		for what in ${NOT_COUNTED[@]+"${NOT_COUNTED[@]}"}; do failed "to count $what"; done
		wire_is_used
	done
}

# The losses that a contender is to meet
cells()	# contender
{
	local c
	for c in loss0 loss0.1 loss1 loss5; do
		! wanted "$PLACE/$MTU/$1/goodput/$c" || echo $c
	done
}

# What a command says, if netem has dropped what it was to drop. "-": it did not get through,
# which is a figure. Nothing: it did not run.
goodput_of()	# test transport size cell command...
{
	local row=("${@:1:3}") cell=$4 mb
	shift 4
	"$@" >/tmp/bench.goodput
	mb=$(cat /tmp/bench.goodput)
	if [ -z "$mb" ] || { [ "$cell" != loss0 ] && ! has_dropped; }; then
		failed "goodput ${row[*]} $cell"
		return
	fi
	[ "$mb" != - ] || mb=0
	row "${row[@]}" 1 "$cell" goodput MB/s "$mb"
}

one_goodput()	# cell
{
	under_way "goodput/$1"
	faults "$1" || { failed "to set netem to $1"; return; }
	if [ "$B_NOW" = tcp ]; then
		goodput_of stream "" 0 "$1" tcp_bw 1
		return
	fi
	goodput_of write RC 1048576 "$1" verbs_goodput write 1048576 600
	faults "$1" || { failed "to set netem to $1"; return; }
	goodput_of send RC 65536 "$1" verbs_goodput send 65536 600
}

# Goodput by loss: what comes to either end passes netem. It needs the devices'
# offloads off, so it comes last.
losses()
{
	local who c list
	mapfile -t list < <(taking_part sroce rxe tcp)
	place_veth 1500
	[ -n "$(for who in "${list[@]}"; do cells "$who"; done)" ] || return 0
	modprobe -a sch_netem ifb act_mirred cls_matchall cls_u32
	NS_A=none NS_B=none FAULTS_A=$B_V0 FAULTS_B=$B_V1
	faults_up a "$B_V0" && faults_up b "$B_V1" ||
		{ failed "to set up netem"; return; }
	# a CPU for each end, or chance would say whether they share one
	taken_in_on a "$B_V0" 1
	taken_in_on b "$B_V1" 2
	LISTENER_ON="taskset -c 1" CONNECTER_ON="taskset -c 0"
	for ((REP = 0; REP < (REPS + 1) / 2; REP++)); do
		for who in "${list[@]}"; do
			for c in $(cells "$who"); do
				! out_of_time || continue
				contender "$who" || { failed "to load $who"; continue; }
				one_goodput "$c"
			done
		done
	done
}

full()
{
	local list
	REPS=${BENCH_REPS:-5} LIMIT=${BENCH_LIMIT:-$((TIME * 7 / 10))}
	mapfile -t list < <(taking_part sroce rxe tcp)
	bench_topology 1500
	count_all "${list[@]}"
	for ((REP = 0; REP < REPS; REP++)); do
		veth_round 1500 veth_1500
		veth_round 4500 veth_4500
		same_host_round
	done
	LIMIT=$((LIMIT * 5 / 4)) LATE=
	losses
	contender none
}

wire()
{
	REPS=${BENCH_REPS:-3} LIMIT=${BENCH_LIMIT:-$((TIME * 9 / 10))}
	bench_topology 1500
	for ((REP = 0; REP < REPS; REP++)); do
		wire_rounds
	done
	contender none
}

# Each contender has a target and a host of its own.
nvme_rounds()	# [prefix of places]
{
	local who place list
	mapfile -t list < <(taking_part sroce rxe tcp)
	for place in veth wire wire_gro; do
		for who in "${list[@]}"; do nvme_round $place "$who" "${1:-}"; done
	done
}

nvme()
{
	REPS=${BENCH_REPS:-3} LIMIT=${BENCH_LIMIT:-$((TIME * 9 / 10))}
	bench_topology 1500
	nvme_disk_up || { failed "to set up a disk"; return; }
	for ((REP = 0; REP < REPS; REP++)); do
		nvme_rounds
	done
	contender none
}

native()
{
	local list
	REPS=${BENCH_REPS:-3} LIMIT=${BENCH_LIMIT:-$((TIME * 9 / 10))}
	mapfile -t list < <(taking_part sroce rxe siw tcp)
	bench_topology 1500
	modprobe crc32_clmul || failed "to compute CRCs as x86 does"
	nvme_disk_up || failed "to set up a disk"
	for ((REP = 0; REP < REPS; REP++)); do
		gives_way
		place_veth 1500
		PLACE=native-veth
		round native "${list[@]}"
		wire_rounds native-
		gives_way no longer
		nvme_rounds native-
	done
	contender none
}

nvme_round()	# veth|wire|wire_gro contender [prefix of the place]
{
	local c list
	place_veth 1500
	PLACE=${3:-}nvme-${1/_/-}
	mapfile -t list < <(cases nvme "$2")
	[ ${#list[@]} -gt 0 ] && ! out_of_time || return
	"at_$1"
	under_way "$2/connect"
	contender "$2" && nvme_up || { failed "to connect by $2"; nvme_down; return; }
	for c in "${list[@]}"; do
		out_of_time || one_case "$c"
	done
	wire_is_used
	nvme_down
}

two()
{
	local list
	REPS=${BENCH_REPS:-5} LIMIT=${BENCH_LIMIT:-$((TIME * 7 / 10))}
	mapfile -t list < <(taking_part sroce rxe siw tcp)
	PLACE=vms MTU=$(cat /sys/class/net/eth0/mtu)
	at_vms
	for ((REP = 0; REP < REPS; REP++)); do
		round vms "${list[@]}"
	done
	contender none
}

icount()
{
	local list
	REPS=${BENCH_REPS:-2} LIMIT=${BENCH_LIMIT:-$((TIME * 7 / 10))}
	HALF=${BENCH_SECONDS:-0.2}
	# of that clock, which is many times slower while there is work
	B_LIMIT=8
	mapfile -t list < <(taking_part sroce rxe siw tcp)
	bench_topology 1500
	gives_way
	for ((REP = 0; REP < REPS; REP++)); do
		place_veth 1500
		PLACE=icount
		round icount "${list[@]}"
		wire_rounds icount-
	done
	contender none
}

# All that was asked for has to be within its limits.
quick()
{
	local limits=(--limits selftests/bench/limits)
	REPS=${BENCH_REPS:-2} LIMIT=${BENCH_LIMIT:-$((TIME * 7 / 10))}
	bench_topology 1500
	[[ " $WITH " != *" sroce "* ]] || count_all sroce
	for ((REP = 0; REP < REPS; REP++)); do
		veth_round "${BENCH_MTU:-1500}" quick
	done
	contender none
	[ "$ONLY" = . ] && [[ " $WITH " == *" sroce "* ]] || limits=()
	selftests/bench/report.py "${limits[@]}" "$B_RAW"
}

# One of two machines leads.
lead_or_follow()
{
	modprobe -a ib_uverbs rdma_ucm
	barrier ready
	if [ "$VM_ID" = 2 ]; then
		take_orders
		exit 0
	fi
	raw_begin
	two
	there leave
}

RC=0
B_NOW=none
PLACE=none MTU=0
[ "${VM_ID:-1}" = 2 ] || { rm -f "$FAILURES"; under_way nothing; }
[ "$WHAT" = two ] || { watch_out & }
case $WHAT in
two)	lead_or_follow ;;
full)	raw_begin && full || RC=1 ;;
wire)	raw_begin && wire || RC=1 ;;
nvme)	raw_begin && nvme || RC=1 ;;
icount)	raw_begin && icount || RC=1 ;;
native)	raw_begin && native || RC=1 ;;
quick)	raw_begin && quick || RC=1 ;;
*)	sed -n '3,/^set/{/^#/s/^# \?//p}' "$0"
	exit 2 ;;
esac
rm -f "$UNDER_WAY"
none_failed || RC=1
exit $RC
