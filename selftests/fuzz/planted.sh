#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Plant bugs in a copy of the core, one at a time, and check that an input of the
# corpora finds each of them. The output is TAP.
#
# usage: planted.sh OUT [bug...]
#
# A bug is a sed script, planted/NAME.sed. Its first line says what is wrong, its
# second which file below drv/core it changes. A script that changes nothing is
# an error: it has to be adapted to the source. If a bug is not found, fuzz for
# some minutes with TIME=, and add the input that finds it as a line to
# corpus/TARGET-bugs.hex.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit

OUT=$PWD/$1/planted
ROOT=$PWD/../..
shift
HOW=replay
[ -z "${TIME:-}" ] || HOW=check

head_of() { sed -n "s/^# $2: //p; 2q" "planted/$1.sed"; }

# Return: 0 if it is found; otherwise prints why not
try()	# name
{
	local name=$1 file

	file=drv/core/$(head_of "$name" file)
	sed -f "planted/$name.sed" "$ROOT/$file" >"$OUT/$file" ||
		{ echo "the script is wrong"; return 1; }
	! cmp -s "$ROOT/$file" "$OUT/$file" ||
		{ echo "the script changes nothing in $file"; return 1; }
	if ! make -s OUT="$OUT/out" ROOT="$OUT" WARN=-w \
		CFLAGS="-O1 -g" all >"$OUT/log" 2>&1; then
		tail -n 20 "$OUT/log"
		echo "$file does not build"
		return 1
	fi
	! ./fuzz.sh "$HOW" "$OUT/out" packet ring api \
		>"$OUT/log" || { echo "not found"; return 1; }
	sed -n 's/^not ok - //p' "$OUT/log" | head -n 1
}

one()	# name
{
	local name=$1 what said

	what=$(sed -n '1s/^# //p' "planted/$name.sed")
	if said=$(try "$name"); then
		echo "ok - planted $name: $what ($said)"
	else
		printf '%s\n' "$said" | sed 's/^/# /'
		echo "not ok - planted $name: $what"
		bad=1
	fi
	# the next one starts from the sources as they are
	cp -a "$ROOT/drv" "$OUT"
	rm -f "$OUT/out/drv/core/$(head_of "$name" file | sed 's/c$/o/')"
}

[ $# -gt 0 ] || { names=(planted/*.sed); names=("${names[@]##*/}")
	set -- "${names[@]%.sed}"; }
mkdir -p "$OUT"
cp -a "$ROOT/drv" "$ROOT/uapi" "$OUT"
bad=0
for name; do
	one "$name"
done
echo "1..$#"
exit $bad
