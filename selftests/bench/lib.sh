# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the benchmarks share: places to measure in, the same for all contenders;
# runs of the stock tools; what they say, as numbers. Sourced after common.sh, and
# after two.sh where there are two machines.
#
# rdma_rxe up to 7.0 knows only the initial namespace, so policy routing makes
# packets between the two ends cross the veth, for everyone alike.

B_IP0=10.0.0.1 B_IP1=10.0.0.2
B_V0=bv0 B_V1=bv1
B_PORT=18600
B_TWO=			# set: the server's end is the other machine
B_LIMIT=${BENCH_RUN_LIMIT:-20}	# seconds that a run may take
B_CLIENT=/tmp/bench.client B_SERVER=/tmp/bench.server

# ---- places ---------------------------------------------------------------

# Both ends in this namespace; traffic between them crosses the pair.
bench_topology()	# mtu
{
	local i other s
	ip link add $B_V0 mtu "$1" type veth peer name $B_V1 mtu "$1"
	for s in all default $B_V0 $B_V1; do
		echo 0 >"/proc/sys/net/ipv4/conf/$s/rp_filter"
		echo 1 >"/proc/sys/net/ipv4/conf/$s/accept_local"
		echo 1 >"/proc/sys/net/ipv4/conf/$s/arp_ignore"
	done
	ip addr add $B_IP0/32 dev $B_V0
	ip addr add $B_IP1/32 dev $B_V1
	ip link set $B_V0 up
	ip link set $B_V1 up
	for i in 0 1; do
		other=$((1 - i))
		s=B_V$i
		local dev=${!s} oip=B_IP$other ip=B_IP$i odev=B_V$other
		ip neigh replace "${!oip}" dev "$dev" nud permanent \
			lladdr "$(cat "/sys/class/net/${!odev}/address")"
		ip route add "${!oip}" dev "$dev" src "${!ip}"
	done
	ip rule add pref 10 iif $B_V0 to $B_IP0 lookup local
	ip rule add pref 11 iif $B_V1 to $B_IP1 lookup local
	ip rule add pref 20 to 10.0.0.0/24 lookup main
	ip rule add pref 100 lookup local
	ip rule del pref 0
}

# offloads on|off on|off: with the first off, whoever hands over a train has it cut up before
# it leaves, as before a NIC without segmentation; with the second on the receiver has GRO
offloads()
{
	local dev
	for dev in $B_V0 $B_V1; do
		ethtool -K $dev tso "$1" gso "$1" tx-udp-segmentation "$1" gro "$2" >/dev/null
	done
}

bench_mtu()	# mtu: with no contender loaded
{
	ip link set $B_V0 mtu "$1"
	ip link set $B_V1 mtu "$1"
}

# As if there had been none
bench_topology_down()
{
	local s
	ip rule add pref 0 lookup local
	for s in 10 11 20 100; do ip rule del pref $s; done
	for s in all default; do
		echo 0 >"/proc/sys/net/ipv4/conf/$s/accept_local"
		echo 0 >"/proc/sys/net/ipv4/conf/$s/arp_ignore"
	done
	ip link del $B_V0
}

# at_veth, at_same_host, at_vms: where the next contenders are
at_veth()
{
	B_V0=bv0 B_V1=bv1 B_IP0=10.0.0.1 B_IP1=10.0.0.2 B_TWO=
	offloads on off
}

# The pair as a wire, without and with GRO
at_wire() { at_veth; offloads off off; }
at_wire_gro() { at_veth; offloads off on; }

# One device that talks to itself
at_same_host()
{
	B_V0=bh0 B_V1=bh0 B_IP0=10.8.0.1 B_IP1=10.8.0.1 B_TWO=
	ip link show bh0 >/dev/null 2>&1 || {
		ip link add bh0 type veth peer name bh1
		ip addr add $B_IP0/24 dev bh0
		ip link set bh1 up
		ip link set bh0 up
	}
}

at_vms()
{
	B_V0=eth0 B_V1=eth0 B_IP0=10.9.0.1 B_IP1=10.9.0.2 B_TWO=1
}

# ---- contenders -----------------------------------------------------------

