#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make install leaves a module that modprobe and `rdma link add` find, also with headers for
# which Kbuild does not call depmod; make uninstall takes it away, also if the headers are gone.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

KERNEL=${KERNEL:-6.1}
TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT

install_module() { make --no-print-directory KERNEL="$KERNEL" INSTALL_MOD_PATH="$TREE" install; }

finds() { modprobe -d "$TREE" -S "$(ls "$TREE/lib/modules")" -R "$1" | grep -x sroce; }

# Only what is named says which kernel, not the environment
uninstall_module()
{
	env -u KERNEL -u KDIR make --no-print-directory INSTALL_MOD_PATH="$TREE" "$@" uninstall
}

# The module of the kernel that runs, whose headers are nowhere
headers_gone()
{
	local dir
	dir=$TREE/lib/modules/$(uname -r)/updates
	mkdir -p "$dir/dkms"
	touch "$dir/sroce.ko.zst" "$dir/dkms/sroce.ko"
	! uninstall_module KDIR=/nowhere 2>/dev/null && [ -e "$dir/sroce.ko.zst" ] &&
		uninstall_module && [ ! -e "$dir/sroce.ko.zst" ] && [ -e "$dir/dkms/sroce.ko" ]
}

# That of a package for one kernel is where make install puts it.
packaged()
{
	local bin=$TREE/bin file
	file=$(echo "$TREE"/lib/modules/*/updates/sroce.ko)
	mkdir "$bin"
	# shellcheck disable=SC2016 # for dpkg's stand-in
	printf '#!/bin/sh\n[ "$1 $2" = "-S %s" ]\n' "$(realpath "$file")" >"$bin/dpkg"
	chmod 755 "$bin/dpkg"
	PATH=$bin:$PATH uninstall_module KERNEL="$KERNEL" && [ -e "$file" ]
}

check "make install" install_module
check "modprobe finds it by name" finds sroce
check "the core finds it by the type of a link" finds rdma-link-sroce
check "make uninstall leaves what a package has brought" packaged
check "make uninstall" uninstall_module KERNEL="$KERNEL"
check_fails "then it is not found" 'not found' finds sroce
check "make uninstall where nothing is" uninstall_module KERNEL="$KERNEL"
check "make uninstall without headers takes that of the running kernel, and no other" headers_gone
done_testing
