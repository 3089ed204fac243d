#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sroce-doctor: it names each cause in broken set-ups, and finds nothing in good ones. A run
# takes seconds in an emulated VM, so a set-up is broken in several ways at once where they do
# not hide each other; all have to be found, and nothing else. Each of the doctor's codes is provoked.
# DOCTOR_PARTS="peer counters" runs only test_peer and test_counters.
set -uo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip "doctor" "about sroce only"; done_testing; exit; }

DOCTOR=$PWD/tools/sroce-doctor
OUT=$(mktemp)
PROVIDERS=$(echo /usr/lib/*/libibverbs)
declare -A PROVOKED=()
trap 'rm -f "$OUT"' EXIT

# ---- what the doctor says ---------------------------------------------------

codes() { sed -n 's/^found \([a-z0-9-]*\):.*/\1/p' "$OUT" | sort -u; }

# Each finding has a cause and a remedy, and the last line has all codes.
is_whole()
{
	local n
	n=$(grep -c '^found ' "$OUT")
	[ "$(grep -cE '^    cause:  .' "$OUT")" -eq "$n" ] &&
	[ "$(grep -cE '^    remedy: .' "$OUT")" -eq "$n" ] &&
	tail -n 1 "$OUT" | grep -q '^report: sroce .* kernel .* findings .' &&
	[ "$(tail -n 1 "$OUT" | sed 's/.* findings //' | tr ' ' '\n' | sort -u)" = \
		"$(codes | grep . || echo none)" ] && return
	echo "not whole:"
	return 1
}

# finds CODES command...: exactly these codes, with the exit status that says so
finds()
{
	local want=$1 rc=0
	shift
	"$@" >"$OUT" 2>&1 || rc=$?
	[ "$(codes)" = "$(tr ' ' '\n' <<<"$want" | sort -u)" ] && is_whole &&
		[ $rc -eq $((${#want} > 0)) ] && return
	echo "wanted: ${want:-nothing} (status $rc)"
	cat "$OUT"
	return 1
}

# broken CODES NAME command...: CODES are what the doctor has to find, and nothing else
broken()
{
	local code
	for code in $1; do PROVOKED[$code]=1; done
	check "$2: $1" finds "$1" "${@:3}"
}

# says TEXT command...: in its output, whatever it finds
says()
{
	"${@:2}" >"$OUT" 2>&1
	grep -q "$1" "$OUT" && return
	cat "$OUT"
	return 1
}

good() { check "$1: nothing is found" finds "" "${@:2}"; }

# shellcheck disable=SC2120 # called by way of check, too
at_a() { in_a "$DOCTOR" "$@"; }
at_b() { in_b "$DOCTOR" "$@"; }

# ---- set-ups ------------------------------------------------------------------

two_ends()
{
	topo_netdevs
	in_a rdma link add "$DEV_A" type sroce netdev va
	in_b rdma link add "$DEV_B" type sroce netdev vb
	gid_index "$DEV_A" v4 >/dev/null && gid_index "$DEV_B" v4 >/dev/null
}

traffic()	# perftest arguments
{
	GID_A=$(gid_index "$DEV_A" v4) GID_B=$(gid_index "$DEV_B" v4)
	PAIR_TIMEOUT=30 perftest_pair ib_write_bw "$@" >/dev/null 2>&1
}

# filter a|b HOOK RULE [POLICY]: a chain of nft in that hook, with that rule
filter()
{
	"in_$1" nft add table inet t
	"in_$1" nft "add chain inet t c$2 { type filter hook $2 priority 0; policy ${4:-accept}; }"
	"in_$1" nft "add rule inet t c$2 $3"
}

nat()	# a|b ADDRESS
{
	"in_$1" nft add table ip n
	"in_$1" nft 'add chain ip n c { type nat hook postrouting priority 100; }'
	"in_$1" nft "add rule ip n c udp dport 4791 snat to $2"
}

unfilter() { "in_$1" nft flush ruleset; }

# ---- modules --------------------------------------------------------------------

# A kernel log that says nothing about modules
forget() { dmesg -C; }

loading_fails()	# message module
{
	! insmod "$2" 2>"$OUT" && grep -q "$1" "$OUT"
}

# 64 KiB of locked memory
limited() { (ulimit -S -l 64; "$@"); }

as_nobody() { in_a setpriv --reuid nobody --clear-groups --inh-caps=-all "$DOCTOR" "$@"; }

# A ping that does not know all options, as that of busybox
with_other_ping()
{
	local dir rc=0
	dir=$(mktemp -d)
	printf '#!/bin/sh\ncase "$*" in *-M*) exit 2 ;; esac\nexit 1\n' >"$dir/ping"
	chmod 755 "$dir/ping"
	PATH=$dir:$PATH "$@" || rc=$?
	rm -r "$dir"
	return $rc
}

# sroce.ko is refused in each way that can be taken back.
test_modules()
{
	unload_module
	forget
	modprobe -r rdma_ucm ib_umad ib_uverbs
	mount -t tmpfs none "$PROVIDERS"
	broken "no-module no-provider no-rdma-ucm no-uverbs" "nothing is there" "$DOCTOR"
	umount "$PROVIDERS"
	modprobe -a ib_uverbs rdma_ucm
	sed 's/mod_unload modversions/mod_unloaX modversions/' "$SROCE_KO" >/tmp/other.ko
	check "a module of another configuration is refused" \
		loading_fails "Invalid module format" /tmp/other.ko
	broken module-format "the doctor knows why" "$DOCTOR"
	rm -f /tmp/other.ko
	modprobe -r ip6_udp_tunnel udp_tunnel
	forget
	check "a module without those that it needs is refused" \
		loading_fails "Unknown symbol in module" "$SROCE_KO"
	broken module-symbols "the doctor knows why" "$DOCTOR"
	# What 6.1 logs after echo 1 >/sys/module/module/parameters/sig_enforce, which could not be
	# taken back: insmod says "Key was rejected by service".
	forget
	echo "Loading of unsigned module is rejected" >/dev/kmsg
	broken module-signature "the log of a kernel that wants a signature" "$DOCTOR"
	forget
	load_module
}

test_port()
{
	python3 -c 'import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 4791))
time.sleep(600)' &
	wait_until 30 sh -c "ss -lunH 'sport = :4791' | grep -q ."
	broken "no-device port-in-use" "a program has the port" "$DOCTOR"
	kill $!
	wait $! 2>/dev/null
	modprobe ipip
	forget
	link_add t0 tunl0 2>/dev/null
	rmmod ipip
	if modprobe rdma_rxe 2>/dev/null; then
		broken "link-refused rxe-owns-port" "a device on a tunnel, and rdma_rxe" "$DOCTOR"
		rmmod rdma_rxe
	else
		broken link-refused "a device on a tunnel" "$DOCTOR"
		skip "rdma_rxe is loaded: rxe-owns-port" "no rdma_rxe in this kernel"
		PROVOKED[rxe-owns-port]=1
	fi
}

# ---- good ones --------------------------------------------------------------------

gid_is_shown()
{
	grep -q "GID index $(gid_index "$DEV_A" v4) is $IP4_A, RoCE v2" "$OUT" &&
		grep -q "$DEV_A=va,veth,mtu1500" "$OUT"
}

status_of() { "${@:2}" >/dev/null 2>&1; [ $? -eq "$1" ]; }

test_good()
{
	good "both ends" at_a $IP4_B
	check "GID indices are shown, and the driver" gid_is_shown
	check "root has no limit of locked memory: that it is not checked is said" \
		says 'not checked: how much memory users may lock' at_a
	check "a name that no device has: those that are there are named" \
		says "there are: .*$DEV_A" at_a -d nosuch
	ulimit -S -l unlimited
	good "by IPv6, for a user's rights" at_a -u nobody $IP6_B
	good "by IPv6, and for a user with enough locked memory" as_nobody $IP6_B
	broken memlock-low "a user who may lock little" limited as_nobody
	check "root is not told of limits of other users" says "how much memory nobody may lock" \
		limited at_a -u nobody
	check "nor a user of the rights of others" status_of 2 as_nobody -u daemon
	good "by nsenter, which leaves /sys as it is" nsenter --net=/run/netns/a "$DOCTOR" $IP4_B
	check "the MTU on the way is not judged by a ping without -M" \
		says "not checked: reachability.*iputils" with_other_ping at_a $IP4_B
	good "nor is anything else" with_other_ping at_a $IP4_B
	dummy d5 10.70.0.1/24
	in_a ip link set d5 down
	in_a rdma link add on-d5 type sroce netdev d5
	broken netdev-down "a netdev that the peer is not reached by" at_a $IP4_B
	check "RoCE with the peer was tried all the same" grep -q "$IP4_B answers RoCE" "$OUT"
	check "a device that PEER is not reached by, asked for" says "is reached by $DEV_A" \
		at_a -d on-d5 $IP4_B
	rdma link delete on-d5
	check "an unknown option is an error" status_of 2 "$DOCTOR" -x
	check "so is a name without an address" status_of 2 "$DOCTOR" no.such.host.invalid
}

# ---- user space, netdevs and namespaces ----------------------------------------------

dummy()	# netdev address
{
	in_a ip link add "$1" type dummy
	in_a ip link set "$1" up
	[ -z "$2" ] || in_a ip addr add "$2" dev "$1"
}

is_brief() { ! grep -vE '^(found |    (cause|remedy): |report: )' "$OUT"; }

carrier_of_va() { [ "$(in_a cat /sys/class/net/va/carrier)" = "$1" ]; }

# b speaks with an address whose route leads elsewhere at a, which would not answer its ARP either
strict_filter()
{
	in_a sysctl -qw net.ipv4.conf.va.rp_filter=1 net.ipv4.conf.all.rp_filter=1
	dummy d4 10.50.0.1/24
	in_b ip addr add 10.50.0.2/32 dev vb
	in_b ip neigh replace $IP4_A dev vb lladdr "$(in_a cat /sys/class/net/va/address)"
	in_b ping -q -c 1 -W 1 -I 10.50.0.2 $IP4_A >/dev/null
}

test_netdevs()
{
	local dev
	mv /dev/infiniband /dev/elsewhere
	broken "device-other-netns no-dev-nodes" "another namespace, without nodes" "$DOCTOR"
	mv /dev/elsewhere /dev/infiniband
	dummy d1 10.7.0.3/24
	dummy d2 ""
	dummy d3 10.60.0.1/24
	in_a ip link set d3 down
	for dev in d2 d3 lo; do in_a rdma link add "on-$dev" type sroce netdev $dev; done
	strict_filter
	in_b ip link set vb down
	wait_until 10 carrier_of_va 0
	chmod 600 /dev/infiniband/*
	broken "dev-rights netdev-down no-address no-carrier no-rdma-cm-here \
peer-no-route rp-filter same-subnet" "netdevs, nodes and limits" \
		at_a -q -u nobody 203.0.113.1
	check "with -q only findings and the report" is_brief
	chmod 666 /dev/infiniband/*
	in_b ip link set vb up
	in_a ip link set d3 up
	for dev in d2 lo; do rdma link delete "on-$dev"; done
	wait_until 10 carrier_of_va 1
	in_a sysctl -qw net.ipv4.conf.va.rp_filter=0 net.ipv4.conf.all.rp_filter=0 \
		net.ipv4.conf.all.arp_ignore=1
	broken route-no-device "all of that is mended, and a route by d4" at_a 10.50.0.9
	in_a ip link add vrf3 type vrf table 77
	in_a ip link set d3 master vrf3
	broken vrf-not-accepted "a netdev in a VRF" at_a
	in_a sysctl -qw net.ipv4.udp_l3mdev_accept=1
	good "a VRF whose packets reach sockets outside" at_a
	rdma link delete on-d3
}

test_exclusive()
{
	wait_until 20 rdma system set netns exclusive || not_ok "netns exclusive"
	forget
	broken no-device "exclusive mode, and no device anywhere" "$DOCTOR"
	topo_netdevs
	in_a rdma link add "$DEV_A" type sroce netdev va
	broken netns-exclusive "exclusive mode, the device is elsewhere" at_a
	rdma dev set "$DEV_A" netns a
	good "exclusive mode, and it is here" at_a
	check "exclusive mode, and a name that no device has" says "there are: $DEV_A" at_a -d nosuch
	in_a rdma link delete "$DEV_A"
	topo_down
	wait_until 20 rdma system set netns shared
}

# ---- firewalls and the path ----------------------------------------------------------

test_firewall()
{
	filter a input "udp dport { 53, 4791 } reject"
	filter a output "ct state established,related accept" drop
	broken "firewall-input firewall-output" "a set of ports, and a policy" at_a
	unfilter a
	filter a input "udp dport 4791 accept" drop
	filter a output "udp dport 22 drop"
	good "the port is accepted, another one is not" at_a
	unfilter a
}

# Connected, and then the netdev is down for a while: routes by it end.
route_ends()
{
	local pids before ga gb
	ga=$(gid_index "$DEV_A" v4) gb=$(gid_index "$DEV_B" v4)
	in_b timeout 100 ib_write_bw -F -d "$DEV_B" -x "$gb" -D 90 >/dev/null 2>&1 &
	pids=$!
	wait_until 20 listens_tcp b 18515
	before=$(counter "$DEV_A" tx_pkts)
	in_a timeout 100 ib_write_bw -F -d "$DEV_A" -x "$ga" -D 90 $IP4_B >/dev/null 2>&1 &
	pids+=" $!"
	wait_until 60 sent_since "$before"
	in_a ip link set va down
	wait_until 20 has_counted "$DEV_A" tx_no_route
	in_a ip link set va up
	# shellcheck disable=SC2086
	kill $pids
	# shellcheck disable=SC2086
	wait $pids 2>/dev/null
}

# many, so that those lost when the netdev goes down are few of them
sent_since() { [ "$(counter "$DEV_A" tx_pkts)" -gt $(($1 + 30000)) ]; }
has_counted() { [ "$(counter "$1" "$2")" -gt 0 ]; }

test_peer()
{
	filter a output "udp dport 4791 drop"
	broken "firewall-output peer-not-sent" "output drops the port" at_a $IP4_B
	unfilter a
	rdma link delete "$DEV_B"
	broken "peer-no-roce tx-dropped" "counters keep it, and a peer without a device" at_a $IP4_B
	again
	route_ends
	mv /dev/infiniband /dev/elsewhere
	broken "no-dev-nodes peer-no-connection tx-no-route" "the netdev was down, rping can't start" \
		at_a $IP4_B
	mv /dev/elsewhere /dev/infiniband
	broken "peer-silent-ip tx-no-route" "nobody has that address" at_a 10.7.0.99
}

# ---- counters ---------------------------------------------------------------------------

# Fresh devices, whose counters are zero
again() { topo_down; two_ends; }

forge() { in_a selftests/lib/forge.py "$1" "$2" >/dev/null; }

# NAT of what a sends
changed_packet()
{
	in_a ip addr add 10.7.0.77/32 dev va
	nat a 10.7.0.77
	forge $IP4_A $IP4_B
	unfilter a
	in_a ip addr del 10.7.0.77/32 dev va
}

# What is for vb comes by vc.
other_netdev()
{
	in_b ip link add vc type veth peer name vd netns a
	in_b ip link set vc up
	in_a ip link set vd up
	in_a ip -6 route replace $IP6_B/128 dev vd metric 1
	in_a ip -6 neigh replace $IP6_B dev vd lladdr "$(in_b cat /sys/class/net/vc/address)"
	wait_until 10 forge $IP6_A $IP6_B
	wait_until 10 has_counted "$DEV_B" rx_wrong_netdev_drops
}

test_counters()
{
	in_a ethtool -K va gso off tso off tx-udp-segmentation off >/dev/null 2>&1
	in_b ethtool -K vb gro off >/dev/null
	check "packets that come one by one" traffic -s 65536 -n 40
	in_a tc qdisc add dev va root netem loss 10%
	traffic -s 65536 -n 40
	in_a tc qdisc delete dev va root
	in_a setpriv --reuid nobody --clear-groups --inh-caps=-all \
		selftests/lib/forge.py $IP4_A $IP4_B >/dev/null
	changed_packet
	other_netdev
	filter b input "udp dport 4791 counter drop"
	broken "firewall-input gro-off icrc-errors wrong-netdev" "the receiving end" at_b
	in_a ip link set va mtu 9000
	broken "foreign-senders loss peer-mtu peer-silent-roce" "the sending end" at_a $IP4_B
	again
	nat b 10.7.0.77
	broken peer-answer-lost "NAT of what the peer answers" at_a $IP4_B
}

# ---- the whole -----------------------------------------------------------------------------

all_provoked()
{
	local code rc=0
	for code in $(grep -oP '\bfound \K[a-z][a-z0-9-]+(?= ")' "$DOCTOR" | sort -u) \
		    firewall-input firewall-output; do
		[ -n "${PROVOKED[$code]:-}" ] || { echo "not provoked: $code"; rc=1; }
	done
	[ ${#PROVOKED[@]} -ge 30 ] || { echo "only ${#PROVOKED[@]}"; rc=1; }
	return $rc
}

PARTS="modules port good netdevs firewall peer counters exclusive"

load_module || { not_ok "loading the module"; done_testing; exit 1; }
# as rdma-core's udev rules do
chmod 666 /dev/infiniband/*
for part in ${DOCTOR_PARTS:-$PARTS}; do
	case $part in
	modules|port|exclusive)	topo_down ;;
	*)	again ;;
	esac
	"test_$part"
done
topo_down
[ -n "${DOCTOR_PARTS:-}" ] || check "each code is provoked" all_provoked
done_testing
