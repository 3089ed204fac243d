#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# RDS between two machines: each datagram once, in order, unchanged; and faults meanwhile
# machines: two
set -uo pipefail
# shellcheck source=selftests/apps/storage.sh
. "$(dirname "${BASH_SOURCE[0]}")/storage.sh"

HOST_IP=10.9.0.1
PORT=4700
RDS="timeout -k 1 170 python3 selftests/apps/rds.py"

# send SIZE SECONDS [FAULT...]: from the first machine to the second
send()
{
	local size=$1 seconds=$2 there rc=0 fault
	shift 2
	PORT=$(any_port)
	there "$RDS receive $DISK_IP $PORT"
	there=$TWO_N
	# what comes before the receiver is there is nobody's
	wait_until 60 grep -q receiving "$TWO_DIR/out.$there"
	if [ $# -gt 0 ]; then
		(sleep 2; "$@") &
		fault=$!
	fi
	$RDS send $HOST_IP $DISK_IP "$PORT" "$size" "$seconds" >/tmp/sent || rc=$?
	[ $# -eq 0 ] || wait "$fault" || { echo "the fault: $?"; rc=1; }
	[ $rc -eq 0 ] || on 2 pkill -f rds.py
	there_wait "$there" >/tmp/received || { rc=$?; cat /tmp/received; }
	[ "$(tail -n 1 /tmp/received)" = "$(</tmp/sent)" ] || { echo "not all arrive"; rc=1; }
	return $rc
}

cases()
{
	if ! has_modules rds rds_rdma; then
		skip "data" "this kernel has no RDS over RDMA"
		return
	fi
	check "the modules" modules rds rds_rdma
	check "64 bytes" moved_by_device 64000 send 64 0
	check "4 KiB" moved_by_device 4000000 send 4096 0
	check "64 KiB" moved_by_device 60000000 send 65536 0
	check "the sender's netdev goes and comes" moved_by_device 4000000 send 4096 20 netdev_off_on 1
	check "the receiver's netdev goes and comes" moved_by_device 4000000 send 4096 20 netdev_off_on 2
	check "the sender's link is deleted and added" send 4096 20 link_off_on 1
	check "the receiver's link is deleted and added" moved_by_device 4000000 send 4096 20 link_off_on 2
}

two_run
