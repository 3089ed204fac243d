// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Transmit side of the responder: READ responses, atomic responses, ACKs and NAKs, in
 * the order of their PSNs (9.7.5).
 *
 * The order of responses is that of resp_res.c, replays first. At most one plain ACK or
 * NAK waits behind them all: ACKs are cumulative, and the newest counts. While a response waits for
 * pages, ACKs of requests before it leave, and RNR NAKs.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/rc/answer.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/ofo.h"
#include "drv/core/rc/resp_rate.h"
#include "drv/core/rc/resp_res.h"
#include "drv/core/rc/resp_tx.h"
#include "drv/core/tx/segs.h"
#include "drv/core/tx/txbuf.h"
#include "drv/core/wire/credit.h"

/*
 * If pages take longer than this, in ns, the peer gets RNR NAKs, for requests that take a receive,
 * and for others. A peer that sends only others may allow few RNR NAKs before its connection ends.
 * So they come late, and ask for a long wait.
 */
#define RECV_PAGING_LONG	(30 * NSEC_PER_MSEC)
#define PAGING_LONG		(100 * NSEC_PER_MSEC)
/* RNR timer code of 40.96 ms (9.7.5.2.8) */
#define RNR_41_MS		((u8)24)

/**
 * sroce_resp_tx_executed() - forget a queued NAK of a request that was executed meanwhile
 * @qp: the QP, RC, locked
 * @psn: the newest PSN that was executed
 *
 * The gap that it reports was filled, or there is a receive work request now.
 */
void sroce_resp_tx_executed(struct sroce_qp *qp, u32 psn)
{
	struct sroce_resp *resp = &qp->resp;
	u8 syndrome = resp->aeth_syndrome;

	if (resp->aeth && sroce_psn_diff(psn, resp->aeth_psn) >= 0 &&
	    (syndrome == (SROCE_AETH_NAK | SROCE_NAK_PSN_SEQ) ||
	     (syndrome & SROCE_AETH_TYPE) == SROCE_AETH_RNR)) {
		resp->aeth = false;
		resp->nak_sent = false;
	}
}

/**
 * sroce_resp_tx_ack() - queue an ACK
 * @qp: the QP, RC, locked
 * @psn: the newest PSN that it acknowledges
 */
void sroce_resp_tx_ack(struct sroce_qp *qp, u32 psn)
{
	struct sroce_resp *resp = &qp->resp;

	sroce_resp_tx_executed(qp, psn);
	/* a NAK or a newer ACK that is queued acknowledges as much */
	if (resp->aeth && (resp->aeth_syndrome & SROCE_AETH_TYPE ||
			   sroce_psn_diff(resp->aeth_psn, psn) > 0))
		return;
	resp->aeth = true;
	resp->aeth_psn = psn;
	resp->aeth_syndrome = SROCE_AETH_ACK;
}

/**
 * sroce_resp_tx_ack_again() - queue the ACK of a duplicate SEND or WRITE
 * @qp: the QP, RC, locked
 * @pkt: the duplicate
 */
void sroce_resp_tx_ack_again(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u32 psn = sroce_resp_res_ack_psn(qp, pkt->psn);

	if (pkt->ackreq && sroce_psn_add(psn, 1) == qp->resp.psn)
		sroce_ofo_duplicate(qp);
	sroce_resp_tx_ack(qp, psn);
}

/* The syndrome of an RNR NAK for pages; a timer of 0 is the longest */
static u8 paging_rnr(const struct sroce_qp *qp)
{
	u8 timer = qp->attr.min_rnr_timer;

	return SROCE_AETH_RNR | (timer ? max(timer, RNR_41_MS) : 0);
}

/**
 * sroce_resp_tx_pages_late() - whether a request has waited long for the pages of its memory
 * @qp: the QP, RC, locked
 * @pkt: the request, again
 */
bool sroce_resp_tx_pages_late(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return sroce_now() - qp->resp.paging_since >=
	       (pkt->op->flags & SROCE_RECV ? RECV_PAGING_LONG : PAGING_LONG);
}

