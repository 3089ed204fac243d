// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* How a send work request may complete, and what must be true then */

#include "world.h"

static const u8 wc_of[] = {
	[IB_WR_SEND] = IB_WC_SEND, [IB_WR_SEND_WITH_IMM] = IB_WC_SEND,
	[IB_WR_SEND_WITH_INV] = IB_WC_SEND,
	[IB_WR_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_READ] = IB_WC_RDMA_READ,
	[IB_WR_ATOMIC_CMP_AND_SWP] = IB_WC_COMP_SWAP,
	[IB_WR_ATOMIC_FETCH_AND_ADD] = IB_WC_FETCH_ADD,
	[SROCE_WR_FLUSH] = SROCE_WC_FLUSH,
	[SROCE_WR_ATOMIC_WRITE] = SROCE_WC_ATOMIC_WRITE,
	[IB_WR_BIND_MW] = IB_WC_BIND_MW, [IB_WR_LOCAL_INV] = IB_WC_LOCAL_INV,
};

static bool is_rc(const struct world *w)
{
	return w->sc->cfg.type == IB_QPT_RC;
}

/* So long that its PSNs would be ambiguous */
static bool too_long(const struct world *w, const struct sc_op *op)
{
	return op->deep && sroce_psn_count(op->len, sc_mtu(w->sc)) >= 1 << 23;
}

/* Over UC and UD nobody hears of what the other side thinks of it. */
static bool must_fail(const struct world *w, const struct sc_op *op)
{
	if (op->bad == BAD_LKEY || op->bad == BAD_LKEY_LATE ||
	    sc_bad_local(op->bad) || too_long(w, op))
		return true;
	return op->bad && is_rc(w);
}

static bool local_is(const struct host_run *hr, const struct op_run *run,
		     u32 a, u32 c)
{
	u64 at = 0;
	u32 i;

	for (i = 0; i < run->op->nsge; at += run->cut[i++].len)
		if (!bytes_are(hr->local.buf, run->cut[i].off, run->cut[i].len,
			       at, a, c))
			return false;
	return true;
}

static u64 local_word(const struct host_run *hr, const struct op_run *run)
{
	u32 i, k, n = 0;
	u8 b[8];
	u64 val;

	for (i = 0; i < run->op->nsge; i++)
		for (k = 0; k < run->cut[i].len; k++)
			b[n++] = *sim_byte(hr->local.buf, run->cut[i].off + k);
	memcpy(&val, b, sizeof(val));
	return val;
}

/* The user has the memory back and puts something else there. */
static void reuse_local(struct host_run *hr, struct op_run *run)
{
	u32 i;

	if (run->op->flags & IB_SEND_INLINE || run->op->deep ||
	    hr->local.frozen)
		return;
	for (i = 0; i < run->op->nsge; i++)
		bytes_set(&hr->local, run->cut[i].off, run->cut[i].len, 0,
			  BYTES_SCRAMBLED);
	run->reused = true;
}

/* Remote memory belongs to its owner again once its last user is done. */
static void reuse_target(struct world *w, struct host_run *hr, u32 i)
{
	struct region *r = &world_peer(w, hr)->target;
	struct span *span = hr->op[i].target;

	if (!is_rc(w) || !span || span->last != (s16)i || r->frozen)
		return;
	bytes_set(r, span->off, span->len, 0, BYTES_SCRAMBLED);
	span->scrambled = true;
}

static void check_atomic(const struct host_run *hr, const struct op_run *run)
{
	u64 got = local_word(hr, run), mask = ~0ULL;

	if (sc_shared_word(run->op))
		mask = 0xffffULL << (16 * (hr->nr / 2));
	if ((got & mask) != (run->orig & mask))
		t_fail("oracle", 1, "host %u op %u: the word was %#llx, not %#llx",
		       hr->nr, (u32)(run - hr->op), got, run->orig);
}

static void check_write(struct world *w, struct host_run *hr,
			const struct op_run *run)
{
	const struct region *r = &world_peer(w, hr)->target;
	const struct span *span = run->target;

	if (!r->frozen && !bytes_are(r->buf, span->off, run->op->len, 0,
				     run->seed, run->seed))
		t_fail("oracle", 2, "host %u op %u: complete, but not written",
		       hr->nr, (u32)(run - hr->op));
}

