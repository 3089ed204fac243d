#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The feature matrix as Markdown on stdout: what the conformance test expects of
# each verb, and what came of it on this kernel. True if all is as expected.
# FAMILY=6 for IPv6, ONLY=TEXT for rows with that in their page or name.

DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

make -s -C "$DIR/verbs" conform >&2 || exit 1
trap 'topo_down >&2' EXIT
topo_veth >&2
in_b ip link set vb mtu 4200
in_a ip link set va mtu 4200
for dev in "$DEV_A" "$DEV_B"; do
	gid_index "$dev" v4 >/dev/null && gid_index "$dev" v6 >/dev/null
done
"$DIR/verbs/.out/conform" "$DEV_A@$NS_A" "$DEV_B@$NS_B" --family "${FAMILY:-4}" \
	--hostile -m ${ONLY:+--only "$ONLY"}
