// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* How a receive work request may complete, and which message it received */

#include "world.h"

static bool is_rc(const struct world *w)
{
	return w->sc->cfg.type == IB_QPT_RC;
}

/**
 * receive_is() - whether a part of a receive's memory has the bytes given
 * @pool: whose receive it is
 * @rx: the receive
 * @from: first byte, of all pieces in a row
 * @len: bytes
 * @a: what each may be of, the first byte of the pattern standing at @from
 * @c: or this
 */
bool receive_is(const struct host_run *pool, const struct recv_run *rx,
		u32 from, u32 len, u32 a, u32 c)
{
	u32 i, at = 0;

	for (i = 0; i < rx->npieces && len; i++) {
		const struct piece *p = &rx->cut[i];
		u32 n;

		if (from >= p->len) {
			from -= p->len;
			continue;
		}
		n = p->len - from < len ? p->len - from : len;
		if (!bytes_are(pool->recv.buf, p->off + from, n, at, a, c))
			return false;
		from = 0;
		at += n;
		len -= n;
	}
	return !len;
}

static u8 byte_at(const struct host_run *pool, const struct recv_run *rx,
		  u32 at)
{
	u32 i = 0;

	while (at >= rx->cut[i].len)
		at -= rx->cut[i++].len;
	return *sim_byte(pool->recv.buf, rx->cut[i].off + at);
}

static void reuse(struct host_run *pool, struct recv_run *rx)
{
	u32 i;

	if (pool->recv.frozen)
		return;
	for (i = 0; i < rx->npieces; i++)
		bytes_set(&pool->recv, rx->cut[i].off, rx->cut[i].len, 0,
			  BYTES_SCRAMBLED);
	rx->scrambled = true;
}

/* Opcode, length and immediate data of a completion are those of a message. */
static bool heads_match(struct world *w, const struct op_run *run,
			const struct sroce_cqe *cqe)
{
	u32 op = run->op->opcode, flags = 0;

	if (cqe->opcode != (sc_is_write(op) ? IB_WC_RECV_RDMA_WITH_IMM :
					      IB_WC_RECV) ||
	    cqe->byte_len != run->op->len + sc_grh(w->sc))
		return false;
	if (op == IB_WR_SEND_WITH_IMM || op == IB_WR_RDMA_WRITE_WITH_IMM)
		flags = IB_WC_WITH_IMM;
	if (op == IB_WR_SEND_WITH_INV)
		flags = IB_WC_WITH_INVALIDATE;
	if ((cqe->wc_flags & (IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE)) !=
	    (int)flags)
		return false;
	if (flags & IB_WC_WITH_IMM && (u32)cqe->imm != run->ex)
		return false;
	return !(flags & IB_WC_WITH_INVALIDATE) ||
	       cqe->inv_rkey == run->ex;
}

static bool grh_is(struct world *w, const struct host_run *pool,
		   const struct recv_run *rx)
{
	if (w->sc->cfg.type != IB_QPT_UD)
		return true;
	/* the traffic class is nobody's business, nor the ICRC's */
	return w->sc->cfg.v6 ? byte_at(pool, rx, 0) >> 4 == 6 :
			       byte_at(pool, rx, 20) == 0x45;
}

static bool bytes_match(struct world *w, struct host_run *hr,
			const struct recv_run *rx, const struct op_run *run)
{
	struct host_run *pool = world_recvs(w, hr);
	u32 grh = sc_grh(w->sc), len = run->op->len;

	if (sc_is_write(run->op->opcode))
		return hr->target.frozen ||
		       bytes_are(hr->target.buf, run->target->off, len, 0,
				 run->seed, run->seed);
	if (pool->recv.frozen)
		return true;
	if (!receive_is(pool, rx, grh, len, run->seed, run->seed) ||
	    !grh_is(w, pool, rx))
		return false;
	/* a message of UC that broke off may have left something behind */
	return w->sc->cfg.type == IB_QPT_UC ||
	       receive_is(pool, rx, grh + len, rx->len - grh - len,
			  BYTES_ZERO, BYTES_ZERO);
}

static struct op_run *next_msg(struct host_run *from, u32 i)
{
	for (; i < from->sc->nops; i++)
		if (!from->op[i].op->skip &&
		    sc_takes_recv(from->op[i].op->opcode))
			return &from->op[i];
	return NULL;
}

/* RC: each message in its turn, once */
static struct op_run *find_rc(struct world *w, struct host_run *hr,
			      const struct recv_run *rx,
			      const struct sroce_cqe *cqe)
{
	struct op_run *run = next_msg(world_peer(w, hr), hr->recvd);

	if (!run || !run->posted) {
		t_fail("receive", 1, "host %u: received what nobody sent",
		       hr->nr);
		return NULL;
	}
	hr->recvd = run - world_peer(w, hr)->op + 1;
	if (!heads_match(w, run, cqe))
		t_fail("receive", 2, "host %u: received %u bytes as %u, instead of the peer's op %u",
		       hr->nr, cqe->byte_len, cqe->opcode, hr->recvd - 1);
	else if (!bytes_match(w, hr, rx, run))
		t_fail("receive", 3, "host %u: wrong bytes received of the peer's op %u",
		       hr->nr, hr->recvd - 1);
	if (run->op->bad)
		t_fail("receive", 4, "host %u: received well, but %s", hr->nr,
		       sc_bad_name(run->op->bad));
	return run;
}

