#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NVMe over Fabrics between two machines: data, resets, and faults under writes
# machines: two
set -uo pipefail
# shellcheck source=selftests/apps/storage.sh
. "$(dirname "${BASH_SOURCE[0]}")/storage.sh"
# shellcheck source=selftests/apps/nvme.sh
. "$(dirname "${BASH_SOURCE[0]}")/nvme.sh"

# Where the kernel takes the disk for one of several paths, its own statistics stay empty.
progress() { awk '{ sum += $5 } END { print sum }' /sys/class/nvme/nvme*/nvme*n1/stat; }

connect() { nvme_connect rdma $DISK_IP 4420; }

reset()
{
	local c
	c=$(nvme_controller)
	for _ in 1 2 3; do
		wait_until 30 grep -q live "$c/state" && echo 1 >"$c/reset_controller" || return
	done
}

# The host's driver takes its controllers along with their device: writes fail, nothing hangs.
host_link_goes() { given_up link_off && wait_until 60 no_controller; }

comes_back()
{
	link_on && connect && TARGET=$(nvme_disk) && kept && data_new && there_and_back 65536 65536
}

cases()
{
	if ! has_modules nvme-rdma nvmet-rdma; then
		skip "a target" "this kernel has no NVMe over RDMA"
		return
	fi
	check "the modules" modules nvme-rdma nvmet-rdma
	check "a target" on 2 "nvme_export rdma 0.0.0.0 4420 $DISK"
	check "a host connects" connect
	TARGET=$(nvme_disk)
	data_cases
	resumes "the controller is reset under writes" reset
	resumes "the host's netdev goes and comes" netdev_off_on 1
	resumes "the target's netdev goes and comes" netdev_off_on 2 10
	resumes "the target's link is deleted and added" link_off_on 2
	check "the host's link is deleted under writes" host_link_goes
	check "the link is added, and the data is there" comes_back
	check "the host disconnects" nvme_disconnect
	check "the target goes" on 2 nvme_unexport
}

two_run
