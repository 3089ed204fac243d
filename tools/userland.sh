#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Another Debian's user space for the VM: a root file system with its rdma-core,
# perftest, pyverbs and iproute2, made once. tools/vm.sh --root boots it.
#
# usage: tools/userland.sh [suite [package...]]    prints the directory; [trixie]
#
# With packages it is a root of its own that has these, too. They may be a kernel:
# security updates are a source, and nothing runs on the host but their scripts.
set -euo pipefail

# shellcheck source=tools/kernel.sh
. "$(dirname "${BASH_SOURCE[0]}")/kernel.sh"

export DEBIAN_FRONTEND=noninteractive LC_ALL=C

# What the selftests call, beyond what every Debian has
PACKAGES=(
	rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest
	python3-pyverbs iproute2 iputils-ping ethtool kmod procps make tcpdump
)
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

say() { echo "userland: $*" >&2; }
die() { say "$*"; exit 1; }

# The mirror that the machine already uses
# shellcheck disable=SC2016 # apt expands these
mirror()
{
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		'Origin: Debian' | grep -v -- -security | head -n 1 | grep . ||
		echo http://deb.debian.org/debian
}

# Mirrors are reached as the host reaches them.
sources()	# suite
{
	local main
	main=$(mirror)
	cat <<-EOF
	deb $main $1 main
	deb $main $1-updates main
	deb ${main%/}-security $1-security main
	EOF
}

add_packages()	# suite directory package...
{
	local root=$2
	sources "$1" >"$root/etc/apt/sources.list"
	cp /etc/resolv.conf "$root/etc/"
	# no VM here boots the initrd of a kernel
	# shellcheck disable=SC2016 # for the shell in the root
	INITRD=No "$SROCE_ROOT/tools/in-root.sh" "$root" sh -c '
		apt-get -qq update &&
		apt-get -qq -y --no-install-recommends install "$@"' sh "${@:3}" </dev/null
}

make_root()	# suite directory [package...]
{
	local tmp=$2.tmp log=$2.log
	say "making a root of $1 (once)"
	rm -rf "$tmp"
	if ! debootstrap --variant=minbase --keyring="$KEYRING" \
	    --include="$(IFS=,; echo "${PACKAGES[*]}")" \
	    "$1" "$tmp" "$(mirror)" </dev/null >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		rm -rf "$tmp"
		die "debootstrap failed"
	fi
	if [ $# -gt 2 ] && ! add_packages "$1" "$tmp" "${@:3}" >>"$log" 2>&1; then
		tail -n 20 "$log" >&2
		rm -rf "$tmp"
		die "apt-get install in the root failed"
	fi
	rm -rf "$tmp"/var/cache/apt/archives/*.deb "$tmp"/var/lib/apt/lists/*
	mv "$tmp" "$2"
}

main()
{
	local suite=${1:-trixie} dir
	shift $(($# > 0))
	dir=$SROCE_CACHE/userland/$(IFS=+; echo "$suite${*:++$*}")
	mkdir -p "${dir%/*}"
	exec 9>"$dir.lock"
	flock 9
	if [ ! -d "$dir" ]; then
		[ "$(id -u)" -eq 0 ] || die "run as root once"
		command -v debootstrap >/dev/null ||
			apt-get -qq -y --no-install-recommends install \
				debootstrap </dev/null >"$dir.log" 2>&1 ||
			die "no debootstrap, see $dir.log"
		make_root "$suite" "$dir" "$@"
	fi
	echo "$dir"
}

main "$@"
