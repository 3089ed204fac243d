// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A model of a TCP flow with CUBIC (RFC 9438) and SACK, without pacing. Every packet is
 * acknowledged. Since its path keeps packets in order, an ACK shows that all packets sent
 * before it without an ACK are lost; the window shrinks once per round trip.
 */

#include <math.h>
#include "cubic.h"

#define C		0.4
#define BETA		0.7
#define RTO_MIN		200000000ULL
#define WINDOW_INIT	10

void cubic_init(struct cubic *c, struct lane *lane, u64 rtt, bool ect)
{
	*c = (struct cubic){
		.lane = lane, .rtt = rtt, .ect = ect, .srtt = rtt, .cwnd = WINDOW_INIT,
		.ssthresh = CUBIC_MAX,
	};
}

/* The window after a loss, and the curve that leads back to the old one and beyond */
static void reduce(struct cubic *c)
{
	/* fast convergence: a flow whose window has shrunk leaves room for new ones */
	c->w_max = c->cwnd < c->w_max ? c->cwnd * (1 + BETA) / 2 : c->cwnd;
	c->cwnd = fmax(c->cwnd * BETA, 2);
	c->ssthresh = c->cwnd;
	c->epoch = 0;
	c->recovered = c->sent;
}

static void grow(struct cubic *c, u64 now)
{
	double t, target;

	if (c->cwnd < c->ssthresh) {
		c->cwnd++;
		return;
	}
	if (!c->epoch) {
		c->epoch = now;
		c->k = cbrt(fmax(c->w_max - c->cwnd, 0) / C);
		c->w_est = c->cwnd;
	}
	t = (now - c->epoch + c->srtt) / 1e9;
	target = fmin(C * pow(t - c->k, 3) + c->w_max, 1.5 * c->cwnd);
	if (target > c->cwnd)
		c->cwnd += (target - c->cwnd) / c->cwnd;
	c->w_est += 3 * (1 - BETA) / (1 + BETA) / c->cwnd;
	c->cwnd = fmax(c->cwnd, c->w_est);
}

/* Lost packets are sent again as new ones: only how many arrive is of interest. */
static void send(struct cubic *c, u64 now)
{
	while (c->sent - c->acked < (u64)c->cwnd && c->sent - c->acked < CUBIC_MAX) {
		u64 left = lane_enter(c->lane, now, CUBIC_LEN);
		u32 i = c->sent++ % CUBIC_MAX;

		c->p[i].when = now;
		c->p[i].back = left ? left + c->rtt : 0;
		c->p[i].ce = c->ect && lane_marks(c->lane);
	}
}

/* The newest ACK that is here by @now; all before it that have none are lost. */
static void take_acks(struct cubic *c, u64 now)
{
	u64 i;

	for (i = c->acked; i < c->sent; i++) {
		u64 when = c->p[i % CUBIC_MAX].when, back = c->p[i % CUBIC_MAX].back;

		if (!back)
			continue;
		if (back > now)
			break;
		if ((i > c->acked || c->p[i % CUBIC_MAX].ce) && i > c->recovered)
			reduce(c);
		c->acked = i + 1;
		c->delivered++;
		c->srtt += ((s64)(now - when) - (s64)c->srtt) / 8;
		if (i >= c->recovered)
			grow(c, now);
	}
}

static void time_out(struct cubic *c)
{
	reduce(c);
	c->cwnd = 1;
	c->acked = c->sent;
}

/**
 * cubic_next() - when there is something to do
 * @c: the flow
 */
u64 cubic_next(const struct cubic *c)
{
	u64 i;

	if (!c->sent)
		return 0;
	for (i = c->acked; i < c->sent; i++)
		if (c->p[i % CUBIC_MAX].back)
			return c->p[i % CUBIC_MAX].back;
	return c->p[(c->sent - 1) % CUBIC_MAX].when + (2 * c->srtt > RTO_MIN ? 2 * c->srtt :
						       RTO_MIN);
}

/**
 * cubic_run() - take in the ACKs that have come, send what may be sent
 * @c: the flow
 * @now: the time, not before cubic_next()
 */
void cubic_run(struct cubic *c, u64 now)
{
	u64 before = c->acked;

	take_acks(c, now);
	if (c->acked == before && c->sent)
		time_out(c);
	send(c, now);
}
