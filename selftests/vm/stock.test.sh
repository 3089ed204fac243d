#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every stock tool in both directions over IPv4 and IPv6, ROUNDS times.
set -uo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

ITERS=${ITERS:-200}

topo_veth || { not_ok "two namespaces, a link in each"; done_testing; exit 1; }

for round in $(seq "${ROUNDS:-1}"); do
	for tool in $STOCK_TOOLS; do
		for end in b a; do
			for fam in v4 v6; do
				name="$tool, server in $end, IP$fam"
				[ "${ROUNDS:-1}" = 1 ] || name+=", round $round"
				check "$name" stock_tool "$tool" $end $fam
			done
		done
	done
done

topo_down
done_testing
