// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a responder sends: READ responses, atomic acknowledges, ACKs and NAKs,
 * in the order of their PSNs (9.7.5).
 *
 * READs and atomics wait in a FIFO, since a READ may take many packets. What is
 * asked for again goes first: the peer can do little before it has it. One
 * plain acknowledge may wait behind them all: it is cumulative, the newest
 * counts.
 */

#include <linux/string.h>
#include "drv/core/wire/credit.h"
#include "drv/core/env.h"
#include "drv/core/tx/segs.h"
#include "drv/core/trace.h"

static void fifo_add(struct sroce_fifo *f, u8 idx)
{
	f->idx[f->n++] = idx;
}

static void fifo_del(struct sroce_fifo *f, u8 idx)
{
	u32 i;

	for (i = 0; i < f->n && f->idx[i] != idx; i++)
		;
	if (i == f->n)
		return;
	f->n--;
	memmove(f->idx + i, f->idx + i + 1, f->n - i);
}

static u8 idx_of(const struct sroce_resp *resp, const struct sroce_res *res)
{
	return res - resp->res;
}

static void end_first(struct sroce_resp *resp, struct sroce_res *res)
{
	fifo_del(&resp->fifo, idx_of(resp, res));
	res->queued = false;
}

/* Nothing of an entry is to be answered again any more. */
static void end_replays(struct sroce_resp *resp, u8 idx)
{
	struct sroce_replays *r = &resp->replays;
	u32 i, n = 0;

	for (i = 0; i < r->n; i++)
		if (r->q[i].idx != idx)
			r->q[n++] = r->q[i];
	r->n = n;
}

static void end_replay(struct sroce_resp *resp)
{
	struct sroce_replays *r = &resp->replays;

	r->n--;
	memmove(r->q, r->q + 1, r->n * sizeof(*r->q));
}

/**
 * sroce_resp_res_forget() - nothing is to be answered any more
 * @qp: the QP
 */
void sroce_resp_res_forget(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;

	while (resp->fifo.n)
		end_first(resp, &resp->res[resp->fifo.idx[0]]);
	resp->replays.n = 0;
}

/**
 * sroce_resp_res_resize() - remember another number of READs and atomics
 * @qp: the QP
 * @res: zeroed entries
 * @n: how many; while the QP receives not fewer than before
 *
 * Return: the entries so far, for the caller to free. The newest are kept.
 */
struct sroce_res *sroce_resp_res_resize(struct sroce_qp *qp, struct sroce_res *res,
				      u32 n)
{
	struct sroce_resp *resp = &qp->resp;
	u32 i, had = resp->nres, keep = min(n, had);
	struct sroce_res *old = resp->res;

	if (keep != had)
		sroce_resp_res_forget(qp);
	for (i = 0; i < keep; i++)
		res[i] = old[(resp->head + had - keep + i) % had];
	for (i = 0; i < resp->fifo.n; i++)
		resp->fifo.idx[i] = (resp->fifo.idx[i] + had - resp->head) % had;
	for (i = 0; i < resp->replays.n; i++)
		resp->replays.q[i].idx = (resp->replays.q[i].idx + had -
					  resp->head) % had;
	resp->res = res;
	resp->nres = n;
	resp->head = n ? keep % n : 0;
	return old;
}

/**
 * sroce_resp_res_has_room() - whether a READ or atomic can be remembered
 * @qp: the QP
 */
bool sroce_resp_res_has_room(const struct sroce_qp *qp)
{
	const struct sroce_resp *resp = &qp->resp;

	return resp->nres && !resp->res[resp->head].queued;
}

/**
 * sroce_resp_res_new() - an entry to remember a READ or atomic in
 * @qp: the QP
 *
 * Return: the entry, or NULL if the requester has more of them outstanding
 * than it was told it may.
 */
struct sroce_res *sroce_resp_res_new(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_res *res;

	if (!sroce_resp_res_has_room(qp))
		return NULL;
	res = &resp->res[resp->head];
	/* It asks for more than it may have outstanding, so it has this. */
	end_replays(resp, resp->head);
	resp->head = (resp->head + 1) % resp->nres;
	memset(res, 0, sizeof(*res));
	res->valid = true;
	return res;
}

