# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2153 # SERVER, CLIENT, MODE, PORT are the caller's
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

# Both machines set_up; then one of them does what lead does, and the other what it is told.
two_run()
{
	set_up || echo "no link on machine $VM_ID"
	barrier ready
	if [ "$VM_ID" = 2 ]; then
		take_orders
		exit 0
	fi
	lead
	done_testing
}

# ---- a server on one machine, a client on the other ------------------------

listening()	# mode device port
{
	case $1 in
	cm)	wait_until 20 listens_cm "$2" $CM_PORT ;;
	*)	wait_until 20 listens_here "$3" ;;
	esac
}

listens_here() { ss -ltnH "sport = :$1" | grep -q .; }

# A server, whose pid its client's machine can name
serve()
{
	timeout -k 1 100 "$@" &
	echo $! >/tmp/served
	wait $!
}

stop_serving() { sleep 1; kill "$(cat /tmp/served)" 2>/dev/null; }

# Begin a server on a machine; finish gives its output and status.
begin()	# vm command
{
	if [ "$1" = 1 ]; then
		eval "serve $2" >/tmp/begun 2>&1 </dev/null &
		BEGUN=$!
	else
		there "serve $2"
		BEGUN=$TWO_N
	fi
}

finish()	# vm
{
	local rc=0
	if [ "$1" = 1 ]; then
		wait "$BEGUN" || rc=$?
		cat /tmp/begun
	else
		there_wait "$BEGUN" || rc=$?
	fi
	return $rc
}

# perftest says it first, and then prints its tables.
what_went_wrong()	# output
{
	head -n -12 "$1" | grep -iE 'error|fail|status'
	tail -n 12 "$1"
}

# pair 1|2: SERVER on that machine, which listens as MODE (tcp, on PORT, or cm) says, and
# CLIENT on the other. device_of gives a machine's device.
pair()
{
	local s=$1 c=$((3 - $1)) src=0 crc=0
	begin "$s" "$SERVER"
	on "$s" listening $MODE "$(device_of "$s")" "$PORT" ||
		echo "server does not listen"
	on $c "timeout -k 1 100 $CLIENT" >/tmp/client 2>&1 || crc=$?
	[ $crc -eq 0 ] || on "$s" stop_serving
	finish "$s" >/tmp/server 2>&1 || src=$?
	[ $src -ne 0 ] || [ $crc -ne 0 ] || return 0
	echo "server, status $src: $SERVER"
	what_went_wrong /tmp/server
	echo "client, status $crc: $CLIENT"
	what_went_wrong /tmp/client
	return 1
}
