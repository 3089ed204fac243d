#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The scripts in selftests/wire: a peer of our own on a packet socket plays
# each fault that the specification knows. WIRE="resp-rnr" runs only scripts
# whose name or title has that in it, WIRE_FLAGS=--verbose shows their packets.

DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"
# shellcheck source=selftests/wire/topo.sh
. "$DIR/wire/topo.sh"

if [ "$LINK_TYPE" = rxe ]; then
	skip "wire" "the scripts are about this module's counters; make conformance is not"
	done_testing
	exit
fi

make -s -C "$DIR/wire" || exit 1
trap topo_down EXIT
topo_wire
wire_ends
# scripts/resp-answer*.wire need it; the others must not notice
echo 1 >"/sys/class/infiniband/$DEV_A/ack_with_answer" || exit 1

# shellcheck disable=SC2086 # WIRE_FLAGS is a list
"$DIR/wire/wire" "${WIRE_ENDS[@]}" \
	${WIRE:+--only "$WIRE"} ${WIRE_FLAGS:-} \
	"$DIR"/wire/scripts/*.wire "$DIR"/wire/selftest/*.wire
