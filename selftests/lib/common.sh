# shellcheck shell=bash
# shellcheck disable=SC2001,SC2034,SC2086
# What the selftests, the demo and `make shell` share: TAP, topologies, GIDs,
# counters, and running a server and a client against each other.
#
# With SROCE_LINK_TYPE=rxe everything runs on the kernel's own rdma_rxe, to
# tell a mistake in a test from one in the module. As rxe only works in the
# initial namespace there, both ends are then one device.

LINK_TYPE=${SROCE_LINK_TYPE:-sroce}
SROCE_KO=${SROCE_KO:-$PWD/sroce.ko}
NS_A=a NS_B=b
DEV_A=${LINK_TYPE}0 DEV_B=${LINK_TYPE}1
IP4_A=10.7.0.1 IP4_B=10.7.0.2 IP6_A=fd07::1 IP6_B=fd07::2
CM_PORT=7174
TIMEOUT=${PAIR_TIMEOUT:-60}

# ---- TAP ------------------------------------------------------------------

TAP_N=0 TAP_FAILED=0

ok() { TAP_N=$((TAP_N + 1)); echo "ok $TAP_N - $1"; }

not_ok()	# name [reason]
{
	TAP_N=$((TAP_N + 1)) TAP_FAILED=$((TAP_FAILED + 1))
	echo "not ok $TAP_N - $1"
	[ -z "${2:-}" ] || sed 's/^/#   /' <<<"$2"
}

skip() { TAP_N=$((TAP_N + 1)); echo "ok $TAP_N - $1 # SKIP ${2:-}"; }

diag() { sed 's/^/# /' <<<"$*"; }

# The plan, and the exit status of a test script.
done_testing()
{
	echo "1..$TAP_N"
	[ "$TAP_FAILED" -eq 0 ]
}

# check NAME command...: one case; the command's output is shown if it fails.
check()
{
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "$out"; fi
}

# check_fails NAME REGEX command...: has to fail with a message like REGEX.
check_fails()
{
	local name=$1 regex=$2 out
	shift 2
	if out=$("$@" 2>&1); then
		not_ok "$name" "succeeded, and should not have: $*"
	elif grep -qiE "$regex" <<<"$out"; then
		ok "$name"
	else
		not_ok "$name" "no /$regex/ in: $out"
	fi
}

# wait_until SECONDS command...: poll until the command is true.
wait_until()
{
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# ---- the module and its links ---------------------------------------------

load_module()
{
	if [ "$LINK_TYPE" = rxe ]; then
		modprobe rdma_rxe
	elif [ ! -d /sys/module/sroce ]; then
		modprobe -a ib_uverbs rdma_ucm udp_tunnel ip6_udp_tunnel
		insmod "$SROCE_KO"
	fi
}

unload_module()
{
	[ ! -d /sys/module/sroce ] || rmmod sroce
}

link_add()	# device netdev
{
	rdma link add "$1" type "$LINK_TYPE" netdev "$2"
}

link_exists() { [ -e "/sys/class/infiniband/$1" ]; }

ns_exists() { [ -e "/run/netns/$1" ]; }

# Run a command at one end of the topology.
in_a() { if ns_exists $NS_A; then ip netns exec $NS_A "$@"; else "$@"; fi; }
in_b() { if ns_exists $NS_B; then ip netns exec $NS_B "$@"; else "$@"; fi; }

# ---- topologies -----------------------------------------------------------

ns_add()	# name
{
	ip netns add "$1"
	ip -n "$1" link set lo up
}

addresses()	# namespace netdev ip4 ip6
{
	ip -n "$1" addr add "$3/24" dev "$2"
	ip -n "$1" addr add "$4/64" dev "$2" nodad
	ip -n "$1" link set "$2" up
}

# Namespaces a and b joined by a veth pair, nothing on it yet.
topo_netdevs()
{
	ns_add $NS_A
	ns_add $NS_B
	ip link add va netns $NS_A type veth peer name vb netns $NS_B
	addresses $NS_A va $IP4_A $IP6_A
	addresses $NS_B vb $IP4_B $IP6_B
}

# The above with a link on each end.
topo_veth()
{
	load_module
	if [ "$LINK_TYPE" = rxe ]; then
		topo_one_device
		return
	fi
	topo_netdevs
	in_a rdma link add "$DEV_A" type "$LINK_TYPE" netdev va
	in_b rdma link add "$DEV_B" type "$LINK_TYPE" netdev vb
}

topo_one_device()
{
	DEV_B=$DEV_A IP4_B=$IP4_A IP6_B=$IP6_A
	ip link add va type veth peer name vb
	ip addr add $IP4_A/24 dev va
	ip addr add $IP6_A/64 dev va nodad
	ip link set vb up
	ip link set va up
	link_add "$DEV_A" va
}

topo_down()
{
	local dev ns
	for dev in $DEV_A $DEV_B; do
		! link_exists "$dev" || rdma link delete "$dev"
	done
	for ns in $NS_A $NS_B; do
		! ns_exists "$ns" || ip netns delete "$ns"
	done
	ip link delete va 2>/dev/null || true
}

# ---- GIDs and counters ----------------------------------------------------

# The GIDs of a device, as "index value", RoCE v2 ones only. A table has a
# thousand slots: one grep finds the used ones.
gids()	# device
{
	local port=/sys/class/infiniband/$1/ports/1 line i type
	grep -sv '^0000:0000:0000:0000:0000:0000:0000:0000$' \
		"$port"/gids/* /dev/null | while IFS= read -r line; do
		i=${line%%:*} i=${i##*/}
		read -r type <"$port/gid_attrs/types/$i" || continue
		[ "$type" != "RoCE v2" ] || echo "$i ${line#*:}"
	done 2>/dev/null | sort -n
}

