#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sroce in one VM against the kernel's rdma_rxe in another, each as client and
# as server: the stock tools, and our verified streams, with losses, too.
# Everything on the wire is dissected by tshark, and each ICRC checked.
#
# make interop runs it; ROUNDS=10 repeats it, INTEROP=reads only what it says of long
# READs with losses.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"
# shellcheck source=selftests/lib/faults.sh
. "$DIR/lib/faults.sh"
# shellcheck source=selftests/lib/two.sh
. "$DIR/lib/two.sh"

two_machines ||
	{ skip interop "takes two machines: make interop"; done_testing; exit; }

PORT=18600
CAP=/tmp/interop.pcap
ROCE=(match ip dport 4791 0xffff)

TOOLS="rping udaddy ucmatose rstream ibv_rc_pingpong ibv_uc_pingpong
ibv_ud_pingpong ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw ib_write_lat
ib_read_lat ib_send_lat ib_atomic_lat ib_send_bw+UD ib_send_bw+UC
ib_write_bw+UC ib_atomic_bw+CS"
# Those whose ends wait for each other before they go; of ibv_rc_pingpong one may
# be gone while the other still lacks the last acknowledge.
LOSSY_TOOLS="rping ib_write_bw ib_send_bw ib_read_bw ib_atomic_bw"

device_of() { if [ "$1" = 1 ]; then echo sroce0; else echo rxe0; fi; }

address_of() { if [ "$2" = v4 ]; then echo "10.9.0.$1"; else echo "fd09::$1"; fi; }

set_up()	# runs in both machines
{
	ethtool -K eth0 tso off gso off gro off tx-udp-segmentation off
	case $VM_ID in
	1)	load_module && rdma link add sroce0 type sroce netdev eth0 ;;
	2)	modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0 ;;
	esac
} 2>/dev/null

find_gids()
{
	local vm fam
	for vm in 1 2; do
		for fam in v4 v6; do
			GID[$vm$fam]=$(on $vm gid_index "$(device_of $vm)" $fam) ||
				return
		done
	done
}

args_of()	# tool
{
	case $1 in
	rping)		echo "-C 20 -V -v -S 3000 -p $CM_PORT" ;;
	udaddy)		echo "-C 30 -S 1024" ;;
	ucmatose)	echo "-C 30 -S 4096 -p $CM_PORT" ;;
	rstream)	echo "-S 16384 -C 50 -I 1 -T v -p $CM_PORT" ;;
	ibv_ud_*)	echo "-c -s 1024 -n 100" ;;
	ibv_*)		echo "-c -s 4096 -n 100" ;;
	ib_atomic_bw+CS)	echo "-A CMP_AND_SWAP -n 100" ;;
	ib_atomic*)	echo "-n 100" ;;
	ib_*_lat)	echo "-s 64 -n 100" ;;
	ib_send_bw+UD)	echo "-c UD -s 1024 -n 100 -r 256" ;;
	ib_*+UC)	echo "-c UC -s 16384 -n 50" ;;
	ib_read_bw+*)	echo "-s ${1#*+} -n 40" ;;
	ib_*_bw)	echo "-s 65536 -n 40" ;;
	esac
}

# Sets SERVER and CLIENT, the commands, and MODE, how to see the server listen.
commands()	# tool server-vm v4|v6
{
	local tool=${1%%+*} s=$2 c=$((3 - $2)) args sa ca
	args=$(args_of "$1")
	sa=$(address_of "$s" "$3") ca=$(address_of $c "$3")
	MODE=tcp
	case $tool in
	rping)
		MODE=cm
		SERVER="rping -s -a $sa $args" CLIENT="rping -c -a $sa $args" ;;
	udaddy|ucmatose)
		MODE=cm
		SERVER="$tool -b $sa $args"
		CLIENT="$tool -b $ca -s $sa $args" ;;
	rstream)
		MODE=cm
		SERVER="rstream -b $sa $args" CLIENT="rstream -s $sa $args" ;;
	*)
		PORT=$((PORT + 1))
		local x=-x both="$tool -p $PORT $args"
		[[ $tool == ib_* ]] && both+=" -F" || x=-g
		SERVER="$both -d $(device_of "$s") $x ${GID[$s$3]}"
		CLIENT="$both -d $(device_of $c) $x ${GID[$c$3]}"
		# talk over IPv4; the GID says what carries the data
		CLIENT+=" $(address_of "$s" v4)" ;;
	esac
}

tool()	# tool server-vm v4|v6
{
	commands "$@"
	pair "$2"
}

tool_case()	# what tool server-vm v4|v6
{
	local name
	name="$1$2, server is $(device_of "$3"), IP$4"
	if tool "$2" "$3" "$4" >/tmp/why 2>&1; then
		ok "$name"
	else
		not_ok "$name" "$(cat /tmp/why)"
	fi
}

tools()	# what list v4|v6...
{
	local what=$1 list=$2 fam t s
	shift 2
	for fam; do
		for t in $list; do
			for s in 1 2; do tool_case "$what" "$t" $s "$fam"; done
		done
	done
}

