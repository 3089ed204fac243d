// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * The states of a QP: which transitions there are, with which attributes, and
 * what comes of them. The tables are those of ibv_modify_qp(3) and chapter
 * 10.3.1 of the InfiniBand specification.
 */

#include "vt.h"

/* Transitions an application may ask for. */
static const bool allowed[7][7] = {
	[IBV_QPS_RESET] = { [IBV_QPS_RESET] = true, [IBV_QPS_INIT] = true },
	[IBV_QPS_INIT] = { [IBV_QPS_RESET] = true, [IBV_QPS_INIT] = true,
			   [IBV_QPS_RTR] = true, [IBV_QPS_ERR] = true },
	[IBV_QPS_RTR] = { [IBV_QPS_RESET] = true, [IBV_QPS_RTS] = true,
			  [IBV_QPS_ERR] = true },
	[IBV_QPS_RTS] = { [IBV_QPS_RESET] = true, [IBV_QPS_RTS] = true,
			  [IBV_QPS_SQD] = true, [IBV_QPS_ERR] = true },
	[IBV_QPS_SQD] = { [IBV_QPS_RESET] = true, [IBV_QPS_RTS] = true,
			  [IBV_QPS_SQD] = true, [IBV_QPS_ERR] = true },
	[IBV_QPS_ERR] = { [IBV_QPS_RESET] = true, [IBV_QPS_ERR] = true },
};

/* RESET to ERR: the specification has it, the kernel's core has not. */
static bool unsettled(int from, int to)
{
	return from == IBV_QPS_RESET && to == IBV_QPS_ERR;
}

/* By way of RESET, whatever state it is in */
static why_t bring(struct vt_pair *p, enum ibv_qp_state to)
{
	TRY(vt_ep_state(&p->a, IBV_QPS_RESET));
	return vt_bring(p, to);
}

/* A refused modify changes nothing: neither state nor later usability. */
static why_t refused_as(struct vt_pair *p, const struct ibv_qp_attr *attr,
			int mask, enum ibv_qp_state from, int also)
{
	struct ibv_qp_attr copy = *attr;
	int err = ibv_modify_qp(p->a.qp, &copy, mask);

	CHECK(err && (err == EINVAL || err == also),
	      "error %d (%s), not EINVAL", err, strerror(err));
	return vt_ep_is(&p->a, from);
}

static why_t refused(struct vt_pair *p, const struct ibv_qp_attr *attr,
		     int mask, enum ibv_qp_state from)
{
	return refused_as(p, attr, mask, from, EINVAL);
}

struct transition {
	enum ibv_qp_state from, to;
};

static why_t transition(struct vt_pair *p, const void *arg)
{
	const struct transition *t = arg;
	struct ibv_qp_attr attr;
	int mask;

	TRY(bring(p, t->from));
	attr = vt_attr_to(p, t->to, &mask);
	/* only the way up needs them all */
	if (t->to == IBV_QPS_RTS && t->from != IBV_QPS_RTR)
		mask = IBV_QP_STATE;
	if (!allowed[t->from][t->to])
		return refused(p, &attr, mask, t->from);
	CHECK(!ibv_modify_qp(p->a.qp, &attr, mask), "refused");
	return vt_ep_is(&p->a, t->to);
}

static void test_transitions(enum ibv_qp_type type)
{
	struct vt_conf c = vt_conf(type);
	struct transition t;
	int from, to;

	for (from = IBV_QPS_RESET; from <= IBV_QPS_ERR; from++) {
		for (to = IBV_QPS_RESET; to <= IBV_QPS_ERR; to++) {
			/* SQE comes of errors, see the retries test */
			if (from == IBV_QPS_SQE || unsettled(from, to))
				continue;
			t.from = from;
			t.to = to;
			vt_runf_idle(&c, transition, &t, "%s: %s to %s %s",
				     vt_type_name(type), vt_state_names[from],
				     vt_state_names[to], allowed[from][to] ?
				     "works" : "is EINVAL");
		}
	}
}

