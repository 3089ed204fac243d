#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets that are not what they seem: by an ordinary socket of a user without rights, and
# for a device, but by the wrong netdev.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip forged "about sroce only"; done_testing; exit; }

VLAN=7

forge() { python3 "$DIR/lib/forge.py" "$@"; }
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
as_nobody() { nobody python3 "$DIR/lib/forge.py" "$@"; }

# moves DEVICE "COUNTER=N..." command...: how far these counters move, and no other of them
COUNTERS="rx_qkey_violations rx_wrong_netdev_drops tx_foreign_drops rx_icrc_errors rx_unknown_qp"
moves()
{
	local dev=$1 want=$2
	shift 2
	counters_note "$dev"
	"$@" || return
	sleep 0.2
	counters_moved "$dev" "$want"
}

# here NAMESPACE function...: in_a and in_b execute programs only
here()
{
	local where=$1
	shift
	ip netns exec "$where" bash -c "$(declare -f forge nobody as_nobody); DIR=$DIR; $*"
}

cannot() { ! here "$@"; }

test_sockets()
{
	local of from to
	for of in "4 $IP4_A $IP4_B" "6 $IP6_A $IP6_B"; do
		read -r of from to <<<"$of"
		check "IPv$of: a user's datagram to a peer is dropped" \
			moves "$DEV_A" tx_foreign_drops=1 cannot a as_nobody "$from" "$to"
		check "IPv$of: it does not leave" \
			moves "$DEV_B" "" cannot a as_nobody "$from" "$to"
		check "IPv$of: nor a train of them" \
			moves "$DEV_A" tx_foreign_drops=1 cannot a as_nobody "$from" "$to" 4791 8
		check "IPv$of: nor one to the host itself" \
			moves "$DEV_A" tx_foreign_drops=1 cannot a as_nobody "$from" "$from"
		check "IPv$of: one to another port passes" \
			moves "$DEV_A" "" here a as_nobody "$from" "$to" 4790
		check "IPv$of: root's passes, and arrives" \
			moves "$DEV_B" rx_qkey_violations=1 here a forge "$from" "$to"
		check "IPv$of: root's to the host itself, too" \
			moves "$DEV_A" rx_qkey_violations=1 here a forge "$from" "$from"
	done
}

# Another pair of netdevs between a and b, and VLANs on both pairs
netdevs()
{
	local dev
	ip link add vc netns a type veth peer name vd netns b
	addresses a vc 10.9.0.1 fd09::1
	addresses b vd 10.9.0.2 fd09::2
	for dev in va:a vc:a vb:b vd:b; do
		ip -n "${dev#*:}" link add link "${dev%:*}" name "${dev%:*}.$VLAN" \
			type vlan id $VLAN
		ip -n "${dev#*:}" link set "${dev%:*}.$VLAN" up
	done
	addresses a va.$VLAN 10.8.0.1 fd08::1
	addresses b vb.$VLAN 10.8.0.2 fd08::2
}

# From b to an address of a, by a netdev of b to which that of a is the peer
sent_by()	# address netdev peer-netdev
{
	local mac
	mac=$(in_a cat "/sys/class/net/$3/address")
	in_b ip -6 route replace "$1/128" dev "$2" metric 1 &&
		in_b ip -6 neigh replace "$1" lladdr "$mac" dev "$2" &&
		here b forge "$IP6_B" "$1"
	local rc=$?
	in_b ip -6 route del "$1/128" dev "$2" metric 1
	return $rc
}

has_gid() { gids "$DEV_A" | grep -q "$1"; }

test_strong_host()
{
	netdevs
	wait_until 10 has_gid fd08:
	check "a packet by the device's netdev is received" \
		moves "$DEV_A" rx_qkey_violations=1 sent_by "$IP6_A" vb va
	check "one by another netdev is dropped" \
		moves "$DEV_A" rx_wrong_netdev_drops=1 sent_by "$IP6_A" vd vc
	check "one by a VLAN above the device's netdev is received" \
		moves "$DEV_A" rx_qkey_violations=1 sent_by fd08::1 vb.$VLAN va.$VLAN
	check "one by a VLAN above another netdev is dropped" \
		moves "$DEV_A" rx_wrong_netdev_drops=1 sent_by "$IP6_A" vd.$VLAN vc.$VLAN
	in_a ip link add br0 type bridge
	in_a ip link set br0 address "$(in_a cat /sys/class/net/va/address)" up
	in_a ip link set va master br0
	check "one by the bridge that the netdev is in is received" \
		moves "$DEV_A" rx_qkey_violations=1 sent_by "$IP6_A" vb va
}

trap topo_down EXIT
topo_veth
check "GIDs are there" eval 'gid_index $DEV_A v6 && gid_index $DEV_B v6'
test_sockets
test_strong_host
rdma link delete "$DEV_A"
check "a user's datagram passes once the namespace has no device" \
	here a as_nobody "$IP6_A" "$IP6_B"
done_testing
