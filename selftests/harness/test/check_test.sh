#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tools/check.sh: the tests outside the VM count, whether they end or are ended.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

FUNCTIONS=$(sed -n '/^[a-z_]*()/,/^}/p' tools/check.sh | sed '/^main()/,$d')

# run TESTS COMMANDS: TESTS outside the VM, and COMMANDS meanwhile
run()
{
	bash -c 'set -uo pipefail
		OUT=$(mktemp) TOOK=$OUT.took HERE=
		trap "rm -f \"$OUT\"*" EXIT
		eval "$1"
		case_failed() { echo "not ok - $*" | tee -a "$OUT"; }
		eval "tests_here() { $2; }"
		begin_here
		eval "$3"
		end_here
		totals' run "$FUNCTIONS" "$1" "$2" 2>&1
}

# says TESTS COMMANDS TOTALS: the last line
says()
{
	local out
	out=$(run "$1" "$2")
	[ "$(tail -n 1 <<<"$out")" = "$3" ] || { echo "$out"; return 1; }
}

begun='ok_is_there() { grep -q "^ok 1" "$OUT.here"; }
	for i in {1..600}; do ! ok_is_there 2>/dev/null || break; sleep 0.1; done'

check "those that succeed" says 'tap good printf "ok 1 - a\nok 2 - b\n"' : \
	"2 passed, 0 failed, 0 skipped"
check "one that fails" says 'tap bad sh -c "echo ok 1 - a; echo not ok 2 - b; exit 1"' : \
	"1 passed, 1 failed, 0 skipped"
# shellcheck disable=SC2016 # of the other shell
check "those that are ended have failed" \
	says 'tap cut sh -c "echo ok 1 - a; sleep 90; echo not ok 2 - b"' \
	"$begun"'; kill -KILL -- "-$HERE"' "1 passed, 1 failed, 0 skipped"
check "an exit status without a case is one" says "tap odd false" : \
	"0 passed, 1 failed, 0 skipped"
check "programs see no variable that Makefiles have" \
	says 'tap vars sh -c "env | grep -q ^OUT= && exit 1; echo ok 1 - a"' : \
	"1 passed, 0 failed, 0 skipped"
done_testing
