#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All of `make check`: build, unit tests here, selftests in the VM; the totals
# of both on the last line, and the exit status to match.
#
# usage: KERNEL=6.1 tools/check.sh [selftest...]    (harness: tools/vm.sh itself)
# CHECK_HERE=no leaves out what runs here and not in the VM. VMS: how many VMs share the
# selftests, side by side [1]; a test that measures time is better off in one.
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
OUT=$(mktemp)
TOOK=$OUT.took
# What runs in the background: its name, and its process group
NAMES=() PIDS=()
trap leave EXIT

leave()
{
	local pid
	rm -f "$OUT"*
	for pid in ${PIDS[@]+"${PIDS[@]}"}; do kill -- "-$pid"; done
}

case_failed() { echo "not ok - $*" | tee -a "$OUT"; }

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
	local name=$1 before cases rc start=$SECONDS
	shift
	echo "# $name"
	before=$(grep -c '^not ok' "$OUT")
	cases=$(grep -cE '^(not )?ok\b' "$OUT")
	"$@" 2>&1 | without_totals | tee -a "$OUT"
	rc=${PIPESTATUS[0]}
	took $start "$name"
	if [ "$rc" -eq 0 ] && [ "$(grep -cE '^(not )?ok\b' "$OUT")" -eq "$cases" ]; then
		case_failed "$name has no case"
		return
	fi
	if [ "$rc" -ne 0 ] && [ "$(grep -c '^not ok' "$OUT")" -eq "$before" ]; then
		case_failed "$name (exit status $rc)"
	elif [ "$rc" -eq 125 ]; then
		# the kernel's own verdict counts beside that of the cases
		case_failed "$name: kernel log, unload or time limit"
	fi
}

# in_vm DIRECTORY selftest...: the console and the log of the VM are left there
in_vm()
{
	local keep=$1
	shift
	# shellcheck disable=SC2086 # VMFLAGS is a list
	tools/vm.sh --kernel "$KERNEL" --timeout "${CHECK_TIMEOUT:-4200}" \
		--keep "$keep" --env "SROCE_KO=$PWD/.build/$KERNEL/sroce.ko" \
		${VMFLAGS:-} -- selftests/vm/run.sh "$@"
}

# shares selftest...: a line for each VM, the longest tests first, each to the VM that has
# least to do. How long they take is in selftests/vm/seconds.
shares()
{
	local column=2
	case $KERNEL in *-debug|*-kcsan) column=3 ;; esac
	awk -v column=$column '
	NR == FNR { took[$1] = $column; next }
	{ print ($1 in took ? took[$1] : 60), $1 }
	' selftests/vm/seconds <(printf '%s\n' "$@") | sort -k1,1nr -k2 |
	awk -v vms="${VMS:-1}" '
	{
		least = 1
		for (i = 2; i <= vms; i++)
			if (sum[i] + 0 < sum[least] + 0)
				least = i
		sum[least] += $1
		list[least] = list[least] " " $2
	}
	END { for (i = 1; i <= vms; i++) if (list[i]) print list[i] }'
}

selftests_in_vms()	# selftest...
{
	local title="selftests in a VM with Linux $KERNEL" lines=() list name i
	[ "${VMS:-1}" -gt 1 ] || {
		tap "$title" in_vm "$KEEP" "$@"
		return
	}
	# shellcheck disable=SC2046 # names of tests have no blanks
	[ $# -gt 0 ] || set -- $(basename -as .test.sh selftests/vm/*.test.sh)
	mapfile -t lines < <(shares "$@")
	for ((i = 1; i < ${#lines[@]}; i++)); do
		read -ra list <<<"${lines[i]}"
		name="$title, VM $((i + 1))"
		begin "$name" tap "$name" in_vm "$KEEP/$((i + 1))" "${list[@]}"
	done
	read -ra list <<<"${lines[0]}"
	tap "$title" in_vm "$KEEP" "${list[@]}"
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

# begin NAME command...: in the background; end_all() shows what it has said.
begin()
{
	local nr=${#NAMES[@]}
	NAMES+=("$1")
	shift
	# a process group of its own, which can be ended
	set -m
	{
		OUT=$OUT.$nr
		: >"$OUT"
		"$@"
	} </dev/null >"$OUT.$nr.shown" 2>&1 &
	PIDS+=($!)
	set +m
}

# The VM waits for a good part of its time. What is tested here takes the CPU time that is
# left, and no more: tests in the VM measure time.
idle()
{
	chrt --idle -p 0 $BASHPID || renice -n 19 -p $BASHPID
	"$@"
}

end_all()
{
	local nr rc start
	for nr in ${NAMES[@]+"${!NAMES[@]}"}; do
		rc=0 start=$SECONDS
		echo "# ${NAMES[nr]}"
		wait "${PIDS[nr]}" || rc=$?
		took $start "waiting for ${NAMES[nr]}"
		cat "$OUT.$nr.shown"
		cat "$OUT.$nr" >>"$OUT"
		# of themselves they always succeed: they were ended
		[ $rc -eq 0 ] || case_failed "${NAMES[nr]} (exit status $rc)"
	done
	PIDS=()
}

# Whoever sees only the end of the output has to know what failed.
totals()
{
	local all failed skipped
	all=$(grep -cE '^(not )?ok\b' "$OUT")
	failed=$(grep -cE '^not ok\b' "$OUT")
	skipped=$(grep -ciE '^ok\b.*# *skip' "$OUT")
	echo "# seconds, of steps that run side by side, too:"
	sort -rn "$TOOK" | awk '$1 > 0 { print "#  ", $0 }'
	[ "$failed" -eq 0 ] || {
		echo "# failed:"
		grep -A 3 -E '^not ok\b' "$OUT" | grep -E '^(not ok\b|#)' |
			sed 's/^/# /' | tail -n 60
	}
	echo "$((all - failed - skipped)) passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] && [ "$all" -gt 0 ]
}

main()
{
	local tests=() t thorough='' vm='' here=''
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
		! arch_is_host "$ARCH" || [ "${CHECK_HERE:-yes}" != yes ] || here=yes
		if [ -n "$here" ]; then
			setup_here
			# with machines that have to fail, if asked for by name
			tap "the harness" selftests/harness/run.sh $thorough
			if [ -n "$vm" ]; then begin "the tests outside the VM" idle tests_here
			else tests_here; fi
		fi
		[ -z "$vm" ] || selftests_in_vms ${tests[@]+"${tests[@]}"}
		end_all
		[ $# -gt 0 ] || [ -z "$here" ] ||
			tap "the GitHub action" selftests/packages/run.sh action
	fi
	totals
}

# a test sources this
[ "${BASH_SOURCE[0]}" != "$0" ] || main "$@"
