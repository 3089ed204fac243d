#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tools/intree: the module in a kernel's source, for the oldest and the newest kernel that
# the probes know. The source is a stub here; make check-intree builds it in real ones.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
HOME_DIR=drivers/infiniband/sw/sroce

# The macros of all probes' first forms, which are those of new kernels but for one
macros() { sed -n 's/^ \* form 1 \([A-Z_]*\):.*/\1/p' drv/compat/probes/*.c; }

probed()	# oldest|newest
{
	macros | grep -E 'IMPORT_NS_WORD|GUP_VMAS' >"$TMP/old"
	case $1 in
	oldest)	sed 's/^/#define /' "$TMP/old" ;;
	newest)	macros | grep -vxFf "$TMP/old" | sed 's/^/#define /' ;;
	esac >"$TMP/$1.h"
}

# As much of a kernel's source as is changed
stub()	# directory
{
	mkdir -p "$1"/{drivers/infiniband/sw,Documentation/infiniband}
	printf '%s\n' 'if INFINIBAND' 'source "drivers/infiniband/sw/siw/Kconfig"' endif \
		>"$1/drivers/infiniband/Kconfig"
	# shellcheck disable=SC2016 # for make
	printf '%s\n' 'obj-$(CONFIG_RDMA_SIW)			+= siw/' \
		>"$1/drivers/infiniband/sw/Makefile"
	printf '%s\n' '.. toctree::' '' '   opa_vnic' '   sysfs' \
		>"$1/Documentation/infiniband/index.rst"
	printf '%s\n' 'Maintainers List' '----------------' '' \
		'SRM (Alpha) environment access' 'S:	Maintained' '' \
		'ST LSM6DSx IMU IIO DRIVER' 'S:	Maintained' '' >"$1/MAINTAINERS"
}

# The module into the source $1
put()	# kernel
{
	local flat=$TMP/flat
	rm -rf "$flat"
	mkdir "$flat"
	cp -r drv uapi Kbuild "$flat"
	rm -r "$flat/drv/compat/probes"
	tools/intree/flatten.py "$TMP/$1.h" "$flat" &&
		tools/intree/place.py "$flat" "$TMP/$1" man/sroce.4
}

no_compat()	# kernel
{
	[ -e "$TMP/$1/$HOME_DIR/dev/main.c" ] &&
		! grep -rnE 'SROCE_HAVE|[" /]compat/|probed\.h|__KERNEL__' "$TMP/$1/$HOME_DIR"
}

# Each object of the Makefile has a source, and each source is one of its objects.
objects()	# kernel
{
	make -s --no-print-directory -f - <<-EOF >"$TMP/objects"
	comma := ,
	include $TMP/$1/$HOME_DIR/Makefile
	all: ; @printf '%s\n' \$(sroce-y:.o=.c)
	EOF
	grep -qx dev/main.c "$TMP/objects" &&
		diff <(sort "$TMP/objects") <(cd "$TMP/$1/$HOME_DIR" && find . -name '*.c' | sed 's|^\./||' | sort)
}

includes_exist()	# kernel
{
	local file name bad=0
	[ -e "$TMP/$1/$HOME_DIR/dev/main.c" ] || return
	while IFS=: read -r file name; do
		[ -e "${file%/*}/$name" ] || { echo "$file: $name"; bad=1; }
	done < <(grep -roP '#include "\K[^"]*' "$TMP/$1/$HOME_DIR")
	return $bad
}

# has KERNEL FILE TEXT...: as a programmer for that kernel would have written it
has()
{
	local file=$TMP/$1/$HOME_DIR/$2 text
	shift 2
	for text in "$@"; do
		grep -qF -- "$text" "$file" || { echo "$file: no $text"; return 1; }
	done
}

once() { [ "$(grep -cF -- "$2" "$TMP/newest/$1")" -eq 1 ]; }

again()
{
	cp -r "$TMP/newest" "$TMP/before"
	put newest && diff -r "$TMP/before" "$TMP/newest"
}

# An entry that was put there by an older version of this
older_entry()
{
	sed -i '/^SROCE/,/^$/s/^S:.*/S:	Orphan/' "$TMP/newest/MAINTAINERS" &&
		! diff -q "$TMP/before/MAINTAINERS" "$TMP/newest/MAINTAINERS" &&
		put newest && diff "$TMP/before/MAINTAINERS" "$TMP/newest/MAINTAINERS"
}

for kernel in oldest newest; do
	probed $kernel
	stub "$TMP/$kernel"
	check "$kernel: the module is put into the source" put $kernel
	check "$kernel: nothing of compat is left" no_compat $kernel
	check "$kernel: the Makefile has all sources" objects $kernel
	check "$kernel: all headers that are included are there" includes_exist $kernel
done
# shellcheck disable=SC2016 # not for the shell
check "oldest: functions and arguments of old kernels" eval '
	has oldest queue/cq.c "hrtimer_init(&cq->mod_timer, CLOCK_MONOTONIC," \
		"cq->mod_timer.function = mod_timer_fn;" "int cqe, struct ib_udata" &&
	has oldest mem/faultq.c "alloc_workqueue(\"sroce_pages\", WQ_CPU_INTENSIVE," &&
	has oldest mem/dmabuf.c "MODULE_IMPORT_NS(DMA_BUF);" &&
	has oldest net/tx.c "#include <asm/unaligned.h>" &&
	has oldest net/txq.c "sock_net_set(sk, &init_net);" &&
	has oldest net/route.c "fl.flowi4_tos = av->tclass & ~3;"'
check "newest: functions and arguments of new kernels" eval '
	has newest queue/cq.c "hrtimer_setup(&cq->mod_timer, mod_timer_fn, CLOCK_MONOTONIC," \
		"unsigned int cqe, struct ib_udata" &&
	has newest mem/region.c "ib_umem_get_va(" "struct ib_dmah *unused_dmah," \
		" * @unused_dmah: unused" &&
	has newest mem/dmabuf.c "MODULE_IMPORT_NS(\"DMA_BUF\");" &&
	has newest net/tx.c "#include <linux/unaligned.h>" &&
	has newest dev/ops.c ".resize_user_cq = sroce_cq_resize," \
		".create_user_cq = sroce_cq_create_attrs," \
		".counter_bind_qp = sroce_counter_bind_port," &&
	has newest net/route.c "fl.flowi4_dscp = inet_dsfield_to_dscp(av->tclass);"'
check "nothing changes when it is put there again" again
check "an older entry of MAINTAINERS is replaced" older_entry
check "Kconfig of InfiniBand has it once" once drivers/infiniband/Kconfig sw/sroce/Kconfig
check "the Makefile has it once" once drivers/infiniband/sw/Makefile sroce/
check "the documents' index has it once" once Documentation/infiniband/index.rst '   sroce'
check "MAINTAINERS has it in its place" diff <(grep -E '^[A-Z]{2}' "$TMP/newest/MAINTAINERS") - <<'EOT'
SRM (Alpha) environment access
SROCE SOFTWARE ROCE DRIVER
ST LSM6DSx IMU IIO DRIVER
EOT
done_testing
