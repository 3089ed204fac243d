# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Where the kernels that the VM boots and the module is built against live.
# Sourced by the other scripts in tools/ and by the Makefile's shell calls.

SROCE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SROCE_CACHE=${SROCE_CACHE:-$SROCE_ROOT/.cache}

# shellcheck source=tools/arch.sh
. "$SROCE_ROOT/tools/arch.sh"

# A kernel is named SERIES[-FLAVOUR][-ARCH], e.g. 6.1, 6.12-cloud, 7.3-rt or 6.1-arm64;
# SERIES-debug, SERIES-kcsan, SERIES-intree and SERIES-uml are what tools/debug-kernel.sh builds.
KERNEL_SERIES=(6.1 6.12 7.2 7.3)
KERNEL_FLAVOURS=('' -cloud -rt)
KERNELS_ARM64=(6.1-arm64 6.12-arm64)

# What tools/intree.sh and tools/check-intree.sh run
# shellcheck disable=SC2034
INTREE_PACKAGES=(unifdef coccinelle pandoc mandoc flex bison python3-docutils)

# All names of Debian's kernels that make kernels tries.
kernel_names()
{
	local s f
	for s in "${KERNEL_SERIES[@]}"; do
		for f in "${KERNEL_FLAVOURS[@]}"; do
			echo "$s$f"
		done
	done
	printf '%s\n' "${KERNELS_ARM64[@]}"
}

kernel_series() { echo "${1%%-*}"; }	# name

# Debian's name of the architecture of kernel $1
kernel_arch()	# name
{
	case $1 in
	*-arm64)	echo arm64 ;;
	*-s390x)	echo s390x ;;
	*)		echo amd64 ;;
	esac
}

# True of kernels that are not Debian's but built by tools/debug-kernel.sh.
kernel_is_built() { [[ $1 == *-@(debug|kcsan|intree|uml) ]]; }

# True of kernels that are processes of the host.
kernel_is_uml() { [[ $1 == *-uml ]]; }

# Debian's name of the flavour of kernel $1, e.g. amd64 or rt-amd64; fails for a name
# that is none.
kernel_flavour()	# name
{
	[[ $1 =~ ^[0-9]+[.][0-9]+(-(cloud|rt))?(-(arm64|s390x))?$ ]] || return
	echo "${BASH_REMATCH[2]:+${BASH_REMATCH[2]}-}$(kernel_arch "$1")"
}

# Those release names on stdin that are of kernel $1, the best first: of the oldest
# Debian, whose tools run here if any do, the newest.
kernel_releases()	# name
{
	local series flavour
	flavour=$(kernel_flavour "$1") || return
	series=$(kernel_series "$1")
	grep -E "^${series//./\\.}[.][0-9.]+(-[0-9]+|[+]deb[0-9.]+)-$flavour\$" |
		sed -E 's/^(.*[+]deb)([0-9]+)(.*)/\2 &/; t; s/^/0 /' |
		sort -k1,1n -k2,2rV | cut -d' ' -f2
}

# The release of kernel $1 that is in the cache, e.g. 6.1.0-56-amd64; fails when there is
# none. Of several it is the one that was fetched last. An unknown name has none.
kernel_release()
{
	if kernel_is_built "$1"; then
		cat "$(kernel_headers "$1")/include/config/kernel.release" 2>/dev/null
		return
	fi
	cat "$SROCE_CACHE/headers/$1" 2>/dev/null
}

# The build directory for kernel $1.
kernel_headers()
{
	local rel
	if kernel_is_built "$1"; then
		echo "$SROCE_CACHE/debug-kernel/$1"
		return
	fi
	rel=$(kernel_release "$1") || return 1
	echo "$SROCE_CACHE/headers/usr/src/linux-headers-$rel"
}

# The release that modprobe and uname have of the kernel of build directory $1. The file
# kernel.release has the same for all flavours of Debian's 6.1.
headers_release()	# directory
{
	sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' "$1/include/generated/utsrelease.h" \
		2>/dev/null | grep .
}

# The unpacked image of release $1 (not of a kernel's name): boot/ and lib/modules/.
kernel_dir()
{
	echo "$SROCE_CACHE/kernel/$1"
}

# Whether the kernel of directory $1 and release $2 has 9p, by which the VM has its root.
# Debian's cloud kernels have only virtiofs.
kernel_has_9p()	# kernel-dir release
{
	grep -qE '/9p\.ko' "$1/lib/modules/$2"/modules.{dep,builtin}
}

# Where setup.sh has unpacked the program of package $1
fetched_program()	# package
{
	case $1 in
	virtiofsd)	echo "$SROCE_CACHE/virtiofsd/usr/libexec/virtiofsd" ;;
	*)		echo "$SROCE_CACHE/$1/usr/bin/$1" ;;
	esac
}

# Where setup.sh --scripts has put the kernel's own checkers of sources.
kernel_scripts() { echo "$SROCE_CACHE/scripts"; }
