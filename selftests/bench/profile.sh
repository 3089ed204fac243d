#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a message or a packet costs, in guest instructions, and what they are for: both
# ends together, sroce beside rdma_rxe; and how long the machine keeps programs that do
# nothing.
#
# usage: selftests/bench/profile.sh		all of it; tables come to .build/profile/
#	 selftests/bench/profile.sh figures	the tables in README.md beside it, and
#					profile.csv, from the last run
#	 selftests/bench/profile.sh guest		what runs in the VM
#
# KERNEL=6.1, PROFILE_ONLY= (a regular expression of CASE/CONTENDER, such as
# single/sroce) and VMFLAGS are looked at. Needs the module, built.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

KERNEL=${KERNEL:-6.1}
ONLY=${PROFILE_ONLY:-.}
OUT=$PWD/.build/profile	# of some cases, another: README's are all of one run
[ "$ONLY" = . ] || OUT+=-part

# case:CPUs:place:mtu:units of one doorbell:unit:tool and arguments. With one CPU who
# polls gives way to who has work. Two that wait for each other have a CPU each, and
# what the programs execute there says only how long they wait.
cases()
{
	cat <<-EOF
	write-1500:1:veth:1500:64:packet of 1,024 bytes:write_bw -s 65536 -n 100000
	write-4500:1:veth:4500:16:packet of 4,096 bytes:write_bw -s 65536 -n 100000
	wire-1500:1:wire:1500:64:packet of 1,024 bytes:write_bw -s 65536 -n 100000
	wire-gro-1500:1:wire_gro:1500:64:packet of 1,024 bytes:write_bw -s 65536 -n 100000
	single:1:veth:1500:1:message of 64 bytes:write_bw -s 64 -n 5000000
	list:1:veth:1500:32:message of 64 bytes:write_bw -s 64 -l 32 -n 5000000
	answered:2:veth:1500:1:message of 8 bytes:write_lat -s 8 -n 1000000
	same-host:2:same_host:1500:1:message of 8 bytes:write_lat -s 8 -n 1000000
	EOF
}

# ---- in the VM ------------------------------------------------------------

# Executions are counted while this file is there.
# shellcheck disable=SC2153 # tools/vm.sh's
counting() { echo "$SROCE_JOB/shared/count.$1"; }

# Of one CPU time is instructions: what programs need to begin, and are measured for
BEGINS=0.3 LASTS=0.25

one_case()	# name arguments...
{
	local name=$1 args
	read -ra args <<<"$2"
	perftest "ib_${args[0]}" -F "${args[@]:1}" >/dev/null 2>&1 &
	local run=$!
	# above who gives way
	chrt --other -p 0 $BASHPID
	wait_until 20 transfer_began ||
		{ echo "$name did not begin" >&2; exit 1; }
	sleep $BEGINS
	cp /proc/kallsyms "$SROCE_JOB/shared/$name.symbols"
	touch "$(counting "$name")"
	sleep $LASTS
	rm "$(counting "$name")"
	pkill -9 'ib_write_'
	wait $run
	# shellcheck disable=SC2119
	[ "$(nproc)" -gt 1 ] || gives_way
}

# By the wire or within the host; rdma_rxe has one counter for both.
packets()
{
	local n
	n=$(counter "$B_DEV0" loopback_pkts)
	echo $(($(counter "$B_DEV0" tx_pkts) + ${n:-0}))
}

transfer_began() { [ "$(packets)" -gt $((BEFORE + 500)) ]; }

guest()
{
	# shellcheck source=selftests/lib/common.sh
	. selftests/lib/common.sh
	# shellcheck source=selftests/bench/lib.sh
	. selftests/bench/lib.sh
	local name cpus place mtu args who
	# shellcheck disable=SC2034 # lib.sh's
	B_LIMIT=60 B_NOW=none
	# shellcheck disable=SC2119
	bench_topology 1500
	# shellcheck disable=SC2119
	[ "$(nproc)" -gt 1 ] || gives_way
	while IFS=: read -r name cpus place mtu _ _ args; do
		for who in sroce rxe; do
			[[ $name/$who =~ $ONLY && $cpus = "$(nproc)" ]] || continue
			contender none
			"at_$place"
			bench_mtu "$mtu"
			contender "$who" || exit
			BEFORE=$(packets)
			one_case "$name-$who" "$args"
			echo "# $name-$who"
		done
	done < <(cases)
	contender none
}

# ---- on the host ----------------------------------------------------------

# "case-contender" lines of what is to be counted on so many CPUs
wanted()	# CPUs
{
	local name cpus who
	while IFS=: read -r name cpus _; do
		for who in sroce rxe; do
			[[ ! $name/$who =~ $ONLY || $cpus != "$1" ]] || echo "$name-$who"
		done
	done < <(cases)
}

in_vm()	# CPUs, flags of tools/vm.sh
{
	local cpus=$1 vm=$OUT/vm$1 name
	[ -n "$(wanted "$cpus")" ] || return 0
	shift
	# shellcheck disable=SC2086 # a list of flags
	TMPDIR=$OUT/tmp tools/vm.sh --kernel "$KERNEL" --timeout 600 ${VMFLAGS:-} \
		--keep "$vm" --env "SROCE_KO=$PWD/.build/$KERNEL/sroce.ko" \
		--env "PROFILE_ONLY=$ONLY" "$@" --qemu-arg -plugin \
		--qemu-arg "file=$OUT/count.so,out=$OUT,job=$OUT/tmp/*/shared/count.*" \
		-- selftests/bench/profile.sh guest || exit
	while read -r name; do
		mv "$vm/shared/$name.symbols" "$OUT" || exit
		[ -s "$OUT/$name.blocks" ] || { echo "$name was not counted" >&2; exit 1; }
	done < <(wanted "$cpus")
}

# As long as an exchange of 8 bytes takes, which is kept as often
pauses()
{
	gcc -O2 -Wall -Wextra -pthread -o "$OUT/pauses" selftests/bench/pauses.c || exit
	# shellcheck disable=SC2086 # a list of flags
	tools/vm.sh --kernel "$KERNEL" ${VMFLAGS:-} -- \
		"$OUT/pauses" 20 >"$OUT/pauses.txt" || exit
	grep '^p50' "$OUT/pauses.txt" || exit
}

host()
{
	local kept
	rm -rf "$OUT"
	mkdir -p "$OUT/tmp"
	gcc -O2 -Wall -Wextra -fPIC -shared -o "$OUT/count.so" \
		selftests/bench/profile_plugin.c || exit
	in_vm 1 --icount
	in_vm 2 --cpus 2 --tcg
	echo "\`make profile KERNEL=$KERNEL\`: $(date -u +%F)," \
		"$(git describe --always --dirty 2>/dev/null)" >"$OUT/title"
	cases | selftests/bench/profile_report.py "$OUT" | tee "$OUT/table.md" || exit
	[ "$ONLY" = . ] || exit 0
	kept=$(pauses) || exit
	kept="a program that only counts, 20 us at a time: $kept us"
	sed -i "s/\$/; $kept/" "$OUT/title"
	printf '\n%s\n' "$kept"
	echo "profile: functions are in $OUT/*.txt" >&2
}

case ${1:-host} in
guest)	guest ;;
host)	host ;;
figures) cases | selftests/bench/profile_report.py --figures selftests/bench "$OUT" ;;
*)	sed -n '3,/^set/{/^#/s/^# \?//p}' "$0"
	exit 2 ;;
esac
