#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rdma link add and delete: on which netdevs, with which errors, what comes
# and goes with a link (UDP sockets, GIDs), and what takes a link away.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip "links" "about sroce only"; done_testing; exit; }

no_socket() { ! ss -lunH 'sport = :4791' | grep -q .; }
no_socket_in() { ! ip netns exec "$1" ss -lunH 'sport = :4791' | grep -q .; }
socket_in() { ! no_socket_in "$1"; }
gone() { ! link_exists "$1"; }

# The kernel gives newlink no extack, so the reason is in the log; the errno
# is what rdma prints.
refused()	# name netdev errno-text log-regex
{
	local out mark
	mark=links-test-$RANDOM$RANDOM
	echo "$mark" >/dev/kmsg
	if out=$(link_add "$1" "$2" 2>&1); then
		echo "was accepted"
		rdma link delete "$1"
		return 1
	fi
	grep -qiE "$3" <<<"$out" || { echo "no /$3/ in: $out"; return 1; }
	dmesg | sed "0,/$mark/d" | grep -qE "sroce: can't add $1: .*($4)" || {
		echo "no reason like /$4/ in the log"
		dmesg | sed "0,/$mark/d"
		return 1
	}
}

# One link on netdev $1, with a GID that carries its IPv4 address, and off.
on_netdev()
{
	local dev=$1
	link_add t0 "$dev" || return
	ip addr add 10.77.0.1/24 dev "$dev"
	ip link set "$dev" up
	gid_index t0 v4 || { rdma link delete t0; return 1; }
	rdma link show t0/1 | grep -q 'link t0/1' || return
	ibv_devinfo -d t0 | grep -q 'hca_id:.*t0' || return
	rdma link delete t0 || return
	gone t0 || { echo "t0 is still there"; return 1; }
	ip addr del 10.77.0.1/24 dev "$dev"
}

make_netdev()	# kind; prints nothing, sets NETDEV
{
	NETDEV=t$1
	case $1 in
	veth)	ip link add tveth type veth peer name tvethp ;;
	vlan)	ip link add tvlanp type dummy &&
		ip link set tvlanp up &&
		ip link add link tvlanp name tvlan type vlan id 7 ;;
	tun|tap)	ip tuntap add "t$1" mode "$1" ;;
	macvlan)	ip link add tmacp type dummy && ip link set tmacp up &&
		ip link add link tmacp name tmacvlan type macvlan mode bridge ;;
	lo)	NETDEV=lo ;;
	*)	ip link add "t$1" type "$1" ;;
	esac
}

drop_netdev()	# kind
{
	case $1 in
	lo)	;;
	vlan)	ip link delete tvlanp ;;
	macvlan)	ip link delete tmacp ;;
	*)	ip link delete "t$1" ;;
	esac
}

# What the kernel knows no kind for is skipped, all else is a failure.
no_netdev()	# case message
{
	if grep -qE 'Unknown device type|not supported|No such (file|device)' <<<"$2"; then
		skip "$1" "no such netdev here"
	else
		not_ok "$1" "$2"
	fi
}

test_kinds()
{
	local kind err=/tmp/netdev.err
	modprobe -q tun
	for kind in veth bridge vlan bond dummy macvlan tun tap lo; do
		if ! make_netdev $kind 2>$err; then
			no_netdev "link on $kind" "$(<$err)"
			continue
		fi
		check "link on $kind" on_netdev "$NETDEV"
		drop_netdev $kind
	done
}

# pinged ADDRESS: rping with itself
pinged()
{
	local srv rc=0
	timeout 20 rping -s -a "$1" -C 3 >/tmp/rping.s 2>&1 &
	srv=$!
	wait_until 5 sh -c 'rdma resource show cm_id | grep -q LISTEN' ||
		! kill -0 $srv 2>/dev/null || sleep 1
	timeout 10 rping -c -a "$1" -C 3 -v 2>&1 || rc=$?
	kill $srv 2>/dev/null
	wait $srv 2>/dev/null
	cat /tmp/rping.s
	return $rc
}

