#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Open MPI. Debian's configuration forbids it UCX and all else that knows of RDMA, and with
# its own defaults it takes UCX for mlx5 only. So it is told to use UCX; UCX is told nothing.
set -uo pipefail
# shellcheck source=selftests/apps/mpi.sh
. "$(dirname "${BASH_SOURCE[0]}")/mpi.sh"

mpi_run()	# ranks largest-message
{
	in_a timeout -k 1 "$LIMIT" mpirun.openmpi --allow-run-as-root \
		--bind-to none --mca pml ucx --mca osc ucx --mca btl ^openib \
		--mca plm_rsh_agent "$RSH" --host "a:$(($1 / 2)),b:$(($1 / 2))" -np "$1" \
		"$PWD/$OUT/verify-openmpi" "$2"
}

mpi_cases
done_testing