gid_index_now()	# device v4|v6
{
	local list
	list=$(gids "$1")
	case $2 in
	v4)	awk '$2 ~ /^0000:0000:0000:0000:0000:ffff:/ { print $1; exit }' \
			<<<"$list" ;;
	v6)	awk '$2 ~ /^0000:0000:0000:0000:0000:ffff:/ { next }
		     $2 ~ /^fe80:/ { local = $1; next }
		     $1 != "" { print $1; found = 1; exit }
		     END { if (!found && local != "") print local }' \
			<<<"$list" ;;
	esac
}

# The index of a device's IPv4 or IPv6 GID. The core fills the table from a
# work queue after an address appears, so wait for it.
gid_index()	# device v4|v6
{
	local i
	for _ in {1..50}; do
		i=$(gid_index_now "$1" "$2")
		[ -z "$i" ] || { echo "$i"; return; }
		sleep 0.1
	done
	echo "no $2 GID on $1" >&2
	return 1
}

counter()	# device name
{
	local f=/sys/class/infiniband/$1/ports/1/hw_counters/$2
	if [ -e "$f" ]; then
		cat "$f"
	else
		rdma statistic show link "$1/1" | grep -oP "\b$2 \K[0-9]+"
	fi
}

# both COUNTER: of the two devices
both() { echo $(($(counter "$DEV_A" "$1") + $(counter "$DEV_B" "$1"))); }

# grows|stays COUNTER command...: both, while a command runs that has to succeed
grows() { counts -gt "$@"; }
stays() { counts -eq "$@"; }

counts()
{
	local op=$1 name=$2 before now
	before=$(both "$name")
	shift 2
	"$@" || return
	now=$(both "$name")
	test "$now" "$op" "$before" || { echo "$name: $before, then $now"; return 1; }
}

# ---- servers and clients --------------------------------------------------

listens_tcp()	# a|b port
{
	"in_$1" ss -ltnH "sport = :$2" | grep -q .
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
	in_b timeout -k 1 "$TIMEOUT" "$tool" -F -p "$PORT" -d "$DEV_B" -x "$GID_B" "$@" &
	srv=$!
	wait_until 10 listens_tcp b "$PORT"
	in_a timeout -k 1 "$TIMEOUT" "$tool" -F -p "$PORT" -d "$DEV_A" -x "$GID_A" "$@" \
		"$IP4_B" || rc=$?
	[ $rc -eq 0 ] || kill $srv
	wait $srv || rc=$?
	return $rc
}

