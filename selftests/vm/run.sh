#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Inside the VM: run selftests/vm/*.test.sh, or those named, as one TAP stream.
#
# usage: selftests/vm/run.sh [name...]        (stock for stock.test.sh)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
[ -n "${SROCE_JOB:-}" ] || {
	echo "run.sh changes the network: run it in the VM (make check)" >&2
	exit 2
}

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh
# shellcheck source=selftests/lib/leftovers.sh
. selftests/lib/leftovers.sh

TOOK=
LIMIT=${TEST_TIMEOUT:-$((1200 + 300 * ${ROUNDS:-1}))}

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

# Of /proc/stat: seconds that the CPUs were busy, all together
busy()
{
	local cpu user nice system idle wait irq softirq rest
	# shellcheck disable=SC2034 # columns
	read -r cpu user nice system idle wait irq softirq rest </proc/stat
	echo $(((user + nice + system + irq + softirq) / 100))
}

run_test()	# file
{
	local name start=$SECONDS cpu
	cpu=$(busy)
	name=$(basename "$1" .test.sh)
	echo "# $name"
	relay "$name" "$LIMIT" bash "$1"
	tidy
	TOOK+=$(printf '# %6d %6d  %s' $((SECONDS - start)) $(($(busy) - cpu)) "$name")$'\n'
}

main()
{
	local files=() f
	for f in "$@"; do files+=("selftests/vm/$f.test.sh"); done
	[ $# -gt 0 ] || files=(selftests/vm/*.test.sh)
	for f in "${files[@]}"; do
		if [ -e "$f" ]; then run_test "$f"; else not_ok "no $f"; fi
	done
	echo "1..$TAP_N"
	echo "# seconds, those that its CPUs were busy, test:"
	printf %s "$TOOK" | sort -k 2nr
	echo "$((TAP_N - TAP_FAILED - TAP_SKIPPED)) passed, $TAP_FAILED failed," \
		"$TAP_SKIPPED skipped"
	[ $TAP_FAILED -eq 0 ] && [ $TAP_N -gt 0 ]
}

main "$@"
