# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What iSER and SRP share: the kernel's SCSI target with a disk. Sourced after storage.sh.

CORE=/sys/kernel/config/target/core/iblock_0/disk

core_up()
{
	mkdir -p $CORE && echo "udev_path=$DISK" >$CORE/control && echo 1 >$CORE/enable
} >/dev/null

core_down() { rmdir $CORE ${CORE%/*}; }

# The SCSI disk of the first machine
scsi_disk() { ls /sys/block 2>/dev/null | sed -n 's|^sd|/dev/sd|p' | head -n 1; }
has_disk() { [ -b "$(scsi_disk)" ]; }
no_disk() { [ -z "$(scsi_disk)" ]; }

progress() { disk_writes "$TARGET"; }