# start_server a|b OUTPUT command...: sets SERVER_PID.
start_server()
{
	local end=$1 out=$2
	shift 2
	"in_$end" timeout -k 1 "$TIMEOUT" stdbuf -oL "$@" >"$out" 2>&1 </dev/null &
	SERVER_PID=$!
}

# wait_listen a|b MODE: MODE is a TCP port, or cm:PORT for an rdma_cm server.
wait_listen()
{
	local dev=$DEV_A
	[ "$1" = a ] || dev=$DEV_B
	case $2 in
	cm:*)	wait_until 10 listens_cm "$dev" "${2#cm:}" ;;
	*)	wait_until 10 listens_tcp "$1" "$2" ;;
	esac
}

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
	PAIR_S=/tmp/pair.server PAIR_C=/tmp/pair.client
	start_server "$end" $PAIR_S "${server[@]}"
	if ! wait_listen "$end" "$mode"; then
		echo "server does not listen on $mode: ${server[*]}"
	fi
	"in_$other" timeout -k 1 "$TIMEOUT" "$@" >$PAIR_C 2>&1 </dev/null ||
		crc=$?
	[ $crc -eq 0 ] || { sleep 0.5; kill "$SERVER_PID" 2>/dev/null; }
	wait "$SERVER_PID" || src=$?
	[ $src -ne 0 ] || [ $crc -ne 0 ] || return 0
	echo "server ($end) exit status $src: ${server[*]}"
	tail -n 15 $PAIR_S
	echo "client ($other) exit status $crc: $*"
	tail -n 15 $PAIR_C
	return 1
}

# ---- the stock tools ------------------------------------------------------

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
	rping)	echo "$(grep -c 'ping data' $PAIR_C) pings, data verified" ;;
	ib_*_bw)
		awk 'NF >= 5 && $1 $2 ~ /^[0-9]+$/ {
			r = sprintf("%.1f MiB/s, %.1f k messages/s", $4, $5*1000)
		} END { print r }' $PAIR_C ;;
	ib_*_lat)
		awk 'NF >= 5 && $1 $2 ~ /^[0-9]+$/ {
			r = sprintf("%s us typical, %s us 99%%", $5, $8)
		} END { print r }' $PAIR_C ;;
	ibv_*)	sed -n 's/.*= \([0-9.]* usec\/iter\)/\1, data checked/p' $PAIR_C ;;
	udaddy|ucmatose)
		echo "100 messages each way" ;;
	rstream)
		awk '$NF ~ /^[0-9.]+$/ { r = sprintf("%.1f MiB/s, data verified",
			$(NF - 1) * 1e9 / 8 / 1048576) }
		     END { print r }' $PAIR_C ;;
	esac
}

# ---- captures -------------------------------------------------------------

# start_capture FILE NETDEV [NAMESPACE]
start_capture()
{
	local ns=()
	[ $# -lt 3 ] || ! ns_exists "$3" || ns=(ip netns exec "$3")
	# execs all the way, so that $! is tcpdump itself
	"${ns[@]}" tcpdump -i "$2" -B 65536 -s 0 -w "$1" udp port 4791 \
		>/tmp/tcpdump.log 2>&1 &
	CAPTURE=$!
	wait_until 15 grep -q 'listening on' /tmp/tcpdump.log
}

stop_capture()
{
	sleep 0.5
	kill -TERM "$CAPTURE"
	wait_until 10 grep -q 'packets dropped' /tmp/tcpdump.log
	grep -q '^0 packets dropped by kernel' /tmp/tcpdump.log ||
		{ cat /tmp/tcpdump.log; return 1; }
}

# What tshark must not see in random payloads that look like it: with 100,000
# packets one does.
no_guesses()
{
	tshark -G heuristic-decodes 2>/dev/null |
		awk '$1 == "infiniband.payload" { print "--disable-protocol " $2 }'
}

# ---- two VMs --------------------------------------------------------------

# barrier NAME [SECONDS]: with tools/vm.sh --two, wait for the other VM.
barrier()
{
	local dir=$SROCE_JOB/shared other=$((3 - VM_ID))
	touch "$dir/$1.$VM_ID"
	wait_until "${2:-60}" test -e "$dir/$1.$other"
}
