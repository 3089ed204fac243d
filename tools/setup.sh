#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Install what building and testing needs and is missing; unpack the headers and
# the image of the kernel that the VM boots. Says nothing, and takes no time, when
# all is there.
#
# usage: tools/setup.sh [--kernel NAME]... [--newest] [--arch ARCH] [--scripts] [--intree]
#                      [--virtiofsd] [--apps]
#
# NAME is a series, perhaps a flavour and an architecture: 6.1, 6.12-cloud, 7.3-rt,
# 6.1-arm64; or 6.1-debug. --arch installs what compiles for s390x or arm64 and runs it.
# --newest fetches a newer release of the kernels, if there is one.
# --scripts fetches what make lint runs of the kernel's own scripts; --intree installs what
# make intree and check-intree run; --virtiofsd fetches what serves the VM's root to kernels
# that have no 9p; --apps installs the applications of make apps.
#
# Kernels are not installed: that would write to /boot and build an initrd on the
# user's machine for a kernel that only ever runs in a VM.
set -euo pipefail

# shellcheck source=tools/kernel.sh
. "$(dirname "${BASH_SOURCE[0]}")/kernel.sh"
# shellcheck source=tools/fetch-kernel.sh
. "$(dirname "${BASH_SOURCE[0]}")/fetch-kernel.sh"

export DEBIAN_FRONTEND=noninteractive LC_ALL=C

PACKAGES=(
	# building
	gcc clang make libelf-dev libc6-dev bc sparse pkg-config kmod cpio
	libclang-rt-dev libstdc++-12-dev llvm
	zstd xz-utils rsync mandoc libibverbs-dev librdmacm-dev libasan8 libubsan1
	# the tests of tools/intree
	unifdef coccinelle
	# the VM
	busybox-static procps util-linux
	# what runs in it
	rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest
	iproute2 iputils-ping ethtool tcpdump tshark python3 python3-scapy
	python3-pyverbs
	libcap-ng0 libseccomp2 iperf3 sockperf linux-perf gnuplot-nox nftables crun ucx-utils
)
# selftests/apps
APPS=(
	openmpi-bin libopenmpi-dev mpich libmpich-dev libfabric-bin fio qperf iperf3
	nfs-kernel-server open-iscsi
)
BACKPORTS_LIST=/etc/apt/sources.list.d/sroce-backports.sources
QEMU_MIN=10

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 1; }

# Those of "$@" that are not installed.
missing()
{
	local have
	have=$(dpkg-query -W -f '${db:Status-Status} ${binary:Package}\n' \
		"$@" 2>/dev/null | sed -n 's/^installed \([^:]*\).*/\1/p') || true
	comm -13 <(sort -u <<<"$have") <(printf '%s\n' "$@" | sort -u)
}

qemu_is_new()	# package
{
	local v
	v=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null) || return 1
	dpkg --compare-versions "$v" ge "1:$QEMU_MIN"
}

APT_UPDATED=
apt_update()
{
	[ -z "$APT_UPDATED" ] || return 1
	say "apt-get update"
	apt-get -qq update || say "apt-get update had errors, going on"
	APT_UPDATED=1
}

# A list that was never fetched, or that still names a version the archive
# has replaced, both look like a failed install: fetch it and try again.
apt_install()
{
	[ "$(id -u)" -eq 0 ] || die "run as root once, to install: $*"
	say "installing: $*"
	if apt-get -qq -y --no-install-recommends install "$@" </dev/null \
	    >"$SROCE_CACHE/apt.log" 2>&1; then
		return
	fi
	apt_update || { tail -n 20 "$SROCE_CACHE/apt.log" >&2; return 1; }
	apt-get -qq -y --no-install-recommends install "$@" </dev/null \
		>"$SROCE_CACHE/apt.log" 2>&1 ||
		{ tail -n 20 "$SROCE_CACHE/apt.log" >&2; return 1; }
}

# The suite's backports, from the mirror the machine already uses.
# shellcheck disable=SC2016 # apt expands these
add_backports()
{
	local suite uri
	# shellcheck disable=SC1091
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
	if apt-get indextargets --format '$(RELEASE)' 'Created-By: Packages' |
	    grep -qx "$suite-backports"; then
		return
	fi
	uri=$(apt-get indextargets --format '$(RELEASE) $(SITE)' \
		'Created-By: Packages' |
		awk -v s="$suite" '$1 == s { print $2; exit }')
	[ -n "$uri" ] || die "no apt source for $suite found"
	say "adding $suite-backports from the machine's own mirror"
	cat >"$BACKPORTS_LIST" <<-EOF
	Types: deb
	URIs: $uri
	Suites: $suite-backports
	Components: main
	Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
	EOF
	APT_UPDATED=
	apt_update
}

