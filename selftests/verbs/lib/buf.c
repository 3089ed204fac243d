// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Buffers whose every byte, and the bytes around, are accounted for. */

#define _GNU_SOURCE
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include "vt.h"

#define CANARY	0xc5

uint64_t vt_rand(uint64_t *state)
{
	uint64_t x = *state ? *state : 0x9e3779b97f4a7c15ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

uint32_t vt_below(uint64_t *state, uint32_t n)
{
	return n ? (vt_rand(state) >> 20) % n : 0;
}

void vt_fill(void *to, size_t len, uint64_t seed)
{
	uint64_t state = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	uint8_t *p = to;
	uint64_t x;

	for (; len >= sizeof(x); len -= sizeof(x), p += sizeof(x)) {
		x = vt_rand(&state);
		memcpy(p, &x, sizeof(x));
	}
	x = vt_rand(&state);
	memcpy(p, &x, len);
}

/*
 * Takes the buffer's pages out of the page tables, all the time. What uses them has to come
 * between, so the pauses are twice as long with each second that a busy host takes.
 */
static void *evictor(void *arg)
{
	uint64_t start = vt_now_us(), seconds;
	struct vt_buf *b = arg;

	while (b->evicts) {
		madvise(b->map, b->map_len, MADV_DONTNEED);
		seconds = (vt_now_us() - start) / 1000000;
		usleep(500 * vt_slowness() << MIN(seconds, 6ULL));
	}
	return NULL;
}

/*
 * The buffer ends where a guard starts, and begins wherever that makes it:
 * lengths that are no multiple of 8 give an unaligned buffer.
 */
why_t vt_buf_open(struct vt_buf *b, struct ibv_pd *pd, size_t len, int access)
{
	size_t room = (len + 4095) & ~4095UL;

	memset(b, 0, sizeof(*b));
	b->map_len = room + 2 * VT_GUARD;
	/* what is shared stays as it is when its pages go */
	b->map = mmap(NULL, b->map_len, PROT_READ | PROT_WRITE, MAP_ANONYMOUS |
		      (vt_opts.on_demand ? MAP_SHARED : MAP_PRIVATE), -1, 0);
	if (b->map == MAP_FAILED) {
		b->map = NULL;
		return because("mmap: %s", strerror(errno));
	}
	b->len = len;
	b->data = b->map + VT_GUARD + (room - len);
	b->shadow = malloc(len ? len : 1);
	CHECK(b->shadow, "out of memory");
	memset(b->map, CANARY, b->map_len);
	memset(b->data, 0, len);
	memset(b->shadow, 0, len);

	if (vt_opts.on_demand)
		access |= IBV_ACCESS_ON_DEMAND;
	b->mr = ibv_reg_mr(pd, b->data, len, access);
	CHECK(b->mr, "ibv_reg_mr of %zu bytes: %s", len, strerror(errno));
	b->evicts = vt_opts.on_demand;
	if (b->evicts && pthread_create(&b->evictor, NULL, evictor, b)) {
		b->evicts = false;
		return because("pthread_create: %s", strerror(errno));
	}
	return NULL;
}

void vt_buf_close(struct vt_buf *b)
{
	if (b->evicts) {
		b->evicts = false;
		pthread_join(b->evictor, NULL);
	}
	if (b->mr)
		ibv_dereg_mr(b->mr);
	if (b->map)
		munmap(b->map, b->map_len);
	free(b->shadow);
	memset(b, 0, sizeof(*b));
}

void vt_buf_fill(struct vt_buf *b, uint64_t seed)
{
	vt_fill(b->data, b->len, seed);
	memcpy(b->shadow, b->data, b->len);
}

static why_t check_guard(const uint8_t *p, const uint8_t *end, const char *side)
{
	for (; p < end; p++)
		CHECK(*p == CANARY, "guard %s the buffer overwritten", side);
	return NULL;
}

why_t vt_buf_guards(const struct vt_buf *b)
{
	TRY(check_guard(b->map, b->data, "before"));
	return check_guard(b->data + b->len, b->map + b->map_len, "behind");
}

why_t vt_buf_check(const struct vt_buf *b)
{
	size_t i;

	TRY(vt_buf_guards(b));
	if (!memcmp(b->data, b->shadow, b->len))
		return NULL;
	for (i = 0; b->data[i] == b->shadow[i]; i++)
		;
	return because("byte %zu of %zu is %02x, not %02x", i, b->len,
		       b->data[i], b->shadow[i]);
}

/*
 * memcmp() looks twice at what differs: if that has changed in between it says that all
 * is equal, though what is behind it has not come yet.
 */
static bool has_come(const struct vt_buf *b)
{
	const volatile uint8_t *p = b->data;
	size_t i;

	if (memcmp(b->data, b->shadow, b->len))
		return false;
	for (i = 0; i < b->len; i++)
		if (p[i] != b->shadow[i])
			return false;
	return true;
}

/* For what the peer learns without a completion. */
why_t vt_buf_wait(const struct vt_buf *b, int ms)
{
	uint64_t start = vt_now_us();

	while (!has_come(b) && vt_now_us() < start + ms * 1000ULL)
		vt_relax(start);
	return vt_buf_check(b);
}

struct ibv_sge vt_sge(const struct vt_buf *b, size_t off, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)b->data + off,
		.length = len,
		.lkey = b->mr->lkey,
	};

	return sge;
}

