#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Give a runner of continuous integration an RDMA device: install what it needs, build
# the module for the running kernel or take a package, and add a device. What action.yml
# runs; as root, on Debian or Ubuntu. Devices of calls before stay.
#
# usage: tools/ci-device.sh [--name NAME] [--netdev NETDEV] [--package FILE.deb]
#   --name NAME      of the device                                      [sroce0]
#   --netdev NETDEV  whose addresses it has              [that of the default route]
#   --package FILE   sroce-modules of the running kernel: no compiler is needed
#
# Prints device=, netdev=, address= and gid-index=, for $GITHUB_OUTPUT as well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/topology.sh
. tools/topology.sh
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

NAME=sroce0 NETDEV='' PACKAGE=''
RELEASE=$(uname -r)
TOOLS=(rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest iproute2 kmod)

say() { echo "ci-device: $*" >&2; }
die() { say "$*"; exit 1; }

# Install those of "$@" that are missing. Without any there is nothing to ask the network.
need()
{
	local p want=()
	for p in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] ||
			want+=("$p")
	done
	[ ${#want[@]} -gt 0 ] || return 0
	say "installing: ${want[*]}"
	apt-get -qq update >&2
	apt-get -qq -y --no-install-recommends install "${want[@]}" </dev/null >&2
}

# Ubuntu's kernels for clouds have some modules in a package of their own.
need_core()
{
	local m
	for m in ib_uverbs rdma_ucm udp_tunnel; do
		modinfo -k "$RELEASE" "$m" >/dev/null 2>&1 ||
			{ need "linux-modules-extra-$RELEASE"; return; }
	done
}

# The kernel's own compiler has the options that its headers ask for.
kernel_cc()
{
	sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ "]*\).*/\1/p' \
		"/lib/modules/$RELEASE/build/.config" 2>/dev/null | sed 's/.*-linux-gnu-//'
}

build()
{
	local cc
	need "linux-headers-$RELEASE" make gcc
	cc=$(kernel_cc)
	if [[ $cc =~ ^gcc-[0-9]+$ ]] && ! command -v "$cc" >/dev/null; then
		need "$cc"
	fi
	say "building sroce for $RELEASE"
	# whatever the environment, or a make that started this, says of a kernel
	env -u KERNEL -u MAKEFLAGS -u MFLAGS make --no-print-directory \
		KDIR="/lib/modules/$RELEASE/build" ${cc:+CC="$cc"} module >&2
	install -D -m 644 ".build/$RELEASE/sroce.ko" "/lib/modules/$RELEASE/updates/sroce.ko"
	depmod -a "$RELEASE"
	# the next checkout is by the runner's user, who could not remove files of root
	chown -R --reference=. .build
}

# Later commands inherit the limit from the shell, or the runner, that started this.
raise_memlock()
{
	local pid=$$
	while [ "$pid" -gt 1 ]; do
		prlimit --memlock=unlimited:unlimited --pid "$pid"
		pid=$(awk '$1 == "PPid:" { print $2 }' "/proc/$pid/status")
	done
}

default_netdev()
{
	ip -o route show default | sed -n 's/.* dev \([^ ]*\).*/\1/p;T;q'
}

address_of() { ip -o -4 addr show dev "$1" | awk '{ sub("/.*", "", $4); print $4; exit }'; }

# The index of the GID of an IPv4 address. The core adds it a moment later.
index_now()	# device address
{
	local a b c d gid
	IFS=. read -r a b c d <<<"$2"
	printf -v gid '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "$a" "$b" "$c" "$d"
	gids "$1" | awk -v gid="$gid" '$2 == gid { print $1; found = 1; exit }
		END { exit !found }'
}

loaded() { [ -e /sys/module/sroce ]; }

# Of which sources the loaded module is, and the one that modprobe would load
loaded_sources() { cat /sys/module/sroce/srcversion 2>/dev/null || true; }
installed_sources() { modinfo -k "$RELEASE" -F srcversion sroce; }

# A module of other sources, which a job before has left, goes with its devices. That of a step
# before stays, as they do.
old_module_goes()
{
	loaded && [ "$(loaded_sources)" != "$(installed_sources)" ] || return 0
	say "the module that is loaded is of other sources: it goes, with its devices"
	rmmod sroce
}

netdev_of() { rdma link show "$1/1" 2>/dev/null | sed -n 's/.* netdev \([^ ]*\).*/\1/p' || true; }

device_up()
{
	local netdev
	netdev=$(netdev_of "$NAME")
	[ "$netdev" != "$NETDEV" ] || { say "$NAME is on $NETDEV already"; return 0; }
	[ -z "$netdev" ] || die "$NAME is on $netdev already, not on $NETDEV"
	rdma link add "$NAME" type sroce netdev "$NETDEV" ||
		{ dmesg | tail -n 20 >&2; die "no device: see the end of the kernel's log above"; }
}

# Where no udev runs, everybody may use the device as with it.
open_nodes() { chmod a+rw /dev/infiniband/rdma_cm /dev/infiniband/uverbs*; }

parse()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--name)		NAME=$2 ;;
		--netdev)	NETDEV=$2 ;;
		--package)	PACKAGE=$2 ;;
		*)		die "unknown argument $1" ;;
		esac
		shift 2
	done
}

main()
{
	local address index
	parse "$@"
	[ "$(id -u)" -eq 0 ] || die "run as root"
	need "${TOOLS[@]}"
	need_core
	if [ -n "$PACKAGE" ]; then
		apt-get -qq -y --no-install-recommends install "$(realpath "$PACKAGE")" \
			</dev/null >&2
	else
		build
	fi
	old_module_goes
	NETDEV=${NETDEV:-$(default_netdev)}
	[ -n "$NETDEV" ] || die "no default route: give --netdev"
	device_up
	address=$(address_of "$NETDEV")
	[ -n "$address" ] || die "$NETDEV has no IPv4 address"
	wait_until 10 index_now "$NAME" "$address" || die "no GID for $address"
	index=$(index_now "$NAME" "$address")
	open_nodes
	raise_memlock
	printf '%s\n' "device=$NAME" "netdev=$NETDEV" "address=$address" "gid-index=$index" |
		tee -a "${GITHUB_OUTPUT:-/dev/null}"
}

# a test sources this
[ "${BASH_SOURCE[0]}" != "$0" ] || main "$@"
