#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# PID 1 of the VM once the host's root is mounted: set the machine up, run
# the job's command, unload the module, report, switch off. Everything the
# host learns goes through /run/job: status (the command's exit status),
# verdict (what went wrong around it, empty when nothing did) and dmesg.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8

JOB=/run/job
VM_ID=$(</proc/cmdline) VM_ID=${VM_ID##*sroce.id=} VM_ID=${VM_ID%% *}
ME=$JOB/vm$VM_ID
export VM_ID

# What is needed early comes from memory, see vm-init.
BB=/run/busybox

note() { echo "vm$VM_ID: $*" >/dev/kmsg; }
fail() { echo "$*" >>"$ME/verdict"; note "$*"; }

# Seconds that a task may wait where no signal reaches it
HUNG=45

# A guest under TCG on a busy host stops for seconds at a time: the watchdogs
# must wait longer than on real hardware before they cry.
#
# While a link-local address is being checked for duplicates, the kernel asks for no neighbour
# on behalf of the RDMA core, whose patience is a second: an IPv6 QP would not get to RTR. No
# namespace checks.
limits()
{
	local s
	for s in kernel/hung_task_timeout_secs=$HUNG kernel/hung_task_warnings=100 \
		 kernel/watchdog_thresh=40 kernel/printk=7 kernel/sysrq=1 \
		 kernel/unknown_nmi_panic=1 kernel/panic_print=64 \
		 net/ipv4/ping_group_range="0 2147483647" \
		 net/ipv6/conf/default/accept_dad=0 net/core/devconf_inherit_init_net=1; do
		echo "${s#*=}" >"/proc/sys/${s%%=*}"
	done 2>/dev/null
	echo sroce-vm >/proc/sys/kernel/hostname
	ulimit -l unlimited
	ulimit -c 0
	ulimit -n 65536
}

# The tests look for their programs where a build for the host has put them.
programs()
{
	local dir
	for dir in ${SROCE_PROGRAMS:-}; do
		mount --bind "$dir" "${dir%/*}"
	done
}

# The Ethernet of --two.
network()
{
	[ -n "$SROCE_TWO" ] || return 0
	case $SROCE_NIC in
	igb)	modprobe igb ;;
	*)	modprobe virtio_net ;;
	esac
	ip link set eth0 up
	ip addr add "10.9.0.$VM_ID/24" dev eth0
	ip -6 addr add "fd09::$VM_ID/64" dev eth0 nodad
	# an emulated NIC takes its time to find a link
	for _ in {1..500}; do
		[ "$(cat /sys/class/net/eth0/carrier)" != 1 ] || return 0
		$BB sleep 0.02
	done
	fail "eth0 has no carrier"
}

is_uml() { $BB grep -q "User Mode Linux" /proc/cpuinfo; }

