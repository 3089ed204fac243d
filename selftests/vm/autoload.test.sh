#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `rdma link add`, or modprobe, is the only command on an installed module: it brings
# the modules that programs open, as well. The version is that of drv/version.h.
set -uo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

MODULES=/lib/modules/$(uname -r)
TREE=/tmp/autoload
VERSION=$(tools/version.sh)

# What the module needs by its symbols, or asks for
needed()
{
	modinfo -F depends "$SROCE_KO" | tr , '\n'
	modinfo -F softdep "$SROCE_KO" | tr ' ' '\n' | grep -v :
}

# A tree of the module and what it needs: depmod of a whole kernel takes minutes here.
# Each line of modprobe is "insmod FILE", or "builtin NAME".
make_tree()
{
	mkdir -p "$TREE$MODULES/updates" || return
	cp "$SROCE_KO" "$TREE$MODULES/updates/" || return
	needed | xargs modprobe --show-depends -a |
		awk '$1 == "insmod" { print $2 }' | sort -u |
		xargs cp -t "$TREE$MODULES" || return
	cp "$MODULES"/modules.builtin* "$TREE$MODULES/"
	depmod -b "$TREE" && mount --bind "$TREE$MODULES" "$MODULES"
}

loaded() { [ -d "/sys/module/$1" ]; }

# Neither the module, nor what the VM has loaded for other tests
nothing_loaded()
{
	unload_module
	for m in rdma_ucm ib_umad ib_uverbs; do
		! loaded $m || wait_until 10 rmmod $m || { echo "$m stays"; return 1; }
	done
}

brings()	# command...
{
	nothing_loaded && "$@" || return
	for m in sroce ib_uverbs rdma_ucm; do
		loaded $m || { echo "no $m"; return 1; }
	done
}

opens()
{
	[ -c /dev/infiniband/rdma_cm ] || { echo "no rdma_cm"; return 1; }
	ibv_devinfo -d sroce0 >/tmp/devinfo || return
	grep -E "fw_ver:[[:space:]]+${VERSION//./\\.}\$" /tmp/devinfo || { cat /tmp/devinfo; return 1; }
}

has_version()	# command...
{
	# of a module that was built in a git tree, with its commit
	[[ $("$@") =~ ^${VERSION//./\\.}(\+g[0-9a-f]+(-dirty)?)?$ ]] ||
		{ echo "not $VERSION: $("$@")"; return 1; }
}

ip link add eth7 type veth peer name eth8
check "a tree with the module in it" make_tree
check "modprobe sroce brings ib_uverbs and rdma_ucm" brings modprobe sroce
check "modprobe -r sroce" modprobe -r sroce
check "rdma link add brings all three" brings rdma link add sroce0 type sroce netdev eth7
check "what programs open is there; fw_ver is $VERSION" opens
check "rdma dev show: fw $VERSION" grep -qE "fw ${VERSION//./\\.} " <(rdma dev show sroce0)
check "modinfo: version $VERSION" has_version modinfo -F version sroce
check "/sys/module/sroce/version is $VERSION" has_version cat /sys/module/sroce/version
check "rdma link delete" rdma link delete sroce0

unload_module
ip link delete eth7
umount "$MODULES"
modprobe -a rdma_ucm ib_umad
done_testing
