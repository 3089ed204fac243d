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

# shellcheck source=tools/kernel.sh
. tools/kernel.sh

KERNEL=${KERNEL:-6.1}
ARCH=$(kernel_arch "$KERNEL")
KEEP=.build/last-run
OUT=$(mktemp)
trap 'rm -f "$OUT"' EXIT

case_failed() { echo "not ok - $*" | tee -a "$OUT"; }

# Only the very last line of a check looks like a total.
without_totals() { grep --line-buffered -vE '^[0-9]+ passed, [0-9]+ failed' || true; }

step()	# name command...
{
	local name=$1 rc=0
	shift
	echo "# $name"
	"$@" || rc=$?
	[ $rc -eq 0 ] || case_failed "$name (exit status $rc)"
	return $rc
}

# Run something that prints TAP; it must fail if and only if a case has.
tap()	# name command...
{
	local name=$1 before rc
	shift
	echo "# $name"
	before=$(grep -c '^not ok' "$OUT")
	"$@" 2>&1 | without_totals | tee -a "$OUT"
	rc=${PIPESTATUS[0]}
	if [ "$rc" -ne 0 ] && [ "$(grep -c '^not ok' "$OUT")" -eq "$before" ]; then
		case_failed "$name (exit status $rc)"
	elif [ "$rc" -eq 125 ]; then
		# the kernel's own verdict counts beside that of the cases
		case_failed "$name: kernel log, unload or time limit"
	fi
}

selftests_in_vm()
{
	# shellcheck disable=SC2086 # VMFLAGS is a list
	tools/vm.sh --kernel "$KERNEL" --timeout "${CHECK_TIMEOUT:-2700}" \
		--keep "$KEEP" --env "SROCE_KO=$PWD/.build/$KERNEL/sroce.ko" \
		${VMFLAGS:-} -- selftests/vm/run.sh "$@"
}

tests_here()
{
	local t
	[ ! -e selftests/wire/Makefile ] ||
		tap "wire tests" make -s -C selftests/wire all check
	[ ! -e selftests/unit/Makefile ] ||
		tap "unit tests" make -s -C selftests/unit check
	# those of formats; an emulated CPU takes minutes for all (make check-be)
	! step "what emulates a big-endian CPU" tools/setup.sh --arch s390x ||
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
	step "what puts the module into a kernel's source" tools/setup.sh --intree
	for t in selftests/*/test/*_test.*; do
		tap "${t%_test.*}" "$t"
	done
}

# Whoever sees only the end of the output has to know what failed.
totals()
{
	local all failed skipped
	all=$(grep -cE '^(not )?ok\b' "$OUT")
	failed=$(grep -cE '^not ok\b' "$OUT")
	[ "$failed" -eq 0 ] || {
		echo "# failed:"
		grep -A 3 -E '^not ok\b' "$OUT" | grep -E '^(not ok\b|#)' |
			sed 's/^/# /' | tail -n 60
	}
	skipped=$(grep -ciE '^ok\b.*# *skip' "$OUT")
	echo "$((all - failed - skipped)) passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] && [ "$all" -gt 0 ]
}

main()
{
	local tests=() t thorough=''
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
		# those of another architecture's kernel run where that is
		if arch_is_host "$ARCH" && [ "${CHECK_HERE:-yes}" = yes ]; then
			tests_here
			# with machines that have to fail, if asked for by name
			tap "the harness" selftests/harness/run.sh $thorough
		fi
		[ $# -gt 0 ] && [ ${#tests[@]} -eq 0 ] ||
			tap "selftests in a VM with Linux $KERNEL" \
				selftests_in_vm ${tests[@]+"${tests[@]}"}
	fi
	totals
}

main "$@"
