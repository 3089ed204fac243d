#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NFS over RDMA between two machines, 4.2 and 3: data, and faults under writes
# machines: two
set -uo pipefail
# shellcheck source=selftests/apps/storage.sh
. "$(dirname "${BASH_SOURCE[0]}")/storage.sh"

EXPORT=/srv/export
MOUNT=/mnt/nfs
TARGET=$MOUNT/file
SOURCE=$EXPORT/file

# A file system in the disk, for what the server has to be sure of after a restart
export_it()
{
	mkdir -p $EXPORT && mkfs.ext4 -q $DISK && mount $DISK $EXPORT && chmod 777 $EXPORT &&
		mkdir -p /run/rpcbind /var/lib/nfs/rpc_pipefs /var/lib/nfs/v4recovery /var/lib/nfs/sm || return
	: >/var/lib/nfs/etab; : >/var/lib/nfs/rmtab
	pgrep -x rpcbind >/dev/null || rpcbind || return
	modprobe -a nfsd svcrdma || return
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd || return
	exportfs -o rw,no_root_squash,insecure,no_subtree_check,sync,fsid=0 "*:$EXPORT" &&
		rpc.mountd && rpc.nfsd --grace-time 10 --lease-time 10 4 &&
		echo "rdma 20049" >/proc/fs/nfsd/portlist
}

unexport_it()
{
	rpc.nfsd 0 && exportfs -ua && umount $EXPORT && pkill rpc.mountd
}

mount_it()	# version
{
	local options=rdma,port=20049,vers=$1 path=/
	[ "$1" != 3 ] || { options+=,nolock,mountproto=tcp path=$EXPORT; }
	mkdir -p $MOUNT && timeout 100 mount -v -t nfs -o "$options" $DISK_IP:$path $MOUNT &&
		touch $TARGET
}

unmount_it() { timeout 100 umount $MOUNT; }

by_rdma() { grep -q "xprt:.*rdma" /proc/self/mountstats; }

progress()
{
	awk -v m=$MOUNT '$1 == "device" { mine = $5 == m } mine && $1 == "WRITE:" { print $2 }' \
		/proc/self/mountstats
}

version()
{
	check "NFS $1: a client mounts" mount_it "$1"
	check "NFS $1: by RDMA" by_rdma
	check "NFS $1: data, 4 KiB written, 64 KiB read" through 4096 65536
	check "NFS $1: data, 1 MiB written, 4 KiB read" through 1048576 4096
	resumes "NFS $1: the client's netdev goes and comes" netdev_off_on 1
	resumes "NFS $1: the server's netdev goes and comes" netdev_off_on 2 10
	resumes "NFS $1: the client's link is deleted and added" link_off_on 1
	check "NFS $1: the client goes" unmount_it
}

cases()
{
	if ! has_modules rpcrdma nfs nfsd; then
		skip "a server" "this kernel has no NFS over RDMA"
		return
	fi
	check "the modules" modules rpcrdma nfs nfsd
	check "a server" on 2 export_it
	version 4.2
	version 3
	check "the server goes" on 2 unexport_it
}

two_run
