// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Endpoints: a queue pair with what it needs, alone or connected in pairs. */

#define _GNU_SOURCE
#include <stdarg.h>
#include "vt.h"

/* An ordinary QP: generous limits, everything allowed. */
struct vt_conf vt_conf(enum ibv_qp_type type)
{
	struct vt_conf conf = {
		.type = type,
		.mtu = vt_max_mtu(),
		.send_wr = 64, .recv_wr = 64,
		.send_sge = 4, .recv_sge = 4,
		.cqe = 256,
		.buf = 65536,
		.mr_access = VT_ALL_ACCESS,
		.qp_access = VT_ALL_ACCESS,
		.timeout = 17, .retry = 7, .rnr_retry = 7, .min_rnr = 12,
		.rd = 4, .dest_rd = 4,
	};

	return conf;
}

const char *vt_type_name(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return "RC";
	case IBV_QPT_UC:
		return "UC";
	case IBV_QPT_UD:
		return "UD";
	default:
		return "?";
	}
}

static struct ibv_qp *create_extended(struct vt_ep *ep,
				      const struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr_ex ex = {
		.send_cq = init->send_cq,
		.recv_cq = init->recv_cq,
		.srq = init->srq,
		.cap = init->cap,
		.qp_type = init->qp_type,
		.sq_sig_all = init->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = ep->dev->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND |
				  IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_RDMA_READ |
				  IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};

	return ibv_create_qp_ex(ep->dev->ctx, &ex);
}

static why_t create_qp(struct vt_ep *ep)
{
	const struct vt_conf *c = ep->conf;
	struct ibv_qp_init_attr init = {
		.send_cq = ep->scq,
		.recv_cq = ep->rcq,
		.srq = c->srq[ep->dev != &vt_devs[0]],
		.cap = {
			.max_send_wr = c->send_wr,
			.max_recv_wr = c->recv_wr,
			.max_send_sge = c->send_sge,
			.max_recv_sge = c->recv_sge,
			.max_inline_data = c->inline_data,
		},
		.qp_type = c->type,
		.sq_sig_all = c->sig_all,
	};

	if (c->extended)
		ep->qp = create_extended(ep, &init);
	else
		ep->qp = ibv_create_qp(ep->dev->pd, &init);
	CHECK(ep->qp, "ibv_create_qp: %s", strerror(errno));
	ep->cap = init.cap;
	if (c->extended || c->srq[0] || c->srq[1])
		return NULL;
	CHECK(init.cap.max_send_wr >= c->send_wr &&
	      init.cap.max_recv_wr >= c->recv_wr &&
	      init.cap.max_send_sge >= c->send_sge &&
	      init.cap.max_recv_sge >= c->recv_sge &&
	      init.cap.max_inline_data >= c->inline_data,
	      "capabilities smaller than asked for");
	return NULL;
}

why_t vt_ep_open(struct vt_ep *ep, struct vt_dev *dev,
		 const struct vt_conf *conf)
{
	static uint64_t psn_state = 77;

	memset(ep, 0, sizeof(*ep));
	ep->dev = dev;
	ep->conf = conf;
	/* close below the wrap, so that every longer case crosses it */
	ep->psn = 0xffffff - vt_below(&psn_state, 40);
	ep->chan = ibv_create_comp_channel(dev->ctx);
	CHECK(ep->chan, "ibv_create_comp_channel: %s", strerror(errno));
	ep->scq = ibv_create_cq(dev->ctx, conf->cqe, NULL, ep->chan, 0);
	ep->rcq = ibv_create_cq(dev->ctx, conf->cqe, NULL, ep->chan, 0);
	CHECK(ep->scq && ep->rcq, "ibv_create_cq: %s", strerror(errno));
	TRY(vt_buf_open(&ep->buf, dev->pd, conf->buf, conf->mr_access));
	return create_qp(ep);
}

why_t vt_ep_close(struct vt_ep *ep)
{
	why_t why = NULL;

	if (ep->qp && ibv_destroy_qp(ep->qp))
		why = because("ibv_destroy_qp: %s", strerror(errno));
	if (ep->ah && ibv_destroy_ah(ep->ah))
		why = because("ibv_destroy_ah: %s", strerror(errno));
	if (ep->scq && ibv_destroy_cq(ep->scq))
		why = because("ibv_destroy_cq: %s", strerror(errno));
	if (ep->rcq && ibv_destroy_cq(ep->rcq))
		why = because("ibv_destroy_cq: %s", strerror(errno));
	if (ep->chan && ibv_destroy_comp_channel(ep->chan))
		why = because("ibv_destroy_comp_channel: %s",
			      strerror(errno));
	if (!why && ep->buf.map)
		why = vt_buf_guards(&ep->buf);
	vt_buf_close(&ep->buf);
	memset(ep, 0, sizeof(*ep));
	return why;
}

