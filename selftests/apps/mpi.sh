# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2034
# What the scripts of both MPIs share: a program that compares each byte, started on
# two hosts. The launcher is told how to start something on a host; of the transport
# nothing is said anywhere.

# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

RSH=$PWD/selftests/apps/mpi-rsh.sh
LIMIT=${PAIR_TIMEOUT:-250}
LOG=/tmp/mpi.log

# What the program has to say, at the least
SUBJECTS="pingpong ring alltoall allreduce bcast onesided counting"

# job BYTES ranks largest-message: mpi_run() starts the program
job()
{
	local s
	took "$1" mpi_run "$2" "$3" >$LOG 2>&1 || { tail -n 30 $LOG; return 1; }
	for s in $SUBJECTS; do
		grep -q "^holds: $s, $2 ranks" $LOG || { cat $LOG; return 1; }
	done
}

mpi_cases()
{
	local ranks
	trap hosts_down EXIT
	check "two hosts" hosts_up
	for ranks in 2 4 8; do
		check "$ranks ranks, 0 to 64 KiB, every byte compared" \
			job 2000000 $ranks 65537
	done
	check "2 ranks, 0 to 4 MiB, every byte compared" job 50000000 2 4194304
	check "4 ranks, 0 to 4 MiB, every byte compared" job 50000000 4 4194304
}
