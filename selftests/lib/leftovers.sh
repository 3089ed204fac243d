# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Run a program that may leave others behind, and end these: its environment has a mark that
# they inherit, whatever process group, session or namespace they go to. For after tap.sh.

MARK_NAME=SROCE_LEFTOVERS

# marked ID command...
marked() { env "$MARK_NAME=$1" "${@:2}"; }

# The processes of ID that are still there
left_by()	# id
{
	grep -lzsxF "$MARK_NAME=$1" /proc/[0-9]*/environ | sed 's|/proc/||; s|/.*||'
}

# relay NAME SECONDS command...: its TAP becomes cases of this script, whatever it leaves behind,
# which would keep its output open, and its namespaces
relay()
{
	tap_relay "$1: " < <(marked "$1 of $$" timeout -k 5 "$2" "${@:3}" 2>&1
		echo $? >/tmp/rc
		end_left_by "$1 of $$")
	relay_ended "$1" "$(</tmp/rc)"
}

# end_left_by ID: kill them, until nothing comes any more; says which there were
end_left_by()
{
	local pids try
	for try in 1 2 3 4 5; do
		mapfile -t pids < <(left_by "$1")
		[ ${#pids[@]} -gt 0 ] || return 0
		[ $try -ne 1 ] || echo "# left behind: $(ps -o pid=,comm= -p "${pids[*]}" | xargs)"
		kill -KILL "${pids[@]}" 2>/dev/null
		sleep 0.1
	done
	return 1
}
