// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/* Shared receive queues. */

#include "vt.h"

#define LEN	500

static why_t open_srq(struct ibv_srq **srq, uint32_t max_wr, uint32_t limit)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = max_wr, .max_sge = 3, .srq_limit = limit },
	};

	*srq = ibv_create_srq(vt_devs[1].pd, &init);
	CHECK(*srq, "ibv_create_srq: %s", strerror(errno));
	CHECK(init.attr.max_wr >= max_wr && init.attr.max_sge >= 3,
	      "SRQ is smaller than asked for");
	return NULL;
}

static why_t post(struct vt_ep *ep, uint64_t wr_id)
{
	return vt_post_recv_at(ep, wr_id, LEN * (wr_id % 64), LEN);
}

static why_t send(struct vt_pair *p, int seed, uint64_t wr_id)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, LEN);
	struct ibv_send_wr wr = { .wr_id = wr_id, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };
	struct ibv_wc wc;

	vt_fill(p->a.buf.data, LEN, seed);
	vt_aim(&p->a, &p->b, &wr);
	TRY(vt_post_send(&p->a, &wr));
	return vt_poll_ok(p->a.scq, &wc, wr_id);
}

/* The next receive of the queue has the message, whichever QP it came by. */
static why_t received(struct vt_pair *p, const struct vt_buf *buf,
		      uint64_t wr_id)
{
	struct ibv_wc wc;

	TRY(vt_poll_ok(p->b.rcq, &wc, wr_id));
	CHECK(wc.qp_num == p->b.qp->qp_num, "wc of QP %u, not %u", wc.qp_num,
	      p->b.qp->qp_num);
	CHECK(!memcmp(p->a.buf.data, buf->data + LEN * (wr_id % 64), LEN),
	      "wr %llu arrives garbled", (unsigned long long)wr_id);
	return NULL;
}

static why_t two_qps(struct vt_pair *p, struct vt_pair *other)
{
	uint64_t rnd = vt_opts.seed;
	int i;

	for (i = 0; i < 200; i++) {
		struct vt_pair *way = vt_below(&rnd, 2) ? p : other;

		TRY(post(&p->b, i));
		TRY(send(way, i, i));
		TRY(received(way, &p->b.buf, i));
	}
	return NULL;
}

static why_t with_other(struct vt_pair *p, const void *arg)
{
	struct vt_pair other;
	why_t why;

	(void)arg;
	why = vt_pair_open(&other, &p->conf);
	if (!why)
		why = vt_connect(&other);
	if (!why)
		why = two_qps(p, &other);
	return vt_pair_end(&other, why);
}

/* A SEND that has to wait for a receive */
static why_t send_early(struct vt_pair *p)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, LEN);
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };

	return vt_post_send(&p->a, &wr);
}

/* It gets through once there is one. */
static why_t receive_late(struct vt_pair *p)
{
	struct ibv_wc wc;

	TRY(post(&p->b, 2));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	return vt_poll_ok(p->b.rcq, &wc, 2);
}

/* An RC sender finds the queue empty, waits, and gets through. */
static why_t empty(struct vt_pair *p, const void *arg)
{
	(void)arg;
	TRY(send_early(p));
	TRY(vt_quiet(p->a.scq, 200));
	return receive_late(p);
}

static why_t set_limit(struct ibv_srq *srq, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };
	int err = ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);

	CHECK(!err, "ibv_modify_srq: %s", strerror(err));
	memset(&attr, 0, sizeof(attr));
	CHECK(!ibv_query_srq(srq, &attr), "ibv_query_srq");
	CHECK(attr.srq_limit == limit, "srq_limit is %u, not %u",
	      attr.srq_limit, limit);
	return NULL;
}

/* A limit that is set when all receives are gone is reported to whoever waits for it. */
static why_t limit_when_empty(struct vt_pair *p, const void *arg)
{
	struct ibv_srq *srq = p->b.qp->srq;

	(void)arg;
	TRY(set_limit(srq, 5));
	TRY(send_early(p));
	TRY(vt_event(p->b.dev, IBV_EVENT_SRQ_LIMIT_REACHED, srq, 2000));
	TRY(receive_late(p));
	return vt_no_event(p->b.dev, 100);
}

