// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 +6 --seconds 2 */
/*
 * Registrations that are changed under traffic: to other memory, pinned or on
 * demand, to other rights, to another PD. A message goes to what the region was
 * before, or is then, or is refused; once the change is over nothing of the old
 * is touched, and what is sent then gets to the new.
 */

#define _GNU_SOURCE
#include <sys/mman.h>
#include "vt.h"

#define LEN	(16 * 4096UL)
#define RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ)
#define CHANGE(what)	IBV_REREG_MR_CHANGE_##what
#define BATCH	4	/* work requests posted at once */
#define MARK	0xee	/* of the CPU; no message has this byte */
#define TURNS	40	/* at least */

/* A thread that sends without a pause, to a region or out of it */
struct sender {
	struct vt_pair *p;
	const struct ibv_mr *mr;
	bool from;		/* out of the region, to B's buffer */
	volatile bool stop;
	volatile unsigned long began, ended;	/* batches */
	volatile unsigned long refused;
	const char *why;
	pthread_t thread;
};

/* The region, the memory it is of and the memory it was of */
struct swap {
	struct sender s;
	struct ibv_mr *mr;
	struct ibv_pd *pd, *other;
	uint8_t *now, *then;
	int demand;		/* IBV_ACCESS_ON_DEMAND or 0 */
};

static enum ibv_wc_status no_for(const struct sender *s)
{
	return s->from ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR;
}

