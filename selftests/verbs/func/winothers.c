// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * Memory windows, and those who did not bind them: other QPs, other domains, READs that are
 * under way while a window goes, other windows with the same tag.
 */

#include "win.h"

#define SIZE	65536
#define READS	400		/* of a reader whose window stays */
#define SOME	100		/* READs before anything happens to the window */
#define QUEUED	32		/* READs at a time */
#define LEN	4096
#define MANY	200		/* windows */
#define WRITE	IBV_ACCESS_REMOTE_WRITE
#define READ	IBV_ACCESS_REMOTE_READ

/* A case with a second pair of QPs between the same devices */
typedef why_t (*two_fn)(struct vt_pair *p, struct vt_pair *other, struct win *w);

/**
 * struct two - a case of two pairs and a window
 * @type: of the window, which is the first pair's domain's
 * @fn: what happens
 */
struct two {
	enum ibv_mw_type	type;
	two_fn			fn;
};

static why_t with_other(struct vt_pair *p, const void *arg)
{
	const struct two *two = arg;
	struct vt_pair other;
	struct win w;
	why_t why;

	TRY(win_open(&w, p->b.dev->pd, two->type));
	why = vt_pair_open(&other, &p->conf);
	if (!why)
		why = vt_connect(&other);
	if (!why)
		why = two->fn(p, &other, &w);
	/* a region that it is bound to can't go before it */
	return vt_pair_end(&other, win_end(&w, why));
}

/* 10.6.7.2.2: a window of type 2 is free to be bound after it was invalidated, not before. */
static why_t bound_by_other(struct vt_pair *p, struct vt_pair *other, struct win *w)
{
	struct win again;

	TRY(win_bind(&p->b, w, 0, SIZE, WRITE));
	again = *w;
	TRY(win_post_bind(&other->b, &again, 0, SIZE, WRITE));
	TRY(vt_poll_status(other->b.scq, 0xb1, IBV_WC_MW_BIND_ERR, "the second binder"));
	TRY(vt_ep_is(&other->b, IBV_QPS_ERR));
	return win_write(p, w, 8, 64, IBV_WC_SUCCESS);
}

static why_t invalidated_by_other(struct vt_pair *p, struct vt_pair *other, struct win *w)
{
	TRY(win_bind(&p->b, w, 0, SIZE, WRITE));
	TRY(win_invalidate(&other->b, IBV_WR_LOCAL_INV, w->rkey, IBV_WC_MW_BIND_ERR));
	TRY(vt_ep_is(&other->b, IBV_QPS_ERR));
	return win_write(p, w, 8, 64, IBV_WC_SUCCESS);
}

static why_t sent_to_other(struct vt_pair *p, struct vt_pair *other, struct win *w)
{
	TRY(win_bind(&p->b, w, 0, SIZE, WRITE));
	TRY(vt_post_recv_at(&other->b, 7, 0, 64));
	TRY(win_invalidate(&other->a, IBV_WR_SEND_WITH_INV, w->rkey, IBV_WC_REM_ACCESS_ERR));
	TRY(vt_poll_status(other->b.rcq, 7, IBV_WC_LOC_ACCESS_ERR, "the receive"));
	return win_write(p, w, 8, 64, IBV_WC_SUCCESS);
}

/* Type 1 belongs to the domain, so any of its QPs may bind it again, and any may be used. */
static why_t type_1_of_all(struct vt_pair *p, struct vt_pair *other, struct win *w)
{
	struct win old;

	TRY(win_bind_1(&p->b, w, &p->b.buf, 0, SIZE, WRITE));
	TRY(win_write(p, w, 0, 64, IBV_WC_SUCCESS));
	old = *w;
	TRY(win_bind_1(&other->b, w, &other->b.buf, 0, SIZE, WRITE));
	TRY(win_write(other, w, 0, 64, IBV_WC_SUCCESS));
	TRY(win_use(&p->a, IBV_WR_RDMA_WRITE, (uintptr_t)other->b.buf.data, w->rkey, 64,
		    IBV_WC_SUCCESS));
	return win_write(p, &old, 0, 64, IBV_WC_REM_ACCESS_ERR);
}

