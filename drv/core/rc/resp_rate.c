// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The rate of READ responses.
 *
 * A responder hears nothing of responses that arrive or are lost. A requester like sroce
 * asks for no more than a window of them; an adapter asks for all, and reports congestion
 * by CNPs; and a queue of this host may overflow. There is no limit until the first of these
 * events. It sets one, a part of the rate at which responses have left until then; the rate
 * goes down and recovers as DCQCN's, and the limit ends when it is far above that.
 *
 * The rate is a congestion window per PERIOD, so that rc/cwnd.c does the arithmetic.
 */

#include <linux/math64.h>
#include "drv/core/env.h"
#include "drv/core/rc/resp_rate.h"

/* The rate counts packets per so many ns. */
#define PERIOD		(1ULL * NSEC_PER_MSEC)
/* Least time between two decreases, and between steps of recovery, in ns */
#define STEP		(100ULL * NSEC_PER_USEC)
/* No responses for so long are a break, or a pause after which a CNP is not for them, in ns */
#define BREAK		(200ULL * NSEC_PER_USEC)
#define PAUSE		(10ULL * NSEC_PER_MSEC)
/* Trains per PERIOD */
#define TRAINS		50
/*
 * Packets of a train even if that makes fewer trains, but not if there were less than
 * TRAINS_MIN. ACK timeouts of 1 ms are in use, and each response restarts one.
 */
#define TRAIN_MIN	4U
#define TRAINS_MIN	4
/* How late the timer may fire, in ns, and the trains that are made up for then */
#define SLACK		(PERIOD / TRAINS / 4)
#define LATE_MAX	2
/* The limit ends when the rate is so many times the first. */
#define ENDS_AT		4

/* The most that leaves at once */
static u32 train_max(const struct sroce_resp_rate *r)
{
	u32 rate = sroce_cwnd(&r->cwnd);

	return max(rate / TRAINS, clamp(rate / TRAINS_MIN, 1U, TRAIN_MIN));
}

/* Set a limit: a part of the rate at which responses have left without a break. */
static void start(struct sroce_resp_rate *r, u64 now)
{
	u64 rate = div64_u64(r->sent * PERIOD, max_t(u64, r->last - r->since, 1));

	r->limited = true;
	r->at = now;
	r->tokens = 0;
	r->cwnd.cwnd = clamp_t(u64, rate, SROCE_CWND_MIN, SROCE_CWND_MAX);
	r->first = r->cwnd.cwnd;
	/* as DCQCN begins: the first CNP halves the rate */
	r->cwnd.alpha = SROCE_ALPHA_ONE;
	r->cwnd.rise_at = now;
	/* the steps of DCQCN depend on the round trip */
	r->cwnd.rtt = STEP;
	r->cwnd.prev_rtt = STEP;
	r->cwnd.min_rtt = STEP;
}

/**
 * sroce_resp_rate_active() - whether a CNP or a local drop may be for READ responses
 * @qp: the QP, RC, locked
 */
bool sroce_resp_rate_active(const struct sroce_qp *qp)
{
	const struct sroce_resp_rate *r = &qp->resp.rate;

	return r->sent && sroce_now() - r->last < PAUSE;
}

/**
 * sroce_resp_rate_decrease() - heed a CNP for READ responses, or that this host has dropped some
 * @qp: the QP, RC, locked; sroce_resp_rate_active()
 *
 * Return: whether the rate has decreased.
 */
bool sroce_resp_rate_decrease(struct sroce_qp *qp)
{
	struct sroce_resp_rate *r = &qp->resp.rate;
	u64 now = sroce_now();

	if (!r->limited)
		start(r, now);
	return sroce_cwnd_cnp(&r->cwnd, now);
}

/* Add what the rate allows for the time that has passed. */
static void add_tokens(struct sroce_resp_rate *r)
{
	u64 now = sroce_now(), n;
	u32 rate = sroce_cwnd(&r->cwnd), most = LATE_MAX * max(rate / TRAINS, TRAIN_MIN);

	n = div_u64((now - r->at) * rate, PERIOD);
	if (n + r->tokens >= most) {
		r->tokens = most;
		r->at = now;
		return;
	}
	r->tokens += n;
	r->at += div_u64(n * PERIOD, rate);
}

/**
 * sroce_resp_rate_free() - READ responses that may be sent now
 * @qp: the QP, RC, locked
 * @most: upper bound
 */
u32 sroce_resp_rate_free(struct sroce_qp *qp, u32 most)
{
	struct sroce_resp_rate *r = &qp->resp.rate;

	if (!r->limited)
		return most;
	/* a train is awaited */
	if (r->go_on && sroce_now() < r->go_on)
		return 0;
	add_tokens(r);
	return min(most, r->tokens);
}

/**
 * sroce_resp_rate_sent() - note that READ responses were sent
 * @qp: the QP, RC, locked
 * @n: how many
 */
void sroce_resp_rate_sent(struct sroce_qp *qp, u32 n)
{
	struct sroce_resp_rate *r = &qp->resp.rate;
	u64 now = sroce_now();

	if (!r->sent || now - r->last >= BREAK) {
		r->sent = 0;
		r->since = now;
	}
	r->sent += n;
	r->last = now;
	if (!r->limited)
		return;
	r->tokens -= min(n, r->tokens);
	sroce_cwnd_acked(&r->cwnd, n, now);
	if (sroce_cwnd(&r->cwnd) >= min(ENDS_AT * r->first, SROCE_CWND_MAX))
		r->limited = false;
}

/**
 * sroce_resp_rate_wait() - see to it that sending goes on if the rate has stopped it
 * @qp: the QP, RC, locked; it has more responses to send
 */
void sroce_resp_rate_wait(struct sroce_qp *qp)
{
	struct sroce_resp_rate *r = &qp->resp.rate;
	u32 n = train_max(r) - min(r->tokens, train_max(r) - 1);

	/* the timer is set */
	if (r->go_on && sroce_now() < r->go_on)
		return;
	r->go_on = r->at + div_u64(n * PERIOD, sroce_cwnd(&r->cwnd)) + 1;
	sroce_count(qp, SROCE_CNT_PACED);
	sroce_task_set_ack_timer(qp, r->go_on, SLACK);
}

/**
 * sroce_resp_rate_timer() - look whether the timer has fired for responses
 * @qp: the QP, RC, locked; the caller calls sroce_transport_run() afterwards
 * @now: the time, in ns of sroce_now()
 *
 * If it has fired too early it is set again.
 */
void sroce_resp_rate_timer(struct sroce_qp *qp, u64 now)
{
	struct sroce_resp_rate *r = &qp->resp.rate;

	if (now < r->go_on)
		sroce_task_set_ack_timer(qp, r->go_on, SLACK);
	else
		r->go_on = 0;
}
