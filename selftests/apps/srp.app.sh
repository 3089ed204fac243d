#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SRP between two machines, by rdma_cm: data, and faults under writes
# machines: two
set -uo pipefail
# shellcheck source=selftests/apps/storage.sh
. "$(dirname "${BASH_SOURCE[0]}")/storage.sh"
# shellcheck source=selftests/apps/scsi.sh
. "$(dirname "${BASH_SOURCE[0]}")/scsi.sh"

PORT=5555
SRPT=/sys/kernel/config/target/srpt

guid() { cat "/sys/class/infiniband/$DEV/node_guid"; }
tpg() { echo "$SRPT/$(guid)/$(guid)"; }

# Who may log in goes by the address; the kernel's target takes its own for that.
acl() { echo "$(tpg)/acls/$DISK_IP"; }

export_disk()
{
	local t
	t=$(tpg)
	mkdir -p $SRPT && echo $PORT >$SRPT/discovery_auth/rdma_cm_port &&
		core_up && mkdir -p "$t/lun/lun_0" && ln -s $CORE "$t/lun/lun_0/" &&
		mkdir -p "$(acl)/lun_0" && ln -s "$t/lun/lun_0" "$(acl)/lun_0/" &&
		echo 1 >"$t/enable"
}

unexport_disk()
{
	local t
	t=$(tpg)
	echo 0 >"$t/enable"
	rm -f "$(acl)/lun_0/lun_0" "$t/lun/lun_0/disk" && rmdir "$(acl)/lun_0" "$(acl)" &&
		rmdir "$t/lun/lun_0" "$t" "${t%/*}" && core_down
}

# A target's identifiers are its GUID, without colons.
connect()
{
	local id
	id=$(on 2 guid) && id=${id//:/} &&
	echo "id_ext=$id,ioc_guid=$id,dest=$DISK_IP:$PORT,max_cmd_per_lun=32" \
		>/sys/class/infiniband_srp/srp-$DEV-1/add_target && wait_until 30 has_disk
}

disconnect()
{
	local f
	for f in /sys/class/srp_remote_ports/port-*/delete; do echo 1 >"$f" || return; done
	wait_until 60 no_disk
}

# The host's driver takes its targets along with their device: writes fail, nothing hangs.
host_link_goes() { given_up link_off && wait_until 60 no_disk; }

comes_back()
{
	link_on && wait_until 20 test -e /sys/class/infiniband_srp/srp-$DEV-1 && connect &&
		TARGET=$(scsi_disk) && kept && data_new && there_and_back 65536 65536
}

cases()
{
	if ! has_modules ib_srp ib_srpt target_core_iblock sd_mod; then
		skip "a target" "this kernel has no SRP"
		return
	fi
	check "the modules" modules ib_srp ib_srpt target_core_iblock sd_mod
	check "a target" on 2 export_disk
	check "a host connects" connect
	TARGET=$(scsi_disk)
	data_cases
	resumes "the host's netdev goes and comes" netdev_off_on 1
	resumes "the target's netdev goes and comes" netdev_off_on 2
	check "the host's link is deleted under writes" host_link_goes
	check "the link is added, and the data is there" comes_back
	check "the host disconnects" disconnect
	check "the target goes" on 2 unexport_disk
}

two_run
