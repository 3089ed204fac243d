#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libfabric's verbs provider, by fi_pingpong, which compares what it gets
set -uo pipefail
# shellcheck source=selftests/apps/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LIMIT=${PAIR_TIMEOUT:-300}

lists()	# endpoint type
{
	in_a fi_info -p verbs -t "FI_EP_$1" | grep -q "domain: $DEV_A"
}

# pingpong provider endpoint options...: the domain of datagrams has a name of its own
pingpong()
{
	local provider=$1 ep=$2 srv port domain='' rc=0
	shift 2
	case "$provider $ep" in
	*rxd*|*dgram) domain=-dgram ;;
	esac
	port=$(any_port)
	in_b timeout -k 1 "$LIMIT" fi_pingpong -B $port -p "$provider" -e "$ep" \
		-d "$DEV_B$domain" -c "$@" >/tmp/fi.server 2>&1 &
	srv=$!
	wait_until 20 listens_tcp b $port
	took 1000 in_a timeout -k 1 "$LIMIT" fi_pingpong -P $port -p "$provider" -e "$ep" \
		-d "$DEV_A$domain" -c "$@" "$IP4_B" || rc=$?
	[ $rc -eq 0 ] || { end_of $srv; cat /tmp/fi.server; }
	wait $srv || rc=$?
	return $rc
}

check "two ends" topo_veth
check "fi_info: msg" lists MSG
check "fi_info: dgram" lists DGRAM
check "fi_info: rdm" lists RDM
for size in 0 64 4096 65536 1048576; do
	check "msg, $size bytes" pingpong verbs msg -S $size -I 20
	check "rdm (rxm), $size bytes" pingpong "verbs;ofi_rxm" rdm -S $size -I 20
done
check "rdm (rxm), tagged, 65536 bytes" pingpong "verbs;ofi_rxm" rdm -m tagged -S 65536 -I 20
check "dgram, 64 bytes" pingpong verbs dgram -S 64 -I 20
check "dgram, 1024 bytes" pingpong verbs dgram -S 1024 -I 20
check "rdm (rxd), 4096 bytes" pingpong "verbs;ofi_rxd" rdm -S 4096 -I 20
done_testing
