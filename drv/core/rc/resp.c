// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Responder: checks and executes request packets (9.7.4, 9.8.2, 9.8.3).
 *
 * A packet passes the checks in the order of the specification's figures; each
 * check says how the packet fares. Nothing is written before all have passed.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/trace.h"

/* Receive memory that is brought besides what is needed */
#define RECV_AHEAD	0x10000U

/* Pages that take longer than this are no secret of ours, in ns */
#define PAGING_LONG	(30 * 1000 * 1000ULL)

/* How a request packet fares */
enum verdict {
	PASS,			/* 0, so that ?: goes on with the next check */
	DROP,			/* counted where it is decided */
	RNR,			/* no receive is posted */
	INV_REQ,		/* class C */
	REM_ACCESS,		/* R_Key violation */
	LOC_LEN,		/* longer than the receive work request */
	LOC_PROT,		/* the receive work request is wrong */
	PAGE,			/* what it goes to is not in memory yet */
};

static enum verdict drop(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			 enum sroce_counter why)
{
	sroce_count(qp, why);
	trace_sroce_drop(qp, pkt, why);
	return DROP;
}

/* A WRITE or SEND seen before is acknowledged, a READ or atomic answered. */
static enum verdict duplicate(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	sroce_count(qp, SROCE_CNT_DUPLICATE);
	if (pkt->op->flags & SROCE_HAS_RESPONSE)
		sroce_resp_res_replay(qp, pkt);
	else
		sroce_resp_tx_ack(qp, sroce_resp_res_ack_psn(qp, pkt->psn));
	return DROP;
}

/* One NAK per gap, at once (9.7.5.2.8) */
static void report_gap(struct sroce_qp *qp)
{
	/* what waits for pages is no gap */
	if (qp->resp.nak_sent || qp->resp.paging)
		return;
	qp->resp.nak_sent = true;
	qp->resp.nak_psn = qp->resp.psn;
	sroce_resp_tx_nak(qp, SROCE_NAK_PSN_SEQ);
}

/* Requests before this one are missing: it waits for them, if there is room. */
static enum verdict early(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	int ret = sroce_ofo_put(qp, pkt, false);
	struct sroce_resp *resp = &qp->resp;

	sroce_count(qp, SROCE_CNT_OUT_OF_SEQ);
	if (!ret) {
		sroce_count(qp, SROCE_CNT_OFO_QUEUED);
	} else {
		trace_sroce_drop(qp, pkt, SROCE_CNT_OUT_OF_SEQ);
		if (ret != -EEXIST)
			resp->ofo_dropped |= resp->paging;
		/* the requester went back, and is past the gap again */
		if (resp->psn != resp->nak_psn)
			resp->nak_sent = false;
	}
	report_gap(qp);
	return DROP;
}

/*
 * The peer asks again for what waits for pages here. It need not know unless that
 * takes so long that it may take us for dead: then it is to come back later.
 */
static enum verdict still_paging(struct sroce_qp *qp,
				 const struct sroce_pkt *pkt)
{
	if (sroce_now() - qp->resp.paging_since >= PAGING_LONG)
		return RNR;
	return drop(qp, pkt, SROCE_CNT_DUPLICATE);
}

static enum verdict check_psn_rc(struct sroce_qp *qp,
				 const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	s32 diff = sroce_psn_diff(pkt->psn, resp->psn);

	if (diff < 0)
		return duplicate(qp, pkt);
	if (diff > 0)
		return early(qp, pkt);
	if (resp->paging)
		return still_paging(qp, pkt);
	/* A gap stays the same one while what is late in it comes. */
	if (!resp->ofo_len || pkt->ackreq)
		resp->nak_sent = false;
	return PASS;
}

/* 9.8.3: a gap costs the message; the next first or only packet starts anew. */
static enum verdict check_psn_uc(struct sroce_qp *qp,
				 const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	bool start = pkt->op->flags & SROCE_START;
	bool gap = pkt->psn != resp->psn;

	resp->psn = sroce_psn_add(pkt->psn, sroce_pkt_psns(pkt, qp->mtu));
	if (resp->msg && (gap || start)) {
		/* the receive work request serves the next message */
		resp->msg = 0;
		sroce_count(qp, SROCE_CNT_UC_GAP);
	}
	if (!start && !resp->msg)
		return drop(qp, pkt, SROCE_CNT_OUT_OF_SEQ);
	return PASS;
}

