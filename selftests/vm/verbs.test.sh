#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The programs in selftests/verbs; each of their cases is one here. How a program
# is run is in its source, in a comment for each run:
#
#	/* run: [limit=SECONDS] [paged] A B --family 4 [+]6 [option...] */
#
# limit: of the run, if not 400 seconds, times SLOWNESS. paged: pages can be swapped out and
# written back. A and B are the devices; "A A": both ends are on one. The program
# is run once for each family. To many programs a family is a GID and nothing else; what
# it is to the module is up to those that send each operation, and forge or steer packets.
# With a + they run by it with VERBS_ALL=yes only (make check-userland).
# $family is that family; --hostile is left out for rdma_rxe. A program that another
# test runs says "run: by NAME".
#
# VERBS="ops errs" runs only these programs, by all families, VERBS_OPTIONS=--on-demand
# adds options to each run. A part is what runs by that family, or what of that is in one folder:
# parts: 4 4/func 4/stress 4/conform 6

DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

OUT=$(mktemp)
TOOK=
read -ra EXTRA <<<"${VERBS_OPTIONS:-}"
ALL=${VERBS_ALL:-${VERBS:-}}

# The program before may have had the link down and up: for up to a second packets
# are dropped then, and who resolves an address doesn't wait for longer.
reachable()
{
	local a=IP$1_A b=IP$1_B
	wait_until 20 in_a ping -c 1 -W 1 "${!b}" &&
		wait_until 20 in_b ping -c 1 -W 1 "${!a}"
}

# program FAMILY NAME LIMIT argument...: it has to get to its plan, and to say
# with its status what it says with its cases.
program()
{
	local family=$1 prog=$2 limit=$3 rc=0 start=$SECONDS
	shift 3
	reachable "$family" || diag "the peer can't be reached by IPv$family"
	timeout -k 5 $((limit * ${SLOWNESS:-1})) "$DIR/verbs/.out/$prog" "$@" --family "$family" \
		>"$OUT" 2>&1 || rc=$?
	tap_relay "$prog IPv$family: " <"$OUT"
	if [ "${RELAYED_PLAN:-0}" -ne $RELAYED ] || [ $RELAYED -eq 0 ]; then
		not_ok "$prog IPv$family runs to its end" \
			"status $rc, $RELAYED cases, plan ${RELAYED_PLAN:-none}"
	elif [ $((rc != 0)) -ne $((RELAYED_FAILED != 0)) ]; then
		not_ok "$prog IPv$family tells the truth" \
			"status $rc with $RELAYED_FAILED failed cases"
	fi
	TOOK+=$((SECONDS - start))" $prog IPv$family"$'\n'
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
	[ -z "${VT_DIR:-}" ] || return 0
	swap_up 2>"$OUT" || diag "no swap: $(cat "$OUT")"
	disk_up 2>"$OUT" || diag "no disk: $(cat "$OUT")"
}

paging_down()
{
	[ ! -e /dev/zram0 ] || swapoff /dev/zram0 || true
	[ -z "${VT_DIR:-}" ] || umount "$VT_DIR" || true
}

# Where the source of program $1 is
source_of()
{
	local file
	for file in "$DIR"/verbs/{func,stress,conform}/"$1.c"; do
		[ ! -e "$file" ] || { echo "$file"; return; }
	done
}

# programs [FOLDER]: all of them; conform/ has only one.
programs()
{
	case ${1:-} in
	conform)	echo conform ;;
	?*)		basename -s .c "$DIR/verbs/$1"/*.c ;;
	*)		programs func; programs stress; programs conform ;;
	esac
}

# run FAMILY PROGRAM LINE: do what a "run:" comment says for this family
run()
{
	local family=$1 prog=$2 limit=400 families='' args=()
	eval "set -- $3"
	while [ $# -gt 0 ]; do
		case $1 in
		limit=*)	limit=${1#limit=} ;;
		paged)		paging_up ;;
		A)		args+=("$A") ;;
		B)		args+=("$B") ;;
		--family)
			while [[ ${2:-} =~ ^\+?[46]$ ]]; do
				[[ $2 == +* && -z $ALL ]] || families+=$2
				shift
			done ;;
		--hostile)	[ "$LINK_TYPE" = rxe ] || args+=("$1") ;;
		*)		args+=("$1") ;;
		esac
		shift
	done
	[[ $families != *$family* ]] ||
		program "$family" "$prog" "$limit" "${args[@]}" "${EXTRA[@]}"
}

# run_all FAMILY PROGRAM: each run that its source wants
run_all()
{
	local source lines line
	source=$(source_of "$2")
	mapfile -t lines < <(sed -n 's,^/\* run: \(.*\) \*/$,\1,p' "${source:-/dev/null}")
	[ ${#lines[@]} -gt 0 ] || not_ok "$2: its source says how it is run"
	for line in ${lines[@]+"${lines[@]}"}; do
		[[ $line == by\ * ]] || run "$1" "$2" "$line"
	done
}

make -s -C "$DIR/verbs" || exit 1
trap 'paging_down 2>/dev/null; topo_down; rm -f "$OUT"' EXIT
topo_veth

# Somebody who exports dma-bufs, where the kernel has no udmabuf
modprobe -q vgem
[ ! -e "${SROCE_KO%/*}/oddbuf/oddbuf.ko" ] || [ -d /sys/module/oddbuf ] ||
	insmod "${SROCE_KO%/*}/oddbuf/oddbuf.ko" || not_ok "odd dma-bufs"

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

for part in ${PART:-4 6}; do
	[[ $part == */* ]] && folder=${part#*/} || folder=
	for prog in ${VERBS:-$(programs "$folder")}; do
		run_all "${part%/*}" "$prog"
	done
done
diag "seconds of the ten longest:" "$(sort -rn <<<"$TOOK" | head -n 10)"
done_testing
