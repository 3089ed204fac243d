#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Pages that never come, see verbs/func/stuck.c and regwait.c: while a QP or a registration waits
# for them, its device, its namespace and the module can go, or are refused at once.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

OUT=$(mktemp)

# On an emulated CPU; it would be for ever
SOON=30

[ "$LINK_TYPE" = sroce ] || { skip pages "about sroce only"; done_testing; exit; }
make -s -C "$DIR/verbs" || exit 1
trap 'topo_down; rm -f "$OUT"' EXIT

# The process IDs of the daemon and of the process that waits
pids() { grep -E '^[0-9]+ [0-9]+$' "$OUT"; }

# hold PROGRAM [HOW]: a process has a QP, or a registration, that waits for a page
hold()
{
	topo_veth
	: >"$OUT"
	STUCK_HOLD=${2:-1} "$DIR/verbs/.out/$1" "$DEV_A@$NS_A" "$DEV_B@$NS_B" --family 4 \
		>"$OUT" 2>&1 &
	wait_until 60 pids || { cat "$OUT"; return 1; }
}

process_gone() { ! kill -0 "$(pids | cut -d' ' -f2)"; }
killed() { kill -9 "$(pids | cut -d' ' -f2)"; }

# let_go: there is no page, and no process that waits for it
let_go()
{
	# shellcheck disable=SC2046
	kill -9 $(pids) 2>/dev/null
	topo_down
}

soon()	# command...
{
	local start=$SECONDS
	timeout $SOON "$@" || return
	echo "$((SECONDS - start)) s"
}

# Either is fine, but not to wait.
leaves_or_refuses()
{
	local said status=0
	said=$(soon rmmod sroce 2>&1) || status=$?
	echo "$said"
	[ $status -eq 0 ] || [[ $status -eq 1 && $said == *"in use"* ]]
}

other_device()
{
	ns_add other && ip -n other link add dummy0 type dummy && ip -n other link set dummy0 up &&
		ip netns exec other rdma link add other0 type sroce netdev dummy0 &&
		ip netns exec other rdma link delete other0 && ip netns delete other
}

gone() { ! link_exists "$1"; }

netns_gone() { ip netns delete "$NS_A" && wait_until $SOON gone "$DEV_A"; }

# As many QPs wait as a CPU has workers: 8 of each user.
topo_veth
chmod 666 /dev/infiniband/uverbs*
check "a user's pages come while 64 others wait for theirs" in_a \
	timeout $((120 * ${SLOWNESS:-1})) "$DIR/verbs/.out/siege" pages "$DEV_A" 64
topo_down
check "a QP waits for a page that does not come" hold stuck
check "its link is deleted" soon ip netns exec "$NS_A" rdma link delete "$DEV_A"
check "the process is killed" killed
let_go

check "a QP waits for a page" hold stuck
check "its namespace is deleted" netns_gone
let_go

check "a QP waits for a page again" hold stuck
check "the module is removed, or in use" leaves_or_refuses
let_go
check "a registration waits for a page that does not come" hold regwait
check "another device comes and goes" other_device
check "its link is deleted" soon ip netns exec "$NS_A" rdma link delete "$DEV_A"
let_go

check "a registration waits for a process to fill a page" hold regwait uffd
check "its link is deleted" soon ip netns exec "$NS_A" rdma link delete "$DEV_A"
check "its process is killed" killed
check "and is gone" wait_until $SOON process_gone
let_go

check "a registration waits for a process to let a page be written" hold regwait uffd-wp
check "its link is deleted" soon ip netns exec "$NS_A" rdma link delete "$DEV_A"
let_go

check "a registration waits for a page" hold regwait
check "its namespace is deleted" netns_gone
let_go

check "a registration waits for a page again" hold regwait
check "the module is in use" leaves_or_refuses
check "its process is killed" killed
check "and is gone" wait_until $SOON process_gone
let_go

check "the module is removed when the fault has ended" wait_until 20 rmmod sroce
check "and loaded again" load_module
done_testing
