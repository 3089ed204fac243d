// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 --seconds 2 */
/*
 * A thread of real-time priority binds a window that packets on its CPU write through. On a
 * real-time kernel it preempts them while they use the window, and has to let them end.
 */

#define _GNU_SOURCE
#include <sched.h>
#include "vt.h"

#define LEN	(16 * 4096UL)
#define SLOW_MS	400		/* real-time threads are throttled after 950 ms */

struct binder {
	struct vt_pair	*p;	/* B binds, on a QP that no packets come to */
	struct ibv_mw	*mw;
	struct ibv_mr	*mr;	/* of the QP that they come to */
	volatile bool	stop;
	unsigned long	n, slow;
	uint64_t	slowest;	/* us */
	unsigned long	arrived;	/* messages */
	const char	*why;
};

static why_t bind(struct binder *b)
{
	struct ibv_mw_bind how = {
		.wr_id = 0xb1, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = b->mr, .addr = (uintptr_t)b->mr->addr, .length = LEN,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		},
	};
	uint64_t start = vt_now_us(), took;
	struct ibv_wc wc;
	int err;

	err = ibv_bind_mw(b->p->b.qp, b->mw, &how);
	CHECK(!err, "ibv_bind_mw: %s", strerror(err));
	TRY(vt_poll_ok(b->p->b.scq, &wc, 0xb1));
	took = vt_now_us() - start;
	if (took > b->slowest)
		b->slowest = took;
	b->slow += took > SLOW_MS * 1000ULL;
	b->n++;
	return NULL;
}

static void *keep_binding(void *arg)
{
	static const struct sched_param first = { .sched_priority = 50 };
	struct binder *b = arg;
	why_t why = NULL;

	vt_run_on(0);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first))
		why = because("SCHED_FIFO is refused");
	while (!why && !b->stop) {
		why = bind(b);
		vt_sleep_ms(1);
	}
	b->why = why ? strdup(why) : NULL;
	return NULL;
}

/* What comes by a key that is not valid any more is dropped, and the QP goes on. */
static why_t write_once(struct vt_pair *p, struct binder *b)
{
	volatile uint32_t *from = (void *)p->a.buf.data, *to = (void *)p->b.buf.data;
	uint32_t before = *to;
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, LEN);
	struct ibv_send_wr wr = {
		.wr_id = 0xa1, .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)p->b.buf.data, b->mw->rkey },
	};
	struct ibv_wc wc;

	++*from;
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 0xa1));
	b->arrived += *to != before;
	return NULL;
}

static why_t keep_writing(struct vt_pair *p, struct binder *b)
{
	uint64_t end = vt_now_us() + vt_opts.seconds * 1000000ULL;
	why_t why = bind(b);
	pthread_t thread;

	TRY(why);
	CHECK(!pthread_create(&thread, NULL, keep_binding, b), "pthread_create");
	vt_run_on(0);
	while (!why && vt_now_us() < end)
		why = write_once(p, b);
	vt_run_on(-1);
	b->stop = true;
	pthread_join(thread, NULL);
	return why ?: b->why;
}

static why_t under_writes(struct vt_pair *p, const void *arg)
{
	struct vt_pair other = { .conf = vt_conf(IBV_QPT_RC) };
	struct binder b = { .p = &other, .mr = p->b.buf.mr };

	(void)arg;
	TRY(vt_ep_open(&other.a, &vt_devs[0], &other.conf));
	TRY(vt_ep_open(&other.b, &vt_devs[1], &other.conf));
	TRY(vt_connect(&other));
	b.mw = ibv_alloc_mw(p->b.dev->pd, IBV_MW_TYPE_1);
	CHECK(b.mw, "ibv_alloc_mw: %s", strerror(errno));
	TRY(keep_writing(p, &b));
	tap_note("%lu binds, the slowest took %llu us; %lu writes", b.n,
		 (unsigned long long)b.slowest, b.arrived);
	CHECK(b.n > 10 && b.arrived > 10, "%lu binds, %lu writes", b.n, b.arrived);
	/* a host that is busy may hold one up */
	CHECK(b.slow < 2, "%lu of %lu binds took longer than %d ms", b.slow, b.n, SLOW_MS);
	CHECK(!ibv_dealloc_mw(b.mw), "ibv_dealloc_mw: %s", strerror(errno));
	TRY(vt_ep_close(&other.a));
	return vt_ep_close(&other.b);
}

int main(int argc, char **argv)
{
	struct vt_conf conf;

	vt_start(argc, argv);
	conf = vt_conf(IBV_QPT_UC);
	conf.buf = LEN;
	conf.mr_access |= IBV_ACCESS_MW_BIND;
	vt_run("window bound by a real-time thread while it is written through", &conf,
	       under_writes, NULL);
	return tap_finish();
}
