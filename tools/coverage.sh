#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Lines and branches of the protocol core that unit tests, fuzzing corpora and
# simulation reach together. Fails below the bars.
#
# usage: tools/coverage.sh
#
# .build/coverage/missing.txt says which they don't: lines with a count of 0,
# and branches that always, or never, are taken.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

LINES_MIN=95
BRANCHES_MIN=90
OUT=$PWD/.build/coverage
FLAGS='-fprofile-instr-generate -fcoverage-mapping -Wno-error'
# one name for each file of the core, whoever compiles it
FLAGS+=" -fcoverage-compilation-dir=$PWD/selftests/unit"

die() { echo "coverage.sh: $*" >&2; exit 1; }

build()	# directory target...
{
	local dir=$1
	shift
	nice -n 10 make -s -C "selftests/$dir" CC=clang SAN="$FLAGS" COV= \
		CFLAGS='-O1 -g' OUT="$OUT/$dir" "$@" >"$OUT/log" 2>&1 ||
		{ tail -n 20 "$OUT/log" >&2; die "$dir does not build"; }
}

# A test that fails here fails in its own check as well.
run()	# name command...
{
	local name=$1
	shift
	echo "# $name"
	LLVM_PROFILE_FILE=$OUT/$name.profraw nice -n 10 "$@" >"$OUT/log" 2>&1 ||
		{ tail -n 20 "$OUT/log" >&2; die "$name failed"; }
}

collect()
{
	local t

	build unit all
	run unit "$OUT/unit/unit"
	PROGRAMS=("$OUT/unit/unit")
	build fuzz replay
	for t in packet ring api; do
		run "fuzz-$t" "$OUT/fuzz/replay-$t" selftests/fuzz/corpus/"$t"*.hex
		PROGRAMS+=(-object "$OUT/fuzz/replay-$t")
	done
	[ -e selftests/sim/Makefile ] || return 0
	build sim "$OUT/sim/san/sim"
	# in one process: the others leave no profile
	run sim "$OUT/sim/san/sim" -n 2000 -j 1
	PROGRAMS+=(-object "$OUT/sim/san/sim")
}

# Without what tests are made of; the core is selftests/unit/../../drv/core.
cov()	# command options...
{
	local command=$1
	shift
	llvm-cov "$command" -instr-profile="$OUT/profile" "$@" \
		-ignore-filename-regex='(unit|fuzz|sim|lib)/([^.]*/)?[^/.]*\.[ch]$' \
		"${PROGRAMS[@]}" 2>"$OUT/log"
}

# Columns of llvm-cov: a file's lines are in 8 to 10, its branches in 11 to 13.
report()
{
	awk -v lines=$LINES_MIN -v branches=$BRANCHES_MIN '
	function percent(all, missed) { return all ? 100 * (all - missed) / all : 100 }
	function row(name) {
		l = percent($8, $9); b = percent($11, $12)
		printf "%-14s %6d %6d %7.1f%% %8d %6d %7.1f%%\n", name, $8, $9, l, $11, $12, b
	}
	BEGIN {
		printf "%-14s %6s %6s %8s %8s %6s %8s\n", "file", "lines",
			"missed", "", "branches", "missed", ""
	}
	/\.[ch] / && $8 { sub(".*/", "", $1); row($1) }
	/^TOTAL/ { row("all"); done = $8 > 0 }
	END { exit !(done && l >= lines && b >= branches) }' "$OUT/report.txt"
}

rm -rf "$OUT"
mkdir -p "$OUT"
collect
llvm-profdata merge -o "$OUT/profile" "$OUT"/*.profraw || die "no profile"
cov report -show-branch-summary >"$OUT/report.txt" || die "no report"
cov show -show-branches=count >"$OUT/all.txt" || die "no listing"
grep -E '^[^ ]*\.[ch]:$|^ +[0-9]+\| +0\||Branch.*: 0[],]' "$OUT/all.txt" \
	>"$OUT/missing.txt"
report || die "below $LINES_MIN % of lines or $BRANCHES_MIN % of branches"
