# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2034
# What the scripts of applications source: two hosts with a device each, whether
# traffic took the devices, and what is shown in the table.

# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

OUT=selftests/apps/.out

# topo_one_device says so as well, but check calls it in a subshell, where that is lost.
[ "$LINK_TYPE" != rxe ] || DEV_B=$DEV_A IP4_B=$IP4_A IP6_B=$IP6_A

# What the table has beside the result of the last case if it has passed
value() { echo "# value: $*"; }

# What it says of it if it has failed, and the fault is not the device's
cause() { echo "# cause: $*"; }

# Where a server listens; cases run in subshells, which can't count
any_port() { echo $((18000 + RANDOM % 10000)); }

# has_modules MODULE...: whether this kernel comes with them
has_modules() { modinfo "$@" >/dev/null 2>&1; }

# end_of PID: of a function in the background it is the program that has to be told
end_of() { pkill -TERM -P "$1"; kill "$1"; } 2>/dev/null

# ---- two hosts -------------------------------------------------------------

# Programs that run on one host have shortcuts: shared memory, the memory of other
# processes. So the ends of the topology get names, process IDs, SysV IPC and /dev/shm of
# their own. With rdma_rxe both have the initial network namespace.
HOSTS=/run/app-hosts

hosts_up()
{
	if [ "$LINK_TYPE" = rxe ]; then topo_veth; else own_devices; fi &&
		host_up a && host_up b
}

# The devices go with the netdevs, and these with the namespaces.
hosts_down()
{
	local h
	for h in "$HOSTS"/*; do
		[ ! -e "$h" ] || kill -KILL "$(<"$h")"
		rm -f "$h"
	done
	topo_down
	wait_until 20 rdma system set netns shared
} 2>/dev/null

# A host sees no other's device, or UCX would use both. That has to be asked for before
# there are network namespaces.
own_devices()
{
	load_module &&
	wait_until 20 rdma system set netns exclusive && topo_netdevs &&
	in_a rdma link add "$DEV_A" type sroce netdev va &&
	in_b rdma link add "$DEV_B" type sroce netdev vb &&
	rdma dev set "$DEV_A" netns $NS_A && rdma dev set "$DEV_B" netns $NS_B &&
	wait_until 20 has_gid a "$DEV_A" && wait_until 20 has_gid b "$DEV_B"
}

# An IPv4 address has become a GID
has_gid()	# a|b device
{
	"in_$1" sh -c "grep -qs :ffff: /sys/class/infiniband/$2/ports/1/gids/*"
}

host_up()	# a|b
{
	local h=$1
	mkdir -p $HOSTS
	"in_$h" unshare --fork --kill-child --pid --ipc --uts --mount --mount-proc sh -c "
		hostname $h
		mount -t tmpfs tmpfs /dev/shm
		exec sleep infinity" >/dev/null 2>&1 </dev/null &
	wait_until 20 host_is_up "$h" "$!" || { echo "host $h does not start"; return 1; }
}

# The process that stays is the last of a chain.
host_is_up()	# a|b pid-of-the-first-in-the-chain
{
	local pid=$2 child
	while child=$(<"/proc/$pid/task/$pid/children") && [ -n "$child" ]; do
		pid=${child%% *}
	done
	[ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" = "sleep infinity " ] &&
		echo "$pid" >"$HOSTS/$1"
}

# on a|b command...
on()
{
	local pid
	pid=$(<"$HOSTS/$1")
	shift
	nsenter -t "$pid" -n -i -u -p -m -- "$@"
}

# ---- the devices -----------------------------------------------------------

counter_of()	# a|b device name
{
	local f=/sys/class/infiniband/$2/ports/1/hw_counters/$3
	cat "$f" 2>/dev/null || "in_$1" cat "$f" 2>/dev/null || echo 0
}

# Bytes that have left the devices, at most
sent_bytes()
{
	local end dev c sum=0
	if [ "$LINK_TYPE" = rxe ]; then
		echo $((4096 * $(counter_of a "$DEV_A" sent_pkts)))
		return
	fi
	for end in "a $DEV_A" "b $DEV_B"; do
		dev=${end#* }
		for c in tx_bytes loopback_bytes; do
			sum=$((sum + $(counter_of "${end% *}" "$dev" $c)))
		done
	done
	echo $sum
}

# counted command...: it succeeds; SENT is how many bytes the devices have sent meanwhile
counted()
{
	local before
	before=$(sent_bytes)
	"$@" || return
	SENT=$(($(sent_bytes) - before))
}

# took BYTES command...: it succeeds, and has sent that many by the devices
took()
{
	local bytes=$1
	shift
	counted "$@" || return
	[ $SENT -ge "$bytes" ] || { echo "only $SENT of $bytes bytes took the devices"; return 1; }
}

# idle command...: it succeeds, and leaves the devices alone
idle()
{
	counted "$@" || return
	[ $SENT -lt 100000 ] || { echo "$SENT bytes took the devices"; return 1; }
}
