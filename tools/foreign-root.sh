#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A root for VMs of another architecture, which tests are linked against, too: Debian 12's
# packages, unpacked, once. Their scripts would need that architecture's CPU; the little
# that tests need of what they do is done here.
#
# usage: tools/foreign-root.sh ARCH        prints the directory
set -euo pipefail

# shellcheck source=tools/kernel.sh
. "$(dirname "${BASH_SOURCE[0]}")/kernel.sh"
# shellcheck source=tools/fetch-kernel.sh
. "$(dirname "${BASH_SOURCE[0]}")/fetch-kernel.sh"

PACKAGES=(
	# what a Debian always has
	base-files base-passwd bash coreutils dash debianutils diffutils e2fsprogs findutils
	grep gzip hostname libc-bin login mawk mount ncurses-bin passwd sed tar util-linux
	# for the initramfs
	busybox-static
	# what the selftests call
	rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest python3-pyverbs
	iproute2 iputils-ping ethtool kmod procps make tcpdump
	# what they are linked against
	libibverbs-dev librdmacm-dev libc6-dev
)

say() { echo "foreign-root: $*" >&2; }
die() { say "$*"; exit 1; }

download()	# directory
{
	mkdir -p "$1/partial"
	kernel_apt apt-get -qq -y --no-install-recommends --download-only \
		-o "APT::Architecture=$FETCH_ARCH" -o Debug::NoLocking=1 \
		-o "Dir::Cache::archives=$1" install "${PACKAGES[@]}"
}

# /bin, /sbin and /lib are links into /usr from the start. A compiler follows links by the
# host's root: absolute ones are made relative.
unpack()	# debs root
{
	local deb link
	mkdir -p "$2"/usr/{bin,sbin,lib} && ln -s usr/bin usr/sbin usr/lib "$2/" || return
	for deb in "$1"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x --keep-directory-symlink -C "$2" || return
	done
	while read -r link; do
		ln -sfn --relative "$2$(readlink "$link")" "$link" || return
	done < <(find "$2/usr/lib" -name '*.so' -lname '/*')
}

configure()	# root
{
	cp "$1/usr/share/base-passwd/passwd.master" "$1/etc/passwd" &&
	cp "$1/usr/share/base-passwd/group.master" "$1/etc/group" &&
	ln -s mawk "$1/usr/bin/awk"
}

make_root()	# directory
{
	local tmp=$1.tmp log=$1.log
	say "unpacking a root for $FETCH_ARCH"
	rm -rf "$tmp" "$tmp.debs"
	update_lists || die "Debian's lists are not to be had"
	if ! { download "$tmp.debs" && unpack "$tmp.debs" "$tmp" &&
	       configure "$tmp"; } >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		die "no root for $FETCH_ARCH"
	fi
	rm -rf "$tmp.debs" "$1"
	mv "$tmp" "$1"
	made_by >"$1.made-by"
}

# A root that another version of this script has made may lack what is asked for here.
made_by() { sha256sum <"${BASH_SOURCE[0]}"; }

main()
{
	local dir
	FETCH_ARCH=${1:?an architecture}
	dir=$SROCE_CACHE/userland/$FETCH_ARCH
	mkdir -p "${dir%/*}"
	exec 9>"$dir.lock"
	flock 9
	[ -d "$dir" ] && made_by | cmp -s - "$dir.made-by" || make_root "$dir"
	echo "$dir"
}

main "$@"
