#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make check-packages: the packages, as their users have them. Prints TAP.
#
# On this machine, in Debian roots (chroot) that are an overlay on those that
# tools/userland.sh has made: apt installs, DKMS compiles, apt purges. In a VM that boots
# such a root with its own kernel: everything that needs the module.
#
# usage: selftests/packages/run.sh [test...]    deb rpm bookworm trixie cloud runner signed
#	 selftests/packages/run.sh action	a part of make check, without a Debian of its own
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tools/kernel.sh
. tools/kernel.sh
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# Overlays end with this script.
[ -n "${OWN_MOUNTS:-}" ] || OWN_MOUNTS=1 exec unshare --mount "$0" "$@"

VERSION=$(tools/version.sh)
LIMIT=60	# seconds from package to rping, on the cloud kernel
# where the VM sees it
SCRATCH=$PWD/.build/packages.$$
trap 'umount "$SCRATCH"/root.* 2>/dev/null; rm -rf --one-file-system "$SCRATCH"' EXIT

DEBS=$SCRATCH/deb RPMS=$SCRATCH/rpm

# A fresh root at $ROOT: Debian $1 with packages $2...
fresh_root()	# suite package...
{
	local base
	base=$(tools/userland.sh "$@" systemd-sysv) || return
	mkdir -p "$ROOT" "$ROOT.upper" "$ROOT.work"
	mount -t overlay -o \
		"lowerdir=$base,upperdir=$ROOT.upper,workdir=$ROOT.work" overlay "$ROOT"
}

in_root() { tools/in-root.sh "$ROOT" "$@"; }

# The root's kernel, of which there is one
release() { basename "$(echo "$ROOT"/lib/modules/*)"; }

# Run in-vm.sh in a VM.
in_vm()	# name option-of-vm.sh... -- test-of-in-vm.sh...
{
	local name=$1 options=()
	shift
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	tap_relay "$name: " < <(tools/vm.sh --timeout 900 "${options[@]}" \
		-- selftests/packages/in-vm.sh "$@" 2>&1; echo $? >"$SCRATCH/rc")
	relay_ended "the VM" "$(<"$SCRATCH/rc")"
}

# ---- what packages are made of -----------------------------------------------

has_files()	# list pattern...
{
	local p
	for p in "${@:2}"; do
		grep -qE "$p" <<<"$1" || { echo "no $p in:"; echo "$1"; return 1; }
	done
}

deb_files() { dpkg-deb -c "$1" | awk '{ print $6 }'; }

deb_is()	# file field value
{
	[ "$(dpkg-deb -f "$1" "$2")" = "$3" ] || { dpkg-deb -f "$1"; return 1; }
}

make_debs()
{
	[ -d "$DEBS" ] || check "make deb" packaging/deb.sh "$DEBS"
}

test_deb()
{
	make_debs
	local deb=$DEBS/sroce-dkms_${VERSION}_all.deb tools=$DEBS/sroce-tools_${VERSION}_all.deb
	check "sroce-dkms: version $VERSION" deb_is "$deb" Version "$VERSION"
	check "sroce-dkms: sources and dkms.conf" has_files "$(deb_files "$deb")" \
		"/usr/src/sroce-$VERSION/dkms.conf\$" "/Kbuild\$" "/drv/dev/main.c\$" \
		"/uapi/sroce_abi.h\$" "/drv/compat/probes/" "/copyright\$"
	check "sroce-dkms: documents" has_files "$(deb_files "$deb")" \
		"/doc/sroce-dkms/"{README,INSTALL,TROUBLESHOOTING,CONTAINERS}.md
	check "sroce-tools: the unit" has_files "$(deb_files "$tools")" \
		"/systemd/system/sroce@.service\$"
	check "sroce-tools: documents" has_files "$(deb_files "$tools")" \
		"/doc/sroce-tools/"{TROUBLESHOOTING,CONTAINERS}.md
}

rpm_is()	# file query value
{
	[ "$(rpm -qp --qf "$2" "$1")" = "$3" ] || { rpm -qpi "$1"; return 1; }
}

# What DKMS makes of the sources of the RPM package
rpm_builds()	# file
{
	(cd "$ROOT" && rpm2cpio "$1" | cpio --quiet -id './usr/src/*') &&
	in_root dkms add -m sroce -v "$VERSION" &&
	in_root dkms build -m sroce -v "$VERSION" -k "$(release)"
}

