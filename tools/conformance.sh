#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a device does of the specification: the scripts of selftests/wire on it, and a
# report for each clause as text, JSON and HTML in .build/conformance/DEVICE-KERNEL.
#
# With names of scripts only these are run, and what was found of others stays.
# In a VM, with a link that is made there:
#	DEV=sroce|rxe KERNEL=6.1 tools/conformance.sh [SCRIPT...]
# On this machine, with a device that is there; PEER is the other end of the wire,
# and has no addresses:
#	DEV=mlx5_0 NETDEV=eth0 PEER=eth1[@NETNS] tools/conformance.sh [SCRIPT...]
# All that there are reports of, as a table in selftests/wire/CONFORMANCE.md:
#	tools/conformance.sh --publish
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
# shellcheck source=tools/publish.sh
. tools/publish.sh
# shellcheck source=tools/complaints.sh
. tools/complaints.sh

unset MAKEFLAGS MFLAGS
WIRE=selftests/wire
ALL=.build/conformance
DEV=${DEV:-sroce}
KERNEL=${KERNEL:-6.1}

# Scripts that have not been begun yet, into TODO
remaining()
{
	local name
	TODO=()
	for name in "${NAMES[@]}"; do
		grep -qsxF "begin $name" "$OUT/progress" || TODO+=("$name")
	done
}

# What was found of these scripts before is void; that of others stays.
forget()	# name...
{
	local file
	for file in records progress; do
		[ -e "$OUT/$file" ] || continue
		awk -v names="$*" 'BEGIN { n = split(names, name, " ")
				while (n) gone[name[n--]] }
			!($2 in gone)' "$OUT/$file" >"$OUT/$file.new" &&
			mv "$OUT/$file.new" "$OUT/$file" || return
	done
}

# The script that was under way when the VM ended, if it has not said why
unfinished()
{
	local name
	name=$(tail -n 1 "$OUT/progress" 2>/dev/null)
	[[ $name == begin\ * ]] || return 0
	name=${name#begin }
	! grep -qsP "^found\t\Q$name\E\thang" "$OUT/records" || return 0
	complaint "$OUT"/vm/vm1/console >"$OUT/complaint" || echo "no complaint" >"$OUT/complaint"
	printf 'found\t%s\tcrash\t%s\n' "$name" "$(first_complaint "$OUT/complaint")" \
		>>"$OUT/records"
	{ echo "== $name"; cat "$OUT/complaint"; } >>"$OUT/complaints"
}

# Take over what a VM has left behind; false if that is nothing.
take()
{
	local from=$OUT/vm/vm1/conformance file
	[ -s "$from/progress" ] || return 1
	for file in progress records log complaints; do
		[ ! -e "$from/$file" ] || cat "$from/$file" >>"$OUT/$file"
	done
	cp "$from/release" "$OUT/release"
}

# A complaint, or what is left behind, when no script was under way is of no script.
blame_vm()	# status, found before
{
	local log
	[ "$1" -ne 0 ] && [[ $(tail -n 1 "$OUT/progress") == end\ * ]] || return 0
	[ "$(grep -c '^found' "$OUT/records")" -eq "$2" ] || return 0
	log=$OUT/vm-$(($(find "$OUT" -name 'vm-*.log' | wc -l) + 1)).log
	cp "$OUT/vm.log" "$log"
	echo "the VM has failed, with status $1: see $log" >&2
	VM_FAILED=1
}

# One VM after the other, until each script was begun: one may end its VM.
in_vm()
{
	local found rc
	VM_FAILED=0
	tools/setup.sh --kernel "$KERNEL" || return
	[ "$DEV" != sroce ] || make -s KERNEL="$KERNEL" module || return
	while remaining; [ ${#TODO[@]} -gt 0 ]; do
		echo "$DEV, $KERNEL: ${#TODO[@]} scripts to go"
		rm -rf "$OUT/vm"
		found=$(grep -cs '^found' "$OUT/records")
		rc=0
		tools/vm.sh --kernel "$KERNEL" --timeout $((BUDGET + 200)) --keep "$OUT/vm" \
			--env "SROCE_KO=$PWD/.build/$KERNEL/sroce.ko" \
			--env "SROCE_LINK_TYPE=$DEV" --env "CONFORM_FAMILY=${FAMILY:-}" \
			-- selftests/vm/conformance.sh "$BUDGET" "${TODO[@]}" \
			>"$OUT/vm.log" 2>&1 || rc=$?
		take || { cat "$OUT/vm.log"; echo "the VM has run no script" >&2; return 1; }
		unfinished
		blame_vm "$rc" "${found:-0}"
	done
}

# The device's addresses, and one beside each for the peer: "DUT PEER" per line
addresses()
{
	ip -o addr show dev "$NETDEV" scope global | awk '{ print $4 }' | python3 -c '
import ipaddress, sys
for word in sys.stdin.read().split():
    here = ipaddress.ip_interface(word)
    there = here.ip + 1 if here.ip + 2 in here.network else here.ip - 1
    print(here.ip, there)'
}

on_this_machine()
{
	local ends here there peer=$PEER ns=() mac
	[[ $PEER != *@* ]] || ns=(ip netns exec "${PEER#*@}")
	mac=$("${ns[@]}" cat "/sys/class/net/${peer%@*}/address") || return
	ends=(--dut "$DEV:$NETDEV" --peer "$PEER")
	while read -r here there; do
		ends+=(--net "-,$here,$there")
		ip neigh replace "$there" lladdr "$mac" dev "$NETDEV" || return
	done < <(addresses)
	CONFORM_FAMILY=${FAMILY:-} $WIRE/conformance.sh "$OUT" 1000000 "${ends[@]}" -- "${NAMES[@]}"
	while read -r _ there; do ip neigh del "$there" dev "$NETDEV"; done < <(addresses)
	uname -r >"$OUT/release"
}

main()
{
	local f reports=()
	if [ "${1:-}" = --publish ]; then
		for f in $ALL/*/report.json; do reports+=("${f%report.json}"); done
		$WIRE/report.py --table "${reports[@]}" >$ALL/table.md &&
			publish_table $ALL/table.md $WIRE/CONFORMANCE.md "make conformance"
		return
	fi
	make -s -C $WIRE || return
	NAMES=("$@")
	[ $# -gt 0 ] || for f in $WIRE/scripts/*.wire; do
		f=${f##*/}
		NAMES+=("${f%.wire}")
	done
	BUDGET=${CONFORM_SECONDS:-900}
	[ -z "${NETDEV:-}" ] || KERNEL=$(uname -r)
	OUT=$ALL/$DEV-$KERNEL
	if [ $# -gt 0 ]; then forget "$@" || return; else rm -rf "$OUT"; fi
	mkdir -p "$OUT"
	$WIRE/wire --list $WIRE/scripts/*.wire >"$OUT/list" || return
	if [ -n "${NETDEV:-}" ]; then on_this_machine; else in_vm; fi || return
	$WIRE/report.py "$OUT" && [ "${VM_FAILED:-0}" -eq 0 ]
}

main "$@"
