// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a responder sends: READ responses, atomic acknowledges, ACKs and NAKs,
 * in the order of their PSNs (9.7.5).
 *
 * READs and atomics wait in a FIFO, since a READ may take many packets. One
 * plain acknowledge may wait behind them: it is cumulative, the newest counts.
 */

#include <linux/string.h>
#include "env.h"
#include "trace.h"

static u8 fifo_head(const struct sroce_resp *resp)
{
	return resp->fifo[0];
}

static void fifo_remove(struct sroce_resp *resp, u32 i)
{
	resp->res[resp->fifo[i]].queued = false;
	resp->nfifo--;
	memmove(resp->fifo + i, resp->fifo + i + 1, resp->nfifo - i);
}

static void fifo_pop(struct sroce_resp *resp)
{
	resp->res[fifo_head(resp)].answered = true;
	fifo_remove(resp, 0);
}

/*
 * The requester has all responses of an entry once it asks for more than it
 * may have outstanding: what is left of a replay is of no use to it.
 */
static bool end_replay(struct sroce_resp *resp, const struct sroce_res *res)
{
	u32 i;

	if (!res->answered)
		return false;
	for (i = 0; i < resp->nfifo; i++) {
		if (resp->fifo[i] == res - resp->res) {
			fifo_remove(resp, i);
			break;
		}
	}
	return true;
}

/**
 * sroce_answer_new() - an entry to remember a READ or atomic in
 * @qp: the QP
 *
 * Return: the entry, or NULL if the requester has more of them outstanding
 * than it was told it may.
 */
struct sroce_res *sroce_answer_new(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_res *res;

	if (!resp->nres)
		return NULL;
	res = &resp->res[resp->head];
	if (res->queued && !end_replay(resp, res))
		return NULL;
	resp->head = (resp->head + 1) % resp->nres;
	memset(res, 0, sizeof(*res));
	res->valid = true;
	return res;
}

/**
 * sroce_answer_queue() - have an entry answered
 * @qp: the QP
 * @res: the entry
 * @psn: first response to send
 */
void sroce_answer_queue(struct sroce_qp *qp, struct sroce_res *res, u32 psn)
{
	struct sroce_resp *resp = &qp->resp;

	res->psn = psn;
	res->opened = false;
	if (res->queued)
		return;
	res->queued = true;
	resp->fifo[resp->nfifo++] = res - resp->res;
}

/* The newest first: an old one may have had the same PSN, 2^24 packets ago. */
static struct sroce_res *find_res(struct sroce_resp *resp, u32 psn)
{
	u32 i;

	for (i = 1; i <= resp->nres; i++) {
		struct sroce_res *res =
			&resp->res[(resp->head + resp->nres - i) % resp->nres];

		if (res->valid && sroce_psn_diff(psn, res->first_psn) >= 0 &&
		    sroce_psn_diff(psn, res->last_psn) <= 0)
			return res;
	}
	return NULL;
}

/* A repeated READ may ask for the tail of the first one, nothing else. */
static bool read_matches(const struct sroce_qp *qp, const struct sroce_res *res,
			 const struct sroce_pkt *pkt)
{
	u32 off = sroce_psn_diff(pkt->psn, res->first_psn) * qp->mtu;

	return pkt->rkey == res->rkey && pkt->va == res->va + off &&
	       off <= res->length && pkt->length <= res->length - off;
}

/**
 * sroce_answer_again() - answer a duplicate READ or atomic (9.7.5.1.4)
 * @qp: the QP
 * @pkt: the duplicate request
 *
 * Return: false if it is not remembered, or not the same request.
 */
bool sroce_answer_again(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_res *res = find_res(&qp->resp, pkt->psn);
	bool atomic = pkt->op->flags & SROCE_ATOMIC;

	if (!res || res->atomic != atomic)
		return false;
	if (atomic) {
		sroce_count(qp, SROCE_CNT_ATOMIC_REPLAY);
	} else {
		if (!read_matches(qp, res, pkt))
			return false;
		sroce_count(qp, SROCE_CNT_READ_REPLAY);
	}
	sroce_answer_queue(qp, res, pkt->psn);
	return true;
}

/**
 * sroce_answer_ack() - have a positive acknowledge sent
 * @qp: the QP
 * @psn: what it acknowledges
 */
void sroce_answer_ack(struct sroce_qp *qp, u32 psn)
{
	struct sroce_resp *resp = &qp->resp;

	/* A NAK that waits to be sent says as much, and more. */
	if (resp->aeth && resp->aeth_syndrome & SROCE_AETH_TYPE)
		return;
	resp->aeth = true;
	resp->aeth_psn = psn;
	resp->aeth_syndrome = SROCE_AETH_ACK | SROCE_AETH_NO_CREDITS;
}

/**
 * sroce_answer_nak() - have the expected PSN refused
 * @qp: the QP
 * @code: why
 */
void sroce_answer_nak(struct sroce_qp *qp, enum sroce_nak code)
{
	static const u8 counters[] = {
		[SROCE_NAK_PSN_SEQ]	= SROCE_CNT_NAK_SEQ_SENT,
		[SROCE_NAK_INV_REQ]	= SROCE_CNT_NAK_INV_SENT,
		[SROCE_NAK_REM_ACCESS]	= SROCE_CNT_NAK_ACC_SENT,
		[SROCE_NAK_REM_OP]	= SROCE_CNT_NAK_OP_SENT,
	};
	struct sroce_resp *resp = &qp->resp;

	sroce_count(qp, counters[code]);
	resp->aeth = true;
	resp->aeth_psn = resp->psn;
	resp->aeth_syndrome = SROCE_AETH_NAK | code;
}

