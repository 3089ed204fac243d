#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the stock tools show of a device: rdma resource, rdma statistic, sysfs,
# ibv_devinfo; and devices that belong to one namespace (rdma system).
set -uo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip "show" "about sroce only"; done_testing; exit; }

OUT=$(mktemp)
PIDS=()
trap 'stop_all; rm -f "$OUT"' EXIT

# ---- somebody who has objects ---------------------------------------------

# background a|b command...
background()
{
	local end=$1
	shift
	if ns_exists "$end"; then set -- ip netns exec "$end" "$@"; fi
	timeout 600 "$@" >/dev/null 2>&1 &
	PIDS+=($!)
}

stop_all()
{
	local p
	for p in "${PIDS[@]}"; do
		kill "$p"
		wait "$p"
	done 2>/dev/null
	PIDS=()
}

# Two QPs of one SRQ at either end, and a connection of rdma_cm's
start_users()
{
	local ga gb
	ga=$(gid_index "$DEV_A" v4) && gb=$(gid_index "$DEV_B" v4) || return
	background b ibv_srq_pingpong -d "$DEV_B" -g "$gb" -q 2 -n 100000000
	wait_until 10 listens_tcp b 18515 || return
	background a ibv_srq_pingpong -d "$DEV_A" -g "$ga" -q 2 -n 100000000 \
		$IP4_B
	background b rping -s -a $IP4_B -C 100000000
	wait_until 10 listens_cm "$DEV_B" 7174 || return
	background a rping -c -a $IP4_B -C 100000000
	wait_until 20 connected && wait_until 20 ponging
}

# shows OBJECT REGEX [OPTION]: a line of `rdma resource show` is like REGEX, and
# none has a name without a value.
shows()
{
	local kind="dev"
	case $1 in
	qp|cm_id)	kind="link" ;;
	esac
	rdma resource show "$1" $kind "$DEV_A" "${@:3}" >"$OUT" || return
	if ! grep -qE "$2" "$OUT"; then
		echo "no /$2/ in:"
		cat "$OUT"
		return 1
	fi
	! grep -E ' (comm|pid|pdn|ctxn|lqpn|rqpn|state|type|cqe|mrlen) *$' "$OUT"
}

connected() { shows cm_id 'state CONNECT'; }
ponging() { [ "$(rdma resource show qp link "$DEV_A" | grep -c 'type RC state RTS')" -eq 3 ]; }

test_resources()
{
	local num='[0-9]+' who='pid [0-9]+ comm ibv_srq_pingpon'
	check "res show: counts" bash -c "rdma resource show | grep -qE \
		'$DEV_A: pd 4 cq 3 qp 4 cm_id 1 mr 5 ctx 2 srq 1'"
	check "res show: a QP" shows qp "lqpn $num rqpn $num type RC state RTS \
rq-psn 0 sq-psn 0 path-mig-state MIGRATED pdn $num $who" -d
	check "res show: a QP's driver details" shows qp "comm ibv_srq_pingpon \
.*drv_mtu 1024 .*drv_srtt_ns [1-9][0-9]* .*drv_retries_left 7" -dd
	check "res show: the kernel's QP" shows qp \
		'lqpn 1 type GSI state RTS .*comm \[ib_core\]' -d
	check "res show: a CQ" shows cq "cqn $num cqe 511 users 4 \
.*ctxn $num $who" -d
	check "res show: a CQ's driver details" shows cq \
		'comm ibv_srq_pingpon.* drv_used [0-9]+ .*drv_overflowed 0' -dd
	check "res show: an MR" shows mr "mrn $num rkey 0x[0-9a-f]+ \
lkey 0x[0-9a-f]+ mrlen 4096 pdn $num $who" -d
	check "res show: an MR's driver details" shows mr \
		'drv_access 0x7 drv_extents 1 .*drv_valid 1' \
		-dd
	check "res show: a PD" shows pd "pdn $num .*users 4 ctxn $num $who" -d
	check "res show: a context" shows ctx "ctxn $num $who" -d
	# of which one iproute2 prints the range again in place of the name
	check "res show: an SRQ" shows srq "srqn $num type BASIC \
lqpn ${num}[-,]$num pdn $num pid $num comm" -d
	check "res show: a connection" shows cm_id "lqpn $num qp-type RC \
state CONNECT ps TCP pid $num comm rping src-addr $IP4_A:$num \
dst-addr $IP4_B:7174" -d
}

# ---- counters --------------------------------------------------------------

port_counter() { cat "/sys/class/infiniband/$DEV_A/ports/1/counters/$1"; }

# A counter of all QP counters of the device, by `rdma statistic qp show`
qp_counter()
{
	rdma statistic qp show link "$DEV_A/1" |
		grep -oP "\b$1 \K[0-9]+" | awk '{ s += $1 } END { print s + 0 }'
}

