#!/bin/bash
# in the VM: A/B of modules /opt/dev/k-NAME.ko (and rxe, tcp), medians. KOS="main new rxe" CASES="send_bw:64:list32 ..." REPS=3
set -u
. selftests/lib.sh; . tools/bench-lib.sh
B_RAW=/dev/null PLACE=veth MTU=${MTU:-1500} REP=0
bench_topology $MTU
declare -A V
for ((r = 0; r < ${REPS:-3}; r++)); do
for k in $KOS; do
	B_NOW=none
	case $k in rxe|tcp) contender $k ;; *) SROCE_KO=/opt/dev/k-$k.ko; contender sroce ;; esac || exit 1
	for c in $CASES; do
		IFS=: read -r t s m <<<"$c"
		if [ $k = tcp ]; then [ $t = tcp ] || continue; v=$(tcp_bw 1); V[$k/$c]+=" $v"; continue; fi
		[ $t != tcp ] || continue
		a=""; case $m in list*) a="-l ${m#list}" ;; event) a=-e ;; esac
		[[ $t != send_bw || $s -ge 1048576 ]] || a+=" ${SENDARGS:-}"
		[[ $t != send_bw || $s -lt 1048576 ]] || a+=" -r 32"
		case $t in
		*_lat) perftest ib_$t -s $s -n ${NLAT:-5000} $a && V[$k/$c]+=" $(awk 'NF >= 9 && $1 $2 ~ /^[0-9]+$/ { print $5 }' $B_CLIENT)" ;;
		*) case $s in 64|8) n=${NS:-12800} ;; 65536) n=${NL:-1024} ;; *) n=${NX:-128} ;; esac
		   perftest ib_$t -s $s -N -n $n $a && { read -r bw rate < <(bw_says); [ $s -ge 4096 ] && V[$k/$c]+=" $bw" || V[$k/$c]+=" $rate"; } ;;
		esac
	done
done; done
for c in $CASES; do for k in $KOS; do [ -z "${V[$k/$c]:-}" ] || echo "$c $k: $(tr ' ' '\n' <<<"${V[$k/$c]}" | grep . | sort -g | awk '{v[NR]=$1} END {printf "median %.2f  [", v[int((NR+1)/2)]; for(i=1;i<=NR;i++) printf " %s", v[i]; print " ]"}')"; done; done
