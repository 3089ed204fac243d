# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Where the kernels that the VM boots and the module is built against live.
# Sourced by the other scripts in tools/ and by the Makefile's shell calls.

SROCE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SROCE_CACHE=${SROCE_CACHE:-$SROCE_ROOT/.cache}

# The meta-package that pulls in the headers of kernel series $1.
kernel_headers_package()
{
	case $1 in
	6.1)	echo linux-headers-amd64 ;;
	*)	echo "linux-headers-$1-amd64" ;;
	esac
}

# The newest release of series $1 whose headers are installed, e.g.
# 6.1.0-56-amd64; fails when there is none. The series "debug" is what
# tools/debug-kernel.sh has built.
kernel_release()
{
	local dir
	if [ "$1" = debug ]; then
		cat "$(kernel_headers debug)/include/config/kernel.release" \
			2>/dev/null
		return
	fi
	dir=$(find /usr/src -maxdepth 1 -name "linux-headers-$1.*-amd64" \
		! -name '*-rt-*' ! -name '*-cloud-*' 2>/dev/null |
		sort -V | tail -n 1)
	[ -n "$dir" ] && [ -e "$dir/include/config/auto.conf" ] || return 1
	echo "${dir#/usr/src/linux-headers-}"
}

# The build directory for series $1.
kernel_headers()
{
	local rel
	if [ "$1" = debug ]; then
		echo "$SROCE_CACHE/debug-kernel/build"
		return
	fi
	rel=$(kernel_release "$1") || return 1
	echo "/usr/src/linux-headers-$rel"
}

# The unpacked image of release $1 (not of a series): boot/ and lib/modules/.
kernel_dir()
{
	echo "$SROCE_CACHE/kernel/$1"
}

# Unpack Debian's source of Linux 6.1, or those files of it that are named, into
# directory $1. The package is downloaded, not installed.
kernel_source()	# directory [path...]
{
	local dir=$1 tmp
	shift
	tmp=$(mktemp -d "$dir/deb.XXXXXX") || return
	(cd "$tmp" && { apt-get -qq download linux-source-6.1 ||
		{ apt-get -qq update && apt-get -qq download linux-source-6.1; }; }
	) && dpkg-deb --fsys-tarfile "$tmp"/*.deb |
		tar -x --to-stdout ./usr/src/linux-source-6.1.tar.xz |
		xz -T0 -dc |
		tar -x -C "$dir" --strip-components=1 "${@/#/linux-source-6.1/}"
	local status=$?
	rm -rf "$tmp"
	return $status
}

# Where setup.sh --scripts has put the kernel's own checkers of sources.
kernel_scripts() { echo "$SROCE_CACHE/scripts"; }
