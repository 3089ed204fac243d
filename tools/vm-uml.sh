# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of tools/vm.sh
# A VM that is a process: User Mode Linux. Sourced by tools/vm.sh.

# Whether the options of tools/vm.sh are possible
uml_can() { [ -z "$TWO$INTERACTIVE$ICOUNT$GDB$ROOT" ] && [ ${#QEMU_ARGS[@]} -eq 0 ]; }

# It would boot again where others end. kHz: of the CPU's counter
uml_cmdline()	# kHz
{
	echo "console=tty0 noreboot sroce.id=1 sroce.khz=$1 sroce.share.root=/"
}

# A terminal for the console and one for what the command prints. The memory is a file on a
# tmpfs. The kernel and the programs on it are processes that wait for each other: on one CPU of
# the host none has to wake up another, which a hypervisor makes slow.
#
# A kernel that panics ends its process group, and programs on one that is killed would go on as
# programs of the host: it has a session and a PID namespace, which end with it. A shell is the
# first in there, whom signals do not end.
uml()	# vm-directory
{
	local args own=() cpus
	[ "$(id -u)" -eq 0 ] || own=(--user --map-root-user)
	cpus=$(taskset -cp $BASHPID)
	read -ra args <<<"$CMDLINE sroce.share.job=$JOB"
	exec setsid unshare "${own[@]}" --pid --fork --kill-child taskset -c "${cpus##*[ ,-]}" \
		bash -c '"$@"; exit' bash "$VMLINUX" "mem=$MEM" "initrd=$INITRAMFS" \
		uml_dir="$1/" con=null con0=null,fd:1 con1=null,fd:3 "${args[@]}" \
		>"$1/console" 3>"$1/out"
}