# ponged DEVICE: verbs with a GID index, of the device with itself
ponged()
{
	local gid srv
	gid=$(gid_index "$1" v4) || return
	timeout 20 ibv_rc_pingpong -d "$1" -g "$gid" -n 50 >/dev/null 2>&1 &
	srv=$!
	wait_until 10 sh -c "ss -ltnH 'sport = :18515' | grep -q ." &&
		timeout 20 ibv_rc_pingpong -d "$1" -g "$gid" -n 50 127.0.0.1 && wait $srv
}

told() { dmesg | tail -n 5 | grep -q "sroce: rdma_cm will not find $1"; }
untold() { ! told "$1"; }

# TROUBLESHOOTING.md says so. If rdma_cm serves these one day, it and the log have to change.
test_without_ethernet()
{
	link_add t0 lo
	check "lo: the log says that rdma_cm will not work" told t0
	check_fails "lo: it does not" 'No such device' pinged 127.0.0.1
	check "lo: verbs do" ponged t0
	rdma link delete t0
	modprobe -q tun
	ip tuntap add ttun mode tun
	ip addr add 10.77.1.1/24 dev ttun
	ip link set ttun up
	link_add t0 ttun
	check "tun: the log says that rdma_cm will not work" told t0
	check_fails "tun: it does not" 'No such device|error -19' pinged 10.77.1.1
	check "tun: verbs do" ponged t0
	rdma link delete t0
	ip link delete ttun
	ip link add roce0 type dummy
	ip addr add 192.0.2.1/32 dev roce0
	ip link set roce0 up
	dmesg -C
	link_add t0 roce0
	gid_index t0 v4 >/dev/null
	check "dummy: nothing in the log" untold t0
	check "dummy: rdma_cm works" pinged 192.0.2.1
	rdma link delete t0
	ip link delete roce0
}

test_refusals()
{
	ip link add td0 type dummy
	link_add t0 td0
	check "a second link on one netdev is refused" \
		refused t1 td0 'exist' 'already'
	# the core of these kernels says ENFILE for a name that is taken
	check_fails "a device name that is taken is refused" 'exist|too many' \
		link_add t0 lo
	rdma link delete t0
	ip link set td0 mtu 100
	check "an MTU too small for RoCE is refused" \
		refused t0 td0 'invalid' 'MTU'
	ip link delete td0
	check_fails "a netdev that does not exist is refused" \
		'No such device|invalid|cannot find' link_add t0 nowhere
	if ip link add tipip type ipip local 10.9.9.1 remote 10.9.9.2; then
		check "an ipip tunnel is refused" \
			refused t0 tipip 'invalid' 'Ethernet'
		ip link delete tipip
	fi
	if ip link add tcan type vcan 2>/dev/null; then
		check "a CAN netdev is refused" \
			refused t0 tcan 'invalid' 'Ethernet'
		ip link delete tcan
	else
		skip "a CAN netdev is refused" "no vcan"
	fi
}

test_sockets()
{
	topo_netdevs
	check "no UDP 4791 socket before the first link" no_socket_in a
	in_a rdma link add t0 type sroce netdev va
	check "a socket in the namespace of the link" socket_in a
	check "none in another namespace" no_socket_in b
	check "none in the initial namespace" no_socket
	in_a ip link add td1 type dummy
	in_a rdma link add t1 type sroce netdev td1
	rdma link delete t0
	check "the socket stays until the last link goes" socket_in a
	rdma link delete t1
	check "no socket after the last link" no_socket_in a
	topo_down
}

many_links()
{
	local i
	for i in {0..7}; do
		ip link add "td$i" type dummy || return
		link_add "t$i" "td$i" || return
	done
	[ "$(rdma link | grep -c 'link t[0-7]/1')" -eq 8 ] || return
	for i in 3 0 7 1 2 6 4 5; do
		rdma link delete "t$i" || return
		ip link delete "td$i" || return
	done
}