# User Mode Linux does not say how fast the CPU is, by which perftest reads the clock.
cpu_frequency()
{
	local khz
	is_uml || return 0
	khz=$(</proc/cmdline)
	khz=${khz##*sroce.khz=} khz=${khz%% *}
	{
		cat /proc/cpuinfo
		printf 'cpu MHz\t\t: %d.%03d\n\n' $((khz / 1000)) $((khz % 1000))
	} >/run/cpuinfo
	mount --bind /run/cpuinfo /proc/cpuinfo
}

# Wait for a child with a limit that holds even if it hangs in the kernel,
# where no signal reaches it; 124 when the limit passed.
wait_for()	# seconds pid
{
	local timer who rc
	$BB sleep "$1" &
	timer=$!
	wait -n -p who "$2" "$timer"
	rc=$?
	kill "$timer" 2>/dev/null
	[ "$who" = "$2" ] || return 124
	return $rc
}

bounded()	# seconds command...
{
	local limit=$1
	shift
	"$@" &
	wait_for "$limit" $!
}

blocked_tasks()
{
	echo "vm$VM_ID: $* - blocked tasks and CPUs follow" >/dev/kmsg
	echo w >/proc/sysrq-trigger
	echo l >/proc/sysrq-trigger
	# other CPUs print their stacks themselves
	$BB sleep 2
	echo "vm$VM_ID: end of blocked tasks and CPUs" >/dev/kmsg
}

# The character device that pattern $1 matches. Its node appears a moment
# after virtio_console is loaded, when the host has named the port.
port()
{
	local try node
	for try in {1..500}; do
		for node in $1; do
			[ -c "$node" ] && echo "$node" && return
		done
		$BB sleep 0.02
	done
	fail "no $1 after $try tries"
	echo /dev/null
}

# Where what the command prints goes
output()
{
	if is_uml; then
		$BB stty raw </dev/tty1
		echo /dev/tty1
	else
		port '/dev/vport*p1'
	fi
}

run_command()
{
	local pid rc
	# shellcheck disable=SC1091
	. "$JOB/env"
	# what tests have wait on purpose, such as for a page of FUSE, waits longer, too
	echo $((HUNG * ${SLOWNESS:-1})) >/proc/sys/kernel/hung_task_timeout_secs
	cd "$SROCE_CWD" || cd /
	if [ -n "${SROCE_INTERACTIVE:-}" ]; then
		port /dev/hvc0 >/dev/null
		stty rows "${SROCE_ROWS:-24}" cols "${SROCE_COLS:-80}" </dev/hvc0
		setsid -c bash "$JOB/command" </dev/hvc0 >/dev/hvc0 2>&1
		echo $? >"$ME/status"
		return
	fi
	# The port can be opened once only, so programs get a pipe.
	$BB mkfifo /run/out
	$BB cat /run/out >"$(output)" &
	CAT=$!
	$BB setsid bash "$JOB/command" >/run/out 2>&1 </dev/null &
	pid=$!
	wait_for "$SROCE_TIMEOUT" "$pid"
	rc=$?
	if [ $rc -eq 124 ] && kill -0 "$pid" 2>/dev/null; then
		fail "command still running after $SROCE_TIMEOUT s"
		blocked_tasks "time limit"
		kill -KILL -- "-$pid"
	fi
	echo "$rc" >"$ME/status"
}

# Everyone goes but this shell, kernel threads (no executable) and the cat
# that carries the output, which ends when its last writer has.
kill_rest()
{
	local p
	for p in /proc/[0-9]*; do
		p=${p#/proc/}
		[ "$p" -ne 1 ] && [ "$p" != "${CAT:-}" ] &&
			[ -e "/proc/$p/exe" ] && kill "-$1" "$p"
	done 2>/dev/null
}

delete_links()
{
	local dev
	for dev in /sys/class/infiniband/*; do
		[ -e "$dev" ] || continue
		bounded 30 rdma link delete "${dev##*/}" ||
			fail "rdma link delete ${dev##*/} failed at the end"
	done
}

# What nobody points to any more, of what our modules have allocated, or what has
# been unloaded since. New memory counts after 5 s; twice, because what changed
# since the last scan does not. A kernel that gave up looking says nothing else.
leaks()
{
	local file=/sys/kernel/debug/kmemleak line
	if [ ! -e $file ] || grep -q kmemleak=off /proc/cmdline; then
		return
	fi
	sleep 6
	bounded 900 sh -c "echo scan >$file && echo scan >$file" ||
		fail "kmemleak: no scan (exit status $?)"
	cat $file >"$ME/kmemleak"
	note "kmemleak: $(grep -c ^unreferenced "$ME/kmemleak") objects in all"
	grep -qE '\[(sroce|kverbs|trouble)\]|\] 0xffffffff' "$ME/kmemleak" ||
		return 0
	fail "kmemleak: $(grep -c ^unreferenced "$ME/kmemleak") objects"
	# the log takes a line at a time
	while IFS= read -r line; do
		echo "$line" >/dev/kmsg
	done < <($BB head -n 60 "$ME/kmemleak")
}

unload()
{
	local try rc
	# one that is built in has no state
	[ -e /sys/module/sroce/initstate ] || return 0
	# the last close of a verbs file runs from a work queue
	for try in 1 2 3 4 5; do
		bounded 40 rmmod sroce
		rc=$?
		[ $rc -eq 1 ] || break
		sleep 0.$try
	done
	case $rc in
	0)	;;
	124)	blocked_tasks "rmmod sroce hangs"
		fail "rmmod sroce hangs" ;;
	*)	fail "rmmod sroce failed, references: $(cat \
			/sys/module/sroce/refcnt)" ;;
	esac
}

cleanup()
{
	kill_rest TERM
	$BB sleep 0.1
	kill_rest KILL
	[ -z "${CAT:-}" ] || wait_for 10 "$CAT"
	delete_links
	leaks
	unload
	# Deleted namespaces go away in a work queue, and a netdev reference
	# that was leaked shows up there, after ten seconds of waiting.
	if compgen -G '/run/netns/*' >/dev/null; then
		bounded 30 ip -all netns delete ||
			fail "namespaces are not deleted"
		sleep 0.2
	fi
}

# shellcheck disable=SC1090,SC1091
. "$JOB/setup"
mkdir -p "$ME"
: >"$ME/verdict"
limits
programs
network
cpu_frequency
note "the command starts"
touch "$ME/started"
run_command
note "the command has ended"
cleanup
note "all is cleaned up"
dmesg >"$ME/dmesg"
touch "$ME/done"
sync
# Nothing can be loaded any more once the power goes, and PID 1 must not end.
exec 9<><(:)
echo o >/proc/sysrq-trigger
while :; do read -r -t 1000 -u 9 _; done