/* The event comes once, when fewer than the limit are left. */
static why_t limit(struct vt_pair *p, const void *arg)
{
	struct ibv_srq *srq = p->b.qp->srq;
	struct ibv_srq_attr attr;
	int i;

	(void)arg;
	for (i = 0; i < 10; i++)
		TRY(post(&p->b, i));
	TRY(set_limit(srq, 5));
	for (i = 0; i < 5; i++) {
		TRY(send(p, i, i));
		TRY(received(p, &p->b.buf, i));
	}
	TRY(vt_no_event(p->b.dev, 100));	/* 5 are left */
	TRY(send(p, 5, 5));
	TRY(vt_event(p->b.dev, IBV_EVENT_SRQ_LIMIT_REACHED, srq, 2000));
	TRY(send(p, 6, 6));
	TRY(vt_no_event(p->b.dev, 100));
	CHECK(!ibv_query_srq(srq, &attr), "ibv_query_srq");
	CHECK(attr.srq_limit == 0, "srq_limit is still %u", attr.srq_limit);
	return NULL;
}

/* What is on the queue belongs to no QP: one that fails leaves it alone. */
static why_t last_wqe(struct vt_pair *p, const void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 3; i++)
		TRY(post(&p->b, i));
	TRY(vt_ep_state(&p->b, IBV_QPS_ERR));
	TRY(vt_event(p->b.dev, IBV_EVENT_QP_LAST_WQE_REACHED, p->b.qp, 2000));
	TRY(vt_quiet(p->b.rcq, 100));
	TRY(vt_no_event(p->b.dev, 100));
	/* and they serve the next connection */
	TRY(vt_ep_state(&p->a, IBV_QPS_RESET));
	TRY(vt_ep_state(&p->b, IBV_QPS_RESET));
	TRY(vt_connect(p));
	for (i = 0; i < 3; i++) {
		TRY(send(p, i, i));
		TRY(received(p, &p->b.buf, i));
	}
	return NULL;
}

static int post_raw(struct vt_pair *p, struct ibv_recv_wr **bad,
		    struct ibv_recv_wr *wr, struct ibv_sge *sge)
{
	*sge = vt_sge(&p->b.buf, 0, 8);
	memset(wr, 0, sizeof(*wr));
	wr->sg_list = sge;
	wr->num_sge = 1;
	*bad = NULL;
	return ibv_post_srq_recv(p->b.qp->srq, wr, bad);
}

static why_t full(struct vt_pair *p, const void *arg)
{
	struct ibv_srq *srq = p->b.qp->srq;
	struct ibv_recv_wr wr, *bad;
	struct ibv_srq_attr attr;
	struct ibv_sge sge;
	int n, err = 0;

	(void)arg;
	CHECK(!ibv_query_srq(srq, &attr), "ibv_query_srq");
	for (n = 0; n < 4 * (int)attr.max_wr; n++) {
		err = post_raw(p, &bad, &wr, &sge);
		if (err)
			break;
	}
	CHECK(abs(err) == ENOMEM && bad == &wr, "errno %d after %d of %u", err,
	      n, attr.max_wr);
	CHECK(n >= (int)attr.max_wr, "full after %d of %u", n, attr.max_wr);
	return NULL;
}

/* What is full takes as many more as it is made larger by. */
static why_t full_then_larger(struct vt_pair *p, const void *arg)
{
	struct ibv_srq *srq = p->b.qp->srq;
	struct ibv_recv_wr wr, *bad;
	struct ibv_srq_attr attr;
	struct ibv_sge sge;
	int err, n;

	TRY(full(p, arg));
	CHECK(!ibv_query_srq(srq, &attr), "ibv_query_srq");
	attr.max_wr += 10;
	err = ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
	CHECK(!err, "ibv_modify_srq: %s", strerror(err));
	for (n = 0; n < 10; n++) {
		err = post_raw(p, &bad, &wr, &sge);
		CHECK(!err, "receive %d of 10 more: %s", n, strerror(abs(err)));
	}
	return NULL;
}