/* Who sent it, for UD */
static struct host_run *sender(struct world *w, struct host_run *hr,
			       const struct sroce_cqe *cqe)
{
	u32 i;

	if (w->sc->cfg.type != IB_QPT_UD)
		return world_peer(w, hr);
	for (i = 0; i < w->n; i++)
		if (w->host[i].kqp->qp.qpn == cqe->src_qp)
			return &w->host[i];
	return NULL;
}

static bool solicited(const struct op_run *run)
{
	return run->op->flags & IB_SEND_SOLICITED;
}

/* UC and UD: some may be missing; what the wire repeats is a new message. */
static struct op_run *find_any(struct world *w, struct host_run *hr,
			       const struct recv_run *rx,
			       const struct sroce_cqe *cqe)
{
	struct host_run *from = sender(w, hr, cqe);
	bool ud = w->sc->cfg.type == IB_QPT_UD;
	struct op_run *run = NULL;
	u32 i = 0;

	while (from && (run = next_msg(from, i))) {
		i = run - from->op + 1;
		if (!run->posted || (run->recvd && !w->impair.any))
			continue;
		/* it never left, but another of no bytes looks the same */
		if (run->done && run->status == IB_WC_WR_FLUSH_ERR)
			continue;
		if (ud && (run->op->dest != hr->nr || run->op->bad))
			continue;
		/* of two empty ones nothing else may tell which it is */
		if (solicited(run) != w->s->solicited)
			continue;
		if (heads_match(w, run, cqe) && bytes_match(w, hr, rx, run))
			return run;
	}
	t_fail("receive", 5, "host %u: received %u bytes as %u that nobody sent like that",
	       hr->nr, cqe->byte_len, cqe->opcode);
	return NULL;
}

static void check_order(struct world *w, struct host_run *hr,
			struct host_run *from, const struct op_run *run)
{
	u32 i = run - from->op;

	if (w->impair.any || w->sc->cfg.type == IB_QPT_RC)
		return;
	if (w->sc->cfg.type == IB_QPT_UC && i < hr->recvd)
		t_fail("receive", 6, "host %u: op %u of the peer overtook",
		       hr->nr, i);
	hr->recvd = i + 1;
}

static void good(struct world *w, struct host_run *hr, struct recv_run *rx,
		 const struct sroce_cqe *cqe)
{
	struct op_run *run = is_rc(w) ? find_rc(w, hr, rx, cqe) :
					find_any(w, hr, rx, cqe);

	if (!run)
		return;
	check_order(w, hr, sender(w, hr, cqe), run);
	if (solicited(run) != w->s->solicited)
		t_fail("receive", 7, "host %u: solicited %u, for op %u",
		       hr->nr, w->s->solicited, (u32)(run->op - hr->sc->op));
	run->recvd = true;
	rx->good = true;
	reuse(world_recvs(w, hr), rx);
}

static bool may_fail(struct world *w, struct host_run *hr,
		     const struct recv_run *rx, u32 status)
{
	const struct sc_host *from = world_peer(w, hr)->sc;
	struct host_run *pool = world_recvs(w, hr);

	switch (status) {
	case IB_WC_WR_FLUSH_ERR:
		return hr->kqp->qp.state == IB_QPS_ERR;
	case IB_WC_LOC_LEN_ERR:
		if (!is_rc(w))
			return w->sc->short_recv && w->sc->srq;
		return rx->op >= 0 && from->op[rx->op].bad == BAD_RECV_SHORT;
	case IB_WC_LOC_PROT_ERR:
		return rx->bad_key || pool->recv.frozen;
	case IB_WC_LOC_ACCESS_ERR:
		return is_rc(w) && hr->target.frozen;
	default:
		return false;
	}
}

/**
 * receive_posted() - a receive's completion is about to be put into a CQ
 * @w: the world
 * @hr: whose QP it is
 * @cqe: the completion
 */
void receive_posted(struct world *w, struct host_run *hr,
		    const struct sroce_cqe *cqe)
{
	struct host_run *pool = world_recvs(w, hr);
	u64 i = cqe->wr_id;
	struct recv_run *rx = &pool->rx[i];

	if (i < hr->recv_next || i >= pool->nrecv || !rx->posted || rx->done ||
	    (pool == hr && !w->sc->srq && i != hr->recv_next)) {
		t_fail("receive", 8, "host %u: receive %llu completes, %u is next of %u",
		       hr->nr, i, hr->recv_next, pool->recv_posted);
		return;
	}
	hr->recv_next = i + 1;
	rx->done = true;
	if (cqe->status == IB_WC_SUCCESS) {
		good(w, hr, rx, cqe);
		return;
	}
	if (!may_fail(w, hr, rx, cqe->status))
		t_fail("receive", 9, "host %u receive %llu: %s for no reason",
		       hr->nr, i, sc_status_name(cqe->status));
	if (cqe->status != IB_WC_WR_FLUSH_ERR)
		hr->recv_failed = true;
}