/* Each attribute that a step requires, left out, and one that it forbids. */
static why_t attributes(struct vt_pair *p, const void *arg)
{
	const struct transition *t = arg;
	struct ibv_qp_attr attr;
	int mask, bit;
	why_t why;

	TRY(bring(p, t->from));
	attr = vt_attr_to(p, t->to, &mask);
	for (bit = 1; bit <= mask; bit <<= 1) {
		if (!(mask & bit) || bit == IBV_QP_STATE)
			continue;
		why = refused(p, &attr, mask & ~bit, t->from);
		CHECK(!why, "without attribute %#x: %s", bit, why);
	}
	bit = t->to == IBV_QPS_RTS ? IBV_QP_DEST_QPN : IBV_QP_SQ_PSN;
	why = refused(p, &attr, mask | bit, t->from);
	CHECK(!why, "with attribute %#x: %s", bit, why);
	/* a wrong idea of the current state */
	attr.cur_qp_state = IBV_QPS_ERR;
	if (t->to == IBV_QPS_RTS) {
		why = refused(p, &attr, mask | IBV_QP_CUR_STATE, t->from);
		CHECK(!why, "with wrong cur_qp_state: %s", why);
	}
	CHECK(!ibv_modify_qp(p->a.qp, &attr, mask), "refused in the end");
	return vt_ep_is(&p->a, t->to);
}

static void test_attributes(enum ibv_qp_type type)
{
	static const struct transition steps[] = {
		{ IBV_QPS_RESET, IBV_QPS_INIT },
		{ IBV_QPS_INIT, IBV_QPS_RTR },
		{ IBV_QPS_RTR, IBV_QPS_RTS },
	};
	struct vt_conf c = vt_conf(type);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		vt_runf_idle(&c, attributes, &steps[i],
			     "%s: attributes of %s to %s", vt_type_name(type),
			     vt_state_names[steps[i].from],
			     vt_state_names[steps[i].to]);
	}
}

/* Values out of range */

struct value {
	const char *name;
	enum ibv_qp_state to;
	void (*set)(struct vt_pair *p, struct ibv_qp_attr *attr);
	int also;		/* the kernel's core has another error for it */
};

#define SETTER(fn, what)						\
	static void fn(struct vt_pair *p, struct ibv_qp_attr *attr)	\
	{								\
		(void)p;						\
		attr->what;						\
	}

SETTER(port_0, port_num = 0)
SETTER(port_2, port_num = 2)
SETTER(pkey_out, pkey_index = 0x7fff)
SETTER(mtu_0, path_mtu = 0)
SETTER(mtu_6, path_mtu = 6)
SETTER(rnr_32, min_rnr_timer = 32)
SETTER(timeout_32, timeout = 32)
SETTER(retry_8, retry_cnt = 8)
SETTER(rnr_retry_8, rnr_retry = 8)
SETTER(no_grh, ah_attr.is_global = 0)
SETTER(ah_port_2, ah_attr.port_num = 2)

static void sgid_out(struct vt_pair *p, struct ibv_qp_attr *attr)
{
	attr->ah_attr.grh.sgid_index = MIN(255, p->a.dev->port.gid_tbl_len);
}

static void sgid_empty(struct vt_pair *p, struct ibv_qp_attr *attr)
{
	attr->ah_attr.grh.sgid_index =
		MIN(255, p->a.dev->port.gid_tbl_len - 1);
}

static void rd_out(struct vt_pair *p, struct ibv_qp_attr *attr)
{
	attr->max_rd_atomic = MIN(255, p->a.dev->attr.max_qp_init_rd_atom + 1);
}

static void dest_rd_out(struct vt_pair *p, struct ibv_qp_attr *attr)
{
	attr->max_dest_rd_atomic = MIN(255, p->a.dev->attr.max_qp_rd_atom + 1);
}

static const struct value values[] = {
	{ "port_num 0", IBV_QPS_INIT, port_0, 0 },
	{ "port_num 2", IBV_QPS_INIT, port_2, 0 },
	{ "pkey_index out of the table", IBV_QPS_INIT, pkey_out, 0 },
	{ "path_mtu 0", IBV_QPS_RTR, mtu_0, 0 },
	{ "path_mtu 6", IBV_QPS_RTR, mtu_6, 0 },
	{ "min_rnr_timer 32", IBV_QPS_RTR, rnr_32, 0 },
	{ "max_dest_rd_atomic over the limit", IBV_QPS_RTR, dest_rd_out, 0 },
	{ "no GRH", IBV_QPS_RTR, no_grh, 0 },
	{ "ah_attr.port_num 2", IBV_QPS_RTR, ah_port_2, 0 },
	{ "sgid_index out of the table", IBV_QPS_RTR, sgid_out,
	  ENODATA },
	{ "sgid_index of an empty entry", IBV_QPS_RTR, sgid_empty,
	  ENODATA },
	{ "timeout 32", IBV_QPS_RTS, timeout_32, 0 },
	{ "retry_cnt 8", IBV_QPS_RTS, retry_8, 0 },
	{ "rnr_retry 8", IBV_QPS_RTS, rnr_retry_8, 0 },
	{ "max_rd_atomic over the limit", IBV_QPS_RTS, rd_out, 0 },
};

