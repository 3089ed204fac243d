#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tools/check.sh: what runs in the background counts, whether it ends or is ended, and VMs
# share the selftests.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# run TESTS COMMANDS: TESTS in the background, and COMMANDS meanwhile
run()
{
	bash -c 'source tools/check.sh
		eval "tests() { $1; }"
		begin behind idle tests
		eval "$2"
		end_all
		totals' run "$1" "$2" 2>&1
}

# says TESTS COMMANDS TOTALS: the last line
says()
{
	local out
	out=$(run "$1" "$2")
	[ "$(tail -n 1 <<<"$out")" = "$3" ] || { echo "$out"; return 1; }
}

begun='ok_is_there() { grep -q "^ok 1" "$OUT.0"; }
	for i in {1..600}; do ! ok_is_there 2>/dev/null || break; sleep 0.1; done'

check "those that succeed" says 'tap good printf "ok 1 - a\nok 2 - b\n"' : \
	"2 passed, 0 failed, 0 skipped"
check "one that fails" says 'tap bad sh -c "echo ok 1 - a; echo not ok 2 - b; exit 1"' : \
	"1 passed, 1 failed, 0 skipped"
# shellcheck disable=SC2016 # of the other shell
check "those that are ended have failed" \
	says 'tap cut sh -c "echo ok 1 - a; sleep 90; echo not ok 2 - b"' \
	"$begun"'; kill -KILL -- "-${PIDS[0]}"' "1 passed, 1 failed, 0 skipped"
check "what has no case has failed" says "tap none true" : "0 passed, 1 failed, 0 skipped"
check "an exit status without a case is one" says "tap odd false" : \
	"0 passed, 1 failed, 0 skipped"
check "programs see no variable that Makefiles have" \
	says 'tap vars sh -c "env | grep -q ^OUT= && exit 1; echo ok 1 - a"' : \
	"1 passed, 0 failed, 0 skipped"

# shared VMS COMMANDS: what COMMANDS print, with so many VMs and a VM that says what it runs
shared()
{
	VMS=$1 bash -c 'source tools/check.sh
		in_vm() { shift; local t; for t in "$@"; do echo "ok 1 - $t"; done; }
		eval "$1"' shared "$2" 2>&1
}

all_once()
{
	diff <(shared "$1" 'selftests_in_vms; end_all' | sed -n 's/^ok 1 - //p' | sort) \
		<(basename -as .test.sh selftests/vm/*.test.sh | sort)
}

# each has something to do, and the longest test is not in one VM with the next
divided()	# KERNEL TESTS share...
{
	[ "$(KERNEL=$1 shared 2 "shares $2" | sort)" = "$(printf '%s\n' "${@:3}")" ]
}

# not_there COUNT TEST...: as many cases fail, and none runs
not_there()
{
	[ "$(SROCE_JOB=none selftests/vm/run.sh "${@:2}" | tail -n 1)" = \
		"0 passed, $1 failed, 0 skipped" ]
}

total() { [ "$(shared "$1" 'selftests_in_vms; end_all; totals' | tail -n 1)" = "$2" ]; }

for n in 2 3; do
	check "$n VMs run each selftest once" all_once $n
done
check "the longest test has a VM to itself" divided 6.1 "verbs doctor wire" \
	" doctor wire" " verbs"
check "tests of the second VM count" total 2 \
	"$(find selftests/vm -name '*.test.sh' | wc -l) passed, 0 failed, 0 skipped"
check "a part is a test of its own" divided 6.1-debug "verbs/6 verbs/4/func wire" \
	" verbs/4/func" " verbs/6 wire"
check "a test, or a part, that there is not has failed" not_there 3 verbs/5 wire/4 nosuch
check "one VM for one test" diff <(shared 2 'shares wire') <(echo " wire")
check "each test has its seconds" diff <(basename -as .test.sh selftests/vm/*.test.sh | sort) \
	<(sed '/^#/d; s,[/ ].*,,' selftests/vm/seconds | sort -u)
done_testing
