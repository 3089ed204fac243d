# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2034,SC2086
# A server and a client against each other, and the stock tools as such pairs.
# Sourced after tools/topology.sh by the demo, the shell and the selftests.

CM_PORT=7174
TIMEOUT=${PAIR_TIMEOUT:-60}

# ---- servers and clients ---------------------------------------------------

listens_tcp()	# a|b port
{
	"in_$1" ss -ltnH "sport = :$2" | grep -q .
}

# process_listens PID PORT: the same of the namespace that a process is in, by reading alone:
# to start a program takes an emulated CPU a good part of a second.
process_listens()
{
	local port table address state
	printf -v port %04X "$2"
	for table in tcp tcp6; do
		while read -r _ address _ state _; do
			[ "$state" != 0A ] || [ "${address##*:}" != "$port" ] || return 0
		done <"/proc/$1/net/$table"
	done
	return 1
}

# rdma_cm listeners are bound to an address, and so belong to a device.
listens_cm()	# device port
{
	rdma resource show cm_id link "$1" | grep -qE "state LISTEN.*:$2\b"
}

# perftest_pair TOOL option...: the server at b, the client at a; needs GID_A, GID_B
perftest_pair()
{
	local tool=$1 srv rc=0
	shift
	PORT=$((${PORT:-18700} + 1))
	become $NS_B timeout -k 1 "$TIMEOUT" "$tool" -F -p "$PORT" -d "$DEV_B" -x "$GID_B" "$@" &
	srv=$!
	wait_until 10 process_listens $srv "$PORT"
	in_a timeout -k 1 "$TIMEOUT" "$tool" -F -p "$PORT" -d "$DEV_A" -x "$GID_A" "$@" \
		"$IP4_B" || rc=$?
	[ $rc -eq 0 ] || kill $srv
	wait $srv || rc=$?
	return $rc
}

# start_server a|b OUTPUT command...: sets SERVER_PID.
start_server()
{
	local ns=$NS_A out=$2
	[ "$1" = a ] || ns=$NS_B
	shift 2
	become "$ns" timeout -k 1 "$TIMEOUT" stdbuf -oL "$@" >"$out" 2>&1 </dev/null &
	SERVER_PID=$!
}

# wait_listen a|b MODE, of the last server: MODE is a TCP port, or cm:PORT for an rdma_cm server.
wait_listen()
{
	local dev=$DEV_A
	[ "$1" = a ] || dev=$DEV_B
	case $2 in
	cm:*)	wait_until 10 listens_cm "$dev" "${2#cm:}" ;;
	*)	wait_until 10 process_listens "$SERVER_PID" "$2" ;;
	esac
}

PAIR_DIR=$(mktemp -d)
PAIR_S=$PAIR_DIR/server PAIR_C=$PAIR_DIR/client

# run_pair A|B-SERVER-END MODE server... -- client...
#
# Both must exit 0 within TIMEOUT seconds. Their output is left in $PAIR_S and
# $PAIR_C; it is printed when something fails.
run_pair()
{
	local end=$1 mode=$2 other=a server=() src=0 crc=0
	shift 2
	[ "$end" = b ] || other=b
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	start_server "$end" "$PAIR_S" "${server[@]}"
	if ! wait_listen "$end" "$mode"; then
		echo "server does not listen on $mode: ${server[*]}"
	fi
	"in_$other" timeout -k 1 "$TIMEOUT" "$@" >"$PAIR_C" 2>&1 </dev/null ||
		crc=$?
	[ $crc -eq 0 ] || { sleep 0.5; kill "$SERVER_PID" 2>/dev/null; }
	wait "$SERVER_PID" || src=$?
	[ $src -ne 0 ] || [ $crc -ne 0 ] || return 0
	echo "server ($end) exit status $src: ${server[*]}"
	tail -n 15 "$PAIR_S"
	echo "client ($other) exit status $crc: $*"
	tail -n 15 "$PAIR_C"
	return 1
}

# ---- the stock tools -------------------------------------------------------

# Names as users know them; udaddy and ucmatose come with librdmacm, as does
# rstream (rsockets), the pingpongs with libibverbs, ib_* with perftest.
STOCK_TOOLS="rping ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw ib_write_lat
ib_send_lat ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong udaddy ucmatose
rstream"

