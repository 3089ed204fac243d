// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Responder: checks and executes request packets (9.7.4, 9.8.2, 9.8.3).
 *
 * The checks are made in the order of the specification's figures; each returns a
 * verdict. Nothing is written to memory before all have passed. The key that a SEND with
 * invalidate names is checked after its payload was placed.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/mem/mem_ops.h"
#include "drv/core/mem/mr.h"
#include "drv/core/mem/sge.h"
#include "drv/core/rc/answer.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/ofo.h"
#include "drv/core/rc/resp.h"
#include "drv/core/rc/resp_res.h"
#include "drv/core/rc/resp_tx.h"
#include "drv/core/trace.h"
#include "drv/core/tx/segs.h"

/* Receive memory that is faulted in beyond what is needed, in bytes */
#define RECV_AHEAD	0x10000U

/* The result of a check, and of the execution of a request packet */
enum verdict {
	PASS,			/* 0, so that ?: goes on with the next check */
	DROP,			/* was counted by the check */
	RNR,			/* no receive work request, or pages take long */
	INV_REQ,		/* invalid request, class C */
	REM_ACCESS,		/* R_Key violation */
	LOC_LEN,		/* longer than the receive work request */
	LOC_PROT,		/* the receive work request is invalid */
	PAGE,			/* memory is being faulted in */
};

static enum verdict drop(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			 enum sroce_counter why)
{
	sroce_count(qp, why);
	trace_sroce_drop(qp, pkt, why);
	return DROP;
}

/* A duplicate SEND or WRITE is acknowledged, a READ, atomic or FLUSH answered again. */
static enum verdict duplicate(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	sroce_count(qp, SROCE_CNT_DUPLICATE);
	if (sroce_resp_tx_dup(qp, pkt))
		return DROP;
	if (pkt->op->flags & SROCE_HAS_RESPONSE)
		sroce_resp_res_replay(qp, pkt);
	else
		sroce_resp_tx_ack_again(qp, pkt);
	return DROP;
}

/* One NAK per gap, at once (9.7.5.2.8) */
static void report_gap(struct sroce_qp *qp)
{
	/* the request at this PSN has arrived, and waits for pages */
	if (qp->resp.nak_sent || qp->resp.paging)
		return;
	qp->resp.nak_sent = true;
	qp->resp.nak_psn = qp->resp.psn;
	sroce_resp_tx_nak(qp, SROCE_NAK_PSN_SEQ);
}

/* Requests before this one are missing: queue it, if there is room. */
static enum verdict out_of_order(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	bool ahead = sroce_ofo_is_ahead(resp, pkt->psn);
	int ret = sroce_ofo_put(qp, pkt);

	sroce_count(qp, SROCE_CNT_OUT_OF_SEQ);
	if (ret)
		trace_sroce_drop(qp, pkt, SROCE_CNT_OUT_OF_SEQ);
	else
		sroce_count(qp, SROCE_CNT_OFO_QUEUED);
	/* the requester has gone back, and has passed the gap again */
	if ((ret || !ahead) && resp->psn != resp->nak_psn)
		resp->nak_sent = false;
	report_gap(qp);
	return DROP;
}

/*
 * The peer retransmits a request that waits for pages. If that takes long, an RNR NAK
 * keeps the peer from counting timeouts.
 */
static enum verdict still_paging(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (sroce_resp_tx_pages_late(qp, pkt))
		return RNR;
	if (pkt->ackreq)
		sroce_ofo_ask(qp);
	return drop(qp, pkt, SROCE_CNT_DUPLICATE);
}

static enum verdict check_psn_rc(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	s32 diff = sroce_psn_diff(pkt->psn, resp->psn);

	if (diff < 0)
		return duplicate(qp, pkt);
	if (diff > 0)
		return out_of_order(qp, pkt);
	if (resp->paging)
		return still_paging(qp, pkt);
	/* a packet that fills a part of the gap doesn't end it, unless it has AckReq */
	if (!resp->ofo_len || pkt->ackreq)
		resp->nak_sent = false;
	return PASS;
}

