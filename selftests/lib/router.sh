# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034
# A router between two ends: namespaces a - r - b, one veth pair on each side of r.
# Packets are cut up before the router. What a sends to b waits at a bottleneck,
# the router's port to b; what comes back is delayed at its port to a. Sourced
# after common.sh.

R_NS=r
R_IP_A=10.7.1.1 R_IP_B=10.7.2.1
R_OUT=/tmp/router

in_r() { ip netns exec $R_NS "$@"; }

# Whoever hands over a train has it cut up before it leaves.
single_packets()	# a|r|b NETDEV
{
	"in_$1" ethtool -K "$2" tso off gso off gro off tx-udp-segmentation off \
		>/dev/null
}

router_port()	# NETDEV end NETDEV ADDRESS ROUTER-ADDRESS
{
	ip link add "$1" netns $R_NS type veth peer name "$3" netns "$2" &&
	ip -n $R_NS addr add "$5/24" dev "$1" && ip -n $R_NS link set "$1" up &&
	ip -n "$2" addr add "$4/24" dev "$3" && ip -n "$2" link set "$3" up &&
	ip -n "$2" route add default via "$5" || return
	single_packets r "$1" && single_packets "$2" "$3"
}

# Bytes that reach b, by protocol
count_arrivals()
{
	in_b tc qdisc add dev vb clsact &&
	in_b tc filter add dev vb ingress pref 1 protocol ip u32 \
		match ip protocol 17 0xff action gact pass &&
	in_b tc filter add dev vb ingress pref 2 protocol ip u32 \
		match ip protocol 6 0xff action gact pass
}

router_up()
{
	ns_add $NS_A && ns_add $R_NS && ns_add $NS_B &&
	in_r sysctl -qw net.ipv4.ip_forward=1 &&
	router_port ra $NS_A va $R_IP_A 10.7.1.254 &&
	router_port rb $NS_B vb $R_IP_B 10.7.2.254 &&
	count_arrivals &&
	in_a rdma link add "$DEV_A" type sroce netdev va &&
	in_b rdma link add "$DEV_B" type sroce netdev vb || return
	GID_A=$(gid_index "$DEV_A" v4) && GID_B=$(gid_index "$DEV_B" v4) || return
	# perftest_pair connects to it
	IP4_B=$R_IP_B
}

router_down()
{
	topo_down
	! ns_exists $R_NS || ip netns delete $R_NS
}

# ---- the bottleneck -------------------------------------------------------

# The queue of the bottleneck. That of red holds 144 ms, and marks or drops from
# 12 ms on: with ecn nothing has to be lost.
queue_args()	# pfifo|fq_codel|red MBIT
{
	local min=$(($2 * 1000000 / 8 * 12 / 1000))
	case $1 in
	pfifo)	echo "pfifo limit 100" ;;
	red)	echo "red limit $((12 * min)) min $min max $((3 * min)) avpkt 1000" \
			"burst $((5 * min / 3000)) bandwidth ${2}mbit ecn" ;;
	*)	echo "$1" ;;
	esac
}

# bottleneck MBIT pfifo|fq_codel|red DELAY-MS: statistics begin at zero. Without a
# rate, the path as it is.
bottleneck()
{
	local queue
	in_r tc qdisc del dev rb root 2>/dev/null
	in_r tc qdisc del dev ra root 2>/dev/null
	[ "$1" -gt 0 ] || return 0
	read -ra queue <<<"$(queue_args "$2" "$1")"
	in_r tc qdisc add dev rb root handle 1: tbf rate "${1}mbit" \
		burst $(($1 * 500)) limit 10mb &&
	in_r tc qdisc add dev rb parent 1:1 handle 10: "${queue[@]}" &&
	in_r tc qdisc add dev ra root netem delay "${3}ms" limit 100000
	# only who asks for it is marked instead of dropped
	local ecn=2
	[ "$2" != red ] || ecn=1
	in_a sysctl -qw net.ipv4.tcp_ecn=$ecn
	in_b sysctl -qw net.ipv4.tcp_ecn=$ecn
}

# Packets that the bottleneck has sent, dropped and marked
bottleneck_stats()
{
	in_r tc -s qdisc show dev rb | awk '
	/^qdisc/ { ours = $3 == "10:" }
	!ours { next }
	/Sent/ { sent = $4; dropped = $7 + 0 }
	/marked/ { for (i = 1; i < NF; i++) if ($i == "marked") marked = $(i + 1) }
	/ecn_mark/ { for (i = 1; i < NF; i++) if ($i == "ecn_mark") marked = $(i + 1) }
	END { print sent + 0, dropped + 0, marked + 0 }'
}

# arrived udp|tcp: bytes that have reached b
arrived()
{
	local pref=1
	[ "$1" = udp ] || pref=2
	in_b tc -s filter show dev vb ingress pref $pref |
		awk '$1 == "Sent" { n = $2 } END { print n + 0 }'
}

# ---- who uses it ----------------------------------------------------------

# roce SECONDS [option...]: Mbit/s of payload by ib_write_bw. It polls, so it runs when
# nobody else wants the CPU. What it posts at a time is more than the path holds, and
# less than a second of it; no timeout is shorter than a full queue.
roce()
{
	local seconds=$1 mark=()
	shift
	[ "${R_QUEUE:-}" != red ] || mark=(--tclass=2)
	(
		chrt --idle -p 0 $BASHPID
		TIMEOUT=$((seconds + 20)) perftest_pair ib_write_bw \
			-s 65536 -t 32 -D "$seconds" --qp-timeout 17 --report_gbits \
			"${mark[@]}" "$@"
	) >$R_OUT.roce 2>&1 || { cat $R_OUT.roce; return 1; } >&2
	awk 'NF >= 5 && $1 $2 ~ /^[0-9]+$/ { r = $4 * 1000 }
	     END { if (r > 0) printf "%.2f\n", r; exit !(r > 0) }' $R_OUT.roce
}

# tcp SECONDS: Mbit/s by iperf3, one stream of cubic; its first second is the start
tcp()
{
	local srv rc=0
	R_PORT=$((${R_PORT:-5300} + 1))
	in_b timeout -k 1 $(($1 + 20)) iperf3 -s -1 -p $R_PORT >/dev/null 2>&1 &
	srv=$!
	wait_until 10 listens_tcp b $R_PORT
	in_a timeout -k 1 $(($1 + 20)) iperf3 -c $R_IP_B -p $R_PORT -C cubic -O 1 \
		-t $(($1 - 1)) -f m >$R_OUT.tcp 2>&1 || rc=$?
	[ $rc -eq 0 ] || { kill $srv; cat $R_OUT.tcp >&2; }
	wait $srv
	awk '/receiver/ { for (i = 2; i <= NF; i++)
		if ($i == "Mbits/sec") r = $(i - 1) }
	     END { if (r > 0) print r; exit !(r > 0) }' $R_OUT.tcp
}

# ping_mean SECONDS: mean round trip through the bottleneck, in ms
ping_mean()
{
	local mark=()
	[ "${R_QUEUE:-}" != red ] || mark=(-Q 2)
	in_a ping -q -i 0.05 -w "$1" "${mark[@]}" $R_IP_B |
		sed -n 's|^rtt.* = [0-9.]*/\([0-9.]*\)/.*|\1|p'
}

# True when 100 kB of udp or tcp have arrived beyond so many bytes
flowing() { [ "$(arrived "$1")" -gt $(($2 + 100000)) ]; }
