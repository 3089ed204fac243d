#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perftest: every tool, with the options that go with it
set -uo pipefail
# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TIMEOUT=${PAIR_TIMEOUT:-300}

# A line: a tool, and a set of options for each of the fields that follow. perftest has no
# events (-e) for WRITE.
options()
{
	cat <<-EOF
	ib_send_bw|-a|-a -b|-e|-R|-q 8|--use-srq|-q 4 --use-srq -b|-c UC -a|-c UD|-c UD -b -q 4|-I 64 -s 64|-l 8
	ib_write_bw|-a|-a -b|-R|-q 8|-c UC -a|-c UC -q 4 -b|-I 64 -s 64
	ib_read_bw|-a|-a -b|-e|-R|-q 8|-o 4
	ib_atomic_bw|-b|-e|-R|-q 8|-A FETCH_AND_ADD
	ib_send_lat|-a|-e|-R|--use-srq|-c UC -a|-c UD|-I 64 -s 64
	ib_write_lat|-a|-R|-c UC -a|-I 64 -s 64
	ib_read_lat|-a|-e|-R
	ib_atomic_lat|-e|-R|-A FETCH_AND_ADD
	EOF
}

# One iteration moves 16 MiB if all sizes are asked for.
perf()	# tool options...
{
	local n=200
	[[ " $* " != *" -a "* ]] || n=20
	took 1000 perftest_pair "$1" -n $n "${@:2}"
}

check "two ends" topo_veth
GID_A=$(gid_index "$DEV_A" v4) GID_B=$(gid_index "$DEV_B" v4)
while IFS='|' read -ra sets; do
	for set in "${sets[@]:1}"; do
		read -ra words <<<"$set"
		check "${sets[0]} $set" perf "${sets[0]}" "${words[@]}" </dev/null
	done
done < <(options)
done_testing
