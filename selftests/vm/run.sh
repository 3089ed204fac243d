#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Inside the VM: run selftests/vm/*.test.sh, or those named, as one TAP stream.
#
# usage: selftests/vm/run.sh [name[/part]...]        (stock for stock.test.sh)
# A test that says "# parts: A B" can be asked for one of them, and gets it as $PART, so
# that VMs can share it: verbs/6 is all of verbs that is by IPv6.
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

# providers NAME: which of the providers that are installed libibverbs finds. It loads all of them
# at each start of a program, most of which is that on an emulated CPU. For stock and apps they are
# what users have, for other tests those of software devices.
PROVIDERS=/etc/libibverbs.d
providers()
{
	! mountpoint -q $PROVIDERS || umount -l $PROVIDERS
	[[ $1 = @(stock|apps) ]] || mount --bind "$SOFTWARE" $PROVIDERS
}

run_test()	# name[/part]
{
	local name=$1 part start=$SECONDS cpu
	cpu=$(busy)
	providers "$name"
	part=${name#"${name%%/*}"}
	echo "# $name"
	relay "$name" "$LIMIT" env "PART=${part#/}" bash "$(file_of "$name")"
	tidy
	TOOK+=$(printf '# %6d %6d  %s' $((SECONDS - start)) $(($(busy) - cpu)) "$name")$'\n'
}

file_of() { echo "selftests/vm/${1%%/*}.test.sh"; }

# exists NAME[/PART]
exists()
{
	local file
	file=$(file_of "$1")
	[ -e "$file" ] || return
	[[ $1 != */* ]] || grep -qE "^# parts:.* ${1#*/}( |$)" "$file"
}

main()
{
	local name
	# users other than root read it, too
	SOFTWARE=$(mktemp -d)
	chmod 755 "$SOFTWARE"
	cp $PROVIDERS/{rxe,siw}.driver "$SOFTWARE" || exit
	# shellcheck disable=SC2046 # names of tests have no blanks
	[ $# -gt 0 ] || set -- $(basename -as .test.sh selftests/vm/*.test.sh)
	for name in "$@"; do
		if exists "$name"; then run_test "$name"; else not_ok "no $name"; fi
	done
	echo "1..$TAP_N"
	echo "# seconds, those that its CPUs were busy, test:"
	printf %s "$TOOK" | sort -k 2nr
	echo "$((TAP_N - TAP_FAILED - TAP_SKIPPED)) passed, $TAP_FAILED failed," \
		"$TAP_SKIPPED skipped"
	[ $TAP_FAILED -eq 0 ] && [ $TAP_N -gt 0 ]
}

main "$@"
