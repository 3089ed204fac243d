#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make install leaves a module that modprobe and `rdma link add` find, also with headers for
# which Kbuild does not call depmod.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

KERNEL=${KERNEL:-6.1}
TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT

install_module() { make --no-print-directory KERNEL="$KERNEL" INSTALL_MOD_PATH="$TREE" install; }

finds() { modprobe -d "$TREE" -S "$(ls "$TREE/lib/modules")" -R "$1" | grep -x sroce; }

check "make install" install_module
check "modprobe finds it by name" finds sroce
check "the core finds it by the type of a link" finds rdma-link-sroce
done_testing
