#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The steps of .github/workflows/ci.yml that are more than a command: whatever fails in them
# fails the step, in the background, too.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT

# What the step of that name runs, which is the last of its keys
script_of()	# name
{
	awk -v name="- name: $1" '
		{ line = $0; sub(/^ */, "", line); indent = length($0) - length(line) }
		on && indent <= from { exit }
		on { print line }
		line == name { found = 1; next }
		found && line == "run: |" { on = 1; from = indent }
	' .github/workflows/ci.yml
}

# step NAME: as GitHub runs it, with the programs in $DIR
step()
{
	script_of "$1" >"$DIR/script"
	[ -s "$DIR/script" ] || { echo "no step $1"; return 2; }
	ADDRESS=10.0.0.1 DEVICE=sroce0 PATH=$DIR:$PATH timeout 60 bash -e "$DIR/script"
}

# program NAME: of the commands on stdin
program()
{
	{ echo '#!/bin/bash'; cat; } >"$DIR/$1"
	chmod +x "$DIR/$1"
}

# users SERVER CLIENT: the step for users, with those statuses of rping
users()
{
	program rping <<-END
	[ "\$1" = -c ] || exit $1
	exit $2
	END
	step "It is there for users"
}

fails() { ! "$@" || { echo "succeeded: $*"; return 1; }; }

program ibv_devinfo <<<'exit 0'
program sleep <<<'exit 0'
check "users: both ends succeed" users 0 0
check "users: the client fails" fails users 0 1
check "users: the server fails, in the background" fails users 1 0
check "no wait that forgets what it has waited for" fails \
	grep -rnE '^[^#]*\bwait *(#.*|;.*|)$' .github/workflows action.yml
done_testing
