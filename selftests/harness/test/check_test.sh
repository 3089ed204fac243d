#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tools/check.sh: what runs beside counts, whether it ends or is ended.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

FUNCTIONS=$(sed -n '/^[a-z_]*()/,/^}/p' tools/check.sh | sed '/^main()/,$d')

# run COMMANDS: those in a check.sh without tests of its own; what it prints at the end
run()
{
	bash -c 'set -uo pipefail
		CASES=$(mktemp) TOOK=$CASES.took
		declare -A ASIDE=()
		trap "rm -f \"$CASES\"*; stop_aside" EXIT
		eval "$1"
		case_failed() { echo "not ok - $*" | tee -a "$CASES"; }
		eval "$2"
		totals' run "$FUNCTIONS" "$1" 2>&1
}

# says COMMANDS TOTALS: its last line
says()
{
	local out
	out=$(run "$1")
	[ "$(tail -n 1 <<<"$out")" = "$2" ] || { echo "$out"; return 1; }
}

good='good() { tap good printf "ok 1 - a\nok 2 - b\n"; }; aside x good;'
bad='bad() { tap bad sh -c "echo ok 1 - a; echo not ok 2 - b; exit 1"; }; aside x bad;'
cut='cut() { tap cut sh -c "echo ok 1 - a; sleep 90; echo not ok 2 - b"; }; aside x cut
	for i in {1..600}; do ! grep -q "^ok 1" "$CASES.x" || break; sleep 0.1; done;'
end=' end_aside x'

check "what succeeds beside" says "$good$end" "2 passed, 0 failed, 0 skipped"
check "what fails beside" says "$bad$end" "1 passed, 1 failed, 0 skipped"
# shellcheck disable=SC2016 # of the other shell
check "what is ended beside has failed" says "$cut"' kill -KILL -- -${ASIDE[x]};'"$end" \
	"1 passed, 1 failed, 0 skipped"
check "an exit status without a case is one" \
	says 'odd() { tap odd false; }; aside x odd;'"$end" "0 passed, 1 failed, 0 skipped"
check "what runs beside sees no variable that Makefiles have" \
	says 'vars() { tap vars sh -c "env | grep -qE \"^(OUT|CASES)=\" && exit 1; echo ok 1 - a"; }; aside x vars;'"$end" \
	"1 passed, 0 failed, 0 skipped"
done_testing
