/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A congestion window: how many packets may be under way on a path. */
#ifndef SROCE_CORE_RC_CWND_H
#define SROCE_CORE_RC_CWND_H

#include <linux/time64.h>
#include <linux/types.h>

/* Bounds of a congestion window, in packets, and its value on a new path */
#define SROCE_CWND_MIN	2U
#define SROCE_CWND_MAX	2048U
#define SROCE_CWND_INIT	16U

/* One packet, as sroce_cwnd.tcp_mss */
#define SROCE_MSS_ONE	16U

/* DCQCN: all packets were marked, as sroce_cwnd.alpha */
#define SROCE_ALPHA_ONE		1024

/* Least time between two CNPs of a QP, and between two decreases for one, in ns */
#define SROCE_CNP_INTERVAL	(50ULL * NSEC_PER_USEC)

/**
 * struct sroce_cwnd - a congestion window, in packets of the path MTU, see rc/cwnd.c
 * @cwnd: the window; 0 for SROCE_CWND_INIT
 * @tcp_mss: packets that hold as much as one of TCP, in 1/SROCE_MSS_ONE; 0 for one
 * @ssthresh: the window doubles each round trip below this; 0 before the first decrease
 * @credit: growth that has been earned, in 1/@cwnd packets
 * @reno: the window that AIMD would have, for short round trips
 * @reno_credit: growth of @reno that has been earned, in 1/(17 * SROCE_MSS_ONE * @reno)
 *	packets
 * @w_max: the window before the last decrease
 * @k: ms from @epoch until CUBIC's curve is at @w_max
 * @epoch: when CUBIC's curve began, in ns of sroce_now(); 0 for not yet
 * @lost: packets lost since @round
 * @round: when the first of @lost was lost, in ns of sroce_now()
 * @prior: the window before the last decrease, to take that back; 0 for none
 * @prior_ssthresh: @ssthresh then
 * @cut_at: when the window was decreased last, in ns of sroce_now()
 * @sampled: there was a sample since
 * @min_rtt: shortest round trip, in ns; 0 for no sample
 * @min_rtt_at: when that was measured or raised, in ns of sroce_now()
 * @rtt: the newest sample of the round trip, in ns
 * @prev_rtt: the sample before
 * @jitter: by how much a sample is shorter than the one before, smoothed, in ns
 * @mark: the newest of the samples besides, on a long path
 * @peak: longest of these since @rtt was taken, but for one late answer
 * @prev_peak: longest of these before, since @prev_rtt was taken
 * @alpha: DCQCN: share of marked packets, in 1/SROCE_ALPHA_ONE
 * @target: DCQCN: the window before the last decrease; 0 if all has been recovered
 * @rises: DCQCN: steps of recovery since the last decrease
 * @rise_at: DCQCN: when the last of them was, in ns of sroce_now()
 */
struct sroce_cwnd {
	u32	cwnd;
	u32	tcp_mss;
	u32	ssthresh;
	u32	credit;
	u32	reno;
	u32	reno_credit;
	u32	w_max;
	u32	k;
	u64	epoch;
	u32	lost;
	u64	round;
	u32	prior;
	u32	prior_ssthresh;
	u64	cut_at;
	bool	sampled;
	u64	min_rtt;
	u64	min_rtt_at;
	u64	rtt;
	u64	prev_rtt;
	u64	jitter;
	u64	mark;
	u64	peak;
	u64	prev_peak;
	u32	alpha;
	u32	target;
	u32	rises;
	u64	rise_at;
};

/**
 * sroce_cwnd() - the congestion window
 * @c: the window's state
 *
 * Return: packets that may be in flight.
 */
static inline u32 sroce_cwnd(const struct sroce_cwnd *c)
{
	return c->cwnd ?: SROCE_CWND_INIT;
}

void sroce_cwnd_init(struct sroce_cwnd *c, u32 mtu);
bool sroce_cwnd_is_slow(const struct sroce_cwnd *c);
bool sroce_cwnd_congested(const struct sroce_cwnd *c);
bool sroce_cwnd_jitters(const struct sroce_cwnd *c);
void sroce_cwnd_mark(struct sroce_cwnd *c, u64 ns);
void sroce_cwnd_sample(struct sroce_cwnd *c, u64 ns, u64 now);
void sroce_cwnd_acked(struct sroce_cwnd *c, u32 n, u64 now);
bool sroce_cwnd_lost(struct sroce_cwnd *c, u32 n, u32 apart, u64 now);
void sroce_cwnd_undo(struct sroce_cwnd *c, u64 now, u64 known);
bool sroce_cwnd_local_drop(struct sroce_cwnd *c, u64 now);
bool sroce_cwnd_cnp(struct sroce_cwnd *c, u64 now);
bool sroce_cwnd_idle(struct sroce_cwnd *c, u64 ns);
bool sroce_cwnd_in_vain(struct sroce_cwnd *c, u32 flight);
void sroce_cwnd_timeout(struct sroce_cwnd *c, u64 now);

#endif /* SROCE_CORE_RC_CWND_H */