install_qemu()	# package
{
	! qemu_is_new "$1" || return 0
	add_backports
	# shellcheck disable=SC1091
	apt_install -t "$(. /etc/os-release && echo "$VERSION_CODENAME")-backports" "$1" ||
		die "QEMU $QEMU_MIN is not to be had from backports"
}

install_missing()	# package...
{
	local want=()
	mapfile -t want < <(missing "$@")
	[ ${#want[@]} -eq 0 ] || apt_install "${want[@]}" || die "apt-get install failed"
}

# What compiles for architecture $1, and runs it
install_arch()	# arch
{
	local qemu packages
	read -ra packages <<<"$(arch_compiler "$1")"
	[ ${#packages[@]} -eq 0 ] || install_missing "${packages[@]}"
	! qemu=$(arch_qemu_package "$1") || install_qemu "$qemu"
}

# Run a command while nobody else fetches
fetching()	# command...
{
	local rc=0
	flock 9
	"$@" || rc=$?
	flock -u 9
	return $rc
}

# Who has the kernel does not wait for those who fetch another, nor for one that is built,
# which takes half an hour and has a lock of its own.
setup_kernel()	# name [newest]
{
	if kernel_is_built "$1"; then
		"$SROCE_ROOT/tools/debug-kernel.sh" "$1"
	elif [ -n "${2:-}" ] || ! kernel_is_fetched "$1"; then
		fetching fetch_kernel "$@"
	fi
}

# The header packages have no checkpatch.pl, so it comes from the source.
fetch_scripts()
{
	local dir tmp
	dir=$(kernel_scripts) tmp=$dir.source
	[ ! -e "$dir/checkpatch.pl" ] || return 0
	say "fetching checkpatch.pl and kernel-doc"
	rm -rf "$tmp" "$dir"
	kernel_source 6.1 "$tmp" scripts/{checkpatch.pl,kernel-doc} \
		scripts/{spelling.txt,const_structs.checkpatch} \
		>"$SROCE_CACHE/apt.log" 2>&1 ||
		{ tail -n 20 "$SROCE_CACHE/apt.log" >&2
		  die "linux-source-6.1 is not to be had"; }
	mv "$tmp/scripts" "$dir"
	rm -rf "$tmp"
}

main()
{
	local kernels=() archs=() packages=("${PACKAGES[@]}") k scripts='' newest='' programs=()
	while [ $# -gt 0 ]; do
		case $1 in
		--kernel)	kernels+=("${2:?--kernel needs a name}"); shift 2 ;;
		--newest)	newest=1; shift ;;
		--arch)		archs+=("${2:?--arch needs a name}"); shift 2 ;;
		--scripts)	scripts=1; shift ;;
		--virtiofsd)	programs+=(virtiofsd); shift ;;
		--intree)	packages+=("${INTREE_PACKAGES[@]}"); programs+=(sparse); shift ;;
		--apps)		packages+=("${APPS[@]}"); shift ;;
		*)		die "unknown argument $1" ;;
		esac
	done
	[ ${#kernels[@]} -gt 0 ] || [ ${#archs[@]} -gt 0 ] || kernels=(6.1)
	for k in ${kernels[@]+"${kernels[@]}"}; do
		archs+=("$(kernel_arch "$k")")
	done
	mkdir -p "$SROCE_CACHE"
	# several builds may start at once in one tree
	exec 9>"$SROCE_CACHE/setup.lock"
	flock 9
	install_missing "${packages[@]}"
	for k in "${archs[@]}"; do
		install_arch "$k"
	done
	[ -z "$scripts" ] || fetch_scripts
	exec 9>"$SROCE_CACHE/kernels.lock"
	for k in ${programs[@]+"${programs[@]}"}; do
		program_is_fetched "$k" || fetching fetch_program "$k" ||
			die "$k is not to be had"
	done
	for k in ${kernels[@]+"${kernels[@]}"}; do
		setup_kernel "$k" $newest
	done
}

main "$@"
