# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A disk in the memory of the server's end, as the client's end sees it: NVMe over Fabrics,
# by whatever contender is loaded, or by TCP. Sourced after lib.sh and selftests/apps/nvme.sh.

NVME_DISK=/dev/nullb0
NVME_MIB=256
NVME_PORT=4420

# The disk's memory is there before anything is measured.
nvme_disk_up()
{
	modprobe -a nvme-rdma nvme-tcp nvmet-rdma nvmet-tcp &&
		memory_disk && configfs_up &&
		dd if=/dev/zero of=$NVME_DISK bs=1M count=$NVME_MIB oflag=direct status=none
}

nvme_transport() { if [ "$B_NOW" = tcp ]; then echo tcp; else echo rdma; fi; }

# With one queue, as the client's only user; the disk of the contender before must be gone.
nvme_up()
{
	no_controller && nvme_export "$(nvme_transport)" $B_IP1 $NVME_PORT $NVME_DISK &&
		nvme_connect "$(nvme_transport)" $B_IP1 $NVME_PORT 1
}

nvme_down()
{
	nvme_disconnect
	nvme_unexport
}

# measured_nvme nvme_bw|nvme_lat transport size qps qdDEPTH
measured_nvme()
{
	local value p
	timeout -k 1 60 fio --name=r --filename="$(nvme_disk)" --direct=1 --ioengine=libaio \
		--rw=randread --bs="$3" --iodepth="${5#qd}" --size=${NVME_MIB}m --time_based \
		--ramp_time=1 --lat_percentiles=1 --runtime=4 --output-format=json >/tmp/bench.fio ||
		{ failed "$*"; return; }
	case $1 in
	*_bw)	value=$(fio_says "r['bw_bytes'] / 1e6") && row "$@" bandwidth MB/s "$value" ;;
	*_lat)	for p in 50 99 99.9; do
			value=$(fio_says "p('$p') / 1e3") && row "$@" "p$p" us "$value"
		done ;;
	esac
}

# fio_says EXPRESSION: of r, what fio has counted of its reads; a percentile is p("99")
fio_says()
{
	python3 -c "
import json
r = json.load(open('/tmp/bench.fio'))['jobs'][0]['read']
p = lambda q: r['lat_ns']['percentile'][f'{float(q):.6f}']
print(round($1, 2))"
}
