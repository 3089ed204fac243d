#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Plant bugs in a copy of the module, one at a time, and check that the fuzzer finds each of
# them in the VM. Some minutes for each, so this is run by hand. The output is TAP.
#
# usage: KERNEL=6.1 TIME=60 SEED=1 selftests/fuzzvm/planted.sh [bug...]
#
# A bug is a sed script, planted/NAME.sed. Its first line says what is wrong, its second
# which file below drv it changes. One that changes nothing has to be adapted.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

KERNEL=${KERNEL:-6.1} TIME=${TIME:-60} SEED=${SEED:-1}
HERE=selftests/fuzzvm
COPY=$PWD/.build/planted-$KERNEL
LOG=$COPY/log

head_of() { sed -n "s/^# $2: //p; 2q" "$HERE/planted/$1.sed"; }

# The module of the copy as it is now
build() { make -s KERNEL="$KERNEL" BUILD="$COPY/build" -f "$PWD/Makefile" -C "$COPY" module; }

fuzz()
{
	tools/vm.sh --kernel "$KERNEL" --timeout $((2 * TIME + 200)) \
		--env SROCE_KO="$COPY/build/sroce.ko" --env FUZZ_SECONDS="$TIME" \
		--env FUZZ_SEED="$SEED" -- selftests/vm/fuzzvm.test.sh
}

# What the run has said first of what is wrong
finding()
{
	grep -aoE -m1 '^not ok.*|(WARNING|BUG|Oops): .*|general protection fault.*|[0-9]+ object.* leaked' \
		"$LOG" | head -n 1
}

# Return: 0 if it is found, and by what; otherwise prints why not
try()	# name
{
	local file said
	file=drv/$(head_of "$1" file)
	sed -f "$HERE/planted/$1.sed" "$file" >"$COPY/$file"
	! cmp -s "$file" "$COPY/$file" || { echo "the script changes nothing in $file"; return 1; }
	build >"$LOG" 2>&1 || { tail -n 20 "$LOG"; echo "$file does not build"; return 1; }
	fuzz >"$LOG" 2>&1 && { echo "not found"; return 1; }
	said=$(finding)
	[ -n "$said" ] || { tail -n 20 "$LOG"; echo "failed, and does not say why"; return 1; }
	echo "$said"
}

[ $# -gt 0 ] || { names=("$HERE"/planted/*.sed); names=("${names[@]##*/}")
	set -- "${names[@]%.sed}"; }
mkdir -p "$COPY"
cp -a Kbuild tools "$COPY"
bad=0
for name; do
	rsync -a --delete drv uapi "$COPY" 2>/dev/null || cp -a drv uapi "$COPY"
	what=$(sed -n '1s/^# //p' "$HERE/planted/$name.sed")
	if said=$(try "$name"); then
		echo "ok - planted $name: $what ($said)"
	else
		sed 's/^/# /' <<<"$said"
		echo "not ok - planted $name: $what"
		bad=1
	fi
done
echo "1..$#"
exit $bad