/**
 * sroce_resp_res_queue() - have an entry answered for the first time
 * @qp: the QP
 * @res: the entry
 */
void sroce_resp_res_queue(struct sroce_qp *qp, struct sroce_res *res)
{
	res->first.psn = res->first_psn;
	res->first.end = sroce_psn_add(res->last_psn, 1);
	res->queued = true;
	fifo_add(&qp->resp.fifo, idx_of(&qp->resp, res));
}

/*
 * Responses from @psn to @end once more, before all others. If too much was
 * asked for already the requester will do so again.
 */
static void replay(struct sroce_resp *resp, u8 idx, u32 psn, u32 end)
{
	struct sroce_replays *r = &resp->replays;
	u32 i;

	for (i = 0; i < r->n; i++) {
		struct sroce_resp_range *a = &r->q[i].answer;

		if (r->q[i].idx != idx || sroce_psn_diff(psn, a->end) > 0 ||
		    sroce_psn_diff(a->psn, end) > 0)
			continue;
		if (sroce_psn_diff(end, a->end) > 0)
			a->end = end;
		if (sroce_psn_diff(psn, a->psn) < 0) {
			a->psn = psn;
			a->opened = false;
		}
		return;
	}
	if (i == SROCE_REPLAYS_MAX)
		return;
	r->q[i].idx = idx;
	r->q[i].answer = (struct sroce_resp_range){ .psn = psn, .end = end };
	r->n++;
}

