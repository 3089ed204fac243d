#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make demo` shows, inside the VM: two namespaces, a link in each, and
# the stock tools between them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/topology.sh
. tools/topology.sh
# shellcheck source=tools/stock.sh
. tools/stock.sh

step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
show() { echo "\$ $*"; "$@"; }

ITERS=500
RESULTS=() FAILED=0

describe()
{
	case $1 in
	rping)			echo "100 RDMA pings through rdma_cm, every byte compared" ;;
	ib_write_bw)		echo "RDMA WRITE bandwidth, 64 KiB" ;;
	ib_read_bw)		echo "RDMA READ bandwidth, 64 KiB" ;;
	ib_send_bw)		echo "SEND bandwidth, 64 KiB" ;;
	ib_atomic_bw)		echo "FETCH_ADD rate" ;;
	ib_write_lat)		echo "RDMA WRITE latency, 8 bytes" ;;
	ib_send_lat)		echo "SEND latency, 8 bytes" ;;
	ibv_rc_pingpong)	echo "libibverbs example, reliable connection" ;;
	ibv_uc_pingpong)	echo "libibverbs example, unreliable connection" ;;
	ibv_ud_pingpong)	echo "libibverbs example, datagrams" ;;
	udaddy)			echo "datagrams through rdma_cm" ;;
	ucmatose)		echo "connections through rdma_cm" ;;
	rstream)		echo "rsockets, data verified" ;;
	esac
}

run_tool()
{
	local tool=$1 fam=v4 result
	step "$tool: $(describe "$tool")"
	if stock_tool "$tool" b "$fam"; then
		result=$(stock_result "$tool")
		echo "$result"
	else
		result=FAILED FAILED=$((FAILED + 1))
	fi
	RESULTS+=("$(printf '%-16s %-48s %s' "$tool" "$(describe "$tool")" \
		"$result")")
}

step "Loading the module: $LINK_TYPE on $(uname -r)"
show load_module

step "Two network namespaces, a and b, joined by a veth pair; a link in each"
show topo_veth
show rdma link
show ip -n a -br addr 2>/dev/null || show ip -br addr show va
gid_index "$DEV_A" v4 >/dev/null
show ibv_devinfo -d "$DEV_A"

for tool in $STOCK_TOOLS; do
	run_tool "$tool"
done

step "What ran, from a ($DEV_A) to b ($DEV_B), on an emulated CPU unless KVM works"
printf '%s\n' "${RESULTS[@]}"
[ $FAILED -eq 0 ] || echo "$FAILED failed"
exit $((FAILED > 0))