/**
 * sroce_resp_tx_rnr() - queue an RNR NAK of the expected PSN
 * @qp: the QP, RC, locked; for want of a receive, or of pages
 */
void sroce_resp_tx_rnr(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;

	sroce_count(qp, SROCE_CNT_RNR_SENT);
	sroce_answer_next(qp);
	resp->aeth = true;
	resp->aeth_psn = resp->psn;
	resp->aeth_syndrome = resp->paging ? paging_rnr(qp) :
					     SROCE_AETH_RNR | qp->attr.min_rnr_timer;
}

/*
 * Credits for an AETH; with an SRQ there are none, as others take from it, too. They count
 * from the MSN on, so that of the message in progress is one of them (9.7.7.2).
 */
static u8 credits(const struct sroce_qp *qp)
{
	if (qp->srq)
		return SROCE_AETH_NO_CREDITS;
	return sroce_credit_encode(sroce_ring_filled(&qp->rq.ring) + qp->resp.have_wqe);
}

static void fill_bth(struct sroce_qp *qp, struct sroce_pkt *pkt, u8 opcode,
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
	struct sroce_txbuf txbuf;

	sroce_txbuf_alloc(qp, pkt, &txbuf);
	sroce_txbuf_commit(qp, pkt, &txbuf);
}

static void note_ack(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	sroce_count(qp, SROCE_CNT_ACK_SENT);
	sroce_answer_acked(qp, pkt);
}

/* The first response that was not sent yet; @psn: set to its PSN */
static const struct sroce_res *first_waiting(const struct sroce_resp *resp, u32 *psn)
{
	bool replay = resp->replays.n;
	const struct sroce_res *res = &resp->res[replay ? resp->replays.q[0].idx :
							  resp->fifo.idx[0]];

	*psn = replay ? resp->replays.q[0].range.psn : res->first.psn;
	return res;
}

/* Send an answer before a response that waits for pages, and is that to @res. */
static void send_before(struct sroce_qp *qp, const struct sroce_res *res, u32 psn,
			u8 syndrome)
{
	struct sroce_pkt pkt = { .loopback = sroce_loopback_usable(qp) };

	/* the message of the response is not complete */
	fill_bth(qp, &pkt, SROCE_OP_ACK, psn, sroce_psn_add(res->msn, -1));
	if (syndrome & SROCE_AETH_TYPE)
		pkt.syndrome = syndrome;
	else
		note_ack(qp, &pkt);
	send_plain(qp, &pkt);
}

/* An ACK of requests before the response that waits need not wait, too. */
static void send_ack_before(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;
	const struct sroce_res *res;
	u32 psn;

	if (!resp->aeth || resp->aeth_syndrome & SROCE_AETH_TYPE || resp->answer.held)
		return;
	res = first_waiting(resp, &psn);
	if (sroce_psn_diff(resp->aeth_psn, psn) >= 0)
		return;
	resp->aeth = false;
	send_before(qp, res, resp->aeth_psn, SROCE_AETH_ACK);
}

/*
 * Whether a duplicate READ is put off: it asks for @res, which waits for pages for long. What is
 * before @res need not wait: responses are tried again, from the oldest on.
 */
static bool put_off(struct sroce_qp *qp, const struct sroce_res *res, u32 psn)
{
	struct sroce_resp *resp = &qp->resp;

	if (sroce_psn_diff(psn, res->first_psn) < 0) {
		resp->tx_paging = false;
		return false;
	}
	if (sroce_now() - resp->tx_paging_since < PAGING_LONG)
		return false;
	sroce_count(qp, SROCE_CNT_RNR_SENT);
	send_before(qp, res, psn, paging_rnr(qp));
	return true;
}

/*
 * Whether a response was sent before. If it has arrived the READ may be complete and
 * its memory deregistered, and nobody waits for the replay. If it was lost, the
 * requester has a timer.
 */
static bool was_sent(const struct sroce_res *res, u32 psn)
{
	return sroce_psn_diff(psn, res->first.psn) < 0;
}

/*
 * The end of what was_sent() is true of. The rest of the range, if any, is sent for the first time,
 * see queue_replay().
 */
