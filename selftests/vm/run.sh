#!/bin/bash
# Inside the VM: run selftests/vm/*.test.sh, or those named, as one TAP stream.
#
# usage: selftests/vm/run.sh [name...]        (stock for stock.test.sh)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
[ -n "${SROCE_JOB:-}" ] || {
	echo "run.sh changes the network: run it in the VM (make check)" >&2
	exit 2
}

PASSED=0 FAILED=0 SKIPPED=0 N=0
LIMIT=${TEST_TIMEOUT:-$((600 + 300 * ${ROUNDS:-1}))}

# Pass a test's TAP on with its name in front and one numbering for all; other
# lines become diagnostics. Leaves the counts of this test in T_*.
pass_on()	# name
{
	local line
	T_N=0 T_FAILED=0 T_PLAN=
	while IFS= read -r line; do
		if [[ $line =~ ^(not\ )?ok\ *[0-9]*\ *-?\ *(.*)$ ]]; then
			N=$((N + 1)) T_N=$((T_N + 1))
			echo "${BASH_REMATCH[1]}ok $N - $1: ${BASH_REMATCH[2]}"
			if [ -n "${BASH_REMATCH[1]}" ]; then
				FAILED=$((FAILED + 1)) T_FAILED=$((T_FAILED + 1))
			elif [[ $line =~ \#\ *[Ss][Kk][Ii][Pp] ]]; then
				SKIPPED=$((SKIPPED + 1))
			else
				PASSED=$((PASSED + 1))
			fi
		elif [[ $line =~ ^1\.\.([0-9]+) ]]; then
			T_PLAN=$((${T_PLAN:-0} + BASH_REMATCH[1]))
		else
			echo "# ${line#\# }"
		fi
	done
}

fail_case()
{
	N=$((N + 1)) FAILED=$((FAILED + 1))
	echo "not ok $N - $1"
}

# What a test left behind must not fail the next one.
tidy()
{
	local dev ns link
	for dev in /sys/class/infiniband/*; do
		[ ! -e "$dev" ] || rdma link delete "${dev##*/}"
	done
	for ns in /run/netns/*; do
		[ ! -e "$ns" ] || ip netns delete "${ns##*/}"
	done
	for link in /sys/devices/virtual/net/*; do
		[ "${link##*/}" = lo ] || ip link delete "${link##*/}"
	done
} 2>/dev/null

run_test()	# file
{
	local name rc
	name=$(basename "$1" .test.sh)
	echo "# $name"
	pass_on "$name" < <(timeout -k 5 "$LIMIT" bash "$1" 2>&1
		echo $? >/tmp/rc)
	rc=$(cat /tmp/rc)
	if [ "$rc" -ne 0 ] && [ $T_FAILED -eq 0 ]; then
		fail_case "$name: exit status $rc"
	elif [ "${T_PLAN:-0}" -ne $T_N ]; then
		fail_case "$name: planned ${T_PLAN:-nothing}, ran $T_N"
	fi
	tidy
}

main()
{
	local files=() f
	for f in "$@"; do files+=("selftests/vm/$f.test.sh"); done
	[ $# -gt 0 ] || files=(selftests/vm/*.test.sh)
	for f in "${files[@]}"; do
		if [ -e "$f" ]; then run_test "$f"; else fail_case "no $f"; fi
	done
	echo "1..$N"
	echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
	[ $FAILED -eq 0 ] && [ $N -gt 0 ]
}

main "$@"
