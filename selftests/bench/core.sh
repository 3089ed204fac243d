#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the protocol core takes of this machine's real CPU: see core/main.c beside this.
#
# usage: selftests/bench/core.sh		measure; the table comes to .build/bench-core/, too
#	 selftests/bench/core.sh figures	put the last table into README.md beside this
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tools/publish.sh
. tools/publish.sh

OUT=.build/bench-core

title()
{
	echo "\`make bench-core\`: $(date -u +%F), $(git describe --always --dirty 2>/dev/null)," \
		"$(sed -n '/^model name/{s/.*: //p;q}' /proc/cpuinfo)."
}

case ${1:-measure} in
measure)
	make -s -C selftests/bench/core all && mkdir -p $OUT || exit
	{ title && selftests/bench/core/.out/core; } | tee $OUT/table.md ;;
figures)
	publish_table $OUT/table.md selftests/bench/README.md "make bench-core" ;;
*)	sed -n '3,/^set/{/^#/s/^# \?//p}' "$0"
	exit 2 ;;
esac
