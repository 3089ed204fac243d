#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The scripts in selftests/wire: a peer of our own on a packet socket plays
# each fault that the specification knows. WIRE="resp-rnr" runs only scripts
# whose name or title has that in it, WIRE_FLAGS=--verbose shows their packets.

DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

if [ "$LINK_TYPE" = rxe ]; then
	skip "wire" "the scripts are about this module's counters"
	done_testing
	exit
fi

VLAN=7 IP4_V=10.8.0.1 IP4_PV=10.8.0.2 IP6_V=fd08::1 IP6_PV=fd08::2

# The peer's end has no addresses, so that no kernel answers for it; the
# device's end is told where they are.
topo_wire()
{
	local mac ip
	load_module
	ns_add $NS_A
	ns_add $NS_B
	ip link add va netns $NS_A type veth peer name vb netns $NS_B
	in_b sysctl -qw net.ipv6.conf.vb.disable_ipv6=1
	in_b ip link set vb mtu 4200 up
	in_a ip link set va mtu 4200
	# trains of packets are cut up on the way, as they are by a NIC
	in_a ethtool -K va tx-udp-segmentation off
	addresses $NS_A va $IP4_A $IP6_A
	in_a ip link add link va name va.$VLAN type vlan id $VLAN
	addresses $NS_A va.$VLAN $IP4_V $IP6_V
	mac=$(in_b cat /sys/class/net/vb/address)
	for ip in $IP4_B $IP6_B; do
		in_a ip neigh replace $ip lladdr "$mac" dev va
	done
	for ip in $IP4_PV $IP6_PV; do
		in_a ip neigh replace $ip lladdr "$mac" dev va.$VLAN
	done
	in_a rdma link add "$DEV_A" type "$LINK_TYPE" netdev va
}

four_gids() { [ "$(gids "$DEV_A" | grep -cv ' fe80:')" -ge 4 ]; }

make -s -C "$DIR/wire" || exit 1
trap topo_down EXIT
topo_wire
wait_until 10 four_gids

# shellcheck disable=SC2086 # WIRE_FLAGS is a list
"$DIR/wire/wire" --dut "$DEV_A:va@$NS_A" --peer "vb@$NS_B" \
	--net "-,$IP4_A,$IP4_B" --net "-,$IP6_A,$IP6_B" \
	--net "$VLAN,$IP4_V,$IP4_PV" --net "$VLAN,$IP6_V,$IP6_PV" \
	${WIRE:+--only "$WIRE"} ${WIRE_FLAGS:-} \
	"$DIR"/wire/scripts/*.wire "$DIR"/wire/selftest/*.wire