static why_t bad_value(struct vt_pair *p, const void *arg)
{
	const struct value *v = arg;
	struct ibv_qp_attr attr;
	int mask;

	TRY(bring(p, v->to - 1));
	attr = vt_attr_to(p, v->to, &mask);
	v->set(p, &attr);
	TRY(refused_as(p, &attr, mask, v->to - 1, v->also));
	return vt_go(p, v->to);
}

static void test_values(void)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		vt_runf_idle(&c, bad_value, &values[i], "RC: %s is EINVAL",
			     values[i].name);
	}
}

/* query_qp tells what was set */

#define SAME(field)							\
	CHECK(got.field == want.field, #field " is %#llx, not %#llx",	\
	      (unsigned long long)got.field, (unsigned long long)want.field)

static why_t same_init(const struct vt_ep *ep, struct ibv_qp_init_attr got)
{
	struct ibv_qp_init_attr want = {
		.send_cq = ep->scq, .recv_cq = ep->rcq,
		.qp_type = ep->conf->type, .sq_sig_all = ep->conf->sig_all,
		.cap = ep->cap,
	};

	CHECK(got.send_cq == want.send_cq && got.recv_cq == want.recv_cq,
	      "init_attr: other CQs");
	SAME(qp_type);
	SAME(sq_sig_all);
	SAME(cap.max_send_wr);
	SAME(cap.max_recv_wr);
	SAME(cap.max_send_sge);
	SAME(cap.max_recv_sge);
	SAME(cap.max_inline_data);
	return NULL;
}

static why_t same_ah(struct ibv_ah_attr got, struct ibv_ah_attr want)
{
	SAME(is_global);
	SAME(port_num);
	SAME(sl);
	SAME(grh.sgid_index);
	/* the kernel's core puts the route's in place of the one set */
	CHECK(got.grh.hop_limit, "no hop limit");
	SAME(grh.traffic_class);
	SAME(grh.flow_label);
	CHECK(!memcmp(&got.grh.dgid, &want.grh.dgid, 16), "dgid differs");
	return NULL;
}

static why_t query(struct vt_pair *p, const void *arg)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr got, want = {}, a;
	int mask;

	(void)arg;
	TRY(vt_go(p, IBV_QPS_INIT));
	TRY(vt_ep_init(&p->b));
	want = vt_attr_rtr(&p->a, p->b.qp->qp_num, 0xabcdef, &p->b.dev->gid,
			   &mask);
	want.min_rnr_timer = 17;
	want.max_dest_rd_atomic = 3;
	want.ah_attr.grh.traffic_class = 0x68;
	want.ah_attr.grh.flow_label = 0x12345;
	want.ah_attr.sl = 3;
	CHECK(!ibv_modify_qp(p->a.qp, &want, mask), "modify to RTR");
	a = vt_attr_rts(&p->a, &mask);
	want.sq_psn = a.sq_psn = 0x654321;
	want.timeout = a.timeout = 19;
	want.retry_cnt = a.retry_cnt = 5;
	want.rnr_retry = a.rnr_retry = 6;
	want.max_rd_atomic = a.max_rd_atomic = 2;
	CHECK(!ibv_modify_qp(p->a.qp, &a, mask), "modify to RTS");

	memset(&got, 0xee, sizeof(got));
	CHECK(!ibv_query_qp(p->a.qp, &got, 0x1fffff, &init), "ibv_query_qp");
	want.qp_state = want.cur_qp_state = IBV_QPS_RTS;
	want.port_num = VT_PORT;
	SAME(qp_state);
	/* users in the kernel look at it, though applications need not */
	SAME(cur_qp_state);
	SAME(port_num);
	SAME(pkey_index);
	SAME(sq_psn);
	TRY(same_init(&p->a, init));
	want.cap = p->a.cap;
	SAME(cap.max_send_wr);
	SAME(cap.max_recv_wr);
	if (p->conf.type == IBV_QPT_UD) {
		want.qkey = VT_QKEY;
		SAME(qkey);
		return NULL;
	}
	want.qp_access_flags = p->conf.qp_access;
	CHECK((got.qp_access_flags & ~IBV_ACCESS_LOCAL_WRITE) ==
	      (want.qp_access_flags & ~IBV_ACCESS_LOCAL_WRITE),
	      "qp_access_flags %#x", got.qp_access_flags);
	SAME(path_mtu);
	SAME(dest_qp_num);
	SAME(rq_psn);
	TRY(same_ah(got.ah_attr, want.ah_attr));
	if (p->conf.type == IBV_QPT_UC)
		return NULL;
	SAME(min_rnr_timer);
	SAME(max_dest_rd_atomic);
	SAME(max_rd_atomic);
	SAME(timeout);
	SAME(retry_cnt);
	SAME(rnr_retry);
	return NULL;
}

