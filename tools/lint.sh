#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Everything that reads the sources and complains: gcc and clang with W=1,
# sparse, the kernel's checkpatch and kernel-doc, shellcheck where installed, mandoc;
# SPDX lines, sizes, floors and names.
#
# usage: KERNEL=6.1 tools/lint.sh 'make variables that select clang'
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
# shellcheck source=tools/kernel.sh
. tools/kernel.sh
# shellcheck source=tools/checkpatch.sh
. tools/checkpatch.sh

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

rm -rf .build/lint-"$KERNEL"-*
build gcc W=1
read -ra clang <<<"$CLANG"
build clang W=1 "${clang[@]}"
build sparse C=2 CF=-D__CHECK_ENDIAN__
build kverbs W=1 kverbs

# Run a check that prints its complaints; what it prints on success is a summary.
check()	# name command...
{
	local name=$1
	shift
	echo "== $name"
	"$@" || BAD=1
}

# Sources of the module, wherever they are
in_drv() { find drv -name '*.[ch]' ! -path '*/probes/*' "$@"; }

checkpatch()
{
	local run=(perl "$(kernel_scripts)/checkpatch.pl" --no-tree "${CHECKPATCH_STYLE[@]}")
	{
		checkpatch_module drv "${run[@]}"
		"${run[@]}" --ignore MACRO_WITH_FLOW_CONTROL,USLEEP_RANGE,TRAILING_SEMICOLON \
			-f selftests/kverbs/*.[ch]
		checkpatch_abi uapi "${run[@]}"
	} >"$LOG" 2>&1
	! grep -E '(WARNING|ERROR|CHECK):' "$LOG"
}

# Without -Werror its status is 0 whatever it says.
kernel_doc()
{
	in_drv -exec "$(kernel_scripts)/kernel-doc" -none -Werror {} +
}

# All that is tracked and can hold a comment: not documents, licences, data, what
# runs in CI only, and two files of Debian's.
spdx()
{
	git rev-parse --git-dir >/dev/null 2>&1 ||
		{ echo "skipped: not a git tree"; return; }
	local file bad=0
	while IFS= read -r file; do
		head -n 4 "$file" | grep -q 'SPDX-License-Identifier: ' ||
			{ echo "$file: no SPDX line"; bad=1; }
	done < <(git ls-files -- . ':!*.md' ':!*.csv' ':!*.hex' ':!LICENSES' ':!.ci' \
		':!debian/copyright' ':!debian/source/format' ':!tools/intree/MAINTAINERS')
	return $bad
}

shell()
{
	command -v shellcheck >/dev/null ||
		{ echo "skipped: not installed"; return; }
	shellcheck -x -S warning .ci/run tools/*.sh tools/vm-init tools/sroce-doctor \
		drv/compat/*.sh packaging/*.sh debian/*.p* debian/*.in \
		selftests/*/*.sh selftests/*/*/*.sh
}

# What GitHub reads, where Python can read it, too
yaml()
{
	python3 -c 'import yaml' 2>/dev/null ||
		{ echo "skipped: python3-yaml is not installed"; return; }
	python3 -c 'import sys, yaml
for name in sys.argv[1:]:
    yaml.safe_load(open(name))' action.yml .github/workflows/*.yml
}

manual_pages() { mandoc -T lint -W warning man/*.[1-9]; }

check checkpatch checkpatch
check kernel-doc kernel_doc
check SPDX spdx
check sizes tools/sizes.py
check floors tools/floors.py --names
check shellcheck shell
check YAML yaml
check "manual pages" manual_pages
exit $BAD
