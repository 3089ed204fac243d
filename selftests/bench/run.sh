#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make bench: all parts of selftests/bench/measure.sh, each in its VM, and their report in
# .build/bench/DATE-KERNEL/ (raw.csv, table.txt, table.csv, *.svg).
#
# usage: selftests/bench/run.sh [part...]	native wire full two icount nvme, all by
#					default (native of 6.1 and 6.12); quick leaves its
#					report there, too
#
#        selftests/bench/run.sh figures [DIR...]	figures.csv, the table in README.md and
#					bench.svg, all beside this file, from those
#					runs, or from the last
#
# KERNEL=6.1, BENCH_* (see selftests/bench/measure.sh) and VMFLAGS are passed on. The exit
# status is 0 if all that was asked for was measured, within its limits.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

KERNEL=${KERNEL:-6.1}
BENCH=selftests/bench

# The figures that the repository shows, of one run or several. Those of kernels and
# places that none of them has measured stay.
figures()	# directory...
{
	local dir add=()
	for dir; do
		$BENCH/report.py --title "$(cat "$dir/title")" \
			--figures "$dir/figures.csv" "$dir/raw.csv" >/dev/null ||
			return
		add+=(--add "$dir/figures.csv")
	done
	$BENCH/figures.py "${add[@]}"
}

if [ "${1:-}" = figures ]; then
	shift
	# shellcheck disable=SC2012 # names are dates
	[ $# -gt 0 ] || set -- "$(ls -d .build/bench/*/ | tail -n 1)"
	figures "$@"
	exit
fi

DIR=${BENCH_DIR:-.build/bench/$(date +%Y%m%d-%H%M)-$KERNEL}
PARTS=("$@")
[ $# -gt 0 ] || PARTS=(wire full two icount nvme)
# there is a configuration for these
case $#/$KERNEL in 0/6.1|0/6.12) PARTS=(native "${PARTS[@]}") ;; esac

# Seconds that a part may take; measure.sh begins nothing in the last third
limit_of()	# part
{
	case $1 in
	wire)	echo 900 ;;
	full)	echo 2300 ;;
	native)	echo 1500 ;;
	nvme)	echo 900 ;;
	two)	echo 700 ;;
	icount)	echo 1800 ;;
	quick)	echo 280 ;;
	esac
}

flags_of()	# part
{
	case $1 in
	two)	echo --two ;;
	icount)	echo --icount ;;
	esac
}

# That of the same series which is a process of the host
kernel_of()	# part
{
	if [ "$1" = native ]; then echo "${KERNEL%%-*}-uml"; else echo "$KERNEL"; fi
}

in_vm()	# part directory seconds
{
	local v env=() kernel
	kernel=$(kernel_of "$1")
	for v in "${!BENCH_@}"; do env+=(--env "$v=${!v}"); done
	# shellcheck disable=SC2046,SC2086 # lists of flags
	tools/vm.sh --kernel "$kernel" --timeout "$3" \
		--keep "$2" --env "SROCE_KO=$PWD/.build/$kernel/bench.ko" \
		--env "SIW_KO=$PWD/.build/$kernel/siw/siw.ko" \
		${env[@]+"${env[@]}"} $(flags_of "$1") ${VMFLAGS:-} -- \
		selftests/bench/measure.sh "$1"
}

takes_part() { [[ " ${BENCH_WITH:-$1} " == *" $1 "* ]]; }

# A machine that a case has killed (rdma_rxe can) has not measured the rest:
# another goes on without that case, while there is time.
part()	# part
{
	local try rc left end at
	# fio
	case $1 in nvme|native) tools/setup.sh --apps || return ;; esac
	[ "$1" != native ] || env -u ARCH -u CROSS_COMPILE \
		make -s vm-module KERNEL="$(kernel_of native)" || return
	# without it the others can be measured all the same
	[ "$1" = nvme ] || ! takes_part siw || $BENCH/siw.sh "$(kernel_of "$1")" ||
		LOST+=("$1: siw can't be built")
	# it is loaded again and again, whatever is built meanwhile
	at=.build/$(kernel_of "$1")
	cp "$at/sroce.ko" "$at/bench.ko" || return
	end=$((SECONDS + $(limit_of "$1")))
	for try in 1 2 3; do
		left=$((end - SECONDS))
		[ $try -eq 1 ] || [ $left -ge 100 ] || break
		rc=0
		in_vm "$1" "$DIR/$1.$try" $left || rc=$?
		[ $rc -ne 130 ] || exit 130
		at=$(cat "$DIR/$1.$try/shared/under-way" 2>/dev/null)
		[ -n "$at" ] || break
		echo "bench: the machine did not get over $at" >&2
		LOST+=("$1: the machine did not get over $at")
		export BENCH_SKIP="${BENCH_SKIP:-} $at"
	done
	return $rc
}

COMMIT=$(git describe --always --dirty 2>/dev/null)

title()
{
	local v with="KERNEL=$KERNEL BENCH_PARTS='${PARTS[*]}'"
	for v in "${!BENCH_@}"; do
		[[ $v =~ ^BENCH_(PARTS|DIR)$ ]] || with+=" $v='${!v}'"
	done
	echo "make bench $with: $(date -u +%F), $COMMIT, $(nproc) CPUs"
}

# What all parts have left, those that were cut short, too
report()
{
	local raw=("$DIR"/*/shared/bench-*.csv) limits=()
	[ -e "${raw[0]}" ] || { echo "no results" >&2; return 1; }
	cat "${raw[@]}" >"$DIR/raw.csv"
	! grep -q ',counted,' "$DIR/raw.csv" || [ -n "${BENCH_ONLY:-}" ] ||
		limits=(--limits selftests/bench/limits)
	title >"$DIR/title"
	selftests/bench/report.py --title "$(cat "$DIR/title")" --out "$DIR" \
		--bars selftests/bench/bars ${limits[@]+"${limits[@]}"} \
		"$DIR/raw.csv" >"$DIR/report.txt"
	local rc=$?
	# quick has printed it
	[ "${PARTS[*]}" = quick ] || cat "$DIR/report.txt"
	return $rc
}

# What is missing from the report, of all machines
all_measured()
{
	local f failed=(${LOST[@]+"${LOST[@]}"}) what
	for f in "$DIR"/*/shared/failed-*; do
		[ -e "$f" ] || continue
		while read -r what; do failed+=("${f##*/failed-}: $what"); done <"$f"
	done
	[ ${#failed[@]} -gt 0 ] || return 0
	echo "bench: ${#failed[@]} runs failed, and are missing:"
	printf 'bench:   %s\n' "${failed[@]}"
	return 1
} >&2

RC=0 LOST=()
mkdir -p "$DIR"
for p in "${PARTS[@]}"; do
	part "$p" || { RC=$?; echo "bench: $p ended with status $RC" >&2; }
done
report || RC=1
all_measured || RC=1
echo "bench: raw.csv, tables and plots are in $DIR"
exit $RC
