// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions of memory that another driver exports as a dma-buf. The buffer stays pinned and
 * mapped into the kernel as long as the region lives, since the CPU copies the payload.
 */

#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include "drv/compat/compat.h"
#include "drv/core/mem/mr.h"
#include "drv/lookup/user.h"
#include "drv/mem/dmabuf.h"
#include "drv/mem/region.h"

/*
 * Exporters pin memory for a DMA device, and RDMA devices of this module have none. So the
 * module has one platform device, which never does any DMA itself.
 */
static struct platform_device *importer;

/**
 * struct sroce_dmabuf - a dma-buf whose memory is in use
 * @owner: user who is charged for @sgt, NULL for a kernel user
 * @buf: the dma-buf, held, as the user may close its file descriptor
 * @attach: attachment of @importer
 * @sgt: DMA mapping, which keeps the pages pinned and is not used otherwise
 * @map: kernel address of the memory
 */
struct sroce_dmabuf {
	struct sroce_user		*owner;
	struct dma_buf			*buf;
	struct dma_buf_attachment	*attach;
	struct sg_table			*sgt;
	struct iosys_map		map;
};

/*
 * The attachment is not dynamic (it has no move_notify), so the exporter pins the memory at
 * attach or map time. The direction is DMA_TO_DEVICE, though the CPU also writes: a bounce
 * buffer must never be written back over data that the CPU has written.
 */
static int pin(struct sroce_dmabuf *db)
{
	db->attach = dma_buf_attach(db->buf, &importer->dev);
	if (IS_ERR(db->attach))
		return PTR_ERR(db->attach);
	db->sgt = sroce_dma_buf_map(db->attach, DMA_TO_DEVICE);
	if (IS_ERR(db->sgt)) {
		dma_buf_detach(db->buf, db->attach);
		return PTR_ERR(db->sgt);
	}
	return 0;
}

static void unpin(struct sroce_dmabuf *db)
{
	sroce_dma_buf_unmap(db->attach, db->sgt, DMA_TO_DEVICE);
	dma_buf_detach(db->buf, db->attach);
}

/* Map the memory for the CPU, whose access lasts as long as the region. */
static int map(struct sroce_dmabuf *db)
{
	int ret;

	if (!db->buf->ops->vmap)
		return -EOPNOTSUPP;
	ret = dma_buf_begin_cpu_access(db->buf, DMA_BIDIRECTIONAL);
	if (ret)
		return ret;
	ret = sroce_dma_buf_vmap(db->buf, &db->map);
	if (!ret && db->map.is_iomem) {
		/* device memory can't be accessed by ordinary loads and stores */
		sroce_dma_buf_vunmap(db->buf, &db->map);
		ret = -EOPNOTSUPP;
	}
	if (ret)
		dma_buf_end_cpu_access(db->buf, DMA_BIDIRECTIONAL);
	return ret;
}

static void unmap(struct sroce_dmabuf *db)
{
	sroce_dma_buf_vunmap(db->buf, &db->map);
	dma_buf_end_cpu_access(db->buf, DMA_BIDIRECTIONAL);
}

static int open_buf(struct sroce_dmabuf *db, u64 end, int fd)
{
	int ret;

	db->buf = dma_buf_get(fd);
	if (IS_ERR(db->buf))
		return PTR_ERR(db->buf);
	ret = -EINVAL;
	if (end > db->buf->size)
		goto put;
	ret = pin(db);
	if (ret)
		goto put;
	ret = map(db);
	if (!ret)
		return 0;
	unpin(db);
put:
	dma_buf_put(db->buf);
	return ret;
}

static void close_buf(struct sroce_dmabuf *db)
{
	unmap(db);
	unpin(db);
	dma_buf_put(db->buf);
}

/* An exporter makes a table for each attachment, whatever the length of the region is. */
static size_t table_bytes(const struct sroce_dmabuf *db)
{
	return db->sgt->orig_nents * sizeof(struct scatterlist);
}

