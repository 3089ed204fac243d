// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Messages from A to B with the memory of both, and what must come of them. */

#include <string.h>
#include "xfer.h"

const u32 xfer_rc_ops[10] = {
	IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_SEND_WITH_INV, IB_WR_RDMA_WRITE,
	IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ, IB_WR_ATOMIC_CMP_AND_SWP,
	IB_WR_ATOMIC_FETCH_AND_ADD, SROCE_WR_ATOMIC_WRITE, SROCE_WR_FLUSH,
};

static const struct {
	const char	*name;
	bool		recvs;
	u8		wc;
} ops[] = {
	[IB_WR_SEND] = { "SEND", true, IB_WC_SEND },
	[IB_WR_SEND_WITH_IMM] = { "SEND imm", true, IB_WC_SEND },
	[IB_WR_SEND_WITH_INV] = { "SEND inv", true, IB_WC_SEND },
	[IB_WR_RDMA_WRITE] = { "WRITE", false, IB_WC_RDMA_WRITE },
	[IB_WR_RDMA_WRITE_WITH_IMM] = { "WRITE imm", true, IB_WC_RDMA_WRITE },
	[IB_WR_RDMA_READ] = { "READ", false, IB_WC_RDMA_READ },
	[IB_WR_ATOMIC_CMP_AND_SWP] = { "CMP_SWP", false, IB_WC_COMP_SWAP },
	[IB_WR_ATOMIC_FETCH_AND_ADD] = { "FETCH_ADD", false, IB_WC_FETCH_ADD },
	[SROCE_WR_FLUSH] = { "FLUSH", false, SROCE_WC_FLUSH },
	[SROCE_WR_ATOMIC_WRITE] = { "ATOMIC WRITE", false, SROCE_WC_ATOMIC_WRITE },
};

const char *xfer_name(u32 opcode)
{
	return ops[opcode].name;
}

const char *xfer_type_name(enum ib_qp_type type)
{
	return type == IB_QPT_RC ? "RC" : type == IB_QPT_UC ? "UC" : "UD";
}

bool xfer_recvs(u32 opcode)
{
	return ops[opcode].recvs;
}

static bool is_send(u32 opcode)
{
	return ops[opcode].wc == IB_WC_SEND;
}

