// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: by chaos.test.sh */
/*
 * Everything comes and goes while it is in use: connections with work under
 * way on both sides are resized, put into other states and taken apart in any
 * order, for --seconds. What the work does is of no interest here; the kernel
 * has to survive it. The devices may disappear meanwhile, and the program may
 * be killed at any time; it says how far it came.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <unistd.h>
#include "vt.h"

#define PAIRS	4
#define LEN	30000U
#define DEPTH	64

static const enum ibv_qp_type types[] = {
	IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
};

static struct vt_pair pairs[PAIRS];
static struct ibv_srq *srqs[PAIRS];
static uint64_t rnd;

static bool chance(uint32_t one_in)
{
	return vt_below(&rnd, one_in) == 0;
}

static why_t open_one(int i)
{
	struct vt_pair *p = &pairs[i];
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = DEPTH, .max_sge = 2 },
	};

	p->conf = vt_conf(types[vt_below(&rnd, ARRAY_SIZE(types))]);
	p->conf.cqe = 8 + vt_below(&rnd, 500);
	p->conf.send_wr = DEPTH;
	p->conf.recv_wr = DEPTH;
	p->conf.timeout = 10;
	p->conf.retry = vt_below(&rnd, 8);
	p->conf.min_rnr = 1 + vt_below(&rnd, 12);
	if (p->conf.type != IBV_QPT_UC && chance(2)) {
		srqs[i] = ibv_create_srq(vt_devs[1].pd, &init);
		CHECK(srqs[i], "ibv_create_srq: %s", strerror(errno));
		p->conf.srq[1] = srqs[i];
	}
	TRY(vt_ep_open(&p->a, &vt_devs[0], &p->conf));
	TRY(vt_ep_open(&p->b, &vt_devs[1], &p->conf));
	ibv_req_notify_cq(p->a.scq, 0);
	ibv_req_notify_cq(p->b.rcq, 0);
	return vt_connect(p);
}

static void destroy_qp(struct vt_ep *ep)
{
	if (ep->qp && !ibv_destroy_qp(ep->qp))
		ep->qp = NULL;
}

static void destroy_ah(struct vt_ep *ep)
{
	if (ep->ah && !ibv_destroy_ah(ep->ah))
		ep->ah = NULL;
}

static void dereg(struct vt_ep *ep)
{
	if (ep->buf.mr && !ibv_dereg_mr(ep->buf.mr))
		ep->buf.mr = NULL;
}

static void close_one(int i)
{
	struct vt_pair *p = &pairs[i];

	vt_ep_close(&p->a);
	vt_ep_close(&p->b);
	if (srqs[i])
		ibv_destroy_srq(srqs[i]);
	srqs[i] = NULL;
}

static enum ibv_wr_opcode any_opcode(enum ibv_qp_type type)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};

	return ops[vt_below(&rnd, type == IBV_QPT_UD ? 2 :
				  type == IBV_QPT_UC ? 4 : 6)];
}

/* Refusals are fine: the queue may be full, the QP in another state. */
static void post_some(struct vt_ep *from, struct vt_ep *to)
{
	struct ibv_send_wr wr = { .num_sge = 1 };
	uint32_t n = 1 + vt_below(&rnd, DEPTH);
	struct ibv_sge sge;

	while (n--) {
		if (chance(2) && to->buf.mr && to->qp)
			vt_post_recv_at(to, n, 0, LEN);
		if (!from->qp || !to->qp || !from->buf.mr || !to->buf.mr)
			return;
		wr.opcode = any_opcode(from->conf->type);
		wr.send_flags = chance(3) ? 0 : IBV_SEND_SIGNALED;
		if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
			sge = vt_sge(&from->buf, 0, 8);
		else if (from->conf->type == IBV_QPT_UD)
			sge = vt_sge(&from->buf, 0, vt_below(&rnd, 1024));
		else
			sge = vt_sge(&from->buf, 0, vt_below(&rnd, LEN));
		wr.sg_list = &sge;
		vt_aim(from, to, &wr);
		if (from->conf->type == IBV_QPT_UD && !from->ah)
			return;
		if (vt_post_send(from, &wr))
			return;
	}
}

