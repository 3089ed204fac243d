#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Pages that never come, see verbs/func/stuck.c: while a QP waits for them, its device, its
# namespace and the module can go, or are refused at once.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

OUT=$(mktemp)

# On an emulated CPU; it would be for ever
SOON=8

[ "$LINK_TYPE" = sroce ] || { skip pages "about sroce only"; done_testing; exit; }
make -s -C "$DIR/verbs" || exit 1
trap 'topo_down; rm -f "$OUT"' EXIT

# The process IDs of the daemon and of the process that waits
pids() { grep -E '^[0-9]+ [0-9]+$' "$OUT"; }

# hold: a process has a QP that waits for a page
hold()
{
	topo_veth
	: >"$OUT"
	STUCK_HOLD=1 "$DIR/verbs/.out/stuck" "$DEV_A@$NS_A" "$DEV_B@$NS_B" --family 4 \
		>"$OUT" 2>&1 &
	wait_until 60 pids || { cat "$OUT"; return 1; }
}

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

gone() { ! link_exists "$1"; }

netns_gone() { ip netns delete "$NS_A" && wait_until $SOON gone "$DEV_A"; }

check "a QP waits for a page that does not come" hold
check "its link is deleted" soon ip netns exec "$NS_A" rdma link delete "$DEV_A"
check "the process is killed" killed
let_go

check "a QP waits for a page" hold
check "its namespace is deleted" netns_gone
let_go

check "a QP waits for a page again" hold
check "the module is removed, or in use" leaves_or_refuses
let_go
check "the module is removed when the fault has ended" wait_until 20 rmmod sroce
check "and loaded again" load_module
done_testing
