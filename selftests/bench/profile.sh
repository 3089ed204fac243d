#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a message or a packet costs, in guest instructions, and what they are for: both
# ends together, sroce beside rdma_rxe; and how long the machine keeps programs that do
# nothing.
#
# usage: selftests/bench/profile.sh		all of it; tables come to .build/profile/
#	 selftests/bench/profile.sh figures	the tables in README.md beside it, and
#					profile.csv, from the last run
#	 selftests/bench/profile.sh guest VM	what runs in that VM
#
# KERNEL=6.1, PROFILE_ONLY= (a regular expression of CASE/CONTENDER, such as
# single/sroce), PROFILE_ATTRS= (attributes of sroce's devices, such as ack_with_answer=1)
# and VMFLAGS are looked at. Needs the module, built. Also: PROFILE_ONLY=pong/sroce.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

KERNEL=${KERNEL:-6.1}
ONLY=${PROFILE_ONLY:-.}
OUT=$PWD/.build/profile	# of some cases, another: README's are all of one run
[ "$ONLY${PROFILE_ATTRS:-}" = . ] || OUT+=-part

# case:VM:place:mtu:units of one doorbell:unit:tool and arguments. A VM is a number of
# CPUs. With one CPU who polls gives way to who has work. Two that wait for each other have
# a CPU each, and what the programs execute there says only how long they wait.
#
# Each of the N CPUs of pN has a pair of programs with a QP, which stay there.
cases()
{
	cat <<-EOF
	write-1500:1:veth:1500:64:packet of 1,024 bytes:write_bw -s 65536 -n 100000
	write-4500:1:veth:4500:16:packet of 4,096 bytes:write_bw -s 65536 -n 100000
	wire-1500:1:wire:1500:64:packet of 1,024 bytes:write_bw -s 65536 -n 100000
	wire-gro-1500:1:wire_gro:1500:64:packet of 1,024 bytes:write_bw -s 65536 -n 100000
	wire-4500:1:wire:4500:16:packet of 4,096 bytes:write_bw -s 65536 -n 100000
	wire-gro-4500:1:wire_gro:4500:16:packet of 4,096 bytes:write_bw -s 65536 -n 100000
	wire-single:1:wire:1500:1:message of 64 bytes:write_bw -s 64 -n 5000000
	wire-list:1:wire:1500:32:message of 64 bytes:write_bw -s 64 -l 32 -n 5000000
	single:1:veth:1500:1:message of 64 bytes:write_bw -s 64 -n 5000000
	list:1:veth:1500:32:message of 64 bytes:write_bw -s 64 -l 32 -n 5000000
	answered:2:veth:1500:1:message of 8 bytes:write_lat -s 8 -n 1000000
	wire-answered:2:wire:1500:1:message of 8 bytes:write_lat -s 8 -n 1000000
	same-host:2:same_host:1500:1:message of 8 bytes:write_lat -s 8 -n 1000000
	EOF
	# of sroce, if it is asked for: answered, by one process that is both ends
	[[ $ONLY != *pong* ]] || echo "pong:1:veth:1500:1:message of 8 bytes:pong"
	local place n
	for place in veth wire_gro; do
		for n in 1 2 4; do
			echo "vcpus-${place%_gro}-$n:p$n:$place:1500:64:packet of 1,024 bytes:write_bw" \
				"-s 65536 -n 100000"
		done
	done
}

# ---- in the VM ------------------------------------------------------------

# Executions are counted while this file is there.
# shellcheck disable=SC2153 # tools/vm.sh's
counting() { echo "$SROCE_JOB/shared/count.$1"; }

# Of one CPU time is instructions: what programs need to begin, and are measured for
BEGINS=0.3 LASTS=0.25

# One process that is both ends
one_program()
{
	if [ "$1" = ib_pong ]; then
		"$SROCE_PONG" "$B_DEV0" "$B_GID0" "$B_DEV1" "$B_GID1" >$B_CLIENT.0 2>&1
	else
		programs "$@"
	fi
}

# The QPs of pN, each with two programs on a CPU of its own; one QP else, on any
programs()	# tool option...
{
	local i
	for ((i = 0; i < QPS; i++)); do
		B_PORT=$((B_PORT + 1))
		(
			B_CLIENT+=.$i B_SERVER+=.$i
			[[ $VM != p* ]] || taskset -cp $i $BASHPID
			perftest "$@"
		) >/dev/null 2>&1 &
	done
	wait
}

one_case()	# name arguments...
{
	local name=$1 args
	read -ra args <<<"$2"
	one_program "ib_${args[0]}" -F "${args[@]:1}" &
	local run=$!
	# above who gives way
	chrt --other -p 0 $BASHPID
	# seldom: to look takes long
	for _ in {1..60}; do
		! transfer_began || break
		sleep 1
	done
	transfer_began || did_not_begin "$name"
	sleep $BEGINS
	cp /proc/kallsyms "$SROCE_JOB/shared/$name.symbols"
	touch "$(counting "$name")"
	sleep "$LASTS"
	rm "$(counting "$name")"
	pkill -9 'ib_write_|^pong$'
	wait $run
	pollers_give_way
}

