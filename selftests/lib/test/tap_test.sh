#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# selftests/lib/tap.sh and tap.py: what they write, and what is relayed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# relay TEXT: TEXT as cases of another script, with its plan and exit status
relay()
{
	bash -c '. selftests/lib/tap.sh
		tap_relay "x: "
		done_testing; echo "$? $RELAYED $RELAYED_FAILED" \
			"${RELAYED_PLAN:-none} $TAP_SKIPPED"' <<<"$1" 2>&1
}

# relays TEXT WANTED...: lines of the result
relays()
{
	local text=$1
	shift
	diff <(printf '%s\n' "$@") <(relay "$text")
}

numbers()
{
	relays $'ok 7 - a\nok 9 - b\n1..2' "ok 1 - x: a" "ok 2 - x: b" \
		"1..2" "0 2 0 2 0"
}

failures()
{
	relays $'not ok 1 - a # late\nok 2 - b' "not ok 1 - x: a" "#   late" \
		"ok 2 - x: b" "1..2" "1 2 1 none 0"
}

skips()
{
	relays $'ok 1 - a # SKIP not here\n1..1' \
		"ok 1 - x: a # SKIP not here" "1..1" "0 1 0 1 1"
}

# "okay" is no result, a bare "not ok" is.
others()
{
	relays $'# said\nokay\nnot ok\n1..1' "# said" "# okay" \
		"not ok 1 - x: " "1..1" "1 1 1 1 0"
}

# ends TEXT STATUS FAILED: so many failures in all after relay_ended
ends()
{
	bash -c '. selftests/lib/tap.sh
		tap_relay <<<"$1"; relay_ended x "$2"
		[ $TAP_FAILED -eq "$3" ]' - "$@"
}

ended()
{
	ends $'ok 1 - a\n1..1' 0 0 && ends $'not ok 1 - a\n1..1' 1 1 &&
		ends $'ok 1 - a\n1..1' 1 1 && ends $'ok 1 - a\n1..2' 0 1 &&
		ends 'ok 1 - a' 0 1 && ends '' 0 1 && ends 1..0 0 1
}

# "! has it" is true of a command that is not there, in a subshell, too
unknown()
{
	local out
	out=$(bash -c '. selftests/lib/tap.sh
		! no_such_command || exit
		check a eval "! nor_this"
		done_testing' 2>/dev/null) && return 1
	grep -qx 'ok 1 - a' <<<"$out" && grep -q 'no_such_command' <<<"$out" &&
		grep -q 'nor_this' <<<"$out"
}

says_nothing() { ! bash -c '. selftests/lib/tap.sh; done_testing'; }

python()
{
	diff <(PYTHONPATH=selftests/lib python3 -B -c '
from tap import Tap
t = Tap()
t.result(True, "a", "not shown")
t.result(False, "b", "two\nlines")
t.skip("c", "no c")
print(t.done())') - <<-'END'
	ok 1 - a
	not ok 2 - b
	#   two
	#   lines
	ok 3 - c # SKIP no c
	1..3
	1
	END
}

check "relayed cases are numbered anew, with a prefix" numbers
check "a relayed failure is one, and its reason is shown" failures
check "a relayed skip is counted as one" skips
check "only results are cases" others
check "a command that is not there fails the script" unknown
check "a script that ends early, or has no case, is a failure" ended
check "a script without cases has failed" says_nothing
check "Python's writer prints the same" python
done_testing
