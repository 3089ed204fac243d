#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What make conformance does, with few scripts: sroce keeps what the specification says
# as any device has to, a device that breaks a rule is noticed, and one that fails, too.

DIR=$(dirname "${BASH_SOURCE[0]}")/..
# shellcheck source=selftests/lib/common.sh
. "$DIR/lib/common.sh"
# shellcheck source=selftests/wire/topo.sh
. "$DIR/wire/topo.sh"

OUT=/tmp/conformance/$LINK_TYPE-here
SCRIPTS=(req-send req-read resp-dup resp-gap-nak resp-rights uc-lost ud-send net-vlan)

any()	# option... script...
{
	"$DIR/wire/wire" --any --patience 2000 --records "$OUT/records" "${WIRE_ENDS[@]}" "$@"
}

# report WORDS...: the report has a line with them
report()
{
	"$DIR/wire/report.py" "$OUT"
	grep -qE "$*" "$OUT/report.txt" ||
		{ grep -vE 'passes|not run|untested' "$OUT/report.txt"; return 1; }
}

# In any mode the script goes on where sroce's test has to fail.
rule_noted()
{
	any "$DIR/wire/selftest/rule-credits.wire" && return 1
	grep -P '^note\trule-credits\t.*\tcredits\tsyndrome is 0' "$OUT/records"
}

failure_recorded()
{
	any "$DIR/wire/selftest/packet-missing.wire" || true
	grep -P '^case\tpacket-missing\t.*\tpass' "$OUT/records"
}

make -s -C "$DIR/wire" || exit 1
mkdir -p "$OUT"
trap topo_down EXIT
topo_wire
wire_ends
"$DIR/wire/wire" --list "$DIR"/wire/scripts/*.wire >"$OUT/list"
check "scripts run one by one" "$DIR/wire/conformance.sh" "$OUT" 300 "${WIRE_ENDS[@]}" -- \
	"${SCRIPTS[@]}"
check "each was begun and ended" test "$(grep -c ^end "$OUT/progress")" = ${#SCRIPTS[@]}
check "none was killed, the kernel has no complaint" eval '! grep ^found "$OUT/records"'
check "all that must be is" report "must: [0-9]+ scripts and rules, 0 fail"
check "a broken rule is noted" rule_noted
check "it is a failure in the report" report "rule:credits \(must\): fails"
check "what has to fail still does" failure_recorded
done_testing
