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
segment_routing()	# [words for the route]
{
	local i list=''
	in_b sysctl -qw net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.vb.seg6_enabled=1 || return
	for ((i = 1; i <= SEGMENTS; i++)); do
		in_b ip -6 addr add "fd09::$i/128" dev lo && list+=,fd09::$i || return
	done
	in_b ip -6 addr add fd09::1/64 dev vb nodad 2>/dev/null
	in_a ip -6 route add fd09::/64 dev va &&
		in_a ip -6 route add "$IP6_B/128" encap seg6 mode encap segs "${list#,}" dev va "$@"
}

# The device's own route is a plain one, and netfilter has its packets take another.
routed_by_mark()
{
	segment_routing table 77 && in_a ip -6 rule add fwmark 7 table 77 &&
		in_a nft add table ip6 t &&
		in_a nft 'add chain ip6 t out { type route hook output priority mangle; }' &&
		in_a nft 'add rule ip6 t out meta l4proto { udp, icmpv6 } ip6 daddr' "$IP6_B" \
			meta mark set 7 &&
		in_a nft 'add rule ip6 t out meta mark 7 udp dport 4791 ip6 length > 2000 counter'
}

# Trains that were lists when netfilter saw them
lists_arrive() { grows tx_segmented_trains stress 6 2 1 && lists_were_marked; }

lists_were_marked()
{
	in_a nft list table ip6 t >"$OUT.nft"
	# of larger packets than any on the wire
	grep -q 'ip6 length > 2000 counter packets [1-9]' "$OUT.nft" || { cat "$OUT.nft"; return 1; }
}

encapsulated()
{
	in_a timeout $((20 * ${SLOWNESS:-1})) tcpdump -c 1 -i va 'ip6[6] = 43' >/dev/null 2>"$OUT.dump" &
	wait_until 15 grep -q 'listening on' "$OUT.dump"
	in_a ping -c 1 -W 2 "$IP6_B" && wait $!
}

test_route()	# command that makes it, name, command that sends trains
{
	topo_veth
	gid_index "$DEV_A" v6 >/dev/null && gid_index "$DEV_B" v6 >/dev/null
	check "$2 with $SEGMENTS segments: it is there" "$1"
	check "$2 with $SEGMENTS segments: netdevs don't segment" unsegmented
	check "$2 with $SEGMENTS segments: packets are encapsulated" encapsulated
	check "$2 with $SEGMENTS segments: trains arrive" "${@:3}"
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
test_route segment_routing "a route" grows tx_trains stress 6 2 1
test_route routed_by_mark "a route by netfilter's mark" lists_arrive
done_testing