/* A receive of as many pieces as the queue takes, the last byte of the buffer first */
static why_t most_sges(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge[64], from;
	struct ibv_recv_wr *bad = NULL, recv = { .wr_id = 1, .sg_list = sge };
	struct ibv_send_wr wr = { .wr_id = 2, .opcode = IBV_WR_SEND, .sg_list = &from,
				  .num_sge = 1, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_srq_attr attr;
	struct ibv_wc wc;
	uint32_t i;
	int err;

	(void)arg;
	CHECK(!ibv_query_srq(p->b.qp->srq, &attr), "ibv_query_srq");
	CHECK(attr.max_sge >= 3 && attr.max_sge <= 64, "max_sge is %u", attr.max_sge);
	for (i = 0; i < attr.max_sge; i++)
		sge[i] = vt_sge(&p->b.buf, attr.max_sge - 1 - i, 1);
	recv.num_sge = attr.max_sge;
	err = ibv_post_srq_recv(p->b.qp->srq, &recv, &bad);
	CHECK(!err, "ibv_post_srq_recv: %s", strerror(abs(err)));
	from = vt_sge(&p->a.buf, 0, attr.max_sge);
	vt_fill(p->a.buf.data, attr.max_sge, 7);
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 2));
	TRY(vt_poll_ok(p->b.rcq, &wc, 1));
	for (i = 0; i < attr.max_sge; i++)
		CHECK(p->b.buf.data[attr.max_sge - 1 - i] == p->a.buf.data[i], "piece %u", i);
	return NULL;
}

static why_t too_many_sges(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge[65];
	struct ibv_recv_wr *bad = NULL, wr = { .sg_list = sge };
	struct ibv_srq_attr attr;
	int i, err;

	(void)arg;
	CHECK(!ibv_query_srq(p->b.qp->srq, &attr), "ibv_query_srq");
	for (i = 0; i < 65; i++)
		sge[i] = vt_sge(&p->b.buf, 8 * i, 8);
	wr.num_sge = attr.max_sge + 1;
	err = ibv_post_srq_recv(p->b.qp->srq, &wr, &bad);
	CHECK(abs(err) == EINVAL && bad == &wr, "errno %d", err);
	return NULL;
}

/* Receives outlive a change of the queue's size. */
static why_t resize(struct vt_pair *p, const void *arg)
{
	static const uint32_t sizes[] = { 200, 40, 500 };
	struct ibv_srq_attr attr;
	size_t s;
	int i, err;

	(void)arg;
	if (!(p->b.dev->attr.device_cap_flags & IBV_DEVICE_SRQ_RESIZE))
		return NULL;
	for (i = 0; i < 30; i++)
		TRY(post(&p->b, i));
	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		attr.max_wr = sizes[s];
		err = ibv_modify_srq(p->b.qp->srq, &attr, IBV_SRQ_MAX_WR);
		CHECK(!err, "resize to %u: %s", sizes[s], strerror(err));
		CHECK(!ibv_query_srq(p->b.qp->srq, &attr), "ibv_query_srq");
		CHECK(attr.max_wr >= sizes[s], "max_wr %u after resize to %u",
		      attr.max_wr, sizes[s]);
		for (i = 10 * s; i < 10 * (int)s + 10; i++) {
			TRY(send(p, i, i));
			TRY(received(p, &p->b.buf, i));
		}
	}
	return NULL;
}

/* Size and limit at once: both, or neither */
static why_t resize_and_limit(struct vt_pair *p, const void *arg)
{
	struct ibv_srq *srq = p->b.qp->srq;
	struct ibv_srq_attr attr, was;
	int err;

	(void)arg;
	CHECK(!ibv_query_srq(srq, &was), "ibv_query_srq");
	attr = (struct ibv_srq_attr){
		.max_wr = 4 * was.max_wr, .srq_limit = 1 << 24,
	};
	err = ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT);
	CHECK(err == EINVAL, "a limit beyond the size: %s", strerror(err));
	CHECK(!ibv_query_srq(srq, &attr), "ibv_query_srq");
	CHECK(attr.max_wr == was.max_wr && attr.srq_limit == was.srq_limit,
	      "max_wr is %u, not %u; limit %u, not %u", attr.max_wr,
	      was.max_wr, attr.srq_limit, was.srq_limit);
	attr = (struct ibv_srq_attr){
		.max_wr = 4 * was.max_wr, .srq_limit = 2 * was.max_wr,
	};
	err = ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT);
	CHECK(!err, "ibv_modify_srq: %s", strerror(err));
	CHECK(!ibv_query_srq(srq, &attr), "ibv_query_srq");
	CHECK(attr.max_wr >= 4 * was.max_wr &&
	      attr.srq_limit == 2 * was.max_wr, "max_wr %u, limit %u",
	      attr.max_wr, attr.srq_limit);
	/* smaller, with a limit that fits, though the one in force doesn't */
	attr = (struct ibv_srq_attr){ .max_wr = was.max_wr, .srq_limit = 0 };
	err = ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT);
	CHECK(!err, "smaller again: %s", strerror(err));
	TRY(post(&p->b, 1));
	TRY(send(p, 1, 1));
	return received(p, &p->b.buf, 1);
}

