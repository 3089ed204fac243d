#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make bench-core: the core that it measures transfers what it should, and its table has a
# row of figures for each case; on the host.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

CORE=selftests/bench/core
TABLE=$(mktemp)
trap 'rm -f "$TABLE"' EXIT

# Of each case: packets, four times more than 0, CRC and copies, and a rate or none
rows_are_whole()
{
	BENCH_CORE_BATCHES=1 $CORE/.out/core >"$TABLE" || return
	awk -F' *[|] *' 'NF != 11 || $2 !~ / of / { next }
		{ n++; for (i = 3; i <= 7; i++) if ($i <= 0) { print; bad = 1 } }
		$8 !~ /^[0-9]+$/ || $9 !~ /^[0-9]+$/ || $10 !~ /^([0-9.]+|-)$/ { print; bad = 1 }
		END { exit bad || n != 10 }' "$TABLE"
}

check "it is built" make -s -C $CORE all
$CORE/.out/core -T >"$TABLE"
# shellcheck disable=SC2119 # that of this function
tap_relay <"$TABLE"
check "all its cases were run" grep -q '^1\.\.22$' "$TABLE"
check "a row of figures for each case" rows_are_whole
done_testing
