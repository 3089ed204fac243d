#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Applications as Debian packages them, each in a VM of its own, on sroce and on
# rdma_rxe: a table, .build/apps/table.md, with a log for each run beside it.
#
# usage: tools/apps.sh [NAME...]	those of selftests/apps; what is not run stays as it was
#        APPS_KERNELS="6.1 6.12" APPS_LINKS="sroce rxe"	where
#        tools/apps.sh --publish	put the table into selftests/apps/README.md
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
# shellcheck source=tools/publish.sh
. tools/publish.sh

unset MAKEFLAGS MFLAGS
OUT=.build/apps
README=selftests/apps/README.md
KERNELS=${APPS_KERNELS:-6.1 6.12}
LINKS=${APPS_LINKS:-sroce rxe}

# An application is run in a VM, or in two if its script says so.
machines()	# script
{
	if grep -q '^# machines: two$' "$1"; then echo --two --mem 3G; else echo --mem 6G; fi
}

# The log of an application on a kernel and a link is TAP, and then how the VM ended.
run()	# kernel link name
{
	local log=$OUT/$1-$2-$3.log script=selftests/apps/$3.app.sh rc=0 args
	read -ra args < <(machines "$script")
	tools/vm.sh --kernel "$1" --timeout "${APPS_TIMEOUT:-1200}" "${args[@]}" \
		--env SROCE_KO="$PWD/$OUT/sroce-$1.ko" --env SROCE_LINK_TYPE="$2" \
		-- "$script" 2>&1 | sed -u 's/^\[1\] //' >"$log.tmp" || rc=$?
	echo "# vm: $rc" >>"$log.tmp"
	mv "$log.tmp" "$log"
	echo "$1 $2 $3: $(grep -c '^ok' "$log") passed," \
		"$(grep -c '^not ok' "$log") failed, status $rc"
	[ $rc -eq 0 ]
}

main()
{
	local names=("$@") kernel link name f bad=0
	if [ "${1:-}" = --publish ]; then
		publish_table $OUT/table.md $README "make apps"
		return
	fi
	if [ $# -eq 0 ]; then
		for f in selftests/apps/*.app.sh; do
			f=${f##*/}
			names+=("${f%.app.sh}")
		done
	fi
	mkdir -p $OUT
	tools/setup.sh --apps && make -s -C selftests/apps || return
	for kernel in $KERNELS; do
		tools/setup.sh --kernel "$kernel" &&
			make -s KERNEL="$kernel" module || return
		# whatever is built meanwhile
		cp ".build/$kernel/sroce.ko" "$OUT/sroce-$kernel.ko" || return
		for name in "${names[@]}"; do
			for link in $LINKS; do
				# what rdma_rxe fails is for the table
				run "$kernel" "$link" "$name" || [ "$link" = rxe ] || bad=1
			done
		done
	done
	selftests/apps/table.py $OUT $README >$OUT/table.md || return
	return $bad
}

main "$@"