# Add and delete while addresses come and go: the race of the GID work queue.
churn()
{
	local i
	ip link add td0 type dummy || return
	ip link set td0 up
	for ((i = 1; i <= 20 / ${SLOWNESS:-1}; i++)); do
		ip addr add "10.78.0.$i/24" dev td0
		link_add t0 td0 || return
		ip addr del "10.78.0.$i/24" dev td0
		rdma link delete t0 || return
	done
	ip link delete td0
}

# Who asks a port for its speed, as each user may, must not fill the log.
asked_for_speed()
{
	local mark=links-test-$RANDOM$RANDOM rc=0 i
	ip link add td0 type dummy
	echo "$mark" >/dev/kmsg
	link_add t0 td0 || rc=1
	for i in 1 2 3; do ibv_devinfo -d t0 | grep -q PORT_ || rc=1; done
	cat /sys/class/infiniband/t0/ports/1/rate
	not_logged "$mark" 'speed is unknown' || rc=1
	rdma link delete t0
	ip link delete td0
	return $rc
}

# What the kernel has logged since the line $1, and whether there is a line like /$2/ in it
logged() { dmesg | sed "0,/$1/d" | grep -E "$2"; }
not_logged() { ! logged "$@"; }

# A link on a netdev that others stand on works, and the log says that there is a better place.
on_bond_port()
{
	local mark=links-test-$RANDOM$RANDOM rc=0
	ip link add tbond type bond && ip link add td0 type dummy &&
		ip link set td0 master tbond || return
	echo "$mark" >/dev/kmsg
	link_add t0 tbond && link_add t1 td0 || rc=1
	logged "$mark" 'sroce: t1 is added to a port of tbond' || rc=1
	not_logged "$mark" 'sroce: t0 is added to a port' || rc=1
	rdma link delete t0
	rdma link delete t1
	ip link delete td0
	ip link delete tbond
	return $rc
}

test_disappearing()
{
	local mark=links-test-$RANDOM$RANDOM
	echo "$mark" >/dev/kmsg
	ip link add td0 type dummy
	link_add t0 td0
	ip link delete td0
	check "deleting the netdev takes the link away" wait_until 10 gone t0
	ns_add c
	ip -n c link add td0 type dummy
	ip netns exec c rdma link add t0 type sroce netdev td0
	ip netns delete c
	check "deleting the namespace takes the link away" wait_until 10 gone t0
	ns_add c
	ip -n c link add td0 type dummy
	ip netns exec c rdma link add t0 type sroce netdev td0
	ip -n c link set td0 netns 1
	check "moving the netdev away does no harm" link_consistent
	! link_exists t0 || rdma link delete t0
	ip link delete td0
	ip netns delete c
	check "the RDMA core logs no error meanwhile" \
		not_logged "$mark" 'ib_query_port failed'
}

# Either answer is fine, as long as the link works or is gone.
link_consistent()
{
	sleep 0.3
	gone t0 || rdma link show t0/1
}

test_unload()
{
	local i
	for i in 0 1 2; do
		ip link add "td$i" type dummy
		link_add "t$i" "td$i"
	done
	check "rmmod with links present" rmmod sroce
	check "its links are gone" gone t0
	check "no socket after rmmod" no_socket
	check "loading again" load_module
	check "a link after loading again" link_add t0 td0
	check "deleting it" rdma link delete t0
	for i in 0 1 2; do ip link delete "td$i"; done
	check "rmmod without links" rmmod sroce
	check "rmmod and insmod again and again" reload $((10 / ${SLOWNESS:-1}))
}

# rping_both NAME ADDRESS-OF-A ADDRESS-OF-B: is A's address one for servers, and for clients?
rping_both()
{
	check "$1: rping, its server there" \
		run_pair a cm:7174 rping -s -a "$2" -C 3 -- rping -c -a "$2" -C 3
	check "$1: rping, its client there" \
		run_pair b cm:7174 rping -s -a "$3" -C 3 -- rping -c -a "$3" -I "$2" -C 3
}

# vrf NAME TABLE NETDEV: put a netdev of a into a VRF
vrf()
{
	in_a ip link add "$1" type vrf table "$2" &&
		in_a ip link set "$1" up &&
		in_a ip link set "$3" master "$1" &&
		in_a sysctl -qw net.ipv4.udp_l3mdev_accept=1
}

