#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# On the host: run selftests/vm/stalled.sh in a VM, and hold that VM up as it asks:
#
#	spin N		N programs beside it that want all of a CPU
#	cpus N		the same, and each CPU of the VM in turn runs only when they don't
#	stop N SECONDS	the VM is stopped N times for so long
#
# usage: KERNEL=6.1 selftests/harness/stalled.sh [option for tools/vm.sh...]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

KERNEL=${KERNEL:-6.1}
# How long a CPU of the VM has the lowest class
TURN=0.3

# shellcheck source=selftests/lib/spinners.sh
. selftests/lib/spinners.sh

DIR=$(mktemp -d)
VM_PID='' QEMU='' JOB=''

# The VM that was started here: its files, once they are there, and its process
find_vm()
{
	JOB=$(echo "$DIR"/sroce-vm.*)
	[ -d "$JOB/shared" ] || return
	QEMU=$(pgrep -f "path=$JOB/vm1/console")
	[ -n "$QEMU" ]
}

# The threads that are its CPUs, as it says itself
cpu_threads()
{
	echo "info cpus" >"$JOB/vm1/mon.in"
	timeout 2 cat "$JOB/vm1/mon.out" | sed -n 's/.*thread_id=\([0-9]*\).*/\1/p'
}

asked() { [ -e "$JOB/shared/$1" ]; }
says() { touch "$JOB/shared/$1"; }

until_enough() { until asked enough || ! kill -0 "$VM_PID" 2>/dev/null; do "$@"; done; }

spin()	# number
{
	spin_begin "$1"
	says begun
	until_enough sleep 0.2
	spin_end
}

one_turn()	# thread
{
	chrt --idle -p 0 "$1" && sleep $TURN
	chrt --other -p 0 "$1"
}

all_turns()
{
	local t
	for t in "$@"; do one_turn "$t"; done
}

cpus()	# number
{
	local threads
	mapfile -t threads < <(cpu_threads)
	[ ${#threads[@]} -gt 0 ] || { echo "no thread of a CPU is known" >&2; return 1; }
	spin_begin "$1"
	says begun
	until_enough all_turns "${threads[@]}"
	spin_end
}

stop()	# number seconds
{
	local i
	says begun
	for ((i = 0; i < $1; i++)); do
		sleep "0.$((RANDOM % 9))"
		kill -STOP "$QEMU" && sleep "$2"
		kill -CONT "$QEMU"
		sleep 0.5
	done
}

serve()
{
	local how
	while kill -0 "$VM_PID" 2>/dev/null; do
		sleep 0.2
		[ -n "$QEMU" ] || find_vm || continue
		asked ask || continue
		read -ra how <"$JOB/shared/ask"
		rm "$JOB/shared/ask"
		"${how[@]}"
		says ended
	done
}

tidy()
{
	spin_end
	[ -z "$QEMU" ] || kill -CONT "$QEMU" 2>/dev/null
	[ -z "$VM_PID" ] || kill "$VM_PID" 2>/dev/null
	rm -rf "$DIR"
}

trap tidy EXIT
trap 'exit 130' INT TERM
# Beside more programs everything takes longer.
read -ra COUNTS <<<"${SPINNING:-4}"
LIMIT=1200
for n in "${COUNTS[@]}" 4; do LIMIT=$((LIMIT + (300 + 150 * n) * ${ROUNDS:-1})); done
TMPDIR=$DIR tools/vm.sh --kernel "$KERNEL" --timeout "$LIMIT" \
	--env "SROCE_KO=$PWD/.build/$KERNEL/sroce.ko" --env "ROUNDS=${ROUNDS:-1}" \
	--env "ITERS=${ITERS:-}" --env "SPINNERS=${SPINNING:-4}" "$@" -- selftests/vm/stalled.sh &
VM_PID=$!
serve
wait "$VM_PID"
