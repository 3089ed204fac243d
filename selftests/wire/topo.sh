# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# In the VM: a device under test at one end of a veth pair, nobody at the other. Sourced,
# after selftests/lib/common.sh, by vm/wire.test.sh and vm/conformance.sh.

VLAN=7 IP4_V=10.8.0.1 IP4_PV=10.8.0.2 IP6_V=fd08::1 IP6_PV=fd08::2

wire_addresses()	# netdev ip4 ip6
{
	in_a ip addr add "$2/24" dev "$1"
	in_a ip addr add "$3/64" dev "$1" nodad
	in_a ip link set "$1" up
}

# The peer's end has no addresses, so that no kernel answers for it; the
# device's end is told where they are. rdma_rxe works in the first namespace only.
topo_wire()
{
	local mac ip
	load_module
	ns_add $NS_B
	[ "$LINK_TYPE" = rxe ] || ns_add $NS_A
	in_a ip link add va type veth peer name vb
	in_a ip link set vb netns "/run/netns/$NS_B"
	in_b sysctl -qw net.ipv6.conf.vb.disable_ipv6=1
	in_b ip link set vb mtu 4200 up
	in_a ip link set va mtu 4200
	# trains of packets are cut up on the way, as they are by a NIC
	in_a ethtool -K va tx-udp-segmentation off
	wire_addresses va $IP4_A $IP6_A
	in_a ip link add link va name va.$VLAN type vlan id $VLAN
	wire_addresses va.$VLAN $IP4_V $IP6_V
	mac=$(in_b cat /sys/class/net/vb/address)
	for ip in $IP4_B $IP6_B; do
		in_a ip neigh replace $ip lladdr "$mac" dev va
	done
	for ip in $IP4_PV $IP6_PV; do
		in_a ip neigh replace $ip lladdr "$mac" dev va.$VLAN
	done
	in_a rdma link add "$DEV_A" type "$LINK_TYPE" netdev va
	wait_until 10 four_gids
}

four_gids() { [ "$(gids "$DEV_A" | grep -cv ' fe80:')" -ge 4 ]; }

# What tells wire of all this, into WIRE_ENDS
wire_ends()
{
	local ns=
	! ns_exists $NS_A || ns=@$NS_A
	# shellcheck disable=SC2034 # for who sources this
	WIRE_ENDS=(--dut "$DEV_A:va$ns" --peer "vb@$NS_B"
		--net "-,$IP4_A,$IP4_B" --net "-,$IP6_A,$IP6_B"
		--net "$VLAN,$IP4_V,$IP4_PV" --net "$VLAN,$IP6_V,$IP6_PV")
}