static u32 sent_end(const struct sroce_res *res, const struct sroce_resp_range *a)
{
	return sroce_psn_diff(a->end, res->first.psn) > 0 ? res->first.psn : a->end;
}

/*
 * Whether the peer, which asks for @psn, can do without the replay that waits for pages. A peer
 * that goes back asks for this one before what follows. If it has not for long, it has got the
 * response that was sent before, or will ask again.
 */
static bool is_unwanted(struct sroce_resp *resp, u32 psn)
{
	const struct sroce_resp_range *a = &resp->replays.q[0].range;

	if (!resp->replays.n)
		return false;
	if (sroce_psn_diff(psn, a->end) < 0) {
		resp->tx_asked_at = sroce_now();
		return false;
	}
	return was_sent(&resp->res[resp->replays.q[0].idx], a->psn) &&
	       sroce_now() - resp->tx_asked_at >= PAGING_LONG;
}

/*
 * A replay that waits for pages must not hold up what the peer asks for now. Return: whether it was
 * dropped, so that nothing waits.
 */
static bool drop_unwanted_replay(struct sroce_qp *qp, u32 psn)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_resp_range *a = &resp->replays.q[0].range;

	if (!is_unwanted(resp, psn))
		return false;
	resp->tx_paging = false;
	a->psn = sent_end(&resp->res[resp->replays.q[0].idx], a);
	if (a->psn == a->end)
		sroce_resp_res_end_replay(resp);
	return true;
}

/**
 * sroce_resp_tx_dup() - answer a duplicate request while a response waits for pages
 * @qp: the QP, RC, locked
 * @pkt: the request
 *
 * The answer that it asks for might wait behind that response until the peer gives up. So a SEND
 * or WRITE before the response is acknowledged at once, by itself, and the READ whose response
 * waits gets RNR NAKs if the pages take long. A response that was sent before does not hold up
 * what the peer wants instead.
 *
 * Return: whether it was answered.
 */
bool sroce_resp_tx_dup(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	const struct sroce_res *res;
	u32 psn;

	if (!qp->resp.tx_paging || drop_unwanted_replay(qp, pkt->psn))
		return false;
	res = first_waiting(&qp->resp, &psn);
	if (sroce_psn_diff(pkt->psn, psn) > 0)
		return false;
	if (pkt->op->flags & SROCE_HAS_RESPONSE)
		return put_off(qp, res, pkt->psn);
	if (pkt->ackreq || pkt->op->flags & SROCE_END)
		send_before(qp, res, sroce_resp_res_ack_psn(qp, pkt->psn), SROCE_AETH_ACK);
	return true;
}

/* @joins: it leaves with the request queued last */
static void send_aeth(struct sroce_qp *qp, bool joins)
{
	struct sroce_pkt pkt = { .loopback = sroce_loopback_usable(qp), .joins = joins };
	struct sroce_resp *resp = &qp->resp;

	resp->aeth = false;
	fill_bth(qp, &pkt, SROCE_OP_ACK, resp->aeth_psn, resp->msn);
	if (resp->aeth_syndrome & SROCE_AETH_TYPE)
		pkt.syndrome = resp->aeth_syndrome;
	else
		note_ack(qp, &pkt);
	send_plain(qp, &pkt);
}

/* Unless it is held for an answer */
static void send_queued_aeth(struct sroce_qp *qp)
{
	if (qp->resp.aeth && !qp->resp.answer.held)
		send_aeth(qp, false);
}

/*
 * Send a queued ACK before the NAK of a gap takes its place. The NAK acknowledges as much, but if
 * what is behind the gap is forged, the peer has sent nothing that it could be of, and drops it.
 * Where packets are kept behind the gap the NAK goes alone: an ACK that stops short of them would
 * tell the peer that they are not. Behind responses the ACK has to wait.
 */
static void send_ack_first(struct sroce_qp *qp)
{
	const struct sroce_resp *resp = &qp->resp;

	if (resp->aeth && resp->aeth_syndrome == SROCE_AETH_ACK && !resp->ofo_len &&
	    !resp->fifo.n && !resp->replays.n)
		send_aeth(qp, false);
}

