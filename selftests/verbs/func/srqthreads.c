// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * Receive queues that several threads fill and several QPs empty, all at once: each receive is
 * used once, each message is whole, and those of a QP come in order.
 */

#include <stdatomic.h>
#include <unistd.h>
#include "vt.h"

#define QPS	4
#define EACH	200		/* messages of a QP */
#define SLOTS	(QPS * EACH)	/* places for messages: a thread may be slow to look at its own */
#define LEN	500

/**
 * struct how - a case
 * @name: of it
 * @qp: has a receive queue of its own; else all share one
 * @srq: it is shared with no other QP
 * @write: WRITE with immediate, into a receive without memory
 */
struct how {
	const char *name;
	bool qp;
	bool srq;
	bool write;
};

struct way {
	struct vt_pair p;
	const struct vt_buf *to;	/* where all receives are */
	const struct how *how;
	int nr;
	why_t (*work)(struct way *w);
	pthread_t thread;
	char why[200];		/* what went wrong, or nothing */
};

static struct way ways[QPS];
static atomic_uint posted;
static atomic_uchar used[SLOTS];

static why_t post_receive(struct way *w)
{
	uint32_t n = atomic_fetch_add(&posted, 1);
	struct ibv_sge sge = vt_sge(w->to, n * LEN, LEN);
	why_t why = vt_post_recv(&w->p.b, n, &sge, !w->how->write);

	CHECK(!why, "receive %u: %s", n, why);
	return NULL;
}

static why_t send(struct way *w, uint32_t i)
{
	struct ibv_sge sge = vt_sge(&w->p.a.buf, 0, LEN);
	struct ibv_send_wr wr = {
		.wr_id = i, .opcode = w->how->write ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = htobe32(w->nr * EACH + i),
		.sg_list = &sge, .num_sge = 1,
	};

	if (w->how->write)
		vt_aim(&w->p.a, &w->p.b, &wr);
	vt_fill(w->p.a.buf.data, LEN, w->nr * EACH + i);
	return vt_post_send(&w->p.a, &wr);
}

/* The next message of this QP, in whichever receive */
static why_t arrives(struct way *w, uint32_t i)
{
	const uint8_t *at;
	struct ibv_wc wc;
	int n;

	for (n = 0; n < 1000; n++) {
		int got = ibv_poll_cq(w->p.b.rcq, 1, &wc);

		CHECK(got >= 0, "ibv_poll_cq: %d", got);
		if (got)
			break;
		usleep(10000);
	}
	CHECK(n < 1000, "message %u of QP %d has not come", i, w->nr);
	CHECK(wc.status == IBV_WC_SUCCESS, "receive: %s", ibv_wc_status_str(wc.status));
	CHECK(wc.qp_num == w->p.b.qp->qp_num, "QP %u, not %u", wc.qp_num, w->p.b.qp->qp_num);
	CHECK(be32toh(wc.imm_data) == w->nr * EACH + i, "message %u in place of %u",
	      be32toh(wc.imm_data), w->nr * EACH + i);
	CHECK(wc.wr_id < SLOTS && !atomic_exchange(&used[wc.wr_id], 1),
	      "receive %llu is used again", (unsigned long long)wc.wr_id);
	at = w->how->write ? w->p.b.buf.data : w->to->data + wc.wr_id * LEN;
	CHECK(!memcmp(at, w->p.a.buf.data, LEN), "message %u is not right", i);
	return NULL;
}

/* One at a time */
static why_t transfer(struct way *w)
{
	struct ibv_wc wc;
	uint32_t i;

	for (i = 0; i < EACH; i++) {
		TRY(post_receive(w));
		TRY(send(w, i));
		TRY(arrives(w, i));
		TRY(vt_poll_ok(w->p.a.scq, &wc, i));
	}
	return NULL;
}

static void *work_fn(void *arg)
{
	struct way *w = arg;
	why_t why = w->work(w);

	snprintf(w->why, sizeof(w->why), "%s", why ? why : "");
	return NULL;
}

static why_t run_all(why_t (*work)(struct way *w))
{
	int i, n;

	for (n = 0; n < QPS; n++) {
		ways[n].work = work;
		if (pthread_create(&ways[n].thread, NULL, work_fn, &ways[n]))
			break;
	}
	for (i = 0; i < n; i++)
		pthread_join(ways[i].thread, NULL);
	CHECK(n == QPS, "pthread_create");
	for (i = 0; i < QPS; i++)
		CHECK(!ways[i].why[0], "thread %d: %s", i, ways[i].why);
	return NULL;
}

