#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Routes that put packets into others. The netdev doesn't segment, so that trains would be lists of
# packets, each with room for what is put in front of the first: here there must be none.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip encap "about sroce only"; done_testing; exit; }

OUT=$(mktemp)
SEGMENTS=20

unsegmented() { in_a ethtool -K va tx-udp-segmentation off >/dev/null; }

# What a sends to b has a segment routing header with all of b's other addresses.
segment_routing()
{
	local i list=''
	in_b sysctl -qw net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.vb.seg6_enabled=1 || return
	for ((i = 1; i <= SEGMENTS; i++)); do
		in_b ip -6 addr add "fd09::$i/128" dev lo && list+=,fd09::$i || return
	done
	in_b ip -6 addr add fd09::1/64 dev vb nodad 2>/dev/null
	in_a ip -6 route add fd09::/64 dev va &&
		in_a ip -6 route add "$IP6_B/128" encap seg6 mode encap segs "${list#,}" dev va
}

encapsulated()
{
	in_a timeout $((20 * ${SLOWNESS:-1})) tcpdump -c 1 -i va 'ip6[6] = 43' >/dev/null 2>"$OUT.dump" &
	wait_until 15 grep -q 'listening on' "$OUT.dump"
	in_a ping -c 1 -W 2 "$IP6_B" && wait $!
}

test_route()
{
	topo_veth
	gid_index "$DEV_A" v6 >/dev/null && gid_index "$DEV_B" v6 >/dev/null
	check "a route with $SEGMENTS segments: it is there" segment_routing
	check "a route with $SEGMENTS segments: netdevs don't segment" unsegmented
	check "a route with $SEGMENTS segments: packets are encapsulated" encapsulated
	check "a route with $SEGMENTS segments: trains arrive" grows tx_trains stress 6 2 1
	topo_down
}

# Kernels without it say so, by their configuration.
has_segment_routing()
{
	local why
	why=$(ip -6 route add fd09::/64 encap seg6 mode encap segs fd09::1 dev lo 2>&1)
	ip -6 route del fd09::/64 dev lo 2>/dev/null
	! grep -q 'CONFIG_[A-Z0-9_]* is not enabled' <<<"$why"
}

has_segment_routing || {
	skip encap "this kernel has no segment routing"; done_testing; exit; }
make -s -C "$DIR/verbs" || exit 1
trap 'topo_down; rm -f "$OUT"*' EXIT
test_route
done_testing
