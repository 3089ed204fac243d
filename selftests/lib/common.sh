# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2034
# What the scripts in selftests/vm source: TAP, topologies, the stock tools, and
# what only tests need.

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tools/topology.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/topology.sh"
# shellcheck source=tools/stock.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/stock.sh"

# ---- tracepoints -----------------------------------------------------------

# An instance of each test's own: what one turns off or filters must not blind the next
TRACEFS=/sys/kernel/tracing
TRACE=$TRACEFS/instances/test-$$

trace_up()
{
	mountpoint -q $TRACEFS || mount -t tracefs tracefs $TRACEFS || return
	mkdir -p $TRACE
}

trace_down() { [ ! -d $TRACE ] || rmdir $TRACE; }

# ---- counters --------------------------------------------------------------

# both COUNTER: of the two devices
both() { echo $(($(counter "$DEV_A" "$1") + $(counter "$DEV_B" "$1"))); }

# grows|stays COUNTER command...: both, while a command runs that has to succeed
grows() { counts -gt "$@"; }
stays() { counts -eq "$@"; }

counts()
{
	local op=$1 name=$2 before now
	before=$(both "$name")
	shift 2
	"$@" || return
	now=$(both "$name")
	test "$now" "$op" "$before" || { echo "$name: $before, then $now"; return 1; }
}

# ---- disks -----------------------------------------------------------------

# /dev/nullb0, of 1 GiB in memory
memory_disk()
{
	modprobe null_blk nr_devices=1 memory_backed=1 gb=1 completion_nsec=0 irqmode=0
}

# What targets are set up by
configfs_up()
{
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
}

# ---- transfers -------------------------------------------------------------

# stress 4|6 SECONDS SEED: in both directions, by all services; the program checks the data
stress()
{
	local out
	out=$("$(dirname "${BASH_SOURCE[0]}")/../verbs/.out/stress" "$DEV_A@$NS_A" \
		"$DEV_B@$NS_B" --family "$1" --seconds "$2" --seed "$3" 2>&1) ||
		{ grep -v '^ok' <<<"$out"; return 1; }
}

# ---- captures --------------------------------------------------------------

# counters_note DEVICE: what $COUNTERS are, for counters_moved
declare -A SEEN=()
counters_note()
{
	local name
	for name in $COUNTERS; do SEEN[$name]=$(counter "$1" "$name"); done
}

# counters_moved DEVICE "NAME=N...": whether each of $COUNTERS has moved by N since it was
# noted; those that are not named, by nothing
counters_moved()
{
	local dev=$1 want=" $2 " name by rc=0
	for name in $COUNTERS; do
		by=0
		[[ $want != *" $name="* ]] || { by=${want#*" $name="}; by=${by%% *}; }
		[ $(($(counter "$dev" "$name") - SEEN[$name])) -eq "$by" ] ||
			{ echo "$name: ${SEEN[$name]}, then $(counter "$dev" "$name")"; rc=1; }
	done
	return $rc
}

# start_capture FILE NETDEV [NAMESPACE]
start_capture()
{
	become "${3:--}" tcpdump -i "$2" -B 65536 -s 0 -w "$1" udp port 4791 \
		>/tmp/tcpdump.log 2>&1 &
	CAPTURE=$!
	wait_until 15 grep -q 'listening on' /tmp/tcpdump.log
}

stop_capture()
{
	sleep 0.5
	kill -TERM "$CAPTURE"
	wait_until 10 grep -q 'packets dropped' /tmp/tcpdump.log
	grep -q '^0 packets dropped by kernel' /tmp/tcpdump.log ||
		{ cat /tmp/tcpdump.log; return 1; }
}

# What tshark must not see in random payloads that look like it: with 100,000
# packets one does.
no_guesses()
{
	tshark -G heuristic-decodes 2>/dev/null |
		awk '$1 == "infiniband.payload" { print "--disable-protocol " $2 }'
}

# ---- two VMs ---------------------------------------------------------------

# barrier NAME [SECONDS]: with tools/vm.sh --two, wait for the other VM.
barrier()
{
	local dir=$SROCE_JOB/shared other=$((3 - VM_ID))
	touch "$dir/$1.$VM_ID"
	wait_until "${2:-60}" test -e "$dir/$1.$other"
}
