#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two kernels of one version, as the flavours of Debian's 6.1 are, never share objects. What is
# to be built for a kernel whose headers are not there is refused, not left out.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh
# shellcheck source=tools/kernel.sh
. tools/kernel.sh

unset MAKEFLAGS MFLAGS KERNEL KDIR BUILD
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

headers()	# directory release
{
	mkdir -p "$1/include/config" "$1/include/generated"
	echo 6.1.192 >"$1/include/config/kernel.release"
	echo "#define UTS_RELEASE \"$2\"" >"$1/include/generated/utsrelease.h"
	# shellcheck disable=SC2016 # for make
	echo 'modules: ; @echo "builds in $(M)"' >"$1/Makefile"
}

# Where the objects would go
build_dir()	# headers
{
	make --no-print-directory -n KDIR="$1" module | sed -n 's/.*builds in \(.*\)"/\1/p'
}

named() { [ "$(build_dir "$TMP/$1")" = "$PWD/.build/$2" ]; }

packaged() { [ "$(headers_release "$TMP/$1")" = "$2" ]; }

refused()	# target
{
	local said
	! said=$(SROCE_CACHE=$TMP make --no-print-directory "$1" KERNEL=6.1 2>&1 >/dev/null) &&
		[[ $said == "No kernel headers in ''."* ]]
}

headers "$TMP/amd64" 6.1.0-56-amd64
headers "$TMP/cloud" 6.1.0-56-cloud-amd64
check "objects are kept by what modprobe compares" named amd64 6.1.0-56-amd64
check "another flavour of the version has others" named cloud 6.1.0-56-cloud-amd64
check "a package's module goes where that kernel looks for it" \
	packaged cloud 6.1.0-56-cloud-amd64
for target in module kverbs oddbuf deb; do
	check "without headers there is no $target" refused $target
done
done_testing