statistic() { in_a rdma statistic "$@"; }
lqpns() { rdma resource show qp link "$DEV_A" | grep 'type RC' | grep -oP 'lqpn \K[0-9]+'; }
bound() { rdma statistic qp show link "$DEV_A/1" | tr '\n' ' ' | grep -qE "LQPN: <$1>"; }
unbound() { ! rdma statistic qp show link "$DEV_A/1" | grep -q LQPN; }

# moves NAME command...: what the command prints is more a while later
moves()
{
	local before after
	before=$("$@")
	for _ in {1..50}; do
		sleep 0.1
		after=$("$@")
		[ "$after" -le "$before" ] || return 0
	done
	echo "$before, and later $after"
	return 1
}

total_stays()
{
	local after
	wait_until 10 unbound || { echo "still bound"; return 1; }
	# the port's own counters, the QPs' counters, and those that are gone
	after=$(port_counter port_xmit_packets)
	[ "$after" -ge "$1" ] || { echo "$1 became $after"; return 1; }
	[ "$(counter "$DEV_A" tx_pkts)" -eq "$after" ] || {
		echo "$after packets, $(counter "$DEV_A" tx_pkts) in hw_counters"
		return 1
	}
}

test_counters()
{
	local q
	check "statistic: the port sends" moves counter "$DEV_A" tx_pkts
	check "statistic: the port receives" moves counter "$DEV_A" rx_bytes
	check "sysfs: port_xmit_packets" moves port_counter port_xmit_packets
	check "sysfs: port_xmit_data" moves port_counter port_xmit_data
	check "sysfs: port_rcv_packets" moves port_counter port_rcv_packets
	check "sysfs: port_rcv_data" moves port_counter port_rcv_data
	check "sysfs: unicast_xmit_packets" \
		moves port_counter unicast_xmit_packets

	check "statistic qp: nobody has a counter" unbound
	q=$(lqpns | head -n 1)
	check "statistic qp: bind" statistic qp bind link "$DEV_A/1" lqpn "$q"
	check "statistic qp: it is bound" bound "$q"
	check "statistic qp: and counts" moves qp_counter tx_pkts
	check_fails "statistic qp: bind again" 'error|invalid|busy' \
		statistic qp bind link "$DEV_A/1" lqpn "$q"
	check_fails "statistic qp: bind a QP that isn't there" 'error|invalid|no such' \
		statistic qp bind link "$DEV_A/1" lqpn 1000000
	check "statistic qp: unbind" statistic qp unbind link "$DEV_A/1" \
		cntn "$(rdma statistic qp show link "$DEV_A/1" |
			grep -oP 'cntn \K[0-9]+')" lqpn "$q"
	check "statistic qp: it is unbound" unbound
}

test_auto()
{
	local sent
	check "statistic qp: auto by type" \
		statistic qp set link "$DEV_A/1" auto type on
	check "statistic qp: mode" bash -c \
		"rdma statistic qp mode link $DEV_A/1 | grep -qE 'auto type on'"
	start_users || not_ok "users of it" "don't start"
	check "statistic qp: one counter for all RC QPs of a process" \
		bound '([0-9]+,)*[0-9]+(-[0-9]+)?(,[0-9]+)*'
	check "statistic qp: it counts" moves qp_counter rx_bytes
	sent=$(port_counter port_xmit_packets)
	stop_all
	check "statistic qp: what is gone still counts in the total" \
		total_stays "$sent"
	check "statistic qp: auto off" \
		statistic qp set link "$DEV_A/1" auto off
}

# ---- pages on demand --------------------------------------------------------

# Everything that is registered is on demand, and nothing prefetched
start_pagers()
{
	local ga gb
	ga=$(gid_index "$DEV_A" v4) && gb=$(gid_index "$DEV_B" v4) || return
	background b ibv_rc_pingpong -o -d "$DEV_B" -g "$gb" -n 100000000
	wait_until 10 listens_tcp b 18515 || return
	background a ibv_rc_pingpong -o -d "$DEV_A" -g "$ga" -n 100000000 $IP4_B
}

pages() { rdma statistic show mr | grep "$DEV_A .*page_"; }
has_pages() { pages | grep -qE "page_$1"; }

test_pages()
{
	check_fails "statistic mr: nothing for what is pinned" '^$' pages
	stop_all
	start_pagers || not_ok "regions on demand" "don't start"
	check "statistic mr: pages that came on demand" wait_until 20 \
		has_pages 'faults [1-9][0-9]* page_invalidations [0-9]+ page_prefetch 0'
	stop_all
}

# ---- attributes ------------------------------------------------------------

# FLUSH and ATOMIC WRITE, which kernels have since 6.2 and rdma-core 44 no name for: of the
# device, and of memory on demand
NAMELESS='Unknown flags: 0x(14000000000|C0)$'

