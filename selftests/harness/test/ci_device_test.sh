#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tools/ci-device.sh, which is used several times in a job: devices of the steps before stay,
# unless the module is of other sources. On a machine that is made up.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# "NAME NETDEV" of each device in $DIR/devices, the sources of the module in $DIR/loaded
DIR=$(mktemp -d)
export DIR
trap 'rm -rf "$DIR"' EXIT

# What the script does to the machine, and what it asks of it
MACHINE='
	GITHUB_OUTPUT=/dev/null
	id() { echo 0; }
	need() { :; }
	need_core() { :; }
	build() { :; }
	open_nodes() { :; }
	raise_memlock() { :; }
	default_netdev() { echo eth0; }
	address_of() { echo 192.0.2.1; }
	index_now() { echo 1; }
	dmesg() { echo "no log"; }
	loaded() { [ -e "$DIR/loaded" ]; }
	loaded_sources() { cat "$DIR/loaded"; }
	installed_sources() { cat "$DIR/installed"; }
	rmmod() { rm "$DIR/loaded"; : >"$DIR/devices"; }
	rdma()
	{
		case "$1 $2" in
		"link show")	grep "^${3%/1} " "$DIR/devices" |
				sed "s| |/1 state ACTIVE physical_state LINK_UP netdev |; s/^/link /" |
				grep . ;;
		"link add")	! grep -E "^$3 | $7\$" "$DIR/devices" || return
				cat "$DIR/installed" >"$DIR/loaded"
				echo "$3 $7" >>"$DIR/devices" ;;
		*)		return 2 ;;
		esac
	}
'

# device OPTION...: a step of that job, or of the one after it
device() { bash -c '. tools/ci-device.sh; eval "$1"; main "${@:2}"' - "$MACHINE" "$@"; }

# As on a runner that has just started; each device is of a step
machine()	# [NAME NETDEV]...
{
	: >"$DIR/devices"
	rm -f "$DIR/loaded"
	echo ours >"$DIR/installed"
	while [ $# -gt 0 ]; do
		device --name "$1" --netdev "$2" >/dev/null || return
		shift 2
	done
}

has() { diff "$DIR/devices" <(printf '%s\n' "$@"); }

first() { machine && device | grep -x device=sroce0 && has "sroce0 eth0"; }

# It says as well where the device is.
again()
{
	machine sroce0 eth0 sroce1 eth1 && device | grep -x device=sroce0 &&
		has "sroce0 eth0" "sroce1 eth1"
}

second() { machine sroce0 eth0 && device --name sroce1 --netdev eth1 && has "sroce0 eth0" "sroce1 eth1"; }

elsewhere() { machine sroce0 eth0 && device --netdev eth1; }

taken() { machine sroce0 eth0 && device --name sroce1; }

other_sources()
{
	machine sroce7 eth7 && echo theirs >"$DIR/loaded" && device && has "sroce0 eth0"
}

check "a device" first
check "again: it stays, and so do others" again
check "another is added beside the first" second
check_fails "one of that name on another netdev: it says so" "sroce0 is on eth0 already" elsewhere
check "and it stays there" has "sroce0 eth0"
check_fails "a netdev that has one by another name" "no device" taken
check "and keeps it" has "sroce0 eth0"
check "a module of other sources goes with its devices" other_sources
done_testing
