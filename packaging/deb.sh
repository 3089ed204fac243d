#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build the Debian packages, in a copy of what they are made of: sroce-dkms,
# sroce-tools, and sroce-modules-RELEASE for the kernel whose headers are named.
#
# usage: packaging/deb.sh OUTPUT-DIRECTORY [HEADERS-DIRECTORY]
#
# SIGN_KEY= and SIGN_CERT= (files) sign the module. Packages of ours in OUTPUT-DIRECTORY are
# replaced.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/kernel.sh
. tools/kernel.sh
export LC_ALL=C

NEEDS=(build-essential debhelper dh-dkms dpkg-dev fakeroot)
SOURCES=(Kbuild Makefile drv uapi LICENSES tools packaging debian
	README.md FEATURES.md SECURITY.md CHANGELOG.md INSTALL.md TROUBLESHOOTING.md CONTAINERS.md)

say() { echo "deb: $*" >&2; }
die() { say "$*"; exit 1; }

install_needs()
{
	[ "$(dpkg-query -W -f '${db:Status-Status}\n' "${NEEDS[@]}" 2>/dev/null |
		grep -cx installed)" -lt ${#NEEDS[@]} ] || return 0
	[ "$(id -u)" -eq 0 ] || die "install these first: ${NEEDS[*]}"
	say "installing: ${NEEDS[*]}"
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
		install "${NEEDS[@]}" </dev/null >&2
}

changelog()
{
	cat <<-EOF
	sroce ($(tools/version.sh)) unstable; urgency=medium

	  * See CHANGELOG.md.

	 -- The sroce authors <authors@sroce.invalid>  $(date -R -d "@$1")
	EOF
}

# The package for the kernel whose headers are in $2, in addition
add_modules()	# tree headers
{
	local release script
	release=$(headers_release "$2") || die "no headers in $2"
	[[ $release =~ ^[a-z0-9.+-]+$ ]] ||
		die "no Debian package can have the name of $release: capitals, or a _"
	[ "$(uname -m)" != x86_64 ] || grep -q '^CONFIG_X86_64=y' "$2/include/config/auto.conf" ||
		die "$2 is of another architecture: build this package there"
	sed "s/@RELEASE@/$release/; s/@ARCH@/$(dpkg --print-architecture)/" \
		debian/control.modules >>"$1/debian/control"
	for script in postinst postrm; do
		sed "s/@RELEASE@/$release/" debian/sroce-modules.postinst.in \
			>"$1/debian/sroce-modules-$release.$script"
	done
}

# What signs the module, as absolute paths: neither or both
signers()
{
	local name
	[ -n "${SIGN_KEY:-}${SIGN_CERT:-}" ] || return 0
	for name in SIGN_KEY SIGN_CERT; do
		[ -n "${!name:-}" ] || die "$name is missing"
		[ -r "${!name}" ] || die "$name: ${!name} can't be read"
	done
	SIGN_KEY=$(realpath "$SIGN_KEY") SIGN_CERT=$(realpath "$SIGN_CERT")
}

main()
{
	local out kdir=${2:+$(realpath "$2")} tree
	signers
	install_needs
	mkdir -p "$1"
	out=$(realpath "$1")
	tree=$out/sroce-$(tools/version.sh)
	rm -rf "$tree" "$out"/sroce-*.deb
	mkdir "$tree"
	cp -r "${SOURCES[@]}" "$tree/"
	[ ! -d man ] || cp -r man "$tree/"
	# the same sources give the same packages
	export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null ||
		stat -c %Y CHANGELOG.md)}
	changelog "$SOURCE_DATE_EPOCH" >"$tree/debian/changelog"
	[ -z "$kdir" ] || add_modules "$tree" "$kdir"
	(cd "$tree" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL KDIR="$kdir" \
		SIGN_KEY="${SIGN_KEY:-}" SIGN_CERT="${SIGN_CERT:-}" \
		dpkg-buildpackage -b -us -uc) >"$out/build.log" 2>&1 ||
		{ tail -n 30 "$out/build.log" >&2; die "see $out/build.log"; }
	rm -rf "$tree" "$out"/sroce_*.{buildinfo,changes}
	ls "$out"/sroce-*.deb
}

main "$@"
