#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# FEATURES.md, from the conformance test: a summary, each row, and what came of it
# on each kernel.
#
# usage: tools/features.sh [FILE6.1 FILE6.12]	write them; without the outputs of
#						selftests/vm/feature-matrix.sh, run it in VMs
#        tools/features.sh --check		are they about today's rows?
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

KERNELS=(6.1 6.12)
CONFORM=selftests/verbs/.out/conform

# What comes before the first heading of a subject
head_of_file()
{
	cat <<EOF
# Every verb, case by case

Each line is a row of the conformance test (\`selftests/verbs/conform/*.c\`): what
is done, what the page or the specification says of it, what has to come of it,
and whether it does, on Linux ${KERNELS[0]} and ${KERNELS[1]}. \`make check\` runs it,
and fails if a row isn't here or a name of the manual isn't in a row. Written by
\`make features\`; don't edit.

"Not in the stock provider": rdma-core's \`librxe\` (44) has no such call, so
libibverbs answers by itself and the device is never asked.

EOF
	"$CONFORM" --summary
}

# Today's rows ($1), each with its result of the runs $2 and $3
merge()
{
	awk -v k1="${KERNELS[0]}" -v k2="${KERNELS[1]}" '
		FNR == 1 { nr++ }
		nr < 3 {
			if (match($0, / [^|]* \|$/))
				result[nr, substr($0, 1, RSTART - 1)] = \
					substr($0, RSTART)
			next
		}
		function of(run) {
			return (run, $0) in result ? result[run, $0] : \
						     " not run |"
		}
		!/^\|/ { print; next }
		/^\| page / { print $0 " " k1 " | " k2 " |"; next }
		/^\| --- / { print $0 " --- | --- |"; next }
		{ print $0 of(1) of(2) }' "$2" "$3" "$1"
}

run_vms()
{
	local k
	for k in "${KERNELS[@]}"; do
		tools/setup.sh --kernel "$k" >&2
		make -s KERNEL="$k" module >&2
		tools/vm.sh --kernel "$k" --timeout 900 \
			--env SROCE_KO="$PWD/.build/$k/sroce.ko" \
			-- bash selftests/vm/feature-matrix.sh >"$1/$k" || BAD=1
	done
}

same()	# NAME FILE FILE
{
	diff -u "$2" "$3" >&2 && return
	echo "$1 is not of today's rows: run make features" >&2
	return 1
}

make -s -C selftests/verbs conform
BAD=0
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
"$CONFORM" --list >"$DIR/rows"

if [ "${1:-}" = --check ]; then
	sed '/^## /,$d' FEATURES.md >"$DIR/listed"
	sed -n '/^## /,$p' FEATURES.md |
		sed -E '/^\|/s/( [^|]* \|){2}$//' >>"$DIR/listed"
	{ head_of_file; cat "$DIR/rows"; } >"$DIR/wanted"
	same FEATURES.md "$DIR/listed" "$DIR/wanted"
	exit
fi
if [ $# -eq 2 ]; then
	cp "$1" "$DIR/${KERNELS[0]}"
	cp "$2" "$DIR/${KERNELS[1]}"
else
	run_vms "$DIR"
fi
{
	head_of_file
	merge "$DIR/rows" "$DIR/${KERNELS[0]}" "$DIR/${KERNELS[1]}"
} >"$DIR/FEATURES.md"
cp "$DIR/FEATURES.md" FEATURES.md
exit $BAD