/* sroce_mr.dmabuf_free: called when the region is not used any more. */
static void dmabuf_free(struct sroce_dmabuf *db)
{
	if (!db)
		return;
	sroce_user_uncharge(db->owner, table_bytes(db));
	close_buf(db);
	kfree(db);
}

static int fill(struct sroce_mr *mr, u64 offset, u64 end, int fd)
{
	struct sroce_dmabuf *db = kzalloc(sizeof(*db), GFP_KERNEL_ACCOUNT);
	int ret;

	mr->ext = kvzalloc(sizeof(*mr->ext), GFP_KERNEL_ACCOUNT);
	if (!db || !mr->ext) {
		kfree(db);
		return -ENOMEM;
	}
	db->owner = sroce_pd_owner(mr->pd);
	ret = open_buf(db, end, fd);
	if (ret) {
		kfree(db);
		return ret;
	}
	ret = sroce_user_charge(db->owner, table_bytes(db));
	if (ret) {
		close_buf(db);
		kfree(db);
		return ret;
	}
	mr->dmabuf = db;
	mr->dmabuf_free = dmabuf_free;
	mr->ext->addr = (u8 *)db->map.vaddr + offset;
	mr->nr = 1;
	return 0;
}

/**
 * sroce_dmabuf_reg() - register a range of a dma-buf (ib_device_ops.reg_user_mr_dmabuf)
 * @ibpd: protection domain
 * @offset: offset of the first byte in the dma-buf
 * @length: bytes
 * @iova: address of the first byte for users of the region
 * @fd: file descriptor of the dma-buf
 * @access: enum ib_access_flags
 * @unused: unused
 *
 * Return: the region, or an error pointer: -EINVAL if the range isn't within the dma-buf,
 * -EBADF or -EINVAL if @fd is not a dma-buf, -EOPNOTSUPP if the CPU can't access its
 * memory, -ENOMEM, or an error of the exporter.
 */
struct ib_mr *sroce_dmabuf_reg(struct ib_pd *ibpd, u64 offset,
			       u64 length, u64 iova, int fd, int access,
			       SROCE_DMABUF_DMAH_ARG struct sroce_dmabuf_arg *unused)
{
	struct sroce_mr *mr;
	u64 end, last;
	int ret;

	if (!length || check_add_overflow(offset, length, &end) ||
	    check_add_overflow(iova, length - 1, &last))
		return ERR_PTR(-EINVAL);
	mr = sroce_region_alloc(ibpd, SROCE_MR_PLAIN, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->iova = iova;
	mr->length = length;
	ret = fill(mr, offset, end, fd);
	if (!ret)
		ret = sroce_region_publish(mr);
	if (ret) {
		sroce_region_free(mr);
		return ERR_PTR(ret);
	}
	mr->ibmr.iova = iova;
	mr->ibmr.length = length;
	return &mr->ibmr;
}

/**
 * sroce_dmabuf_init() - create the device that dma-bufs are attached to
 *
 * Return: 0 or a negative error code.
 */
int sroce_dmabuf_init(void)
{
	int ret;

	importer = platform_device_register_simple("sroce", PLATFORM_DEVID_NONE,
						   NULL, 0);
	if (IS_ERR(importer))
		return PTR_ERR(importer);
	/* no address is out of reach: the CPU does the access */
	ret = dma_coerce_mask_and_coherent(&importer->dev, DMA_BIT_MASK(64));
	if (ret) {
		platform_device_unregister(importer);
		return ret;
	}
	dma_set_max_seg_size(&importer->dev, UINT_MAX);
	return 0;
}

/**
 * sroce_dmabuf_exit() - undo sroce_dmabuf_init()
 */
void sroce_dmabuf_exit(void)
{
	platform_device_unregister(importer);
}

SROCE_IMPORT_NS(DMA_BUF);