/* The pair whose B and whose window are of a domain of their own */
static why_t foreign(struct vt_pair *own, struct vt_dev *dev, struct win *w)
{
	dev->pd = ibv_alloc_pd(dev->ctx);
	CHECK(dev->pd, "ibv_alloc_pd: %s", strerror(errno));
	TRY(win_open(w, dev->pd, IBV_MW_TYPE_1));
	TRY(vt_ep_open(&own->a, &vt_devs[0], &own->conf));
	TRY(vt_ep_open(&own->b, dev, &own->conf));
	TRY(vt_connect(own));
	return win_bind_1(&own->b, w, &own->b.buf, 0, SIZE, VT_ALL_ACCESS & ~IBV_ACCESS_LOCAL_WRITE);
}

static why_t end_foreign(struct vt_pair *own, struct vt_dev *dev, struct win *w, why_t why)
{
	int err;

	why = vt_pair_end(own, win_end(w, why));
	err = dev->pd ? ibv_dealloc_pd(dev->pd) : 0;
	if (why)
		return why;
	CHECK(!err, "ibv_dealloc_pd: %s", strerror(err));
	return NULL;
}

/* What is right by a QP of the window's domain is not by one of another (10.6.7.2.5). */
static why_t of_other_pd(struct vt_pair *p, const void *arg)
{
	const enum ibv_wr_opcode *opcode = arg;
	struct vt_pair own = { .conf = p->conf };
	struct vt_dev dev = *p->b.dev;
	struct win w = { NULL };
	why_t why = foreign(&own, &dev, &w);
	uint64_t at = (uintptr_t)own.b.buf.data;

	if (!why)
		why = win_use(&own.a, *opcode, at, w.rkey, 8, IBV_WC_SUCCESS);
	if (!why) {
		memcpy(own.b.buf.shadow, own.b.buf.data, own.b.buf.len);
		why = win_use(&p->a, *opcode, at, w.rkey, 8, IBV_WC_REM_ACCESS_ERR);
	}
	if (!why)
		why = vt_buf_check(&own.b.buf);
	return end_foreign(&own, &dev, &w, why);
}

static why_t open_many(struct win *w, int num, struct vt_pair *p)
{
	int i;

	for (i = 0; i < num; i++)
		TRY(win_open(&w[i], p->b.dev->pd, IBV_MW_TYPE_2));
	return NULL;
}

/* A consumer chooses the lowest byte of a key, and nothing else of it (10.6.7.2.2). */
static why_t bind_many(struct win *w, int num, struct vt_pair *p, uint32_t key)
{
	int i;

	for (i = 0; i < num; i++) {
		uint32_t own = w[i].rkey & ~0xffU;

		/* win_bind() asks for the tag after it */
		w[i].rkey = key;
		TRY(win_bind(&p->b, &w[i], i * 8, 8, WRITE));
		w[i].rkey = own | ((key + 1) & 0xff);
	}
	return NULL;
}

static why_t use_many(const struct win *w, int num, struct vt_pair *p)
{
	int i;

	for (i = 0; i < num; i++)
		TRY(win_write(p, &w[i], i * 8, 8, IBV_WC_SUCCESS));
	return win_write(p, &w[0], 8, 8, IBV_WC_REM_ACCESS_ERR);
}

/* All ask for the same key, and each has its own. */
static why_t one_tag(struct vt_pair *p, const void *arg)
{
	struct win w[MANY] = { };
	why_t why;
	int i;

	(void)arg;
	why = open_many(w, MANY, p);
	if (!why)
		why = bind_many(w, MANY, p, 0x41);
	if (!why)
		why = use_many(w, MANY, p);
	for (i = 0; i < MANY; i++)
		why = win_end(&w[i], why);
	return why;
}

static why_t unsignaled_inv(struct vt_pair *p, const void *arg)
{
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = IBV_WR_LOCAL_INV };
	struct win w;

	(void)arg;
	TRY(win_open_bound(&p->b, &w, READ));
	TRY(win_use(&p->a, IBV_WR_RDMA_READ, (uintptr_t)p->b.buf.data, w.rkey, 64,
		    IBV_WC_SUCCESS));
	wr.invalidate_rkey = w.rkey;
	TRY(vt_post_send(&p->b, &wr));
	/* bound again: it is done then */
	TRY(win_bind(&p->b, &w, 0, SIZE, READ));
	TRY(vt_quiet(p->b.scq, 50));
	TRY(win_use(&p->a, IBV_WR_RDMA_READ, (uintptr_t)p->b.buf.data, wr.invalidate_rkey, 64,
		    IBV_WC_REM_ACCESS_ERR));
	return win_close(&w);
}

