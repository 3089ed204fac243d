#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make kernels` asks of a kernel in the VM. Each answer is a line: cell NAME yes|no.
# PYVERBS names the parts of rdma-core's suite that are run.
set -uo pipefail

DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT
BAD=0

cell()	# name command...
{
	local name=$1
	shift
	if "$@" >"$LOG" 2>&1; then
		echo "cell $name yes"
	else
		echo "cell $name no"
		tail -n 20 "$LOG"
		BAD=1
	fi
}

pyverbs() { bash "$DIR/vm/pyverbs.test.sh"; }

echo "cell boots yes"
cell loaded load_module
if [ $BAD -eq 0 ] && topo_veth; then
	cell rping stock_tool rping b v4
	cell ib_write_bw stock_tool ib_write_bw b v4
	topo_down
	cell pyverbs pyverbs
else
	BAD=1
fi
exit $BAD