/* A requester that is ahead of us has to learn that we can't follow. */
static enum verdict check_known(struct sroce_qp *qp,
				const struct sroce_pkt *pkt)
{
	if (!(pkt->op->flags & SROCE_RESERVED))
		return PASS;
	sroce_count(qp, SROCE_CNT_RX_BAD_OPCODE);
	return INV_REQ;
}

/* First, middle and last must follow each other and be of one kind. */
static enum verdict check_sequence(struct sroce_qp *qp,
				   const struct sroce_pkt *pkt)
{
	u32 flags = pkt->op->flags;
	u32 kind = flags & (SROCE_SENDING | SROCE_WRITING);
	bool ok;

	if (flags & SROCE_START)
		ok = !qp->resp.msg;
	else
		ok = kind && qp->resp.msg == kind;
	if (ok)
		return PASS;
	if (!sroce_is_rc(qp)) {
		qp->resp.msg = 0;
		return drop(qp, pkt, SROCE_CNT_OUT_OF_SEQ);
	}
	return INV_REQ;
}

/* 9.7.4.1.5: only the last packet of a message may be other than full. */
static bool payload_fits(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u32 flags = pkt->op->flags, len = pkt->payload_len;

	if (!(flags & SROCE_PAYLOAD))
		return true;
	if (!(flags & SROCE_END))
		return pkt->loopback ? len && !(len % qp->mtu) : len == qp->mtu;
	if (!(flags & SROCE_START) && !len)
		return false;
	return pkt->loopback || len <= qp->mtu;
}

/* A19: some place that we know of, and either a range or all of a region */
static bool flush_known(u32 feth)
{
	return feth & SROCE_FETH_PLACEMENT &&
	       !(feth & SROCE_FETH_PLACEMENT &
		 ~(SROCE_FLUSH_GLOBAL | SROCE_FLUSH_PERSISTENT)) &&
	       feth >> SROCE_FETH_SELECT_SHIFT <= SROCE_FLUSH_REGION;
}

/* All of a region is to be flushed: address and length say nothing. */
static bool is_whole(const struct sroce_pkt *pkt)
{
	return pkt->op->flags & SROCE_FLUSHING &&
	       pkt->feth >> SROCE_FETH_SELECT_SHIFT == SROCE_FLUSH_REGION;
}

/* What RC is told; UC drops what follows of the message as well. */
static enum verdict spurn(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			  enum verdict rc)
{
	if (sroce_is_rc(qp))
		return rc;
	qp->resp.msg = 0;
	return drop(qp, pkt, SROCE_CNT_RX_LENGTH);
}

static enum verdict check_length(struct sroce_qp *qp,
				 const struct sroce_pkt *pkt)
{
	u32 flags = pkt->op->flags, len = pkt->payload_len;
	bool ok = payload_fits(qp, pkt);

	if (flags & SROCE_RETH && pkt->length > SROCE_MSG_MAX && !is_whole(pkt))
		ok = false;
	if (flags & SROCE_FLUSHING && !flush_known(pkt->feth))
		ok = false;
	if (flags & SROCE_ATOMIC && pkt->va & 7)
		ok = false;
	if (flags & SROCE_ATOMIC && flags & SROCE_RETH &&
	    (len != sizeof(u64) || pkt->length != len))
		ok = false;
	return ok ? PASS : spurn(qp, pkt, INV_REQ);
}

/* No memory of ours is persistent, so no region gives the second right. */
static int flush_access(u32 feth)
{
	return (feth & SROCE_FLUSH_GLOBAL ? SROCE_ACCESS_FLUSH_GLOBAL : 0) |
	       (feth & SROCE_FLUSH_PERSISTENT ? SROCE_ACCESS_FLUSH_PERSISTENT :
						0);
}