did_not_begin()	# name
{
	echo "$1 did not begin"
	tail -qn 3 $B_SERVER.* $B_CLIENT.*
	rdma resource show qp
	exit 1
} >&2

# shellcheck disable=SC2119
pollers_give_way() { [ "$VM" = 2 ] || gives_way; }

# By the wire or within the host; rdma_rxe has one counter for both.
packets()
{
	local n
	n=$(counter "$B_DEV0" loopback_pkts)
	echo $(($(counter "$B_DEV0" tx_pkts) + ${n:-0}))
}

# Of each sender, where there are several; the other end is not in RTS. The look at them is not
# cheap.
transfer_began()
{
	[ "$(packets)" -gt $((BEFORE + 500 * QPS)) ] &&
		{ [ "$QPS" = 1 ] ||
		  [ "$(rdma resource show qp | grep -c 'type RC state RTS')" -ge "$QPS" ]; }
}

# As PROFILE_ATTRS says
attributes()	# contender
{
	local attr dev
	for attr in ${PROFILE_ATTRS:-}; do
		for dev in "$B_DEV0" "$B_DEV1"; do
			[ "$1" != sroce ] ||
				echo "${attr#*=}" >"/sys/class/infiniband/$dev/${attr%%=*}" || return
		done
	done
}

guest()
{
	# shellcheck source=selftests/lib/common.sh
	. selftests/lib/common.sh
	# shellcheck source=selftests/bench/lib.sh
	. selftests/bench/lib.sh
	local name vm place mtu args who VM=$1 QPS=1
	[[ $VM != p* ]] || QPS=$(nproc) LASTS=1
	# shellcheck disable=SC2034 # lib.sh's
	B_LIMIT=120 B_NOW=none
	# shellcheck disable=SC2119
	bench_topology 1500
	pollers_give_way
	while IFS=: read -r name vm place mtu _ _ args; do
		for who in sroce rxe; do
			[[ $name/$who =~ $ONLY && $vm = "$VM" ]] || continue
			contender none
			"at_$place"
			bench_mtu "$mtu"
			contender "$who" && attributes "$who" || exit
			BEFORE=$(packets)
			one_case "$name-$who" "$args"
			echo "# $name-$who"
		done
	done < <(cases)
	contender none
}

# ---- on the host ----------------------------------------------------------

# "case-contender" lines of what is to be counted in a VM
wanted()	# VM
{
	local name vm who
	while IFS=: read -r name vm _; do
		for who in sroce rxe; do
			[[ ! $name/$who =~ $ONLY || $vm != "$1" ]] || echo "$name-$who"
		done
	done < <(cases)
}

in_vm()	# VM, flags of tools/vm.sh
{
	local which=$1 vm=$OUT/vm$1 name
	[ -n "$(wanted "$which")" ] || return 0
	shift
	# shellcheck disable=SC2086 # a list of flags
	TMPDIR=$OUT/tmp tools/vm.sh --kernel "$KERNEL" --timeout 600 ${VMFLAGS:-} \
		--keep "$vm" --env "SROCE_KO=$PWD/.build/$KERNEL/sroce.ko" \
		--env "SROCE_PONG=$OUT/pong" --env "PROFILE_ATTRS=${PROFILE_ATTRS:-}" \
		--env "PROFILE_ONLY=$ONLY" "$@" --qemu-arg -plugin \
		--qemu-arg "file=$OUT/count.so,out=$OUT,job=$OUT/tmp/*/shared/count.*" \
		-- selftests/bench/profile.sh guest "$which" || exit
	while read -r name; do
		mv "$vm/shared/$name.symbols" "$OUT" || exit
		[ -s "$OUT/$name.blocks" ] || { echo "$name was not counted" >&2; exit 1; }
	done < <(wanted "$which")
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
	local kept rc=0 n
	rm -rf "$OUT"
	mkdir -p "$OUT/tmp"
	gcc -O2 -Wall -Wextra -fPIC -shared -o "$OUT/count.so" \
		selftests/bench/profile_plugin.c || exit
	[[ $ONLY != *pong* ]] ||
		gcc -O2 -Wall -Wextra -o "$OUT/pong" selftests/bench/pong.c -libverbs || exit
	in_vm 1 --icount
	in_vm 2 --cpus 2 --tcg
	for n in 1 2 4; do in_vm p$n --cpus $n --tcg; done
	echo "\`make profile KERNEL=$KERNEL\`: $(date -u +%F)," \
		"$(git describe --always --dirty 2>/dev/null)" >"$OUT/title"
	cases | selftests/bench/profile_report.py "$OUT" | tee "$OUT/table.md" || rc=1
	[ "$ONLY" = . ] || exit $rc
	kept=$(pauses) || exit
	kept="a program that only counts, 20 us at a time: $kept us"
	sed -i "s/\$/; $kept/" "$OUT/title"
	printf '\n%s\n' "$kept"
	echo "profile: functions are in $OUT/*.txt" >&2
	exit $rc
}

case ${1:-host} in
guest)	guest "$2" ;;
host)	host ;;
figures) cases | selftests/bench/profile_report.py --figures selftests/bench "$OUT" ;;
*)	sed -n '3,/^set/{/^#/s/^# \?//p}' "$0"
	exit 2 ;;
esac
