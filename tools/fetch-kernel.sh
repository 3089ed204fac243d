# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Fetch Debian's kernels: headers to build against, and an image for the VM. Both are
# unpacked below the cache. Nothing is installed, and the host's apt does not learn of the
# suites that they come from. Sourced by tools/setup.sh; needs kernel.sh and say().

SUITES=(bookworm bookworm-backports trixie trixie-backports sid)
SECURITY_SUITES=(bookworm-security trixie-security)
# Of other architectures only this host's Debian: what is built for them runs with its tools.
FOREIGN_SUITES=(bookworm bookworm-backports)
FOREIGN_SECURITY_SUITES=(bookworm-security)
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# The mirror that the machine already uses, of the archive or of its security updates.
# shellcheck disable=SC2016 # apt expands these
debian_mirror()	# [-security]
{
	local uri
	if [ -n "${1:-}" ]; then
		uri=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' \
			'Created-By: Packages' | grep -m 1 -e -security)
	else
		uri=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' \
			'Created-By: Packages' | grep -m 1 -v -e -security)
	fi
	echo "${uri:-http://deb.debian.org/debian${1:-}}"
}

apt_source()	# uri suite...
{
	local uri=$1
	shift
	printf '%s\n' 'Types: deb' "URIs: $uri" "Suites: $*" 'Components: main' \
		"Signed-By: $KEYRING" ''
}

# The architecture that is fetched for
FETCH_ARCH=amd64

apt_dir()
{
	arch_is_host "$FETCH_ARCH" && echo "$SROCE_CACHE/apt" ||
		echo "$SROCE_CACHE/apt-$FETCH_ARCH"
}

apt_sources()
{
	if arch_is_host "$FETCH_ARCH"; then
		apt_source "$(debian_mirror)" "${SUITES[@]}"
		apt_source "$(debian_mirror -security)" "${SECURITY_SUITES[@]}"
	else
		apt_source "$(debian_mirror)" "${FOREIGN_SUITES[@]}"
		apt_source "$(debian_mirror -security)" "${FOREIGN_SECURITY_SUITES[@]}"
	fi
}

# An apt with lists of its own, which knows all suites. Kernels of another architecture are
# built with this host's tools: it knows both. Images of containers are set up to keep no
# cache of the lists; without one, each look into them takes seconds.
kernel_apt()	# program argument...
{
	local dir
	dir=$(apt_dir)
	if [ ! -e "$dir/apt.conf" ]; then
		mkdir -p "$dir"/{sources,state/lists/partial,cache/archives/partial}
		apt_sources >"$dir/sources/debian.sources"
		cat >"$dir/apt.conf" <<-EOF
		Dir::Etc::SourceList "/dev/null";
		Dir::Etc::SourceParts "$dir/sources";
		Dir::State "$dir/state";
		Dir::State::status "/dev/null";
		Dir::Cache "$dir/cache";
		APT::Sandbox::User "root";
		APT::Architectures { "amd64"; "$FETCH_ARCH"; };
		Acquire::Languages "none";
		EOF
	fi
	APT_CONFIG=$dir/apt.conf "$1" -o Dir::Cache::pkgcache=pkgcache.bin \
		-o Dir::Cache::srcpkgcache=srcpkgcache.bin "${@:2}"
}

# Lists that are older than a day name packages that may be gone.
update_lists()	# [force]
{
	local stamp
	stamp=$(apt_dir)/updated
	if [ -z "${1:-}" ] && [ -n "$(find "$stamp" -mtime -1 2>/dev/null)" ]; then
		return
	fi
	say "reading the lists of Debian's kernels"
	kernel_apt apt-get -qq -o APT::Update::Error-Mode=any update >"$SROCE_CACHE/apt.log" 2>&1 ||
		{ tail -n 5 "$SROCE_CACHE/apt.log" >&2; return 1; }
	touch "$stamp"
}

# The best release of kernel $1 that the archive has whole. An update's image may come hours
# after its headers, since it is signed in between.
archive_release()	# name
{
	kernel_apt apt-cache search --names-only '^linux-(headers|image)-[0-9]' |
		sed -E 's/^linux-(headers|image)-//; s/ .*//' | sort | uniq -d |
		kernel_releases "$1" | head -n 1 | grep .
}

