#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Which of Debian's kernels tools/fetch-kernel.sh fetches, of an archive that is made up.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh
# shellcheck source=tools/kernel.sh
. tools/kernel.sh
# shellcheck source=tools/fetch-kernel.sh
. tools/fetch-kernel.sh

# What apt-cache search says of the archive
PACKAGES=()
kernel_apt() { printf '%s - a kernel\n' "${PACKAGES[@]}"; }

fetches()	# name release package...
{
	PACKAGES=("${@:3}")
	[ "$(archive_release "$1")" = "$2" ]
}

fetches_none()	# name package...
{
	PACKAGES=("${@:2}")
	! archive_release "$1"
}

both() { printf 'linux-headers-%s linux-image-%s ' "$1" "$1"; }	# release

# shellcheck disable=SC2046 # names of packages
check "of two releases the newer one" fetches 6.1 6.1.0-57-amd64 \
	$(both 6.1.0-56-amd64) $(both 6.1.0-57-amd64)
# shellcheck disable=SC2046
check "not one whose image is not signed yet" fetches 6.1 6.1.0-56-amd64 \
	$(both 6.1.0-56-amd64) linux-headers-6.1.0-57-amd64 \
	linux-image-6.1.0-57-amd64-unsigned
# shellcheck disable=SC2046
check "not one without headers" fetches 6.12-cloud 6.12.94+deb13-cloud-amd64 \
	$(both 6.12.94+deb13-cloud-amd64) linux-image-6.12.95+deb13-cloud-amd64
# shellcheck disable=SC2046
check "not another flavour" fetches 6.1 6.1.0-56-amd64 \
	$(both 6.1.0-56-amd64) $(both 6.1.0-57-rt-amd64) $(both 6.12.94+deb13-amd64)
check "none, if no release is whole" fetches_none 6.1 linux-headers-6.1.0-57-amd64
done_testing
