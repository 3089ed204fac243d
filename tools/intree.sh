#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Put the module into a kernel's source, as drivers/infiniband/sw/sroce: without what is for
# other kernels, with Kconfig, Makefile, MAINTAINERS and Documentation/infiniband/sroce.rst.
# What was put there before is replaced.
#
# usage: tools/intree.sh LINUX [BUILD]
#
# LINUX is the source. BUILD is where it is configured, for the probes of drv/compat, which
# have to compile: LINUX itself by default or, if that has no configuration, .build/intree.
set -euo pipefail

LINUX=$(realpath "${1:?usage: tools/intree.sh LINUX [BUILD]}") BUILD=${2:+$(realpath "$2")}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

unset MAKEFLAGS MFLAGS
OUT=$PWD/.build/intree
LOG=$OUT/log

say() { echo "intree: $*" >&2; }
die() { say "$*"; exit 1; }

need()	# package program
{
	command -v "$2" >/dev/null || die "$2 is needed: tools/setup.sh --intree"
}

# A configuration with all headers that the probes read
configure()
{
	BUILD=$OUT/linux
	say "configuring $LINUX in $BUILD"
	rm -rf "$BUILD"
	mkdir -p "$BUILD"
	make -s -C "$LINUX" O="$BUILD" KCONFIG_ALLCONFIG="$PWD/tools/intree/probe.config" \
		allnoconfig &&
		make -s -C "$LINUX" O="$BUILD" modules_prepare
}

# One object is enough: all of them wait for what the probes find.
probe()
{
	rm -rf "$OUT/probe"
	make --no-print-directory KDIR="$BUILD" BUILD="$OUT/probe" \
		MODULE_GOAL=drv/core/mem/ring.o module
}

# A page of the manual as sections of a document
manual()	# page
{
	mandoc -T markdown "$1" |
		awk '/^# / { on = !/^# (NAME|SYNOPSIS|FILES|SEE ALSO|AUTHORS)/ }
		     on { print }
		     END { print "" }' |
		sed '/^# /{ s/^# \(.\)\(.*\)/# \1\L\2/ }; /^Linux - /d'
}

# How it works, from README.md; where things are and counters the reader sees elsewhere
design()	# README.md
{
	awk '/^## / { on = !/Where is|Floors|Counters/ } on' "$1" | sed 's/^##/#/; s|`drv/|`|g'
}

document()
{
	printf '%s\n' '.. SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause' '' \
		'==========================' 'Software RoCEv2 (sroce)' \
		'==========================' ''
	{
		manual man/sroce.4
		design drv/README.md
	} | pandoc -f markdown-smart -t rst --columns=80 | sed 's/\\ \xe2\x80\x8c\\ /\\ /g'
}

flatten()
{
	local flat=$OUT/flat
	rm -rf "$flat"
	mkdir -p "$flat"
	cp -r drv uapi Kbuild "$flat"
	rm -r "$flat/drv/compat/probes"
	tools/intree/flatten.py "$OUT/probe/drv/compat/probed.h" "$flat"
	# what the kernel itself was converted by, to kmalloc_obj()
	local rules=$LINUX/scripts/coccinelle/api/kmalloc_objs.cocci
	[ ! -e "$rules" ] || find "$flat/drv" -name '*.c' -exec spatch -D patch --very-quiet \
		--in-place --max-width 100 --no-includes --sp-file "$rules" {} +
}

main()
{
	local kconfig=$LINUX/drivers/infiniband/Kconfig
	[ -e "$kconfig" ] || die "$LINUX is no source of a kernel: no drivers/infiniband"
	need unifdef unifdef
	need coccinelle spatch
	need pandoc pandoc
	mkdir -p "$OUT"
	: >"$LOG"
	[ -n "$BUILD" ] || [ ! -e "$LINUX/include/generated/autoconf.h" ] || BUILD=$LINUX
	[ -n "$BUILD" ] || configure >>"$LOG" ||
		die "it can't be configured outside of its source, see $LOG"
	probe >>"$LOG" || die "the probes of drv/compat have failed, see $LOG"
	flatten
	document >"$OUT/sroce.rst"
	tools/intree/place.py "$OUT/flat" "$LINUX" "$OUT/sroce.rst"
	say "$LINUX has drivers/infiniband/sw/sroce; its option is CONFIG_RDMA_SROCE"
}

main