static why_t unsignaled_inv_fails(struct vt_pair *p, const void *arg)
{
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = IBV_WR_LOCAL_INV };
	struct win w;

	(void)arg;
	TRY(win_open_bound(&p->b, &w, READ));
	wr.invalidate_rkey = w.rkey ^ 1;
	TRY(vt_post_send(&p->b, &wr));
	TRY(vt_poll_status(p->b.scq, 1, IBV_WC_MW_BIND_ERR, "LOCAL_INV"));
	TRY(vt_ep_is(&p->b, IBV_QPS_ERR));
	return win_close(&w);
}

/**
 * struct reader - a thread that reads from a window all the time
 * @p: A reads
 * @at: from there
 * @rkey: by this key
 * @done: READs that have succeeded
 * @status: of the first that has not
 * @why: what else went wrong, or nothing
 */
struct reader {
	struct vt_pair		*p;
	uint64_t		at;
	uint32_t		rkey;
	volatile uint32_t	done;
	enum ibv_wc_status	status;
	pthread_t		thread;
	char			why[200];
};

static why_t read_one(struct reader *r, uint32_t nr)
{
	struct ibv_sge sge = vt_sge(&r->p->a.buf, nr % (SIZE / LEN) * LEN, LEN);
	struct ibv_send_wr wr = {
		.wr_id = nr, .opcode = IBV_WR_RDMA_READ, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = r->at + nr % (SIZE / LEN) * LEN, .rkey = r->rkey },
	};

	return vt_post_send(&r->p->a, &wr);
}

/* In order: those that succeed, one that does not, and the rest is flushed. */
static why_t take_one(struct reader *r, uint32_t nr)
{
	struct ibv_wc wc;

	TRY(vt_poll(r->p->a.scq, &wc, VT_LONG));
	CHECK(wc.wr_id == nr, "READ %llu, not %u", (unsigned long long)wc.wr_id, nr);
	if (r->status)
		CHECK(wc.status == IBV_WC_WR_FLUSH_ERR, "READ %u after the error: %s", nr,
		      ibv_wc_status_str(wc.status));
	else if (wc.status)
		r->status = wc.status;
	else
		r->done++;
	return NULL;
}

static why_t read_all(struct reader *r, uint32_t max)
{
	uint32_t posted = 0, taken = 0;

	while (!r->status && taken < max) {
		while (posted < max && posted - taken < QUEUED)
			TRY(read_one(r, posted++));
		TRY(take_one(r, taken++));
	}
	while (taken < posted)
		TRY(take_one(r, taken++));
	return vt_buf_check(&r->p->a.buf);
}

static void *reader_fn(void *arg)
{
	struct reader *r = arg;
	why_t why = read_all(r, UINT32_MAX);

	snprintf(r->why, sizeof(r->why), "%s", why ? why : "");
	return NULL;
}

static why_t reader_open(struct reader *r, struct vt_pair *p, struct win *w)
{
	*r = (struct reader){ .p = p, .at = (uintptr_t)p->b.buf.data };
	vt_buf_fill(&p->b.buf, 5);
	memcpy(p->a.buf.data, p->b.buf.data, SIZE);
	memcpy(p->a.buf.shadow, p->b.buf.data, SIZE);
	TRY(win_open_bound(&p->b, w, READ));
	r->rkey = w->rkey;
	return NULL;
}

static why_t only_reads(struct vt_pair *p, const void *arg)
{
	struct reader r;
	struct win w;

	(void)arg;
	TRY(reader_open(&r, p, &w));
	memset(p->a.buf.data, 0, SIZE);
	TRY(read_all(&r, READS));
	CHECK(r.done == READS && !r.status, "READ %u: %s", r.done, ibv_wc_status_str(r.status));
	return win_close(&w);
}

static why_t wait_for(struct reader *r, uint32_t num)
{
	uint64_t end = vt_now_us() + VT_LONG * 1000ULL;
	uint32_t from = r->done;

	while (r->done - from < num && vt_now_us() < end)
		vt_sleep_ms(1);
	CHECK(r->done - from >= num, "%u READs have succeeded: %s", r->done - from,
	      ibv_wc_status_str(r->status));
	return NULL;
}

static why_t inv_under_reads(struct reader *r, struct win *w)
{
	TRY(win_invalidate(&r->p->b, IBV_WR_LOCAL_INV, r->rkey, IBV_WC_SUCCESS));
	return win_close(w);
}

