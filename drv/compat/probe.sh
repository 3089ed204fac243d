#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Find out which form each interface of probes/ has in the headers of a kernel, and write
# a header that says so. Each probe has several forms; exactly one of them must compile.
# If none does, or if more than one do, the module would be built for a kernel that nobody
# has looked at: say which interface it is, and fail.
#
# The first forms of all probes are compiled at once, then the second ones, and so on: the
# headers of the RDMA core take seconds to read. An error counts for the file it is in.
#
# usage: drv/compat/probe.sh HEADER DEPFILE COMPILER [FLAG...]
#
# DEPFILE lists the headers that were read, as a rule for make.
set -u
export LC_ALL=C

out=$1 depfile=$2
shift 2
probes=$(cd "${SROCE_PROBES:-$(dirname "$0")/probes}" && pwd) || exit
tmp=$out.tmp
rm -rf "$tmp"
mkdir -p "$tmp" || exit
trap 'rm -rf "$tmp"' EXIT

# The number of each form of probe $1, and the macro of form $2, if it has one
forms() { sed -n 's/^ \* form \([0-9]*\).*/\1/p' "$1"; }
macro() { sed -n "s/^ \* form $2 \([A-Z_]*\):.*/\1/p" "$1"; }

# What probe $1 says of itself: after "interface:", or after "form N MACRO:"
says() { sed -n "s/^ \* $2\( [A-Z_]*\)\{0,1\}: *//p" "$1"; }

# Errors that are in file $1, of form $2
errors() { grep -F "${1##*/}:" "$tmp/$2.log" | grep -F 'error: '; }

# A kernel that is built with -Werror shall not fail a probe by a warning.
compile() # form compiler flag...
{
	form=$1
	shift
	"$@" -Wno-error -Werror=implicit-function-declaration -Werror=implicit-int \
		-Werror=incompatible-pointer-types -fms-extensions $limit \
		$expansion -DSROCE_FORM="$form" -fsyntax-only "$tmp/all.c" >"$tmp/$form.log" 2>&1
}

# An error elsewhere is of no probe's question: the headers can't be read as they are. After
# one that is fatal nothing is read at all.
check_headers() # form
{
	grep -F 'error: ' "$tmp/$1.log" | sed "\\|^$probes/[^ ]* error: |d" >"$tmp/other"
	[ -s "$tmp/other" ] || return 0
	echo "sroce: the headers of this kernel can't be compiled as drv/compat/probes does:"
	head -n 5 "$tmp/other" | sed 's/^/sroce:   /'
	return 1
} >&2

# What is to be read when not exactly one form of a probe compiles
complain() # probe number-that-compile
{
	echo "sroce: unknown form of $(says "$1" interface)"
	if [ "$2" -eq 0 ]; then
		echo "sroce: it is none of those that drv/compat knows:"
	else
		echo "sroce: it looks like several at once, so ${1##*/} has to ask for more:"
	fi
	for form in $(forms "$1"); do
		echo "sroce:   $(says "$1" "form $form")"
		errors "$1" "$form" | head -n 2 | sed 's/.*error: /sroce:     but: /'
	done
} >&2

bad=0
# All errors count; clang stops at the twentieth, unless told in its own words.
limit=-ferror-limit=0
"$@" $limit -fsyntax-only -x c /dev/null 2>/dev/null || limit=-fmax-errors=0
# GCC takes an error in a macro for one of where the macro is defined, unless told otherwise
expansion=-ftrack-macro-expansion=0
"$@" $expansion -fsyntax-only -x c /dev/null 2>/dev/null || expansion=''
{
	echo "#include \"$probes/probe.h\""
	for probe in "$probes"/*.c; do
		echo "#include \"$probe\""
	done
} >"$tmp/all.c"
cat "$probes"/*.c | sed -n 's/^ \* form \([0-9]*\).*/\1/p' | sort -u >"$tmp/forms"
while read -r form; do
	compile "$form" "$@" || grep -qF 'error: ' "$tmp/$form.log" || {
		echo "sroce: the compiler does not work: $1"
		head -n 5 "$tmp/$form.log" | sed 's/^/sroce:   /'
		bad=1
	} >&2
	check_headers "$form" || bad=1
	[ $bad -eq 0 ] || break
done <"$tmp/forms"

: >"$tmp/found"
for probe in "$probes"/*.c; do
	[ $bad -ne 1 ] || break
	n=0
	for form in $(forms "$probe"); do
		! errors "$probe" "$form" >/dev/null || continue
		n=$((n + 1))
		name=$(macro "$probe" "$form")
		[ -z "$name" ] || echo "#define $name" >>"$tmp/found"
	done
	[ $n -eq 1 ] || { complain "$probe" $n; bad=2; }
done
if [ $bad -ne 0 ]; then
	echo "sroce: not built. drv/compat/README.md says which kernels are supported," \
		"and what to do about another." >&2
	exit 1
fi
{
	echo "/* Written by drv/compat/probe.sh: what this kernel is like */"
	cat "$tmp/found"
} >"$tmp/header"
# The names of files only: a change of any of them may change an answer.
"$@" -M -MT "$out" "$probes/probe.h" >"$depfile" 2>/dev/null || {
	echo "sroce: the compiler does not list the headers that it reads: $1" >&2
	exit 1
}
mv "$tmp/header" "$out"
