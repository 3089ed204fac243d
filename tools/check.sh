#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All of `make check`: build, unit tests here, selftests in the VM; the totals
# of both on the last line, and the exit status to match.
#
# usage: KERNEL=6.1 tools/check.sh [selftest...]    (harness: tools/vm.sh itself)
# CHECK_HERE=no leaves out what runs here and not in the VM.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# TESTS= of `make check` is not for the makes below it.
unset MAKEFLAGS MFLAGS TESTS
MAKEFLAGS=-j$(nproc)
export MAKEFLAGS

# shellcheck source=tools/kernel.sh
. tools/kernel.sh

KERNEL=${KERNEL:-6.1}
ARCH=$(kernel_arch "$KERNEL")
KEEP=.build/last-run
CASES=$(mktemp)
TOOK=$CASES.took
# what runs beside, by name: its process group
declare -A ASIDE=()
trap 'rm -f "$CASES"*; stop_aside' EXIT

# Tests in the VM that pass if it is some times slower for some seconds. All others measure
# time, or count what a slow machine does otherwise.
UNTIMED=(apps autoload coexist conformance containers doctor features interop kverbs nomem
	pyverbs show stock txqueues ulp verbs)
# GB that two VMs and what runs here need
MEM_FOR_TWO=10

case_failed() { echo "not ok - $*" | tee -a "$CASES"; }

# Only the very last line of a check looks like a total.
without_totals() { grep --line-buffered -vE '^[0-9]+ passed, [0-9]+ failed' || true; }

# took SECONDS-AT-START NAME: for the list at the end
took() { echo "$((SECONDS - $1)) $2" >>"$TOOK"; }

step()	# name command...
{
	local name=$1 rc=0 start=$SECONDS
	shift
	echo "# $name"
	"$@" || rc=$?
	took $start "$name"
	[ $rc -eq 0 ] || case_failed "$name (exit status $rc)"
	return $rc
}

# Run something that prints TAP; it must fail if and only if a case has.
tap()	# name command...
{
	local name=$1 before rc start=$SECONDS
	shift
	echo "# $name"
	before=$(grep -c '^not ok' "$CASES")
	"$@" 2>&1 | without_totals | tee -a "$CASES"
	rc=${PIPESTATUS[0]}
	took $start "$name"
	if [ "$rc" -ne 0 ] && [ "$(grep -c '^not ok' "$CASES")" -eq "$before" ]; then
		case_failed "$name (exit status $rc)"
	elif [ "$rc" -eq 125 ]; then
		# the kernel's own verdict counts beside that of the cases
		case_failed "$name: kernel log, unload or time limit"
	fi
}

# in_vm NAME TEST...: NAME is also that of what is kept
in_vm()
{
	local name=$1 keep=$KEEP
	shift
	[ "$name" = selftests ] || keep+="-${name// /-}"
	# shellcheck disable=SC2086 # VMFLAGS is a list
	tap "$name in a VM with Linux $KERNEL" \
		tools/vm.sh --kernel "$KERNEL" --timeout "${CHECK_TIMEOUT:-4200}" \
			--keep "$keep" --env "SROCE_KO=$PWD/.build/$KERNEL/sroce.ko" \
			${VMFLAGS:-} -- selftests/vm/run.sh "$@"
}

# What is needed here beyond what the VM needs
setup_here()
{
	BIG_ENDIAN=yes
	step "what emulates a big-endian CPU" tools/setup.sh --arch s390x || BIG_ENDIAN=''
	step "what puts the module into a kernel's source" tools/setup.sh --intree
	# the VM has them, too
	[ ! -e selftests/wire/Makefile ] ||
		step "programs on packet sockets" make -s -C selftests/wire all
}

