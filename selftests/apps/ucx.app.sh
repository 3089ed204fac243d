#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# UCX: its own test program, by each transport alone and by those it chooses when no
# variable is set. It compares no data; MPICH, which is built on UCX, does.
set -uo pipefail
# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LIMIT=${PAIR_TIMEOUT:-300}

# perf BYTES TLS test-of-ucx_perftest options...: the server at b, the client at a;
# UCX_TLS is TLS, or is not set if that is "default"
perf()
{
	local bytes=$1 set=() rc=0 srv port
	[ "$2" = default ] || set=("UCX_TLS=$2")
	shift 2
	port=$(any_port)
	on b env "${set[@]}" timeout -k 1 "$LIMIT" \
		ucx_perftest -p $port >/tmp/ucx.server 2>&1 &
	srv=$!
	wait_until 20 listens_tcp b $port
	took "$bytes" on a env "${set[@]}" timeout -k 1 "$LIMIT" \
		ucx_perftest "$IP4_B" -p $port -w 10 -f -t "$@" || rc=$?
	# what is left would take the CPUs, polling; with -p it has a child, which outlives it
	[ $rc -eq 0 ] || { end_of $srv; on b pkill ucx_perftest; cat /tmp/ucx.server; }
	wait $srv || rc=$?
	return $rc
}

# messages TLS SIZE...
messages()
{
	local tls=$1 size
	for size in "${@:2}"; do
		check "tag_lat, $size bytes, $tls" perf 1000 "$tls" tag_lat -s "$size" -n 100
		check "tag_bw, $size bytes, $tls" \
			perf $((50 * size)) "$tls" tag_bw -s "$size" -n 50
		check "put_bw, $size bytes, $tls" \
			perf $((50 * size)) "$tls" ucp_put_bw -s "$size" -n 50
	done
}

others()	# TLS
{
	check "get, 65536 bytes, $1" perf 65536 "$1" ucp_get -s 65536 -n 20
	check "active messages, $1" perf 1000 "$1" ucp_am_bw -s 4096 -n 100
	check "stream, $1" perf 1000 "$1" stream_bw -s 4096 -n 100
	check "fetch and add, $1" perf 1000 "$1" ucp_fadd -s 8 -n 100
	check "compare and swap, $1" perf 1000 "$1" ucp_cswap -s 8 -n 100
}

trap hosts_down EXIT
check "two hosts" hosts_up
if [ "${1:-}" = --quick ]; then
	for tls in rc ud; do messages $tls 65536; done
	messages default 8 65536
	others default
else
	for tls in rc ud default; do
		messages $tls 8 65536 1048576
		others $tls
	done
fi
done_testing