# On this machine: away with the last one, load another, a link on each netdev.
# sroce-stack is sroce without the short cut within a host.
load_contender()	# contender netdev...
{
	local type=${1%%-*} way=$1 dev i=0
	shift
	for dev in /sys/class/infiniband/*; do
		[ ! -e "$dev" ] || rdma link delete "${dev##*/}"
	done
	# the last close of a verbs file runs from a work queue
	for dev in sroce rdma_rxe siw; do
		[ ! -d /sys/module/$dev ] || wait_until 5 rmmod $dev || return
	done
	case $type in
	rxe)	modprobe rdma_rxe ;;
	siw)	load_siw ;;
	sroce)	modprobe -a ib_uverbs rdma_ucm udp_tunnel ip6_udp_tunnel
		insmod "$SROCE_KO" ;;
	*)	return 0 ;;
	esac
	for dev; do
		rdma link add "$type$i" type "$type" netdev "$dev" || return
		[ "$way" != sroce-stack ] ||
			echo 0 >"/sys/class/infiniband/$type$i/loopback"
		i=$((i + 1))
	done
}

# Some kernels have it, for others selftests/bench/siw.sh has built it.
load_siw()
{
	modprobe -a ib_uverbs rdma_ucm && { modprobe -q siw ||
		{ modprobe libcrc32c; insmod "${SIW_KO:-siw.ko}"; }; }
}

# contender sroce|sroce-stack|rxe|siw|tcp|none: load it, a device on each end
contender()
{
	local type=${1%%-*}
	[ "${B_NOW:-}" != "$1" ] || return 0
	B_NOW="half of $1"
	B_DEV0=${type}0 B_DEV1=${type}1
	if [ -n "$B_TWO" ]; then
		B_DEV1=$B_DEV0
		load_contender "$1" $B_V0 && on 2 load_contender "$1" $B_V1
	elif [ $B_V0 = $B_V1 ]; then
		B_DEV1=$B_DEV0
		load_contender "$1" $B_V0
	else
		load_contender "$1" $B_V0 $B_V1
	fi || return
	case $type in
	rxe|sroce)	B_GID0=$(gid_index "$B_DEV0" v4) &&
			B_GID1=$(at_server gid_index "$B_DEV1" v4) || return
			B_PATH0=(-x "$B_GID0") B_PATH1=(-x "$B_GID1") ;;
	# iWARP connects by rdma_cm only
	siw)	B_PATH0=(-R) B_PATH1=(-R) ;;
	esac
	B_NOW=$1
}

# Who polls on the CPU that is to do the work gets it only when there is none:
# ksoftirqd would else wait for the end of a poller's time.
gives_way()	# [no longer]
{
	if [ $# -eq 0 ]; then
		chrt --idle -p 0 $BASHPID
	else
		chrt --other -p 0 $BASHPID
	fi
}

# ---- servers and clients --------------------------------------------------

at_server()	# command...
{
	if [ -n "$B_TWO" ]; then on 2 "$@"; else "$@"; fi
}

# A server that its client's machine can stop
serve()
{
	timeout -k 1 $B_LIMIT "$@" &
	echo $! >/tmp/served.$B_PORT
	wait $!
}

stop_serving() { kill "$(cat "/tmp/served.$B_PORT")" 2>/dev/null; }

# Without a program: on an emulated CPU that starts as slowly as a run lasts
listens_here()	# port
{
	local hex re
	printf -v hex %04X "$1"
	re=":$hex [0:]+ 0A "
	[[ $(</proc/net/tcp) =~ $re || $(</proc/net/tcp6) =~ $re ]]
}

# Begin a server on B_PORT; server_end has its status, and its output.
server_begin()	# command...
{
	if [ -n "$B_TWO" ]; then
		there "serve $*"
		B_SERVING=$TWO_N
	else
		serve "$@" >$B_SERVER 2>&1 </dev/null &
		B_SERVING=$!
	fi
	at_server wait_until 10 listens_here $B_PORT
}

server_end()
{
	if [ -n "$B_TWO" ]; then
		there_wait "$B_SERVING" >$B_SERVER
	else
		wait "$B_SERVING"
	fi
}

# perftest TOOL args...: server on end 1, client on end 0, whose output is then
# in $B_CLIENT
perftest()
{
	local tool=$1 rc=0
	shift
	B_PORT=$((B_PORT + 1))
	server_begin "$tool" -F -p $B_PORT -d "$B_DEV1" "${B_PATH1[@]}" "$@" ||
		rc=$?
	timeout -k 1 $B_LIMIT "$tool" -F -p $B_PORT -d "$B_DEV0" "${B_PATH0[@]}" \
		"$@" $B_IP1 >$B_CLIENT 2>&1 || rc=$?
	[ $rc -eq 0 ] || at_server stop_serving
	server_end || rc=$?
	[ $rc -eq 0 ] || {
		echo "$B_NOW: status $rc: $tool $*"
		tail -qn 3 $B_SERVER $B_CLIENT
	} >&2
	return $rc
}

# iperf3, one stream, TSO as the device has it: MB/s
tcp_bw()	# seconds
{
	local rc=0
	B_PORT=$((B_PORT + 1))
	# shellcheck disable=SC2086 # a command, or nothing
	server_begin ${LISTENER_ON:-} iperf3 -s -1 -p $B_PORT -B $B_IP1
	# shellcheck disable=SC2086
	timeout -k 1 12 ${CONNECTER_ON:-} iperf3 -c $B_IP1 -B $B_IP0 -p $B_PORT -t "$1" -J \
		>$B_CLIENT 2>&1 || rc=$?
	[ $rc -eq 0 ] || at_server stop_serving
	server_end
	[ $rc -ne 0 ] || /usr/bin/python3 -c 'import json, sys
d = json.load(sys.stdin)
print("%.1f" % (d["end"]["sum_received"]["bits_per_second"] / 8e6))' <$B_CLIENT
}

# sockperf ping-pong of 14 bytes (its smallest): half the round trip in us, as
# "p50 7.5" and so on. Its sockets block: both ends sleep meanwhile.
tcp_lat()	# seconds
{
	B_PORT=$((B_PORT + 1))
	server_begin sockperf server --tcp -i $B_IP1 -p $B_PORT
	timeout -k 1 12 sockperf ping-pong --tcp -i $B_IP1 --client_ip $B_IP0 \
		-p $B_PORT -t "$1" -m 14 >$B_CLIENT 2>&1
	at_server stop_serving
	server_end
	sockperf_says
}

# Verified streams of selftests/verbs/stress/peer.c with the faults that are set: MB/s,
# or - if they did not get through. Needs faults.sh.
verbs_goodput()	# op size ms
{
	# a peer that died says nothing, and a request may be stuck for ever
	DEV_A=$B_DEV0 DEV_B=$B_DEV1 PEERS_LIMIT=14 \
		peers --timeout 14 --limit 5 --depth 8 \
		"$1:$2:99999:out:$3" || { echo -; return; }
	goodput "$1"
}

# ---- what they say --------------------------------------------------------

# Average MB/s and thousands of messages per second of an ib_*_bw run
bw_says()
{
	awk 'NF >= 5 && $1 $2 ~ /^[0-9]+$/ {
		b = $4 * 1.048576; r = $5 * 1000
	     } END { if (r > 0) printf "%.2f %.4f\n", b, r }' $B_CLIENT
}

