#!/bin/bash
# rdma-core's own suite (python3-pyverbs) on one device whose traffic loops
# back. PYVERBS="test_cq test_mr.MWTest" runs only what matches. What may be
# skipped, and why, is in pyverbs/skips; with SROCE_LINK_TYPE=rxe all skips
# count as good, for comparison.
set -uo pipefail

DIR=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=selftests/lib.sh
. "$DIR/lib.sh"

SUITE=/usr/share/doc/rdma-core/tests
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

if [ ! -d $SUITE ]; then
	not_ok "rdma-core's suite" "$SUITE is missing: is rdma-core installed?"
	done_testing
	exit
fi
# Debian packs the larger files.
cp -r $SUITE "$WORK/tests"
find "$WORK/tests" -name '*.gz' -exec gunzip {} +

load_module
topo_one_device
gid_index "$DEV_A" v4 >/dev/null && gid_index "$DEV_A" v6 >/dev/null

skips=(--skips "$DIR/pyverbs/skips")
[ "$LINK_TYPE" = sroce ] || skips=()
# shellcheck disable=SC2086 # a list
python3 "$DIR/pyverbs/run.py" --dev "$DEV_A" --limit "${PYVERBS_LIMIT:-60}" \
	"${skips[@]}" "$WORK/tests" ${PYVERBS:-}