/**
 * sroce_resp_tx_nak() - queue a NAK of the expected PSN
 * @qp: the QP, RC, locked
 * @code: the NAK code
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
	sroce_answer_next(qp);
	if (code == SROCE_NAK_PSN_SEQ)
		send_ack_first(qp);
	resp->aeth = true;
	resp->aeth_psn = resp->psn;
	resp->aeth_syndrome = SROCE_AETH_NAK | code;
}

static void send_single(struct sroce_qp *qp, const struct sroce_res *res)
{
	struct sroce_pkt pkt = { .loopback = sroce_loopback_usable(qp) };

	fill_bth(qp, &pkt, res->ack_only ? SROCE_OP_READ_ONLY : SROCE_OP_ATOMIC_ACK,
		 res->first_psn, res->msn);
	pkt.orig = res->orig;
	send_plain(qp, &pkt);
}

static u8 read_opcode(const struct sroce_resp_range *a, bool last)
{
	if (!a->started)
		return last ? SROCE_OP_READ_ONLY :
			      SROCE_OP_READ_FIRST;
	return last ? SROCE_OP_READ_LAST :
		      SROCE_OP_READ_MIDDLE;
}

/*
 * Send one READ response. Return: 0, -EAGAIN to wait for pages, -EXDEV to try again
 * another way (see sroce_txbuf_fill_remote()), or another error if the region is gone.
 */
static int send_read(struct sroce_qp *qp, const struct sroce_res *res,
		     struct sroce_resp_range *a)
{
	u32 off = sroce_psn_diff(a->psn, res->first_psn) * qp->mtu;
	u32 len = min_t(u64, res->length - off,
			(u64)sroce_psn_diff(a->end, a->psn) * qp->mtu);
	struct sroce_pkt pkt = { .loopback = sroce_loopback_usable(qp) };
	struct sroce_txbuf txbuf;
	u32 psn;
	int ret;

	pkt.payload_len = min(sroce_txbuf_max_payload(qp, &pkt), len);
	psn = sroce_psn_add(a->psn, sroce_pkt_psns(&pkt, qp->mtu));
	fill_bth(qp, &pkt, read_opcode(a, psn == a->end), a->psn, res->msn);
	ret = sroce_txbuf_fill_remote(qp, &pkt, res->rkey, res->va + off,
				      res->length - off, &txbuf);
	if (ret)
		return ret;
	sroce_txbuf_commit(qp, &pkt, &txbuf);
	sroce_resp_rate_sent(qp, 1);
	a->started = true;
	a->psn = psn;
	return 0;
}

/* Send middle READ responses as a train. Return: how many were sent. */
static u32 send_read_segs(struct sroce_qp *qp, const struct sroce_res *res,
			  struct sroce_resp_range *a, u32 budget)
{
	u32 n = min_t(u32, budget, sroce_psn_diff(a->end, a->psn) - 1);
	u32 off = sroce_psn_diff(a->psn, res->first_psn) * qp->mtu;
	struct sroce_pkt pkt = { .payload_len = qp->mtu };

	if (res->single || !a->started || n < 2 || sroce_loopback_usable(qp))
		return 0;
	fill_bth(qp, &pkt, SROCE_OP_READ_MIDDLE, a->psn, res->msn);
	n = sroce_segs_tx_remote(qp, &pkt, res->rkey, res->va + off, n);
	if (n)
		sroce_resp_rate_sent(qp, n);
	a->psn = sroce_psn_add(a->psn, n);
	return n;
}

/* The memory of a READ is gone: send a NAK and enter the error state. It is not complete. */
static void refuse_read(struct sroce_qp *qp, const struct sroce_res *res, u32 psn)
{
	struct sroce_resp *resp = &qp->resp;

	resp->msn = sroce_psn_add(res->msn, -1);
	sroce_resp_tx_nak(qp, SROCE_NAK_REM_ACCESS);
	resp->aeth_psn = psn;
	resp->closing = true;
	sroce_resp_res_cancel(qp);
	sroce_qp_event(qp, IB_EVENT_QP_ACCESS_ERR);
}