static void check_effect(struct world *w, struct host_run *hr,
			 const struct op_run *run)
{
	const struct sc_op *op = run->op;

	if (!is_rc(w) || op->deep)
		return;
	if (sc_is_atomic(op->opcode) && sc_fetches(op->opcode))
		check_atomic(hr, run);
	else if (sc_fetches(op->opcode) && !hr->local.frozen &&
		 !local_is(hr, run, run->seed, run->seed))
		t_fail("oracle", 3, "host %u op %u: wrong bytes read", hr->nr,
		       (u32)(run - hr->op));
	if (sc_is_write(op->opcode) ||
	    (sc_is_flush(op->opcode) && run->target != &run->span))
		check_write(w, hr, run);
	if (sc_takes_recv(op->opcode) && !run->recvd)
		t_fail("oracle", 4, "host %u op %u: complete, but not received",
		       hr->nr, (u32)(run - hr->op));
}

/**
 * oracle_good() - a work request has ended well
 * @w: the world
 * @hr: whose it is
 * @i: which
 */
void oracle_good(struct world *w, struct host_run *hr, u32 i)
{
	struct op_run *run = &hr->op[i];

	run->done = true;
	run->status = IB_WC_SUCCESS;
	if (must_fail(w, run->op))
		t_fail("oracle", 5, "host %u op %u: success, but %s", hr->nr, i,
		       sc_bad_name(run->op->bad));
	check_effect(w, hr, run);
	reuse_local(hr, run);
	reuse_target(w, hr, i);
}

/* Unsignaled ones before @i have ended well, or would have been heard of. */
static void pass_silent(struct world *w, struct host_run *hr, u32 i)
{
	for (; hr->done < i; hr->done++) {
		struct op_run *run = &hr->op[hr->done];

		if (run->op->skip)
			continue;
		if (world_signaled(w, run->op))
			t_fail("oracle", 6, "host %u op %u: never completed",
			       hr->nr, hr->done);
		oracle_good(w, hr, hr->done);
	}
}

/* Whether what the peer wanted of a host may be refused for good */
static bool offends(const struct sc_op *op, u32 status)
{
	switch (status) {
	case IB_WC_REM_ACCESS_ERR:
		return op->bad == BAD_RKEY || op->bad == BAD_RANGE ||
		       op->bad == BAD_ACCESS;
	case IB_WC_REM_INV_REQ_ERR:
		return op->bad == BAD_ALIGN || op->bad == BAD_RECV_SHORT ||
		       (op->bad == BAD_RANGE && sc_is_atomic(op->opcode));
	case IB_WC_REM_OP_ERR:
		return op->bad == BAD_RECV_LKEY;
	default:
		return false;
	}
}

/* ... for what has become of the host meanwhile */
static bool forbidden(struct world *w, struct host_run *peer,
		      const struct sc_op *op, u32 status)
{
	switch (status) {
	case IB_WC_REM_ACCESS_ERR:
		return (!sc_is_send(op->opcode) || op->inv) &&
		       (peer->target.frozen ||
			w->host[peer->nr & 1].target.frozen);
	case IB_WC_REM_INV_REQ_ERR:
		return !sc_is_send(op->opcode) && peer->sc->no_access;
	case IB_WC_REM_OP_ERR:
		return sc_is_send(op->opcode) &&
		       world_recvs(w, peer)->recv.frozen;
	default:
		return false;
	}
}

/**
 * oracle_offended() - whether a peer's requests may have ended a QP
 * @w: the world
 * @hr: the QP's host
 */
bool oracle_offended(struct world *w, struct host_run *hr)
{
	static const u32 all[] = {
		IB_WC_REM_ACCESS_ERR, IB_WC_REM_INV_REQ_ERR, IB_WC_REM_OP_ERR,
	};
	struct host_run *peer = world_peer(w, hr);
	u32 i, k;

	for (i = 0; i < peer->sc->nops; i++) {
		const struct op_run *run = &peer->op[i];

		for (k = 0; run->posted && k < ARRAY_SIZE(all); k++)
			if (offends(run->op, all[k]) ||
			    forbidden(w, hr, run->op, all[k]))
				return true;
	}
	return false;
}

