// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory that another driver exports as a dma-buf, as a region. */

#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include "drv/dev.h"

/*
 * Exporters pin memory for a device. None stands behind ours, so there is one
 * for the whole module, which never does any DMA.
 */
static struct platform_device *importer;

/**
 * struct sroce_dmabuf - a dma-buf whose memory is in use
 * @buf: the dma-buf, referenced: its file descriptor may be closed
 * @attach: where we stand in the exporter's books
 * @sgt: its pages, pinned; looked at by nobody
 * @map: its kernel address
 */
struct sroce_dmabuf {
	struct dma_buf			*buf;
	struct dma_buf_attachment	*attach;
	struct sg_table			*sgt;
	struct iosys_map		map;
};

/*
 * An attachment that can't be told of moves makes the exporter pin, at the
 * attach or the map. We only read, as far as the mapping is concerned, so that
 * no bounce buffer is ever written back over what the CPU wrote.
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

/* The CPU does what a device would, and for as long as the region lives. */
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
		/* memory of a device, perhaps beyond reach of loads and stores */
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

/**
 * sroce_dmabuf_free() - let go of a dma-buf
 * @db: what a region had, or NULL
 */
void sroce_dmabuf_free(struct sroce_dmabuf *db)
{
	if (!db)
		return;
	unmap(db);
	unpin(db);
	dma_buf_put(db->buf);
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
	ret = open_buf(db, end, fd);
	if (ret) {
		kfree(db);
		return ret;
	}
	mr->dmabuf = db;
	mr->ext->addr = (u8 *)db->map.vaddr + offset;
	mr->nr = 1;
	return 0;
}

/**
 * sroce_dmabuf_reg() - register a part of a dma-buf
 * @ibpd: protection domain
 * @offset: first byte in the dma-buf
 * @length: bytes
 * @iova: how remote and local users will name the first byte
 * @fd: file descriptor of the dma-buf
 * @access: rights
 * @unused: unused
 *
 * Return: the region, -EINVAL if it isn't within the dma-buf, -EBADF or -EINVAL
 * if @fd is none, -EOPNOTSUPP if its memory is out of the CPU's reach.
 */
struct ib_mr *sroce_dmabuf_reg(struct ib_pd *ibpd, u64 offset,
				       u64 length, u64 iova, int fd, int access,
				       struct sroce_dmabuf_arg *unused)
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
 * sroce_dmabuf_init() - make the device that exporters see
 */
int sroce_dmabuf_init(void)
{
	int ret;

	importer = platform_device_register_simple("sroce", PLATFORM_DEVID_NONE,
						   NULL, 0);
	if (IS_ERR(importer))
		return PTR_ERR(importer);
	/* what it names in memory, a CPU can reach */
	ret = dma_coerce_mask_and_coherent(&importer->dev, DMA_BIT_MASK(64));
	if (ret) {
		platform_device_unregister(importer);
		return ret;
	}
	dma_set_max_seg_size(&importer->dev, UINT_MAX);
	return 0;
}

/**
 * sroce_dmabuf_exit() - take it away again
 */
void sroce_dmabuf_exit(void)
{
	platform_device_unregister(importer);
}

SROCE_IMPORT_NS(DMA_BUF);
