// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * Memory windows (ibv_alloc_mw(3), ibv_bind_mw(3)): B binds, A uses them. What
 * each bind may be is in selftests/unit/t_local.c; here it is by way of the
 * provider, with two processes' worth of objects around it.
 */

#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/userfaultfd.h>
#include <rdma/ib_user_verbs.h>
#include "win.h"

#define SIZE	8192
#define WRITES	2000

static why_t type1(struct vt_pair *p, const void *arg)
{
	const int access = IBV_ACCESS_REMOTE_WRITE;
	struct win w, old;

	(void)arg;
	TRY(win_open(&w, p->b.dev->pd, IBV_MW_TYPE_1));
	TRY(win_bind_1(&p->b, &w, &p->b.buf, 100, 1000, access));
	TRY(win_write(p, &w, 100, 1000, IBV_WC_SUCCESS));
	old = w;
	TRY(win_bind_1(&p->b, &w, &p->b.buf, 1100, 1000, access));
	TRY(win_write(p, &w, 1100, 1000, IBV_WC_SUCCESS));
	TRY(win_write(p, &old, 100, 8, IBV_WC_REM_ACCESS_ERR));
	return win_close(&w);
}

/* One byte more than the window, which the region under it has */
static why_t bounded(struct vt_pair *p, const void *arg)
{
	const enum ibv_mw_type *type = arg;
	struct win w;

	TRY(win_open(&w, p->b.dev->pd, *type));
	TRY(win_bind(&p->b, &w, 64, 128, IBV_ACCESS_REMOTE_WRITE));
	TRY(win_write(p, &w, 64, 128, IBV_WC_SUCCESS));
	TRY(win_write(p, &w, 64, 129, IBV_WC_REM_ACCESS_ERR));
	return win_close(&w);
}

static why_t rights(struct vt_pair *p, const void *arg)
{
	struct win w;

	(void)arg;
	TRY(win_open_bound(&p->b, &w, IBV_ACCESS_REMOTE_READ));
	TRY(win_use(&p->a, IBV_WR_RDMA_READ, (uintptr_t)p->b.buf.data, w.rkey, 64,
		    IBV_WC_SUCCESS));
	TRY(win_write(p, &w, 0, 64, IBV_WC_REM_ACCESS_ERR));
	return win_close(&w);
}

static why_t local_inv(struct vt_pair *p, const void *arg)
{
	struct win w;

	(void)arg;
	TRY(win_open_bound(&p->b, &w, IBV_ACCESS_REMOTE_WRITE));
	TRY(win_write(p, &w, 8, 64, IBV_WC_SUCCESS));
	TRY(win_invalidate(&p->b, IBV_WR_LOCAL_INV, w.rkey, IBV_WC_SUCCESS));
	TRY(win_bind(&p->b, &w, 4096, 100, IBV_ACCESS_REMOTE_WRITE));
	TRY(win_write(p, &w, 4096, 100, IBV_WC_SUCCESS));
	TRY(win_invalidate(&p->b, IBV_WR_LOCAL_INV, w.rkey, IBV_WC_SUCCESS));
	TRY(win_write(p, &w, 4096, 100, IBV_WC_REM_ACCESS_ERR));
	return win_close(&w);
}

static why_t remote_inv(struct vt_pair *p, const void *arg)
{
	struct ibv_wc wc;
	struct win w;

	(void)arg;
	TRY(win_open_bound(&p->b, &w, IBV_ACCESS_REMOTE_WRITE));
	TRY(vt_post_recv_at(&p->b, 7, 0, 64));
	TRY(win_invalidate(&p->a, IBV_WR_SEND_WITH_INV, w.rkey, IBV_WC_SUCCESS));
	TRY(vt_poll_ok(p->b.rcq, &wc, 7));
	CHECK(wc.wc_flags & IBV_WC_WITH_INV, "no IBV_WC_WITH_INV");
	CHECK(wc.invalidated_rkey == w.rkey, "another rkey reported");
	TRY(win_write(p, &w, 0, 64, IBV_WC_REM_ACCESS_ERR));
	return win_close(&w);
}

/* The key of a plain region can't be invalidated by the peer. */
static why_t remote_inv_mr(struct vt_pair *p, const void *arg)
{
	(void)arg;
	TRY(vt_post_recv_at(&p->b, 7, 0, 64));
	return win_invalidate(&p->a, IBV_WR_SEND_WITH_INV, p->b.buf.mr->rkey,
			      IBV_WC_REM_ACCESS_ERR);
}

