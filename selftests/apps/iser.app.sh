#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# iSER between two machines: open-iscsi and the kernel's target; data, and faults under writes
# machines: two
set -uo pipefail
# shellcheck source=selftests/apps/storage.sh
. "$(dirname "${BASH_SOURCE[0]}")/storage.sh"
# shellcheck source=selftests/apps/scsi.sh
. "$(dirname "${BASH_SOURCE[0]}")/scsi.sh"

IQN=iqn.2026-11.test:disk
PORTAL=$DISK_IP:3260
TPG=/sys/kernel/config/target/iscsi/$IQN/tpgt_1

export_disk()
{
	core_up && mkdir -p $TPG/lun/lun_0 $TPG/np/0.0.0.0:3260 &&
		ln -s $CORE $TPG/lun/lun_0/ && echo 1 >$TPG/np/0.0.0.0:3260/iser &&
		echo 0 >$TPG/attrib/authentication && echo 1 >$TPG/attrib/generate_node_acls &&
		echo 1 >$TPG/attrib/cache_dynamic_acls &&
		echo 0 >$TPG/attrib/demo_mode_write_protect && echo 1 >$TPG/enable
}

unexport_disk()
{
	echo 0 >$TPG/enable
	rm -f $TPG/lun/lun_0/disk && rmdir $TPG/np/0.0.0.0:3260 $TPG/lun/lun_0 $TPG ${TPG%/*} &&
		core_down
}

adm() { timeout -k 1 100 iscsiadm -m node -T $IQN -p $PORTAL "$@"; }

setting() { adm -o update -n "$1" -v "$2"; }

# The daemon keeps what it knows in files, and makes a session anew for ever.
login()
{
	mount -t tmpfs tmpfs /etc/iscsi && mkdir -p /run/lock/iscsi /etc/iscsi/nodes /etc/iscsi/ifaces &&
		echo "InitiatorName=iqn.2026-11.test:host" >/etc/iscsi/initiatorname.iscsi &&
		: >/etc/iscsi/iscsid.conf && iscsid && adm -o new -I iser &&
		setting node.session.timeo.replacement_timeout -1 &&
		setting "node.conn[0].timeo.noop_out_interval" 2 &&
		setting "node.conn[0].timeo.noop_out_timeout" 2 &&
		adm --login && wait_until 30 has_disk
}

logout() { adm --logout && wait_until 30 no_disk && iscsiadm -k 0; }

cases()
{
	if ! has_modules ib_iser ib_isert iscsi_target_mod target_core_iblock sd_mod; then
		skip "a target" "this kernel has no iSER"
		return
	fi
	check "the modules" modules ib_iser ib_isert iscsi_target_mod target_core_iblock sd_mod
	check "a target" on 2 export_disk
	check "a host logs in" login
	TARGET=$(scsi_disk)
	data_cases
	resumes "the host's netdev goes and comes" netdev_off_on 1 10
	resumes "the target's netdev goes and comes" netdev_off_on 2 10
	resumes "the target's link is deleted and added" link_off_on 2
	resumes "the host's link is deleted and added" link_off_on 1
	check "the host logs out" logout
	check "the target goes" on 2 unexport_disk
}

two_run