/**
 * sroce_answer_rnr() - have the expected PSN put off: no receive is posted
 * @qp: the QP
 */
void sroce_answer_rnr(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;

	sroce_count(qp, SROCE_CNT_RNR_SENT);
	resp->aeth = true;
	resp->aeth_psn = resp->psn;
	resp->aeth_syndrome = SROCE_AETH_RNR | qp->attr.min_rnr_timer;
}

static void fill(struct sroce_qp *qp, struct sroce_pkt *pkt, u8 opcode,
		 u32 psn, u32 msn)
{
	pkt->opcode = SROCE_SVC_RC << 5 | opcode;
	pkt->op = &sroce_opcodes[pkt->opcode];
	pkt->pkey = SROCE_PKEY_FULL;
	pkt->migreq = qp->attr.path_mig_state == IB_MIG_MIGRATED;
	pkt->qpn = qp->attr.dest_qp_num;
	pkt->psn = psn;
	pkt->syndrome = SROCE_AETH_ACK | SROCE_AETH_NO_CREDITS;
	pkt->msn = msn;
	pkt->pad = -pkt->payload_len & 3;
}

static void send_plain(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u8 *p = sroce_tx_begin(qp, &qp->av, pkt->op->hdr_len);

	if (!p)
		return;
	sroce_pkt_build(pkt, p);
	trace_sroce_tx(qp, pkt);
	sroce_tx_commit(qp);
}

static void send_aeth(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_pkt pkt = {};

	resp->aeth = false;
	fill(qp, &pkt, SROCE_OP_ACK, resp->aeth_psn, resp->msn);
	pkt.syndrome = resp->aeth_syndrome;
	if (!(pkt.syndrome & SROCE_AETH_TYPE))
		sroce_count(qp, SROCE_CNT_ACK_SENT);
	send_plain(qp, &pkt);
}

static void send_atomic(struct sroce_qp *qp, const struct sroce_res *res)
{
	struct sroce_pkt pkt = {};

	fill(qp, &pkt, SROCE_OP_ATOMIC_ACK, res->first_psn, res->msn);
	pkt.orig = res->orig;
	send_plain(qp, &pkt);
}

static int collect(void *span, u32 len, void *arg)
{
	u8 **to = arg;

	memcpy(*to, span, len);
	*to += len;
	return 0;
}

static int read_remote(struct sroce_qp *qp, u32 rkey, u64 va, u8 *to, u32 len)
{
	struct sroce_mr *mr;
	int ret = -EFAULT;

	if (!len)
		return 0;
	mr = sroce_mr_get(qp, rkey);
	if (!mr)
		return ret;
	if (mr->access & IB_ACCESS_REMOTE_READ)
		ret = sroce_mr_walk(mr, va, len, collect, &to);
	sroce_mr_put(mr);
	return ret;
}

static u8 read_opcode(const struct sroce_res *res, bool last)
{
	if (!res->opened)
		return last ? SROCE_OP_READ_ONLY :
			      SROCE_OP_READ_FIRST;
	return last ? SROCE_OP_READ_LAST :
		      SROCE_OP_READ_MIDDLE;
}

/* One response. false: the region is gone; the requester is told so. */
static bool send_read(struct sroce_qp *qp, struct sroce_res *res)
{
	u32 off = sroce_psn_diff(res->psn, res->first_psn) * qp->mtu;
	struct sroce_pkt pkt = {};
	u8 *p;

	pkt.payload_len = min(qp->mtu, res->length - off);
	fill(qp, &pkt, read_opcode(res, res->psn == res->last_psn), res->psn,
	     res->msn);
	p = sroce_tx_begin(qp, &qp->av,
			   pkt.op->hdr_len + pkt.payload_len + pkt.pad);
	if (p) {
		u8 *data = p + pkt.op->hdr_len;

		if (read_remote(qp, res->rkey, res->va + off, data,
				pkt.payload_len)) {
			sroce_tx_abort(qp);
			return false;
		}
		memset(data + pkt.payload_len, 0, pkt.pad);
		sroce_pkt_build(&pkt, p);
		trace_sroce_tx(qp, &pkt);
		sroce_tx_commit(qp);
	}
	res->opened = true;
	res->psn = sroce_psn_add(res->psn, 1);
	return true;
}

static void refuse_read(struct sroce_qp *qp, u32 psn)
{
	struct sroce_resp *resp = &qp->resp;

	sroce_answer_nak(qp, SROCE_NAK_REM_ACCESS);
	resp->aeth_psn = psn;
	resp->closing = true;
	resp->nfifo = 0;
	sroce_qp_event(qp, IB_EVENT_QP_ACCESS_ERR);
}

/**
 * sroce_answer_run() - send what the responder has to say
 * @qp: the QP
 * @budget: most packets to send
 *
 * Return: whether the budget ran out with more to send.
 */
bool sroce_answer_run(struct sroce_qp *qp, u32 budget)
{
	struct sroce_resp *resp = &qp->resp;

	while (resp->nfifo) {
		struct sroce_res *res = &resp->res[fifo_head(resp)];

		if (!budget--)
			return true;
		if (res->atomic) {
			send_atomic(qp, res);
			fifo_pop(resp);
			continue;
		}
		if (!send_read(qp, res)) {
			refuse_read(qp, res->psn);
			break;
		}
		if (sroce_psn_diff(res->psn, res->last_psn) > 0)
			fifo_pop(resp);
	}
	if (resp->aeth)
		send_aeth(qp);
	/* The last word is out: nothing keeps the QP alive any longer. */
	if (resp->closing && qp->state != IB_QPS_ERR)
		sroce_qp_error(qp);
	return false;
}