/* What a request does to memory; an ATOMIC WRITE needs the right to write. */
static int access_of(const struct sroce_pkt *pkt)
{
	u32 flags = pkt->op->flags;

	if (flags & SROCE_READING)
		return IB_ACCESS_REMOTE_READ;
	if (flags & SROCE_ATMETH)
		return IB_ACCESS_REMOTE_ATOMIC;
	if (flags & SROCE_FLUSHING)
		return flush_access(pkt->feth);
	return flags & (SROCE_WRITING | SROCE_ATOMIC) ?
	       IB_ACCESS_REMOTE_WRITE : 0;
}

/* 9.7.4.1.3: the QP must let the peer do this at all. */
static enum verdict check_enabled(struct sroce_qp *qp,
				  const struct sroce_pkt *pkt)
{
	int need = access_of(pkt);

	if ((qp->attr.qp_access_flags & need) == need)
		return PASS;
	return spurn(qp, pkt, INV_REQ);
}

/* A receive work request where the packet consumes one */
static enum verdict check_recv(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	u32 flags = pkt->op->flags;
	u32 grh = qp->svc == SROCE_SVC_UD ? SROCE_GRH_LEN : 0;
	u32 off = flags & SROCE_START ? 0 : resp->off;

	if (!(flags & SROCE_RECV))
		return PASS;
	if (!resp->have_wqe) {
		if (!sroce_srq_take_recv(qp, &resp->wqe))
			return sroce_is_rc(qp) ? RNR :
			       drop(qp, pkt, SROCE_CNT_OUT_OF_BUFFER);
		resp->have_wqe = true;
	}
	if (resp->wqe.bad) {
		sroce_count(qp, SROCE_CNT_RQ_BAD_WQE);
		return LOC_PROT;
	}
	if (flags & SROCE_SENDING &&
	    (u64)grh + off + pkt->payload_len > resp->wqe.length)
		return LOC_LEN;
	return PASS;
}

/* 9.7.4.1.6: key, rights and range of the whole message, at its start */
static enum verdict check_rkey(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	u32 flags = pkt->op->flags;
	struct sroce_mr *mr;
	u32 len;

	if (!(flags & (SROCE_RETH | SROCE_ATMETH)))
		return PASS;
	len = flags & SROCE_ATMETH ? sizeof(u64) : pkt->length;
	/* a READ or WRITE of nothing needs no key, a FLUSH does */
	if (len || flags & SROCE_FLUSHING) {
		mr = is_whole(pkt) ?
		     sroce_mr_remote_whole(qp, pkt->rkey, access_of(pkt)) :
		     sroce_mr_remote(qp, pkt->rkey, pkt->va, len,
				     access_of(pkt));
		if (!mr)
			return spurn(qp, pkt, REM_ACCESS);
	}
	if (flags & SROCE_WRITING) {
		resp->va = pkt->va;
		resp->rkey = pkt->rkey;
		resp->remaining = len;
		resp->length = len;
	}
	return PASS;
}

/* A WRITE must bring exactly what its RETH promised. */
static enum verdict check_write(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u32 flags = pkt->op->flags, left = qp->resp.remaining;

	if (!(flags & SROCE_WRITING))
		return PASS;
	if (flags & SROCE_END ? pkt->payload_len == left :
				pkt->payload_len < left)
		return PASS;
	return spurn(qp, pkt, INV_REQ);
}

/*
 * The memory of the receive work request is not there. How long the message is
 * nobody knows: as much again as has come, and a bit.
 */
static enum verdict want_recv(struct sroce_qp *qp, u32 off, u32 need)
{
	struct sroce_rwqe *wqe = &qp->resp.wqe;
	u64 of_use = min(wqe->length - off, 2ULL * off + need + RECV_AHEAD);
	u32 len = min_t(u64, of_use, max(need, SROCE_PAGES_AHEAD));
	int ret = sroce_sge_fault_in(qp, wqe->sge, wqe->num_sge, off, need, len,
				 IB_ACCESS_LOCAL_WRITE);

	/* a region that has been pinned since needs no pages */
	return !ret ? PASS : ret == -EAGAIN ? PAGE : LOC_PROT;
}

