// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Exporters of dma-bufs that need no GPU: udmabuf (pages of a memfd),
 * the system heap, and vgem (a DRM device without hardware). librxe has no
 * ibv_reg_dmabuf_mr(), so the command is given as libibverbs would.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "share.h"

/* Of drm.h and drm_mode.h, which not everybody has */
struct drm_dumb {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};

struct drm_prime {
	uint32_t handle, flags;
	int32_t fd;
};

#define DRM_CREATE_DUMB		_IOWR('d', 0xb2, struct drm_dumb)
#define DRM_HANDLE_TO_FD	_IOWR('d', 0x2d, struct drm_prime)

static int by_udmabuf(size_t size)
{
	struct udmabuf_create c = { .size = size, .flags = UDMABUF_FLAGS_CLOEXEC };
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd = -1;

	if (dev < 0)
		return -1;
	c.memfd = memfd_create("share", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	if ((int)c.memfd >= 0 && !ftruncate(c.memfd, size) &&
	    !fcntl(c.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(dev, UDMABUF_CREATE, &c);
	close(c.memfd);
	close(dev);
	return fd;
}

static int by_heap(size_t size)
{
	struct dma_heap_allocation_data a = {
		.len = size, .fd_flags = O_RDWR | O_CLOEXEC,
	};
	int dev = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC), err;

	if (dev < 0)
		return -1;
	err = ioctl(dev, DMA_HEAP_IOCTL_ALLOC, &a);
	close(dev);
	return err ? -1 : (int)a.fd;
}

static int by_drm(size_t size)
{
	struct drm_dumb d = { .height = size / 4096, .width = 1024, .bpp = 32 };
	struct drm_prime p = { .flags = O_RDWR | O_CLOEXEC, .fd = -1 };
	glob_t g;
	int dev;

	if (glob("/dev/dri/card*", 0, NULL, &g)) {
		errno = ENOENT;
		return -1;
	}
	dev = open(g.gl_pathv[0], O_RDWR | O_CLOEXEC);
	globfree(&g);
	if (dev < 0)
		return -1;
	if (!ioctl(dev, DRM_CREATE_DUMB, &d)) {
		p.handle = d.handle;
		if (ioctl(dev, DRM_HANDLE_TO_FD, &p))
			p.fd = -1;
	}
	close(dev);
	return p.fd;
}

static int odd(unsigned int cmd, unsigned long arg)
{
	int dev = open("/dev/oddbuf", O_RDWR | O_CLOEXEC), ret;

	if (dev < 0)
		return -1;
	ret = ioctl(dev, cmd, arg);
	close(dev);
	return ret;
}

int share_odd(enum oddbuf_kind kind)
{
	return odd(ODDBUF_MAKE, kind);
}

int share_held(void)
{
	return odd(ODDBUF_HELD, 0);
}

static int by_odd(size_t size)
{
	(void)size;
	return share_odd(ODDBUF_DYNAMIC);
}

const struct exporter exporters[] = {
	{ "udmabuf", by_udmabuf },
	{ "system heap", by_heap },
	{ "DRM", by_drm },
	{ "one that moves it", by_odd },
};
const size_t num_exporters = ARRAY_SIZE(exporters);

why_t share_open(struct share *s, const struct exporter *by, size_t size)
{
	s->size = size;
	s->fd = by->create(size);
	CHECK(s->fd >= 0, "no dma-buf: %s", strerror(errno));
	s->map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	CHECK(s->map != MAP_FAILED, "mmap of a dma-buf: %s", strerror(errno));
	memset(s->map, 0, size);
	return NULL;
}

void share_close(struct share *s)
{
	if (s->map)
		munmap(s->map, s->size);
	if (s->fd >= 0)
		close(s->fd);
	s->map = NULL;
	s->fd = -1;
}

struct command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[9];
};

static struct ib_uverbs_attr attr(uint16_t id, uint16_t len, uint64_t data)
{
	return (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY,
		.data = data,
	};
}

static int run(struct ibv_context *ctx, struct command *c, uint16_t method,
	       int n)
{
	c->hdr.length = sizeof(c->hdr) + n * sizeof(c->attrs[0]);
	c->hdr.object_id = UVERBS_OBJECT_MR;
	c->hdr.method_id = method;
	c->hdr.num_attrs = n;
	c->hdr.driver_id = RDMA_DRIVER_RXE;
	return ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, c) ? errno : 0;
}

#define ATTR(name)	UVERBS_ATTR_REG_DMABUF_MR_##name

/* Returns an errno. */
int share_reg(struct share_mr *mr, struct ibv_pd *pd)
{
	struct command c = { .attrs = {
		attr(ATTR(HANDLE), 0, 0),
		attr(ATTR(PD_HANDLE), 0, pd->handle),
		attr(ATTR(OFFSET), 8, mr->offset),
		attr(ATTR(LENGTH), 8, mr->length),
		attr(ATTR(IOVA), 8, mr->iova),
		attr(ATTR(FD), 4, (uint32_t)mr->fd),
		attr(ATTR(ACCESS_FLAGS), 4, mr->access),
		attr(ATTR(RESP_LKEY), 4, (uintptr_t)&mr->lkey),
		attr(ATTR(RESP_RKEY), 4, (uintptr_t)&mr->rkey),
	} };
	int err = run(pd->context, &c, UVERBS_METHOD_REG_DMABUF_MR, 9);

	mr->ctx = pd->context;
	mr->handle = c.attrs[0].data;
	return err;
}

int share_dereg(struct share_mr *mr)
{
	struct command c = { .attrs = {
		attr(UVERBS_ATTR_DESTROY_MR_HANDLE, 0, mr->handle),
	} };

	return run(mr->ctx, &c, UVERBS_METHOD_MR_DESTROY, 1);
}
