# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Put a table into a document, between its marks. Sourced by the scripts that make tables.

# publish_table TABLE DOCUMENT COMMAND: between <!-- COMMAND --> and <!-- end -->
publish_table()
{
	local new=$1.published
	[ -s "$1" ] || { echo "no table: run $3 first" >&2; return 1; }
	awk -v table="$1" -v mark="<!-- $3 -->" '
		index($0, mark) {
			print; while ((getline line <table) > 0) print line; skip = 1; next
		}
		/<!-- end -->/ { skip = 0 }
		!skip' "$2" >"$new" &&
		cat "$new" >"$2"
}