/* The 40 bytes before a datagram: an IPv4 header stands in the last 20. */
static int put_grh(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u8 buf[SROCE_GRH_LEN] = {};
	u8 *from = buf;

	memcpy(buf + SROCE_GRH_LEN - pkt->l3_len, pkt->l3, pkt->l3_len);
	return sroce_sge_scatter(qp, qp->resp.wqe.sge, qp->resp.wqe.num_sge, 0,
				 SROCE_GRH_LEN, sroce_mr_copy_to, &from);
}

/* Into the receive work request in use */
static int put_send(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_rx_cursor pl = { .pkt = pkt };
	struct sroce_resp *resp = &qp->resp;
	int ret;

	ret = sroce_sge_scatter(qp, resp->wqe.sge, resp->wqe.num_sge, resp->off,
				pkt->payload_len, sroce_segs_rx_span, &pl);
	if (!ret)
		resp->off += pkt->payload_len;
	return ret;
}

/* By @put, into the receive work request in use, @need bytes from @off on */
static enum verdict put_recv(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			     int (*put)(struct sroce_qp *qp, const struct sroce_pkt *pkt),
			     u32 off, u32 need)
{
	int ret = put(qp, pkt);
	enum verdict v;

	if (ret == -EAGAIN) {
		v = want_recv(qp, off, need);
		if (v != PASS)
			return v;
		ret = put(qp, pkt);
	}
	return ret ? LOC_PROT : PASS;
}

static enum verdict do_send(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	enum verdict v;

	if (pkt->op->flags & SROCE_START)
		resp->off = 0;
	if (qp->svc == SROCE_SVC_UD) {
		v = put_recv(qp, pkt, put_grh, 0, SROCE_GRH_LEN + pkt->payload_len);
		if (v != PASS)
			return v;
		resp->off = SROCE_GRH_LEN;
	}
	v = put_recv(qp, pkt, put_send, resp->off, pkt->payload_len);
	if (v != PASS)
		return v;
	if (pkt->op->flags & SROCE_IETH &&
	    sroce_mem_ops_invalidate(qp, pkt->inv_rkey, true))
		return REM_ACCESS;
	return PASS;
}

/* Into the region that the WRITE goes to */
static int put_write(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		     const struct sroce_mr *mr)
{
	struct sroce_rx_cursor pl = { .pkt = pkt };
	struct sroce_resp *resp = &qp->resp;
	u32 len = pkt->payload_len;
	int ret;

	ret = sroce_mr_walk(mr, resp->va, len, true, sroce_segs_rx_span, &pl);
	if (ret)
		return ret;
	resp->va += len;
	resp->remaining -= len;
	return 0;
}

static enum verdict do_write(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	u32 len = pkt->payload_len;
	struct sroce_mr *mr;
	int ret;

	if (!len)
		return PASS;
	mr = sroce_mr_remote(qp, resp->rkey, resp->va, len,
			     IB_ACCESS_REMOTE_WRITE);
	if (!mr)
		return spurn(qp, pkt, REM_ACCESS);
	ret = put_write(qp, pkt, mr);
	if (ret == -EAGAIN)
		ret = sroce_mr_fault_in(qp, mr, resp->va, len, resp->remaining,
				    true);
	if (ret == -EAGAIN)
		return PAGE;
	return ret ? REM_ACCESS : PASS;
}

static enum verdict do_read(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_res *res = sroce_resp_res_new(qp);

	if (!res)
		return INV_REQ;
	res->first_psn = pkt->psn;
	res->last_psn = sroce_psn_add(pkt->psn,
				      sroce_psn_count(pkt->length, qp->mtu) - 1);
	res->va = pkt->va;
	res->rkey = pkt->rkey;
	res->length = pkt->length;
	res->msn = sroce_psn_add(qp->resp.msn, 1);
	sroce_resp_res_queue(qp, res);
	return PASS;
}

/* Have one packet sent in answer, now and whenever it is asked for again. */
static void answer_single(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			  bool bare, u64 orig)
{
	struct sroce_res *res = sroce_resp_res_new(qp);

	res->single = true;
	res->bare = bare;
	res->orig = orig;
	res->first_psn = pkt->psn;
	res->last_psn = pkt->psn;
	res->msn = sroce_psn_add(qp->resp.msn, 1);
	sroce_resp_res_queue(qp, res);
}

