# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Faults on a netdev, packet by packet: netem on what comes in, by way of an
# ifb, so that a train of packets that its sender handed over as one is hit as
# the single packets that it is on a wire. Sourced after common.sh.

# Packets of IPv4 go through; ARP does not, as it is not what is tested here.
VERBS=$(dirname "${BASH_SOURCE[0]}")/../verbs
FAULT_LIMIT=100000	# packets netem holds: never the reason of a loss
# An ifb stops its queue at so many packets, which by default is fewer than the
# stack takes in at a time: it would be the bottleneck.
FAULT_BATCH=10000

# Which CPUs take in what arrives
taken_in_on()	# a|b NETDEV MASK
{
	"in_$1" sh -c "echo $(printf %x "$3") \
		>/sys/class/net/$2/queues/rx-0/rps_cpus"
}

# A wire that by itself keeps packets in order and drops none: what arrives for
# one flow is taken in by one CPU, and its queue is long.
one_wire()	# a|b NETDEV
{
	taken_in_on "$1" "$2" $(((1 << $(nproc)) - 1))
	sysctl -qw net.core.netdev_max_backlog=$FAULT_LIMIT
}

# faults_up a|b NETDEV [u32 match of IPv4 packets...]
faults_up()
{
	local end=$1 dev=$2 match=(matchall)
	shift 2
	[ $# -eq 0 ] || match=(u32 "$@")
	"in_$end" ethtool -K "$dev" tso off gso off gro off \
		tx-udp-segmentation off >/dev/null 2>&1
	one_wire "$end" "$dev"
	"in_$end" ip link add "i$dev" type ifb &&
	"in_$end" ip link set "i$dev" txqueuelen $FAULT_BATCH up &&
	"in_$end" tc qdisc add dev "$dev" ingress &&
	"in_$end" tc filter add dev "$dev" ingress protocol ip "${match[@]}" \
		action mirred egress redirect dev "i$dev" &&
	"in_$end" tc qdisc add dev "i$dev" root netem limit $FAULT_LIMIT
}

# faults_set a|b NETDEV [netem arguments...]: none is a perfect wire.
faults_set()
{
	local end=$1 dev=$2
	shift 2
	# a new one each time, so that its statistics start at zero
	"in_$end" tc qdisc del dev "i$dev" root 2>/dev/null
	"in_$end" tc qdisc add dev "i$dev" root netem limit $FAULT_LIMIT "$@"
}

faults_down()	# a|b NETDEV
{
	"in_$1" tc qdisc del dev "$2" ingress
	"in_$1" ip link del "i$2"
} 2>/dev/null

# What netem at this end has dropped so far.
faults_dropped()	# a|b NETDEV
{
	"in_$1" tc -s qdisc show dev "i$2" | grep -oP 'dropped \K[0-9]+' | head -n1
}

# Something has been dropped, or what was measured was a perfect wire.
has_dropped()
{
	[ "$(faults_dropped a "${FAULTS_A:-va}")" -gt 0 ] ||
		[ "$(faults_dropped b "${FAULTS_B:-vb}")" -gt 0 ] ||
		{ echo "netem has dropped nothing"; return 1; }
}

# One fault of each kind, as netem says it. Reordering lets one packet in a
# hundred overtake all those of the last millisecond.
fault_args()	# name
{
	case $1 in
	*+*)		fault_args "${1%%+*}" && fault_args "${1#*+}" ;;
	none)		;;
	loss[0-9]*)		echo "loss ${1#loss}%" ;;
	duplicate)	echo "duplicate 1%" ;;
	reorder)	echo "delay 1ms reorder 1%" ;;
	corrupt)	echo "corrupt 1%" ;;
	delay)		echo "delay 5ms" ;;
	gone)		echo "loss 100%" ;;
	*)		echo "no fault is named $1" >&2; return 1 ;;
	esac
}

# faults NAME: the same at both ends of the veth pair.
faults()
{
	local args
	args=$(fault_args "$1") || return
	read -rd '' -a args <<<"$args"
	faults_set a "${FAULTS_A:-va}" "${args[@]}" &&
		faults_set b "${FAULTS_B:-vb}" "${args[@]}"
}

# peers FAMILY-or-option... -- step...: verified streams from A's device to
# B's. The client's output is left in $PEERS_OUT.
PEERS_OUT=/tmp/peers.out

# PEERS_ON is a command to run both by, or LISTENER_ON and CONNECTER_ON are. Who has several of
# them at a time gives each a PEERS_PATH and a PEERS_OUT.
peers()
{
	local a=$DEV_A b=$DEV_B rc=0 srv path=${PEERS_PATH:-/tmp/peers.sock}
	! ns_exists "$NS_A" || a=$DEV_A@$NS_A b=$DEV_B@$NS_B
	# shellcheck disable=SC2086 # a command or nothing
	timeout -k 1 "${PEERS_LIMIT:-100}" \
		${LISTENER_ON:-${PEERS_ON:-}} "$VERBS/.out/peer" "$b" listen \
		$path >/tmp/peers.server 2>&1 &
	srv=$!
	# shellcheck disable=SC2086
	timeout -k 1 "${PEERS_LIMIT:-100}" \
		${CONNECTER_ON:-${PEERS_ON:-}} "$VERBS/.out/peer" "$a" connect \
		$path "$@" >$PEERS_OUT 2>&1 || rc=$?
	[ $rc -eq 0 ] || kill $srv 2>/dev/null
	wait $srv || [ $rc -ne 0 ] || rc=3
	return $rc
}

# goodput OP: MB/s of the last peers()
goodput()
{
	sed -n "s/^# result $1 .*, \([0-9.]*\) MB.*/\1/p" $PEERS_OUT | tail -n1
}

# All counters of a device, as "name value" lines.
counters()	# device
{
	local f dir=/sys/class/infiniband/$1/ports/1/hw_counters
	for f in "$dir"/*; do
		[ "${f##*/}" = lifespan ] || echo "${f##*/} $(<"$f")"
	done
}

# Which counters moved between two files of counters(), as "name by-how-much".
moved()	# before after
{
	awk 'NR == FNR { old[$1] = $2; next }
	     $2 != old[$1] { print $1, $2 - old[$1] }' "$1" "$2"
}
