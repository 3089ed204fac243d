#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Run the fuzzers on the corpora of this directory.
#
# usage: fuzz.sh replay OUT TARGETS	replay all inputs, as TAP
#	 fuzz.sh check OUT TARGETS	and fuzz a little, or for TIME
#	 fuzz.sh run OUT TARGETS	fuzz; what is found stays in OUT/found
#	 fuzz.sh merge OUT TARGETS	take what was found into the corpora
#
# TIME= is for all targets together, in seconds. corpus/T.hex is what reaches
# all that target T has reached, corpus/T-bugs.hex what has found a bug.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit

WHAT=$1 OUT=$2
shift 2
TARGETS=("$@")
# New ones of a check, per target: some seconds of a CPU, however busy the machine is
INPUTS=12000
# Longer inputs reach nothing more, and are harder to understand.
MAX_LEN=1552

bad=0

share()	# default seconds
{
	echo $((${TIME:-$1} / ${#TARGETS[@]}))
}

# All inputs that the repo has for a target, one file each
unpack()	# target
{
	local dir=$OUT/corpus-$1 f

	rm -rf "$dir"
	mkdir -p "$dir"
	for f in corpus/"$1".hex corpus/"$1"-bugs.hex; do
		[ ! -e "$f" ] || "$OUT/corpus" unpack "$f" "$dir" || exit
	done
	echo "$dir"
}

fuzz()	# target options... directories...
{
	local target=$1
	shift
	rm -f "$OUT/bad-$target"-*
	"$OUT/fuzz-$target" -max_len=$MAX_LEN -timeout=60 \
		-artifact_prefix="$OUT/bad-$target-" -print_final_stats=1 \
		"$@" >"$OUT/log-$target" 2>&1
}

# What happened, and the input as a line for corpus/
explain()	# target
{
	local crash
	sed -e '/^INFO/d; /^#[0-9]/d; /^stat::/d; /NEW_FUNC/d' \
		-e '/^Shadow bytes/,/ABORTING/d' "$OUT/log-$1" | head -n 50
	for crash in "$OUT/bad-$1"-*; do
		[ -e "$crash" ] || continue
		echo "a line for corpus/$1-bugs.hex:"
		"$OUT/corpus" pack "$crash"
	done
}

runs()	# target
{
	sed -n 's/^stat::number_of_executed_units: *//p' "$OUT/log-$1"
}

# As TAP: one case for the corpus, one for what is new
case_of()	# name target options...
{
	local name=$1 target=$2
	shift 2
	if fuzz "$target" "$@"; then
		echo "ok - fuzz-$target: $name: $(runs "$target") inputs"
		return
	fi
	echo "not ok - fuzz-$target: $name"
	explain "$target" | sed 's/^/# /'
	bad=1
	return 1
}

replay()	# target
{
	case_of corpus "$1" -runs=0 "$(unpack "$1")"
}

check()	# target
{
	local dir=$OUT/corpus-$1 limit
	replay "$1" || return
	mkdir -p "$OUT/new"
	if [ -n "${TIME:-}" ]; then
		limit=(-max_total_time="$(share 45)")
	else
		limit=(-runs="$INPUTS")
	fi
	case_of "new ones" "$1" "${limit[@]}" "$(mktemp -d "$OUT/new/XXXXXX")" "$dir"
	rm -rf "$OUT/new"
}

run()	# target
{
	mkdir -p "$OUT/found/$1"
	fuzz "$1" -max_total_time="$(share 60)" "$OUT/found/$1" "$(unpack "$1")" ||
		bad=1
	[ $bad -eq 0 ] || explain "$1"
	echo "fuzz-$1: $(runs "$1") inputs in $(share 60) s"
}

# By edges, not by how often each was passed: that keeps the repo small.
merge()	# target
{
	local dir=$OUT/merged-$1

	rm -rf "$dir"
	mkdir -p "$dir" "$OUT/found/$1"
	if ! fuzz "$1" -merge=1 -use_counters=0 "$dir" "$(unpack "$1")" \
		"$OUT/found/$1"; then
		explain "$1"
		bad=1
		return
	fi
	"$OUT/corpus" pack "$dir"/* >corpus/"$1".hex
	wc -lc corpus/"$1".hex
}

for t in "${TARGETS[@]}"; do
	case $WHAT in
	replay|check|run|merge) "$WHAT" "$t" ;;
	*) echo "fuzz.sh: no '$WHAT'" >&2; exit 2 ;;
	esac
done
exit $bad