# settled END NETDEV: is there a link-local address that is no longer being looked for elsewhere?
settled() { "in_$1" ip -6 addr show dev "$2" scope link -tentative | grep -q inet6; }

# With a GID that is no address of this host nothing would ever come back.
default_gid()
{
	local gid
	gid=$(cat "/sys/class/infiniband/$DEV_A/ports/1/gids/0")
	[[ $gid = fe80:* ]] || { echo "GID 0 is $gid"; return 1; }
	wait_until 10 settled a va && wait_until 10 settled b vb || return
	run_pair b 18515 ibv_rc_pingpong -d "$DEV_B" -g 0 -n 10 -- \
		ibv_rc_pingpong -d "$DEV_A" -g 0 -n 10 "$IP4_B" || return
	# the server still finds the client, which can't answer for itself any more
	in_b ip -6 neigh replace "$gid" \
		lladdr "$(in_a cat /sys/class/net/va/address)" dev vb nud permanent || return
	in_a ip -6 addr flush dev va scope link
	[ "$gid" = "$(cat "/sys/class/infiniband/$DEV_A/ports/1/gids/0")" ] || return
	! run_pair b 18515 ibv_rc_pingpong -d "$DEV_B" -g 0 -n 10 -- \
		ibv_rc_pingpong -d "$DEV_A" -g 0 -n 10 "$IP4_B" || return
	grep 'Failed to modify QP to RTR' "$PAIR_C"
}

# A client of rdma_cm has to name an address of the VRF; its resolver knows no ip vrf exec.
test_vrf()
{
	topo_veth
	check "a netdev in a VRF: it is there" vrf vrf0 10 va
	in_a ip -6 addr replace $IP6_A/64 dev va nodad
	# Outside the VRF another netdev has the addresses of the peer. With VRFs the rule for
	# local addresses comes behind theirs (the kernel's networking/vrf.rst).
	in_a ip rule add pref 32765 table local
	in_a ip rule del pref 0
	in_a ip -6 rule add pref 32765 table local
	in_a ip -6 rule del pref 0
	in_a ip link add outside type dummy
	in_a ip link set outside up
	in_a ip addr add "$IP4_B/32" dev outside
	in_a ip -6 addr add "$IP6_B/128" dev outside nodad
	local ip
	for ip in 4 6; do
		local a=IP${ip}_A b=IP${ip}_B
		tap_relay "a netdev in a VRF: IPv$ip: " < <("$DIR/verbs/.out/mcast" \
			"$DEV_B@$NS_B" "$DEV_A@$NS_A" --family "$ip" 2>&1)
		[ "$RELAYED_PLAN" = "$RELAYED" ] || not_ok "a netdev in a VRF: IPv$ip: multicast"
		rping_both "a netdev in a VRF, IPv$ip" "${!a}" "${!b}"
	done
	topo_down
}

# vlan_end NETNS NETDEV ADDRESS ID [OPTION...]: a netdev of a VLAN
vlan_end()
{
	ip -n "$1" link add link "$2" name "$2.$4" "${@:5}" type vlan id "$4" &&
		ip -n "$1" link set "$2.$4" up &&
		ip -n "$1" addr add "$3/24" dev "$2.$4"
}

# vlan ID [OPTION...]: one at both ends, and a device on that of a; the options are for that
vlan()
{
	vlan_end "$NS_A" va "10.9.$1.1" "$@" && vlan_end "$NS_B" vb "10.9.$1.2" "$1" &&
		in_a rdma link add "vlan$1" type sroce netdev "va.$1"
}

# datagrams_by_both: does each VLAN carry its half of what one QP sends by the two in turn?
datagrams_by_both()
{
	local -a before after
	local received=(/sys/class/net/vb.{10,20}/statistics/rx_bytes)
	mapfile -t before < <(in_b cat "${received[@]}")
	"$DIR/verbs/.out/vlans" "$DEV_A@$NS_A" "$DEV_B@$NS_B" --family 6 || return
	mapfile -t after < <(in_b cat "${received[@]}")
	echo "received: ${before[*]}, then ${after[*]}"
	# 16 datagrams of 200 bytes each
	[ $((after[0] - before[0])) -ge 3200 ] && [ $((after[1] - before[1])) -ge 3200 ]
}

