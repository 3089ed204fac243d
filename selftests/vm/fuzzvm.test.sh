#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Random calls, rings and packets, while processes are killed and links and netdevs change.
# FUZZ_SECONDS= and FUZZ_SEED= (make fuzz-vm TIME= SEED=) choose how long, and which.
set -uo pipefail
DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip "fuzzvm" "about sroce only"; done_testing; exit; }

SECONDS_=${FUZZ_SECONDS:-30} SEED=${FUZZ_SEED:-1}
CHANGES=/tmp/fuzz.changes
# Seconds that a change may take
LIMIT=$((60 * ${SLOWNESS:-1}))

# counted NAME command...: what the table of changes is made of
counted()
{
	local name=$1
	shift
	if "$@" >/dev/null 2>&1; then echo "$name ok"; else echo "$name bad"; fi >>$CHANGES
}

# Each leaves the netdev as it was, so that there is a way for packets most of the time.
# A link is gone for a moment only: who uses it has to begin again.
change()	# number, command in the namespace, its netdev, IPv4, IPv6, device
{
	local in=$2 dev=$3
	case $1 in
	0)	counted link_delete timeout -s KILL $LIMIT rdma link delete "$6"
		counted link_add $in timeout $LIMIT rdma link add "$6" type sroce netdev "$dev" ;;
	1)	counted down $in ip link set "$dev" down
		counted rename $in ip link set "$dev" name fuzzed
		counted rename $in ip link set fuzzed name "$dev"
		counted up $in ip link set "$dev" up
		counted addr_add $in ip -6 addr replace "$5/64" dev "$dev" nodad ;;
	2)	counted addr_del $in ip addr del "$4/24" dev "$dev"
		counted addr_add $in ip addr add "$4/24" dev "$dev" ;;
	3)	counted addr_del $in ip -6 addr del "$5/64" dev "$dev"
		counted addr_add $in ip -6 addr add "$5/64" dev "$dev" nodad ;;
	4)	counted mtu $in ip link set "$dev" mtu $((700 + RANDOM % 800))
		counted mtu $in ip link set "$dev" mtu 1500 ;;
	5)	counted vlan_add $in ip link add link "$dev" name fuzz.9 type vlan id 9
		counted addr_add $in ip addr add 10.66.0.1/24 dev fuzz.9
		counted vlan_del $in ip link del fuzz.9 ;;
	6)	counted attribute eval "echo $((RANDOM % 2)) >/sys/class/infiniband/$6/loopback" ;;
	*)	counted dump timeout -s KILL $LIMIT rdma resource show qp -dd
		counted dump timeout -s KILL $LIMIT rdma resource show cq -dd
		counted dump timeout -s KILL $LIMIT rdma resource show mr -dd
		counted counters timeout -s KILL $LIMIT rdma statistic show ;;
	esac
}

# Until the file is gone. Links go less often than the rest: all begin again then.
changes()
{
	local n i=0
	RANDOM=$SEED
	# the fuzzer leaves little of the CPUs
	renice -n -15 -p $BASHPID >/dev/null
	while [ -e /tmp/fuzz.run ]; do
		i=$((i + 1)) n=$((1 + RANDOM % 9))
		[ $((i % 8)) -ne 2 ] || n=0
		if [ $((RANDOM % 2)) -eq 0 ]; then
			change $n in_a va $IP4_A $IP6_A "$DEV_A"
		else
			change $n in_b vb $IP4_B $IP6_B "$DEV_B"
		fi
		sleep 0.$((RANDOM % 6))
	done
}

# Whether each change has succeeded at least once
changed()
{
	sort $CHANGES | uniq -c | sed 's/^/# /'
	local name
	for name in $(cut -d ' ' -f 1 $CHANGES | sort -u); do
		grep -q "^$name ok" $CHANGES || { echo "$name: never succeeded"; return 1; }
	done
	grep -q '^link_add ok' $CHANGES
}

module_gone() { rmmod sroce; }

# The module says at its end what has not been given back.
unloads()
{
	topo_down
	wait_until 60 module_gone || { rmmod sroce; return 1; }
	! dmesg | grep 'sroce: .* leaked' || return
	load_module
}

works() { topo_veth && gid_index "$DEV_A" v4 >/dev/null && stock_tool ibv_rc_pingpong b v4; }

make -s -C "$DIR/fuzzvm" || exit 1
trap 'rm -f /tmp/fuzz.run; echo 1 >/proc/sys/debug/exception-trace; topo_down' EXIT
# the kernel's word for programs that spoil their own memory is no complaint of ours
echo 0 >/proc/sys/debug/exception-trace
topo_veth
gid_index "$DEV_A" v4 >/dev/null && gid_index "$DEV_B" v4 >/dev/null
diag "seed $SEED, $SECONDS_ s"
touch /tmp/fuzz.run
changes &
"$DIR/fuzzvm/.out/fuzzvm" "$SECONDS_" "$SEED" >/tmp/fuzz.out 2>&1
rc=$?
rm /tmp/fuzz.run
tap_relay </tmp/fuzz.out
[ $rc -lt 2 ] && [ -n "$RELAYED_PLAN" ] || not_ok "the fuzzer comes to its end" "status $rc"
wait
changed >/tmp/fuzz.changed
rc=$?
cat /tmp/fuzz.changed
check "netdevs and links change" test $rc -eq 0
check "the module unloads, and nothing is left" unloads
check "a new link works" works
done_testing