static why_t bind_fails(struct vt_pair *p, struct ibv_pd *pd, size_t len,
			int access)
{
	struct win w;

	TRY(win_open(&w, pd, IBV_MW_TYPE_2));
	TRY(win_post_bind(&p->b, &w, 0, len, access));
	TRY(vt_poll_status(p->b.scq, 0xb1, IBV_WC_MW_BIND_ERR, "the binder"));
	TRY(vt_ep_is(&p->b, IBV_QPS_ERR));
	return win_close(&w);
}

static why_t too_long(struct vt_pair *p, const void *arg)
{
	(void)arg;
	return bind_fails(p, p->b.dev->pd, SIZE + 1, IBV_ACCESS_REMOTE_READ);
}

static why_t no_right(struct vt_pair *p, const void *arg)
{
	(void)arg;
	return bind_fails(p, p->b.dev->pd, SIZE, IBV_ACCESS_REMOTE_READ);
}

static why_t other_pd(struct vt_pair *p, const void *arg)
{
	struct ibv_pd *pd = ibv_alloc_pd(p->b.dev->ctx);

	(void)arg;
	CHECK(pd, "ibv_alloc_pd: %s", strerror(errno));
	TRY(bind_fails(p, pd, SIZE, IBV_ACCESS_REMOTE_READ));
	CHECK(!ibv_dealloc_pd(pd), "ibv_dealloc_pd: %s", strerror(errno));
	return NULL;
}

/* A region with windows stays; a bound window may go. */
static why_t busy(struct vt_pair *p, const void *arg)
{
	struct win w;
	int err;

	(void)arg;
	TRY(win_open_bound(&p->b, &w, IBV_ACCESS_REMOTE_WRITE));
	err = ibv_dereg_mr(p->b.buf.mr);
	CHECK(err == EBUSY, "ibv_dereg_mr with a window bound: %s",
	      err ? strerror(err) : "succeeds");
	TRY(win_write(p, &w, 0, 64, IBV_WC_SUCCESS));
	TRY(win_close(&w));
	return win_write(p, &w, 0, 64, IBV_WC_REM_ACCESS_ERR);
}

/* WRITEs to the region that has the window, in a thread */
struct writes {
	struct vt_pair	*p;
	why_t		why;
	atomic_bool	ended;
};

static why_t write_often(struct vt_pair *p)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < WRITES; i++) {
		TRY(vt_post_writes(p, i, 1, SIZE));
		TRY(vt_poll_ok(p->a.scq, &wc, i));
	}
	return NULL;
}

static void *write_thread(void *arg)
{
	struct writes *w = arg;

	w->why = write_often(w->p);
	w->ended = true;
	return NULL;
}

/* Others that use the region don't notice that somebody has tried to deregister it. */
static why_t busy_in_use(struct vt_pair *p, const void *arg)
{
	struct writes writes = { .p = p };
	pthread_t thread;
	struct win w;
	int err;

	(void)arg;
	TRY(win_open_bound(&p->b, &w, IBV_ACCESS_REMOTE_WRITE));
	CHECK(!pthread_create(&thread, NULL, write_thread, &writes), "pthread_create");
	do
		err = ibv_dereg_mr(p->b.buf.mr);
	while (err == EBUSY && !writes.ended);
	pthread_join(thread, NULL);
	CHECK(err == EBUSY, "ibv_dereg_mr: %s", err ? strerror(err) : "succeeds");
	TRY(writes.why);
	return win_close(&w);
}

/* A window of type 2 ends with its QP, and the region can go then. */
static why_t orphaned(struct vt_pair *p, const void *arg)
{
	struct vt_ep other;
	struct win w;
	why_t why;

	(void)arg;
	TRY(win_open(&w, p->b.dev->pd, IBV_MW_TYPE_2));
	TRY(vt_ep_open(&other, p->b.dev, &p->conf));
	TRY(vt_ep_init(&other));
	TRY(vt_ep_rtr(&other, &p->a));
	TRY(vt_ep_rts(&other));
	TRY(win_bind(&other, &w, 0, SIZE, IBV_ACCESS_REMOTE_WRITE));
	/* closes the QP, then deregisters the region */
	why = vt_ep_close(&other);
	CHECK(!why, "closing the QP that bound: %s", why);
	return win_close(&w);
}

/**
 * struct slow - a region that is being registered
 * @ep: the region is that of its buffer
 * @pages: two; a fault in the second waits
 * @resp: response: the last member is in the second page
 * @fd: its faults
 * @err: of the system call
 */
struct slow {
	struct vt_ep			*ep;
	uint8_t				*pages;
	struct ib_uverbs_reg_mr_resp	*resp;
	int				fd;
	int				err;
};

