# shellcheck shell=bash
# What the benchmarks share: one veth pair, both ends in one namespace, for
# all contenders; runs of the stock tools; medians.
#
# rdma_rxe up to 7.0 knows only the initial namespace, so policy routing makes
# packets between the two ends cross the veth, for everyone alike.

B_IP0=10.0.0.1 B_IP1=10.0.0.2
B_V0=bv0 B_V1=bv1
B_PORT=18600

# Both ends in this namespace; traffic between them crosses the pair.
bench_topology()	# mtu
{
	local i other s
	ip link add $B_V0 mtu "$1" type veth peer name $B_V1 mtu "$1"
	for s in all default $B_V0 $B_V1; do
		echo 0 >"/proc/sys/net/ipv4/conf/$s/rp_filter"
		echo 1 >"/proc/sys/net/ipv4/conf/$s/accept_local"
		echo 1 >"/proc/sys/net/ipv4/conf/$s/arp_ignore"
	done
	ip addr add $B_IP0/32 dev $B_V0
	ip addr add $B_IP1/32 dev $B_V1
	ip link set $B_V0 up
	ip link set $B_V1 up
	for i in 0 1; do
		other=$((1 - i))
		s=B_V$i
		local dev=${!s} oip=B_IP$other ip=B_IP$i odev=B_V$other
		ip neigh replace "${!oip}" dev "$dev" nud permanent \
			lladdr "$(cat "/sys/class/net/${!odev}/address")"
		ip route add "${!oip}" dev "$dev" src "${!ip}"
	done
	ip rule add pref 10 iif $B_V0 to $B_IP0 lookup local
	ip rule add pref 11 iif $B_V1 to $B_IP1 lookup local
	ip rule add pref 20 to 10.0.0.0/24 lookup main
	ip rule add pref 100 lookup local
	ip rule del pref 0
}

# contender sroce|rxe|tcp: load it, one device on each end
contender()
{
	[ "${B_NOW:-}" != "$1" ] || return 0
	case ${B_NOW:-} in
	rxe)	rdma link delete rxe0; rdma link delete rxe1
		rmmod rdma_rxe ;;
	sroce)	rdma link delete sroce0; rdma link delete sroce1
		rmmod sroce ;;
	esac
	B_NOW=$1
	case $1 in
	rxe)	modprobe rdma_rxe ;;
	sroce)	modprobe -a ib_uverbs rdma_ucm udp_tunnel ip6_udp_tunnel
		insmod "$SROCE_KO" ;;
	*)	return 0 ;;
	esac
	rdma link add "${1}0" type "$1" netdev $B_V0
	rdma link add "${1}1" type "$1" netdev $B_V1
	B_GID0=$(gid_index "${1}0" v4)
	B_GID1=$(gid_index "${1}1" v4)
}

# perftest TOOL args...: server on end 1, client on end 0; client's output
perftest()
{
	local tool=$1 srv rc=0
	shift
	B_PORT=$((B_PORT + 1))
	timeout -k 1 20 "$tool" -F -p $B_PORT -d "${B_NOW}1" -x "$B_GID1" \
		"$@" >/tmp/bench.server 2>&1 &
	srv=$!
	wait_until 10 listens_here $B_PORT
	timeout -k 1 20 "$tool" -F -p $B_PORT -d "${B_NOW}0" -x "$B_GID0" \
		"$@" $B_IP1 >/tmp/bench.client 2>&1 || rc=$?
	[ $rc -eq 0 ] || kill $srv 2>/dev/null
	wait $srv || rc=$?
	[ $rc -eq 0 ] || { tail -n 3 /tmp/bench.server /tmp/bench.client >&2; }
	cat /tmp/bench.client
	return $rc
}

listens_here() { ss -ltnH "sport = :$1" | grep -q .; }

# Average MB/s, or thousands of messages per second, of an ib_*_bw run
bw_mb()  { awk 'NF >= 5 && $1 $2 ~ /^[0-9]+$/ { r = $4 * 1.048576 }
		END { printf "%.1f\n", r }'; }
bw_k()   { awk 'NF >= 5 && $1 $2 ~ /^[0-9]+$/ { r = $5 * 1000 }
		END { printf "%.1f\n", r }'; }
# Median and 99.9th percentile in us of an ib_*_lat run
lat_us() { awk 'NF >= 9 && $1 $2 ~ /^[0-9]+$/ { r = $5 " " $9 }
		END { print r }'; }

# iperf3, one stream, TSO as the device has it: MB/s
tcp_bw()	# seconds
{
	local srv
	B_PORT=$((B_PORT + 1))
	iperf3 -s -1 -p $B_PORT -B $B_IP1 >/dev/null 2>&1 &
	srv=$!
	wait_until 10 listens_here $B_PORT
	iperf3 -c $B_IP1 -B $B_IP0 -p $B_PORT -t "$1" -J |
		/usr/bin/python3 -c 'import json, sys
d = json.load(sys.stdin)
print("%.1f" % (d["end"]["sum_received"]["bits_per_second"] / 8e6))'
	wait $srv
}

# sockperf ping-pong of 14 bytes (its smallest): half the round trip in us,
# median and 99.9th percentile
tcp_lat()	# seconds
{
	local srv
	B_PORT=$((B_PORT + 1))
	sockperf server --tcp -i $B_IP1 -p $B_PORT >/dev/null 2>&1 &
	srv=$!
	wait_until 10 listens_here $B_PORT
	sockperf ping-pong --tcp -i $B_IP1 --client_ip $B_IP0 -p $B_PORT \
		-t "$1" -m 14 2>&1 |
		awk '/percentile 50.0/ { m = $NF } /percentile 99.900/ { p = $NF }
		     END { print m, p }'
	kill $srv 2>/dev/null
	wait $srv 2>/dev/null || true
}

# median of the numbers in stdin, one per line
median()
{
	sort -g | awk '{ v[NR] = $1 }
		END { if (!NR) exit
		      if (NR % 2) print v[(NR + 1) / 2]
		      else print (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
