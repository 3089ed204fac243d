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

# The netdev of a device goes up and down, and so does its line. From 6.15 on, the kernel holds a
# lock of such a netdev while it tells of that. A row that waits here for ever has no more answers.
flaps()
{
	local what
	ip link add flap0 type dummy && rdma link add flap type sroce netdev flap0 || return
	for what in up "carrier off" "carrier on" down up; do
		# shellcheck disable=SC2086
		ip link set dev flap0 $what || return
	done
	rdma link show flap/1 && rdma link delete flap && ip link delete flap0
}

echo "cell boots yes"
cell loaded load_module
cell flaps flaps
if [ $BAD -eq 0 ] && topo_veth; then
	cell rping stock_tool rping b v4
	cell ib_write_bw stock_tool ib_write_bw b v4
	topo_down
	cell pyverbs pyverbs
else
	BAD=1
fi
exit $BAD