/*
 * A response waits for pages. They may be gone again before they are used, and the peer waits all
 * that time.
 */
static void wait_for_pages(struct sroce_resp *resp, u32 psn)
{
	resp->tx_paging = true;
	if (resp->tx_paging_since && resp->tx_paging_psn == psn)
		return;
	resp->tx_paging_since = sroce_now();
	resp->tx_asked_at = resp->tx_paging_since;
	resp->tx_paging_psn = psn;
}

/*
 * Whether responses wait for pages; ACKs of requests before them leave. If they keep a connection
 * from its end for long, they are given up, and the NAK that ends it leaves.
 */
static bool waits_for_pages(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;
	u64 end = resp->tx_paging_since + PAGING_LONG;

	if (!resp->tx_paging)
		return false;
	if (resp->closing && sroce_now() >= end) {
		resp->tx_paging = false;
		sroce_resp_res_cancel(qp);
		return false;
	}
	if (resp->closing)
		sroce_task_set_ack_timer(qp, end, 0);
	send_ack_before(qp);
	return true;
}

/**
 * sroce_resp_tx_run() - send queued responses, ACKs and NAKs
 * @qp: the QP, locked
 * @budget: most packets to send
 *
 * Return: whether the budget ran out with more to send.
 */
bool sroce_resp_tx_run(struct sroce_qp *qp, u32 budget)
{
	struct sroce_resp *resp = &qp->resp;

	/* responses are sent in order: those behind it wait as well */
	if (waits_for_pages(qp))
		return false;
	while (resp->replays.n || resp->fifo.n) {
		bool replay = resp->replays.n;
		u8 idx = replay ? resp->replays.q[0].idx : resp->fifo.idx[0];
		struct sroce_res *res = &resp->res[idx];
		struct sroce_resp_range *a = replay ? &resp->replays.q[0].range :
						      &res->first;
		int ret = 0;
		u32 n;

		if (!budget || qp->trip_bytes >= SROCE_TX_BUDGET_BYTES)
			return true;
		n = send_read_segs(qp, res, a, budget);
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
			wait_for_pages(resp, a->psn);
			if (waits_for_pages(qp))
				return false;
			continue;
		}
		if (ret == -EXDEV)
			continue;
		if (ret) {
			if (!replay || !was_sent(res, a->psn)) {
				refuse_read(qp, res, a->psn);
				break;
			}
			a->psn = sent_end(res, a);
		}
		if (a->psn != a->end)
			continue;
		if (replay)
			sroce_resp_res_end_replay(resp);
		else
			sroce_resp_res_end_first(resp, res);
	}
	resp->tx_paging_since = 0;
	send_queued_aeth(qp);
	/* the NAK that ends the connection was sent */
	if (resp->closing && qp->state != IB_QPS_ERR)
		sroce_flush_qp_error(qp);
	return false;
}

/* Send the queued ACK with the one request that was just queued. Return: whether it could. */
static bool join(struct sroce_qp *qp, u32 len)
{
	if (!sroce_tx_join(qp, len))
		return false;
	send_aeth(qp, true);
	sroce_count(qp, SROCE_CNT_ACK_WITH_ANSWER);
	return true;
}

/* See to an ACK that waits for an answer, as @n packets were sent that are one. */
static void answered(struct sroce_qp *qp, u32 n)
{
	u32 len = sroce_opcodes[SROCE_OP_ACK].hdr_len;

	if (sroce_answer_sent(qp, n == 1 && sroce_tx_fits(qp, len)))
		sroce_answer_joined(qp, join(qp, len));
}

/**
 * sroce_resp_tx_answered() - see to the ACK of a request that may be answered
 * @qp: the QP, RC, locked; a request waits for its answer
 * @n: new request packets that were sent in this trip
 *
 * An ACK that was held leaves with the answer, or by itself if the answer is long: it must not
 * wait behind that.
 */
void sroce_resp_tx_answered(struct sroce_qp *qp, u32 n)
{
	if (n)
		answered(qp, n);
	else
		sroce_answer_go_on(qp);
	send_queued_aeth(qp);
}