struct ibv_qp_attr vt_attr_init(const struct vt_ep *ep, int *mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = 0,
		.port_num = VT_PORT,
		.qkey = VT_QKEY,
		.qp_access_flags = ep->conf->qp_access,
	};

	*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	*mask |= ep->conf->type == IBV_QPT_UD ? IBV_QP_QKEY :
						IBV_QP_ACCESS_FLAGS;
	return attr;
}

struct ibv_qp_attr vt_attr_rtr(const struct vt_ep *ep, uint32_t qpn,
			       uint32_t psn, const union ibv_gid *gid, int *mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = ep->conf->mtu,
		.dest_qp_num = qpn,
		.rq_psn = psn,
		.max_dest_rd_atomic = ep->conf->dest_rd,
		.min_rnr_timer = ep->conf->min_rnr,
		.ah_attr = {
			.is_global = 1,
			.port_num = VT_PORT,
			.grh = {
				.dgid = *gid,
				.sgid_index = ep->dev->gid_index,
				.hop_limit = 64,
			},
		},
	};

	*mask = IBV_QP_STATE;
	if (ep->conf->type == IBV_QPT_UD)
		return attr;
	*mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (ep->conf->type == IBV_QPT_RC)
		*mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return attr;
}

struct ibv_qp_attr vt_attr_rts(const struct vt_ep *ep, int *mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = ep->psn,
		.max_rd_atomic = ep->conf->rd,
		.timeout = ep->conf->timeout,
		.retry_cnt = ep->conf->retry,
		.rnr_retry = ep->conf->rnr_retry,
	};

	*mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (ep->conf->type == IBV_QPT_RC)
		*mask |= IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT |
			 IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
	return attr;
}

const char *const vt_state_names[] = {
	"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR",
};

static why_t modify(struct vt_ep *ep, struct ibv_qp_attr attr, int mask)
{
	int err = ibv_modify_qp(ep->qp, &attr, mask);

	CHECK(!err, "modify to %s: %s", vt_state_names[attr.qp_state],
	      strerror(err));
	return NULL;
}

why_t vt_ep_init(struct vt_ep *ep)
{
	int mask;
	struct ibv_qp_attr attr = vt_attr_init(ep, &mask);

	return modify(ep, attr, mask);
}

why_t vt_ep_rtr(struct vt_ep *ep, const struct vt_ep *peer)
{
	struct ibv_qp_attr attr;
	int mask, err, tries = 5;

	vt_enter_netns(ep->dev);
	attr = vt_attr_rtr(ep, peer->qp->qp_num, peer->psn, &peer->dev->gid,
			   &mask);
	/*
	 * The kernel gives a neighbour one second. That is too short for the first
	 * solicitation to be lost, as on a link that was down just before.
	 */
	do
		err = ibv_modify_qp(ep->qp, &attr, mask);
	while (err == ETIMEDOUT && tries--);
	CHECK(!err, "modify to RTR: %s", strerror(err));
	return NULL;
}

why_t vt_ep_rts(struct vt_ep *ep)
{
	int mask;
	struct ibv_qp_attr attr = vt_attr_rts(ep, &mask);

	return modify(ep, attr, mask);
}

why_t vt_ep_ah(struct vt_ep *ep, const union ibv_gid *dgid)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = VT_PORT,
		.grh = {
			.dgid = *dgid,
			.sgid_index = ep->dev->gid_index,
			.hop_limit = 64,
		},
	};

	vt_enter_netns(ep->dev);
	ep->ah = ibv_create_ah(ep->dev->pd, &attr);
	CHECK(ep->ah, "ibv_create_ah: %s", strerror(errno));
	return NULL;
}

why_t vt_ep_state(struct vt_ep *ep, enum ibv_qp_state to)
{
	return modify(ep, (struct ibv_qp_attr){ .qp_state = to }, IBV_QP_STATE);
}

why_t vt_ep_is(struct vt_ep *ep, enum ibv_qp_state want)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int err = ibv_query_qp(ep->qp, &attr, IBV_QP_STATE, &init);

	CHECK(!err, "ibv_query_qp: %s", strerror(err));
	CHECK(attr.qp_state == want, "QP of %s is in state %d, not %d",
	      ep->dev == &vt_devs[0] ? "A" : "B", attr.qp_state, want);
	return NULL;
}

/* The attributes with which A's QP goes to a state */
struct ibv_qp_attr vt_attr_to(const struct vt_pair *p, enum ibv_qp_state to,
			      int *mask)
{
	struct ibv_qp_attr attr = { .qp_state = to };

	*mask = IBV_QP_STATE;
	if (to == IBV_QPS_INIT)
		return vt_attr_init(&p->a, mask);
	if (to == IBV_QPS_RTR)
		return vt_attr_rtr(&p->a, p->b.qp->qp_num, p->b.psn,
				   &p->b.dev->gid, mask);
	if (to == IBV_QPS_RTS)
		return vt_attr_rts(&p->a, mask);
	return attr;
}

