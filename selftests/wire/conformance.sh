#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each script by itself, on any device: what it finds, and what else happens, goes to
# OUT/records; OUT/progress says which script is under way, as it may be the last.
#
# usage: conformance.sh OUT SECONDS END... -- NAME...
#	SECONDS: after these no script is begun	END...: --dut, --peer, --net of wire
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tools/complaints.sh
. tools/complaints.sh

OUT=$1 SECONDS_MAX=$2
ENDS=()
shift 2
while [ "$1" != -- ]; do ENDS+=("$1"); shift; done
shift

LIMIT=${CONFORM_LIMIT:-100}	# seconds for a script with all its variants
PATIENCE=${CONFORM_PATIENCE:-2000}

found()	# name what text
{
	printf 'found\t%s\t%s\t%s\n' "$1" "$2" "${3//[$'\t\n']/ }" >>"$OUT/records"
}

# Wait for a child as long as LIMIT; 124 if it is killed then, 125 if it can't be.
wait_for()	# pid
{
	local end=$((SECONDS + LIMIT))
	while kill -0 "$1" 2>/dev/null; do
		if [ $SECONDS -ge $((end + 10)) ]; then return 125; fi
		if [ $SECONDS -ge $end ]; then kill -KILL "$1"; sleep 1; fi
		sleep 0.05
	done
	wait "$1"
	[ $SECONDS -lt $end ] || return 124
}

# What the kernel has said of its own since line $2 of its log
kernel_said()	# name line
{
	local first
	dmesg | tail -n "+$2" >"$OUT/dmesg"
	complaint "$OUT/dmesg" >"$OUT/complaint" || return 0
	first=$(first_complaint "$OUT/complaint")
	found "$1" kernel "$first"
	{ echo "== $1"; cat "$OUT/complaint"; } >>"$OUT/complaints"
}

run_script()	# name
{
	local line rc=0
	line=$(($(dmesg | wc -l) + 1))
	selftests/wire/wire --any --patience "$PATIENCE" --records "$OUT/records" \
		${CONFORM_FAMILY:+--family "$CONFORM_FAMILY"} \
		"${ENDS[@]}" "selftests/wire/scripts/$1.wire" >>"$OUT/log" 2>&1 &
	wait_for $! || rc=$?
	kernel_said "$1" "$line"
	case $rc in
	0)	;;
	1)	grep -qsP "^case\t\Q$1\E\t" "$OUT/records" ||
			found "$1" died "no case: $(tail -n 1 "$OUT/log")" ;;
	124)	found "$1" hang "not done after $LIMIT s" ;;
	125)	found "$1" hang "can't be killed after $LIMIT s"; return 1 ;;
	*)	found "$1" died "exit status $rc: $(tail -n 1 "$OUT/log")" ;;
	esac
}

for name in "$@"; do
	[ $SECONDS -lt "$SECONDS_MAX" ] || break
	echo "begin $name" >>"$OUT/progress"
	run_script "$name" || break
	echo "end $name" >>"$OUT/progress"
done
