#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rdma-core's own suite (python3-pyverbs) on one device whose traffic loops
# back. PYVERBS="test_cq test_mr.MWTest" runs only what matches, ROUNDS=20 all
# twenty times on one device. What may be skipped, and why, is in pyverbs/skips;
# with SROCE_LINK_TYPE=rxe all skips count as good. On 6.1 rdma_rxe has to skip more:
# newer kernels' rdma_rxe is not trusted to survive the suite. It is run with a suite
# that pyverbs/rxe does not know, and with PYVERBS_RXE=run (make check-userland).
set -uo pipefail

DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"

SUITE=/usr/share/doc/rdma-core/tests
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

passes() { grep '^ok ' "$1" | grep -vc '# SKIP'; }
skips() { grep -c '^ok .*# SKIP' "$1"; }
fails() { grep -c '^not ok' "$1"; }
# Of the skips, what is an error for the suite's own runner: a call that isn't there
errors() { grep -c '^ok .*# SKIP unittest counts an error' "$1"; }

counts()	# name file
{
	echo "# $1: $(passes "$2") passed, $(fails "$2") failed," \
		"$(skips "$2") skipped; by unittest, the suite's own runner," \
		"$(errors "$2") of these are errors:"
	sed -n 's/^ok [0-9]* - \(.*\) # SKIP unittest counts an error: /#   \1: /p' "$2"
}

# What rdma_rxe passes and skips of this version of the suite, and nothing where that is to
# be found out
recorded()
{
	local version
	version=$(dpkg-query -W -f '${Version}' rdma-core 2>/dev/null)
	[ "${PYVERBS_RXE:-}" = run ] ||
		awk -v version="$version" '$1 == version { print $2, $3 }' "$DIR/pyverbs/rxe"
}

# The same on rdma_rxe, once our link has left UDP port 4791 to it
run_rxe()
{
	topo_down
	ROUNDS=1 SROCE_LINK_TYPE=rxe timeout 500 bash "${BASH_SOURCE[0]}" >"$WORK/rxe" 2>&1
	! link_exists rxe0 || rdma link delete rxe0
	modprobe -r rdma_rxe
	counts "sroce" "$WORK/sroce" >&2
	counts "rdma_rxe of $(uname -r)" "$WORK/rxe" >&2
	echo "$(passes "$WORK/rxe") $(skips "$WORK/rxe")"
}

compare()
{
	local passed skipped
	read -r passed skipped <<<"$(recorded)"
	[ -n "$passed" ] || read -r passed skipped <<<"$(run_rxe)"
	echo "# rdma_rxe, as recorded or run: $passed passed, $skipped skipped"
	check "fewer skips than rdma_rxe, and no fewer passes" \
		test "$(skips "$WORK/sroce")" -lt "$skipped" -a \
		"$(passes "$WORK/sroce")" -ge "$passed"
	done_testing
}

if [ ! -d $SUITE ]; then
	not_ok "rdma-core's suite" "$SUITE is missing: is rdma-core installed?"
	done_testing
	exit
fi
# Debian packs the larger files.
cp -r $SUITE "$WORK/tests"
find "$WORK/tests" -name '*.gz' -exec gunzip {} +

# some tests want pages of 2 MiB
echo 64 >/proc/sys/vm/nr_hugepages

load_module
topo_one_device
gid_index "$DEV_A" v4 >/dev/null && gid_index "$DEV_A" v6 >/dev/null

# test_odp has cases with huge pages, and looks for them in the whole system
echo 32 >/proc/sys/vm/nr_hugepages

skips=(--skips "$DIR/pyverbs/skips")
[ "$LINK_TYPE" = sroce ] || skips=()
rc=0
for ((round = 1; round <= ${ROUNDS:-1}; round++)); do
	# shellcheck disable=SC2086 # a list
	python3 "$DIR/pyverbs/run.py" --dev "$DEV_A" \
		--limit "${PYVERBS_LIMIT:-180}" "${skips[@]}" "$WORK/tests" \
		${PYVERBS:-} | tee "$WORK/sroce"
	[ "${PIPESTATUS[0]}" -eq 0 ] || rc=1
	counts "round $round" "$WORK/sroce"
done
if [ "$LINK_TYPE" = sroce ] && [ -z "${PYVERBS:-}" ] &&
    [[ $(uname -r) == 6.1.* ]]; then
	compare || rc=1
fi
exit "$rc"