/* All bytes of a message are the same, and other than those of the next. */
static why_t post(struct sender *s, int i)
{
	struct vt_ep *a = &s->p->a;
	struct ibv_sge sge = vt_sge(&a->buf, 0, LEN);
	struct ibv_send_wr wr = {
		.wr_id = i, .sg_list = &sge, .num_sge = 1,
		.opcode = !s->from && i == 2 ? IBV_WR_RDMA_READ :
					       IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (s->from) {
		sge = (struct ibv_sge){ 0, LEN, s->mr->lkey };
		wr.wr.rdma.remote_addr = (uintptr_t)s->p->b.buf.data;
		wr.wr.rdma.rkey = s->p->b.buf.mr->rkey;
	} else {
		wr.wr.rdma.rkey = s->mr->rkey;
	}
	return vt_post_send(a, &wr);
}

static why_t again(struct vt_pair *p)
{
	TRY(vt_ep_state(&p->a, IBV_QPS_RESET));
	TRY(vt_ep_state(&p->b, IBV_QPS_RESET));
	return vt_connect(p);
}

/* The first that is refused ends the connection, and all behind it. */
static why_t batch(struct sender *s)
{
	bool bad = false;
	struct ibv_wc wc;
	int i;

	if (!s->from)
		memset(s->p->a.buf.data, 1 + s->began % 200, LEN);
	s->began++;
	for (i = 0; i < BATCH; i++)
		TRY(post(s, i));
	for (i = 0; i < BATCH; i++) {
		TRY(vt_poll(s->p->a.scq, &wc, VT_LONG));
		CHECK(wc.wr_id == (uint64_t)i, "completion %d is of wr %d", i,
		      (int)wc.wr_id);
		if (!bad && wc.status == IBV_WC_SUCCESS)
			continue;
		CHECK(wc.status == (bad ? IBV_WC_WR_FLUSH_ERR : no_for(s)),
		      "wr %d of batch %lu: %s", i, s->began,
		      ibv_wc_status_str(wc.status));
		bad = true;
	}
	s->refused += bad;
	if (bad)
		TRY(again(s->p));
	s->ended = s->began;
	return NULL;
}

static void *keep_sending(void *arg)
{
	struct sender *s = arg;
	why_t why = NULL;

	while (!why && !s->stop)
		why = batch(s);
	/* reasons live in the thread that gave them */
	s->why = why ? strdup(why) : NULL;
	s->stop = true;
	return NULL;
}

/* Batches that begin from now on have ended. The sender says if one doesn't. */
static void some_more(struct sender *s)
{
	unsigned long until = s->began + 2;

	while (s->ended < until && !s->stop)
		vt_sleep_ms(1);
}

static bool all_are(const uint8_t *at, uint8_t byte)
{
	return at[0] == byte && !memcmp(at, at + 1, LEN - 1);
}

/* Memory that messages come from has bytes that what it follows hasn't. */
static void mark(struct swap *w, uint8_t *at)
{
	memset(at, w->s.from ? 1 + (w->now[0] == 1) : MARK, LEN);
}

/* What goes through the region is of the memory that is there now. */
static why_t goes_to_now(struct swap *w)
{
	if (w->s.from) {
		memset(w->then, 3, LEN);
		some_more(&w->s);
		CHECK(w->s.stop || all_are(w->s.p->b.buf.data, w->now[0]),
		      "a message has byte %d of elsewhere, not %d",
		      w->s.p->b.buf.data[0], w->now[0]);
		return NULL;
	}
	memset(w->then, MARK, LEN);
	memset(w->now, MARK, LEN);
	some_more(&w->s);
	CHECK(all_are(w->then, MARK), "the old memory is written to");
	CHECK(w->s.stop || !memchr(w->now, MARK, LEN),
	      "not all of the new memory is written to");
	return NULL;
}

/* Nothing gets through until the region is what it was. */
static why_t nothing_goes(struct swap *w)
{
	unsigned long refused = w->s.refused;
	uint8_t *at = w->s.from ? w->s.p->b.buf.data : w->now;

	/* what was under way is over */
	some_more(&w->s);
	memset(at, MARK, LEN);
	some_more(&w->s);
	CHECK(w->s.stop || w->s.refused >= refused + 2, "nothing is refused");
	CHECK(all_are(at, MARK), "it is written to all the same");
	return NULL;
}

static why_t change(struct swap *w, uint32_t flags, uint8_t *at,
		    struct ibv_pd *pd, int access)
{
	int err = vt_rereg(w->mr, flags, at, LEN, pd,
			   access | IBV_ACCESS_ZERO_BASED | w->demand);

	CHECK(!err, "change %#x: %s", flags, strerror(err));
	return NULL;
}

static why_t to_other_memory(struct swap *w)
{
	uint8_t *old = w->now;

	mark(w, w->then);
	TRY(change(w, CHANGE(TRANSLATION) | CHANGE(ACCESS), w->then, NULL,
		   RIGHTS));
	w->now = w->then;
	w->then = old;
	return goes_to_now(w);
}

static why_t without_rights(struct swap *w)
{
	/* what is sent needs none */
	if (w->s.from)
		return NULL;
	TRY(change(w, CHANGE(ACCESS), NULL, NULL, 0));
	TRY(nothing_goes(w));
	TRY(change(w, CHANGE(ACCESS), NULL, NULL, RIGHTS));
	return goes_to_now(w);
}

static why_t in_other_pd(struct swap *w)
{
	TRY(change(w, CHANGE(PD), NULL, w->other, 0));
	TRY(nothing_goes(w));
	TRY(change(w, CHANGE(PD), NULL, w->pd, 0));
	return goes_to_now(w);
}

static why_t turn(struct swap *w, int n)
{
	switch (n % 5) {
	case 0:
	case 2:
		return to_other_memory(w);
	case 1:
		return without_rights(w);
	case 3:
		return in_other_pd(w);
	default:
		w->demand ^= IBV_ACCESS_ON_DEMAND;
		TRY(change(w, CHANGE(ACCESS), NULL, NULL, RIGHTS));
		return goes_to_now(w);
	}
}

static uint8_t *fresh(void)
{
	uint8_t *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static why_t all_turns(struct swap *w)
{
	uint64_t end = vt_now_us() + vt_opts.seconds * 1000000ULL;
	int n;

	for (n = 0; !w->s.stop && (n < TURNS || vt_now_us() < end); n++)
		TRY(turn(w, n));
	tap_note("%d changes, %lu batches, %lu refused", n, w->s.ended,
		 w->s.refused);
	return NULL;
}

static why_t under_traffic(struct vt_pair *p, const void *arg)
{
	struct vt_dev *dev = arg ? p->a.dev : p->b.dev;
	struct swap w = {
		.s = { .p = p, .from = arg }, .pd = dev->pd,
		.other = ibv_alloc_pd(dev->ctx), .now = fresh(), .then = fresh(),
	};
	why_t why;

	CHECK(w.other && w.now && w.then, "memory: %s", strerror(errno));
	mark(&w, w.now);
	w.mr = ibv_reg_mr(w.pd, w.now, LEN, RIGHTS | IBV_ACCESS_ZERO_BASED);
	CHECK(w.mr, "ibv_reg_mr: %s", strerror(errno));
	w.s.mr = w.mr;
	CHECK(!pthread_create(&w.s.thread, NULL, keep_sending, &w.s),
	      "pthread_create");
	why = all_turns(&w);
	w.s.stop = true;
	pthread_join(w.s.thread, NULL);
	if (w.s.why && !why)
		why = because("%s", w.s.why);
	free((char *)w.s.why);
	TRY(why);
	CHECK(!ibv_dereg_mr(w.mr), "ibv_dereg_mr: %s", strerror(errno));
	CHECK(!ibv_dealloc_pd(w.other), "ibv_dealloc_pd: %s", strerror(errno));
	munmap(w.now, LEN);
	munmap(w.then, LEN);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct vt_test tests[] = {
		{ "MR changed while others write and read it", under_traffic, NULL },
		{ "MR changed while it is sent from", under_traffic, "" },
	};

	return vt_main(argc, argv, LEN, tests, ARRAY_SIZE(tests));
}
