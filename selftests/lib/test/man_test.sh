#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The manual pages name what the sources have, and nothing else: counters, attributes,
# parameters, the doctor's codes, options. So do documents, as far as they name tests.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# Lines of a section of a page
section()	# page section
{
	awk -v want="$2" '/^\.Sh / { on = $0 == ".Sh " want } on' "$1"
}

# same SOURCE PAGE NAMES NAMES: those of the source are those of the page; if not, says what
# to do about it where
same()
{
	local source=$1 page=$2 macro=Cm missing extra
	[[ $page != *DESCRIPTION ]] || macro=Fl
	[ -n "$3" ] || { echo "no names found in $source"; return 1; }
	missing=$(comm -23 <(sort -u <<<"$3") <(sort -u <<<"$4"))
	extra=$(comm -13 <(sort -u <<<"$3") <(sort -u <<<"$4"))
	[ -z "$missing" ] ||
		sed "s|.*|$page: add \".It $macro &\" and what it means, as $source has it|" <<<"$missing"
	[ -z "$extra" ] || sed "s|.*|$page: remove &, which $source does not have|" <<<"$extra"
	[ -z "$missing$extra" ]
}

# What the lists in them explain, one per line
cm_items() { sed -n 's/^\.It Cm //p' | sed 's/ Ns .*//; s/ , /\n/g'; }

counters()
{
	same drv/core/counter.h "man/sroce.4, COUNTERS" \
		"$(grep -oP '^\tC\(\w+, "\K\w+' drv/core/counter.h)" \
		"$(section man/sroce.4 COUNTERS | cm_items)"
}

attributes()
{
	same drv/dev/attr.c "man/sroce.4, ATTRIBUTES OF A DEVICE" \
		"$(sed -n '/^static struct attribute \*attributes/,/NULL/p' drv/dev/attr.c |
			grep -oP '&(dev_attr|switch)_\K\w+(?=\.)')" \
		"$(section man/sroce.4 'ATTRIBUTES OF A DEVICE' | cm_items)"
}

parameters()
{
	same "module_param() of drv" "man/sroce.4, PARAMETERS OF THE MODULE" \
		"$(grep -rhoP '^module_param\(\K\w+' drv)" \
		"$(section man/sroce.4 'PARAMETERS OF THE MODULE' | cm_items)"
}

# The codes that are in the script in so many words, and those of the firewall's hooks
doctor_codes()
{
	grep -oP '\bfound \K[a-z][a-z0-9-]+(?= ")' tools/sroce-doctor
	grep -qF 'found "firewall-$hook"' tools/doctor-firewall.sh &&
		printf 'firewall-%s\n' input output
}

codes()
{
	same tools/sroce-doctor "man/sroce-doctor.8, CODES" \
		"$(doctor_codes)" "$(section man/sroce-doctor.8 CODES | cm_items)"
}

options()
{
	same tools/sroce-doctor "man/sroce-doctor.8, DESCRIPTION" \
		"$(grep -oP 'getopts \K[a-z:]+' tools/sroce-doctor | tr -d 'h:' | grep -o .)" \
		"$(sed -n 's/^\.It Fl \([a-z]\).*/\1/p' man/sroce-doctor.8)" &&
	same tools/sroce-top "man/sroce-top.8, DESCRIPTION" \
		"$(grep -oP 'add_argument\("-\K[a-z]' tools/sroce-top)" \
		"$(sed -n 's/^\.It Fl \([a-z]\).*/\1/p' man/sroce-top.8)"
}

# Whatever sroce-top adds up or lists is a counter.
of_top()
{
	local name rc=0
	for name in $(sed -n '/^DROPS/,/^COLUMNS/p' tools/sroce-top | grep -oP '"\K\w+(?=")') \
		    $(grep -oP '"\w+/s", \("\K\w+' tools/sroce-top); do
		grep -q "\"$name\")" drv/core/counter.h || { echo "no counter $name"; rc=1; }
	done
	return $rc
}

# Codes and counters that the documents for users mention exist.
documents()
{
	local code rc=0 known
	known=$(doctor_codes)
	for code in $(grep -ohP '\(`\K[a-z]+(-[a-z]+)+(?=`\))' TROUBLESHOOTING.md CONTAINERS.md); do
		grep -qx -- "$code" <<<"$known" || { echo "no code $code"; rc=1; }
	done
	for code in $(grep -ohP '`\K[rt]x_[a-z_]+(?=`)' README.md TROUBLESHOOTING.md CONTAINERS.md); do
		grep -qE "\"$code\"\)|\b$code\b" drv/core/counter.h drv/dev/attr.c drv/task/*.c ||
			{ echo "no counter $code"; rc=1; }
	done
	[ "$(grep -ocP '\(`[a-z]+(-[a-z]+)+`\)' TROUBLESHOOTING.md)" -ge 15 ] ||
		{ echo "too few codes in TROUBLESHOOTING.md"; rc=1; }
	return $rc
}

# Tests and cases that the table of attacks names exist: a case is in the file before it.
attacks()
{
	local word file="" n=0 rc=0
	while IFS= read -r word; do
		case $word in
		\`*)	file=selftests/${word//\`/}
			[ -e "$file" ] || { echo "no $file"; rc=1; } ;;
		*)	n=$((n + 1))
			grep -qF -- "${word//\"/}" "$file" ||
				{ echo "$file has no case $word"; rc=1; } ;;
		esac
	done < <(sed -n '/^## Attacks/,/^## Unit/p' selftests/README.md | sed -n 's/^| [^|]* | //p' |
		grep -oE '`[^`]+`|"[^"]+"')
	[ $n -ge 20 ] || { echo "only $n cases"; rc=1; }
	return $rc
}

lint() { mandoc -T lint -W warning man/*.[1-9]; }

check "sroce.4 has all counters, and no others" counters
check "sroce.4 has all attributes, and no others" attributes
check "sroce.4 has all parameters, and no others" parameters
check "sroce-doctor.8 has all codes, and no others" codes
check "the pages have all options" options
check "sroce-top's counters exist" of_top
check "codes and counters in the documents exist" documents
check "the tests in the table of attacks exist" attacks
check "mandoc has no complaint" lint
done_testing
