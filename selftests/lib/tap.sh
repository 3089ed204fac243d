# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The one writer of TAP for shell scripts: cases are numbered as they come, and
# done_testing() prints the plan.

TAP_N=0 TAP_FAILED=0 TAP_SKIPPED=0

# A command that is not there fails, and where failing is what decides, nobody sees why: "! has it"
# is true then. So each is told of, and the test fails. It runs in a process of its own.
TAP_UNKNOWN=${TMPDIR:-/tmp}/tap-unknown.$$
command_not_found_handle()
{
	echo "${BASH_SOURCE[1]:-}: $1: command not found" | tee -a "$TAP_UNKNOWN" >&2
	return 127
}

ok() { TAP_N=$((TAP_N + 1)); echo "ok $TAP_N - $1"; }

not_ok()	# name [reason]
{
	TAP_N=$((TAP_N + 1)) TAP_FAILED=$((TAP_FAILED + 1))
	echo "not ok $TAP_N - $1"
	[ -z "${2:-}" ] || sed 's/^/#   /' <<<"$2"
}

skip()	# name [reason]
{
	TAP_SKIPPED=$((TAP_SKIPPED + 1))
	ok "$1 # SKIP ${2:-}"
}

diag() { sed 's/^/# /' <<<"$*"; }

# The plan, and the exit status of a test script. One without a case has tested nothing.
done_testing()
{
	[ ! -s "$TAP_UNKNOWN" ] || not_ok "each command is there" "$(sort -u "$TAP_UNKNOWN")"
	rm -f "$TAP_UNKNOWN"
	echo "1..$TAP_N"
	[ "$TAP_FAILED" -eq 0 ] && [ "$TAP_N" -gt 0 ]
}

# one_of N command...: as often as that at most, until it succeeds: for what chance disturbs
one_of()
{
	local left=$1
	shift
	for ((; left > 0; left--)); do
		! "$@" || return 0
	done
	return 1
}

# check NAME command...: one case; the command's output is shown if it fails.
check()
{
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "$out"; fi
}

# check_fails NAME REGEX command...: has to fail with a message like REGEX.
check_fails()
{
	local name=$1 regex=$2 out
	shift 2
	if out=$("$@" 2>&1); then
		not_ok "$name" "succeeded, and should not have: $*"
	elif grep -qiE "$regex" <<<"$out"; then
		ok "$name"
	else
		not_ok "$name" "no /$regex/ in: $out"
	fi
}

# tap_relay [PREFIX]: the TAP on stdin becomes cases of this script, with PREFIX
# before their names; other lines become diagnostics. Leaves how many cases there
# were in RELAYED, how many of them failed in RELAYED_FAILED, and the plan in
# RELAYED_PLAN, which is empty if there was none.
tap_relay()
{
	local line
	RELAYED=0 RELAYED_FAILED=0 RELAYED_PLAN=
	while IFS= read -r line; do
		if [[ $line =~ ^(not\ )?ok(\ +[0-9]+)?(\ +-)?(\ +(.*))?$ ]]; then
			relay_case "${BASH_REMATCH[1]}" "${1:-}${BASH_REMATCH[5]}"
		elif [[ $line =~ ^1\.\.([0-9]+) ]]; then
			RELAYED_PLAN=$((RELAYED_PLAN + BASH_REMATCH[1]))
		else
			echo "# ${line#\# }"
		fi
	done
}

# relay_ended NAME STATUS: what was relayed last has ended with STATUS. One case more, a failure,
# if there were none, or not all of the plan, or if only the status tells of a failure.
relay_ended()
{
	if [ "$2" -ne 0 ] && [ $RELAYED_FAILED -eq 0 ]; then
		not_ok "$1: exit status $2"
	elif [ "${RELAYED_PLAN:-0}" -ne $RELAYED ] || [ $RELAYED -eq 0 ]; then
		not_ok "$1: planned ${RELAYED_PLAN:-nothing}, ran $RELAYED"
	fi
}

# The reason of a failure may follow its name, as that of a skip does.
relay_case()	# "not "|"" name
{
	local reason=
	RELAYED=$((RELAYED + 1))
	if [ -z "$1" ]; then
		[[ ! $2 =~ \#\ *[Ss][Kk][Ii][Pp] ]] ||
			TAP_SKIPPED=$((TAP_SKIPPED + 1))
		ok "$2"
		return
	fi
	RELAYED_FAILED=$((RELAYED_FAILED + 1))
	[[ $2 != *" # "* ]] || reason=${2#* # }
	not_ok "${2%% # *}" "$reason"
}
