#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build the RPM packages sroce-dkms and sroce-tools.
#
# usage: packaging/rpm.sh OUTPUT-DIRECTORY, where packages of ours are replaced
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C

SOURCES=(Kbuild drv uapi LICENSES tools packaging
	README.md FEATURES.md SECURITY.md CHANGELOG.md INSTALL.md TROUBLESHOOTING.md CONTAINERS.md)

say() { echo "rpm: $*" >&2; }
die() { say "$*"; exit 1; }

install_needs()
{
	! command -v rpmbuild >/dev/null || return 0
	if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
		die "install rpmbuild first"
	fi
	say "installing: rpm"
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
		install rpm </dev/null >&2
}

main()
{
	local out version top man=()
	version=$(tools/version.sh)
	install_needs
	mkdir -p "$1"
	out=$(realpath "$1")
	TOP=$(mktemp -d "$out/sroce.XXXXXX") top=$TOP
	trap 'rm -rf "$TOP"' EXIT
	rm -f "$out"/sroce-*.rpm
	mkdir -p "$top"/{SOURCES,SPECS}
	[ ! -d man ] || man=(man)
	tar -czhf "$top/SOURCES/sroce-$version.tar.gz" \
		--transform "s|^|sroce-$version/|" "${SOURCES[@]}" "${man[@]}"
	sed "s/@VERSION@/$version/" packaging/sroce.spec.in >"$top/SPECS/sroce.spec"
	# Debian's rpmbuild knows nothing of what Debian has installed
	rpmbuild --define "_topdir $top" --nodeps -ba "$top/SPECS/sroce.spec" \
		>"$out/build.log" 2>&1 ||
		{ tail -n 30 "$out/build.log" >&2; die "see $out/build.log"; }
	find "$top" -name '*.rpm' -exec mv -t "$out" {} +
	ls "$out"/sroce-*.rpm
}

main "$@"