# Arguments beyond addresses: enough traffic to measure, in about a second on
# an emulated CPU.
stock_args()	# tool
{
	case $1 in
	rping)		echo "-C 100 -V -v -S 4000 -p $CM_PORT" ;;
	ib_atomic_bw)	echo "-n ${ITERS:-1000}" ;;
	ib_*_bw)	echo "-s 65536 -n ${ITERS:-1000}" ;;
	ib_*_lat)	echo "-s 8 -n ${ITERS:-1000}" ;;
	ibv_ud_pingpong)	echo "-c -s 1024 -n ${ITERS:-1000}" ;;
	ibv_*)		echo "-c -s 4096 -n ${ITERS:-1000}" ;;
	udaddy)		echo "-C 100 -S 1024" ;;
	ucmatose)	echo "-C 100 -S 4096 -p $CM_PORT" ;;
	rstream)	echo "-S 65536 -C 200 -I 1 -T v -p $CM_PORT" ;;
	esac
}

# stock_tool NAME a|b v4|v6: NAME's server in b and client in a (or the other
# way round for a), over IPv4 or IPv6.
stock_tool()
{
	local tool=$1 end=$2 fam=$3 sdev=$DEV_B cdev=$DEV_A s4=$IP4_B
	local saddr caddr sgid cgid args=()
	[ "$end" = b ] || { sdev=$DEV_A cdev=$DEV_B s4=$IP4_A; }
	case $end$fam in
	bv4)	saddr=$IP4_B caddr=$IP4_A ;;
	bv6)	saddr=$IP6_B caddr=$IP6_A ;;
	av4)	saddr=$IP4_A caddr=$IP4_B ;;
	av6)	saddr=$IP6_A caddr=$IP6_B ;;
	esac
	read -ra args <<<"$(stock_args "$tool")"
	case $tool in
	rping)
		run_pair "$end" cm:$CM_PORT rping -s -a $saddr "${args[@]}" -- \
			rping -c -a $saddr "${args[@]}" ;;
	udaddy)
		run_pair "$end" cm:7174 udaddy -b $saddr "${args[@]}" -- \
			udaddy -b $caddr -s $saddr "${args[@]}" ;;
	rstream)
		run_pair "$end" cm:$CM_PORT rstream -b $saddr "${args[@]}" -- \
			rstream -s $saddr "${args[@]}" ;;
	ucmatose)
		run_pair "$end" cm:$CM_PORT "$tool" -b $saddr "${args[@]}" -- \
			"$tool" -b $caddr -s $saddr "${args[@]}" ;;
	ib_*)
		# The setup talks TCP over IPv4; the GID says what carries data.
		sgid=$(gid_index "$sdev" "$fam") &&
		cgid=$(gid_index "$cdev" "$fam") || return
		run_pair "$end" 18515 "$tool" -F -p 18515 -d "$sdev" -x "$sgid" \
			"${args[@]}" -- "$tool" -F -p 18515 -d "$cdev" \
			-x "$cgid" "${args[@]}" $s4 ;;
	ibv_*)
		sgid=$(gid_index "$sdev" "$fam") &&
		cgid=$(gid_index "$cdev" "$fam") || return
		run_pair "$end" 18515 "$tool" -p 18515 -d "$sdev" -g "$sgid" \
			"${args[@]}" -- "$tool" -p 18515 -d "$cdev" \
			-g "$cgid" "${args[@]}" $s4 ;;
	esac
}

# What a tool's output says it measured, in a few words.
stock_result()	# tool, after its run_pair
{
	case $1 in
	rping)	echo "$(grep -c 'ping data' "$PAIR_C") pings, data verified" ;;
	ib_*_bw)
		awk 'NF >= 5 && $1 $2 ~ /^[0-9]+$/ {
			r = sprintf("%.1f MiB/s, %.1f k messages/s", $4, $5*1000)
		} END { print r }' "$PAIR_C" ;;
	ib_*_lat)
		awk 'NF >= 5 && $1 $2 ~ /^[0-9]+$/ {
			r = sprintf("%s us typical, %s us 99%%", $5, $8)
		} END { print r }' "$PAIR_C" ;;
	ibv_*)	sed -n 's/.*= \([0-9.]* usec\/iter\)/\1, data checked/p' "$PAIR_C" ;;
	udaddy|ucmatose)
		echo "100 messages each way" ;;
	rstream)
		awk '$NF ~ /^[0-9.]+$/ { r = sprintf("%.1f MiB/s, data verified",
			$(NF - 1) * 1e9 / 8 / 1048576) }
		     END { print r }' "$PAIR_C" ;;
	esac
}
