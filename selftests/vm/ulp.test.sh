#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A kernel consumer: NVMe over Fabrics, host and target in this kernel, over one
# device. It registers memory by work requests, has keys invalidated from afar,
# reads and writes in both directions, and drains its queues.
set -uo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
# shellcheck source=selftests/apps/nvme.sh
. "$(dirname "${BASH_SOURCE[0]}")/../apps/nvme.sh"

[ "$LINK_TYPE" = sroce ] || { skip ulp "about sroce only"; done_testing; exit; }

DISK=/dev/nullb0
MIB=8

need_modules() { modprobe -a nvmet-rdma nvme-rdma && memory_disk; }

link_up()
{
	load_module
	ip link add na type veth peer name nb &&
	ip addr add 10.66.0.1/24 dev na && ip link set na up &&
	ip link set nb up && link_add nv0 na && gid_index nv0 v4 >/dev/null
}

target_up() { configfs_up && nvme_export rdma 10.66.0.1 4420 $DISK; }

connect() { nvme_connect rdma 10.66.0.1 4420; }

# Random bytes out, in blocks of $1, and back in blocks of $2; the disk's own
# view of them is asked, too.
through()	# write-block read-block
{
	local d
	d=$(nvme_disk)
	head -c ${MIB}M /dev/urandom >/tmp/ulp.data
	dd if=/tmp/ulp.data of="$d" bs="$1" oflag=direct status=none &&
	dd if=$DISK bs=1M count=$MIB iflag=direct status=none |
		cmp - /tmp/ulp.data &&
	dd if="$d" of=/tmp/ulp.back bs="$2" count=$((MIB * 1048576 / $2)) \
		iflag=direct status=none &&
	cmp /tmp/ulp.back /tmp/ulp.data
}

# Several at a time, each on a part of its own
side_by_side()
{
	local d i rc=0 pids=()
	d=$(nvme_disk)
	head -c ${MIB}M /dev/urandom >/tmp/ulp.data
	for i in 0 1 2 3; do
		(
			at=$((MIB / 4 * i))
			dd if=/tmp/ulp.data of="$d" bs=64k skip=$((at * 16)) \
				seek=$((at * 16)) count=$((MIB * 4)) \
				oflag=direct status=none
			dd if="$d" bs=64k skip=$((at * 16)) count=$((MIB * 4)) \
				iflag=direct status=none |
				cmp - <(tail -c +$((at * 1048576 + 1)) /tmp/ulp.data |
					head -c $((MIB / 4))M)
		) &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || rc=1; done
	return $rc
}

all_sizes()
{
	through 4096 65536 && through 65536 4096 && through 1048576 1048576 &&
		through 512 131072
}

# counted NAME...: these counters have moved since they were noted
counted()
{
	local c
	for c in "$@"; do
		[ "$(counter nv0 "$c")" -gt "${NOTED[$c]}" ] || { echo "no $c"; return 1; }
	done
}

note_counters()
{
	local c
	for c in fast_reg_mrs key_invalidations loopback_pkts rx_pkts; do
		NOTED[$c]=$(counter nv0 "$c")
	done
}

# The disk is in use when its link is deleted: an error, and nothing hangs.
link_goes()
{
	local d pid
	d=$(nvme_disk)
	[ -n "$d" ] || { echo "no disk"; return 1; }
	dd if=/dev/zero of="$d" bs=64k count=100000 oflag=direct status=none \
		2>/dev/null &
	pid=$!
	sleep 0.5
	timeout 30 rdma link delete nv0 || { echo "delete: $?"; return 1; }
	wait_until 30 no_controller || { echo "the controller stays"; return 1; }
	wait_until 10 eval "! kill -0 $pid 2>/dev/null" ||
		{ echo "the writer hangs"; return 1; }
	! wait $pid
}

clean_up()
{
	nvme_disconnect
	nvme_unexport
	rdma link delete nv0
	ip link del na
	modprobe -r nvme-rdma nvmet-rdma null_blk
} >/dev/null 2>&1

if ! modinfo nvmet-rdma nvme-rdma >/dev/null 2>&1; then
	skip ulp "no NVMe over RDMA in this kernel"
	done_testing
	exit
fi
declare -A NOTED
trap clean_up EXIT
check "the kernel's target and host, and a disk" need_modules
check "a device" link_up
check "an NVMe target listens" target_up
check "and a host connects to it" connect
for how in "by the short cut" "by the wire"; do
	case $how in *wire) local=0 way=rx_pkts ;; *) local=1 way=loopback_pkts ;; esac
	check "NVMe $how" eval "echo $local >/sys/class/infiniband/nv0/loopback"
	note_counters
	check "NVMe $how: what is written is there, in all sizes" all_sizes
	check "NVMe $how: four at a time" side_by_side
	check "NVMe $how: so it went" counted $way
	check "NVMe $how: memory is registered and invalidated by work requests" \
		counted fast_reg_mrs key_invalidations
	check "NVMe $how: disconnect" nvme_disconnect
	check "NVMe $how: and connect again" connect
done
check "a link is deleted while its disk is written" link_goes
check "the target goes" nvme_unexport
trap - EXIT
clean_up
done_testing
