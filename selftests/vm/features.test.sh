#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Is all that the manual names in the conformance table, and is what FEATURES.md
# shows that table? (verbs.test.sh runs the table.)

DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

make -s -C "$DIR/verbs" conform || exit 1
OUT=$(mktemp)
trap 'rm -f "$OUT"' EXIT

# One case per page; what it doesn't find it names.
"$DIR/verbs/.out/conform" --names | sort -u | "$DIR/lib/manual.py" >"$OUT"
tap_relay <"$OUT"
check "FEATURES.md shows today's rows" \
	"$DIR/../tools/features.sh" --check
done_testing
