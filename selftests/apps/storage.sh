# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What the scripts of storage source, each of which runs in two VMs on one Ethernet: the
# second has a disk in its memory, the first uses it. In both, a script's functions are
# known by their names.
#
# A script defines cases, progress (how many writes have been done, on the first machine) and
# TARGET (the device or file that is written there).

# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=selftests/lib/two.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/two.sh"

DEV=$DEV_A
DISK=/dev/nullb0
# shellcheck disable=SC2034 # of the scripts
DISK_IP=10.9.0.2
DATA=/tmp/storage.data
MIB=16
# How long a writer may stand still after a fault has gone: consumers wait, too, before they
# connect anew
PATIENCE=${STORAGE_PATIENCE:-150}

set_up()	# on both machines
{
	modprobe -a ib_uverbs rdma_ucm
	configfs_up && link_on && { [ "$VM_ID" = 1 ] || memory_disk; }
}

# What the first machine does
lead()
{
	cases
	there leave
}

link_on() { load_module && link_add "$DEV" eth0 && gid_index "$DEV" v4 >/dev/null; }
link_off() { timeout 60 rdma link delete "$DEV"; }

modules() { modprobe -a "$@" && on 2 "modprobe -a $*"; }

# ---- data ------------------------------------------------------------------

data_new() { head -c ${MIB}M /dev/urandom >"${1:-$DATA}"; }

# write_all BLOCK: past the page cache
write_all()
{
	dd if=$DATA of="$TARGET" bs="$1" oflag=direct conv=notrunc,nocreat status=none
}

# same_in_blocks BLOCK: as the first machine reads it
same_in_blocks()
{
	dd if="$TARGET" bs="$1" count=$((MIB * 1048576 / $1)) iflag=direct status=none |
		cmp - $DATA
}

# As the second machine has it, by its disk and not its page cache: it has left the first
same_there()
{
	local sum
	sum=$(sha256sum <$DATA) &&
	[ "$(on 2 "dd if=${SOURCE:-$DISK} bs=1M count=$MIB iflag=direct status=none |
		sha256sum")" = "$sum" ] ||
		{ echo "the second machine has something else"; return 1; }
}

# there_and_back WRITE-BLOCK READ-BLOCK
there_and_back() { write_all "$1" && same_there && same_in_blocks "$2"; }

# through WRITE-BLOCK READ-BLOCK: that, by the device of the first machine
through()
{
	MIB=8
	data_new && moved_by_device $((MIB * 2 * 1000000)) there_and_back "$@"
}

data_cases()
{
	check "data, 4 KiB written, 64 KiB read" through 4096 65536
	check "data, 64 KiB written, 4 KiB read" through 65536 4096
	check "data, 1 MiB written and read" through 1048576 1048576
}

moved_bytes()
{
	case $LINK_TYPE in
	rxe)	echo $((4096 * ($(counter $DEV sent_pkts) + $(counter $DEV rcvd_pkts)))) ;;
	*)	echo $(($(counter $DEV tx_bytes) + $(counter $DEV rx_bytes))) ;;
	esac
}

moved_by_device()	# bytes command...
{
	local bytes=$1 before
	before=$(moved_bytes)
	shift
	"$@" || return
	[ $(($(moved_bytes) - before)) -ge "$bytes" ] ||
		{ echo "$(($(moved_bytes) - before)) of $bytes bytes"; return 1; }
}

# ---- faults ----------------------------------------------------------------

# Writes of a block device
disk_writes() { awk '{ print $5 }' "/sys/block/${1#/dev/}/stat"; }

more_writes() { [ "$(progress)" -gt "$1" ]; }

# keep_writing: two files in turn, so that a write that gets lost leaves the other's data, and
# each is read back before the next, until /tmp/stop is there. $DATA is then the last one. The
# first error ends it.
keep_writing()
{
	until [ -e /tmp/stop ]; do
		cp "$DATA.$((TURN ^= 1))" $DATA && write_all 64k && same_in_blocks 262144 || return
	done
}

# It must not keep the output of check open: a writer that hangs is to be told of.
start_writing()
{
	rm -f /tmp/stop
	TURN=0
	data_new $DATA.0
	data_new $DATA.1
	# what was there before is of neither
	{ cp $DATA.1 $DATA && write_all 1M; } || return
	keep_writing >/tmp/writer 2>&1 </dev/null &
	WRITER=$!
	wait_until 30 more_writes "$(($(progress) + 100))" ||
		{ echo "no writes"; stop_writing; return 1; }
}

# Its status, once it has ended
stop_writing()
{
	touch /tmp/stop
	wait_until "$PATIENCE" gone "$WRITER" || { echo "the writer hangs"; return 1; }
	wait "$WRITER"
}

# interrupted FAULT...: a writer runs while a fault comes and goes; it goes on, sees no
# error, and what it has written is there. /tmp/seconds is how long it stood still after
# the fault had gone.
interrupted()
{
	local count began rc=0
	rm -f /tmp/seconds
	start_writing || return
	"$@" || { echo "the fault: $?"; rc=1; }
	count=$(progress) began=$SECONDS
	wait_until "$PATIENCE" more_writes "$count" || { echo "it stands still"; rc=1; }
	echo $((SECONDS - began)) >/tmp/seconds
	stop_writing || { echo "the writer:"; cat /tmp/writer; return 1; }
	[ $rc -eq 0 ] && same_there && same_in_blocks 1048576
}

# given_up FAULT...: a writer runs when what it writes to goes for good; it sees an error, soon
given_up()
{
	local rc=0
	start_writing || return
	"$@" || { echo "the fault: $?"; rc=1; }
	wait_until 60 gone "$WRITER" || { echo "the writer hangs"; return 1; }
	! wait "$WRITER" || { echo "the writer has seen no error"; rc=1; }
	return $rc
}

# What is there after a writer was interrupted for good: each of its blocks is of one of the
# two files.
kept()
{
	dd if="$TARGET" bs=1M count=$MIB iflag=direct status=none of=/tmp/kept || return
	python3 - /tmp/kept $DATA.0 $DATA.1 65536 <<-'END'
	import sys
	disk, *files = [open(name, "rb").read() for name in sys.argv[1:4]]
	size = int(sys.argv[4])
	other = [at for at in range(0, len(disk), size)
	         if disk[at:at + size] not in [f[at:at + size] for f in files]]
	sys.exit(f"blocks at {other[:5]} are of neither" if other or not disk else 0)
	END
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# A netdev that is down for some seconds. A consumer whose QPs are more patient than that sees a
# pause only.
netdev_off_on() { on "$1" "ip link set eth0 down; sleep ${2:-3}; ip link set eth0 up"; }

link_off_on() { on "$1" "link_off && sleep 1 && link_on"; }

# resumes NAME FAULT...: a case, and how long it took
resumes()
{
	local name=$1
	shift
	check "$name" interrupted "$@"
	[ ! -e /tmp/seconds ] || value "$(</tmp/seconds) s"
}