/* RESET forgets work, and the QP is as good as new. */
static why_t reset_reuse(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 100);
	struct ibv_send_wr wr = { .wr_id = 66, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };
	int i;

	(void)arg;
	for (i = 0; i < 5; i++) {
		TRY(vt_post_recv_at(&p->a, 67, 0, 200));
		if (p->conf.type == IBV_QPT_RC) {
			/* nobody receives it: it stays */
			vt_aim(&p->a, &p->b, &wr);
			TRY(vt_post_send(&p->a, &wr));
		}
		TRY(vt_ep_state(&p->a, IBV_QPS_RESET));
		TRY(vt_ep_state(&p->b, IBV_QPS_RESET));
		TRY(vt_quiet(p->a.scq, 20));
		TRY(vt_quiet(p->a.rcq, 20));
		if (p->a.ah) {
			ibv_destroy_ah(p->a.ah);
			ibv_destroy_ah(p->b.ah);
		}
		TRY(vt_connect(p));
		TRY(vt_ping(p));
		TRY(vt_ping(p));
	}
	return NULL;
}

static why_t err_flushes(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 100);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .sg_list = &sge, .num_sge = 1 };
	int i;

	(void)arg;
	vt_aim(&p->a, &p->b, &wr);
	for (i = 0; i < 20; i++) {
		TRY(vt_post_recv_at(&p->a, i, 0, 200));
		wr.wr_id = i;
		/* on RC they wait for a receive; elsewhere they'd be gone */
		if (p->conf.type == IBV_QPT_RC)
			TRY(vt_post_send(&p->a, &wr));
	}
	TRY(vt_ep_state(&p->a, IBV_QPS_ERR));
	for (i = 0; i < 20; i++) {
		TRY(vt_poll_status(p->a.rcq, i, IBV_WC_WR_FLUSH_ERR, "receive"));
		if (p->conf.type == IBV_QPT_RC)
			TRY(vt_poll_status(p->a.scq, i, IBV_WC_WR_FLUSH_ERR,
					   "send"));
	}
	TRY(vt_quiet(p->a.rcq, 50));
	TRY(vt_quiet(p->a.scq, 50));
	return vt_ep_is(&p->a, IBV_QPS_ERR);
}

static void test_type(enum ibv_qp_type type)
{
	struct vt_conf c = vt_conf(type);
	const char *t = vt_type_name(type);

	test_transitions(type);
	test_attributes(type);
	c.inline_data = 40;
	vt_runf_idle(&c, query, NULL, "%s: query_qp tells what was set", t);
	vt_runf(&c, reset_reuse, NULL, "%s: reset and use again", t);
	vt_runf(&c, err_flushes, NULL, "%s: ERR flushes both queues", t);
}

/* SQD */

static why_t to_sqd(struct vt_pair *p, int notify)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD,
				    .en_sqd_async_notify = notify };
	int mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY;

	CHECK(!ibv_modify_qp(p->a.qp, &attr, mask), "modify to SQD");
	return NULL;
}

static why_t not_draining(struct vt_pair *p)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK(!ibv_query_qp(p->a.qp, &attr, IBV_QP_STATE, &init),
	      "ibv_query_qp");
	CHECK(attr.qp_state == IBV_QPS_SQD && !attr.sq_draining,
	      "state %d, sq_draining %u", attr.qp_state, attr.sq_draining);
	return NULL;
}

/*
 * What was begun is finished, what comes later waits; back in RTS it goes on
 * without another word.
 */
static why_t drain(struct vt_pair *p, const void *arg)
{
	bool notify = arg;
	struct ibv_wc wc;
	int i, done;

	TRY(vt_post_writes(p, 0, 30, 20000));
	TRY(to_sqd(p, notify));
	if (notify)
		TRY(vt_event(p->a.dev, IBV_EVENT_SQ_DRAINED, p->a.qp, VT_LONG));
	else
		TRY(vt_no_event(p->a.dev, 1000));
	TRY(not_draining(p));
	for (done = 0; ibv_poll_cq(p->a.scq, 1, &wc) == 1; done++)
		CHECK(wc.wr_id == (uint64_t)done && !wc.status,
		      "wr %llu: %s", (unsigned long long)wc.wr_id,
		      ibv_wc_status_str(wc.status));
	TRY(vt_post_writes(p, 30, 10, 20000));
	TRY(vt_quiet(p->a.scq, VT_SHORT));
	TRY(vt_ep_state(&p->a, IBV_QPS_RTS));
	for (i = done; i < 40; i++)
		TRY(vt_poll_ok(p->a.scq, &wc, i));
	TRY(vt_quiet(p->a.scq, 50));
	return vt_ping(p);
}