/* What of it was not sent for the first time yet is not lost. */
static void ask_again(struct sroce_qp *qp, struct sroce_res *res, u32 psn,
		      u32 end)
{
	struct sroce_resp *resp = &qp->resp;

	if (res->queued) {
		if (sroce_psn_diff(psn, res->first.psn) >= 0)
			return;
		if (sroce_psn_diff(end, res->last_psn) > 0)
			end_first(resp, res);
		else if (sroce_psn_diff(end, res->first.psn) > 0)
			end = res->first.psn;
	}
	replay(resp, idx_of(resp, res), psn, end);
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

/* A repeated READ may ask for a part of the first one, nothing else. */
static bool read_matches(const struct sroce_qp *qp, const struct sroce_res *res,
			 const struct sroce_pkt *pkt)
{
	u32 off = sroce_psn_diff(pkt->psn, res->first_psn) * qp->mtu;

	if (pkt->rkey != res->rkey || pkt->va != res->va + off ||
	    off > res->length || pkt->length > res->length - off)
		return false;
	/* to the end, or whole packets */
	return pkt->length == res->length - off ||
	       (pkt->length && !(pkt->length % qp->mtu));
}

/**
 * sroce_resp_res_replay() - answer a duplicate READ or atomic (9.7.5.1.4)
 * @qp: the QP
 * @pkt: the duplicate request
 *
 * Return: false if it is not remembered, or not the same request.
 */
bool sroce_resp_res_replay(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_res *res = find_res(&qp->resp, pkt->psn);
	bool single = !(pkt->op->flags & SROCE_READING);
	u32 psns = 1;

	if (!res || res->single != single)
		return false;
	if (single) {
		sroce_count(qp, pkt->op->flags & SROCE_ATOMIC ?
			    SROCE_CNT_ATOMIC_REPLAY : SROCE_CNT_FLUSH_REPLAY);
	} else {
		if (!read_matches(qp, res, pkt))
			return false;
		sroce_count(qp, SROCE_CNT_READ_REPLAY);
		psns = sroce_psn_count(pkt->length, qp->mtu);
	}
	ask_again(qp, res, pkt->psn, sroce_psn_add(pkt->psn, psns));
	return true;
}

/**
 * sroce_resp_res_ack_psn() - how far a duplicate SEND or WRITE is acknowledged
 * @qp: the QP
 * @psn: its PSN
 *
 * Not beyond the next READ or atomic, which has an answer of its own: one that
 * is yet to be asked for again would count as lost (9.7.5.1.2), and a plain
 * acknowledge with its very PSN as the answer without what it should bring.
 */
u32 sroce_resp_res_ack_psn(const struct sroce_qp *qp, u32 psn)
{
	const struct sroce_resp *resp = &qp->resp;
	u32 i, end = resp->psn;

	for (i = 0; i < resp->nres; i++) {
		const struct sroce_res *res = &resp->res[i];

		if (res->valid && sroce_psn_diff(res->first_psn, psn) > 0 &&
		    sroce_psn_diff(res->first_psn, end) < 0)
			end = res->first_psn;
	}
	return sroce_psn_add(end, -1);
}

/**
 * sroce_resp_tx_ack() - have a positive acknowledge sent
 * @qp: the QP
 * @psn: what it acknowledges
 */
void sroce_resp_tx_ack(struct sroce_qp *qp, u32 psn)
{
	struct sroce_resp *resp = &qp->resp;

	/* A gap that was filled before it was told of is none. */
	if (resp->aeth_syndrome == (SROCE_AETH_NAK | SROCE_NAK_PSN_SEQ) &&
	    sroce_psn_diff(psn, resp->aeth_psn) >= 0)
		resp->aeth = false;
	/* A NAK that waits to be sent says as much, and more. */
	if (resp->aeth && (resp->aeth_syndrome & SROCE_AETH_TYPE ||
			   sroce_psn_diff(resp->aeth_psn, psn) > 0))
		return;
	resp->aeth = true;
	resp->aeth_psn = psn;
	resp->aeth_syndrome = SROCE_AETH_ACK;
}

/**
 * sroce_resp_tx_nak() - have the expected PSN refused
 * @qp: the QP
 * @code: why
 */
void sroce_resp_tx_nak(struct sroce_qp *qp, enum sroce_nak code)
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
 * sroce_resp_tx_rnr() - have the expected PSN put off: no receive is posted
 * @qp: the QP
 */
void sroce_resp_tx_rnr(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;

	sroce_count(qp, SROCE_CNT_RNR_SENT);
	resp->aeth = true;
	resp->aeth_psn = resp->psn;
	resp->aeth_syndrome = SROCE_AETH_RNR | qp->attr.min_rnr_timer;
}

/* Receive work requests left, if they are this QP's alone */
static u8 credits(const struct sroce_qp *qp)
{
	if (qp->srq)
		return SROCE_AETH_NO_CREDITS;
	return sroce_credit_encode(sroce_ring_filled(&qp->rq.ring));
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
	pkt->syndrome = SROCE_AETH_ACK | credits(qp);
	pkt->msn = msn;
	pkt->pad = -pkt->payload_len & 3;
}

static void send_plain(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_txbuf room;

	sroce_txbuf_alloc(qp, pkt, &room);
	sroce_txbuf_commit(qp, pkt, &room);
}

static void send_aeth(struct sroce_qp *qp)
{
	struct sroce_pkt pkt = { .loopback = sroce_loopback_usable(qp) };
	struct sroce_resp *resp = &qp->resp;

	resp->aeth = false;
	fill(qp, &pkt, SROCE_OP_ACK, resp->aeth_psn, resp->msn);
	if (resp->aeth_syndrome & SROCE_AETH_TYPE)
		pkt.syndrome = resp->aeth_syndrome;
	else
		sroce_count(qp, SROCE_CNT_ACK_SENT);
	send_plain(qp, &pkt);
}

static void send_single(struct sroce_qp *qp, const struct sroce_res *res)
{
	struct sroce_pkt pkt = { .loopback = sroce_loopback_usable(qp) };

	fill(qp, &pkt, res->bare ? SROCE_OP_READ_ONLY : SROCE_OP_ATOMIC_ACK,
	     res->first_psn, res->msn);
	pkt.orig = res->orig;
	send_plain(qp, &pkt);
}

static u8 read_opcode(const struct sroce_resp_range *a, bool last)
{
	if (!a->opened)
		return last ? SROCE_OP_READ_ONLY :
			      SROCE_OP_READ_FIRST;
	return last ? SROCE_OP_READ_LAST :
		      SROCE_OP_READ_MIDDLE;
}

/*
 * One response. -EAGAIN: what it brings is not in memory yet; -EXDEV: it has to
 * take another way; another error: the region is gone, the requester is told so.
 */
static int send_read(struct sroce_qp *qp, const struct sroce_res *res,
		     struct sroce_resp_range *a)
{
	u32 off = sroce_psn_diff(a->psn, res->first_psn) * qp->mtu;
	u32 len = min_t(u64, res->length - off,
			(u64)sroce_psn_diff(a->end, a->psn) * qp->mtu);
	struct sroce_pkt pkt = { .loopback = sroce_loopback_usable(qp) };
	struct sroce_txbuf room;
	u32 psn;
	int ret;

	pkt.payload_len = min(sroce_txbuf_max_payload(qp, &pkt), len);
	psn = sroce_psn_add(a->psn, sroce_pkt_psns(&pkt, qp->mtu));
	fill(qp, &pkt, read_opcode(a, psn == a->end), a->psn, res->msn);
	ret = sroce_txbuf_fill_remote(qp, &pkt, res->rkey, res->va + off,
				res->length - off, &room);
	if (ret)
		return ret;
	sroce_txbuf_commit(qp, &pkt, &room);
	a->opened = true;
	a->psn = psn;
	return 0;
}

/* Responses between the first and the last. Return: how many were sent. */
static u32 send_reads(struct sroce_qp *qp, const struct sroce_res *res,
		      struct sroce_resp_range *a, u32 budget)
{
	u32 n = min_t(u32, budget, sroce_psn_diff(a->end, a->psn) - 1);
	u32 off = sroce_psn_diff(a->psn, res->first_psn) * qp->mtu;
	struct sroce_pkt pkt = { .payload_len = qp->mtu };

	if (res->single || !a->opened || n < 2 || sroce_loopback_usable(qp))
		return 0;
	fill(qp, &pkt, SROCE_OP_READ_MIDDLE, a->psn, res->msn);
	n = sroce_segs_tx_remote(qp, &pkt, res->rkey, res->va + off, n);
	a->psn = sroce_psn_add(a->psn, n);
	return n;
}

static void refuse_read(struct sroce_qp *qp, u32 psn)
{
	struct sroce_resp *resp = &qp->resp;

	sroce_resp_tx_nak(qp, SROCE_NAK_REM_ACCESS);
	resp->aeth_psn = psn;
	resp->closing = true;
	sroce_resp_res_forget(qp);
	sroce_qp_event(qp, IB_EVENT_QP_ACCESS_ERR);
}

/*
 * A response that was sent may have come: then the READ is complete, its memory
 * may be gone by right, and nobody waits for the copy that was asked for. Who
 * does wait has a timer.
 */
static bool was_sent(const struct sroce_res *res, u32 psn)
{
	return sroce_psn_diff(psn, res->first.psn) < 0;
}

/**
 * sroce_resp_tx_run() - send what the responder has to say
 * @qp: the QP
 * @budget: most packets to send
 *
 * Return: whether the budget ran out with more to send.
 */
bool sroce_resp_tx_run(struct sroce_qp *qp, u32 budget)
{
	struct sroce_resp *resp = &qp->resp;

	/* answers are in order: what follows waits as well */
	if (resp->tx_paging)
		return false;
	while (resp->replays.n || resp->fifo.n) {
		bool again = resp->replays.n;
		u8 idx = again ? resp->replays.q[0].idx : resp->fifo.idx[0];
		struct sroce_res *res = &resp->res[idx];
		struct sroce_resp_range *a = again ? &resp->replays.q[0].answer :
						 &res->first;
		int ret = 0;
		u32 n;

		if (!budget || qp->trip_bytes >= SROCE_TX_BUDGET_BYTES)
			return true;
		n = send_reads(qp, res, a, budget);
		budget -= n ?: 1;
		if (n)
			continue;
		if (res->single) {
			send_single(qp, res);
			a->psn = a->end;
		} else {
			ret = send_read(qp, res, a);
		}
		if (ret == -EAGAIN) {
			resp->tx_paging = true;
			return false;
		}
		if (ret == -EXDEV)
			continue;
		if (ret) {
			if (!again || !was_sent(res, a->psn)) {
				refuse_read(qp, a->psn);
				break;
			}
			a->psn = a->end;
		}
		if (a->psn != a->end)
			continue;
		if (again)
			end_replay(resp);
		else
			end_first(resp, res);
	}
	if (resp->aeth)
		send_aeth(qp);
	/* The last word is out: nothing keeps the QP alive any longer. */
	if (resp->closing && qp->state != IB_QPS_ERR)
		sroce_flush_qp_error(qp);
	return false;
}
