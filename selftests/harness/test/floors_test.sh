#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Does tools/floors.py find what it is there for? A copy of the sources keeps the rule;
# with one fault planted at a time it does not.
set -uo pipefail
DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=selftests/lib/tap.sh
. "$DIR/lib/tap.sh"

TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT

fresh() { rm -rf "${TREE:?}"/*; cp -a "$DIR/../drv" "$DIR/../Kbuild" "$TREE"; }

floors() { "$DIR/../tools/floors.py" --names "$TREE"; }

# planted NAME REGEX: what is in the tree now is reported by a line like REGEX
planted()
{
	check_fails "$1" "$2" floors
	fresh
}

fresh
check "the sources keep the rule" floors

cat >>"$TREE/drv/net/route.c" <<'EOF'
void sroce_route_planted(struct sroce_qp *qp)
{
	sroce_task_lock(qp);
}
EOF
planted "a call of a floor above" "route.c uses sroce_task_lock of drv/task/task.c"

sed -i '1a #include "drv/verbs/qp.h"' "$TREE/drv/core/rc/comp.c"
planted "a header of a floor above" "comp.c includes drv/verbs/qp.h"

cat >>"$TREE/drv/mem/region.c" <<'EOF'
void sroce_region_planted(void)
{
	sroce_dmabuf_exit();
}
EOF
planted "a circle of two files" "region.c uses sroce_dmabuf_exit of drv/mem/dmabuf.c"

sed -i '1a #include "drv/core/env.h"' "$TREE/drv/core/counter.h"
planted "a circle of headers" "circle of headers: .*counter.h"

printf 'void sroce_other_name(void)\n{\n}\n' >"$TREE/planted.c"
for i in $(seq 30); do
	sed "s/name/name$i/" "$TREE/planted.c" >>"$TREE/drv/dev/pma.c"
done
planted "names that are not their file's" "pma.c: sroce_other_name1"

: >"$TREE/drv/net/planted.c"
planted "a source that Kbuild does not list" "drv/net/planted.c is not in Kbuild"

done_testing
