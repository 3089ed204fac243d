# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2034,SC2086
# Inside the VM: load the module, make two ends with a link each, find their GIDs
# and counters. Sourced by the demo, the shell and, by way of
# selftests/lib/common.sh, the selftests.
#
# With SROCE_LINK_TYPE=rxe everything runs on the kernel's own rdma_rxe, to
# tell a mistake in a test from one in the module. As rxe only works in the
# initial namespace there, both ends are then one device.

LINK_TYPE=${SROCE_LINK_TYPE:-sroce}
SROCE_KO=${SROCE_KO:-$PWD/sroce.ko}
NS_A=a NS_B=b
DEV_A=${LINK_TYPE}0 DEV_B=${LINK_TYPE}1
IP4_A=10.7.0.1 IP4_B=10.7.0.2 IP6_A=fd07::1 IP6_B=fd07::2

# A pipe that nobody writes to: to wait for it starts no program, which takes an emulated
# CPU as long as the wait.
exec {NOTHING}<> <(:)
nap() { read -rt "$1" -u "$NOTHING" || true; }	# SECONDS

# wait_until SECONDS command...: poll until the command is true, SLOWNESS times as long where
# sanitizers make all slow.
wait_until()
{
	local end=$((SECONDS + $1 * ${SLOWNESS:-1}))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		nap 0.05
	done
}

# Whether all of these processes run: kill is content with one of several.
all_run()	# pid...
{
	local pid
	for pid in "$@"; do kill -0 "$pid" || return; done
}

# ---- the module and its links ----------------------------------------------

load_module()
{
	if [ "$LINK_TYPE" = rxe ]; then
		modprobe rdma_rxe
	elif [ ! -d /sys/module/sroce ]; then
		modprobe -a ib_uverbs rdma_ucm udp_tunnel ip6_udp_tunnel
		insmod "$SROCE_KO"
	fi
}

# A module that is built in has no state, and stays.
unload_module()
{
	[ ! -e /sys/module/sroce/initstate ] || rmmod sroce
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

# become NAMESPACE command...: the command there instead of this shell, so that $! of what is
# started in the background is the command.
become()
{
	if ns_exists "$1"; then exec ip netns exec "$@"; fi
	shift
	exec "$@"
}

# ---- topologies ------------------------------------------------------------

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

# ---- GIDs and counters -----------------------------------------------------

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

# The first slots, where GIDs nearly always are, by reading them, which starts no program
first_gids()	# device
{
	local port=/sys/class/infiniband/$1/ports/1 i gid type
	for i in {0..15}; do
		read -r gid <"$port/gids/$i" && read -r type <"$port/gid_attrs/types/$i" &&
			[ "$type" = "RoCE v2" ] && echo "$i $gid"
	done 2>/dev/null
}

# Of the lines of gids, the first that is of the family and no link-local one
of_family()	# v4|v6
{
	local i gid
	while read -r i gid; do
		case $1$gid in
		v60000:0000:0000:0000:0000:ffff:*|v6fe80:*)	;;
		v40000:0000:0000:0000:0000:ffff:*|v6*)	echo "$i"; return ;;
		esac
	done
	return 1
}

gid_index_now()	# device v4|v6
{
	of_family "$2" < <(first_gids "$1") || of_family "$2" < <(gids "$1") ||
		{ [ "$2" = v6 ] && gids "$1" | sed -n 's/ fe80:.*//p' | tail -n 1 | grep .; }
}

# The index of a device's IPv4 or IPv6 GID. The core fills the table from a
# work queue after an address appears, so wait for it.
gid_index()	# device v4|v6
{
	for _ in {1..50}; do
		! gid_index_now "$1" "$2" || return 0
		nap 0.1
	done
	echo "no $2 GID on $1" >&2
	return 1
}

counter()	# device name
{
	local f=/sys/class/infiniband/$1/ports/1/hw_counters/$2 value
	if { read -r value <"$f"; } 2>/dev/null; then
		echo "$value"
	else
		rdma statistic show link "$1/1" | grep -oP "\b$2 \K[0-9]+"
	fi
}
