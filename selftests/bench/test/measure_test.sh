#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# selftests/bench/measure.sh, with contenders that are made up: it fails if a run does, and
# names it. Its part for two machines is what sets nothing up here.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

DIR=$(mktemp -d)
export DIR
trap 'rm -rf "$DIR"' EXIT
mkdir -p "$DIR"/selftests/{lib,apps} "$DIR/job/shared"
cp -r selftests/bench "$DIR/selftests"
touch "$DIR"/selftests/lib/{common,two,faults}.sh "$DIR/selftests/apps/nvme.sh"

# No machine is touched. A program whose line is in $DIR/fails fails, what is in $DIR/silent
# says nothing.
cat >>"$DIR/selftests/bench/lib.sh" <<'END'
for f in modprobe barrier there bench_topology gives_way; do eval "$f() { :; }"; done
counter() { echo 0; }
B_CLIENT=$DIR/client

contender()
{
	! grep -qx "$1" "$DIR/fails" || return
	B_NOW=$1 B_DEV0=${1}0 B_DEV1=${1}1
}

perftest()
{
	! grep -qx "$B_NOW $1" "$DIR/fails" || return
	: >"$B_CLIENT"
	grep -qx "$B_NOW $1" "$DIR/silent" || case $1 in
	*_bw)	echo "8 100 0.00 300.00 0.0048" ;;
	*_lat)	echo "8 100 5.10 95.55 6.70 6.90 1.20 8.80 21.50" ;;
	esac >"$B_CLIENT"
}

tcp_bw() { grep -qx "$B_NOW bw" "$DIR/fails" || echo 300; }
tcp_lat() { grep -qx "$B_NOW lat" "$DIR/fails" || echo "p50 7.5"; }
END
# of the netdev that the two machines have
sed -i 's|/sys/class/net/eth0/mtu|'"$DIR"'/mtu|' "$DIR/selftests/bench/measure.sh"
echo 1500 >"$DIR/mtu"

# measure FAILING SILENT: its status
measure()
{
	printf '%s\n' "$1" >"$DIR/fails"
	printf '%s\n' "$2" >"$DIR/silent"
	VM_ID=1 SROCE_JOB=$DIR/job BENCH_REPS=1 \
		BENCH_ONLY="${BENCH_ONLY:-/(write_bw/RC/8/|send_lat|stream|pingpong)}" \
		"$DIR/selftests/bench/measure.sh" two >"$DIR/out" 2>&1
}

shown() { "$@" || { cat "$DIR/out"; return 1; }; }

# All contenders, and nothing is left of a run before
well()
{
	echo "of before" >"$DIR/job/shared/failed-two"
	measure "" "" && [ ! -e "$DIR/job/shared/failed-two" ] &&
		[ "$(cut -d, -f4 "$DIR/job/shared/bench-two.csv" | grep -E '^(sroce|rxe|tcp)$' |
			sort -u | xargs)" = "rxe sroce tcp" ]
}

# siw has RC alone, and connects as iWARP can.
siw_is_measured()
{
	BENCH_ONLY='/siw/' measure "" "" && {
		cut -d, -f4-6 "$DIR/job/shared/bench-two.csv" | grep '^siw' | sort -u | xargs
	} | grep -qx "siw,read_bw,RC siw,read_lat,RC siw,send_bw,RC siw,send_lat,RC \
siw,write_bw,RC siw,write_lat,RC"
}

# failed FAILING SILENT WHAT...: what is named at the end, and is there for others
failed()
{
	! measure "$1" "$2" || return
	shift 2
	diff <(sed -n '/runs failed, and are missing/,$s/^#   //p' "$DIR/out") \
		<(printf '%s\n' "$@") &&
		diff "$DIR/job/shared/failed-two" <(printf '%s\n' "$@")
}

check "all runs succeed" shown well
check "siw: what there is over iWARP" shown siw_is_measured
check "a run fails: it is named, and the status is 1" shown failed "rxe ib_write_bw" "" \
	"vms 1500 rxe write_bw:RC:8:1:poll write_bw RC 8 1 poll"
check "a tool that says nothing has failed, too" shown failed "" "sroce ib_send_lat" \
	"vms 1500 sroce send_lat:RC:8:1:poll send_lat RC 8 1 poll"
check "several" shown failed $'tcp lat\ntcp bw' "" "vms 1500 tcp stream" "vms 1500 tcp pingpong"
check "a contender that does not load" shown failed rxe "" "vms 1500 sroce to load rxe"
done_testing
