#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build siw, the kernel's software iWARP, as .build/KERNEL/siw/siw.ko: Debian's kernels come
# without it, but its source is in linux-source-SERIES, which is fetched once. Takes no time when
# all is there. The kernels SERIES-uml have it already.
#
# usage: selftests/bench/siw.sh KERNEL
set -euo pipefail

# shellcheck source=tools/kernel.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/kernel.sh"
# shellcheck source=tools/fetch-kernel.sh
. "$SROCE_ROOT/tools/fetch-kernel.sh"

KERNEL=${1:?usage: selftests/bench/siw.sh KERNEL}
SERIES=$(kernel_series "$KERNEL")
IN_TREE=drivers/infiniband/sw/siw
SRC=$SROCE_CACHE/siw/$SERIES
BUILD=$SROCE_ROOT/.build/$KERNEL/siw

say() { echo "siw: $*" >&2; }
die() { say "$*"; exit 1; }

fetch()
{
	[ ! -e "$SRC" ] || return 0
	say "fetching the source of Linux $SERIES"
	kernel_source "$SERIES" "$SRC" $IN_TREE || die "linux-source-$SERIES is not to be had"
}

build()
{
	mkdir -p "$BUILD"
	cp -u "$SRC/$IN_TREE"/* "$BUILD"
	make -s -C "$(kernel_headers "$KERNEL")" M="$BUILD" CONFIG_RDMA_SIW=m \
		CONFIG_DEBUG_INFO_BTF_MODULES= modules
}

kernel_is_uml "$KERNEL" && exit
fetch
build
