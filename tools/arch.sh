# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034
# What differs by architecture, each named as Debian does: the compiler, and the machine
# that QEMU emulates. Sourced by tools/kernel.sh. The host is amd64.

arch_is_host() { [ "$1" = amd64 ]; }

# The prefix of the tools that compile for architecture $1; none for the host's.
arch_cross()
{
	case $1 in
	arm64)	echo aarch64-linux-gnu- ;;
	s390x)	echo s390x-linux-gnu- ;;
	esac
}

# Arguments for make, by which programs are compiled for architecture $1
arch_program_args()
{
	local cross
	cross=$(arch_cross "$1")
	echo "OUT=.out/$1 AR=${cross}ar CC='${cross}gcc --sysroot=$(
		"$SROCE_ROOT/tools/foreign-root.sh" "$1")'"
}

# What to install, for $1 to be compiled for
arch_compiler()
{
	case $1 in
	arm64)	echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross ;;
	s390x)	echo gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user ;;
	esac
}

# The package with the emulator for $1; fails where none of them is a VM of ours.
arch_qemu_package()
{
	case $1 in
	amd64)	echo qemu-system-x86 ;;
	arm64)	echo qemu-system-arm ;;
	*)	return 1 ;;
	esac
}

# arch_machine ARCH: sets what tools/vm.sh starts. An emulated x86 CPU moves a byte at a
# time by string instructions that it says are fast, and eight by others: without these
# two features the kernel takes those others. The key of a pointer's signature is cheap
# to emulate only in a form of QEMU's own.
arch_machine()
{
	case $1 in
	amd64)	QEMU=qemu-system-x86_64 MACHINE=q35,usb=off,vmport=off CONSOLE=ttyS0
		TCG_CPU=max,erms=off,fsrm=off ;;
	arm64)	QEMU=qemu-system-aarch64 MACHINE=virt,gic-version=3 CONSOLE=ttyAMA0
		TCG_CPU=max,pauth-impdef=on ;;
	*)	return 1 ;;
	esac
}