static why_t dealloc_under_reads(struct reader *r, struct win *w)
{
	(void)r;
	return win_close(w);
}

/* It fails for another QP, and READs go on; then the window goes. */
static why_t rebind_under_reads(struct reader *r, struct win *w)
{
	struct win again = *w;
	struct vt_pair other;
	why_t why = vt_pair_open(&other, &r->p->conf);

	if (!why)
		why = vt_connect(&other);
	if (!why)
		why = win_post_bind(&other.b, &again, 0, SIZE, READ);
	if (!why)
		why = vt_poll_status(other.b.scq, 0xb1, IBV_WC_MW_BIND_ERR, "the binder");
	if (!why)
		why = wait_for(r, SOME);
	TRY(vt_pair_end(&other, why));
	return win_close(w);
}

/**
 * struct under - what happens to a window from which is read
 * @fn: does it
 * @status: of the first READ that does not succeed
 */
struct under {
	why_t			(*fn)(struct reader *r, struct win *w);
	enum ibv_wc_status	status;
};

static why_t under_reads(struct vt_pair *p, const void *arg)
{
	const struct under *u = arg;
	struct reader r;
	struct win w;
	why_t why;

	TRY(reader_open(&r, p, &w));
	CHECK(!pthread_create(&r.thread, NULL, reader_fn, &r), "no thread");
	why = wait_for(&r, SOME);
	if (!why)
		why = u->fn(&r, &w);
	/* whatever has happened, this ends the reader */
	if (why) {
		vt_ep_state(&p->a, IBV_QPS_ERR);
		pthread_join(r.thread, NULL);
		return why;
	}
	pthread_join(r.thread, NULL);
	CHECK(!r.why[0], "%s", r.why);
	CHECK(r.status == u->status, "the reader ends with %s", ibv_wc_status_str(r.status));
	return NULL;
}

int main(int argc, char **argv)
{
	static const enum ibv_wr_opcode read = IBV_WR_RDMA_READ, write = IBV_WR_RDMA_WRITE,
		add = IBV_WR_ATOMIC_FETCH_AND_ADD, swap = IBV_WR_ATOMIC_CMP_AND_SWP;
	static const struct two bound = { IBV_MW_TYPE_2, bound_by_other },
		invalidated = { IBV_MW_TYPE_2, invalidated_by_other },
		sent = { IBV_MW_TYPE_2, sent_to_other }, all = { IBV_MW_TYPE_1, type_1_of_all };
	static const struct under inv = { inv_under_reads, IBV_WC_REM_ACCESS_ERR },
		dealloc = { dealloc_under_reads, IBV_WC_REM_ACCESS_ERR },
		rebind = { rebind_under_reads, IBV_WC_REM_ACCESS_ERR };
	static const struct vt_test tests[] = {
		{ "RC MW type 2: no other QP binds it again", with_other, &bound },
		{ "RC MW type 2: no other QP invalidates it", with_other, &invalidated },
		{ "RC MW type 2: SEND_WITH_INV to another QP", with_other, &sent },
		{ "RC MW type 1: bound again by another QP", with_other, &all },
		{ "RC MW type 1 of another PD: READ", of_other_pd, &read },
		{ "RC MW type 1 of another PD: WRITE", of_other_pd, &write },
		{ "RC MW type 1 of another PD: FETCH_ADD", of_other_pd, &add },
		{ "RC MW type 1 of another PD: CMP_SWP", of_other_pd, &swap },
		{ "RC MW type 2: windows with one tag", one_tag, NULL },
		{ "RC MW type 2: unsignaled LOCAL_INV", unsignaled_inv, NULL },
		{ "RC MW type 2: unsignaled LOCAL_INV that fails", unsignaled_inv_fails, NULL },
		{ "RC MW type 2: READs, many at a time", only_reads, NULL },
		{ "RC MW type 2: LOCAL_INV under READs", under_reads, &inv },
		{ "RC MW type 2: ibv_dealloc_mw() under READs", under_reads, &dealloc },
		{ "RC MW type 2: bound again under READs", under_reads, &rebind },
	};
	struct vt_conf c;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	c.buf = SIZE;
	c.mr_access |= IBV_ACCESS_MW_BIND;
	vt_run_all(&c, tests, ARRAY_SIZE(tests));
	return tap_finish();
}
