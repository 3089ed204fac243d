#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# selftests/lib/leftovers.sh: what a program has left behind is ended, and nothing else.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh
# shellcheck source=selftests/lib/leftovers.sh
. selftests/lib/leftovers.sh

ID=test-$$

# In the background, in another session, and by a program that ends before it
leaves()
{
	marked $ID bash -c 'sleep 300 & setsid sleep 300 & (setsid -f sleep 300)' \
		>/dev/null 2>&1 </dev/null
	[ "$(left_by $ID | wc -l)" -eq 3 ]
}

ended() { end_left_by $ID | grep -q '^# left behind: .*sleep' && [ -z "$(left_by $ID)" ]; }
quiet() { [ -z "$(end_left_by $ID)" ]; }

marked $ID-other sleep 300 >/dev/null 2>&1 &
check "three are left behind" leaves
check "they are ended, and named" ended
check "where there are none nothing is said" quiet
check "those of another stay" kill -0 $!
end_left_by $ID-other >/dev/null
done_testing
