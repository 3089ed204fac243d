#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# qperf: bandwidth, latency and rates by each operation; its atomics are compared. Without
# rdma_cm it knows a peer by its LID, and gives no GRH, which RoCE can't do without. So
# there is no UC and no UD: it does not use rdma_cm for these. With rdma_cm its server ends
# each test by destroying a QP that its listener doesn't have, at a null pointer; the kernel
# is told not to log that.
set -uo pipefail
# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TESTS="rc_bw rc_bi_bw rc_lat rc_rdma_read_bw rc_rdma_read_lat rc_rdma_write_bw
rc_rdma_write_lat rc_rdma_write_poll_lat rc_fetch_add_mr rc_compare_swap_mr
ver_rc_compare_swap ver_rc_fetch_add"

measure()	# test
{
	took 1000 in_a timeout 60 qperf "$IP4_B" -lp 18600 -t 1 -to 30 -cm 1 "$1"
}

echo 0 >/proc/sys/debug/exception-trace
check "two ends" topo_veth
in_b qperf -lp 18600 &
check "the server listens" wait_until 20 listens_tcp b 18600
for test in $TESTS; do
	check "$test" measure "$test"
done
end_of $!
done_testing
