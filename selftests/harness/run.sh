#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The harness itself, on the host: does tools/vm.sh notice what a kernel log
# can say, and VMs that warn, die, hang, leak or never report back?
#
# usage: KERNEL=6.1 selftests/harness/run.sh [--all]
#
# Without --all no machine is booted: only what the log may say is tested.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh
# shellcheck source=tools/kernel.sh
. tools/kernel.sh
# shellcheck source=tools/complaints.sh
. tools/complaints.sh

KERNEL=${KERNEL:-6.1}
BUILD=$PWD/.build/$KERNEL/harness
export SROCE_TROUBLE=$BUILD/trouble.ko SROCE_KO=$PWD/.build/$KERNEL/sroce.ko
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT

# ---- logs -----------------------------------------------------------------

complaints()
{
	cat <<-'END'
	WARNING: CPU: 1 PID: 411 at drivers/infiniband/core/cq.c:322 ib_free_cq+0x99/0x160
	BUG: kernel NULL pointer dereference, address: 0000000000000008
	BUG: unable to handle page fault for address: ffffc90000a3d000
	BUG: Bad page state in process rping  pfn:10a2b3
	BUG kmalloc-64 (Tainted: G           OE     ): Redzone overwritten
	kernel BUG at mm/slub.c:4124!
	Oops: 0000 [#1] PREEMPT SMP NOPTI
	Oops: general protection fault, probably for non-canonical address 0xdead000000000100
	general protection fault, probably for non-canonical address 0xdead000000000122: 0000 [#1]
	divide error: 0000 [#1] PREEMPT SMP NOPTI
	Kernel panic - not syncing: Fatal exception in interrupt
	WARNING: possible circular locking dependency detected
	WARNING: inconsistent lock state
	WARNING: suspicious RCU usage
	BUG: scheduling while atomic: ib_send_bw/623/0x00000202
	BUG: sleeping function called from invalid context at include/linux/sched/mm.h:274
	RTNL: assertion failed at net/core/dev.c (1860)
	BUG: KASAN: slab-use-after-free in sroce_qp_put+0x1c/0x40 [sroce]
	BUG: KASAN: use-after-free in sroce_burst_end+0x88/0x120 [sroce]
	BUG: KCSAN: data-race in sroce_cq_poll / sroce_cq_poll
	BUG: KFENCE: out-of-bounds read in sroce_wqe_copy+0x41/0x90
	UBSAN: array-index-out-of-bounds in drv/core/rc/req.c:88:12
	UBSAN: shift-out-of-bounds in drv/core/transport.c:10:4
	refcount_t: underflow; use-after-free.
	list_del corruption, ffff888004a31c00->next is LIST_POISON1 (dead000000000100)
	ODEBUG: free active (active state 0) object type: timer_list hint: sroce_timer
	rping: page allocation failure: order:9, mode:0xcc0(GFP_KERNEL)
	Out of memory: Killed process 812 (ops) total-vm:1310720kB
	INFO: task rmmod:977 blocked for more than 45 seconds.
	watchdog: BUG: soft lockup - CPU#1 stuck for 82s! [ib_write_bw:644]
	NMI watchdog: Watchdog detected hard LOCKUP on cpu 0
	rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
	rcu: INFO: rcu_preempt self-detected stall on CPU
	rcu: rcu_preempt kthread starved for 15002 jiffies!
	kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
	sroce: 1 object(s) leaked
	restrack: ------------[ cut here ]------------
	infiniband sroce0: BUG: RESTRACK detected leak of resources
	unregister_netdevice: waiting for va to become free. Usage count = 2
	rping[612]: segfault at 0 ip 00007f32e8e1a3c0 sp 00007ffd2d0b1a28 error 4 in libibverbs.so
	traps: ops[700] trap invalid opcode ip:401136 sp:7ffc8a6b9d10 error:0 in ops[401000+1000]
	traps: ops[700] general protection fault ip:401136 sp:7ffc8a6b9d10 error:0
	NETDEV WATCHDOG: eth0 (virtio_net): transmit queue 0 timed out
	sysfs: cannot create duplicate filename '/class/infiniband/sroce0'
	END
}

harmless()
{
	cat <<-'END'
	mtrr: your CPUs had inconsistent fixed MTRR settings
	sroce: loading out-of-tree module taints kernel.
	sroce: module verification failed: signature and/or required key missing - tainting kernel
	td0: sroce: can't add t0: UDP port 4791 is taken in this namespace (rdma_rxe?)
	td0 speed is unknown, defaulting to 1000
	rdma_rxe: Failed to create IPv4 UDP tunnel
	hrtimer: interrupt took 15380776 ns
	workqueue: blk_mq_run_work_fn hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND
	IPv6: ADDRCONF(NETDEV_CHANGE): va: link becomes ready
	rcu: Hierarchical SRCU implementation.
	Spectre V2 : Vulnerable
	kmemleak: Kernel memory leak detector disabled
	kfence: initialized - using 2097152 bytes for 255 objects
	tbond (unregistering): Released all slaves
	END
}

stamped() { echo "[   12.345678] $1" >"$DIR/log"; }

finds_all()
{
	local line bad=0
	while IFS= read -r line; do
		stamped "$line"
		complaint "$DIR/log" >/dev/null ||
			{ echo "not noticed: $line"; bad=1; }
	done < <(complaints)
	return $bad
}

finds_nothing_else()
{
	local line bad=0
	while IFS= read -r line; do
		stamped "$line"
		! complaint "$DIR/log" >/dev/null ||
			{ echo "noticed: $line"; bad=1; }
	done < <(harmless)
	return $bad
}

ignores_its_own_stacks()
{
	{
		echo "vm1: time limit - blocked tasks and CPUs follow"
		echo "Call Trace:"
		echo "vm1: end of blocked tasks and CPUs"
	} >"$DIR/log"
	! complaint "$DIR/log" || return
	echo "sroce: 1 object(s) leaked" >>"$DIR/log"
	complaint "$DIR/log" >/dev/null || { echo "nor what comes after them"; return 1; }
}

# one that has run nothing is not one whose command has failed
does_not_start()
{
	local rc=0
	tools/vm.sh --kernel "$KERNEL" --root /nonexistent -- true || rc=$?
	[ $rc -eq 125 ] || { echo "status $rc"; return 1; }
}

# race FRAME FRAME: a report of KCSAN, and the line that follows it
race()
{
	cat <<-END
	[   12.345678] ==================================================================
	[   12.345678] BUG: KCSAN: data-race in ${1%%+*} / ${2%%+*}

	[   12.345678] read to 0xffff888101 of 8 bytes by task 12 on cpu 0:
	[   12.345678]  $1
	[   12.345678]  sroce_task_run+0x10/0x200 [sroce]

	[   12.345678] write to 0xffff888101 of 8 bytes by interrupt on cpu 1:
	[   12.345678]  $2
	[   12.345678] ==================================================================
	[   12.345679] the log goes on
	END
}

# Races between two functions of the kernel are not ours.
tells_races_apart()
{
	race "tick_sched_timer+0x5c/0x100" "ktime_get+0x20/0x90" >"$DIR/log"
	! complaint "$DIR/log" || { echo "noticed that of others"; return 1; }
	without_foreign_races <"$DIR/log" | grep -q 'goes on' ||
		{ echo "took away what follows"; return 1; }
	race "ktime_get+0x20/0x90" "sroce_cq_poll+0x5c/0x100 [sroce]" >>"$DIR/log"
	complaint "$DIR/log" >/dev/null || { echo "ours was not noticed"; return 1; }
}

# More follows it than a pipe holds.
finds_early_one()
{
	{
		complaints | head -n 1
		seq -f 'line %g of a talkative driver' 20000
		complaints | tail -n 1
	} >"$DIR/log"
	complaint "$DIR/log" >"$DIR/found" || { echo "not noticed"; return 1; }
	grep -q 'WARNING: CPU' "$DIR/found" && grep -q 'duplicate' "$DIR/found"
}

# A kernel that goes on complaining is no better than one that does so once.
finds_many()
{
	local i
	complaints | head -n 1 >"$DIR/line"
	for ((i = 0; i < 1000; i++)); do sed "s/PID: /&$i/" "$DIR/line"; done >"$DIR/log"
	complaint "$DIR/log" >"$DIR/found" || { echo "not noticed"; return 1; }
	[ "$(first_complaint "$DIR/found" | wc -l)" -eq 1 ]
}

# ---- machines -------------------------------------------------------------

build_trouble()
{
	mkdir -p "$BUILD"
	ln -sf "$PWD"/selftests/harness/{Kbuild,trouble.c} "$BUILD/"
	make -s -C "$(kernel_headers "$KERNEL")" M="$BUILD" modules
}

# Boot a machine for $2...; what it printed goes to $DIR/NAME, its exit status
# to $DIR/NAME.rc.
machine()	# name [vm.sh options...] -- command...
{
	local name=$1 rc=0
	shift
	tools/vm.sh --kernel "$KERNEL" --mem 1G "$@" >"$DIR/$name" 2>&1 || rc=$?
	echo $rc >"$DIR/$name.rc"
}

# What each machine is to run. A shell's text: it is run in the guest.
# shellcheck disable=SC2016
machines()
{
	machine status -- sh -c 'echo some output; exit 7' &
	SROCE_GRACE=20 machine dead --cpus 1 --timeout 1 -- sh -c '
		modprobe ib_core; insmod $SROCE_TROUBLE what=dead' &
	wait
	machine warn -- sh -c 'modprobe ib_core
		insmod $SROCE_TROUBLE what=warn' &
	machine panic --timeout 20 -- sh -c 'echo c >/proc/sysrq-trigger' &
	wait
	# a task that no signal reaches, past the time limit
	machine stuck --timeout 30 -- sh -c 'modprobe ib_core
		echo 2 >/proc/sys/kernel/hung_task_timeout_secs
		insmod $SROCE_TROUBLE what=stuck' &
	machine leak -- sh -c 'modprobe -a ib_uverbs udp_tunnel ip6_udp_tunnel
		insmod $SROCE_KO; insmod $SROCE_TROUBLE what=leak
		ip link add d0 type dummy
		rdma link add sroce0 type sroce netdev d0' &
	wait
	# only a debug kernel looks for it
	[ "${KERNEL%-debug}" = "$KERNEL" ] || machine forget --append kmemleak=on -- sh -c \
		'modprobe ib_core; insmod $SROCE_TROUBLE what=forget'
}

# A stub answers the halt reason to a debugger, and lets the machine go on.
gdb_answers()
{
	local answer i
	machine gdb --gdb --timeout 20 -- sleep 8 &
	for ((i = 0; i < 30; i++)); do
		sleep 0.5
		{ exec 3<>/dev/tcp/127.0.0.1/1234; } 2>/dev/null && break
	done
	[ $i -lt 30 ] || { echo "nobody listens"; return 1; }
	printf '+$?#3f' >&3
	read -r -t 10 -d '#' -u 3 answer
	printf '+$D#44' >&3
	exec 3>&-
	wait
	[[ $answer == *'$T'* || $answer == *'$S'* ]] || { echo "it says $answer"; return 1; }
	[ "$(cat "$DIR/gdb.rc")" = 0 ] || { cat "$DIR/gdb"; return 1; }
}

# The exit status of machine $1 and what it must have said.
said()	# name status regex...
{
	local name=$1 want=$2 rc re bad=0
	shift 2
	rc=$(cat "$DIR/$name.rc")
	[ "$rc" = "$want" ] || { echo "exit status $rc, not $want"; bad=1; }
	for re in "$@"; do
		grep -qaE "$re" "$DIR/$name" || { echo "no /$re/"; bad=1; }
	done
	[ $bad -eq 0 ] || { tail -n 60 "$DIR/$name"; return 1; }
}

said_nothing() { [ "$(cat "$DIR/$1")" = "$2" ] || { cat "$DIR/$1"; false; }; }

TAIL='the last of the console:'

check_machines()
{
	machines
	check "a command's output and exit status are the run's" said status 7
	check "and nothing else is printed" said_nothing status "some output"
	check "a WARN fails the run" said warn 125 'WARNING: .*trouble' "$TAIL"
	check "a panic does" said panic 125 \
		'Kernel panic|sysrq triggered crash' \
		"ended without a report" "$TAIL"
	check "a task that hangs does" said stuck 125 \
		'blocked for more than 2 seconds' 'still running after 30 s' \
		"$TAIL"
	check "an object that is never freed does" said leak 125 \
		'leak' 'sroce.*leaked' "$TAIL"
	[ "${KERNEL%-debug}" = "$KERNEL" ] ||
		check "memory that nobody points to does" said forget 125 \
			'kmemleak: [1-9][0-9]* objects' 'unreferenced object'
	check "a kernel that is dead does, and says where" said dead 125 \
		'never reported back' 'trouble_dead' "$TAIL"
}

check "every kind of complaint is found in a log" finds_all
check "at the start of a long log as well" finds_early_one
check "and if there are a thousand" finds_many
check "nothing harmless is" finds_nothing_else
check "nor the stacks shown at a time limit" ignores_its_own_stacks
check "a VM that can't be started has no status of its command" does_not_start
	check "races of KCSAN are complaints if one access is ours" tells_races_apart
if [ "${1:-}" = --all ]; then
	check "the module that misbehaves builds" build_trouble
	check_machines
	check "a debugger is answered, and the run goes on" gdb_answers
fi
done_testing