static bool may_fail(struct world *w, struct host_run *hr,
		     const struct sc_op *op, u32 status)
{
	switch (status) {
	case IB_WC_LOC_PROT_ERR:
		return op->bad == BAD_LKEY || op->bad == BAD_LKEY_LATE ||
		       hr->local.frozen;
	case IB_WC_MW_BIND_ERR:
		return op->opcode == IB_WR_BIND_MW &&
		       (op->bad == BAD_BIND || hr->local.frozen);
	case IB_WC_LOC_QP_OP_ERR:
		return op->bad == BAD_OPCODE || op->bad == BAD_SGES ||
		       op->bad == BAD_INLINE || op->bad == BAD_AH;
	case IB_WC_LOC_LEN_ERR:
		return op->bad == BAD_ATOMIC_LEN || op->bad == BAD_UD_LEN ||
		       too_long(w, op);
	case IB_WC_RETRY_EXC_ERR:
	case IB_WC_RNR_RETRY_EXC_ERR:
		if (is_rc(w))
			liveness_failed(w, hr, status);
		return is_rc(w) && (status == IB_WC_RETRY_EXC_ERR ||
				    sc_takes_recv(op->opcode));
	default:
		return is_rc(w) && (offends(op, status) ||
				    forbidden(w, world_peer(w, hr), op, status));
	}
}

static void check_failed(struct world *w, struct host_run *hr, u32 i,
			 u32 status)
{
	enum ib_qp_state state = hr->kqp->qp.state;

	if (status == IB_WC_WR_FLUSH_ERR) {
		if (state != IB_QPS_ERR && state != IB_QPS_SQE)
			t_fail("oracle", 7, "host %u op %u: flushed in state %u",
			       hr->nr, i, state);
		return;
	}
	if (!may_fail(w, hr, &hr->sc->op[i], status))
		t_fail("oracle", 8, "host %u op %u: %s for no reason", hr->nr,
		       i, sc_status_name(status));
	if (state != (is_rc(w) ? IB_QPS_ERR : IB_QPS_SQE) &&
	    !hr->kqp->scq.overflowed && !hr->kqp->rcq.overflowed)
		t_fail("oracle", 9, "host %u op %u: an error in state %u",
		       hr->nr, i, state);
	if (is_rc(w) && hr->failed >= 0)
		t_fail("oracle", 10, "host %u op %u: an error after that of op %d",
		       hr->nr, i, hr->failed);
	hr->failed = i;
}

static void send_posted(struct world *w, struct host_run *hr,
			const struct sroce_cqe *cqe)
{
	u64 i = cqe->wr_id;
	struct op_run *run = &hr->op[i];

	if (i < hr->done || i >= hr->sc->nops || !run->posted || run->done) {
		t_fail("oracle", 11, "host %u: op %llu completes, but %u are done of %u",
		       hr->nr, i, hr->done, hr->next);
		return;
	}
	pass_silent(w, hr, i);
	hr->done = i + 1;
	if (cqe->status == IB_WC_SUCCESS) {
		if (!world_signaled(w, run->op))
			t_fail("oracle", 12, "host %u op %llu: not to be signaled",
			       hr->nr, i);
		if (is_rc(w) && hr->failed >= 0)
			t_fail("oracle", 13, "host %u op %llu: success after an error",
			       hr->nr, i);
		CHECK_EQ(cqe->opcode, wc_of[run->op->opcode]);
		CHECK_EQ(cqe->byte_len, run->op->whole ? 0 : run->op->len);
		oracle_good(w, hr, i);
		return;
	}
	run->done = true;
	run->status = cqe->status;
	check_failed(w, hr, i, cqe->status);
}

/**
 * oracle_posted() - a completion is about to be put into a CQ
 * @s: the simulation
 * @qp: whose it is
 * @cqe: the completion
 */
void oracle_posted(struct sim *s, struct sroce_qp *qp,
		   const struct sroce_cqe *cqe)
{
	struct world *w = s->arg;
	struct host_run *hr = world_host(w, qp->kqp);
	bool recv = cqe->opcode & IB_WC_RECV;

	trace_cqe(w, hr, !recv, cqe);
	if (hr->dead) {
		t_fail("oracle", 14, "host %u: a completion after its end",
		       hr->nr);
		return;
	}
	if (recv)
		receive_posted(w, hr, cqe);
	else
		send_posted(w, hr, cqe);
}
