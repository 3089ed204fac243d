#!/bin/bash
# Everything that reads the sources and complains: gcc and clang with W=1,
# sparse, checkpatch where the headers have it, shellcheck where installed.
#
# usage: KERNEL=6.1 tools/lint.sh 'make variables that select clang'
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
# shellcheck source=tools/kernel.sh
. tools/kernel.sh

KERNEL=${KERNEL:-6.1}
CLANG=${1:-CC=clang}
BAD=0
LOG=$(mktemp)
trap 'rm -f "$LOG" .checkpatch-camelcase.*' EXIT

# Build in a directory of its own, and let any warning fail it.
build()	# name make-arguments...
{
	local name=$1
	shift
	echo "== $name"
	if ! make --no-print-directory KERNEL="$KERNEL" \
	    BUILD="$PWD/.build/lint-$KERNEL-$name" "$@" module >"$LOG" 2>&1 ||
	    grep -qE 'warning:|error:|WARNING:' "$LOG"; then
		grep -vE '^ *(CC|LD|CHECK|MODPOST|BTF) ' "$LOG" | head -n 100
		BAD=1
	fi
}

headers=$(kernel_headers "$KERNEL") || exit
rm -rf .build/lint-"$KERNEL"-*
build gcc W=1
read -ra clang <<<"$CLANG"
build clang W=1 "${clang[@]}"
build sparse C=2 CF=-D__CHECK_ENDIAN__
build kverbs W=1 kverbs

# Debian's headers have none; the source that the debug kernel is made of does.
# Fields are explained in kernel-doc; uapi has no BIT(); TRACE_EVENT() has a
# style of its own, and tables of macros can't have parentheses.
checkpatch()	# script
{
	local run=(perl "$1" --no-tree --terse --strict --show-types
		--ignore "UNCOMMENTED_DEFINITION,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE")
	find drv -name '*.[ch]' ! -name trace.h ! -name opcode.c ! -name counter.h ! -path "*/probes/*" \
		-exec "${run[@]}" -f {} +
	"${run[@]}" --ignore COMPLEX_MACRO \
		-f drv/core/wire/opcode.c drv/core/counter.h
	"${run[@]}" --ignore MACRO_WITH_FLOW_CONTROL,USLEEP_RANGE -f selftests/kverbs/*.[ch]
	"${run[@]}" --ignore PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE -f drv/trace.h
	find uapi -name '*.h' -exec "${run[@]}" --ignore BIT_MACRO -f {} +
}

echo "== checkpatch"
for script in "$headers" "$SROCE_CACHE/debug-kernel/src" none; do
	script+=/scripts/checkpatch.pl
	[ ! -e "$script" ] || break
done
if [ -e "$script" ]; then
	checkpatch "$script" >"$LOG" 2>&1
	! grep -E '(WARNING|ERROR|CHECK):' "$LOG" || BAD=1
else
	echo "skipped: no checkpatch.pl; tools/debug-kernel.sh brings one"
fi

echo "== shellcheck"
if command -v shellcheck >/dev/null; then
	shellcheck -x -S warning .ci/run tools/*.sh tools/vm-init \
		selftests/*/*.sh selftests/*/*/*.sh || BAD=1
else
	echo "skipped: not installed"
fi
exit $BAD