/* 9.8.3: after a gap the message is dropped, up to the next first or only packet. */
static enum verdict check_psn_uc(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	bool start = pkt->op->flags & SROCE_START;
	bool gap = pkt->psn != resp->psn;

	resp->psn = sroce_psn_add(pkt->psn, sroce_pkt_psns(pkt, qp->mtu));
	if (resp->msg && (gap || start)) {
		/* the next message takes the same receive work request */
		resp->msg = 0;
		sroce_count(qp, SROCE_CNT_UC_GAP);
	}
	if (!start && !resp->msg)
		return drop(qp, pkt, SROCE_CNT_OUT_OF_SEQ);
	return PASS;
}

/*
 * 9.7.4.1.5: a request of a wrong length is refused when its turn comes. Before and after
 * that it is dropped: how many PSNs it would take, or what was answered, isn't known.
 */
static enum verdict check_form(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (!pkt->bad_length)
		return PASS;
	if (pkt->psn != qp->resp.psn || qp->resp.paging)
		return drop(qp, pkt, SROCE_CNT_RX_MALFORMED);
	sroce_count(qp, SROCE_CNT_RX_MALFORMED);
	return INV_REQ;
}

/* A reserved opcode gets a NAK: the requester may use a newer version of the protocol. */
static enum verdict check_known(struct sroce_qp *qp,
				const struct sroce_pkt *pkt)
{
	if (!(pkt->op->flags & SROCE_RESERVED))
		return PASS;
	sroce_count(qp, SROCE_CNT_RX_BAD_OPCODE);
	return INV_REQ;
}

/* First, middle and last packets must follow each other and be of one kind. */
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

/* 9.7.4.1.5: only the last packet of a message may be shorter than the MTU. */
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

/* A19: known placement types, and either a range or all of a region */
static bool is_flush_valid(u32 feth)
{
	return feth & SROCE_FETH_PLACEMENT &&
	       !(feth & SROCE_FETH_PLACEMENT &
		 ~(SROCE_FLUSH_GLOBAL | SROCE_FLUSH_PERSISTENT)) &&
	       feth >> SROCE_FETH_SELECT_SHIFT <= SROCE_FLUSH_REGION;
}

/* Whether a whole region is flushed: address and length are ignored then */
static bool is_whole(const struct sroce_pkt *pkt)
{
	return pkt->op->flags & SROCE_FLUSHING &&
	       pkt->feth >> SROCE_FETH_SELECT_SHIFT == SROCE_FLUSH_REGION;
}

/* RC: return @rc for a NAK; UC: drop the packet and the rest of the message. */
static enum verdict reject(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			   enum verdict rc)
{
	if (sroce_is_rc(qp))
		return rc;
	qp->resp.msg = 0;
	return drop(qp, pkt, SROCE_CNT_RX_LENGTH);
}

/* Bytes of a SEND that there are with this packet, or with these */
static u64 send_end(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u64 off = pkt->op->flags & SROCE_START ? 0 : qp->resp.off;

	return off + pkt->payload_len;
}

static enum verdict check_length(struct sroce_qp *qp,
				 const struct sroce_pkt *pkt)
{
	u32 flags = pkt->op->flags, len = pkt->payload_len;
	bool ok = payload_fits(qp, pkt);

	if (flags & SROCE_RETH && pkt->length > SROCE_MSG_MAX && !is_whole(pkt))
		ok = false;
	if (flags & SROCE_READING && sroce_psn_count(pkt->length, qp->mtu) >= SROCE_PSN_HALF)
		ok = false;
	if (flags & SROCE_SENDING && send_end(qp, pkt) > SROCE_MSG_MAX)
		ok = false;
	if (flags & SROCE_FLUSHING && !is_flush_valid(pkt->feth))
		ok = false;
	if (flags & SROCE_ATOMIC && pkt->va & 7)
		ok = false;
	if (flags & SROCE_ATOMIC && flags & SROCE_RETH &&
	    (len != sizeof(u64) || pkt->length != len))
		ok = false;
	return ok ? PASS : reject(qp, pkt, INV_REQ);
}

