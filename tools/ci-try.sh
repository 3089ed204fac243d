#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# On a runner of continuous integration, which may lose its network namespaces a and b:
# rping and ib_write_bw between them, over a veth pair. As root; loads SROCE_KO if the
# module is not there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/topology.sh
. tools/topology.sh
# shellcheck source=tools/stock.sh
. tools/stock.sh

ITERS=500 DEV_A=sroce_a DEV_B=sroce_b

trap 'topo_down; rm -rf "$PAIR_DIR"' EXIT
topo_veth
for tool in rping ib_write_bw; do
	stock_tool "$tool" b v4
	echo "$tool: $(stock_result "$tool")"
done
