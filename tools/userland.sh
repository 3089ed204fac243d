#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Another Debian's user space for the VM: a root file system with its rdma-core,
# perftest, pyverbs and iproute2, made once. tools/vm.sh --root boots it.
#
# usage: tools/userland.sh [suite]        prints the directory; [trixie]
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

make_root()	# suite directory
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
	rm -rf "$tmp"/var/cache/apt/archives/*.deb "$tmp"/var/lib/apt/lists/*
	mv "$tmp" "$2"
}

main()
{
	local suite=${1:-trixie} dir
	dir=$SROCE_CACHE/userland/$suite
	mkdir -p "${dir%/*}"
	exec 9>"$dir.lock"
	flock 9
	if [ ! -d "$dir" ]; then
		[ "$(id -u)" -eq 0 ] || die "run as root once"
		command -v debootstrap >/dev/null ||
			apt-get -qq -y --no-install-recommends install \
				debootstrap </dev/null >"$dir.log" 2>&1 ||
			die "no debootstrap, see $dir.log"
		make_root "$suite" "$dir"
	fi
	echo "$dir"
}

main "$@"