/* Memory is never persistent here, so no region grants the second right. */
static int flush_access(u32 feth)
{
	return (feth & SROCE_FLUSH_GLOBAL ? SROCE_ACCESS_FLUSH_GLOBAL : 0) |
	       (feth & SROCE_FLUSH_PERSISTENT ? SROCE_ACCESS_FLUSH_PERSISTENT :
						0);
}

/* Access rights that a request needs; an ATOMIC WRITE needs the right to write. */
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

/* 9.7.4.1.3: the access flags of the QP must allow the request. */
static enum verdict check_enabled(struct sroce_qp *qp,
				  const struct sroce_pkt *pkt)
{
	int need = access_of(pkt);

	if ((qp->attr.qp_access_flags & need) == need)
		return PASS;
	return reject(qp, pkt, INV_REQ);
}

/* Take a receive work request if the packet consumes one. */
static enum verdict check_recv(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	u32 flags = pkt->op->flags;
	u32 grh = qp->svc == SROCE_SVC_UD ? SROCE_GRH_LEN : 0;

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
	    grh + send_end(qp, pkt) > resp->wqe.length)
		return LOC_LEN;
	return PASS;
}

/*
 * 9.7.4.1.6: R_Key, rights and range of the whole message, in its first packet. @mr: set to
 * the region or window that it names, if it needs one.
 */
static enum verdict check_rkey(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			       struct sroce_mr **mr)
{
	struct sroce_resp *resp = &qp->resp;
	u32 flags = pkt->op->flags, len;

	if (!(flags & (SROCE_RETH | SROCE_ATMETH)))
		return PASS;
	len = flags & SROCE_ATMETH ? sizeof(u64) : pkt->length;
	/* a READ or WRITE of length 0 needs no R_Key, a FLUSH does */
	if (len || flags & SROCE_FLUSHING) {
		int access = access_of(pkt);

		*mr = is_whole(pkt) ? sroce_mr_by_rkey_whole(qp, pkt->rkey, access) :
		      sroce_mr_by_rkey(qp, pkt->rkey, pkt->va, len, access);
		if (!*mr)
			return reject(qp, pkt, REM_ACCESS);
	}
	if (flags & SROCE_WRITING) {
		resp->va = pkt->va;
		resp->rkey = pkt->rkey;
		resp->remaining = len;
		resp->length = len;
	}
	return PASS;
}

/* The payload of a WRITE must be exactly as long as its RETH says. */
static enum verdict check_write(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u32 flags = pkt->op->flags, left = qp->resp.remaining;

	if (!(flags & SROCE_WRITING))
		return PASS;
	if (flags & SROCE_END ? pkt->payload_len == left :
				pkt->payload_len < left)
		return PASS;
	return reject(qp, pkt, INV_REQ);
}

/*
 * Fault in memory of the receive work request. The length of the message is unknown, so
 * as much again is faulted in as has arrived, and RECV_AHEAD.
 */
static enum verdict fault_in_recv(struct sroce_qp *qp, u32 off, u32 need)
{
	struct sroce_rwqe *wqe = &qp->resp.wqe;
	u64 ahead = min(wqe->length - off, 2ULL * off + need + RECV_AHEAD);
	u32 len = min_t(u64, ahead, max(need, SROCE_PAGES_AHEAD));
	int ret = sroce_sge_recv_fault_in(qp, off, need, len);

	/* 0: the region has been pinned meanwhile */
	return !ret ? PASS : ret == -EAGAIN ? PAGE : LOC_PROT;
}

/* The 40 bytes before a datagram: an IPv4 header is in the last 20. */
static int put_grh(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u8 buf[SROCE_GRH_LEN] = {};
	u8 *from = buf;

	memcpy(buf + SROCE_GRH_LEN - pkt->l3_len, pkt->l3, pkt->l3_len);
	return sroce_sge_recv(qp, 0, SROCE_GRH_LEN, sroce_mr_copy_to, &from);
}

