#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2054
# Run a command in a VM: Debian's stock kernel, the host's own root read-only
# below a tmpfs, so that whatever is installed here is there too and nothing
# the command does can stay behind.
#
# usage: tools/vm.sh [options] -- command [argument...]
#   --kernel NAME       kernel: 6.1, 6.12, 7.3, 6.12-rt ...; 6.1-arm64 runs on an
#                       emulated arm64 CPU, with a root of its own; 6.1-debug and
#                       6.1-kcsan are built by tools/debug-kernel.sh, and so is 6.1-uml,
#                       a process that the machine's own CPU executes. Programs on it see
#                       the host's files read-only unless they mount them anew  [6.1]
#   --cpus N            virtual CPUs                                   [2]
#   --mem M             memory, as QEMU takes it                       [4G]
#   --timeout S         limit for the command                          [600]
#   --two               two VMs on one Ethernet; the command runs in both, with
#                       VM_ID=1 or 2, eth0 = 10.9.0.$VM_ID and fd09::$VM_ID
#   --nic NIC           of --two: virtio, with one queue; virtio-mq, with one for
#                       each CPU (it needs root, for taps); igb, with two  [virtio]
#   --root SUITE        that Debian's user space instead of the host's
#                       (tools/userland.sh); of the host it sees the clone, the
#                       cache and the working directory
#   --root /DIRECTORY   that root, with the newest kernel that is installed in it
#   --interactive       a shell (or the command) on this terminal
#   --icount            one CPU whose clock counts instructions, 1 ns each: what
#                       is measured is slower, but the same on every machine
#   --shift N           of --icount: each takes 2^N ns, a slower CPU       [0]
#   --tcg               emulate, even where KVM works
#   --gdb               gdb stub on port 1234 (VM 2: 1235)
#   --env NAME=VALUE    set a variable for the command (SROCE_* and ROUNDS,
#                       TESTS, VERBOSE are passed on as they are)
#   --append ARG        one more argument on the kernel's command line, such as
#                       slub_debug=FZPU or kfence.sample_interval=20 (6.12)
#   --qemu-arg ARG      one more argument for QEMU
#   --keep DIR          keep console, dmesg and output of the run in DIR
#
# The exit status is the command's; 125 when the kernel complained, the module
# did not unload cleanly or the VM never reported back.
set -euo pipefail

# shellcheck source=tools/kernel.sh
. "$(dirname "${BASH_SOURCE[0]}")/kernel.sh"
# shellcheck source=tools/complaints.sh
. "$(dirname "${BASH_SOURCE[0]}")/complaints.sh"
# shellcheck source=tools/vm-image.sh
. "$(dirname "${BASH_SOURCE[0]}")/vm-image.sh"
# shellcheck source=tools/vm-uml.sh
. "$(dirname "${BASH_SOURCE[0]}")/vm-uml.sh"

KERNEL=${KERNEL:-6.1}
CPUS=2 MEM=4G TIMEOUT=600 TWO='' INTERACTIVE='' ICOUNT='' SHIFT=0 TCG='' GDB='' KEEP='' APPEND=''
ROOT='' NIC=virtio
QEMU_ARGS=() ENVS=()
# Seconds to boot, and to clean up beyond the command's own time: all of it
# happens at a tenth of a real CPU's speed, on a machine that may be busy.
BOOT_LIMIT=${SROCE_BOOT_LIMIT:-120} GRACE=${SROCE_GRACE:-120}

say() { echo "vm: $*" >&2; }
die() { say "$*"; exit 125; }

# What set -e ends has run no command.
set -E
trap 'die "failed: $BASH_COMMAND"' ERR

parse()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--kernel)	KERNEL=$2; shift 2 ;;
		--cpus)		CPUS=$2; shift 2 ;;
		--mem)		MEM=$2; shift 2 ;;
		--timeout)	TIMEOUT=$2; shift 2 ;;
		--two)		TWO=1; shift ;;
		--nic)		NIC=$2; shift 2 ;;
		--root)		ROOT=$2; shift 2 ;;
		--interactive)	INTERACTIVE=1; shift ;;
		--icount)	ICOUNT=1 CPUS=1; shift ;;
		--shift)	SHIFT=$2; shift 2 ;;
		--tcg)		TCG=1; shift ;;
		--gdb)		GDB=1; shift ;;
		--env)		ENVS+=("$2"); shift 2 ;;
		--append)	APPEND+=" $2"; shift 2 ;;
		--qemu-arg)	QEMU_ARGS+=("$2"); shift 2 ;;
		--keep)		KEEP=$2; shift 2 ;;
		-h|--help)	sed -n '4,/^set/{/^#/s/^# \?//p}' "$0"; exit 0 ;;
		--)		shift; COMMAND=("$@"); return ;;
		-*)		die "unknown option $1" ;;
		*)		COMMAND=("$@"); return ;;
		esac
	done
	COMMAND=()
}

