#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A consumer in the kernel: the cases of selftests/kverbs, on two devices that
# talk over a wire, on one by the IP stack and on one by the short cut; events,
# and devices that are taken away from it. KVERBS="frwr cq" runs only some groups.
set -uo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip kverbs "about sroce only"; done_testing; exit; }

KVERBS_KO=${KVERBS_KO:-${SROCE_KO%/*}/kverbs/kverbs.ko}
DEBUG=/sys/kernel/debug
KV=$DEBUG/kverbs

load_kverbs()
{
	mountpoint -q $DEBUG || mount -t debugfs none $DEBUG || return
	load_module
	[ -d /sys/module/kverbs ] || insmod "$KVERBS_KO"
}

up()
{
	topo_veth && gid_index $DEV_A v4 >/dev/null &&
		gid_index $DEV_B v4 >/dev/null && load_kverbs
}

local_is() { echo "$1" >/sys/class/infiniband/$DEV_A/loopback; }

# Pass on the cases, with $1 in front of each.
cases()
{
	tap_relay "$1: " <$KV/results
	[ "$RELAYED_PLAN" = $RELAYED ] && [ $RELAYED -gt 0 ] ||
		not_ok "$1: all cases" "$RELAYED of ${RELAYED_PLAN:-none}"
}

run_on()	# name device device [group...]
{
	local name=$1 a=$2 b=$3 group
	shift 3
	for group in "${@:-}"; do
		if echo "$a $b ${group:+$group:}" >$KV/run; then
			cases "$name"
		else
			not_ok "$name: the cases run"
		fi
	done
}

# ---- events ---------------------------------------------------------------

events() { sed -n "s/ $1\$//p" $KV/events | grep . || echo 0; }

more_than() { [ "$(events "$1")" -gt "$2" ]; }

# event NAME command...: it comes after the command
event()
{
	local name=$1 before
	shift
	before=$(events "$name")
	"$@" || return
	wait_until 20 more_than "$name" "$before" ||
		{ echo "no $name"; cat $KV/events; return 1; }
}

port_events()
{
	event 'port error' in_a ip link set va down &&
	event 'port active' in_a ip link set va up &&
	event 'GID changed' in_a ip addr add 10.99.0.1/24 dev va &&
	event 'GID changed' in_a ip addr del 10.99.0.1/24 dev va
}

# ---- what is taken away -----------------------------------------------------

live() { cat $KV/live; }

works_hard()
{
	local n
	n=$(live | sed -n 's/^working: \([0-9]*\), 0 bad/\1/p')
	[ -n "$n" ] && [ "$n" -gt 100 ]
}

start_live()
{
	echo $DEV_A >$KV/live && wait_until 60 works_hard ||
		{ live; return 1; }
}

drained() { live | grep -q '^drained: '; }

device_goes()
{
	start_live || return
	timeout 60 rdma link delete $DEV_A || { echo "delete: $?"; return 1; }
	drained || { live; return 1; }
}

netdev_goes()
{
	start_live || return
	in_a ip link delete va || return
	wait_until 60 eval "! link_exists $DEV_A" && drained ||
		{ live; return 1; }
}

in_group() { in_a ip maddr show dev va | grep -qw ff0e::1:2; }

module_goes()
{
	start_live || return
	in_group || { echo "its netdev has not joined the group"; return 1; }
	timeout 60 rmmod sroce || { echo "rmmod: $?"; return 1; }
	drained || { live; return 1; }
	! in_group || { echo "its netdev is still in the group"; return 1; }
}

consumer_goes()
{
	start_live || return
	timeout 60 rmmod kverbs
}

# ---- rdma_rw with regions ---------------------------------------------------

# What was closed last goes by a work queue.
core_goes()
{
	modprobe -r rdma_ucm ib_umad ib_uverbs rdma_cm iw_cm ib_cm ib_core
	[ ! -d /sys/module/ib_core ]
}

unload_all()
{
	[ ! -d /sys/module/kverbs ] || rmmod kverbs
	unload_module
	wait_until 10 core_goes || { grep -E '^(ib|rdma|iw|kverbs|sroce)_' /proc/modules; return 1; }
}

# Only when the core is loaded can it be told to use them.
load_forced() { unload_all && modprobe ib_core force_mr=1; }

core_is_module() { [ -e /sys/module/ib_core/initstate ]; }

if [ ! -e "$KVERBS_KO" ]; then
	not_ok "the consumer is built" "no $KVERBS_KO: make kverbs"
	done_testing
	exit
fi
trap topo_down EXIT
check "two devices and a consumer" up
read -ra groups <<<"${KVERBS:-}"
run_on wire $DEV_A $DEV_B ${groups[@]+"${groups[@]}"}
check "no short cut" local_is 0
run_on stack $DEV_A $DEV_A ${groups[@]+"${groups[@]}"}
check "the short cut" local_is 1
run_on "short cut" $DEV_A $DEV_A ${groups[@]+"${groups[@]}"}
if [ -z "${KVERBS:-}" ]; then
	check "events of the port and of GIDs" port_events
	check "a device is deleted while a consumer works" device_goes
	topo_down
	check "another in its place" up
	check "a netdev is deleted while a consumer works" netdev_goes
	topo_down
	check "and another" up
	check "the module is unloaded while a consumer works" module_goes
	topo_down
	check "and loaded again" up
	check "the consumer is unloaded while it works" consumer_goes
	topo_down
	if core_is_module; then
		check "the core is loaded anew, to use regions" load_forced
		check "two devices on a core that has rdma_rw use regions" up
		run_on "regions" $DEV_A $DEV_B rw
		topo_down
		unload_all
	else
		skip "rdma_rw with regions" "the core is no module"
	fi
fi
topo_down
trap - EXIT
[ ! -d /sys/module/kverbs ] || rmmod kverbs
done_testing