/* Place the payload of a SEND in the receive work request in use. */
static int put_send(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_rx_cursor pl = { .pkt = pkt };
	u32 off = qp->resp.off, len = pkt->payload_len;
	void *p = pkt->segs ? NULL : sroce_sge_recv_flat(qp, off, len);
	int ret = p ? sroce_segs_rx_span(p, len, &pl) :
		      sroce_sge_recv(qp, off, len, sroce_segs_rx_span, &pl);

	if (!ret)
		qp->resp.off += len;
	return ret;
}

/* Call @put, which places @need bytes from @off on, and fault in memory if necessary. */
static enum verdict put_recv(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			     int (*put)(struct sroce_qp *qp, const struct sroce_pkt *pkt),
			     u32 off, u32 need)
{
	int ret = put(qp, pkt);
	enum verdict v;

	if (ret == -EAGAIN) {
		v = fault_in_recv(qp, off, need);
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

/* Place the payload of a WRITE in its region. */
static int put_write(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		     const struct sroce_mr *mr)
{
	struct sroce_rx_cursor pl = { .pkt = pkt };
	struct sroce_resp *resp = &qp->resp;
	u32 len = pkt->payload_len;
	void *p = pkt->segs ? NULL : sroce_mr_flat(mr, resp->va, len);
	int ret = p ? sroce_segs_rx_span(p, len, &pl) :
		      sroce_mr_walk(mr, resp->va, len, true, sroce_segs_rx_span, &pl);

	if (ret)
		return ret;
	resp->va += len;
	resp->remaining -= len;
	return 0;
}

static enum verdict do_write(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			     struct sroce_mr *mr)
{
	struct sroce_resp *resp = &qp->resp;
	u32 len = pkt->payload_len;
	int ret;

	if (!len)
		return PASS;
	if (!mr)
		mr = sroce_mr_by_rkey(qp, resp->rkey, resp->va, len,
				      IB_ACCESS_REMOTE_WRITE);
	if (!mr)
		return reject(qp, pkt, REM_ACCESS);
	ret = put_write(qp, pkt, mr);
	if (ret == -EAGAIN)
		ret = sroce_mr_fault_in(qp, mr, resp->va, len, resp->remaining,
					true);
	if (ret == -EAGAIN)
		return PAGE;
	return ret ? reject(qp, pkt, REM_ACCESS) : PASS;
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

/* Queue a response of one packet, which can be replayed. */
static void queue_single(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			 bool ack_only, u64 orig)
{
	struct sroce_res *res = sroce_resp_res_new(qp);

	res->single = true;
	res->ack_only = ack_only;
	res->orig = orig;
	res->first_psn = pkt->psn;
	res->last_psn = pkt->psn;
	res->msn = sroce_psn_add(qp->resp.msn, 1);
	sroce_resp_res_queue(qp, res);
}

/*
 * The data of earlier requests was written by CPUs, perhaps by others than this one,
 * through coherent caches. So it only has to be visible before the response.
 */
static enum verdict do_flush(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (!sroce_resp_res_has_room(qp))
		return INV_REQ;
	/* orders all earlier writes to memory before the response */
	mb();
	queue_single(qp, pkt, true, 0);
	return PASS;
}

/**
 * struct atomic_op - arguments of do_atomic_op()
 * @pkt: the request
 * @orig: set to the value before the operation
 */
struct atomic_op {
	const struct sroce_pkt	*pkt;
	u64			orig;
};

/* Execute an atomic operation on eight aligned bytes. */
static int do_atomic_op(void *span, u32 len, void *arg)
{
	struct atomic_op *op = arg;
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

static enum verdict do_atomic(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			      struct sroce_mr *mr)
{
	struct atomic_op op = { .pkt = pkt };
	int ret;

	if (!sroce_resp_res_has_room(qp))
		return INV_REQ;
	ret = sroce_mr_walk(mr, pkt->va, sizeof(u64), true, do_atomic_op, &op);
	if (ret == -EAGAIN) {
		ret = sroce_mr_fault_in(qp, mr, pkt->va, sizeof(u64), sizeof(u64),
					true);
		return ret == -EAGAIN ? PAGE : REM_ACCESS;
	}
	if (ret)
		return INV_REQ;
	queue_single(qp, pkt, pkt->opcode == SROCE_OP_ATOMIC_WRITE, op.orig);
	return PASS;
}

/* @mr: what check_rkey() has looked up for this packet, or NULL */
static enum verdict execute(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			    struct sroce_mr *mr)
{
	u32 flags = pkt->op->flags;

	if (flags & SROCE_SENDING)
		return do_send(qp, pkt);
	if (flags & SROCE_WRITING)
		return do_write(qp, pkt, mr);
	if (flags & SROCE_READING)
		return do_read(qp, pkt);
	if (flags & SROCE_FLUSHING)
		return do_flush(qp, pkt);
	return do_atomic(qp, pkt, mr);
}

/**
 * sroce_resp_complete() - complete the receive work request in use, if there is one
 * @qp: the QP, locked
 * @pkt: the last packet of the message, or the one with the error
 * @status: status of the completion
 *
 * The QP may have entered the error state on return, if its CQ has overflowed.
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

/* PSNs that a request takes: a READ takes those of its responses */
static u32 psn_count(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (pkt->op->flags & SROCE_READING)
		return sroce_psn_count(pkt->length, qp->mtu);
	return sroce_pkt_psns(pkt, qp->mtu);
}

/* Queue an ACK if it is asked for, or update one that is queued: ACKs are cumulative. */
static void acknowledge(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (!sroce_is_rc(qp) || !(pkt->ackreq || qp->resp.aeth))
		return;
	sroce_resp_tx_ack(qp, sroce_psn_add(qp->resp.psn, -1));
	sroce_answer_wait(qp, pkt);
}

/* A packet was executed: advance the PSN, complete the message, acknowledge. */
static void accept(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	u32 flags = pkt->op->flags;
	u32 psns = psn_count(qp, pkt);

	resp->paging_since = 0;
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
	else if (resp->aeth)
		sroce_resp_tx_executed(qp, sroce_psn_add(resp->psn, -1));
}

/* Refuse a packet with a NAK, then enter the error state. */
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

/* 9.8.3.2, 9.9.3.2: too long for UC and UD; the work request of an SRQ is consumed. */
static void refuse_length(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	sroce_count(qp, SROCE_CNT_RX_LENGTH);
	trace_sroce_drop(qp, pkt, SROCE_CNT_RX_LENGTH);
	qp->resp.msg = 0;
	if (qp->srq)
		sroce_resp_complete(qp, pkt, IB_WC_LOC_LEN_ERR);
}

/* A request waits for pages, and so do all that follow it; resp.psn is its PSN again. */
static void wait_for_pages(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;

	resp->paging = true;
	resp->paging_since = resp->paging_since ?: sroce_now();
	if (qp->svc == SROCE_SVC_UC)
		resp->psn = pkt->psn;
}

/* Queue a request that waits for pages. RC: one that does not fit is later reported as a gap. */
static void queue_for_pages(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (!sroce_ofo_put(qp, pkt))
		return;
	drop(qp, pkt, SROCE_CNT_ODP_DROP);
	qp->resp.nak_sent = false;
	if (!sroce_is_rc(qp))
		qp->resp.msg = 0;
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
		/* the receive work request ends with the error of its own side */
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
		wait_for_pages(qp, pkt);
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

/* Return: the verdict; the caller queues a request that waits for pages. */
static enum verdict rx_request(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_mr *mr = NULL;
	enum verdict v;

	sroce_answer_next(qp);
	/* the first check that doesn't pass decides */
	v = check_form(qp, pkt) ?: check_psn(qp, pkt) ?:
	    check_known(qp, pkt) ?: check_sequence(qp, pkt) ?:
	    check_enabled(qp, pkt) ?: check_length(qp, pkt) ?:
	    check_rkey(qp, pkt, &mr) ?: check_write(qp, pkt) ?:
	    check_recv(qp, pkt) ?: execute(qp, pkt, mr);

	if (v == PASS)
		accept(qp, pkt);
	else
		refuse(qp, pkt, v);
	return v;
}

/* The gap may be filled: process queued requests, up to the next gap. */
static void catch_up(struct sroce_qp *qp)
{
	struct sroce_ofo_pkt *ofo;

	while (!qp->resp.closing && !qp->resp.paging &&
	       (ofo = sroce_ofo_take(qp))) {
		qp->resp.nak_sent = false;
		if (rx_request(qp, &ofo->pkt) == PAGE)
			sroce_ofo_put_back(qp, ofo);
		else
			sroce_ofo_free(qp, ofo);
	}
	if (!sroce_is_rc(qp) || qp->resp.closing)
		return;
	/* there is one NAK: that of the last one, if it was refused, comes first */
	if (qp->resp.ofo_len ||
	    (!qp->resp.paging && !qp->resp.nak_sent && sroce_ofo_lacks(qp)))
		report_gap(qp);
}

/**
 * sroce_resp_rx() - process a request packet
 * @qp: the QP, ready to receive, locked
 * @pkt: the packet; its QP, address, P_Key and Q_Key have been checked
 */
void sroce_resp_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (qp->resp.closing)
		return;
	if (qp->resp.paging && !sroce_is_rc(qp)) {
		if (sroce_ofo_put(qp, pkt))
			drop(qp, pkt, SROCE_CNT_ODP_DROP);
		return;
	}
	if (rx_request(qp, pkt) == PAGE)
		queue_for_pages(qp, pkt);
	if (qp->resp.ofo_len)
		catch_up(qp);
}

/* Place segments within a WRITE. Return: false if they must be processed one by one. */
static bool place_write_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_mr *mr;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE) ||
	    pkt->payload_len >= resp->remaining)
		return false;
	mr = sroce_mr_by_rkey(qp, resp->rkey, resp->va, pkt->payload_len,
			      IB_ACCESS_REMOTE_WRITE);
	return mr && !put_write(qp, pkt, mr);
}

/* Likewise, within a SEND */
static bool place_send_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	const struct sroce_resp *resp = &qp->resp;

	return resp->have_wqe && !resp->wqe.bad &&
	       send_end(qp, pkt) <= min_t(u64, resp->wqe.length, SROCE_MSG_MAX) &&
	       !put_send(qp, pkt);
}