# Half round trips in us of a sockperf run, as lat_says
sockperf_says()
{
	awk '/percentile [0-9.]+ *=/ {
		for (i = 1; i < NF; i++) if ($i == "percentile") p = $(i + 1)
		sub(/0+$/, "", p); sub(/\.$/, "", p)
		print "p" p, $NF
	     }
	     /<MIN> observation/ { print "min", $NF }
	     /<MAX> observation/ { print "max", $NF }' $B_CLIENT
}

# us of an ib_*_lat run, as "p50 7.5" and so on; more of them with -H
lat_says()
{
	awk 'NF >= 9 && $1 $2 ~ /^[0-9]+$/ {
		print "min", $3; print "max", $4; print "p50", $5
		print "p99", $8; print "p99.9", $9
	     }' $B_CLIENT
	sed -n 's/^[0-9][0-9]*, *\([0-9.]*\)$/\1/p' $B_CLIENT | sort -g |
		awk '{ v[NR] = $1 }
		     function at(q) { i = int(NR * q / 100); return v[i + 1] }
		     END { if (NR < 1000) exit
			   print "p25", at(25); print "p75", at(75)
			   print "p90", at(90)
			   if (NR >= 10000) print "p99.99", at(99.99) }'
}

# ---- raw results ----------------------------------------------------------

# row test transport size qps mode metric unit value: a line of B_RAW, of the
# contender that is loaded, at PLACE and MTU, of repetition REP
row()
{
	[ -n "${B_KERNEL:-}" ] || B_KERNEL=$(uname -r)
	echo "$PLACE,$B_KERNEL,$MTU,$B_NOW,$1,$2,$3,$4,$5,$REP,$6,$7,$8" \
		>>"$B_RAW"
	case $6/$5 in
	bandwidth/*|rate/*|p50/*|goodput/*|instructions/*|*/counted)
		echo "# $PLACE $MTU $B_NOW ${*:1:5}: $8 $7${6:+ $6}" ;;
	esac
}

raw_begin()
{
	echo "# $(uname -r), $(nproc) CPUs, $(date -u +%F)"
	echo "topology,kernel,mtu,contender,test,transport,size,qps,mode,rep,metric,unit,value"
} >"$B_RAW"