struct rereg {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_rereg_mr cmd;
};

/*
 * What ibv_rereg_mr() would do if the provider had it: the command is written as
 * libibverbs would. Returns an errno; EPROTO if the keys change.
 */
int vt_rereg(struct ibv_mr *mr, uint32_t flags, void *addr, size_t len,
	     struct ibv_pd *pd, int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct rereg r = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_REREG_MR,
			.in_words = sizeof(r) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.cmd = {
			.response = (uintptr_t)&resp,
			.mr_handle = mr->handle, .flags = flags,
			.start = (uintptr_t)addr, .length = len,
			.hca_va = (uintptr_t)addr, .access_flags = access,
			.pd_handle = pd ? pd->handle : 0,
		},
	};

	if (write(mr->context->cmd_fd, &r, sizeof(r)) != sizeof(r))
		return errno;
	return resp.rkey == mr->rkey && resp.lkey == mr->lkey ? 0 : EPROTO;
}

static struct ib_uverbs_attr attr(uint16_t id, uint16_t len, uint64_t data)
{
	return (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY,
		.data = data,
	};
}

/* What ibv_advise_mr() would do if the provider had it; returns an errno. */
int vt_advise_list(struct ibv_pd *pd, uint32_t advice, uint32_t flags,
		   const struct ibv_sge *sge, uint16_t n)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[4];
	} c = {
		.hdr = {
			.length = sizeof(c), .object_id = UVERBS_OBJECT_MR,
			.method_id = UVERBS_METHOD_ADVISE_MR, .num_attrs = 4,
			.driver_id = RDMA_DRIVER_RXE,
		},
		.attrs = {
			attr(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, 0, pd->handle),
			attr(UVERBS_ATTR_ADVISE_MR_ADVICE, 8, advice),
			attr(UVERBS_ATTR_ADVISE_MR_FLAGS, 4, flags),
			attr(UVERBS_ATTR_ADVISE_MR_SGE_LIST, n * sizeof(*sge),
			     (uintptr_t)sge),
		},
	};

	return ioctl(pd->context->cmd_fd, RDMA_VERBS_IOCTL, &c) ? errno : 0;
}

int vt_advise(struct ibv_pd *pd, uint32_t advice, uint32_t flags, const void *at,
	      uint32_t len, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)at, len, lkey };

	return vt_advise_list(pd, advice, flags, &sge, 1);
}
