#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# MPICH, which Debian builds on UCX, with the transport that it chooses by itself
set -uo pipefail
# shellcheck source=selftests/apps/mpi.sh
. "$(dirname "${BASH_SOURCE[0]}")/mpi.sh"

mpi_run()	# ranks largest-message
{
	in_a timeout -k 1 "$LIMIT" mpiexec.mpich -launcher ssh -launcher-exec "$RSH" \
		-localhost "$IP4_A" -hosts "a:$(($1 / 2)),b:$(($1 / 2))" -np "$1" \
		"$PWD/$OUT/verify-mpich" "$2"
}

mpi_cases
done_testing