test_rpm()
{
	local name rpm=$RPMS/sroce-dkms-$VERSION-1.noarch.rpm
	check "make rpm" packaging/rpm.sh "$RPMS"
	check "sroce-dkms.rpm: version $VERSION" rpm_is "$rpm" '%{VERSION}' "$VERSION"
	check "sroce-dkms.rpm: licence" \
		rpm_is "$rpm" '%{LICENSE}' "GPL-2.0-only OR BSD-2-Clause"
	check "sroce-dkms.rpm: needs DKMS" grep -q '^dkms ' <(rpm -qp --requires "$rpm")
	check "sroce-dkms.rpm: adds, builds, installs and removes" has_files \
		"$(rpm -qp --scripts "$rpm")" "dkms add -m sroce -v $VERSION" \
		"dkms build" "dkms install" "dkms remove"
	check "sroce-dkms.rpm: sources and dkms.conf" has_files "$(rpm -qpl "$rpm")" \
		"^/usr/src/sroce-$VERSION/dkms.conf\$" "/Kbuild\$" "/drv/dev/main.c\$"
	check "sroce-tools.rpm: the unit" has_files \
		"$(rpm -qpl "$RPMS/sroce-tools-$VERSION-1.noarch.rpm")" \
		"^/usr/lib/systemd/system/sroce@.service\$"
	for name in dkms tools; do
		check "sroce-$name.rpm: documents" has_files \
			"$(rpm -qpl "$RPMS/sroce-$name-$VERSION-1.noarch.rpm")" \
			"/doc/.*/"{TROUBLESHOOTING,CONTAINERS}.md
	done
	ROOT=$SCRATCH/root.rpm
	check "bookworm for it" fresh_root bookworm linux-image-amd64 linux-headers-amd64
	check "dkms" in_root sh -c \
		'apt-get -qq update && apt-get -qq -y --no-install-recommends install dkms'
	check "the sources of the RPM package build" rpm_builds "$rpm"
}

# ---- with DKMS -----------------------------------------------------------------

