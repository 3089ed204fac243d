// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * When the ACK of a request leaves with the answer.
 *
 * A process that answers a message within microseconds makes two trips through the IP stack:
 * one for the ACK, one for its own message. Where the last requests of a QP were answered soon,
 * the ACK of the next one is held for that moment. It then is the last, shorter segment of the
 * train whose first is the answer. TCP's pingpong mode is the precedent.
 *
 * The first request that is not answered in time ends that: its ACK is sent at once. A timer
 * for each message would cost more than the packet that is saved. So the ACK timer of the QP is
 * kept running while ACKs are held, and looks after one that is late. Where requests come so
 * seldom that it would fire for each of them, none is held. ACKs that were held in vain make it
 * harder to begin again.
 *
 * An ACK is held only if nothing depends on it: the request is one packet, and all before it
 * was acknowledged, so a peer that sends more does not wait for its window. The next request
 * of any kind, RNR and NAK, and a work request that can't be sent send it.
 */

#include "drv/core/env.h"
#include "drv/core/rc/answer.h"
#include "drv/core/rc/rtt.h"
#include "drv/core/rc/sq_sched.h"
#include "drv/core/wire/credit.h"

/* Requests in a row that are answered soon before an ACK is held */
#define STREAK_MIN	8U
/* That number is doubled at most so many times */
#define DOUBLED_MAX	7
/* ACKs in a row that have left with an answer after which it is halved */
#define JOINED_MANY	64
/* How much later than SROCE_RTT_HOLD_MIN an ACK may leave, in ns */
#define SLACK		(SROCE_RTT_HOLD_MAX - SROCE_RTT_HOLD_MIN)

static u32 streak_needed(const struct sroce_answer *an)
{
	return STREAK_MIN << an->doubled;
}

static void held_in_vain(struct sroce_qp *qp)
{
	struct sroce_answer *an = &qp->resp.answer;

	sroce_count(qp, SROCE_CNT_ACK_HELD_IN_VAIN);
	if (an->doubled < DOUBLED_MAX)
		an->doubled++;
}

/**
 * sroce_answer_end() - do not hold ACKs, as requests are not answered in time any more
 * @qp: the QP, locked
 *
 * Before a QP changes, too: the caller calls sroce_transport_run() then, which sends an ACK that
 * was held.
 */
void sroce_answer_end(struct sroce_qp *qp)
{
	struct sroce_answer *an = &qp->resp.answer;

	if (an->held)
		held_in_vain(qp);
	an->held = false;
	an->asked = 0;
	an->joined = 0;
	WRITE_ONCE(an->streak, 0);
}

/**
 * sroce_answer_next() - note that another request packet has come, or that a NAK is queued
 * @qp: the QP, RC, locked
 *
 * The request before was not answered in time if it still waits. Its ACK, or the NAK, leaves in
 * this trip.
 */
void sroce_answer_next(struct sroce_qp *qp)
{
	if (qp->resp.answer.asked)
		sroce_answer_end(qp);
}

/*
 * The peer may send on without this ACK, as far as it was told of credits. Messages that take
 * no receive need none.
 */
static bool has_credits(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	const struct sroce_resp *resp = &qp->resp;

	return qp->srq || !(pkt->op->flags & SROCE_RECV) ||
	       sroce_psn_diff(resp->answer.limit, resp->msn) > 0;
}

/* Whether a request is all that the peer has under way, and its ACK all that is to be sent */
static bool is_alone(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	const u32 whole = SROCE_START | SROCE_END;
	const struct sroce_resp *resp = &qp->resp;

	return pkt->ackreq && (pkt->op->flags & whole) == whole && !pkt->loopback &&
	       pkt->psn == resp->answer.acked && !resp->ofo_len && !resp->fifo.n &&
	       !resp->replays.n && resp->aeth && resp->aeth_syndrome == SROCE_AETH_ACK &&
	       resp->aeth_psn == pkt->psn;
}

/**
 * sroce_answer_wait() - hold the ACK of a request for the answer, if that is likely to come
 * @qp: the QP, RC, locked; the ACK is queued
 * @pkt: the request, which was executed
 */
