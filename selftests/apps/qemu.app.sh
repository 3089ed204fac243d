#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# QEMU's live migration over RDMA: of a guest that writes to its memory all the time, which
# is compared afterwards
set -uo pipefail
# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

MIB=64
BOOT=/tmp/guest.boot RAM=/tmp/guest.ram

# A boot sector that adds to each word of a segment, round and round:
#	mov ax, 0x2000; mov es, ax; xor di, di; 1: inc word [es:di]; add di, 2; jmp 1b
boot_sector()
{
	printf '\xb8\x00\x20\x8e\xc0\x31\xff\x26\xff\x05\x83\xc7\x02\xeb\xf8' >$BOOT
	truncate -s 510 $BOOT
	printf '\x55\xaa' >>$BOOT
	truncate -s 1440K $BOOT
	head -c 16M /dev/urandom >$RAM
}

# guest a|b option...
guest()
{
	local h=$1
	shift
	on "$h" timeout -k 1 300 qemu-system-x86_64 -nodefaults -no-user-config -display none \
		-accel tcg -machine pc -m $MIB -drive "if=floppy,format=raw,readonly=on,file=$BOOT" \
		-qmp "unix:/run/guest.$h,server=on,wait=off" "$@" >"/tmp/qemu.$h" 2>&1 </dev/null
}

# The boot sector has been at work for a while
works()
{
	rm -f /tmp/guest.look
	python3 -c '
import sys
sys.path.insert(0, "selftests/apps")
from qemu import Monitor
Monitor("/run/guest.a").run("pmemsave", val=0x20000, size=2, filename="/tmp/guest.look")' &&
		[ "$(od -An -tu2 /tmp/guest.look)" -gt 3 ]
}

migrate()	# capability...
{
	local a b port rc=0
	port=$(any_port)
	rm -f /run/guest.?
	guest b -S -incoming defer &
	b=$!
	guest a -device "loader,file=$RAM,addr=0x1000000,force-raw=on" &
	a=$!
	wait_until 60 works && wait_until 60 test -S /run/guest.b || { echo "no guests"; rc=1; }
	[ $rc -ne 0 ] || took 16000000 timeout 250 python3 selftests/apps/qemu.py /run/guest.a \
		/run/guest.b "rdma:$IP4_B:$port" $((MIB * 1048576)) "$@" || rc=$?
	# what nsenter has started lives on without it
	[ $rc -eq 0 ] || { on a pkill qemu-system; on b pkill qemu-system; }
	wait $a || rc=$?
	wait $b || rc=$?
	[ $rc -eq 0 ] || { cat /tmp/qemu.?; return $rc; }
	cmp /tmp/guest.source /tmp/guest.destination &&
		cmp -n 16777216 /tmp/guest.source $RAM 16777216 0
}

trap hosts_down EXIT
check "two hosts" hosts_up
boot_sector
check "a guest is migrated" migrate
check "its memory is pinned before" migrate rdma-pin-all
done_testing
