#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What tools/intree.sh makes of Debian's sources of Linux: does it compile without a
# warning, built in and as a module, with W=1 and sparse? Are kernel-doc, checkpatch,
# get_maintainer and docutils content? Does the kernel that has it built in pass the tests?
# An hour for a kernel that is not built yet. Prints TAP.
#
# usage: tools/check-intree.sh [SERIES...]
#        TESTS="stock verbs"	what runs in the VM
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
# shellcheck source=tools/kernel.sh
. tools/kernel.sh
# shellcheck source=tools/checkpatch.sh
. tools/checkpatch.sh
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

unset MAKEFLAGS MFLAGS
read -ra TESTS <<<"${TESTS:-stock verbs}"
HOME_DIR=drivers/infiniband/sw/sroce
LOG=$(mktemp)
trap 'rm -f "$LOG" "$LOG.rc"' EXIT

# make in the kernel's build directory
kmake() { make -C "$SRC" O="$BUILD" -j "$(nproc)" LOCALVERSION=-intree "$@"; }

# Nothing was said but what is made
is_quiet() { ! grep -E 'warning:|error:|WARNING:|ERROR:|\*\*\*' "$LOG"; }

# Compile all of it anew: W=1 changes the options of the compiler, and touching it does.
built_in()
{
	find "$SRC/$HOME_DIR" -name '*.c' -exec touch {} +
	kmake W=1 C=1 CF=-D__CHECK_ENDIAN__ CHECK="$(fetched_program sparse)" \
		"$HOME_DIR/" >"$LOG" 2>&1 || {
		tail -n 20 "$LOG"; return 1; }
	[ "$(grep -c '^  CHECK ' "$LOG")" -gt 50 ] && is_quiet
}

# The whole kernel is there, so modpost knows which symbols are exported. W=1 would compile all
# modules anew.
as_module()
{
	"$SRC/scripts/config" --file "$BUILD/.config" --module RDMA_SROCE
	kmake olddefconfig >"$LOG" 2>&1 && kmake modules >>"$LOG" 2>&1 || {
		tail -n 20 "$LOG"; return 1; }
	[ -e "$BUILD/$HOME_DIR/sroce.ko" ] &&
		! grep -A 5 -E "(warning|WARNING|error).*sroce|$HOME_DIR.*(warning|error):" "$LOG"
}

# As tools/debug-kernel.sh has it
configure_again()
{
	"$SRC/scripts/config" --file "$BUILD/.config" --enable RDMA_SROCE
	kmake olddefconfig >"$LOG" 2>&1
}

kernel_doc()
{
	find "$SRC/$HOME_DIR" -name '*.[ch]' \
		-exec "$SRC/scripts/kernel-doc" -none -Werror {} + >"$LOG" 2>&1
	local rc=$?
	[ $rc -eq 0 ] && [ ! -s "$LOG" ] || { cat "$LOG"; return 1; }
}

checkpatch()
{
	local run=(perl scripts/checkpatch.pl "${CHECKPATCH_STYLE[@]}")
	(
		cd "$SRC" || exit
		checkpatch_module "$HOME_DIR" "${run[@]}"
		checkpatch_abi "$HOME_DIR" "${run[@]}"
		"${run[@]}" -f "$HOME_DIR"/{Kconfig,Makefile} \
			Documentation/infiniband/sroce.rst
	) >"$LOG" 2>&1
	[ ! -s "$LOG" ] || { cat "$LOG"; return 1; }
}

maintainer()
{
	(cd "$SRC" && perl scripts/get_maintainer.pl --no-git --no-git-fallback \
		-f "$HOME_DIR/dev/main.c") >"$LOG" 2>&1
	grep -q 'maintainer:SROCE' "$LOG" || { cat "$LOG"; return 1; }
}

document()
{
	python3 -m docutils --halt=2 --report=1 --writer=null \
		"$SRC/Documentation/infiniband/sroce.rst"
}

no_compat()
{
	! grep -rnE 'SROCE_HAVE|compat/|probed\.h|LINUX_VERSION_CODE' "$SRC/$HOME_DIR"
}

# The tests tell for themselves.
in_vm()
{
	make --no-print-directory -s KERNEL="$NAME" oddbuf programs >"$LOG" 2>&1 || {
		cat "$LOG"; return 1; }
	tools/vm.sh --kernel "$NAME" --timeout "${CHECK_TIMEOUT:-2700}" \
		--env "SROCE_KO=$PWD/.build/$NAME/sroce.ko" \
		--env TEST_TIMEOUT=2400 -- selftests/vm/run.sh "${TESTS[@]}"
}

series()	# series
{
	local rc
	NAME=$1-intree BUILD=$(kernel_headers "$1-intree")
	SRC=$(dirname "$BUILD")/source-$1-intree
	if tools/setup.sh --kernel "$NAME"; then
		ok "$1: the kernel is built with the module in it"
	else
		not_ok "$1: the kernel is built with the module in it"
		return
	fi
	check "$1: nothing of compat is left" no_compat
	check "$1: built in, W=1 and sparse say nothing" built_in
	check "$1: as a module, the compiler and modpost say nothing" as_module
	configure_again
	check "$1: kernel-doc says nothing" kernel_doc
	check "$1: checkpatch says nothing" checkpatch
	check "$1: get_maintainer finds the entry" maintainer
	check "$1: the document has no mistake" document
	tap_relay "$1, built in: " < <(in_vm 2>&1; echo $? >"$LOG.rc")
	rc=$(cat "$LOG.rc")
	if [ "$rc" -eq 125 ] || { [ "$rc" -ne 0 ] && [ "$RELAYED_FAILED" -eq 0 ]; }; then
		not_ok "$1, built in: exit status $rc"
	fi
}

SERIES=("$@")
[ $# -gt 0 ] || SERIES=(6.12 7.3)
tools/setup.sh --intree || exit
for s in "${SERIES[@]}"; do
	series "$s"
done
done_testing
