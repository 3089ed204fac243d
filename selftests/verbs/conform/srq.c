// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_create_srq(3), ibv_create_srq_ex(3), ibv_modify_srq(3), ibv_query_srq(3),
 * ibv_destroy_srq(3). Where there are endpoints, the SRQ is B's.
 */

#include "conform.h"

static why_t make(struct cf *t, uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = wr, .max_sge = sge },
	};

	t->srq = ibv_create_srq(t->dev->pd, &init);
	TRY(cf_got(t, t->srq));
	CHECK(!t->srq || (init.attr.max_wr >= wr && init.attr.max_sge >= sge),
	      "max_wr %u max_sge %u", init.attr.max_wr, init.attr.max_sge);
	return NULL;
}

static why_t of_wr(struct cf *t)
{
	return make(t, t->row->arg, 1);
}

static why_t max_wr(struct cf *t)
{
	return make(t, t->dev->attr.max_srq_wr + t->row->arg, 1);
}

static why_t max_sge(struct cf *t)
{
	return make(t, 16, t->dev->attr.max_srq_sge + t->row->arg);
}

static why_t pd_of_srq(struct cf *t)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq;

	t->pd = ibv_alloc_pd(t->dev->ctx);
	CHECK(t->pd, "ibv_alloc_pd: %s", strerror(errno));
	srq = ibv_create_srq(t->pd, &init);
	CHECK(srq, "ibv_create_srq: %s", strerror(errno));
	t->err = ibv_dealloc_pd(t->pd);
	if (!t->err)
		t->pd = NULL;
	CHECK(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	return NULL;
}

static why_t make_ex(struct cf *t)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = 16, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE,
		.srq_type = t->row->arg, .pd = t->dev->pd,
	};

	errno = 0;
	t->srq = ibv_create_srq_ex(t->dev->ctx, &init);
	return cf_got(t, t->srq);
}

static why_t destroy_used(struct cf *t)
{
	CHECK(t->p->b.qp->srq, "no SRQ");
	t->err = ibv_destroy_srq(t->p->b.qp->srq);
	CHECK(t->err, "an SRQ in use was destroyed");
	return NULL;
}

/* The SRQ is of another PD than the QPs; the engine ends both. */
static void with_foreign_srq(struct vt_conf *c)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 64, .max_sge = 2 },
	};
	struct ibv_pd *pd = ibv_alloc_pd(vt_devs[1].ctx);

	if (pd)
		c->srq[1] = ibv_create_srq(pd, &init);
}

/* row->arg: the receive's memory is of the PD of the SRQ, not of the QP's. */
static why_t across_pds(struct cf *t)
{
	struct ibv_srq *srq = t->p->b.qp->srq;
	struct vt_buf *buf = &t->p->b.buf;
	struct ibv_send_wr wr;

	CHECK(srq && srq->pd != t->p->b.dev->pd, "no SRQ of another PD");
	cf_fill(t);
	t->sge[1] = vt_sge(buf, 0, CF_LEN);
	if (t->row->arg) {
		t->mr = ibv_reg_mr(srq->pd, buf->data, buf->len,
				   IBV_ACCESS_LOCAL_WRITE);
		CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
		t->sge[1].lkey = t->mr->lkey;
	}
	TRY(vt_post_recv(&t->p->b, CF_RECV, &t->sge[1], 1));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	return cf_post_send(t, &wr);
}

/* Receives 0, 1, ... of CF_LEN */
static why_t stock(struct cf *t, int n)
{
	int i;

	CHECK(t->p->b.qp->srq, "no SRQ");
	for (i = 0; i < n; i++)
		TRY(vt_post_recv_at(&t->p->b, i, 0, CF_LEN));
	return NULL;
}

static why_t consume(struct cf *t, int from, int n)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_SEND, 8);
	struct ibv_wc wc;

	for (; n--; from++) {
		TRY(cf_post_good(t, &wr));
		TRY(vt_poll_ok(t->p->b.rcq, &wc, from));
	}
	return NULL;
}

static why_t modify(struct cf *t, uint32_t wr, uint32_t limit, int mask)
{
	struct ibv_srq_attr attr = { .max_wr = wr, .srq_limit = limit };

	t->err = abs(ibv_modify_srq(t->p->b.qp->srq, &attr, mask));
	return NULL;
}

static why_t query_b(struct cf *t, struct ibv_srq_attr *attr)
{
	CHECK(!ibv_query_srq(t->p->b.qp->srq, attr), "ibv_query_srq");
	return NULL;
}

/* Both are as they have been set. */
static why_t both_are(struct cf *t, uint32_t max_wr, uint32_t limit)
{
	struct ibv_srq_attr attr;

	TRY(query_b(t, &attr));
	CHECK(attr.max_wr >= max_wr && attr.srq_limit == limit,
	      "max_wr %u srq_limit %u", attr.max_wr, attr.srq_limit);
	return NULL;
}