/* In SQD the responder works. */
static why_t sqd_receives(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->b.buf, 0, 100);
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };
	struct ibv_wc wc;

	(void)arg;
	TRY(to_sqd(p, 0));
	TRY(vt_post_recv_at(&p->a, 2, 0, 100));
	TRY(vt_post_send(&p->b, &wr));
	TRY(vt_poll_ok(p->b.scq, &wc, 1));
	return vt_poll_ok(p->a.rcq, &wc, 2);
}

/* A drained QP can be given another timeout and so on (10.3.1.5). */
static why_t sqd_modify(struct vt_pair *p, const void *arg)
{
	struct ibv_qp_attr got, want = { .qp_state = IBV_QPS_SQD, .timeout = 20,
					 .retry_cnt = 3, .rnr_retry = 2 };
	int mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		   IBV_QP_RNR_RETRY;
	struct ibv_qp_init_attr init;

	(void)arg;
	TRY(to_sqd(p, 1));
	TRY(vt_event(p->a.dev, IBV_EVENT_SQ_DRAINED, p->a.qp, VT_LONG));
	CHECK(!ibv_modify_qp(p->a.qp, &want, mask), "modify in SQD");
	CHECK(!ibv_query_qp(p->a.qp, &got, mask, &init), "ibv_query_qp");
	SAME(qp_state);
	SAME(timeout);
	SAME(retry_cnt);
	SAME(rnr_retry);
	TRY(vt_ep_state(&p->a, IBV_QPS_RTS));
	return vt_ping(p);
}

static void test_sqd(void)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);

	vt_run("RC: SQD drains, with event", &c, drain, "notify");
	vt_run("RC: SQD drains, no event unless asked for", &c, drain, NULL);
	vt_run("RC: SQD receives", &c, sqd_receives, NULL);
	vt_run("RC: SQD takes new attributes", &c, sqd_modify, NULL);
}

/* The first message reaches a QP that is in RTR only. */
static why_t comm_est(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 100);
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };
	struct ibv_wc wc;

	(void)arg;
	TRY(vt_ep_init(&p->a));
	TRY(vt_ep_init(&p->b));
	TRY(vt_ep_rtr(&p->a, &p->b));
	TRY(vt_ep_rtr(&p->b, &p->a));
	TRY(vt_ep_rts(&p->a));
	TRY(vt_post_recv_at(&p->b, 2, 0, 100));
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	TRY(vt_poll_ok(p->b.rcq, &wc, 2));
	TRY(vt_event(p->b.dev, IBV_EVENT_COMM_EST, p->b.qp, 2000));
	TRY(vt_ep_rts(&p->b));
	return vt_ping(p);
}

/* What is in use can't be destroyed. */
static why_t busy(struct vt_pair *p, const void *arg)
{
	struct vt_dev *dev = p->a.dev;
	struct ibv_pd *pd = ibv_alloc_pd(dev->ctx);
	struct ibv_mr *mr;
	int err;

	(void)arg;
	CHECK(pd, "ibv_alloc_pd: %s", strerror(errno));
	mr = ibv_reg_mr(pd, p->a.buf.data, 64, 0);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	err = ibv_dealloc_pd(pd);
	CHECK(err == EBUSY, "dealloc PD with an MR: %d", err);
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	CHECK(!ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	err = ibv_dealloc_pd(dev->pd);
	CHECK(err == EBUSY, "dealloc PD with a QP: %d", err);
	err = ibv_destroy_cq(p->a.scq);
	CHECK(err == EBUSY, "destroy send CQ of a QP: %d", err);
	err = ibv_destroy_cq(p->a.rcq);
	CHECK(err == EBUSY, "destroy receive CQ of a QP: %d", err);
	err = ibv_destroy_comp_channel(p->a.chan);
	CHECK(err == EBUSY, "destroy channel of a CQ: %d", err);
	return vt_ping(p);
}

int main(int argc, char **argv)
{
	struct vt_conf c;

	vt_start(argc, argv);
	test_type(IBV_QPT_RC);
	test_type(IBV_QPT_UC);
	test_type(IBV_QPT_UD);
	test_values();
	test_sqd();
	c = vt_conf(IBV_QPT_RC);
	vt_run_idle("RC: COMM_EST in RTR", &c, comm_est, NULL);
	vt_run("RC: objects in use are EBUSY", &c, busy, NULL);
	return tap_finish();
}
