#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The programs in selftests/verbs over IPv4 and IPv6; each of their cases is
# one here. VERBS="ops errs" runs only some of them. "paged" is ops in memory that
# comes and goes.

DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

OUT=$(mktemp)

# The program before may have had the link down and up: for up to a second packets
# are dropped then, and who resolves an address doesn't wait for longer.
reachable()
{
	local a=IP$1_A b=IP$1_B
	wait_until 20 in_a ping -c 1 -W 1 "${!b}" &&
		wait_until 20 in_b ping -c 1 -W 1 "${!a}"
}

# program FAMILY NAME [option...]: it has to get to its plan, and to say with
# its status what it says with its cases. PEER: the other device, if not B
program()
{
	local family=$1 prog=$2 limit=400 rc=0
	shift 2
	case $prog in conform|tides) limit=1800 ;; esac
	reachable "$family" || diag "the peer can't be reached by IPv$family"
	timeout -k 5 $limit "$DIR/verbs/$prog" "$A" "${PEER:-$B}" \
		--family "$family" "$@" >"$OUT" 2>&1 || rc=$?
	tap_relay "$prog IPv$family: " <"$OUT"
	if [ "${RELAYED_PLAN:-0}" -ne $RELAYED ] || [ $RELAYED -eq 0 ]; then
		not_ok "$prog IPv$family runs to its end" \
			"status $rc, $RELAYED cases, plan ${RELAYED_PLAN:-none}"
	elif [ $((rc != 0)) -ne $((RELAYED_FAILED != 0)) ]; then
		not_ok "$prog IPv$family tells the truth" \
			"status $rc with $RELAYED_FAILED failed cases"
	fi
}

# Somewhere for pages to go: compressed memory, if the kernel has that.
swap_up()
{
	modprobe -q zram && echo 256M >/sys/block/zram0/disksize &&
		mkswap /dev/zram0 >/dev/null && swapon /dev/zram0
}

# A file system that writes files back, for the memory of one
disk_up()
{
	VT_DIR=$(mktemp -d)
	export VT_DIR
	modprobe -aq loop ext4
	truncate -s 64M "$VT_DIR.img" && mkfs.ext4 -q "$VT_DIR.img" &&
		mount -o loop "$VT_DIR.img" "$VT_DIR"
}

paging_up()
{
	swap_up 2>"$OUT" || diag "no swap: $(cat "$OUT")"
	disk_up 2>"$OUT" || diag "no disk: $(cat "$OUT")"
}

paging_down()
{
	[ ! -e /dev/zram0 ] || swapoff /dev/zram0 || true
	[ -z "${VT_DIR:-}" ] || umount "$VT_DIR" || true
}

paging()
{
	local family=$1
	[ -n "${VT_DIR:-}" ] || paging_up
	program "$family" odp
	[ "$family" = 4 ] || return 0
	PEER=$A program 4 odp
	program 4 tides --seconds 2
	PEER=$A program 4 tides --seconds 1
}

make -s -C "$DIR/verbs" || exit 1
trap 'paging_down 2>/dev/null; topo_down; rm -f "$OUT"' EXIT
topo_veth

# Somebody who exports dma-bufs, where the kernel has no udmabuf
modprobe -q vgem
[ ! -e "${SROCE_KO%/*}/oddbuf/oddbuf.ko" ] || [ -d /sys/module/oddbuf ] ||
	insmod "${SROCE_KO%/*}/oddbuf/oddbuf.ko"

# Room for every path MTU.
if ns_exists $NS_A; then
	in_b ip link set vb mtu 4200
	in_a ip link set va mtu 4200
	A=$DEV_A@$NS_A B=$DEV_B@$NS_B
else
	ip link set va mtu 4200
	A=$DEV_A B=$DEV_B
fi
for fam in v4 v6; do
	gid_index "$DEV_A" $fam >/dev/null && gid_index "$DEV_B" $fam >/dev/null
done

# What no stock tool would post; rdma_rxe of 6.1 dies of it.
hostile=()
[ "$LINK_TYPE" = rxe ] || hostile=(--hostile)

for family in 4 6; do
	for prog in ${VERBS:-device ops errs retries posts states srq cq \
			windows regs rereg swaps odp dmabuf raw xrc chain mcast flood \
			conform stress}; do
		case $prog in
		posts|conform)
			program $family "$prog" "${hostile[@]}" ;;
		odp)	paging $family ;;
		paged)	program $family ops --on-demand ;;
		stress)	program $family stress --seconds 5 --seed $family ;;
		swaps)	program $family swaps --seconds 2 ;;
		*)	program $family "$prog" ;;
		esac
	done
done
if [ -z "${VERBS:-}" ]; then
	program 4 ops --huge
	program 6 ops --on-demand --only "all sizes"
	program 4 stress --on-demand --seconds 3
fi
done_testing
