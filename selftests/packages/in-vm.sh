#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What selftests/packages/run.sh does in a VM that has booted a Debian of its own, with
# its own kernel. Prints TAP.
#
# usage: selftests/packages/in-vm.sh dkms sroce-tools.deb
#        selftests/packages/in-vm.sh cloud sroce-modules.deb LIMIT	(NO_COMPILER=yes hides one)
#        selftests/packages/in-vm.sh signed SROCE.KO SIGNED.KO
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=selftests/lib/common.sh
. selftests/lib/common.sh

DEV_A=sroce0 DEV_B=sroce1 ITERS=200

# What the VM has loaded before the root was there, for other tests
nothing_loaded()
{
	local m
	for m in rdma_ucm ib_umad ib_uverbs; do
		[ ! -d /sys/module/$m ] || wait_until 10 rmmod $m ||
			{ echo "$m stays"; return 1; }
	done
}

# eth0 here, its peer in b, which needs a device of its own
netdevs()
{
	ns_add b
	ip link add eth0 type veth peer name eth1 netns b
	addresses b eth1 $IP4_B $IP6_B
	ip addr add $IP4_A/24 dev eth0
	ip link set eth0 up
	ip route add default via $IP4_B
}

loaded() { [ -d "/sys/module/$1" ]; }

device_and_modules()
{
	rdma link add sroce0 type sroce netdev eth0 || return
	loaded ib_uverbs && loaded rdma_ucm && ibv_devices | grep -w sroce0
}

pairs()
{
	check "a device for the peer" in_b rdma link add sroce1 type sroce netdev eth1
	check "rping" stock_tool rping b v4
	check "ib_write_bw" stock_tool ib_write_bw b v4
}

# ---- sroce@.service ----------------------------------------------------------

# systemd as the first process of a PID namespace, told that it is in a container:
# it must not switch the VM off. Devices it manages as on a machine, as /sys is writable.
# It cleans /tmp. check() runs this in a subshell: what comes later finds a file.
SYSTEMD=$SROCE_JOB/systemd
boot()
{
	mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup
	container=vm unshare --fork --pid --mount --mount-proc --kill-child \
		/lib/systemd/systemd --system --unit=multi-user.target \
		>"$SYSTEMD.log" 2>&1 &
	echo $! >"$SYSTEMD.pid"
	wait_until 200 booted systemctl is-active multi-user.target ||
		{ booted systemctl list-jobs; tail -n 20 "$SYSTEMD.log"; return 1; }
}

first_process() { pgrep -P "$(cat "$SYSTEMD.pid")"; }

# Run a command where that systemd is. To one from elsewhere it does not answer: its process
# has no ID there.
booted() { nsenter --target "$(first_process)" --pid --mount -- "$@"; }

# Its SIGRTMIN+4 is `systemctl poweroff`. What it and udev know of devices does not survive a
# boot.
shut_down()
{
	local outer init
	outer=$(cat "$SYSTEMD.pid")
	init=$(first_process) || return
	kill -s RTMIN+4 "$init"
	wait_until 100 test ! -d "/proc/$init" || { booted systemctl list-jobs; return 1; }
	wait_until 10 test ! -d "/proc/$outer"
	rm -rf /run/systemd /run/udev
}

has_device()
{
	wait_until 60 test -e "/sys/class/infiniband/sroce_$1" || {
		booted systemctl --no-pager status "sroce@$1" \
			"sys-subsystem-net-devices-$1.device"
		booted systemctl list-jobs
		return 1
	}
}
has_none() { wait_until 60 test ! -e "/sys/class/infiniband/sroce_$1"; }

stopped_well()
{
	has_none eth0 && [ "$(booted systemctl show -P Result sroce@eth0)" = success ]
}

unit_again()
{
	ip link add eth0 type veth peer name eth1 && has_device eth0
}

