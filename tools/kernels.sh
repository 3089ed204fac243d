#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build the module for each of Debian's kernels, boot it, and let the stock tools run: a
# table, .build/kernels/table.md, with a log for each kernel beside it. One VM at a time,
# and while it runs the module is built for the next.
#
# usage: tools/kernels.sh [NAME...]	those kernels; the rows of others stay as they are
#        KERNELS_NEWEST=1		fetch newer releases first, where there are some
#        tools/kernels.sh --publish	put the table into drv/compat/README.md
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
# shellcheck source=tools/kernel.sh
. tools/kernel.sh
# shellcheck source=tools/publish.sh
. tools/publish.sh

unset MAKEFLAGS MFLAGS
OUT=.build/kernels
README=drv/compat/README.md
CELLS=(builds boots rping ib_write_bw pyverbs unloads)
PYVERBS=${PYVERBS:-test_device test_cq test_qp test_mr}

# Without a warning of the compiler's or of Kbuild's
builds()	# name log
{
	rm -rf ".build/$1"
	make --no-print-directory -j "$(nproc)" KERNEL="$1" module >"$2" 2>&1 &&
		! grep -iE 'warning|error:' "$2"
}

# Fetch kernel $1 and build for it; the first cell, if there is such a kernel
prepare()	# name
{
	local log=$OUT/$1
	rm -f "$log".{run,cells}
	tools/setup.sh --kernel "$1" ${KERNELS_NEWEST:+--newest} || return
	if builds "$1" "$log.build"; then
		echo "cell builds yes"
	else
		echo "cell builds no"
	fi >"$log.cells"
}

# The module was unloaded, and the kernel had no complaint, unless vm.sh says so, or unless it
# was not loaded at all: then vm.sh has nothing to say.
runs()	# name log
{
	local rc=0 unloads=no
	tools/vm.sh --kernel "$1" --timeout "${KERNELS_TIMEOUT:-900}" \
		--env SROCE_KO="$PWD/.build/$1/sroce.ko" --env PYVERBS="$PYVERBS" \
		-- selftests/vm/kernel-row.sh >"$2" 2>&1 || rc=$?
	[ $rc -eq 125 ] || ! grep -qx 'cell loaded yes' "$2" || unloads=yes
	echo "cell unloads $unloads" >>"$2"
	return $rc
}

# The row of kernel $1: its release, then a cell for each question
row()	# name
{
	local name=$1 log=$OUT/$1 c answer without='not tried' rc=1
	if [ ! -e "$log.cells" ]; then
		echo "| $name | not to be had | | | | | | |"
		return 1
	fi
	printf '| %s | %s |' "$name" "$(kernel_release "$name")"
	if grep -qx 'cell builds yes' "$log.cells"; then
		without=no
		runs "$name" "$log.run" && rc=0
		cat "$log.run" >>"$log.cells"
	fi
	for c in "${CELLS[@]}"; do
		answer=$(sed -n "s/^cell $c //p" "$log.cells" | tail -n 1)
		printf ' %s |' "${answer:-$without}"
	done
	echo
	return $rc
}

table()
{
	local name
	echo "| kernel | release | builds without a warning | boots | rping | ib_write_bw" \
		"| pyverbs | unloads, no complaint |"
	echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
	for name in $(kernel_names); do
		if [ -s "$OUT/$name.row" ]; then
			cat "$OUT/$name.row"
		else
			echo "| $name | not tried | | | | | | |"
		fi
	done
}

main()
{
	local names=("$@") name next n bad=0
	if [ "${1:-}" = --publish ]; then
		publish_table $OUT/table.md $README "make kernels"
		return
	fi
	[ $# -gt 0 ] || mapfile -t names < <(kernel_names)
	mkdir -p $OUT
	prepare "${names[0]}" >&2
	for n in "${!names[@]}"; do
		name=${names[n]} next=${names[n + 1]:-}
		[ -z "$next" ] || prepare "$next" >&2 &
		row "$name" >"$OUT/$name.row" || bad=1
		cat "$OUT/$name.row"
		wait
	done
	table >$OUT/table.md
	return $bad
}

main "$@"