tests_here()
{
	local t
	[ ! -e selftests/wire/Makefile ] ||
		tap "wire tests" make -s -C selftests/wire check
	[ ! -e selftests/unit/Makefile ] ||
		tap "unit tests" make -s -C selftests/unit check
	# those of formats; an emulated CPU takes minutes for all (make check-be)
	[ -z "$BIG_ENDIAN" ] ||
		tap "unit tests, big-endian" make -s -C selftests/unit check-be \
			UNITS="icrc train_icrc opcode pkt psn ring flush"
	[ ! -e selftests/fuzz/Makefile ] ||
		tap "fuzzing" make -s -C selftests/fuzz check
	[ ! -e selftests/sim/Makefile ] || {
		tap "simulation" make -s -C selftests/sim check
		tap "goodput" make -s -C selftests/sim goodput-check
		tap "shared links" make -s -C selftests/sim links-check
		tap "planted bugs" make -s -C selftests/sim planted
	}
	for t in selftests/*/test/*_test.*; do
		tap "${t%_test.*}" "$t"
	done
}

# aside NAME COMMAND...: begin what end_aside waits for and shows
aside()
{
	local name=$1
	shift
	: >"$CASES.$name"
	# a process group of its own, which can be ended
	set -m
	{
		# not for programs, whose Makefiles have variables, too
		CASES=$CASES.$name
		"$@"
	} </dev/null >"$CASES.$name.shown" 2>&1 &
	ASIDE[$name]=$!
	set +m
}

stop_aside()
{
	local group
	for group in "${ASIDE[@]}"; do kill -- "-$group"; done
}

end_aside()	# name
{
	local rc=0 start=$SECONDS
	[ -n "${ASIDE[$1]:-}" ] || return 0
	echo "# $1"
	wait "${ASIDE[$1]}" || rc=$?
	unset "ASIDE[$1]"
	took $start "waiting for $1"
	cat "$CASES.$1.shown"
	cat "$CASES.$1" >>"$CASES"
	# of itself it always succeeds: it was ended
	[ $rc -eq 0 ] || case_failed "$1 (exit status $rc)"
}

# The VM waits for a good part of its time. What runs beside takes the CPU time that is
# left, and no more: tests in the VM measure time.
here_at_leisure()
{
	chrt --idle -p 0 $BASHPID || renice -n 19 -p $BASHPID
	tests_here
}

untimed_at_leisure()
{
	# a fourth of the CPU time where both VMs want all of it
	renice -n 5 -p $BASHPID >/dev/null
	VMFLAGS+=" --env PAIR_TIMEOUT=400 --env TEST_TIMEOUT=4000"
	in_vm "untimed selftests" "${UNTIMED[@]}"
}

# The tests in the VM that are not in UNTIMED
timed()
{
	local t
	for t in selftests/vm/*.test.sh; do
		t=$(basename "$t" .test.sh)
		[[ " ${UNTIMED[*]} " == *" $t "* ]] || echo "$t"
	done
}

room_for_two()
{
	# what is said about the machine is said of one
	[[ " ${VMFLAGS:-} " != *" --mem "* && " ${VMFLAGS:-} " != *" --gdb "* ]] &&
		[ "$(nproc)" -ge 2 ] && awk -v gb=$MEM_FOR_TWO \
		'/^MemAvailable/ { room = $2 >= gb * 1024 * 1024 } END { exit !room }' \
		/proc/meminfo
}

# all, in one VM or in two side by side
selftests_in_vms()
{
	rm -rf "$KEEP" "$KEEP"-*
	if room_for_two; then
		aside untimed untimed_at_leisure
		# shellcheck disable=SC2046 # a list of words
		in_vm "timed selftests" $(timed)
		end_aside untimed
	else
		in_vm selftests
	fi
}

# Whoever sees only the end of the output has to know what failed.
totals()
{
	local all failed skipped
	all=$(grep -cE '^(not )?ok\b' "$CASES")
	failed=$(grep -cE '^not ok\b' "$CASES")
	skipped=$(grep -ciE '^ok\b.*# *skip' "$CASES")
	echo "# seconds, of steps that run side by side, too:"
	sort -rn "$TOOK" | awk '$1 > 0 { print "#  ", $0 }'
	[ "$failed" -eq 0 ] || {
		echo "# failed:"
		grep -A 3 -E '^not ok\b' "$CASES" | grep -E '^(not ok\b|#)' |
			sed 's/^/# /' | tail -n 60
	}
	echo "$((all - failed - skipped)) passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] && [ "$all" -gt 0 ]
}

main()
{
	local tests=() t thorough='' vm=''
	for t in "$@"; do
		if [ "$t" = harness ]; then thorough=--all; else tests+=("$t"); fi
	done
	if step "what is needed" tools/setup.sh --kernel "$KERNEL" &&
	   step "sroce.ko for $KERNEL" \
		make --no-print-directory KERNEL="$KERNEL" module; then
		[ ! -e selftests/oddbuf/Kbuild ] || step "odd dma-bufs" \
			make --no-print-directory -s KERNEL="$KERNEL" oddbuf
		step "kernel verbs tests for $KERNEL" \
			make --no-print-directory -s KERNEL="$KERNEL" kverbs
		step "programs for the VM" \
			make --no-print-directory -s KERNEL="$KERNEL" programs
		[ $# -gt 0 ] && [ ${#tests[@]} -eq 0 ] || vm=yes
		# those of another architecture's kernel run where that is
		if arch_is_host "$ARCH" && [ "${CHECK_HERE:-yes}" = yes ]; then
			setup_here
			# with machines that have to fail, if asked for by name
			tap "the harness" selftests/harness/run.sh $thorough
			if [ -n "$vm" ]; then aside here here_at_leisure; else tests_here; fi
		fi
		if [ ${#tests[@]} -gt 0 ]; then
			in_vm selftests "${tests[@]}"
		elif [ -n "$vm" ]; then
			selftests_in_vms
		fi
		end_aside here
	fi
	totals
}

main "$@"