# /dev/kvm that opens is no proof that it works (nested and stripped-down
# hosts): believe a kernel that boots on it. The verdict holds for one host
# kernel, CPU and QEMU.
kvm_works()
{
	local key verdict=$SROCE_CACHE/kvm
	arch_is_host "$ARCH" && [ -w /dev/kvm ] || return 1
	key="$(uname -r) $(sed -n 's/^model name.*: //p;T;q' /proc/cpuinfo) \
$(dpkg-query -W -f '${Version}' qemu-system-x86)"
	if [ "$(sed -n 1p "$verdict" 2>/dev/null)" != "$key" ]; then
		say "probing whether KVM works here (once)"
		{
			echo "$key"
			timeout -k 1 10 qemu-system-x86_64 -nodefaults \
				-no-user-config -display none -no-reboot \
				-machine q35 -cpu host -accel kvm -smp 2 -m 512 \
				-kernel "$VMLINUX" \
				-initrd "$INITRAMFS" -serial stdio -append \
				"console=ttyS0 quiet panic=-1 sroce.probe" \
				</dev/null 2>/dev/null |
				grep -ao sroce-probe-ok || echo no
		} >"$verdict.$$"
		mv "$verdict.$$" "$verdict"
	fi
	[ "$(sed -n 2p "$verdict")" = sroce-probe-ok ]
}

# The guest's root, if it is not the host's: of another architecture, or that of --root
find_root()
{
	ROOT_DIR='' BUSYBOX=/bin/busybox
	if ! arch_is_host "$ARCH"; then
		[ -z "$ROOT" ] || die "--root is for the host's architecture only"
		ROOT=$ARCH
		ROOT_DIR=$(realpath "$("$SROCE_ROOT/tools/foreign-root.sh" "$ARCH")")
		BUSYBOX=$ROOT_DIR$BUSYBOX
		return
	fi
	case $ROOT in
	'')	;;
	/*)	ROOT_DIR=$(realpath "$ROOT") ;;
	*)	ROOT_DIR=$(realpath "$("$SROCE_ROOT/tools/userland.sh" "$ROOT")") ;;
	esac
}

# The kernel's release, and where its image and modules are
find_kernel()
{
	local image
	case $ROOT in
	/*)	image=$(find "$ROOT_DIR/boot" -name 'vmlinuz-*' | sort -V | tail -n 1)
		[ -n "$image" ] || die "no kernel in $ROOT_DIR"
		RELEASE=${image##*/vmlinuz-} KDIR=$ROOT_DIR ;;
	*)	RELEASE=$(kernel_release "$KERNEL") || die "no kernel $KERNEL"
		KDIR=$(kernel_dir "$RELEASE") ;;
	esac
}

# What the tests have compiled, where it is not for the host's architecture
foreign_programs()
{
	arch_is_host "$ARCH" ||
		find "$SROCE_ROOT/selftests" -mindepth 3 -maxdepth 3 \
			-path "*/.out/$ARCH" -printf '%p '
}

