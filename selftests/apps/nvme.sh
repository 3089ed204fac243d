# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# NVMe over Fabrics: a target and a host. Sourced after selftests/lib/common.sh.

NQN=sroce-test
NVMET=/sys/kernel/config/nvmet

# nvme_export rdma|tcp address port disk
nvme_export()
{
	local s=$NVMET/subsystems/$NQN p=$NVMET/ports/1
	mkdir -p $s && echo 1 >$s/attr_allow_any_host && mkdir -p $s/namespaces/1 &&
		echo -n "$4" >$s/namespaces/1/device_path && echo 1 >$s/namespaces/1/enable &&
		mkdir -p $p && echo "$1" >$p/addr_trtype && echo ipv4 >$p/addr_adrfam &&
		echo "$2" >$p/addr_traddr && echo "$3" >$p/addr_trsvcid && ln -s $s $p/subsystems/
}

nvme_unexport()
{
	local s=$NVMET/subsystems/$NQN p=$NVMET/ports/1
	rm -f $p/subsystems/$NQN && rmdir $p || return
	echo 0 >$s/namespaces/1/enable
	rmdir $s/namespaces/1 $s
}

nvme_disk() { ls /dev/nvme[0-9]n1 2>/dev/null | head -n 1; }
has_disk() { [ -b "$(nvme_disk)" ]; }

# nvme_connect rdma|tcp address port [queues]: it tries again each second, for ever
nvme_connect()
{
	echo -n "transport=$1,traddr=$2,trsvcid=$3,nqn=$NQN,nr_io_queues=${4:-2},reconnect_delay=1,ctrl_loss_tmo=-1" \
		>/dev/nvme-fabrics && wait_until 20 has_disk
}

nvme_controller() { ls -d /sys/class/nvme/nvme[0-9]* 2>/dev/null | head -n 1; }
no_controller() { [ -z "$(nvme_controller)" ]; }

nvme_disconnect()
{
	local c
	c=$(nvme_controller)
	[ -z "$c" ] || echo 1 >"$c/delete_controller"
	wait_until 30 no_controller
}
