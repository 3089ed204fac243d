#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What packages decide on the user's machine or before they are built: for which kernels DKMS
# builds the module, and by which compiler; what signs it; where the version stands.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
mkdir -p "$DIR"/{bin,kernel/include/config}
for program in gcc-12 clang; do
	printf '#!/bin/sh\n' >"$DIR/bin/$program"
	chmod 755 "$DIR/bin/$program"
done

# What dkms.conf says, for the kernel whose compiler introduces itself as TEXT
dkms_conf()	# text [line of auto.conf]
{
	printf '%s\n' "CONFIG_CC_VERSION_TEXT=\"$1\"" "${2:-}" \
		>"$DIR/kernel/include/config/auto.conf"
	# shellcheck disable=SC2016 # for the shell that reads it
	PATH=$DIR/bin:$PATH kernel_source_dir=$DIR/kernel dkms_tree=/dkms \
		bash -c '. packaging/dkms.conf; echo "${MAKE[0]}"; echo "$BUILD_EXCLUSIVE_KERNEL"'
}

built_for()	# release...
{
	local regex r
	regex=$(dkms_conf gcc | tail -n 1)
	for r in "$@"; do [[ $r =~ $regex ]] || { echo "not for $r"; return 1; }; done
}

not_built_for()	# release...
{
	local r
	for r in "$@"; do ! built_for "$r" >/dev/null || { echo "for $r"; return 1; }; done
}

compiler_is()	# CC=...|"" text [line of auto.conf]
{
	[ "$(dkms_conf "${@:2}" | head -n 1 | grep -oE '(CC|LD)=[^ ]*' | xargs)" = "$1" ]
}

own_compiler()
{
	compiler_is CC=gcc-12 "x86_64-linux-gnu-gcc-12 (Ubuntu 12.3.0-1ubuntu1~22.04) 12.3.0" &&
		compiler_is CC=clang "clang version 19.1.7" &&
		compiler_is CC=clang "Debian clang version 14.0.6" &&
		compiler_is "CC=clang LD=ld.lld" "clang version 19.1.7" CONFIG_LD_IS_LLD=y &&
		compiler_is "" "gcc (GCC) 11.5.0 20240719 (Red Hat 11.5.0-5)" &&
		compiler_is "" "gcc-99 (not here) 99.0"
}

# Debian's headers name it, or are adapted to another one.
debians_own()
{
	touch "$DIR/kernel/.kernelvariables"
	compiler_is "" "gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0"
}

deb() { packaging/deb.sh "$DIR/out"; }

# All of these would have to follow drv/version.h; CHANGELOG.md has a section for each version.
no_version_in()	# file...
{
	local version
	version=$(tools/version.sh)
	! grep -nE "(^|[^0-9.])${version//./\\.}([^0-9]|\$)" "$@"
}

# Of a tree whose commits are made here
git_suffix() { "$DIR/tree/tools/version.sh" --git; }
in_tree() { git -C "$DIR/tree" -c user.name=t -c user.email=t@t.invalid "$@" >/dev/null; }

suffixes()
{
	local tree=$DIR/tree
	mkdir -p "$tree/drv" "$tree/tools"
	cp drv/version.h "$tree/drv/" && cp tools/version.sh "$tree/tools/" &&
		in_tree init && in_tree add . && in_tree commit -m one || return
	[[ $(git_suffix) =~ ^\+g[0-9a-f]{12}$ ]] && echo >>"$tree/drv/version.h" &&
		[[ $(git_suffix) =~ ^\+g[0-9a-f]{12}-dirty$ ]] && in_tree checkout drv &&
		in_tree tag "v$(tools/version.sh)" && [ -z "$(git_suffix)" ] || { git_suffix; return 1; }
}

# Kbuild is told of it in a git tree, and not in a copy that is in one, as packages are built
only_in_git()
{
	mkdir -p "$DIR/tree/copy/tools"
	cp Makefile "$DIR/tree/copy/" && cp tools/version.sh "$DIR/tree/copy/tools/" || return
	! make -n -C "$DIR/tree/copy" KDIR="$DIR/kernel" module 2>/dev/null | grep -q SROCE_GIT
}

check "the version of a git tree has its commit, but at the tag" suffixes
check "a copy within a git tree has none" only_in_git
check "DKMS builds for 6.1 and newer, and for RHEL 9" built_for 6.1.0-57-amd64 6.12.94+deb13-amd64 \
	6.8.0-60-generic 7.3.4 10.0.1 5.14.0-570.el9.x86_64 6.12.0-55.el10.aarch64
check "and for no older ones" not_built_for 5.10.0-30-amd64 6.0.19 4.18.0-553.el8.x86_64 \
	5.15.0-100-generic 5.15.0-300.163.18.el9uek.x86_64 5.14.0-70.el9.x86_64
check "DKMS takes the kernel's own compiler, if it is there" own_compiler
check "but leaves that to Debian's headers" debians_own
touch "$DIR/key"
unset SIGN_CERT
SIGN_KEY=$DIR/key check_fails "a key without a certificate signs nothing" 'SIGN_CERT is missing' deb
SIGN_KEY=$DIR/key SIGN_CERT=$DIR/none check_fails "nor one whose certificate is not there" \
	"can't be read" deb
check "and nothing is built then" [ ! -e "$DIR/out" ]
shopt -s extglob globstar nullglob
check "documents and packaging name no version" no_version_in !(CHANGELOG).md man/* action.yml \
	.github/workflows/*.yml Makefile Kbuild packaging/* debian/*.* debian/control debian/rules \
	tools/*.sh {drv,selftests}/**/*.md
done_testing