/**
 * sroce_resp_rx_segs() - process several middle packets received as one train
 * @qp: the QP, ready to receive, locked
 * @pkt: the segments, checked as for sroce_resp_rx()
 *
 * Return: false if the packets must be processed one by one.
 */
bool sroce_resp_rx_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u32 kind = pkt->op->flags & (SROCE_SENDING | SROCE_WRITING);
	struct sroce_resp *resp = &qp->resp;

	if (resp->closing || resp->paging || resp->ofo_len || !kind ||
	    resp->msg != kind || pkt->psn != resp->psn || pkt->seg_len != qp->mtu)
		return false;
	if (!(kind == SROCE_WRITING ? place_write_segs(qp, pkt) : place_send_segs(qp, pkt)))
		return false;
	sroce_answer_next(qp);
	resp->psn = sroce_psn_add(resp->psn, pkt->segs);
	resp->nak_sent = false;
	resp->paging_since = 0;
	acknowledge(qp, pkt);
	return true;
}

/**
 * sroce_resp_faulted_in() - resume the responder after pages were faulted in
 * @qp: the QP, locked
 */
void sroce_resp_faulted_in(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;

	resp->tx_paging = false;
	if (!resp->paging || !sroce_qp_may_receive(qp))
		return;
	resp->paging = false;
	catch_up(qp);
}