static why_t resize(struct cf *t)
{
	TRY(stock(t, 20));
	return modify(t, t->row->arg, 0, IBV_SRQ_MAX_WR);
}

/* What is posted has outlived the change, or the refusal. */
static why_t resized(struct cf *t)
{
	struct ibv_srq_attr attr;

	TRY(query_b(t, &attr));
	CHECK(t->err || attr.max_wr >= t->row->arg, "max_wr %u", attr.max_wr);
	TRY(consume(t, 0, 20));
	TRY(stock(t, 5));
	return consume(t, 0, 5);
}

static why_t resize_over(struct cf *t)
{
	TRY(stock(t, 20));
	return modify(t, t->dev->attr.max_srq_wr + 1, 0, IBV_SRQ_MAX_WR);
}

static why_t limit_over(struct cf *t)
{
	struct ibv_srq_attr attr;

	TRY(stock(t, 20));
	TRY(query_b(t, &attr));
	return modify(t, 0, attr.max_wr + 1, IBV_SRQ_LIMIT);
}

/* A good size with a bad limit: neither is taken. */
static why_t half_bad(struct cf *t)
{
	TRY(stock(t, 20));
	return modify(t, 500, 1000000, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT);
}

static why_t unchanged(struct cf *t)
{
	struct ibv_srq_attr attr;

	TRY(query_b(t, &attr));
	CHECK(attr.max_wr < 500, "max_wr was modified: %u", attr.max_wr);
	CHECK(!attr.srq_limit, "srq_limit was modified: %u", attr.srq_limit);
	TRY(consume(t, 0, 20));
	TRY(stock(t, 5));
	return consume(t, 0, 5);
}

static why_t both(struct cf *t)
{
	TRY(stock(t, 20));
	return modify(t, 500, 300, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT);
}

static why_t both_set(struct cf *t)
{
	return both_are(t, 500, 300);
}

/* The old limit exceeds the new size, but there is a new limit as well. */
static why_t both_down(struct cf *t)
{
	TRY(stock(t, 20));
	TRY(modify(t, 0, 60, IBV_SRQ_LIMIT));
	CHECK(!t->err, "limit of 60: %s", strerror(t->err));
	return modify(t, 25, 10, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT);
}

static why_t both_down_set(struct cf *t)
{
	TRY(both_are(t, 25, 10));
	return consume(t, 0, 5);
}

static why_t bad_mask(struct cf *t)
{
	CHECK(t->p->b.qp->srq, "no SRQ");
	return modify(t, 64, 0, 1 << 7);
}

/* 10 receives and a limit of 5: the event comes when 4 are left. */
static why_t limit(struct cf *t)
{
	TRY(stock(t, 10));
	TRY(modify(t, 0, 5, IBV_SRQ_LIMIT));
	TRY(consume(t, 0, 5));
	TRY(vt_no_event(t->p->b.dev, 100));
	return consume(t, 5, 1);
}

static why_t disarmed(struct cf *t)
{
	struct ibv_srq_attr attr;

	TRY(query_b(t, &attr));
	CHECK(!attr.srq_limit, "srq_limit is still %u", attr.srq_limit);
	TRY(consume(t, 6, 1));
	return vt_no_event(t->p->b.dev, 100);
}

static why_t query(struct cf *t)
{
	struct ibv_srq_attr attr;

	TRY(stock(t, 10));
	CHECK(!modify(t, 0, 3, IBV_SRQ_LIMIT) && !t->err, "ibv_modify_srq");
	memset(&attr, 0xee, sizeof(attr));
	t->err = ibv_query_srq(t->p->b.qp->srq, &attr);
	CHECK(attr.max_wr >= 64 && attr.max_wr < 1000 && attr.max_sge >= 2 &&
	      attr.srq_limit == 3, "max_wr %u max_sge %u srq_limit %u",
	      attr.max_wr, attr.max_sge, attr.srq_limit);
	return NULL;
}