/*
 * What came before has been written by CPUs, some of it by others than this one,
 * through caches that devices see as well: all that is left to do is not to let
 * the answer overtake it.
 */
static enum verdict do_flush(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (!sroce_resp_res_has_room(qp))
		return INV_REQ;
	/* what was written is seen by all before the answer is */
	mb();
	answer_single(qp, pkt, true, 0);
	return PASS;
}

struct operation {
	const struct sroce_pkt	*pkt;
	u64			orig;
};

/* Eight aligned bytes at once; the value before goes into the answer. */
static int operate(void *span, u32 len, void *arg)
{
	struct operation *op = arg;
	u64 value, *p = span;
	int ret;

	if (len != sizeof(u64) || !IS_ALIGNED((uintptr_t)p, sizeof(u64)))
		return -EINVAL;
	if (op->pkt->opcode == SROCE_OP_CMP_SWP) {
		op->orig = sroce_atomic_cmpxchg(p, op->pkt->compare,
						op->pkt->swap_add);
	} else if (op->pkt->opcode == SROCE_OP_ATOMIC_WRITE) {
		ret = sroce_pkt_copy(op->pkt, 0, &value, sizeof(value));
		if (ret)
			return ret;
		WRITE_ONCE(*p, value);
	} else {
		op->orig = sroce_atomic_add(p, op->pkt->swap_add);
	}
	return 0;
}

static enum verdict do_atomic(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct operation op = { .pkt = pkt };
	struct sroce_mr *mr;
	int ret;

	if (!sroce_resp_res_has_room(qp))
		return INV_REQ;
	mr = sroce_mr_remote(qp, pkt->rkey, pkt->va, sizeof(u64),
			     access_of(pkt));
	if (!mr)
		return REM_ACCESS;
	ret = sroce_mr_walk(mr, pkt->va, sizeof(u64), true, operate, &op);
	if (ret == -EAGAIN) {
		ret = sroce_mr_fault_in(qp, mr, pkt->va, sizeof(u64), sizeof(u64),
				    true);
		return ret == -EAGAIN ? PAGE : REM_ACCESS;
	}
	if (ret)
		return INV_REQ;
	answer_single(qp, pkt, pkt->opcode == SROCE_OP_ATOMIC_WRITE, op.orig);
	return PASS;
}

static enum verdict execute(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u32 flags = pkt->op->flags;

	if (flags & SROCE_SENDING)
		return do_send(qp, pkt);
	if (flags & SROCE_WRITING)
		return do_write(qp, pkt);
	if (flags & SROCE_READING)
		return do_read(qp, pkt);
	if (flags & SROCE_FLUSHING)
		return do_flush(qp, pkt);
	return do_atomic(qp, pkt);
}

/**
 * sroce_resp_complete() - complete the receive work request in use
 * @qp: the QP
 * @pkt: the packet that ends it
 * @status: how it ended
 */
void sroce_resp_complete(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			 enum ib_wc_status status)
{
	struct sroce_resp *resp = &qp->resp;
	bool write = pkt->op->flags & SROCE_WRITING;
	struct sroce_cqe cqe = {
		.wr_id = resp->wqe.wr_id,
		.status = status,
		.opcode = write ? IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV,
		.byte_len = write ? resp->length : resp->off,
		.src_qp = qp->attr.dest_qp_num,
		.vlan = 0xffff,
	};

	if (!resp->have_wqe)
		return;
	resp->have_wqe = false;
	if (pkt->op->flags & SROCE_IMMDT) {
		cqe.wc_flags |= IB_WC_WITH_IMM;
		cqe.imm = pkt->imm;
	}
	if (pkt->op->flags & SROCE_IETH) {
		cqe.wc_flags |= IB_WC_WITH_INVALIDATE;
		cqe.inv_rkey = pkt->inv_rkey;
	}
	if (qp->svc == SROCE_SVC_UD) {
		cqe.wc_flags |= IB_WC_GRH;
		cqe.src_qp = pkt->sqpn;
		cqe.v6 = pkt->l3_len == 40;
		cqe.vlan = pkt->vlan;
	}
	if (status != IB_WC_SUCCESS)
		sroce_count(qp, SROCE_CNT_WC_ERROR);
	trace_sroce_complete(qp, &cqe);
	if (!sroce_cq_post(qp, qp->rcq, &cqe,
			   pkt->solicited || status != IB_WC_SUCCESS,
			   SROCE_DEFER_RCQ))
		sroce_flush_qp_fatal(qp, IB_EVENT_QP_FATAL);
}