# What the guest reads: setup (before anything runs), env (for the command)
# and the command itself.
write_job()
{
	local v
	mkdir -p "$JOB/vm1" "$JOB/vm2" "$JOB/shared"
	echo "$SROCE_ROOT/tools/vm-guest.sh" >"$JOB/guest"
	local modules=$KDIR/lib/modules/$RELEASE
	[ "$KDIR" != "$ROOT_DIR" ] || modules=''
	printf 'SROCE_MODULES=%q SROCE_TWO=%q SROCE_NIC=%q SROCE_PROGRAMS=%q\n' \
		"$modules" "$TWO" "$NIC" "$(foreign_programs)" >"$JOB/setup"
	{
		for v in "${!SROCE_@}" ROUNDS TESTS VERBOSE KERNEL TERM; do
			[ -z "${!v+set}" ] || printf 'export %s=%q\n' "$v" "${!v}"
		done
		for v in ${ENVS[@]+"${ENVS[@]}"}; do
			printf 'export %s=%q\n' "${v%%=*}" "${v#*=}"
		done
		printf 'export SROCE_CWD=%q SROCE_TIMEOUT=%q SROCE_JOB=/run/job\n' \
			"$PWD" "$TIMEOUT"
		printf 'export SROCE_NIC=%q\n' "$NIC"
		[ -z "$INTERACTIVE" ] || {
			local size
			size=$(stty size 2>/dev/null || echo 24 80)
			echo "export SROCE_INTERACTIVE=1" \
				"SROCE_ROWS=${size% *} SROCE_COLS=${size#* }"
		}
	} >"$JOB/env"
	if [ ${#COMMAND[@]} -eq 0 ]; then
		echo "exec bash -l" >"$JOB/command"
	else
		printf 'exec'
		printf ' %q' "${COMMAND[@]}"
		echo
	fi >>"$JOB/command"
}

# Directories of ours that the guest's own tmpfs mounts would hide, or that
# another root does not have.
kept_dirs()
{
	local d keep=()
	for d in "$SROCE_ROOT" "$SROCE_CACHE" "$PWD"; do
		d=$(realpath "$d")
		case ${ROOT:+root}$d/ in
		/tmp/*|/run/*|/var/tmp/*|[!/]*)
			[[ " ${keep[*]-} " == *" $d "* ]] || keep+=("$d") ;;
		esac
	done
	(IFS=,; echo "${keep[*]-}")
}

# Taps have several queues, a stream has one. They and the bridge between them go
# with the network namespace of this script.
taps_needed() { [ -n "$TWO" ] && [ "$NIC" = virtio-mq ]; }

taps()
{
	local id
	ip link add sroce type bridge mcast_snooping 0 forward_delay 0
	ip link set sroce up
	for id in 1 2; do
		ip tuntap add dev "tap$id" mode tap multi_queue vnet_hdr
		ip link set "tap$id" txqueuelen 10000 master sroce up
	done
}

# Each line is an argument for QEMU.
nic_args()	# id
{
	local mac=mac=52:54:00:09:00:0$1 wire="addr.type=unix,addr.path=$JOB/wire"
	if [ "$1" = 1 ]; then wire+=,server=on; else wire+=,server=off,reconnect-ms=100; fi
	case $NIC in
	virtio-mq)
		echo "-device"
		echo "virtio-net-pci,netdev=n,$mac,mq=on,vectors=$((2 * CPUS + 2))"
		echo "-netdev"
		echo "tap,id=n,ifname=tap$1,queues=$CPUS,script=no,downscript=no,vhost=off"
		return ;;
	igb)	printf '%s\n' -device "igb,netdev=n,$mac" ;;
	*)	printf '%s\n' -device "virtio-net-pci,netdev=n,$mac" ;;
	esac
	printf '%s\n' -netdev "stream,id=n,$wire"
}

# How the guest has the host's root and the job's directory. Each line is an argument.
share_args()	# vm-directory
{
	local name
	if [ -z "$VIRTIOFS" ]; then
		printf '%s\n' -fsdev \
			"local,id=root,path=/,security_model=none,readonly=on,multidevs=remap" \
			-device virtio-9p-pci,fsdev=root,mount_tag=root \
			-fsdev "local,id=job,path=$JOB,security_model=none" \
			-device virtio-9p-pci,fsdev=job,mount_tag=job
		return
	fi
	printf '%s\n' -object "memory-backend-memfd,id=mem,size=$MEM,share=on" \
		-machine memory-backend=mem
	for name in root job; do
		printf '%s\n' -chardev "socket,id=$name,path=$1/$name.sock" \
			-device "vhost-user-fs-pci,chardev=$name,tag=$name"
	done
}

# One server for each of them; it ends with its QEMU. What is a mount point of the host is a
# directory like others, or nothing could be mounted there.
serve()	# vm-directory name directory option...
{
	local dir=$1 name=$2 shared=$3 try
	shift 3
	"$(fetched_program virtiofsd)" --socket-path "$dir/$name.sock" --shared-dir "$shared" \
		--sandbox none --no-announce-submounts --inode-file-handles=prefer \
		--log-level error "$@" \
		</dev/null >>"$dir/virtiofsd.log" 2>&1 &
	SERVERS+=($!)
	for try in {1..200}; do
		[ ! -S "$dir/$name.sock" ] || return 0
		sleep 0.05
	done
	die "virtiofsd does not start after $try tries: $(cat "$dir/virtiofsd.log")"
}

serve_all()	# vm-directory
{
	[ -n "$VIRTIOFS" ] || return 0
	serve "$1" root / --readonly --cache always
	serve "$1" job "$JOB" --cache never
}

qemu()	# id
{
	local id=$1 dir=$JOB/vm$1 args=() nic=() shares=()
	mapfile -t shares < <(share_args "$dir")
	args=(
		-nodefaults -no-user-config -display none -no-reboot
		-name "sroce$id" -machine "$MACHINE" "${ACCEL[@]}"
		-smp "$CPUS" -m "$MEM"
		-kernel "$VMLINUX" -initrd "$INITRAMFS"
		-append "$CMDLINE sroce.id=$id"
		"${shares[@]}"
		-device virtio-rng-pci
		-chardev "file,id=console,path=$dir/console"
		-serial chardev:console
		-chardev "pipe,id=mon,path=$dir/mon" -mon chardev=mon
		-device virtio-serial-pci,max_ports=4
	)
	if [ -n "$INTERACTIVE" ]; then
		args+=(-chardev stdio,id=tty,signal=off
		       -device virtconsole,chardev=tty)
	else
		args+=(-chardev "file,id=out,path=$dir/out"
		       -device virtserialport,chardev=out,nr=1)
	fi
	if [ -n "$TWO" ]; then
		mapfile -t nic < <(nic_args "$id")
		args+=("${nic[@]}")
	fi
	[ -z "$GDB" ] || args+=(-gdb "tcp:127.0.0.1:$((1233 + id))")
	exec "$QEMU" "${args[@]}" ${QEMU_ARGS[@]+"${QEMU_ARGS[@]}"}
}

# Start VM $1 in the background with its output going to ours.
start()
{
	local id=$1 dir=$JOB/vm$1
	mkfifo "$dir/mon.in" "$dir/mon.out"
	: >"$dir/console"
	serve_all "$dir"
	if [ -n "$INTERACTIVE" ]; then
		qemu "$id"
		return
	fi
	mkfifo "$dir/out"
	if [ -n "$TWO" ]; then
		sed -u "s/^/[$id] /" <"$dir/out" &
	else
		cat "$dir/out" &
	fi
	READERS+=($!)
	if kernel_is_uml "$KERNEL"; then uml "$dir"; else qemu "$id"; fi \
		</dev/null 2>"$dir/qemu.log" &
	QEMUS[id]=$!
}

# A machine that is silent past its time gets an NMI, on which its kernel
# panics with every CPU's stack on the console; then it is ended.
stop_overdue()	# id
{
	say "VM $1 did not report back in time, stopping it"
	timeout 2 bash -c "echo nmi >'$JOB/vm$1/mon.in'" || true
	sleep 3
	kill -KILL "${QEMUS[$1]}" 2>/dev/null || true
}

# A VM has a limit to boot, and one from when its command starts.
overdue()	# id
{
	if [ -z "${DEADLINES[$1]-}" ]; then
		[ -e "$JOB/vm$1/started" ] || return $((SECONDS < BOOT_LIMIT))
		DEADLINES[$1]=$((SECONDS + TIMEOUT + GRACE))
	fi
	[ $SECONDS -ge "${DEADLINES[$1]}" ]
}

# Whether a VM runs; none that is overdue does.
any_runs()
{
	local id any=1
	for id in "${!QEMUS[@]}"; do
		kill -0 "${QEMUS[$id]}" 2>/dev/null || continue
		any=0
		overdue "$id" || continue
		echo "never reported back" >>"$JOB/vm$id/overdue"
		stop_overdue "$id"
	done
	return $any
}

wait_all()
{
	local id p
	while any_runs; do sleep 0.1; done
	# a reader waits for a QEMU that has never opened its output
	for id in "${!QEMUS[@]}"; do
		[ ! -p "$JOB/vm$id/out" ] || : 1<>"$JOB/vm$id/out"
	done
	for p in "${READERS[@]}"; do
		wait "$p" 2>/dev/null || true
	done
}

# Print what is wrong with VM $1's run; true when something is.
something_wrong()
{
	local dir=$JOB/vm$1 f bad=1
	for f in "$dir/overdue" "$dir/verdict"; do
		[ -s "$f" ] || continue
		sed "s/^/vm: VM $1: /" "$f" >&2
		bad=0
	done
	if complaint "$dir/console" "$dir/dmesg" >"$dir/complaint"; then
		say "VM $1: the kernel complained:"
		cat "$dir/complaint" >&2
		bad=0
	fi
	if [ ! -e "$dir/done" ]; then
		say "VM $1 ended without a report"
		cat "$dir/qemu.log" >&2 2>/dev/null || true
		bad=0
	fi
	return $bad
}

verdict()
{
	local rc=0 id s
	for id in 1 ${TWO:+2}; do
		s=$(cat "$JOB/vm$id/status" 2>/dev/null || echo 125)
		[ "$rc" -ne 0 ] || rc=$s
		if something_wrong "$id"; then
			rc=125
			say "VM $id: the last of the console:"
			tail -n 40 "$JOB/vm$id/console" | tr -d '\r' >&2
		fi
	done
	return "$rc"
}

finish()
{
	local id
	for id in "${!QEMUS[@]}"; do
		kill -KILL "${QEMUS[$id]}" 2>/dev/null || true
	done
	for id in ${SERVERS[@]+"${SERVERS[@]}"}; do
		kill "$id" 2>/dev/null || true
	done
	if [ -n "$KEEP" ]; then
		find "$JOB" \( -type p -o -type s \) -delete
		# nothing of an earlier run stays beside it
		{ rm -rf "$KEEP"/{vm1,vm2,shared} && mkdir -p "$KEEP" &&
			cp -r "$JOB/." "$KEEP/"; } ||
			say "what is to stay in $KEEP is not all there"
	fi
	rm -rf "$JOB"
}

# An emulated CPU has the host's counter. A busy host makes it measure a clock that
# is many times too fast, and nobody looks again.
tsc_khz()
{
	local bin=$SROCE_CACHE/tsc-khz
	arch_is_host "$ARCH" || return 0
	if [ ! -x "$bin" ]; then
		gcc -O2 -o "$bin.$$" "$SROCE_ROOT/tools/tsc-khz.c" || return 0
		mv "$bin.$$" "$bin"
	fi
	"$bin"
}

main()
{
	local keep khz='' rc=0
	parse "$@"
	ARCH=$(kernel_arch "$KERNEL")
	arch_machine "$ARCH" || die "no VM for $ARCH"
	case $NIC in virtio|virtio-mq|igb) ;; *) die "unknown NIC $NIC" ;; esac
	! kernel_is_uml "$KERNEL" || uml_can || die "$KERNEL has one CPU, and can't do that"
	"$SROCE_ROOT/tools/setup.sh" --kernel "$KERNEL"
	if taps_needed; then
		[ -n "${VM_OWN_NET:-}" ] || VM_OWN_NET=1 exec unshare -n "$0" "$@"
		taps
	fi
	find_root
	find_kernel
	VIRTIOFS=''
	kernel_is_uml "$KERNEL" || kernel_has_9p "$KDIR" "$RELEASE" || {
		VIRTIOFS=1
		"$SROCE_ROOT/tools/setup.sh" --kernel "$KERNEL" --virtiofsd
	}
	make_vmlinux "$KDIR" "$RELEASE"
	make_initramfs "$KDIR" "$RELEASE" "$BUSYBOX"
	if kernel_is_uml "$KERNEL"; then
		khz=$(tsc_khz)
		[ -n "$khz" ] || die "how fast is this CPU's counter?"
	elif [ -n "$ICOUNT" ]; then
		# sleep=on: an idle CPU's clock is the host's, or it would run
		# ahead while a file is read
		ACCEL=(-accel tcg,thread=single -cpu "$TCG_CPU"
			-icount shift="$SHIFT",sleep=on)
	elif [ -z "$TCG" ] && kvm_works; then
		ACCEL=(-accel kvm -cpu host)
	else
		ACCEL=(-accel tcg,thread=multi -cpu "$TCG_CPU")
		khz=$(tsc_khz)
	fi
	CMDLINE="loglevel=5 panic=-1 oops=panic log_buf_len=8M rcupdate.rcu_cpu_stall_timeout=60"
	if kernel_is_uml "$KERNEL"; then
		CMDLINE+=" $(uml_cmdline "$khz")"
	else
		CMDLINE+=" console=$CONSOLE mitigations=off nokaslr net.ifnames=0 apparmor=0"
		CMDLINE+=" audit=0 random.trust_cpu=on"
		! arch_is_host "$ARCH" ||
			CMDLINE+=" no_timer_check tsc=reliable${khz:+ tsc_early_khz=$khz}"
	fi
	CMDLINE+=$APPEND
	keep=$(kept_dirs)
	[ -z "$keep" ] || CMDLINE+=" sroce.keep=$keep"
	[ -z "$ROOT_DIR" ] || CMDLINE+=" sroce.root=$ROOT_DIR"

	QEMUS=() SERVERS=() READERS=() DEADLINES=()
	JOB=$(mktemp -d "${TMPDIR:-/tmp}/sroce-vm.XXXXXX")
	trap finish EXIT
	trap 'exit 130' INT TERM
	write_job
	if [ -n "$INTERACTIVE" ]; then
		(start 1)
	else
		SECONDS=0
		start 1
		[ -z "$TWO" ] || start 2
		wait_all
	fi
	verdict || rc=$?
	exit "$rc"
}

main "$@"