void sroce_answer_wait(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_answer *an = &qp->resp.answer;
	bool often;

	if (!qp->ack_with_answer || qp->state != IB_QPS_RTS || !is_alone(qp, pkt))
		return;
	an->asked = sroce_now();
	often = an->asked - an->came < SROCE_RTT_HOLD_MAX;
	an->came = an->asked;
	an->held = often && an->streak >= streak_needed(an) && sroce_rtt_may_hold(qp) &&
		   has_credits(qp, pkt);
}

/**
 * sroce_answer_acked() - note what the peer is told
 * @qp: the QP, RC, locked
 * @pkt: an ACK that is being sent
 */
void sroce_answer_acked(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_answer *an = &qp->resp.answer;
	u8 code = pkt->syndrome & SROCE_AETH_VALUE;

	if (!qp->ack_with_answer)
		return;
	an->acked = sroce_psn_add(pkt->psn, 1);
	if (code != SROCE_AETH_NO_CREDITS)
		an->limit = sroce_psn_add(pkt->msn, sroce_credit_decode(code));
}

/**
 * sroce_answer_sent() - note that a message was sent since a request has come
 * @qp: the QP, RC, locked; a request waits for its answer
 * @fits: an ACK can be the last of the train of that message. Others are no answers that an
 *	ACK is held for
 *
 * Return: whether the ACK was held for it. It is not held any more.
 */
bool sroce_answer_sent(struct sroce_qp *qp, bool fits)
{
	struct sroce_answer *an = &qp->resp.answer;
	bool held = an->held;

	if (!fits)
		sroce_count(qp, SROCE_CNT_ANSWER_ALONE);
	if (!fits || sroce_now() - an->asked > SROCE_RTT_HOLD_MIN) {
		sroce_answer_end(qp);
		return false;
	}
	an->asked = 0;
	an->held = false;
	if (an->streak < streak_needed(an))
		WRITE_ONCE(an->streak, an->streak + 1);
	return held;
}

/**
 * sroce_answer_joined() - note whether an ACK that was held left with the answer
 * @qp: the QP, RC, locked
 * @joined: it did; if not, there was no use in waiting
 */
void sroce_answer_joined(struct sroce_qp *qp, bool joined)
{
	struct sroce_answer *an = &qp->resp.answer;

	if (!joined) {
		held_in_vain(qp);
		sroce_answer_end(qp);
	} else if (++an->joined == JOINED_MANY) {
		an->joined = 0;
		if (an->doubled)
			an->doubled--;
	}
}

/**
 * sroce_answer_go_on() - see to an ACK that is held, at the end of a trip without an answer
 * @qp: the QP, RC, locked
 *
 * A work request that has to wait, for whatever reason, may wait for long. Where one has not
 * completed the process may wait for that, and the peer's process likewise for the ACK: if both
 * held their ACKs, both would wait until the timer fires.
 */
void sroce_answer_go_on(struct sroce_qp *qp)
{
	struct sroce_answer *an = &qp->resp.answer;

	if (!an->held)
		return;
	if (qp->state != IB_QPS_RTS || !sroce_sq_sched_empty(qp)) {
		sroce_answer_end(qp);
		return;
	}
	if (qp->req.una != qp->req.max_psn) {
		an->held = false;
		return;
	}
	an->timed = true;
	sroce_task_set_ack_timer(qp, an->asked + SROCE_RTT_HOLD_MIN, SLACK);
}

/**
 * sroce_answer_timer() - end the wait for an answer that is late, as the ACK timer has fired
 * @qp: the QP, RC, locked
 * @now: the time, in ns of sroce_now()
 *
 * If ACKs were held since it has fired last, others will be: it is set again, so that none of
 * them has to set it.
 */
void sroce_answer_timer(struct sroce_qp *qp, u64 now)
{
	struct sroce_answer *an = &qp->resp.answer;

	if (an->held && now - an->asked >= SROCE_RTT_HOLD_MIN)
		sroce_answer_end(qp);
	else if (an->timed)
		sroce_task_set_ack_timer(qp, now + SROCE_RTT_HOLD_MIN, SLACK);
	an->timed = false;
}
