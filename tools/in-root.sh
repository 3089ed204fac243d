#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Run a command in a root file system that tools/userland.sh has made, with /proc,
# /sys and /dev of this machine. The mounts end with the command.
#
# usage: tools/in-root.sh directory command [argument...]
set -euo pipefail

if [ -z "${SROCE_IN_ROOT:-}" ]; then
	SROCE_IN_ROOT=1 exec unshare --mount "$0" "$@"
fi
root=$(realpath "$1")
shift
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
# services don't start in here
export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C HOME=/root
unset SROCE_IN_ROOT TMPDIR
exec chroot "$root" "$@"
