#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rdma-core's own suite, by its own runner and as it is. A skip is what the suite itself
# skips; `make check TESTS=pyverbs` says of each why.
set -uo pipefail
# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SUITE=/usr/share/doc/rdma-core/tests
WORK=/tmp/rdma-core

# Debian packs the larger files.
unpack()
{
	mkdir -p $WORK && cp -r $SUITE $WORK/ && find $WORK -name '*.gz' -exec gunzip {} + &&
		echo 64 >/proc/sys/vm/nr_hugepages
}

suite()
{
	(cd $WORK && timeout -k 1 1000 python3 tests/run_tests.py -v --dev "$DEV_A") \
		>$WORK/out 2>&1 </dev/null
	grep -q '^Ran ' $WORK/out || { tail -n 20 $WORK/out; return 1; }
}

of_kind() { grep -cE "\.\.\. $1" $WORK/out; }

# Most of what it skips is for other providers.
most_pass() { [ "$(of_kind ok)" -ge 80 ] || { echo "only $(of_kind ok)"; return 1; }; }

# Of a class or a file, too
bad() { sed -nE 's/^(ERROR|FAIL): ([^ ]+).*/\2/p' $WORK/out; }

no_other_errors() { ! bad | grep -vx test_rss_traffic; }
rss_works() { ! bad | grep -x test_rss_traffic; }

check "the suite" unpack
load_module
check "a device" topo_one_device
gid_index "$DEV_A" v4 >/dev/null && gid_index "$DEV_A" v6 >/dev/null
check "it runs to its end" suite
value "$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' $WORK/out) ran, $(of_kind ok) passed," \
	"$(of_kind skipped) skipped, $(of_kind FAIL) failed, $(of_kind ERROR) errors"
check "80 tests pass at the least" most_pass
check "no failure and no error but of test_rss_traffic" no_other_errors
check "test_rss_traffic" rss_works
cause "a raw packet QP is offered, by which the test takes the device for one that has" \
	"work queues and indirection tables; libibverbs' provider, rdma_rxe's, has neither"
grep -E '^[A-Za-z.]*(Error|Exception): ' $WORK/out | sed 's/^/# /'
done_testing