static void drain(struct vt_ep *ep)
{
	struct ibv_wc wc[32];
	int n = 10;

	while (n-- && ibv_poll_cq(ep->scq, ARRAY_SIZE(wc), wc) > 0)
		;
	while (n-- > 0 && ibv_poll_cq(ep->rcq, ARRAY_SIZE(wc), wc) > 0)
		;
	if (ep->qp && chance(2))
		ibv_req_notify_cq(ep->rcq, 0);
}

static void reconnect(struct vt_pair *p)
{
	destroy_ah(&p->a);
	destroy_ah(&p->b);
	if (!p->a.qp || !p->b.qp || p->a.ah || p->b.ah ||
	    vt_ep_state(&p->a, IBV_QPS_RESET) ||
	    vt_ep_state(&p->b, IBV_QPS_RESET))
		return;
	vt_connect(p);
}

/*
 * The provider unmaps a ring, then maps the new one, and if the device has gone in
 * between it has none, and looks for it all the same when it is polled or posted to.
 */
static bool lost_ring(int err)
{
	return err && err != EINVAL;
}

/* One blow to one connection, chosen by the seed. */
static void blow(int i)
{
	struct vt_pair *p = &pairs[i];
	struct vt_ep *ep = chance(2) ? &p->a : &p->b;
	struct ibv_srq_attr attr = { .max_wr = 1 + vt_below(&rnd, 300),
				     .srq_limit = vt_below(&rnd, 40) };

	switch (vt_below(&rnd, 12)) {
	case 0:
		if (ep->qp)
			vt_ep_state(ep, IBV_QPS_ERR);
		break;
	case 1:
		if (ep->qp)
			vt_ep_state(ep, IBV_QPS_SQD);
		break;
	case 2:
	case 3:
		reconnect(p);
		break;
	case 4:
		destroy_qp(ep);
		break;
	case 5:
		dereg(ep);
		break;
	case 6:
		destroy_ah(ep);
		break;
	case 7:
	case 8:
		if (lost_ring(ibv_resize_cq(chance(2) ? ep->scq : ep->rcq,
					    1 + vt_below(&rnd, 600))))
			close_one(i);
		break;
	case 9:
		if (srqs[i] && lost_ring(ibv_modify_srq(srqs[i], &attr,
							IBV_SRQ_MAX_WR)))
			close_one(i);
		break;
	case 10:
		if (srqs[i])
			ibv_modify_srq(srqs[i], &attr, IBV_SRQ_LIMIT);
		break;
	default:
		close_one(i);
		break;
	}
}

/* Either end's device may be gone: then nothing can be made any more. */
static bool round_of(int i)
{
	struct vt_pair *p = &pairs[i];

	if (!p->a.scq && open_one(i)) {
		close_one(i);
		return false;
	}
	post_some(&p->a, &p->b);
	post_some(&p->b, &p->a);
	if (chance(2)) {
		drain(&p->a);
		drain(&p->b);
	}
	blow(i);
	return true;
}

int main(int argc, char **argv)
{
	unsigned long rounds = 0, refused = 0;
	uint64_t end;
	int i;

	vt_args(argc, argv);
	rnd = vt_opts.seed;
	vt_open();
	end = vt_now_us() + vt_opts.seconds * 1000000ULL;
	while (vt_now_us() < end && refused < 100) {
		if (round_of(vt_below(&rnd, PAIRS)))
			rounds++;
		else
			refused++;
		vt_drop_events();
	}
	for (i = 0; i < PAIRS; i++)
		close_one(i);
	tap_note("%lu rounds, %lu refused", rounds, refused);
	tap_report(rounds ? NULL : "no round came to its end",
		   "churn with seed %llu", (unsigned long long)vt_opts.seed);
	return tap_finish();
}