# Package $1 with those of its dependencies whose names match $2, each as NAME=VERSION.
with_dependencies()	# package pattern
{
	local todo=("$1") seen=' ' p record
	while [ ${#todo[@]} -gt 0 ]; do
		p=${todo[0]}
		todo=("${todo[@]:1}")
		[[ $seen != *" $p "* ]] || continue
		seen+="$p "
		record=$(kernel_apt apt-cache show --no-all-versions "$p") || return
		echo "$p=$(sed -n 's/^Version: //p' <<<"$record")"
		mapfile -t -O ${#todo[@]} todo < <(sed -n 's/^Depends: //p' <<<"$record" |
			grep -oE "linux-($2)-[0-9][^ ,(|]+" | grep -v -e '-unsigned$')
	done
}

# Download packages NAME=VERSION and unpack them into directory $1.
unpack_packages()	# directory package...
{
	local dir=$1 deb
	shift
	[ $# -gt 0 ] || return
	mkdir -p "$dir/deb"
	(cd "$dir/deb" && kernel_apt apt-get -qq download "$@") \
		>"$SROCE_CACHE/apt.log" 2>&1 ||
		{ tail -n 5 "$SROCE_CACHE/apt.log" >&2; return 1; }
	for deb in "$dir"/deb/*.deb; do
		dpkg-deb -x "$deb" "$dir" || return
	done
	rm -rf "$dir/deb" "${dir:?}/usr/share"
}

# Without the compiler that made the kernel, the module is built by this host's, which may
# lack an option that the configuration promises. This host's pahole then writes no BTF.
adapt_headers()	# directory
{
	local vars=$1/.kernelvariables conf=$1/include/config/auto.conf gcc
	gcc=$(grep -om 1 'gcc-[0-9]*' "$vars") || return 0
	! command -v "$gcc" >/dev/null || return 0
	sed -i "s/$gcc/gcc/" "$vars"
	# shellcheck disable=SC2016 # for make
	echo 'override PAHOLE_VERSION = $(CONFIG_PAHOLE_VERSION)' >>"$vars"
	sed -i '/^CONFIG_DEBUG_INFO_BTF_MODULES=/d' "$conf"
	gcc -fmin-function-alignment=16 -fsyntax-only -xc /dev/null 2>/dev/null ||
		sed -i '/^CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=/d' "$conf"
}

# A C library that is new enough for programs of any of the suites
fetch_libc()
{
	local libc=$SROCE_CACHE/headers/libc tmp
	[ ! -e "$libc/usr/lib64/ld-linux-x86-64.so.2" ] || return 0
	tmp=$libc.tmp.$$
	rm -rf "$libc" "$tmp"
	unpack_packages "$tmp" libc6 || { rm -rf "$tmp"; return 1; }
	mv "$tmp" "$libc"
}

# Programs of a newer Debian may want its C library: run those by it.
adapt_program()	# program
{
	local libc=$SROCE_CACHE/headers/libc needs
	needs=$(ldd "$1" 2>&1) || true
	[[ $needs == *GLIBC_*"not found"* ]] || return 0
	fetch_libc || return
	mv "$1" "$1.elf"
	cat >"$1" <<-EOF
	#!/bin/sh
	exec $libc/usr/lib64/ld-linux-x86-64.so.2 \\
		--library-path $libc/usr/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu \\
		"\$0.elf" "\$@"
	EOF
	chmod 755 "$1"
}

# Those of Kbuild. Debian's objtool executes objtool.real-x86, which is one of them.
adapt_programs()	# directory
{
	local program
	while read -r program; do
		adapt_program "$program" || return
	done < <(find "$1"/usr/lib/linux-kbuild-* -type f -perm -100 \
		! -name '*.sh' ! -name '*.elf' 2>/dev/null)
}

# The headers name each other by where they are installed.
relocate_headers()	# directory
{
	local dir
	for dir in "$1"/usr/src/linux-headers-*; do
		sed -i "s|/usr/src/|$SROCE_CACHE/headers/usr/src/|g" "$dir/Makefile"
		[ ! -e "$dir/.kernelvariables" ] || adapt_headers "$dir"
	done
	adapt_programs "$1"
}

program_is_fetched() { [ -e "$SROCE_CACHE/$1/.done" ]; }	# package

# The program of package $1, which this Debian may not have, or not in that version
fetch_program()	# package
{
	local dir=$SROCE_CACHE/$1
	! program_is_fetched "$1" || return 0
	say "fetching $1"
	rm -rf "$dir"
	update_lists && unpack_packages "$dir" "$1" &&
		adapt_program "$(fetched_program "$1")" || return
	touch "$dir/.done"
}

# All headers are below one directory, as the flavours share most of them. What is there
# stays as it is: a build may be using it.
fetch_headers()	# release
{
	local to=$SROCE_CACHE/headers tmp p packages=() item all
	[ ! -e "$to/usr/src/linux-headers-$1/include/config/auto.conf" ] || return 0
	tmp=$to/tmp.$$
	rm -rf "$tmp"
	all=$(with_dependencies "linux-headers-$1" 'headers|kbuild') || return
	while read -r p; do
		compgen -G "$to/usr/*/${p%=*}" >/dev/null || packages+=("$p")
	done <<<"$all"
	unpack_packages "$tmp" ${packages[@]+"${packages[@]}"} && relocate_headers "$tmp" ||
		{ rm -rf "$tmp"; return 1; }
	mkdir -p "$to/usr/src" "$to/usr/lib"
	for item in "$tmp"/usr/lib/linux-kbuild-* "$tmp"/usr/src/*-common* \
		    "$tmp/usr/src/linux-headers-$1"; do
		[ ! -e "$item" ] || mv "$item" "$to/${item#"$tmp"/}" || return
	done
	rm -rf "$tmp"
}

# The same places for all: newer packages have everything below usr/lib/modules.
arrange_image()	# directory release
{
	local file modules=$1/lib/modules
	if [ ! -d "$modules" ]; then
		mkdir -p "$1/lib"
		mv "$1/usr/lib/modules" "$modules"
	fi
	mkdir -p "$1/boot"
	for file in vmlinuz config; do
		[ ! -e "$modules/$2/$file" ] ||
			mv "$modules/$2/$file" "$1/boot/$file-$2"
	done
	rm -rf "${1:?}/usr"
	depmod -b "$1" "$2"
}

fetch_image()	# release
{
	local dir tmp packages all
	dir=$(kernel_dir "$1")
	[ ! -e "$dir/.done" ] || return 0
	tmp=$dir.tmp.$$
	rm -rf "$dir" "$tmp"
	all=$(with_dependencies "linux-image-$1" 'binary|modules|base') || return
	mapfile -t packages <<<"$all"
	unpack_packages "$tmp" "${packages[@]}" && arrange_image "$tmp" "$1" ||
		{ rm -rf "$tmp"; return 1; }
	touch "$tmp/.done"
	mv "$tmp" "$dir"
}

# Unpack Debian's source of Linux $1, or those files of it that are named, as directory $2, which
# is there when all of it is. The package is downloaded, not installed.
kernel_source()	# series directory [path...]
{
	local package=linux-source-$1 to=$2 dir=$2.tmp tmp
	shift 2
	rm -rf "$dir"
	mkdir -p "$dir"
	tmp=$(mktemp -d "$dir/deb.XXXXXX") || return
	update_lists && (cd "$tmp" && kernel_apt apt-get -qq download "$package") &&
		dpkg-deb --fsys-tarfile "$tmp"/*.deb |
		tar -x --to-stdout "./usr/src/$package.tar.xz" |
		xz -T0 -dc |
		tar -x -C "$dir" --strip-components=1 "${@/#/$package/}"
	local status=$?
	rm -rf "$tmp"
	[ $status -eq 0 ] && mv "$dir" "$to"
}

kernel_is_fetched()	# name
{
	local rel
	rel=$(kernel_release "$1") && [ -e "$(kernel_dir "$rel")/.done" ]
}

# Headers and image of kernel $1; with $2, of the newest release there is.
fetch_kernel()	# name [newest]
{
	local rel
	[ -n "${2:-}" ] || ! kernel_is_fetched "$1" || return 0
	kernel_flavour "$1" >/dev/null || die "no kernel is named $1"
	FETCH_ARCH=$(kernel_arch "$1")
	update_lists "${2:-}" || die "Debian's lists are not to be had"
	rel=$(archive_release "$1") || die "Debian has no headers and image for $1"
	say "fetching $rel, headers and image"
	fetch_headers "$rel" && fetch_image "$rel" ||
		die "$rel is not to be had"
	echo "$rel" >"$SROCE_CACHE/headers/$1"
}