/* PSNs that a request takes: a READ those of its responses, too */
static u32 psn_count(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (pkt->op->flags & SROCE_READING)
		return sroce_psn_count(pkt->length, qp->mtu);
	return sroce_pkt_psns(pkt, qp->mtu);
}

/* An acknowledge that is still to be sent tells of all until then. */
static void acknowledge(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (sroce_is_rc(qp) && (pkt->ackreq || qp->resp.aeth))
		sroce_resp_tx_ack(qp, sroce_psn_add(qp->resp.psn, -1));
}

/* A good packet: move on, complete, acknowledge. */
static void accept(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	u32 flags = pkt->op->flags;
	u32 psns = psn_count(qp, pkt);

	if (sroce_is_rc(qp))
		resp->psn = sroce_psn_add(pkt->psn, psns);
	resp->msg = flags & SROCE_END ? 0 :
		    flags & (SROCE_SENDING | SROCE_WRITING);
	if (flags & SROCE_END) {
		resp->msn = sroce_psn_add(resp->msn, 1);
		if (flags & SROCE_RECV)
			sroce_resp_complete(qp, pkt, IB_WC_SUCCESS);
	}
	if (!(flags & SROCE_HAS_RESPONSE))
		acknowledge(qp, pkt);
}

/* The connection ends here: refuse the packet, then the error state. */
static void refuse_fatal(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			 enum sroce_nak code, enum ib_wc_status status,
			 enum ib_event_type event)
{
	if (qp->resp.have_wqe)
		sroce_resp_complete(qp, pkt, status);
	else
		sroce_qp_event(qp, event);
	if (!sroce_is_rc(qp)) {
		sroce_flush_qp_error(qp);
		return;
	}
	sroce_resp_tx_nak(qp, code);
	qp->resp.closing = true;
}

/* 9.8.3.2, 9.9.3.2: too long for UC and UD; an SRQ's work request is spent. */
static void refuse_length(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	sroce_count(qp, SROCE_CNT_RX_LENGTH);
	trace_sroce_drop(qp, pkt, SROCE_CNT_RX_LENGTH);
	qp->resp.msg = 0;
	if (qp->srq)
		sroce_resp_complete(qp, pkt, IB_WC_LOC_LEN_ERR);
}

/*
 * The request waits in the store, and all that follow it, too; what can't wait
 * there the peer is told to send again when the pages are there, if it is an RC.
 */
static void await_pages(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;

	resp->paging = true;
	resp->paging_since = sroce_now();
	if (sroce_ofo_put(qp, pkt, true)) {
		drop(qp, pkt, SROCE_CNT_ODP_DROP);
		resp->ofo_dropped = sroce_is_rc(qp);
		if (!sroce_is_rc(qp))
			resp->msg = 0;
	} else if (qp->svc == SROCE_SVC_UC) {
		resp->psn = pkt->psn;
	}
}

static void refuse(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		   enum verdict why)
{
	switch (why) {
	case RNR:
		qp->resp.nak_sent = true;
		qp->resp.nak_psn = qp->resp.psn;
		sroce_resp_tx_rnr(qp);
		break;
	case INV_REQ:
		refuse_fatal(qp, pkt, SROCE_NAK_INV_REQ, IB_WC_REM_INV_REQ_ERR,
			     IB_EVENT_QP_REQ_ERR);
		break;
	case REM_ACCESS:
		/* what is remote to the peer is local to the receive */
		refuse_fatal(qp, pkt, SROCE_NAK_REM_ACCESS,
			     IB_WC_LOC_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR);
		break;
	case LOC_LEN:
		if (sroce_is_rc(qp))
			refuse_fatal(qp, pkt, SROCE_NAK_INV_REQ,
				     IB_WC_LOC_LEN_ERR, IB_EVENT_QP_REQ_ERR);
		else
			refuse_length(qp, pkt);
		break;
	case LOC_PROT:
		refuse_fatal(qp, pkt, SROCE_NAK_REM_OP, IB_WC_LOC_PROT_ERR,
			     IB_EVENT_QP_FATAL);
		break;
	case PAGE:
		await_pages(qp, pkt);
		break;
	default:
		break;
	}
}

