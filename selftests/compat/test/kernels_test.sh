#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The table of tools/kernels.sh, with kernels, compilers and machines that are made up.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
mkdir -p "$DIR"/{tools,bin,cache/headers}
cp tools/{kernels,kernel,arch,publish}.sh "$DIR/tools/"
export SROCE_CACHE=$DIR/cache

# Of 7.2-rt there is none
cat >"$DIR/tools/setup.sh" <<'END'
#!/bin/bash
[ "$2" != 7.2-rt ] || exit 1
echo "$2.0" >"$SROCE_CACHE/headers/$2"
END

# It fails for 6.1-rt, and warns for 6.12.
cat >"$DIR/bin/make" <<'END'
#!/bin/bash
kernel=$(printf '%s\n' "$@" | sed -n 's/^KERNEL=//p')
echo "make $kernel" >>order
[ "$kernel" != 6.12 ] || echo 'a.c:1: warning: unused variable'
[ "$kernel" != 6.1-rt ]
END

# The module of 7.2 leaves something behind, that of 7.3 is not loaded, and 7.3-rt has no rping.
# That of 6.1 waits for what is in the file next.
cat >"$DIR/tools/vm.sh" <<'END'
#!/bin/bash
echo "vm $2" >>order
for ((try = 0; try < 300; try++)); do
	[ "$2" = 6.1 ] && [ -e next ] && ! grep -qxf next order || break
	sleep 0.1
done
echo "end $2" >>order
echo "cell boots yes"
[ "$2" != 7.3 ] || { echo "cell loaded no"; exit 1; }
echo "cell loaded yes"
for c in rping ib_write_bw pyverbs; do
	[ "$2 $c" = "7.3-rt rping" ] && echo "cell $c no" || echo "cell $c yes"
done
case $2 in
7.2)	exit 125 ;;
7.3-rt)	exit 1 ;;
esac
END
chmod 755 "$DIR"/tools/*.sh "$DIR/bin/make"

# The table of kernels NAME..., and the status
kernels()	# name...
{
	rm -f "$DIR/order"
	PATH=$DIR/bin:$PATH "$DIR/tools/kernels.sh" "$@" >"$DIR/out" 2>"$DIR/err"
}

row_is()	# name cells
{
	grep -qxF "| $1 | $2 |" "$DIR/.build/kernels/table.md" ||
		{ cat "$DIR/.build/kernels/table.md" "$DIR/err"; return 1; }
}

all_well()
{
	kernels 6.1 6.12-cloud && row_is 6.1 "6.1.0 | yes | yes | yes | yes | yes | yes" &&
		row_is 6.12-cloud "6.12-cloud.0 | yes | yes | yes | yes | yes | yes" &&
		row_is 7.2 "not tried | | | | | |"
}

row_fails()	# name cells
{
	! kernels "$1" && row_is "$@"
}

others_stay()
{
	all_well && row_fails 6.12 "6.12.0 | no | not tried | not tried | not tried | not tried | not tried" &&
		row_is 6.1 "6.1.0 | yes | yes | yes | yes | yes | yes"
}

# One machine at a time; the next module is built before it ends.
in_order()
{
	echo "make 6.1-cloud" >"$DIR/next"
	kernels 6.1 6.1-cloud 6.12-cloud || return
	[ "$(grep -v make "$DIR/order" | xargs)" = \
		"vm 6.1 end 6.1 vm 6.1-cloud end 6.1-cloud vm 6.12-cloud end 6.12-cloud" ] &&
		[ "$(grep -nx 'make 6.1-cloud' "$DIR/order" | cut -d: -f1)" -lt \
			"$(grep -nx 'end 6.1' "$DIR/order" | cut -d: -f1)" ] ||
		{ cat "$DIR/order"; return 1; }
}

check "all is well" all_well
check "a kernel that it does not compile for" \
	row_fails 6.1-rt "6.1-rt.0 | no | not tried | not tried | not tried | not tried | not tried"
check "a warning is a no; rows of others stay" others_stay
check "a kernel that is not to be had" row_fails 7.2-rt "not to be had | | | | | |"
check "what the kernel complains of is found when the module goes" \
	row_fails 7.2 "7.2.0 | yes | yes | yes | yes | yes | no"
check "what was not loaded has not been unloaded" \
	row_fails 7.3 "7.3.0 | yes | yes | no | no | no | no"
check "a tool that fails" row_fails 7.3-rt "7.3-rt.0 | yes | yes | no | yes | yes | yes"
check "one machine at a time, and a compiler beside it" in_order
done_testing
