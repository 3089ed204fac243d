// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An exporter of dma-bufs that are hard to import: each kind refuses or does one
 * thing that udmabuf and its like never do, and all count who holds what.
 */

#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "oddbuf.h"

#define SIZE	(1 << 20)

struct odd {
	enum oddbuf_kind kind;
	void *mem;
};

static atomic_t held;

static struct odd *odd_of(struct dma_buf *buf)
{
	return buf->priv;
}

static int take(struct dma_buf *buf, enum oddbuf_kind refuses, int err)
{
	if (odd_of(buf)->kind == refuses)
		return err;
	atomic_inc(&held);
	return 0;
}

static int odd_attach(struct dma_buf *buf, struct dma_buf_attachment *at)
{
	return take(buf, ODDBUF_NO_ATTACH, -EBUSY);
}

static void odd_detach(struct dma_buf *buf, struct dma_buf_attachment *at)
{
	atomic_dec(&held);
}

static int odd_pin(struct dma_buf_attachment *at)
{
	return take(at->dmabuf, ODDBUF_NO_PIN, -ENOSPC);
}

static void odd_unpin(struct dma_buf_attachment *at)
{
	atomic_dec(&held);
}

static struct sg_table *odd_map(struct dma_buf_attachment *at,
				enum dma_data_direction dir)
{
	u32 n = SIZE >> PAGE_SHIFT, i;
	struct scatterlist *sg;
	struct sg_table *sgt;
	int ret;

	if (odd_of(at->dmabuf)->kind == ODDBUF_NO_MAP)
		return ERR_PTR(-EIO);
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(sgt, n, GFP_KERNEL);
	if (ret)
		goto no_table;
	for_each_sgtable_sg(sgt, sg, i)
		sg_set_page(sg, vmalloc_to_page(odd_of(at->dmabuf)->mem +
						i * PAGE_SIZE), PAGE_SIZE, 0);
	ret = dma_map_sgtable(at->dev, sgt, dir, 0);
	if (ret)
		goto no_map;
	atomic_inc(&held);
	return sgt;

no_map:
	sg_free_table(sgt);
no_table:
	kfree(sgt);
	return ERR_PTR(ret);
}

static void odd_unmap(struct dma_buf_attachment *at, struct sg_table *sgt,
		      enum dma_data_direction dir)
{
	dma_unmap_sgtable(at->dev, sgt, dir, 0);
	sg_free_table(sgt);
	kfree(sgt);
	atomic_dec(&held);
}

static int odd_begin(struct dma_buf *buf, enum dma_data_direction dir)
{
	return take(buf, ODDBUF_NO_ACCESS, -ETIMEDOUT);
}

static int odd_end(struct dma_buf *buf, enum dma_data_direction dir)
{
	atomic_dec(&held);
	return 0;
}

static int odd_vmap(struct dma_buf *buf, struct iosys_map *map)
{
	atomic_inc(&held);
	if (odd_of(buf)->kind == ODDBUF_IO)
		iosys_map_set_vaddr_iomem(map, (void __iomem __force *)
					  odd_of(buf)->mem);
	else
		iosys_map_set_vaddr(map, odd_of(buf)->mem);
	return 0;
}

static void odd_vunmap(struct dma_buf *buf, struct iosys_map *map)
{
	atomic_dec(&held);
}

static int odd_mmap(struct dma_buf *buf, struct vm_area_struct *vma)
{
	return remap_vmalloc_range(vma, odd_of(buf)->mem, vma->vm_pgoff);
}

static void odd_release(struct dma_buf *buf)
{
	vfree(odd_of(buf)->mem);
	kfree(buf->priv);
}

#define COMMON						\
	.attach = odd_attach,				\
	.detach = odd_detach,				\
	.map_dma_buf = odd_map,				\
	.unmap_dma_buf = odd_unmap,			\
	.begin_cpu_access = odd_begin,			\
	.end_cpu_access = odd_end,			\
	.mmap = odd_mmap,				\
	.release = odd_release

static const struct dma_buf_ops odd_ops = {
	COMMON,
	.vmap = odd_vmap,
	.vunmap = odd_vunmap,
};

static const struct dma_buf_ops dynamic_ops = {
	COMMON,
	.pin = odd_pin,
	.unpin = odd_unpin,
	.vmap = odd_vmap,
	.vunmap = odd_vunmap,
};

static const struct dma_buf_ops no_vmap_ops = {
	COMMON,
};

static const struct dma_buf_ops *ops_of(enum oddbuf_kind kind)
{
	switch (kind) {
	case ODDBUF_DYNAMIC:
	case ODDBUF_NO_PIN:
		return &dynamic_ops;
	case ODDBUF_NO_VMAP:
		return &no_vmap_ops;
	default:
		return &odd_ops;
	}
}

static long make(enum oddbuf_kind kind)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct odd *odd = kzalloc(sizeof(*odd), GFP_KERNEL);
	struct dma_buf *buf;
	long fd;

	if (!odd)
		return -ENOMEM;
	odd->kind = kind;
	odd->mem = vmalloc_user(SIZE);
	info.ops = ops_of(kind);
	info.size = SIZE;
	info.flags = O_RDWR;
	info.priv = odd;
	buf = odd->mem ? dma_buf_export(&info) : ERR_PTR(-ENOMEM);
	if (IS_ERR(buf)) {
		vfree(odd->mem);
		kfree(odd);
		return PTR_ERR(buf);
	}
	fd = dma_buf_fd(buf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(buf);
	return fd;
}

static long odd_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	if (cmd == ODDBUF_HELD)
		return atomic_read(&held);
	return cmd == ODDBUF_MAKE && arg < ODDBUF_KINDS ? make(arg) : -EINVAL;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = odd_ioctl,
};

static struct miscdevice odd_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "oddbuf",
	.fops = &fops,
};
module_misc_device(odd_misc);

MODULE_DESCRIPTION("dma-bufs that are hard to import, for tests");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DMA_BUF);
