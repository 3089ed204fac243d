#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# drv/compat: each form of each probe, also of kernels whose headers are not to be had here,
# against small headers of that form; and what is said when a probe finds no form.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

PROBES=drv/compat/probes
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

NAMES=()
declare -A FORMS MACRO INTERFACE

# All that the probes say of themselves: a form's macro may be missing.
read_probes()
{
	local file name word number macro rest
	for file in "$PROBES"/*.c; do
		name=${file##*/} name=${name%.c}
		NAMES+=("$name")
		while read -r _ word number macro rest; do
			case $word in
			interface:)
				INTERFACE[$name]="$number${macro:+ $macro}${rest:+ $rest}" ;;
			form)
				FORMS[$name]+=" ${number%:}"
				[[ $number == *: ]] || MACRO[$name-$number]=${macro%:} ;;
			esac
		done <"$file"
	done
}

# All headers that are included are one; which of the two names the one of
# get_unaligned_be32() has is a form, too.
headers()
{
	local h
	while read -r h; do
		mkdir -p "$TMP/include/${h%/*}"
		echo "#include \"$PWD/selftests/compat/kernel.h\"" >"$TMP/include/$h"
	done < <(sed -n 's/^#include <\(.*\)>/\1/p' "$PROBES/probe.h")
	for h in linux asm; do
		mkdir -p "$TMP/unaligned-$h/$h"
		echo 'static inline u32 get_unaligned_be32(const void *p) { return 0; }' \
			>"$TMP/unaligned-$h/$h/unaligned.h"
	done
}

# The form that probe $1 has in kernel $2: that of this number, or the last one if it has
# fewer. Form 0 is one that nobody knows.
form_of()	# name number; sets FORM
{
	local last=${FORMS[$1]##* }
	FORM=$(($2 < last ? $2 : last))
}

# The probes' view of kernel $1. All forms of one number are compiled at once: a run for
# each of them would take minutes.
probe()	# number
{
	local name set=() unaligned=(none linux asm) compiler
	read -ra compiler <<<"${CC:-gcc}"
	for name in "${NAMES[@]}"; do
		form_of "$name" "$1"
		set+=("-DKERNEL_$name=$FORM")
		[ "$name" != unaligned ] || set+=(-I "$TMP/unaligned-${unaligned[FORM]}")
	done
	rm -f "$TMP/probed.h"
	sh drv/compat/probe.sh "$TMP/probed.h" "$TMP/deps" "${compiler[@]}" -I "$TMP/include" "${set[@]}"
}

# That kernel's header defines the macros of the forms that it has, and no others.
finds()	# number
{
	local name
	probe "$1" && for name in "${NAMES[@]}"; do
		form_of "$name" "$1"
		[ -z "${MACRO[$name-$FORM]-}" ] || echo "${MACRO[$name-$FORM]}"
	done | diff - <(sed -n 's/^#define //p' "$TMP/probed.h")
}

# A compiler that stops at the twentieth error unless told so in clang's words
like_clang()
{
	cat >"$TMP/like-clang" <<-'END'
	#!/bin/bash
	limit=20
	for arg; do
		shift
		case $arg in
		-ferror-limit=*) limit=${arg#*=} ;;
		-fmax-errors=*) ;;
		*) set -- "$@" "$arg" ;;
		esac
	done
	exec gcc "$@" -fmax-errors=$limit
	END
	chmod +x "$TMP/like-clang"
	CC=$TMP/like-clang finds 1
}

# As with ccache
by_a_launcher() { CC="env gcc" finds 1; }

no_compiler() { CC=no-such-gcc probe 1; }

# What is said is kept for the questions of complains().
unknown()
{
	probe 0 2>&1 | tee "$TMP/unknown"
	return "${PIPESTATUS[0]}"
}

# What the build says of an unknown form of the probe's interface
complains()	# name
{
	grep -qxF "sroce: unknown form of ${INTERFACE[$1]}" "$TMP/unknown"
}

# A build of other probes, with the one on stdin among them
planted()
{
	rm -rf "$TMP/probes"
	mkdir "$TMP/probes"
	cp "$PROBES"/* "$TMP/probes/"
	cat >"$TMP/probes/planted.c"
	SROCE_PROBES=$TMP/probes probe 1
}

# The question is whether there is f(), and both forms use a type that is not there.
other_reason()
{
	planted <<-'END'
	/*
	 * interface: f() of <linux/f.h>
	 * form 1 SROCE_HAVE_F: exists
	 * form 2: is missing
	 */
	#if SROCE_FORM == 1
	SAME_TYPE(&f, void (*)(struct unknown_argument));
	#elif SROCE_FORM == 2
	ABSENT_FUNCTION(f);
	SAME_TYPE(&g, void (*)(void));
	#endif
	END
}

# Neither of the two forms asks for anything.
too_loose()
{
	planted <<-'END'
	/*
	 * interface: f() of <linux/f.h>
	 * form 1 SROCE_HAVE_F: exists
	 * form 2: is missing
	 */
	END
}

missing_header()
{
	mv "$TMP/include/net/flow.h" "$TMP/flow.h"
	probe 1
	local rc=$?
	mv "$TMP/flow.h" "$TMP/include/net/flow.h"
	return $rc
}

# A build that has to stop, and writes no header then
stops()	# description pattern command
{
	check_fails "$@"
	check "$1: nothing is written" [ ! -e "$TMP/probed.h" ]
}

# The table of drv/compat/README.md has a row for each probe.
in_table()
{
	grep -q "^| \`$1\` |" drv/compat/README.md
}

read_probes
headers
for number in 1 2 3; do
	check "form $number of each interface is found, and no other" finds $number
done
check "a compiler with clang's limit of errors finds them, too" like_clang
check "a compiler that another program starts finds them, too" by_a_launcher
stops "a compiler that is not there stops the build, and that is said" \
	"compiler does not work: no-such-gcc" no_compiler
stops "unknown forms stop the build" "not built" unknown
for name in "${NAMES[@]}"; do
	check "$name: an unknown form is named" complains "$name"
	check "$name: is in the table" in_table "$name"
	check "$name: all of its forms were compiled" [ "${FORMS[$name]##* }" -le 3 ]
done
stops "a probe that fails for another reason stops the build" \
	"unknown form of f.. of <linux/f.h>" other_reason
stops "a probe whose forms both compile stops the build" "several at once" too_loose
stops "a missing header stops the build, and is named" "net/flow.h" missing_header
done_testing
