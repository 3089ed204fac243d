#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# selftests/bench/run.sh, on the host, with machines that are made up: who dies is
# followed by another that goes on, and what all have left is in the report. What is missing makes
# it fail.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# the figures below are those of 6.1, whatever kernel the caller tests
unset KERNEL
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
mkdir -p "$DIR/tools" "$DIR/selftests"
cp -r selftests/bench "$DIR/selftests"

# A machine: one line of results, what is in fails as failures, and death in the case that is in
# dies
cat >"$DIR/tools/vm.sh" <<'END'
#!/bin/bash
while [ "$1" != -- ]; do
	case $1 in
	--kernel) kernel=$2 ;;
	--keep)	keep=$2/shared ;;
	--env)	[[ $2 != BENCH_SKIP=* ]] || skip=${2#*=} ;;
	esac
	shift
done
mkdir -p "$keep"
n=$(($(cat runs 2>/dev/null || echo 0) + 1))
echo $n >runs
echo "skip:${skip:-}" >>skips
echo "veth,$kernel.0,1500,sroce,write_bw,RC,65536,1,poll,$n,bandwidth,MB/s,$((n * 100))" \
	>"$keep/bench-$3.csv"
[ ! -e fails ] || cp fails "$keep/failed-$3"
[ -e dies ] || exit 0
read -r at <dies && sed -i 1d dies
[ -n "${at:-}" ] || { rm dies; exit 0; }
echo "$at" >"$keep/under-way"
exit 125
END
printf '#!/bin/sh\n' >"$DIR/tools/setup.sh"
printf '#!/bin/sh\necho siw of $1 >>siw\n' >"$DIR/selftests/bench/siw.sh"
chmod +x "$DIR"/tools/*.sh
for k in 6.1 6.12 7.3 6.1-uml 6.12-uml; do
	mkdir -p "$DIR/.build/$k"
	echo $k >"$DIR/.build/$k/sroce.ko"
done
printf 'vm-module:\n\t@echo $(KERNEL) >built\n' >"$DIR/Makefile"

# run NAME-OF-RUN dying-case... : its status, of PART
run()
{
	local name=$1
	shift
	rm -f "$DIR"/{runs,skips,dies}
	[ $# -eq 0 ] || printf '%s\n' "$@" >"$DIR/dies"
	BENCH_DIR=$DIR/$name KERNEL=${KERNEL:-6.1} "$DIR/selftests/bench/run.sh" "${PART:-two}" \
		>"$DIR/out" 2>&1
}

well()
{
	run well && [ "$(cat "$DIR/runs")" = 1 ] &&
		grep -q 'WRITE 64 KiB .*100' "$DIR/well/table.txt" &&
		grep -q '^Bars' "$DIR/well/report.txt"
}

names() { grep -qxF "bench:   $1" "$DIR/out"; }

# 100 of the first, 200 of the second: the median is between.
one_dies()
{
	! run one case/a/b && names "two: the machine did not get over case/a/b" &&
		[ "$(cat "$DIR/runs")" = 2 ] &&
		[ "$(tail -n 1 "$DIR/skips")" = "skip: case/a/b" ] &&
		grep -q 'WRITE 64 KiB .*150' "$DIR/one/table.txt"
}

# Whatever the machine itself says at its end
runs_fail()
{
	local rc=0
	printf '%s\n' "veth 1500 rxe send_bw:RC" "veth 1500 tcp stream" >"$DIR/fails"
	! run fails.d || rc=1
	rm "$DIR/fails"
	[ $rc -eq 0 ] && names "two: veth 1500 rxe send_bw:RC" &&
		names "two: veth 1500 tcp stream" && grep -q 'WRITE 64 KiB' "$DIR/fails.d/table.txt"
}

all_die()
{
	! run all a b c d && [ "$(cat "$DIR/runs")" = 3 ] &&
		[ "$(tail -n 1 "$DIR/skips")" = "skip: a b" ] &&
		grep -q 'WRITE 64 KiB .*200' "$DIR/all/table.txt"
}

# Of two runs, one after the other
figures()
{
	local bench=$DIR/selftests/bench
	printf '%s\n' top '<!-- bench: begin -->' '<!-- bench: end -->' \
		>"$bench/README.md"
	rm -f "$bench/figures.csv"
	"$bench/run.sh" figures "$DIR/well" "$DIR/one" &&
		[ "$(grep -c '^| a veth pair' "$bench/README.md")" = 2 ] &&
		grep -q "$(cat "$DIR/well/title")" "$bench/README.md" &&
		grep -q 'WRITE 64 KiB | MB/s | 100' "$bench/README.md" &&
		grep -q 'WRITE 64 KiB | MB/s | 150' "$bench/README.md" &&
		grep -q '>100<' "$bench/bench.svg"
}

# Those of 7.3 come after those of 6.1, and take the place of older ones of 7.3 only. The
# picture stays that of 6.1.
second_kernel()
{
	local bench=$DIR/selftests/bench
	figures && KERNEL=7.3 run newer && ! KERNEL=7.3 run again case/a/b &&
		"$bench/run.sh" figures "$DIR/newer" &&
		"$bench/run.sh" figures "$DIR/again" || return
	[ "$(grep -o 'Linux [67][.0-9]*' "$bench/README.md" | xargs)" = \
		"Linux 6.1.0 Linux 6.1.0 Linux 7.3.0" ] &&
		[ "$(grep -c '^| a veth pair' "$bench/README.md")" = 3 ] &&
		[ "$(grep -c 'WRITE 64 KiB | MB/s | 150' "$bench/README.md")" = 2 ] &&
		grep -q '>100<' "$bench/bench.svg"
}

# A run of another place does not replace them either.
other_place()
{
	local bench=$DIR/selftests/bench
	figures && ! KERNEL=6.1 run elsewhere case/a/b || return
	sed -i 's/^veth,/same-host,/' "$DIR/elsewhere/raw.csv"
	"$bench/run.sh" figures "$DIR/elsewhere" || return
	[ "$(grep -c '^| a veth pair' "$bench/README.md")" = 2 ] &&
		[ "$(grep -c '^| same host' "$bench/README.md")" = 1 ]
}

# The series stays, the flavour does not.
native()
{
	PART=native KERNEL=6.12-cloud run native && [ "$(cat "$DIR/built")" = 6.12-uml ] &&
		grep -q ',6.12-uml.0,' "$DIR/native/raw.csv"
}

# siw is built where it takes part; NVMe has no place for it.
siw_is_built()
{
	rm -f "$DIR/siw"
	BENCH_WITH="sroce tcp" run without && PART=nvme run nvme && [ ! -e "$DIR/siw" ] &&
		KERNEL=6.12 run with && [ "$(cat "$DIR/siw")" = "siw of 6.12" ]
}

shown() { "$@" || { cat "$DIR/out" "$DIR/skips"; return 1; }; }

check "one machine, and its report" shown well
check "a machine that dies is followed by one that leaves that case out; it failed" \
	shown one_dies
check "runs that have failed are named, and it failed" shown runs_fail
check "three die: it failed, and what they measured is there" shown all_die
check "what a real CPU does is measured on a kernel that it executes, which is built" shown native
check "siw is built for those who are beside it" shown siw_is_built
check "table and picture are of the runs that are named" shown figures
check "tables of another kernel stay" shown second_kernel
check "tables of another place stay" shown other_place
done_testing