test_unit()	# package
{
	check "sroce-tools: install" apt-get -qq -y --no-install-recommends install "$1"
	check "systemctl enable sroce@eth0" systemctl enable sroce@eth0
	check "boot" boot
	check "eth0 has its device" has_device eth0
	check "shut down" shut_down
	check "the device is gone" has_none eth0
	check "boot again" boot
	check "eth0 has its device again" has_device eth0
	check "systemctl stop" booted systemctl stop sroce@eth0
	check "the device is gone, the unit stopped well" stopped_well
	check "systemctl start" booted systemctl start sroce@eth0
	ip link delete eth0
	check "its netdev goes: the unit is not active" wait_until 60 inactive
	check "its netdev comes back: a device again" unit_again
	check "sroce-tools: purge" booted apt-get -qq -y purge sroce-tools
	check "the device ends with the package" has_none eth0
	check "nothing is left in /etc/systemd" \
		test -z "$(find /etc/systemd -name '*sroce*' -o -name '*eth0.device.wants')"
	check "shut down" shut_down
}

inactive() { [ "$(booted systemctl is-active sroce@eth0)" != active ]; }

# ---- the tests ---------------------------------------------------------------

test_dkms()	# tools
{
	check "eth0" netdevs
	check "the VM has loaded nothing" nothing_loaded
	check "rdma link add is the only command" device_and_modules
	check "the module is that of DKMS" \
		grep -q /updates/dkms/ <(modinfo -F filename sroce)
	pairs
	rdma link delete sroce0
	test_unit "$1"
}

action() { tools/ci-device.sh --name sroce0 --package "$1" >/tmp/ci-device; }	# package

# As in ci.yml, by what the action has printed: a device, and the address that it has
there_for_users()
{
	local device address
	device=$(sed -n 's/^device=//p' /tmp/ci-device)
	address=$(sed -n 's/^address=//p' /tmp/ci-device)
	ibv_devinfo -d "$device" || return
	timeout 60 rping -s -a "$address" -C 10 &
	sleep 2
	timeout 60 rping -c -a "$address" -C 10 -v && wait $!
}

# The steps of a workflow on a runner, and their time
test_cloud()	# package limit
{
	local start end took
	check "eth0" netdevs
	check "the VM has loaded nothing" nothing_loaded
	# of the VM's root, of which nothing stays
	[ -z "${NO_COMPILER:-}" ] || rm -f /usr/bin/{*gcc*,cc,*clang*}
	check "no compiler is here" test ! -e /usr/bin/gcc
	ulimit -S -l 64
	read -r start _ </proc/uptime
	check "what the action runs, with a package" action "$1"
	in_b rdma link add sroce1 type sroce netdev eth1
	check "rping" stock_tool rping b v4
	read -r end _ </proc/uptime
	took=$((${end%.*} - ${start%.*}))
	echo "packages: from package to rping: $took s" | tee /dev/kmsg | sed 's/^/# /'
	check "from package to rping in less than $2 s" test $took -lt "$2"
	check "ib_write_bw" stock_tool ib_write_bw b v4
	check "the device that the action names is there for users" there_for_users
	check "its limit of locked memory is raised" test "$(ulimit -l)" = unlimited
	in_b rdma link delete sroce1
	ip netns delete b
	check "what the workflow runs over a veth" tools/ci-try.sh
	check "purge" apt-get -qq -y purge "sroce-modules-$(uname -r)"
	check "nothing is left that depmod lists" \
		test -z "$(cd /lib/modules/"$(uname -r)" && grep -l sroce modules.*)"
}

# insmod fails as with module.sig_enforce=1; the log has the reason
refused()	# reason file
{
	local out
	out=$(insmod "$2" 2>&1) && { echo "insmod has loaded it"; return 1; }
	grep -q "Key was rejected by service" <<<"$out" || { echo "$out"; return 1; }
	dmesg | tail -n 3 | grep "$1" || { dmesg | tail -n 3; return 1; }
}

test_signed()
{
	modprobe -a ib_uverbs rdma_ucm udp_tunnel ip6_udp_tunnel
	check "signatures are enforced" grep -qx Y /sys/module/module/parameters/sig_enforce
	check "a module without a signature is refused, and the log says so" \
		refused "Loading of unsigned module is rejected" "$1"
	check "a module with a key that the kernel has not is refused, and the log says so" \
		refused "Loading of module with unavailable key is rejected" "$2"
	check "Debian's own modules load" modprobe dummy
}

case $1 in
dkms|cloud|signed) "test_$1" "${@:2}" ;;
*) not_ok "no test $1" ;;
esac
done_testing