static bool is_atomic(u32 opcode)
{
	return opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

/* What works on eight bytes, whatever the length wanted */
static bool is_eight(u32 opcode)
{
	return is_atomic(opcode) || opcode == SROCE_WR_ATOMIC_WRITE;
}

void xfers_init(struct xfers *t, const struct sim_cfg *cfg, u32 size, u32 chunk)
{
	memset(t, 0, sizeof(*t));
	t->s = sim_new(cfg);
	t->a = sim_buf_new(t->s, XFER_IOVA_A, size, chunk,
			   IB_ACCESS_LOCAL_WRITE);
	t->b = sim_buf_new(t->s, XFER_IOVA_B, size, chunk,
			   IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			   IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
			   SROCE_ACCESS_FLUSH_GLOBAL);
}

void xfers_init_type(struct xfers *t, enum ib_qp_type type)
{
	struct sim_cfg cfg = sim_default;

	cfg.type = type;
	xfers_init(t, &cfg, 65536, 4096);
}

void xfers_end(struct xfers *t)
{
	sim_end(t->s);
}

/* The bytes of a message as three pieces, or two, or one */
static u32 cut(struct ib_sge *sge, const struct sim_buf *b, u64 off, u32 len)
{
	u32 first = len / 3, second = len ? (len - 1) / 2 : 0;

	if (len < 3) {
		sge[0] = sim_sge(b, off, len);
		return 1;
	}
	sge[0] = sim_sge(b, off, first);
	sge[1] = sim_sge(b, off + first, second);
	sge[2] = sim_sge(b, off + first + second, len - first - second);
	return 3;
}

void xfer_put_other(struct xfers *t, u32 opcode, u64 wr_id, struct sim_buf *local,
		    const struct sroce_mr *remote, u32 len)
{
	struct sim_wr wr = { .opcode = opcode, .wr_id = wr_id, .flags = IB_SEND_SIGNALED,
			     .num_sge = 1, .sge = { sim_sge(local, 0, len) } };

	wr.remote_addr = remote->iova;
	wr.rkey = remote->key;
	sim_put_send(&t->s->a, &wr);
}

/* Receive work requests have the number of their message plus 1000. */
void xfer_recv(struct xfers *t, u32 i)
{
	u32 grh = t->s->b.qp.svc == SROCE_SVC_UD ? SROCE_GRH_LEN : 0;
	const struct xfer *x = &t->x[i];
	struct ib_sge sge[3];
	u32 n = 0;

	if (is_send(x->opcode))
		n = cut(sge, t->b, x->off, grh + x->len);
	sim_put_recv(&t->s->b, 1000 + i, sge, n);
}

static void set_values(struct xfers *t, struct xfer *x, struct sim_wr *wr,
		       u32 i)
{
	x->before = 0x1122334455667788ULL * (i + 1);
	x->add = 0x0101010101ULL + i;
	sim_put64(t->b, x->off, x->before);
	if (x->opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
		wr->compare_add = x->before;
		wr->swap = x->before + x->add;
	} else {
		wr->compare_add = x->add;
	}
}

/* Of a range, or of all, whatever the range is */
static void set_flush(struct sim_wr *wr, const struct xfer *x)
{
	wr->length = x->len;
	wr->type = SROCE_FLUSH_GLOBAL;
	wr->level = x->len & 1 ? SROCE_FLUSH_REGION : SROCE_FLUSH_RANGE;
}

/* The memory of the next message, filled; and its work request */
struct sim_wr xfer_make(struct xfers *t, u32 opcode, u32 len)
{
	u32 i = t->n++, grh = 0;
	struct xfer *x = &t->x[i];
	struct sim_wr wr = {
		.wr_id = i, .opcode = opcode, .flags = IB_SEND_SIGNALED,
		.ex = 0xabc00000 + i,
	};

	if (t->s->b.qp.svc == SROCE_SVC_UD)
		grh = SROCE_GRH_LEN;
	x->opcode = opcode;
	x->len = is_eight(opcode) ? 8 : len;
	x->off = t->off;
	t->off = (t->off + grh + x->len + XFER_GAP + 7) & ~7ULL;
	CHECK(t->off <= t->a->mr.length);
	if (is_atomic(opcode))
		set_values(t, x, &wr, i);
	else if (opcode != SROCE_WR_FLUSH)
		sim_fill(opcode == IB_WR_RDMA_READ ? t->b : t->a, x->off,
			 x->len, i);
	if (opcode != SROCE_WR_FLUSH)
		wr.num_sge = cut(wr.sge, t->a, x->off, x->len);
	else
		set_flush(&wr, x);
	wr.remote_addr = t->b->mr.iova + x->off;
	wr.rkey = t->b->mr.key;
	wr.ah = 0;
	wr.remote_qpn = t->s->b.qp.qpn;
	wr.remote_qkey = t->s->b.qp.attr.qkey;
	if (t->s->b.qp.svc == SROCE_SVC_UD) {
		wr.rkey = 0;
		wr.remote_addr = 0;
	}
	return wr;
}

void xfer_put(struct xfers *t, u32 opcode, u32 len)
{
	struct sim_wr wr = xfer_make(t, opcode, len);

	if (xfer_recvs(opcode))
		xfer_recv(t, t->n - 1);
	sim_put_send(&t->s->a, &wr);
}

static void check_data(const struct xfers *t, u32 i)
{
	const struct xfer *x = &t->x[i];
	u64 end = i + 1 < t->n ? t->x[i + 1].off : t->off;
	u32 grh = t->s->b.qp.svc == SROCE_SVC_UD ? SROCE_GRH_LEN : 0;

	if (is_atomic(x->opcode)) {
		CHECK_EQ(sim_get64(t->b, x->off), x->before + x->add);
		CHECK_EQ(sim_get64(t->a, x->off), x->before);
	} else if (x->opcode == SROCE_WR_FLUSH) {
		CHECK(sim_untouched(t->a, x->off, end));
		CHECK(sim_untouched(t->b, x->off, end));
	} else {
		CHECK(sim_filled(t->a, x->off, x->len, i));
		CHECK(sim_filled(t->b, x->off + grh, x->len, i));
	}
	CHECK(sim_untouched(t->a, x->off + x->len, end));
	CHECK(sim_untouched(t->b, x->off + grh + x->len, end));
}

void xfers_check_data(const struct xfers *t, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		check_data(t, i);
}

static void check_recv(const struct xfers *t, const struct sroce_cqe *e, u32 i)
{
	const struct xfer *x = &t->x[i];
	bool ud = t->s->b.qp.svc == SROCE_SVC_UD;
	int flags = ud ? IB_WC_GRH : 0;

	CHECK_EQ(e->wr_id, 1000 + i);
	CHECK_EQ(e->status, IB_WC_SUCCESS);
	CHECK_EQ(e->opcode, is_send(x->opcode) ? IB_WC_RECV :
		 IB_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(e->byte_len, x->len + (ud ? SROCE_GRH_LEN : 0));
	CHECK_EQ(e->src_qp, t->s->a.qp.qpn);
	if (x->opcode == IB_WR_SEND_WITH_INV) {
		flags |= IB_WC_WITH_INVALIDATE;
		CHECK_EQ(e->inv_rkey, 0xabc00000 + i);
	} else if (x->opcode != IB_WR_SEND) {
		flags |= IB_WC_WITH_IMM;
		CHECK_EQ((u32)e->imm, 0xabc00000 + i);
	}
	CHECK_EQ(e->wc_flags, flags);
}

void xfers_check(const struct xfers *t)
{
	const struct sroce_cq *scq = &t->s->a.scq, *rcq = &t->s->b.rcq;
	u32 i, recvs = 0;

	CHECK_EQ(scq->n, t->n);
	for (i = 0; i < t->n && i < scq->n; i++) {
		CHECK_EQ(scq->e[i].wr_id, i);
		CHECK_EQ(scq->e[i].status, IB_WC_SUCCESS);
		CHECK_EQ(scq->e[i].opcode, ops[t->x[i].opcode].wc);
		if (xfer_recvs(t->x[i].opcode) && recvs < rcq->n)
			check_recv(t, &rcq->e[recvs], i);
		recvs += xfer_recvs(t->x[i].opcode);
	}
	CHECK_EQ(rcq->n, recvs);
	CHECK_EQ(t->s->a.qp.state, IB_QPS_RTS);
	CHECK_EQ(t->s->b.qp.state, IB_QPS_RTS);
	CHECK(sroce_sq_sched_idle(&t->s->a.qp));
	xfers_check_data(t, t->n);
}

void xfers_put_each(struct xfers *t, u32 len)
{
	u32 i;

	for (i = 0; i < 8; i++)
		xfer_put(t, xfer_rc_ops[i], len);
}

void xfers_run(struct xfers *t)
{
	sim_doorbell(&t->s->a);
	sim_run(t->s);
}

void xfers_run_check(struct xfers *t)
{
	xfers_run(t);
	xfers_check(t);
}

struct sim_wr xfer_flush(const struct xfers *t, u64 off, u32 len)
{
	return (struct sim_wr){
		.opcode = SROCE_WR_FLUSH, .flags = IB_SEND_SIGNALED,
		.remote_addr = t->b->mr.iova + off, .rkey = t->b->mr.key,
		.length = len, .type = SROCE_FLUSH_GLOBAL,
	};
}

enum ib_wc_status xfers_post(struct xfers *t, const struct sim_wr *wr)
{
	const struct sroce_cq *cq = &t->s->a.scq;
	u32 n = cq->n;

	sim_put_send(&t->s->a, wr);
	xfers_run(t);
	CHECK_EQ(cq->n, n + 1);
	if (cq->n != n + 1)
		return IB_WC_WR_FLUSH_ERR;
	if (cq->e[n].status == IB_WC_SUCCESS)
		CHECK_EQ(cq->e[n].opcode, ops[wr->opcode].wc);
	return cq->e[n].status;
}

void xfers_put_writes(struct xfers *t, u32 n)
{
	while (n--)
		xfer_put(t, IB_WR_RDMA_WRITE, 2000);
}

void xfers_check_failed(const struct xfers *t, u32 at, enum ib_wc_status status)
{
	const struct sroce_cq *cq = &t->s->a.scq;
	u32 i;

	CHECK_EQ(cq->n, t->n);
	for (i = 0; i < cq->n && i < t->n; i++) {
		CHECK_EQ(cq->e[i].wr_id, i);
		CHECK_EQ(cq->e[i].status, i < at ? IB_WC_SUCCESS : i == at ?
			 status : IB_WC_WR_FLUSH_ERR);
	}
	CHECK_EQ(t->s->a.qp.state, IB_QPS_ERR);
	CHECK_EQ(sim_count(&t->s->a, SROCE_CNT_WC_ERROR), 1);
	CHECK_EQ(sim_count(&t->s->a, SROCE_CNT_WC_FLUSH), t->n - at - 1);
	xfers_check_data(t, at);
}

void xfers_forge(struct xfers *t, struct sroce_pkt *p, const void *data)
{
	p->qpn = t->s->b.qp.qpn;
	if (!p->pkey)
		p->pkey = 0xffff;
	if (!p->psn)
		p->psn = t->s->b.qp.resp.psn;
	sim_deliver(t->s, sim_forge(&t->s->a, p, data));
}

int xfer_lose(struct sim *s, struct sim_packet *p)
{
	struct xfer_loss *l = s->arg;
	u32 i;

	if (p->from != (l->responses ? &s->b : &s->a))
		return 1;
	for (i = 0; i < ARRAY_SIZE(l->p); i++)
		if (l->p[i].times && l->p[i].psn == sim_psn(p))
			return l->p[i].seen++ >= l->p[i].times;
	return 1;
}

void xfers_init_odp(struct xfers *t, int whose, bool local)
{
	xfers_init(t, NULL, XFER_ODP_SIZE, 5000);
	t->s->page_delay = XFER_ODP_DELAY;
	t->s->loopback = local;
	if (whose & XFER_LOCAL)
		sim_buf_on_demand(t->a);
	if (whose & XFER_REMOTE)
		sim_buf_on_demand(t->b);
}

void xfers_until_sent(struct xfers *t)
{
	sim_doorbell(&t->s->a);
	while (!t->s->wire_head && sim_step(t->s))
		;
}

void xfers_finish(struct xfers *t)
{
	xfers_run_check(t);
	CHECK_EQ(t->s->a.qp.state, IB_QPS_RTS);
	CHECK_EQ(t->s->b.qp.state, IB_QPS_RTS);
	xfers_end(t);
}
