#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fio's own RDMA engine: each operation, and blocks whose checksums the receiver compares
set -uo pipefail
# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LIMIT=${PAIR_TIMEOUT:-120}
MIB=16

job()	# a|b name options...
{
	"in_$1" timeout -k 1 "$LIMIT" fio --name="$2" --ioengine=rdma --port="$PORT" \
		--size=${MIB}m --thread --eta=never "${@:3}"
}

# transfer verb rw-of-the-client block depth options...
transfer()
{
	local verb=$1 rw=$2 bs=$3 depth=$4 srv rc=0
	shift 4
	PORT=$(any_port)
	job b server --rw=read --bs="$bs" --iodepth="$depth" "$@" >/tmp/fio.server 2>&1 &
	srv=$!
	wait_until 20 listens_cm "$DEV_B" $PORT || sleep 2
	took $((MIB * 1000000)) job a client --hostname="$IP4_B" --verb="$verb" \
		--rw="$rw" --bs="$bs" --iodepth="$depth" || rc=$?
	[ $rc -eq 0 ] || end_of $srv
	wait $srv || rc=$?
	[ $rc -eq 0 ] || cat /tmp/fio.server
	return $rc
}

check "two ends" topo_veth
check "write" transfer write write 64k 8
check "write, 4 KiB" transfer write write 4k 16
check "read" transfer read write 64k 8
check "send" transfer send write 64k 8
check "send, 1 MiB" transfer send write 1m 4
done_testing
