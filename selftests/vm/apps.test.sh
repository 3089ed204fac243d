#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A part of what `make apps` runs: those applications that are quick, small to install,
# and have found something.
set -uo pipefail
# shellcheck source=selftests/lib/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/tap.sh"
# shellcheck source=selftests/lib/leftovers.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/leftovers.sh"

DIR=$(dirname "${BASH_SOURCE[0]}")/../apps
APPS=${APPS:-ucx}

if [ "$(uname -m)" != x86_64 ]; then
	skip apps "not installed for other architectures than the host's"
	done_testing
	exit
fi
for app in $APPS; do
	relay "$app" 400 bash "$DIR/$app.app.sh" --quick
done
done_testing
