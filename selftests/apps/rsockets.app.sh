#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rsockets: its own programs, and rstream by preload, as a program for TCP. Of others that
# Debian packages none gets along with librspreload, on any device: it takes over neither epoll
# nor sockets asked for with SOCK_CLOEXEC (redis, Python, curl); it refuses messages that name
# their peer (sockperf) and TCP_INFO (iperf3, which sends 128 KiB and stops).
set -uo pipefail
# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LIMIT=${PAIR_TIMEOUT:-300}
PRELOAD=$(dpkg -L librdmacm1 | grep -m 1 '/librspreload.so$')
MIB=16

# stream PRELOAD|"" rstream|riostream option...
stream()
{
	local set=() tool=$2 args srv rc=0
	[ -z "$1" ] || set=(env LD_PRELOAD="$1")
	shift 2
	args=(-p "$CM_PORT" -S 1048576 -C "$MIB" -I 1 "$@")
	in_b "${set[@]}" timeout -k 1 "$LIMIT" "$tool" -b "$IP4_B" "${args[@]}" \
		>/tmp/rs.server 2>&1 </dev/null &
	srv=$!
	wait_until 20 listens_cm "$DEV_B" $CM_PORT || echo "the server does not listen by rdma_cm"
	took $((MIB * 1000000)) in_a "${set[@]}" timeout -k 1 "$LIMIT" "$tool" -s "$IP4_B" \
		"${args[@]}" || rc=$?
	[ $rc -eq 0 ] || end_of $srv
	wait $srv || rc=$?
	[ $rc -eq 0 ] || cat /tmp/rs.server
	return $rc
}

copy()
{
	head -c ${MIB}M /dev/urandom >/tmp/rcopy.data
	rm -f /tmp/rcopy.got
	in_b timeout -k 1 "$LIMIT" rcopy >/tmp/rs.server 2>&1 &
	local srv=$! rc=0
	wait_until 20 rdma_listens || echo "rcopy does not listen"
	took $((MIB * 1000000)) in_a timeout -k 1 "$LIMIT" \
		rcopy /tmp/rcopy.data "$IP4_B:/tmp/rcopy.got" || rc=$?
	end_of $srv
	wait $srv
	[ $rc -eq 0 ] && cmp /tmp/rcopy.data /tmp/rcopy.got
}

# rcopy listens on no address in particular, and so on no device
rdma_listens() { rdma resource show cm_id | grep -q 'LISTEN.*comm rcopy'; }

check "two ends" topo_veth
check "rstream, data compared" stream "" rstream -T v
check "rstream, without blocking, data compared" stream "" rstream -T n -T v
# To rstream a poll that says "hang up", too, is the end, also if there are data to read: its server
# hangs up behind the last of them.
check "rstream, by poll" one_of 5 stream "" rstream -T a
check "riostream, into mapped memory, data compared" stream "" riostream -T v
check "rcopy, a file compared" copy
check "rstream as a program for TCP, by preload, data compared" stream "$PRELOAD" rstream -T s -T v
done_testing