# The first thing a user does; apt fetches DKMS and a compiler. DKMS signs with openssl.
apt_install()	# file
{
	cp "$1" "$ROOT/root/" || return
	in_root sh -c "apt-get -qq update &&
		apt-get -qq -y install --no-install-recommends openssl /root/$(basename "$1")" || return
	[ -e "$(echo "$ROOT/lib/modules/$(release)"/updates/dkms/sroce.ko*)" ] ||
		{ cat "$ROOT"/var/lib/dkms/sroce/*/build/make.log; return 1; }
}

dkms_signed() { in_root modinfo -k "$(release)" -F signer sroce | grep .; }

# Files with its name, and its name in configuration and lists. apt's logs and caches are
# no part of a package.
remains()
{
	find "$ROOT" -xdev \( -path "$ROOT/var/log" -o -path "$ROOT/var/cache/apt" \
		-o -path "$ROOT/root" \) -prune -o -iname '*sroce*' -print
	grep -rIl sroce "$ROOT/etc" "$ROOT"/lib/modules/*/modules.* "$ROOT/var/lib/dkms" \
		"$ROOT/var/lib/dpkg/status" "$ROOT/var/lib/dpkg/info" "$ROOT/var/lib/systemd"
}

purge()
{
	in_root apt-get -qq -y purge sroce-dkms || return
	local left
	left=$(remains 2>/dev/null)
	[ -z "$left" ] || { echo "$left"; return 1; }
}

test_dkms()	# suite
{
	make_debs
	ROOT=$SCRATCH/root.$1
	check "$1: a fresh root" fresh_root "$1" linux-image-amd64 linux-headers-amd64
	check "$1: apt install ./sroce-dkms_${VERSION}_all.deb (on this machine)" \
		apt_install "$DEBS/sroce-dkms_${VERSION}_all.deb"
	check "$1: DKMS has signed the module" dkms_signed
	in_vm "$1 in the VM" --root "$ROOT" -- dkms "$DEBS/sroce-tools_${VERSION}_all.deb"
	check "$1: purge leaves nothing" purge
}

# ---- without a compiler ----------------------------------------------------------

# What users of the cloud kernel do, with the package that was built for it
cloud_vm()	# name option-of-vm.sh...
{
	in_vm "$1 in the VM" "${@:2}" -- cloud "$(echo "$DEBS"/sroce-modules-*.deb)" $LIMIT
}

test_cloud()
{
	ROOT=$SCRATCH/root.cloud
	check "a root with the cloud kernel" fresh_root bookworm linux-image-cloud-amd64
	check "sroce-modules for it" cloud_deb "$(release)"
	cloud_vm "cloud kernel" --root "$ROOT"
}

cloud_deb()	# release
{
	local headers=/usr/src/linux-headers-$1
	[ -d "$headers" ] ||
		apt-get -qq -y --no-install-recommends install "linux-headers-$1" || return
	packaging/deb.sh "$DEBS" "$headers"
}

# What the action does where no package is given: it installs headers and a compiler, and
# builds. On this machine, which is told that it runs the root's kernel, and adds no device.
runner_builds()	# release
{
	local stubs=$ROOT/root/stubs ko=$ROOT/lib/modules/$1/updates/sroce.ko
	mkdir -p "$stubs" "$ROOT/root/sroce" &&
		git ls-files -z | xargs -0 cp --parents -t "$ROOT/root/sroce" &&
		printf '#!/bin/sh\n[ "$*" = -r ] && echo %s || exec /bin/uname "$@"\n' "$1" \
			>"$stubs/uname" &&
		printf '#!/bin/sh\necho "$*" >/root/stubs/added\nexit 1\n' >"$stubs/rdma" &&
		chmod 755 "$stubs"/* || return
	! in_root sh -c 'PATH=/root/stubs:$PATH; /root/sroce/tools/ci-device.sh --netdev eth0' ||
		{ echo "it says that there is a device"; return 1; }
	grep -qx 'link add sroce0 type sroce netdev eth0' "$stubs/added" &&
		[ "$(modinfo -F vermagic "$ko" | cut -d ' ' -f 1)" = "$1" ] &&
		[ "$(in_root modinfo -k "$1" -F filename sroce)" = "${ko#"$ROOT"}" ]
}

test_runner()
{
	ROOT=$SCRATCH/root.runner
	check "a runner with the cloud kernel" fresh_root bookworm linux-image-cloud-amd64
	check "the action installs what it needs, and builds" runner_builds "$(release)"
}

# ---- with the root of this machine -----------------------------------------------

# The steps of the action and of the workflow, as test_cloud() has them in a Debian of its own:
# in a VM that boots the cloud kernel of KERNEL's series, and has no compiler.
test_action()
{
	local name
	name=$(kernel_series "${KERNEL:-6.1}")-cloud
	# the build that follows would take it for its own
	unset KERNEL
	check "$name" tools/setup.sh --kernel "$name"
	check "sroce-modules for it" packaging/deb.sh "$DEBS" "$(kernel_headers "$name")"
	cloud_vm "$name" --kernel "$name" --env NO_COMPILER=yes
}

# ---- signatures --------------------------------------------------------------------

# The steps of INSTALL.md, as far as they need no firmware
sign()
{
	openssl req -new -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=sroce test/" \
		-keyout "$SCRATCH/MOK.priv" -outform DER -out "$SCRATCH/MOK.der" || return
	make -s --no-print-directory KERNEL=6.1 module || return
	cp .build/6.1/sroce.ko "$SCRATCH/signed.ko" &&
	"$(kernel_headers 6.1)/scripts/sign-file" sha256 "$SCRATCH/MOK.priv" \
		"$SCRATCH/MOK.der" "$SCRATCH/signed.ko" || return
	[ "$(modinfo -F signer "$SCRATCH/signed.ko")" = "sroce test" ] ||
		{ modinfo "$SCRATCH/signed.ko"; return 1; }
}

test_signed()
{
	check "a module signed with a key that was just made" sign
	in_vm "module.sig_enforce=1" --kernel 6.1 --append module.sig_enforce=1 -- \
		signed "$PWD/.build/6.1/sroce.ko" "$SCRATCH/signed.ko"
}

main()
{
	local t
	mkdir -p "$SCRATCH"
	[ $# -gt 0 ] || set -- deb rpm bookworm trixie cloud runner signed
	for t in "$@"; do
		case $t in
		bookworm|trixie)	test_dkms "$t" ;;
		deb|rpm|cloud|runner|signed|action)	"test_$t" ;;
		*)			not_ok "no test $t" ;;
		esac
	done
	done_testing
}

main "$@"