# What is in the output that shouldn't be
devinfo()
{
	in_a ibv_devinfo -v -d "$DEV_A" >"$OUT" &&
		! grep -vE "$NAMELESS" "$OUT" | grep -E "$1"
}

devinfo_has()
{
	in_a ibv_devinfo -v -d "$DEV_A" >"$OUT" || return
	grep -qE "$1" "$OUT" && return
	echo "no /$1/ in:"
	cat "$OUT"
	return 1
}

# What is 0 or empty: on Ethernet and without datagrams of RD on any adapter; as nothing
# has gone wrong so far; or as the provider has no call for it
EMPTY=$(paste -sd '|' <<END
max_ee_rd_atom
max_ee_init_rd_atom
max_ee
max_rdd
max_raw_ipv6_qp
max_fmr
sm_lid
port_lid
port_lmc
sm_sl
subnet_timeout
init_type_reply
port_cap_flags2
bad_pkey_cntr
qkey_viol_cntr
max_tso
max_rwq_indirection_tables
max_rwq_indirection_table_size
rx_hash_function
rx_hash_fields_mask
max_wq_type_rq
qp_rate_limit_min
qp_rate_limit_max
max_cq_count
max_cq_period
maximum available device memory
END
)

# Of all that is printed nothing else is empty, and there is something to print.
nothing_empty()
{
	in_a ibv_devinfo -v -d "$DEV_A" >"$OUT" && [ "$(wc -l <"$OUT")" -gt 80 ] &&
		! grep -E ':[[:space:]]*((0x)?[0:]+ *(kbps|us|Bytes)?)?$' "$OUT" |
			grep -vE "^[[:space:]]*($EMPTY|[a-z_]+_caps|.* moderation caps):"
}

no_odp_lacks()
{
	devinfo_has 'rc_odp_caps:' && grep -A1 'xrc_odp_caps:' "$OUT" |
		grep -q 'NO SUPPORT' && [ "$(grep -c 'NO SUPPORT' "$OUT")" -eq 1 ]
}

# What the attribute says shows at once.
atomics_glob()
{
	local file=/sys/class/infiniband/$DEV_A/global_atomics
	echo 1 >"$file" && devinfo_has 'atomic_cap:.*ATOMIC_GLOB' || return
	echo 0 >"$file" && devinfo_has 'atomic_cap:.*ATOMIC_HCA'
}

# Bytes of a path MTU that fit into a netdev's
mtu_follows()
{
	in_a ip link set va mtu "$1" && devinfo_has "active_mtu:[[:space:]]+$2 "
}

guid_of_mac()
{
	local mac
	mac=$(in_a cat /sys/class/net/va/address | tr -d :)
	# the bit of what is universal is flipped: the first digits differ
	[ "$(tr -d : <"/sys/class/infiniband/$DEV_A/node_guid" | cut -c3-)" = \
		"${mac:2:4}fffe${mac:6}" ] &&
		cmp "/sys/class/infiniband/$DEV_A/node_guid" \
			"/sys/class/infiniband/$DEV_A/sys_image_guid"
}

sysfs_is() { grep -qE "$2" "/sys/class/infiniband/$DEV_A/$1"; }

test_attributes()
{
	local a
	for a in max_mr_size max_qp max_qp_wr max_sge max_sge_rd max_cq max_cqe \
		 max_mr max_pd max_qp_rd_atom max_res_rd_atom \
		 max_qp_init_rd_atom max_mw max_raw_ethy_qp max_mcast_grp \
		 max_mcast_qp_attach max_total_mcast_qp_attach max_ah max_srq \
		 max_srq_wr max_srq_sge max_pkeys local_ca_ack_delay; do
		check "devinfo: $a" devinfo_has "^[[:space:]]+$a:[[:space:]]+(0x)?[0-9a-f]*[1-9a-f]"
	done
	check "devinfo: board_id" devinfo_has 'board_id:.*SROCE'
	check "devinfo: the port" devinfo_has 'state:.*PORT_ACTIVE'
	check "devinfo: Ethernet" devinfo_has 'link_layer:.*Ethernet'
	check "devinfo: GIDs of RoCE v2" devinfo_has 'GID\[.*::ffff:10\.7\.0\.1, RoCE v2'
	check "devinfo: the speed of a veth" devinfo_has \
		'active_speed:.*10\.0 Gbps|active_speed:.*10\.3125'
	check "devinfo: fw_ver" devinfo_has 'fw_ver:[[:space:]]+[0-9]+\.[0-9]+\.[0-9]+$'
	check "devinfo: GUIDs, of the MAC address" guid_of_mac
	check "devinfo: the port's link" devinfo_has 'phys_state:.*LINK_UP'
	check "devinfo: messages of 2 GiB" devinfo_has 'max_msg_sz:[[:space:]]+0x80000000'
	check "devinfo: atomics among QPs, as of other devices" \
		devinfo_has 'atomic_cap:.*ATOMIC_HCA'
	check "devinfo: atomics against the CPU, on demand" atomics_glob
	check "devinfo: a vector for each CPU" devinfo_has \
		"num_comp_vectors:[[:space:]]+$(getconf _NPROCESSORS_CONF)$"
	check "devinfo: pages on demand for all that send, but XRC" no_odp_lacks
	check "devinfo: the MTU" mtu_follows 1500 1024
	check "devinfo: a larger one" mtu_follows 4200 4096
	check "devinfo: and back" mtu_follows 1500 1024
	check "devinfo: nothing else is empty" nothing_empty
	check "devinfo: nothing it can't name" devinfo 'invalid|unknown|Unknown'
	check "sysfs: hca_type" sysfs_is hca_type sroce
	check "sysfs: hw_rev" sysfs_is hw_rev 1
	check "sysfs: board_id" sysfs_is board_id SROCE
	check "link: its netdev" bash -c \
		"ip netns exec $NS_A rdma link show $DEV_A/1 | grep -q 'netdev va'"
}

