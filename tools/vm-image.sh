# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the VM boots: the kernel, unpacked, and an initramfs with the modules
# for its file systems and for RDMA. Sourced by tools/vm.sh; needs kernel.sh.

# Loaded before the host's root is there, from memory: reading them through 9p
# takes seconds on an emulated CPU.
INITRAMFS_MODULES=(virtio_pci 9pnet_virtio 9p virtiofs overlay virtio_console ib_uverbs
	rdma_ucm ib_umad udp_tunnel ip6_udp_tunnel)

# Modules $3... and what they need, in the order insmod wants.
module_closure()	# kernel-dir release module...
{
	local base=$1/lib/modules/$2
	shift 2
	awk -v want="$*" '
	function name(path) {
		sub(/.*\//, "", path); sub(/\.ko.*/, "", path)
		gsub(/-/, "_", path); return path
	}
	function visit(m,   n, d, i) {
		if (seen[m]++ || !(m in path)) return
		n = split(deps[m], d, " ")
		for (i = 1; i <= n; i++) visit(name(d[i]))
		print path[m]
	}
	{ p = $1; sub(/:$/, "", p); m = name(p); path[m] = p
	  sub(/^[^:]*: */, ""); deps[m] = $0 }
	END { n = split(want, w, " "); for (i = 1; i <= n; i++) visit(w[i]) }
	' "$base/modules.dep"
}

number_at()	# file offset size
{
	od -An "-tu$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# The ELF image inside a bzImage, by the setup header's account of where it is
# (Documentation/arch/x86/boot.rst). Its last four bytes are its size.
unpack_bzimage()	# bzimage
{
	local start len magic
	start=$((($(number_at "$1" 497 1) + 1) * 512 + $(number_at "$1" 584 4)))
	len=$(($(number_at "$1" 588 4) - 4))
	magic=$(number_at "$1" $start 2)
	head -c $((start + len)) "$1" | tail -c $len | case $magic in
	14333)	xz -dc ;;
	46376)	zstd -dcq ;;
	35615)	gzip -dc ;;
	*)	false ;;
	esac
}

# QEMU boots an ELF image with a PVH entry as it is; unpacking the kernel in
# the guest takes an emulated CPU seconds.
make_vmlinux()	# kernel-dir release
{
	local packed=$1/boot/vmlinuz-$2
	VMLINUX=$1/boot/vmlinux-$2
	[ "$VMLINUX" -nt "$packed" ] && return
	if grep -sqx CONFIG_PVH=y "$1/boot/config-$2" &&
	    unpack_bzimage "$packed" >"$VMLINUX.$$"; then
		mv "$VMLINUX.$$" "$VMLINUX"
	else
		rm -f "$VMLINUX.$$"
		VMLINUX=$packed
	fi
}

# One initramfs per kernel release and recipe: trees of different age may share
# a cache.
make_initramfs()	# kernel-dir release busybox
{
	local tmp path file recipe
	recipe=$(cat "$SROCE_ROOT"/tools/vm-{init,image.sh} | cksum)
	INITRAMFS=$SROCE_CACHE/initramfs-$2-${recipe%% *}.cpio
	[ "$INITRAMFS" -nt "$1/.done" ] && return
	find "$SROCE_CACHE" -maxdepth 1 -name "initramfs-$2*.cpio" -mtime +1 -delete
	tmp=$(mktemp -d "$SROCE_CACHE/initramfs.XXXXXX")
	mkdir -p "$tmp"/{bin,dev,proc,sys,modules}
	: >"$tmp/modules/order"
	cp "$3" "$tmp/bin/"
	cp "$SROCE_ROOT/tools/vm-init" "$tmp/init"
	chmod 755 "$tmp/init"
	while read -r path; do
		file=${path##*/}
		case $file in
		*.xz)	file=${file%.xz}
			xz -dc "$1/lib/modules/$2/$path" >"$tmp/modules/$file" ;;
		*)	cp "$1/lib/modules/$2/$path" "$tmp/modules/" ;;
		esac
		echo "$file" >>"$tmp/modules/order"
	done < <(module_closure "$1" "$2" "${INITRAMFS_MODULES[@]}")
	(cd "$tmp" && find . | cpio --quiet -o -H newc -R 0:0) >"$tmp.cpio"
	mv "$tmp.cpio" "$INITRAMFS"
	rm -rf "$tmp"
}
