# shellcheck shell=bash
# Faults on a netdev, packet by packet: netem on what comes in, by way of an
# ifb, so that a train of packets that its sender handed over as one is hit as
# the single packets that it is on a wire. Sourced after lib.sh.

# Every packet of IPv4 and IPv6 goes through; neighbour discovery over IPv4
# does not, as it is not what is tested here.
FAULT_LIMIT=100000	# packets netem holds: never the reason of a loss
# An ifb stops its queue at so many packets, which by default is fewer than the
# stack takes in at a time: it would be the bottleneck.
FAULT_BATCH=10000

# A wire that by itself keeps packets in order and drops none: what arrives for
# one flow is taken in by one CPU, and its queue is long.
one_wire()	# a|b NETDEV
{
	"in_$1" sh -c "echo $(printf %x $(((1 << $(nproc)) - 1))) \
		>/sys/class/net/$2/queues/rx-0/rps_cpus"
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

# One fault of each kind, as netem says it. Reordering lets one packet in a
# hundred overtake all those of the last millisecond.
fault_args()	# name
{
	case $1 in
	*+*)		echo "$(fault_args "${1%%+*}") $(fault_args "${1#*+}")" ;;
	none)		;;
	loss[0-9]*)		echo "loss ${1#loss}%" ;;
	duplicate)	echo "duplicate 1%" ;;
	reorder)	echo "delay 1ms reorder 1%" ;;
	corrupt)	echo "corrupt 1%" ;;
	delay)		echo "delay 1ms 300us" ;;
	esac
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
