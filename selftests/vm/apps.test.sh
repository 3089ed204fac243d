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
	tap_relay "$app: " < <(marked "app $app" timeout -k 5 400 bash "$DIR/$app.app.sh" --quick 2>&1
		echo $? >/tmp/rc
		end_left_by "app $app")
	relay_ended "$app" "$(</tmp/rc)"
done
done_testing