static const struct cf_row rows[] = {
	{ "ibv_create_srq", "greater than or equal to the requested",
	  "1 receive", of_wr, 1, CF_DEVICE, .err = 0 },
	{ "ibv_create_srq", "NULL if the request fails", "max_wr 0", of_wr, 0,
	  CF_DEVICE, .err = EINVAL },
	{ "ibv_create_srq", "max_srq_wr of ibv_query_device(3)",
	  "max_srq_wr receives", max_wr, 0, CF_DEVICE, .err = 0 },
	{ "ibv_create_srq", "max_srq_wr of ibv_query_device(3)",
	  "more than max_srq_wr", max_wr, 1, CF_DEVICE, .err = EINVAL },
	{ "ibv_create_srq", "max_srq_sge of ibv_query_device(3)",
	  "max_srq_sge pieces", max_sge, 0, CF_DEVICE, .err = 0 },
	{ "ibv_create_srq", "max_srq_sge of ibv_query_device(3)",
	  "more than max_srq_sge", max_sge, 1, CF_DEVICE, .err = EINVAL },
	{ "ibv_create_srq_ex", "basic and xrc modes", "IBV_SRQT_BASIC",
	  make_ex, IBV_SRQT_BASIC, CF_DEVICE, .err = 0 },
	{ "ibv_create_srq_ex", "tag matching isn't claimed by tm_caps",
	  "IBV_SRQT_TM", make_ex, IBV_SRQT_TM, CF_DEVICE,
	  .err = EOPNOTSUPP, .or_err = EINVAL },
	{ "ibv_create_srq", "IBTA 11.2.9.1: the PD of the SRQ",
	  "receive in memory of its PD, which is not the QP's", across_pds, 1,
	  .prep = with_foreign_srq, .wc = CF_IS(IBV_WC_SUCCESS),
	  .recv = CF_IS(IBV_WC_SUCCESS), .state = CF_IS(IBV_QPS_RTS),
	  .peer = CF_IS(IBV_QPS_RTS), .after = cf_arrived },
	{ "ibv_create_srq", "IBTA 11.2.9.1: the PD of the SRQ",
	  "receive in memory of the QP's PD, which is not its own",
	  across_pds, 0, .prep = with_foreign_srq,
	  .wc = CF_IS(IBV_WC_REM_OP_ERR),
	  .recv = CF_IS(IBV_WC_LOC_PROT_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .peer = CF_IS(IBV_QPS_ERR), .after = cf_sent },
	{ "ibv_destroy_srq", "fails if any QP is still associated",
	  "SRQ of a QP", destroy_used, .prep = cf_with_srq, .err = EBUSY },
	{ "ibv_dealloc_pd", "may fail if another resource is associated with it",
	  "PD of an SRQ", pd_of_srq, .stage = CF_DEVICE, .err = EBUSY },

	{ "ibv_modify_srq", "IBV_SRQ_MAX_WR, as IBV_DEVICE_SRQ_RESIZE claims",
	  "larger, 20 posted", resize, 500, .prep = cf_with_srq,
	  .after = resized },
	{ "ibv_modify_srq", "IBV_SRQ_MAX_WR: resize the SRQ",
	  "smaller, 20 posted", resize, 25, .prep = cf_with_srq,
	  .after = resized },
	{ "ibv_modify_srq", "IBTA 11.2.9.4: less than what is posted",
	  "smaller than what is posted", resize, 8, .prep = cf_with_srq,
	  .err = EINVAL, .after = resized },
	{ "ibv_modify_srq", "the value of errno on failure", "max_wr 0",
	  resize, 0, .prep = cf_with_srq, .err = EINVAL, .after = resized },
	{ "ibv_modify_srq", "max_srq_wr of ibv_query_device(3)",
	  "more than max_srq_wr", resize_over, .prep = cf_with_srq,
	  .err = EINVAL, .after = unchanged },
	{ "ibv_modify_srq", "IBTA 11.2.9.4: the limit exceeds the size",
	  "srq_limit over max_wr", limit_over, .prep = cf_with_srq,
	  .err = EINVAL, .after = unchanged },
	{ "ibv_modify_srq", "if any attribute is invalid, none is modified",
	  "a good max_wr with a bad srq_limit", half_bad,
	  .prep = cf_with_srq, .err = EINVAL, .after = unchanged },
	{ "ibv_modify_srq", "the bitwise OR of flags",
	  "max_wr and a limit that only then fits", both,
	  .prep = cf_with_srq, .after = both_set },
	{ "ibv_modify_srq", "the bitwise OR of flags",
	  "a smaller max_wr and a limit that fits it", both_down,
	  .prep = cf_with_srq, .after = both_down_set },
	{ "ibv_modify_srq", "the bitwise OR of flags", "a bit that is no flag",
	  bad_mask, .prep = cf_with_srq, .err = EINVAL },
	{ "ibv_modify_srq", "once the number of WRs drops below srq_limit",
	  "IBV_SRQ_LIMIT", limit, .prep = cf_with_srq,
	  .event = CF_IS(IBV_EVENT_SRQ_LIMIT_REACHED), .event_at_peer = true,
	  .after = disarmed },
	{ "ibv_query_srq", "the attributes of the SRQ", "what was set", query,
	  .prep = cf_with_srq },
};

CF_TABLE(140, "Shared receive queues", rows);