/* Take A's QP to a state by one transition. */
why_t vt_go(struct vt_pair *p, enum ibv_qp_state to)
{
	int mask;
	struct ibv_qp_attr attr = vt_attr_to(p, to, &mask);

	TRY(modify(&p->a, attr, mask));
	return vt_ep_is(&p->a, to);
}

/* Take A's QP from RESET to a state by the usual way. */
why_t vt_bring(struct vt_pair *p, enum ibv_qp_state to)
{
	int s;

	if (to == IBV_QPS_ERR) {
		TRY(vt_go(p, IBV_QPS_INIT));
		return vt_go(p, IBV_QPS_ERR);
	}
	for (s = IBV_QPS_INIT; s <= (int)to; s++)
		TRY(vt_go(p, s));
	return NULL;
}

why_t vt_connect(struct vt_pair *p)
{
	TRY(vt_ep_init(&p->a));
	TRY(vt_ep_init(&p->b));
	TRY(vt_ep_rtr(&p->a, &p->b));
	TRY(vt_ep_rtr(&p->b, &p->a));
	TRY(vt_ep_rts(&p->a));
	TRY(vt_ep_rts(&p->b));
	if (p->conf.type != IBV_QPT_UD)
		return NULL;
	TRY(vt_ep_ah(&p->a, &p->b.dev->gid));
	return vt_ep_ah(&p->b, &p->a.dev->gid);
}

/* Fresh endpoints; after an error, too, they want vt_pair_end(). */
why_t vt_pair_open(struct vt_pair *p, const struct vt_conf *conf)
{
	*p = (struct vt_pair){ .conf = *conf };
	TRY(vt_ep_open(&p->a, &vt_devs[0], &p->conf));
	return vt_ep_open(&p->b, &vt_devs[1], &p->conf);
}

/* Close both after a test that ended with @why, and say what failed first. */
why_t vt_pair_end(struct vt_pair *p, why_t why)
{
	why_t closing;

	/* closing may have a reason of its own in the same place */
	if (why)
		why = strdupa(why);
	closing = vt_ep_close(&p->a);
	if (!why && closing)
		why = strdupa(closing);
	closing = vt_ep_close(&p->b);
	if (!why)
		why = closing;
	return why ? because("%s", why) : NULL;
}

/* A case on a fresh pair of endpoints; all of it has to end well. */
why_t vt_attempt(const struct vt_conf *conf, vt_case fn, const void *arg,
		 bool connect)
{
	struct vt_pair p;
	why_t why;

	vt_drop_events();
	why = vt_pair_open(&p, conf);
	if (!why && connect)
		why = vt_connect(&p);
	if (!why)
		why = fn(&p, arg);
	vt_drop_events();
	return vt_pair_end(&p, why);
}

static void run(const char *name, const struct vt_conf *conf, vt_case fn,
		const void *arg, bool connect)
{
	if (vt_wanted(name))
		tap_report(vt_attempt(conf, fn, arg, connect), "%s", name);
}

/* Run a case on a fresh, connected pair of endpoints and report it. */
void vt_run(const char *name, const struct vt_conf *conf, vt_case fn,
	    const void *arg)
{
	run(name, conf, fn, arg, true);
}

/* The same with the QPs left in RESET. */
void vt_run_idle(const char *name, const struct vt_conf *conf, vt_case fn,
		 const void *arg)
{
	run(name, conf, fn, arg, false);
}

static void run_named(const struct vt_conf *conf, vt_case fn, const void *arg,
		      bool connect, const char *fmt, va_list ap)
{
	char name[256];

	vsnprintf(name, sizeof(name), fmt, ap);
	run(name, conf, fn, arg, connect);
}

/* As vt_run(), with a name that is put together. */
void vt_runf(const struct vt_conf *conf, vt_case fn, const void *arg,
	     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	run_named(conf, fn, arg, true, fmt, ap);
	va_end(ap);
}

/* As vt_run_idle(), with a name that is put together. */
void vt_runf_idle(const struct vt_conf *conf, vt_case fn, const void *arg,
		  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	run_named(conf, fn, arg, false, fmt, ap);
	va_end(ap);
}

void vt_run_all(const struct vt_conf *conf, const struct vt_test *tests,
		size_t num)
{
	for (size_t i = 0; i < num; i++)
		vt_run(tests[i].name, conf, tests[i].fn, tests[i].arg);
}

/*
 * All of a program whose cases run on connected RC QPs with buffers of @buf
 * bytes. Return the exit status.
 */
int vt_main(int argc, char **argv, size_t buf, const struct vt_test *tests,
	    size_t num)
{
	struct vt_conf c;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	c.buf = buf;
	vt_run_all(&c, tests, num);
	return tap_finish();
}