static enum verdict check_psn(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (sroce_is_rc(qp))
		return check_psn_rc(qp, pkt);
	return qp->svc == SROCE_SVC_UC ? check_psn_uc(qp, pkt) : PASS;
}

static void request(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	/* the first that does not pass it decides */
	enum verdict v = check_psn(qp, pkt) ?: check_known(qp, pkt) ?:
			 check_sequence(qp, pkt) ?: check_enabled(qp, pkt) ?:
			 check_length(qp, pkt) ?: check_rkey(qp, pkt) ?:
			 check_write(qp, pkt) ?: check_recv(qp, pkt) ?:
			 execute(qp, pkt);

	if (v == PASS)
		accept(qp, pkt);
	else
		refuse(qp, pkt, v);
}

/* The gap may be filled: go on with what was kept, up to the next one. */
static void catch_up(struct sroce_qp *qp)
{
	struct sroce_ofo_pkt *ofo;

	while (!qp->resp.closing && !qp->resp.paging &&
	       (ofo = sroce_ofo_take(qp))) {
		qp->resp.nak_sent = false;
		request(qp, &ofo->pkt);
		sroce_ofo_free(ofo);
	}
	if (sroce_is_rc(qp) && qp->resp.ofo_len && !qp->resp.closing)
		report_gap(qp);
}

/**
 * sroce_resp_rx() - take in a request packet
 * @qp: the QP, ready to receive
 * @pkt: the packet; its QP, address, P_Key and Q_Key have been checked
 */
void sroce_resp_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (qp->resp.closing)
		return;
	if (qp->resp.paging && !sroce_is_rc(qp)) {
		if (sroce_ofo_put(qp, pkt, false))
			drop(qp, pkt, SROCE_CNT_ODP_DROP);
		return;
	}
	request(qp, pkt);
	if (qp->resp.ofo_len)
		catch_up(qp);
}

static bool write_run(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_mr *mr;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE) ||
	    pkt->payload_len >= resp->remaining)
		return false;
	mr = sroce_mr_remote(qp, resp->rkey, resp->va, pkt->payload_len,
			     IB_ACCESS_REMOTE_WRITE);
	return mr && !put_write(qp, pkt, mr);
}

static bool send_run(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	const struct sroce_resp *resp = &qp->resp;

	return resp->have_wqe && !resp->wqe.bad &&
	       (u64)resp->off + pkt->payload_len <= resp->wqe.length &&
	       !put_send(qp, pkt);
}

/**
 * sroce_resp_rx_segs() - take in a run of request packets
 * @qp: the QP, ready to receive
 * @pkt: the run, checked as for sroce_resp_rx()
 *
 * Return: false if there is more to be said to its packets than yes.
 */
bool sroce_resp_rx_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u32 kind = pkt->op->flags & (SROCE_SENDING | SROCE_WRITING);
	struct sroce_resp *resp = &qp->resp;

	if (resp->closing || resp->paging || resp->ofo_len || !kind ||
	    resp->msg != kind || pkt->psn != resp->psn || pkt->seg_len != qp->mtu)
		return false;
	if (!(kind == SROCE_WRITING ? write_run(qp, pkt) : send_run(qp, pkt)))
		return false;
	resp->psn = sroce_psn_add(resp->psn, pkt->segs);
	resp->nak_sent = false;
	acknowledge(qp, pkt);
	return true;
}

/**
 * sroce_resp_paged() - pages have come, perhaps those that a request waits for
 * @qp: the QP
 */
void sroce_resp_paged(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;

	resp->tx_paging = false;
	if (!resp->paging || !sroce_qp_may_receive(qp))
		return;
	resp->paging = false;
	catch_up(qp);
	if (!resp->ofo_dropped || resp->paging || resp->closing)
		return;
	resp->ofo_dropped = false;
	resp->nak_sent = false;
	report_gap(qp);
}
