# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Two VMs (tools/vm.sh --two), one of which leads: it has the other run what it
# likes, by files in the directory that both share. Sourced after common.sh.

TWO_DIR=${SROCE_JOB:-}/shared
TWO_N=1

two_machines() { ip -4 addr show eth0 2>/dev/null | grep -q ' 10\.9\.0\.'; }

# on 1|2 command...: run it there, in the foreground; its output and status.
on()
{
	if [ "$1" = "$VM_ID" ]; then
		shift
		eval "$*"
		return
	fi
	shift
	there "$@"
	there_wait $TWO_N
}

# there command...: begin it on the other machine, as number TWO_N; that counts
# in subshells, too.
there()
{
	while [ -e "$TWO_DIR/cmd.$TWO_N" ]; do TWO_N=$((TWO_N + 1)); done
	echo "$*" >"$TWO_DIR/new.$TWO_N"
	mv "$TWO_DIR/new.$TWO_N" "$TWO_DIR/cmd.$TWO_N"
}

# there_wait NUMBER: its output and status
there_wait()
{
	wait_until "${THERE_LIMIT:-180}" test -e "$TWO_DIR/rc.$1" ||
		{ echo "the other machine does not answer"; return 124; }
	cat "$TWO_DIR/out.$1"
	return "$(cat "$TWO_DIR/rc.$1")"
}

one_order()	# number
{
	local rc=0 cmd
	cmd=$(cat "$TWO_DIR/cmd.$1")
	eval "$cmd" >"$TWO_DIR/out.$1" 2>&1 </dev/null || rc=$?
	echo $rc >"$TWO_DIR/tmp.$1"
	mv "$TWO_DIR/tmp.$1" "$TWO_DIR/rc.$1"
}

# What the machine that does not lead does, until `there leave`
take_orders()
{
	local n=1
	while :; do
		until [ -e "$TWO_DIR/cmd.$n" ]; do sleep 0.03; done
		if [ "$(cat "$TWO_DIR/cmd.$n")" = leave ]; then
			wait
			return
		fi
		one_order $n &
		n=$((n + 1))
	done
}