# Our own streams, each byte verified at both ends
streams()	# what family client-vm step...
{
	local what=$1 fam=$2 c=$3 s=$((3 - $3)) line
	shift 3
	PORT=$((PORT + 1))
	MODE=tcp
	SERVER="$VERBS/.out/peer $(device_of $s) listen 10.9.0.$s:$PORT"
	CLIENT="$VERBS/.out/peer $(device_of "$c") connect 10.9.0.$s:$PORT"
	CLIENT+=" --family $fam --timeout 14 $*"
	what+="streams over IPv$fam, client is $(device_of "$c")"
	if pair $s >/tmp/why 2>&1; then
		ok "$what: both ends are content"
	else
		not_ok "$what: both ends are content" "$(cat /tmp/why)"
	fi
	while IFS= read -r line; do
		if [[ $line =~ ^ok\ [0-9]+\ -\ (.*)$ ]]; then
			ok "$what: ${BASH_REMATCH[1]}"
		elif [[ $line =~ ^not\ ok\ [0-9]+\ -\ (.*)$ ]]; then
			not_ok "$what: ${BASH_REMATCH[1]%% # *}" \
				"${BASH_REMATCH[1]#* # }"
		fi
	done </tmp/client
}

all_streams()
{
	streams "" 4 1 write:65536:24:both write_imm:20000:40:both \
		read:65536:24:both read:1048576:2:both send:16384:60:both \
		send_imm:5:60:both fadd:8:60:both cswap:8:60:both \
		mix:20000:100:both uc:4000:40:both ud:1000:40:both
	streams "" 6 2 write:65536:24 read:65536:24 send:16384:60 \
		fadd:8:60 mix:20000:60:both
}

loss()	# percent
{
	check "$1 % loss: netem is set" loss_is "$1"
}

loss_is()	# percent
{
	faults_set a eth0 loss "$1%" && on 2 faults_set a eth0 loss "$1%"
}

dropped_some() { [ "$(faults_dropped a eth0)" -gt 0 ] && [ "$(on 2 faults_dropped a eth0)" -gt 0 ]; }

# before the next one, which starts its statistics at zero
was_lossy()	# percent
{
	check "$1 % loss: either end has lost something" dropped_some
}

# READs so long that each is hit, several times: the responder has to serve repeats of
# their parts, and rdma_rxe forgets the part before the last one that it served.
long_reads()
{
	local percent size c began=$SECONDS
	for percent in 0.3 1; do
		loss $percent
		for size in 262144 1048576; do
			tool_case "$percent % loss: " ib_read_bw+$size 2 v4
			for c in 1 2; do
				streams "$percent % loss: 40 READs of $size, " 4 $c \
					--limit 90 read:$size:40
			done
		done
		was_lossy $percent
	done
	diag "long READs with losses: $((SECONDS - began)) s"
}

lossy_tools()
{
	local c
	loss 1
	tools "1 % loss: " "$LOSSY_TOOLS" v4
	for c in 1 2; do
		streams "1 % loss: " 4 $c write:65536:24 read:16384:40 \
			send:16384:40 fadd:8:60 cswap:8:60 mix:8000:60
	done
	was_lossy 1
}

with_loss()	# command...
{
	check "netem in front of sroce" faults_up a eth0 "${ROCE[@]}"
	check "netem in front of rxe" on 2 faults_up a eth0 "${ROCE[@]}"
	while [ $# -gt 0 ]; do $1; shift; done
	faults_down a eth0
	on 2 faults_down a eth0
}

dissect()
{
	local bad
	# shellcheck disable=SC2046
	tshark $(no_guesses) -r $CAP -T fields -E separator=/t -e frame.number \
		-e infiniband.bth.opcode -e _ws.malformed \
		>/tmp/fields 2>/tmp/tshark.log && [ -s /tmp/fields ] ||
		{ cat /tmp/tshark.log; return 1; }
	bad=$(awk -F'\t' '$2 == "" || $3 != ""' /tmp/fields | head -n 20)
	[ -z "$bad" ] || { echo "$bad"; return 1; }
}

# Nothing came to sroce that it could not read, or did not expect.
clean_counters()
{
	local c n bad=0
	for c in rx_malformed rx_unknown_opcode rx_icrc_errors bad_response \
			ghost_ack rx_pkey_violations rx_qkey_violations \
			rx_length_drops rx_nak_fatal; do
		n=$(counter sroce0 $c)
		[ "$n" -eq 0 ] || { echo "$c $n"; bad=1; }
	done
	return $bad
}

everything()
{
	if start_capture $CAP eth0; then ok "capture starts"; else not_ok "capture starts"; fi
	tools "" "$TOOLS" v4
	tools "" "rping ib_write_bw ib_read_bw ib_send_bw ibv_ud_pingpong" v6
	all_streams
	check "capture is complete" stop_capture
	check "tshark: every frame is InfiniBand, none malformed" dissect
	check "headers and ICRC of every frame of either are right" \
		/usr/bin/python3 "$DIR/lib/frames.py" --want v4=1 --want v6=1 $CAP
	with_loss lossy_tools long_reads
	check "sroce has seen nothing it does not know" clean_counters
}

round()
{
	case ${INTEROP:-} in
	reads)	with_loss long_reads ;;
	*)	everything ;;
	esac
}

lead()
{
	local i
	declare -gA GID
	if find_gids; then
		ok "a link on each machine"
	else
		not_ok "a link on each machine"
	fi
	for ((i = 0; i < ${ROUNDS:-1}; i++)); do
		[ "${ROUNDS:-1}" = 1 ] || diag "round $((i + 1))"
		round
	done
	there leave
	echo "$((TAP_N - TAP_FAILED)) passed, $TAP_FAILED failed"
}

modprobe -a sch_netem ifb act_mirred cls_u32 cls_matchall ib_uverbs rdma_ucm
two_run