static why_t in_use(struct vt_pair *p, const void *arg)
{
	int err = ibv_destroy_srq(p->b.qp->srq);

	(void)arg;
	CHECK(err == EBUSY, "destroy SRQ of a QP: %d", err);
	TRY(post(&p->b, 1));
	TRY(send(p, 1, 1));
	return received(p, &p->b.buf, 1);
}

static void run(const char *name, enum ibv_qp_type type, vt_case fn)
{
	struct vt_conf c = vt_conf(type);
	struct ibv_srq *srq;
	why_t why;
	int err;

	if (!vt_wanted(name))
		return;
	why = open_srq(&srq, 64, 0);
	if (why) {
		tap_report(why, "%s", name);
		return;
	}
	c.srq[1] = srq;
	vt_run(name, &c, fn, NULL);
	err = ibv_destroy_srq(srq);
	if (err)
		tap_report(because("ibv_destroy_srq: %s", strerror(err)),
			   "%s: destroy", name);
}

/* ibv_create_srq(3): srq_limit is irrelevant. Programs leave it uninitialized. */
static why_t limit_at_creation(void)
{
	struct ibv_srq_attr attr = { .max_wr = 128 };
	struct ibv_srq *srq;
	int err;

	TRY(open_srq(&srq, 64, 0x7ffe1234));
	err = ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
	CHECK(!err, "a resize: %s", strerror(err));
	CHECK(!ibv_query_srq(srq, &attr), "ibv_query_srq");
	CHECK(!attr.srq_limit, "srq_limit is %u", attr.srq_limit);
	CHECK(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	return NULL;
}

/* The limits that the device states are those it keeps. */
static void test_limits(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = vt_devs[1].attr.max_srq_wr + 1,
			  .max_sge = 1 },
	};
	struct ibv_srq *srq = ibv_create_srq(vt_devs[1].pd, &init);

	tap_report(srq ? "succeeds" : NULL, "SRQ with more than max_srq_wr");
	if (srq)
		ibv_destroy_srq(srq);
	init.attr.max_wr = 16;
	init.attr.max_sge = vt_devs[1].attr.max_srq_sge + 1;
	srq = ibv_create_srq(vt_devs[1].pd, &init);
	tap_report(srq ? "succeeds" : NULL, "SRQ with more than max_srq_sge");
	if (srq)
		ibv_destroy_srq(srq);
}

int main(int argc, char **argv)
{
	vt_start(argc, argv);
	run("RC: two QPs on one SRQ", IBV_QPT_RC, with_other);
	run("RC: empty SRQ makes the sender wait", IBV_QPT_RC, empty);
	run("RC: SRQ limit event", IBV_QPT_RC, limit);
	run("RC: SRQ limit that is set when it is empty", IBV_QPT_RC, limit_when_empty);
	run("RC: LAST_WQE_REACHED", IBV_QPT_RC, last_wqe);
	run("SRQ full", IBV_QPT_RC, full);
	run("SRQ full, then larger", IBV_QPT_RC, full_then_larger);
	run("SRQ receive with as many pieces as it takes", IBV_QPT_RC, most_sges);
	run("SRQ receive with too many pieces", IBV_QPT_RC, too_many_sges);
	run("SRQ resize with live receives", IBV_QPT_RC, resize);
	run("SRQ resize with a limit", IBV_QPT_RC, resize_and_limit);
	run("SRQ in use is EBUSY", IBV_QPT_RC, in_use);
	tap_report(limit_at_creation(), "the limit at creation is ignored");
	test_limits();
	return tap_finish();
}