# ---- namespaces of their own -----------------------------------------------

rdma_in() { ip netns exec "$1" rdma "${@:2}"; }
seen_in() { rdma_in "$1" dev show | grep -q " $2: "; }
seen() { rdma dev show | grep -q " $1: "; }
unseen() { ! seen "$1"; }
unseen_in() { ! seen_in "$1" "$2"; }
listens_in() { rdma_in "$1" resource show cm_id | grep -q LISTEN; }
verbs_in() { ip netns exec "$1" ibv_devices | grep -q "$2"; }
no_verbs() { ! ibv_devices | grep -q "$1"; }

pinged()
{
	local rc
	timeout 30 ip netns exec b rping -s -a $IP4_B -C 10 >/dev/null 2>&1 &
	PIDS+=($!)
	wait_until 10 listens_in b || return
	timeout 30 ip netns exec a rping -c -a $IP4_B -C 10 -v
	rc=$?
	stop_all
	return $rc
}

# A listener loses its device when that moves.
moved_away()
{
	timeout 60 ip netns exec a rping -s -a $IP4_A >/dev/null 2>&1 &
	PIDS+=($!)
	wait_until 10 listens_in a || return
	rdma_in a dev set "$DEV_A" netns c || return
	wait_until 10 seen_in c "$DEV_A" && unseen_in a "$DEV_A" || return
	! listens_in c || return
	rdma_in c dev set "$DEV_A" netns a && wait_until 10 seen_in a "$DEV_A"
	stop_all
}

# Its netdev goes while it moves, at one moment or another.
crossed()
{
	local i
	for i in {1..8}; do
		ip link add td0 type dummy && link_add t0 td0 || return
		rdma dev set t0 netns c &
		sleep "0.0$i"
		timeout 20 ip link delete td0 || return
		wait $!
		wait_until 10 unseen_in c t0 && wait_until 10 unseen t0 || return
	done
}

test_exclusive()
{
	check "netns exclusive" wait_until 20 rdma system set netns exclusive
	ns_add c
	topo_netdevs
	in_a rdma link add "$DEV_A" type sroce netdev va
	in_b rdma link add "$DEV_B" type sroce netdev vb
	check "exclusive: a new device belongs to the first namespace" \
		seen "$DEV_A"
	check "exclusive: and to no other" unseen_in a "$DEV_A"
	check "exclusive: it moves" rdma dev set "$DEV_A" netns a
	check "exclusive: so does the other" rdma dev set "$DEV_B" netns b
	check "exclusive: it is seen there" seen_in a "$DEV_A"
	check "exclusive: by programs, too" verbs_in a "$DEV_A"
	check "exclusive: and not here" unseen "$DEV_A"
	check "exclusive: nor by programs" no_verbs "$DEV_A"
	check "exclusive: traffic" pinged
	check "exclusive: it moves while it is in use" moved_away
	check "exclusive: traffic after that" pinged
	check "exclusive: its netdev goes while it moves" crossed
	ip netns delete a
	rdma_in b link delete "$DEV_B"
	check "exclusive: deleted where it is" wait_until 10 unseen_in b "$DEV_B"
	ip netns delete b
	ip netns delete c
	ip link delete va 2>/dev/null
	check "netns shared again" wait_until 20 rdma system set netns shared
	check "a device ends with its namespace" unseen "$DEV_A"
}

load_module || { not_ok "loading the module"; done_testing; exit 1; }
topo_veth
test_attributes
# not by check(), whose subshell would keep to itself whom to stop
start_users || not_ok "users of all kinds of objects" "don't start"
test_resources
test_counters
test_pages
test_auto
topo_down
test_exclusive
done_testing
