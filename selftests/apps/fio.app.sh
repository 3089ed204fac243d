#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fio's own RDMA engine: each operation. Its client asks for no repetition after an RNR NAK
# (rnr_retry_count 0), and its server posts receives when it has come to see what has arrived:
# a SEND that is early ends the connection. So the server has more of them than the client has
# messages under way, and such a case several tries.
set -uo pipefail
# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LIMIT=${PAIR_TIMEOUT:-300}
MIB=16

job()	# a|b name options...
{
	"in_$1" timeout -k 1 "$LIMIT" fio --name="$2" --ioengine=rdma --port="$PORT" \
		--size=${MIB}m --thread --eta=never "${@:3}"
}

# transfer verb rw-of-the-client block depth depth-of-the-server
transfer()
{
	local verb=$1 rw=$2 bs=$3 depth=$4 srv rc=0
	PORT=$(any_port)
	job b server --rw=read --bs="$bs" --iodepth="${5:-$depth}" >/tmp/fio.server 2>&1 &
	srv=$!
	wait_until 20 listens_cm "$DEV_B" $PORT || sleep 2
	took $((MIB * 1000000)) job a client --hostname="$IP4_B" --verb="$verb" \
		--rw="$rw" --bs="$bs" --iodepth="$depth" || rc=$?
	[ $rc -eq 0 ] || end_of $srv
	wait $srv || rc=$?
	[ $rc -eq 0 ] || cat /tmp/fio.server
	return $rc
}

# Again only if a SEND was early, which is status 13
send()
{
	local try
	for try in 1 2 3 4 5; do
		! transfer send write "$@" >/tmp/fio.send 2>&1 || return 0
		grep -q 'status 13' /tmp/fio.send || break
	done
	echo "try $try:"
	cat /tmp/fio.send
	return 1
}

# Five in a row are fio's fault, too.
early()
{
	! grep -q 'status 13' /tmp/fio.send || cause "fio asks for no repetition after an RNR NAK"
}

check "two ends" topo_veth
check "write" transfer write write 64k 8
check "write, 4 KiB" transfer write write 4k 16
check "read" transfer read write 64k 8
check "send" send 64k 8 64
early
check "send, 1 MiB" send 1m 4 16
early
done_testing
