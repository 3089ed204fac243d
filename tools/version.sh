#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Print the version, from drv/version.h; with --git what is to be added to it in a git tree:
# +gCOMMIT[-dirty], or nothing at the tag of the version.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(awk '/^#define SROCE_(MAJOR|MINOR|PATCH)\t/ { printf "%s%s", dot, $3; dot = "." }
	END { print "" }' drv/version.h)
if [ "${1:-}" != --git ]; then
	echo "$version"
else
	commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || exit 0
	dirty=''
	git --no-optional-locks diff --quiet HEAD || dirty=-dirty
	[ -z "$dirty" ] && git tag --points-at HEAD | grep -qx "v$version" || echo "+g$commit$dirty"
fi