static void *register_slowly(void *arg)
{
	struct slow *s = arg;
	struct {
		struct ib_uverbs_cmd_hdr	hdr;
		struct ib_uverbs_reg_mr		cmd;
	} c = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_REG_MR,
			.in_words = sizeof(c) / 4, .out_words = sizeof(*s->resp) / 4,
		},
		.cmd = {
			.response = (uintptr_t)s->resp,
			.start = (uintptr_t)s->ep->buf.data,
			.hca_va = (uintptr_t)s->ep->buf.data, .length = SIZE,
			.pd_handle = s->ep->dev->pd->handle,
			.access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND |
					IBV_ACCESS_REMOTE_WRITE,
		},
	};

	s->err = write(s->ep->dev->ctx->cmd_fd, &c, sizeof(c)) < 0 ? errno : 0;
	return NULL;
}

static why_t slow_memory(struct slow *s)
{
	size_t page = sysconf(_SC_PAGESIZE);

	s->pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	CHECK(s->pages != MAP_FAILED, "mmap: %s", strerror(errno));
	memset(s->pages, 0, page);
	s->resp = (void *)(s->pages + page - offsetof(struct ib_uverbs_reg_mr_resp, rkey));
	return vt_userfault(&s->fd, s->pages + page, page, O_CLOEXEC | O_NONBLOCK,
			    UFFDIO_REGISTER_MODE_MISSING);
}

/* What waits for the second page fails. */
static why_t no_memory(const struct slow *s)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct uffdio_range range = { .start = (uintptr_t)s->pages + page, .len = page };

	CHECK(!mprotect(s->pages + page, page, PROT_NONE), "mprotect: %s", strerror(errno));
	CHECK(!ioctl(s->fd, UFFDIO_UNREGISTER, &range), "unregister: %s", strerror(errno));
	return NULL;
}

static why_t bind_early(struct slow *s, struct win *w)
{
	struct ibv_mr early = *s->ep->buf.mr, *mr = s->ep->buf.mr;
	struct pollfd fault = { .fd = s->fd, .events = POLLIN };
	why_t why;

	CHECK(poll(&fault, 1, 10000) == 1 && fault.revents == POLLIN,
	      "the response does not wait");
	CHECK(s->resp->lkey, "the key is not there yet");
	early.lkey = s->resp->lkey;
	s->ep->buf.mr = &early;
	why = win_post_bind(s->ep, w, 0, 100, IBV_ACCESS_REMOTE_WRITE);
	s->ep->buf.mr = mr;
	return why ?: vt_poll_status(s->ep->scq, 0xb1, IBV_WC_MW_BIND_ERR, "a bind");
}

/*
 * A registration whose response can't be written is undone. Nothing may keep it: the kernel
 * warns of a region that can't be deregistered then.
 */
static why_t early(struct vt_pair *p, const void *arg)
{
	struct slow s = { .ep = &p->b };
	pthread_t thread;
	struct win w;
	why_t why, end;

	(void)arg;
	TRY(win_open(&w, p->b.dev->pd, IBV_MW_TYPE_2));
	TRY(slow_memory(&s));
	CHECK(!pthread_create(&thread, NULL, register_slowly, &s), "no thread");
	why = bind_early(&s, &w);
	end = no_memory(&s);
	pthread_join(thread, NULL);
	close(s.fd);
	munmap(s.pages, 2 * sysconf(_SC_PAGESIZE));
	TRY(why);
	TRY(end);
	CHECK(s.err == EFAULT, "registered: %s", strerror(s.err));
	return win_close(&w);
}

int main(int argc, char **argv)
{
	static const enum ibv_mw_type one = IBV_MW_TYPE_1, two = IBV_MW_TYPE_2;
	static const struct vt_test tests[] = {
		{ "RC MW type 1: bound, used, bound again", type1, NULL },
		{ "RC MW type 1: no byte beyond its end", bounded, &one },
		{ "RC MW type 2: no byte beyond its end", bounded, &two },
		{ "RC MW type 2: its own rights", rights, NULL },
		{ "RC MW type 2: LOCAL_INV, bound again, LOCAL_INV", local_inv, NULL },
		{ "RC MW type 2: SEND_WITH_INV", remote_inv, NULL },
		{ "RC SEND_WITH_INV of a region's key", remote_inv_mr, NULL },
		{ "RC MW bind: beyond the region", too_long, NULL },
		{ "RC MW bind: window of another PD", other_pd, NULL },
		{ "RC MW: a region with a window stays", busy, NULL },
		{ "RC MW: WRITEs to a region with a window that can't go", busy_in_use, NULL },
		{ "RC MW type 2: ends with its QP", orphaned, NULL },
		{ "RC MW bind: a region that is still being registered", early, NULL },
	};
	struct vt_conf c;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	c.buf = SIZE;
	vt_run("RC MW bind: the region lacks MW_BIND", &c, no_right, NULL);
	c.mr_access |= IBV_ACCESS_MW_BIND;
	vt_run_all(&c, tests, ARRAY_SIZE(tests));
	return tap_finish();
}