# rdma_cm joins a group by the netdev that has the address, which is above the device's.
group_by_vlan()
{
	local receiver rc=0 before
	before=$(counter "$DEV_B" rx_multicast_pkts)
	in_b timeout 60 stdbuf -oL mckey -m 239.7.7.7 -b 10.9.10.2 -C 10 -S 512 >/tmp/mckey &
	receiver=$!
	wait_until 20 grep -q 'receiving data' /tmp/mckey
	sleep 1
	in_a timeout 60 mckey -m 239.7.7.7 -b 10.9.10.1 -s -C 10 -S 512 || rc=$?
	sleep 1
	kill $receiver 2>/dev/null
	wait $receiver || rc=$?
	cat /tmp/mckey
	# each of them once
	[ $(($(counter "$DEV_B" rx_multicast_pkts) - before)) -eq 10 ] || rc=1
	return $rc
}

# Devices on a netdev and on VLANs of it have the addresses of each other's netdevs. rdma_cm uses
# the first that has an address.
test_vlans()
{
	topo_veth
	check "VLANs: devices on two of them" vlan 10
	check "VLANs: the other one" vlan 20
	check "VLANs: one QP sends by two VLANs" datagrams_by_both
	check "VLANs: a group, by an address of one" group_by_vlan
	rping_both "VLANs: the address of one" 10.9.20.1 10.9.20.2
	in_a rdma link delete "$DEV_A"
	rping_both "VLANs: no device on their netdev" 10.9.20.1 10.9.20.2
	in_a rdma link delete vlan20
	check "VLANs: one in a VRF, without a device: it is there" vrf vrf20 20 va.20
	rping_both "VLANs: one in a VRF, without a device" 10.9.20.1 10.9.20.2
	in_a rdma link delete vlan10
	topo_down
}

# A netdev of container c, above netdev first of a, that has the number and the address of va.30
add_namesake()
{
	# it is made in a, and keeps its number
	in_a ip link add first type dummy && in_a ip link set first up &&
		in_a rdma link add first type sroce netdev first &&
		ip netns add c &&
		in_a ip link add link first name namesake index 500 type macvlan &&
		in_a ip link set namesake netns c &&
		[ "$(ip netns exec c cat /sys/class/net/namesake/ifindex)" = 500 ] &&
		ip -n c link set namesake up && ip -n c addr add 10.9.30.1/24 dev namesake &&
		wait_until 5 grep -qs 0000:0000:0000:0000:0000:ffff:0a09:1e01 \
			/sys/class/infiniband/first/ports/1/gids/* &&
		vlan 30 index 500 && in_b rdma link add "$DEV_B" type sroce netdev vb
}

# The core gives a device the addresses of netdevs above its own, in other namespaces, too.
test_namesake()
{
	topo_netdevs
	check "a container's netdev has number and address of another: it is added" add_namesake
	check "a container's netdev has number and address of another: rping to that" \
		run_pair a cm:7174 rping -s -a 10.9.30.1 -C 3 -- rping -c -a 10.9.30.1 -C 3
	ip netns del c
	in_a rdma link delete first
	in_a rdma link delete vlan30
	topo_down
}

reload()
{
	local i
	for ((i = 0; i < $1; i++)); do
		load_module && rmmod sroce || return
	done
}

load_module || { not_ok "loading the module"; done_testing; exit 1; }
check "loading the module opens no UDP 4791 socket" no_socket
ip link set lo up
test_kinds
test_without_ethernet
test_refusals
check "nothing is logged if the speed of a line is not known" asked_for_speed
test_sockets
check "eight links at once, deleted in another order" many_links
check "links and addresses come and go together" churn
check "a link on the port of a bond is told of in the log" on_bond_port
topo_veth
check "a default GID that is no address is refused, not without an answer" default_gid
topo_down
test_vrf
test_vlans
test_namesake
test_disappearing
test_unload
done_testing
