#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build a kernel of Debian's source of Linux, with little beside what the VM uses. `make
# check-debug` boots "debug", which has KASAN, lockdep, kmemleak and fault injection, and
# "kcsan", which finds data races; "intree" has the module built in, as tools/intree.sh puts
# it into the source. "uml" is User Mode Linux, for `make bench`. Takes 20 minutes of two cores
# and 4 GB of the cache, once each, of "uml" five and 1 GB; says nothing, and takes no time,
# when all is there.
#
# usage: tools/debug-kernel.sh 6.1-debug|6.12-debug|6.1-kcsan|6.12-kcsan|6.12-intree|6.1-uml|...
set -euo pipefail

# shellcheck source=tools/kernel.sh
. "$(dirname "${BASH_SOURCE[0]}")/kernel.sh"
# shellcheck source=tools/fetch-kernel.sh
. "$SROCE_ROOT/tools/fetch-kernel.sh"

export DEBIAN_FRONTEND=noninteractive LC_ALL=C

NAME=${1:?usage: tools/debug-kernel.sh SERIES-debug|SERIES-kcsan|SERIES-intree|SERIES-uml}
SERIES=${NAME%-*} KIND=${NAME##*-}
CONFIGS=("$SROCE_ROOT"/tools/debug/{common,$KIND}.config)
# modules beside the kernel's own, in a directory of that name
EXTRA=''
HOME_DIR=$SROCE_CACHE/debug-kernel
SRC=$HOME_DIR/source-$SERIES
BUILD=$(kernel_headers "$NAME")
LOG=$HOME_DIR/$NAME.log
PACKAGES=(flex bison libelf-dev bc xz-utils)
# some are among both, and are counted below
[ "$KIND" != intree ] || mapfile -t PACKAGES < <(
	printf '%s\n' "${PACKAGES[@]}" "${INTREE_PACKAGES[@]}" | sort -u)
JOBS=$(nproc)
IMAGE=arch/x86/boot/bzImage
[ "$KIND" != uml ] || {
	CONFIGS=("$SROCE_ROOT/tools/debug/uml.config")
	EXTRA=$SROCE_ROOT/tools/debug/uml
	IMAGE=linux
	export ARCH=um
}

say() { echo "debug-kernel: $*" >&2; }
die() { say "$*"; exit 1; }

install_tools()
{
	dpkg-query -W -f '${db:Status-Status}\n' "${PACKAGES[@]}" 2>/dev/null |
		grep -c '^installed' | grep -qx ${#PACKAGES[@]} && return
	say "installing: ${PACKAGES[*]}"
	apt-get -qq -y --no-install-recommends install "${PACKAGES[@]}" \
		</dev/null >"$LOG" 2>&1 || die "apt-get install failed, see $LOG"
}

fetch_source()
{
	[ ! -e "$SRC/Makefile" ] || return 0
	say "fetching Debian's source of Linux $SERIES"
	rm -rf "$SRC"
	kernel_source "$SERIES" "$SRC" >>"$LOG" 2>&1 ||
		die "linux-source-$SERIES is not to be had, see $LOG"
}

# The source of "intree" is a copy, with the module in it.
add_module()
{
	local pristine=$SRC
	SRC=$SRC-intree
	[ -e "$SRC/Makefile" ] || {
		rm -rf "$SRC.tmp"
		cp -a --reflink=auto "$pristine" "$SRC.tmp"
		mv "$SRC.tmp" "$SRC"
	}
	"$SROCE_ROOT/tools/intree.sh" "$SRC" >>"$LOG" 2>&1 ||
		die "the module can't be put into the source, see $LOG"
}

# Options come and go with kernels.
option_exists()	# CONFIG_NAME
{
	grep -rqE --include='Kconfig*' "^(menu)?config ${1#CONFIG_}\$" "$SRC" ||
		{ say "Linux $SERIES has no $1"; return 1; }
}

# What depends on something that is off vanishes without a word from Kconfig.
check_config()
{
	local want name bad=0
	while IFS= read -r want; do
		name=${want%%=*}
		if [ "${want#*=}" = n ]; then
			! grep -q "^$name=" "$BUILD/.config" || {
				say "$name is set"; bad=1; }
		elif ! grep -qx "$want" "$BUILD/.config" && option_exists "$name"; then
			say "wanted $want, got: $(grep -w "$name" \
				"$BUILD/.config" || echo nothing)"
			bad=1
		fi
	done < <(grep '^CONFIG_' "$BUILD/wanted.config")
	return $bad
}

# What the file of a kind says goes before what the common one does.
wanted_config()
{
	cat "${CONFIGS[@]}" | grep '^CONFIG_' | tac | awk -F= '!seen[$1]++' | tac
}

# Comments may change without a new build, and of "intree" sources with one.
config_sum()
{
	{
		wanted_config
		[ "$KIND" != intree ] || module_sources | sort | xargs cat
		[ -z "$EXTRA" ] || cat "$EXTRA"/*
	} | sha256sum
}

module_sources()
{
	find "$SROCE_ROOT"/{drv,uapi,Kbuild,tools/intree,tools/intree.sh,man/sroce.4} -type f \
		! -path '*/compat/README.md'
}

configure()
{
	mkdir -p "$BUILD"
	wanted_config >"$BUILD/wanted.config"
	make -s -C "$SRC" O="$BUILD" KCONFIG_ALLCONFIG="$BUILD/wanted.config" allnoconfig \
		>>"$LOG" 2>&1 || die "allnoconfig failed, see $LOG"
	check_config || die "the configuration does not hold"
}

build()
{
	say "building $NAME; the log is $LOG"
	nice -n 10 make -s -C "$SRC" O="$BUILD" -j "$JOBS" LOCALVERSION="-$KIND" \
		"${IMAGE##*/}" modules >>"$LOG" 2>&1 || {
		tail -n 20 "$LOG" >&2
		die "the build failed"
	}
}

install_modules()	# directory [M=directory of modules]
{
	make -s -C "$SRC" O="$BUILD" LOCALVERSION="-$KIND" INSTALL_MOD_PATH="$1" \
		"${@:2}" modules_install >>"$LOG" 2>&1 || die "modules_install failed, see $LOG"
}

add_extra()	# directory
{
	local dir=$BUILD/extra
	[ -n "$EXTRA" ] || return 0
	rm -rf "$dir"
	cp -r "$EXTRA" "$dir"
	make -s -C "$SRC" O="$BUILD" LOCALVERSION="-$KIND" M="$dir" modules >>"$LOG" 2>&1 ||
		die "the build of $EXTRA failed, see $LOG"
	install_modules "$1" M="$dir"
}

# The same places as those of an unpacked Debian image.
install_image()
{
	local rel dir
	rel=$(kernel_release "$NAME")
	dir=$(kernel_dir "$rel")
	rm -rf "$dir" "$dir.tmp"
	mkdir -p "$dir.tmp/boot"
	cp "$BUILD/$IMAGE" "$dir.tmp/boot/vmlinuz-$rel"
	install_modules "$dir.tmp"
	add_extra "$dir.tmp"
	rm -f "$dir.tmp/lib/modules/$rel"/{build,source}
	config_sum >"$dir.tmp/.done"
	mv "$dir.tmp" "$dir"
}

up_to_date()
{
	local rel
	rel=$(kernel_release "$NAME") || return 1
	config_sum | cmp -s - "$(kernel_dir "$rel")/.done"
}

main()
{
	[ -e "${CONFIGS[-1]}" ] || die "no kind of kernel is called $KIND"
	mkdir -p "$HOME_DIR"
	exec 9>"$HOME_DIR/$NAME.lock"
	flock 9
	up_to_date && return
	: >"$LOG"
	install_tools
	fetch_source
	[ "$KIND" != intree ] || add_module
	configure
	build
	install_image
	say "done"
}

main