static why_t all_used(uint32_t num)
{
	uint32_t i;

	for (i = 0; i < num; i++)
		CHECK(used[i], "receive %u was not used", i);
	return NULL;
}

static why_t open_srq(struct ibv_srq **srq, uint32_t max_wr)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = max_wr, .max_sge = 1 } };

	*srq = ibv_create_srq(vt_devs[1].pd, &init);
	CHECK(*srq, "ibv_create_srq: %s", strerror(errno));
	return NULL;
}

static why_t close_srq(struct ibv_srq *srq, why_t why)
{
	int err = srq ? ibv_destroy_srq(srq) : 0;

	if (why)
		return why;
	CHECK(!err, "ibv_destroy_srq: %s", strerror(err));
	return NULL;
}

static why_t open_way(struct way *w, struct vt_pair *p, int nr, const struct how *how)
{
	struct vt_conf c = p->conf;

	*w = (struct way){ .to = &p->b.buf, .how = how, .nr = nr };
	if (how->qp)
		c.srq[1] = NULL;
	else if (how->srq)
		TRY(open_srq(&c.srq[1], 2));
	TRY(vt_pair_open(&w->p, &c));
	return vt_connect(&w->p);
}

static why_t close_way(struct way *w, why_t why)
{
	struct ibv_srq *srq = w->how->srq ? w->p.conf.srq[1] : NULL;

	return close_srq(srq, vt_pair_end(&w->p, why));
}

static void start_anew(void)
{
	posted = 0;
	memset(used, 0, sizeof(used));
}

/* The QPs of @p itself have nothing to do. */
static why_t at_once(struct vt_pair *p, const void *arg)
{
	why_t why = NULL;
	int n;

	start_anew();
	for (n = 0; n < QPS && !why; n++)
		why = open_way(&ways[n], p, n, arg);
	if (!why)
		why = run_all(transfer);
	if (!why)
		why = all_used(SLOTS);
	if (!why)
		why = vt_buf_guards(&p->b.buf);
	while (n--)
		why = close_way(&ways[n], why);
	return why;
}

static why_t fill(struct way *w)
{
	int i;

	for (i = 0; i < EACH / QPS; i++)
		TRY(post_receive(w));
	return NULL;
}

/* As many SENDs as there are receives, and one more */
static why_t emptied(struct vt_pair *p, const void *arg)
{
	struct ibv_wc wc;
	uint32_t i;

	start_anew();
	for (i = 0; i < QPS; i++)
		ways[i] = (struct way){ .p = *p, .to = &p->b.buf, .how = arg, .nr = i };
	TRY(run_all(fill));
	for (i = 0; i < EACH; i++) {
		TRY(send(&ways[0], i));
		TRY(arrives(&ways[0], i));
		TRY(vt_poll_ok(p->a.scq, &wc, i));
	}
	TRY(all_used(EACH));
	TRY(send(&ways[0], EACH));
	return vt_poll_status(p->a.scq, EACH, IBV_WC_RNR_RETRY_EXC_ERR, "a SEND too many");
}

static void run(const struct how *how, vt_case fn)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);
	why_t why;

	if (!vt_wanted(how->name))
		return;
	c.buf = SLOTS * LEN;
	c.rnr_retry = fn == emptied ? 1 : 7;
	why = open_srq(&c.srq[1], EACH);
	if (!why)
		why = vt_attempt(&c, fn, how, true);
	tap_report(close_srq(c.srq[1], why), "%s", how->name);
}

int main(int argc, char **argv)
{
	static const struct how hows[] = {
		{ .name = "SRQ: threads post receives, QPs take them" },
		{ .name = "SRQ: WRITEs with immediate by several QPs", .write = true },
		{ .name = "SRQ: one of each QP, all at once", .srq = true },
		{ .name = "receive queues of several QPs, one SEND at a time", .qp = true },
	}, one = { .name = "SRQ: threads fill it, one QP empties it" };
	size_t i;

	vt_start(argc, argv);
	for (i = 0; i < ARRAY_SIZE(hows); i++)
		run(&hows[i], at_once);
	run(&one, emptied);
	return tap_finish();
}
