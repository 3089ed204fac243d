#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Plant classic bugs in a copy of the core, one at a time, and check that the
# simulation finds each of them. The output is TAP.
#
# usage: planted.sh [bug...]
#
# A bug is a sed script, planted/NAME.sed. Its first line says what is wrong, its
# second which file below drv/core it changes. A script that changes nothing is
# an error: it has to be adapted to the source. PLANTED_SEEDS is the number of
# seeds within which a bug must be found.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit

SEEDS=${PLANTED_SEEDS:-20000}
JOBS=${JOBS:-$(nproc)}
WORK=$PWD/.out/planted

head_of() { sed -n "s/^# $2: //p; 2q" "planted/$1.sed"; }

# The copy includes object files, so that only the changed source is rebuilt.
tree()	# name
{
	local to=$WORK/$1

	rm -rf "$to"
	mkdir -p "$to/drv" "$to/selftests/unit" "$to/selftests/sim/.out" &&
		cp -a ../../uapi "$to" &&
		cp -a ../../drv/core ../../drv/compat "$to/drv" &&
		cp -a ../core.mk ../lib "$to/selftests" &&
		cp -a ../unit/*.[ch] ../unit/stub "$to/selftests/unit" &&
		cp -a ./*.[ch] Makefile "$to/selftests/sim" &&
		cp -a .out/fast "$to/selftests/sim/.out"
}

# Return: 0 if found, 1 if not found, 2 if the bug can't be built (prints why)
try()	# name
{
	local name=$1 to=$WORK/$1 file

	file=drv/core/$(head_of "$name" file)
	tree "$name" || { echo "no copy of the core"; return 2; }
	sed -f "planted/$name.sed" "../../$file" >"$to/$file" ||
		{ echo "the script is wrong"; return 2; }
	! cmp -s "../../$file" "$to/$file" ||
		{ echo "the script changes nothing in $file"; return 2; }
	if ! make -s -C "$to/selftests/sim" BASE_EXTRA="-Wno-error" \
		.out/fast/sim >"$to/log" 2>&1; then
		tail -n 20 "$to/log"
		echo "$file does not build"
		return 2
	fi
	! "$to/selftests/sim/.out/fast/sim" -n "$SEEDS" -m 1 >"$to/log" 2>&1 ||
		{ echo "not found in $SEEDS seeds"; return 1; }
	grep -m 1 '^# seed' "$to/log" || { echo "it only died"; return 2; }
}

one()	# name
{
	local name=$1 what

	what=$(sed -n '1s/^# //p' "planted/$name.sed")
	try "$name" >"$WORK/$name.out"
	case $? in
	0) echo "ok - planted $name: $what $(cat "$WORK/$name.out")" ;;
	*) sed 's/^/# /' "$WORK/$name.out"
	   echo "not ok - planted $name: $what" ;;
	esac
	rm -rf "${WORK:?}/$name"
}

main()
{
	local names

	if [ "${1:-}" = --one ]; then
		one "$2"
		return
	fi
	[ $# -gt 0 ] || { names=(planted/*.sed); names=("${names[@]##*/}")
		set -- "${names[@]%.sed}"; }
	mkdir -p "$WORK"
	printf '%s\n' "$@" |
		xargs -P "$JOBS" -n 1 ./planted.sh --one | tee "$WORK/all"
	echo "1..$#"
	[ "$(grep -c '^ok' "$WORK/all")" -eq $# ]
}

main "$@"
