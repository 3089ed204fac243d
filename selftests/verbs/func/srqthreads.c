// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * A shared receive queue that several threads fill and several QPs empty, all at once: each
 * receive is used once, each message is whole, and those of a QP come in order.
 */

#include <stdatomic.h>
#include <unistd.h>
#include "vt.h"

#define QPS	4
#define EACH	200		/* messages of a QP */
#define SLOTS	(QPS * EACH)	/* places for messages: a thread may be slow to look at its own */
#define LEN	500

struct way {
	struct vt_pair p;
	const struct vt_buf *to;	/* where all receives are */
	struct ibv_srq *srq;
	bool write;		/* WRITE with immediate, into a receive without memory */
	int nr;
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
	struct ibv_recv_wr wr = { .wr_id = n, .sg_list = &sge, .num_sge = !w->write }, *bad;
	int err = ibv_post_srq_recv(w->srq, &wr, &bad);

	CHECK(!err, "receive %u: %s", n, strerror(abs(err)));
	return NULL;
}

static why_t send(struct way *w, uint32_t i)
{
	struct ibv_sge sge = vt_sge(&w->p.a.buf, 0, LEN);
	struct ibv_send_wr wr = {
		.wr_id = i, .opcode = w->write ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = htobe32(w->nr * EACH + i),
		.sg_list = &sge, .num_sge = 1,
	};

	if (w->write)
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
	at = w->write ? w->p.b.buf.data : w->to->data + wc.wr_id * LEN;
	CHECK(!memcmp(at, w->p.a.buf.data, LEN), "message %u is not right", i);
	return NULL;
}

static why_t work(struct way *w)
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
	why_t why = work(w);

	snprintf(w->why, sizeof(w->why), "%s", why ? why : "");
	return NULL;
}

static why_t run_all(struct vt_pair *p)
{
	int i, n;

	for (n = 0; n < QPS; n++)
		if (pthread_create(&ways[n].thread, NULL, work_fn, &ways[n]))
			break;
	for (i = 0; i < n; i++)
		pthread_join(ways[i].thread, NULL);
	CHECK(n == QPS, "pthread_create");
	for (i = 0; i < QPS; i++)
		CHECK(!ways[i].why[0], "QP %d: %s", i, ways[i].why);
	for (i = 0; i < SLOTS; i++)
		CHECK(used[i], "receive %d was not used", i);
	return vt_buf_guards(&p->b.buf);
}

static why_t open_way(struct way *w, struct vt_pair *p, int nr, bool write)
{
	*w = (struct way){
		.p.conf = p->conf, .to = &p->b.buf, .srq = p->b.qp->srq, .nr = nr, .write = write,
	};
	TRY(vt_ep_open(&w->p.a, &vt_devs[0], &w->p.conf));
	TRY(vt_ep_open(&w->p.b, &vt_devs[1], &w->p.conf));
	return vt_connect(&w->p);
}

/* The QPs of @p itself have nothing to do. */
static why_t at_once(struct vt_pair *p, const void *arg)
{
	char said[200] = "";
	why_t why = NULL;
	int n;

	posted = 0;
	memset(used, 0, sizeof(used));
	for (n = 0; n < QPS && !why; n++)
		why = open_way(&ways[n], p, n, arg);
	if (!why)
		why = run_all(p);
	if (why)
		snprintf(said, sizeof(said), "%s", why);
	while (n--) {
		why = vt_ep_close(&ways[n].p.a);
		if (!why)
			why = vt_ep_close(&ways[n].p.b);
		if (why && !said[0])
			snprintf(said, sizeof(said), "%s", why);
	}
	CHECK(!said[0], "%s", said);
	return NULL;
}

static void run(const char *name, const void *arg)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 2 * QPS, .max_sge = 1 } };
	struct vt_conf c = vt_conf(IBV_QPT_RC);

	if (!vt_wanted(name))
		return;
	c.buf = SLOTS * LEN;
	c.srq[1] = ibv_create_srq(vt_devs[1].pd, &init);
	if (!c.srq[1]) {
		tap_report(because("ibv_create_srq: %s", strerror(errno)), "%s", name);
		return;
	}
	vt_run(name, &c, at_once, arg);
	tap_report(ibv_destroy_srq(c.srq[1]) ? "EBUSY" : NULL, "%s: the SRQ goes", name);
}

int main(int argc, char **argv)
{
	vt_start(argc, argv);
	run("SRQ: threads post receives, QPs take them", NULL);
	run("SRQ: WRITEs with immediate by several QPs", "");
	return tap_finish();
}
