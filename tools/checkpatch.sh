# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# How checkpatch.pl is run on the sources, here and in a kernel's tree. Sourced by
# tools/lint.sh and tools/check-intree.sh.

# Fields are explained in kernel-doc, and parameters of macros are simple; of those of a table
# each user has its own.
# shellcheck disable=SC2034
CHECKPATCH_STYLE=(--terse --strict --show-types
	--ignore "UNCOMMENTED_DEFINITION,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE,MACRO_ARG_UNUSED")

# TRACE_EVENT() has a style of its own, and tables of macros can't have parentheses.
checkpatch_module()	# directory command...
{
	local dir=$1 sources
	shift
	sources=(find "$dir" -name '*.[ch]' ! -path '*/probes/*' ! -name 'sroce_abi.h')
	"${sources[@]}" ! -name trace.h ! -name opcode.c ! -name counter.h ! -name stats.c \
		-exec "$@" -f {} +
	"${sources[@]}" \( -name opcode.c -o -name counter.h -o -name stats.c \) \
		-exec "$@" --ignore COMPLEX_MACRO -f {} +
	"${sources[@]}" -name trace.h \
		-exec "$@" --ignore PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE,SPACING -f {} +
}

# User space has no BIT().
checkpatch_abi()	# directory command...
{
	local dir=$1
	shift
	find "$dir" -name '*_abi.h' -exec "$@" --ignore BIT_MACRO -f {} +
}
