// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The congestion window of a requester.
 *
 * The window doubles each round trip until a queue builds up, then grows more slowly until
 * that overflows. It is decreased then, and grows as CUBIC does (RFC 9438), so that TCP
 * beside it keeps its share; faster while there is no queue at all. Packets are often
 * smaller than those of TCP: it grows by as many bytes (RFC 4828), and on a long path one
 * that is lost counts for as much as it holds (RFC 7141), or less, or TCP would leave this
 * side little. Where only the queue makes round trips long, TCP would get little: its packets
 * find the queue full behind a train (a phase effect, Floyd & Jacobson 1992). There growth is
 * slower past the window before the decrease, and a decrease counts packets.
 *
 * A loss alone does not decrease it, since a loss may be random. A queue has overflowed if
 * the round trip shows that there is one, or if too much of a window is lost. The decrease
 * leaves what the path holds without a queue, as TCP Westwood's does, but at least 0.7 of
 * the window; and at most 7/8 if a queue of this host has overflowed, if the peer drops all
 * that follows a loss, or if the window is large and a good part of it is lost.
 *
 * Hosts that wake up late make round trips long without a queue, and vary them. A queue that
 * is about to overflow grows from sample to sample, and shortens little before a decrease:
 * what is not longer than samples often shorten by is taken for that jitter.
 *
 * On a long path one sample in a round trip is often of a packet that meets no queue.
 * sroce_cwnd_mark() takes more; the longest counts when packets are lost. TCP beside
 * recovers slowly there, so no growth but CUBIC's leads back to the window before.
 *
 * A CNP decreases the window as DCQCN's reaction point decreases its rate (SIGCOMM 2015),
 * and it recovers as that does; on a long path a CNP counts as a loss.
 */

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "drv/core/rc/cwnd.h"

/* How long the shortest round trip is remembered, in ns */
#define MIN_RTT_LIFETIME	(10ULL * NSEC_PER_SEC)
/* A queue that is long on any path, and one that counts as none, in ns */
#define QUEUE_LONG		(4ULL * NSEC_PER_MSEC)
#define QUEUE_NONE		(1ULL * NSEC_PER_MSEC)
/*
 * Jitter: weight of a new sample, 1/n; how many times its mean may be no queue; and the mean, in
 * ns, that bursts in a short queue make, too
 */
#define JITTER_WEIGHT	8
#define JITTER_TIMES	7
#define JITTER_NONE	(4ULL * NSEC_PER_USEC)
/* Losses per window that may be random; so many are not, though no queue shows */
#define LOSSES_MAX		2
#define LOSSES_MANY		4
/* Round trips in which a decrease may be taken back */
#define UNDO_RTTS		2
/* A loss of this part of a window, but at least of so many packets, is an overflow */
#define HEAVY_PART		3
#define HEAVY_MIN		3U
/* The least part of the window that a decrease for an overflow that is certain takes */
#define LEAST_CUT		8
/* Where round trips are short, those in which a decrease is made up for */
#define REGROW_RTTS		48
/* A small window, in packets: grows slowly in front of a queue; many losses may be random */
#define CWND_SMALL		32
/* CUBIC, RFC 9438: decrease to 0.7; AIMD that is as fair grows by 9/17 per round trip */
#define BETA(w)			((w) * 7 / 10)
#define RENO_NUM		9
#define RENO_DEN		17
/* CUBIC's C is 0.4 packets/s^3; ms^3 per packet */
#define CUBIC_MS3		2500000000ULL
/* Most ms of growth that are computed; then it is far beyond any window */
#define CUBIC_MS_MAX		100000
/* Bytes that TCP has in a packet of Ethernet's usual size, with timestamps */
#define TCP_MSS			1448U
/* As sroce_cwnd.tcp_mss, at least, for what is lost of a window that TCP shrinks */
#define MSS_SQUEEZED		(5 * SROCE_MSS_ONE / 2)
/* Growth since a decrease, as a part of the window, that shows that the queue had room */
#define GROWN_PART		32
/* A round trip through a full queue of this host, if there is no sample, in ns */
#define LOCAL_RTT		(1ULL * NSEC_PER_MSEC)
/* DCQCN: g is 1/16; alpha decays, and the window recovers, in steps of so many ns */
#define ALPHA_SHIFT		4
#define ALPHA_STEP		(55ULL * NSEC_PER_USEC)
#define FAST_RISES		5

/* For so long, in ns, a window stays as it is if it is not used; TCP's least RTO */
#define IDLE_PERIOD		(200ULL * NSEC_PER_MSEC)

/**
 * sroce_cwnd_init() - forget the path
 * @c: the window's state
 * @mtu: path MTU in bytes
 */
void sroce_cwnd_init(struct sroce_cwnd *c, u32 mtu)
{
	memset(c, 0, sizeof(*c));
	c->tcp_mss = max(TCP_MSS * SROCE_MSS_ONE / mtu, SROCE_MSS_ONE);
}

/**
 * sroce_cwnd_is_slow() - whether the round trip is long, of the path or by its queue
 * @c: the window's state
 *
 * Others that share the queue are TCP flows then.
 *
 * Return: true if the newest sample is above 4 ms.
 */
bool sroce_cwnd_is_slow(const struct sroce_cwnd *c)
{
	return c->rtt > QUEUE_LONG;
}

/* Where queues are short, others have packets of this size, too. */
static u32 tcp_mss(const struct sroce_cwnd *c)
{
	return c->tcp_mss && sroce_cwnd_is_slow(c) ? c->tcp_mss : SROCE_MSS_ONE;
}

/* The part of a round trip that was spent in queues */
static u64 queue_of(const struct sroce_cwnd *c, u64 rtt)
{
	return rtt > c->min_rtt ? rtt - c->min_rtt : 0;
}

/* The path itself is long, without a queue. */
static bool is_long(const struct sroce_cwnd *c)
{
	return c->min_rtt > QUEUE_LONG;
}

/* The queue that recent samples show; one late answer is none */
static u64 queue_now(const struct sroce_cwnd *c)
{
	return queue_of(c, min(c->rtt, c->prev_rtt));
}

/* The longest queue that recent samples show */
static u64 queue_peak(const struct sroce_cwnd *c)
{
	return queue_of(c, max3(c->rtt, c->peak, c->prev_peak));
}

/* Whether the newest sample shows a queue, by the standard of slow start */
static bool is_queueing(const struct sroce_cwnd *c)
{
	return queue_of(c, max(c->rtt, c->peak)) > min(c->min_rtt, QUEUE_LONG);
}

/* The queue that may be full, as recent samples show it */
static u64 queue_full(const struct sroce_cwnd *c)
{
	return max(queue_now(c), queue_of(c, max(c->peak, c->prev_peak)));
}

/* The least queue that may be full, but for jitter */
static u64 queue_min(const struct sroce_cwnd *c)
{
	return min(c->ssthresh ? c->min_rtt / 4 : c->min_rtt, QUEUE_LONG);
}

/* The longest queue that may be jitter */
static u64 jitter_max(const struct sroce_cwnd *c)
{
	return min(JITTER_TIMES * (c->jitter - min(c->jitter, JITTER_NONE)), QUEUE_LONG);
}

/**
 * sroce_cwnd_congested() - whether recent samples show a queue that may be full
 * @c: the window's state
 */
bool sroce_cwnd_congested(const struct sroce_cwnd *c)
{
	return queue_full(c) > max(queue_min(c), jitter_max(c));
}

/**
 * sroce_cwnd_jitters() - whether recent samples are long, but by no more than jitter
 * @c: the window's state
 *
 * What is above 4 ms is a queue all the same.
 */
bool sroce_cwnd_jitters(const struct sroce_cwnd *c)
{
	return queue_full(c) > queue_min(c) && !sroce_cwnd_congested(c);
}

/* Whether the path has no queue to speak of, so that it can take more */
static bool is_idle(const struct sroce_cwnd *c)
{
	return queue_now(c) < min(c->min_rtt / 8, QUEUE_NONE);
}

/* Integer cube root */
static u32 cube_root(u64 a)
{
	u32 x = 0;
	int bit;

	for (bit = 20; bit >= 0; bit--) {
		u64 y = x | 1U << bit;

		if (y * y * y <= a)
			x = y;
	}
	return x;
}

static void set_cwnd(struct sroce_cwnd *c, u32 cwnd)
{
	c->cwnd = clamp(cwnd, SROCE_CWND_MIN, SROCE_CWND_MAX);
	c->credit = 0;
}

/* Start CUBIC's curve, from the present window to the one before the decrease. */
static void start_epoch(struct sroce_cwnd *c, u64 now)
{
	u32 cwnd = sroce_cwnd(c);

	c->epoch = now;
	c->w_max = max(c->w_max, cwnd);
	c->k = cube_root(div_u64((c->w_max - cwnd) * CUBIC_MS3 * SROCE_MSS_ONE, tcp_mss(c)));
	c->reno = cwnd;
	c->reno_credit = 0;
}

static u32 cubic_target(const struct sroce_cwnd *c, u64 now)
{
	s64 t = min_t(u64, div_u64(now + c->min_rtt - c->epoch, NSEC_PER_MSEC), CUBIC_MS_MAX);
	s64 grown;

	t -= c->k;
	grown = div64_s64(t * t * t, CUBIC_MS3) * tcp_mss(c) / SROCE_MSS_ONE;
	return clamp_t(s64, c->w_max + grown, 0, 2 * SROCE_CWND_MAX);
}

/* Grow by @more packets in a round trip, of which @n packets are a part. */
static void grow_by(struct sroce_cwnd *c, u32 n, u32 more)
{
	u32 cwnd = sroce_cwnd(c), credit = c->credit + n * more;

	set_cwnd(c, cwnd + credit / cwnd);
	c->credit = credit % cwnd;
}

static void grow_reno(struct sroce_cwnd *c, u32 n)
{
	u32 rate = c->reno < c->w_max ? RENO_NUM : RENO_DEN;

	/* as Linux's CUBIC: RFC 9438 has a packet there, but TCP loses more behind trains */
	if (!is_long(c) && sroce_cwnd_is_slow(c))
		rate = RENO_NUM;
	/* a short queue that is nearly full overflows less often if it is filled slowly */
	if (c->reno < CWND_SMALL && sroce_cwnd_congested(c) &&
	    queue_of(c, c->rtt) < QUEUE_LONG)
		rate /= 3;
	c->reno_credit += n * rate * tcp_mss(c);
	while (c->reno_credit >= RENO_DEN * SROCE_MSS_ONE * c->reno) {
		c->reno_credit -= RENO_DEN * SROCE_MSS_ONE * c->reno;
		c->reno++;
	}
}

/* Congestion avoidance after @n packets were acknowledged */
static void grow(struct sroce_cwnd *c, u32 n, u64 now)
{
	u32 cwnd = sroce_cwnd(c), target, part;

	if (!c->epoch)
		start_epoch(c, now);
	grow_reno(c, n);
	target = max(cubic_target(c, now), c->reno);
	if (cwnd < c->w_max && c->rtt < QUEUE_LONG)
		target = max(target, cwnd + (c->w_max - c->ssthresh) / REGROW_RTTS);
	part = cwnd < c->w_max - c->w_max / 8 ? 8 : 32;
	if (is_idle(c) && (!is_long(c) || cwnd >= c->w_max))
		target = max(target, cwnd + cwnd / part + 1);
	target = min(target, cwnd + cwnd / 2 + 1);
	if (target > cwnd)
		grow_by(c, n, target - cwnd);
}

/*
 * DCQCN: alpha falls with time. Where round trips are longer than its step there are as many CNPs
 * fewer, so it falls by one step in each.
 */
static void decay_alpha(struct sroce_cwnd *c, u64 now)
{
	u64 steps = div64_u64(now - c->rise_at, max(c->rtt, ALPHA_STEP));

	for (; steps && c->alpha; steps--)
		c->alpha -= (c->alpha >> ALPHA_SHIFT) ?: 1;
}

/* DCQCN: halfway back to the window before the decrease, some times; then as CUBIC */
static void rise(struct sroce_cwnd *c, u64 now)
{
	u64 step = max(c->rtt, ALPHA_STEP);

	if (now - c->rise_at < step)
		return;
	decay_alpha(c, now);
	c->rise_at = now;
	set_cwnd(c, (sroce_cwnd(c) + c->target + 1) / 2);
	if (++c->rises < FAST_RISES)
		return;
	c->w_max = c->target;
	c->target = 0;
	c->epoch = 0;
}

/*
 * An old minimum may be that of another path. It is raised little by little, since a queue
 * that is never empty would take its place.
 */
static void update_min_rtt(struct sroce_cwnd *c, u64 ns, u64 now)
{
	bool old = now - c->min_rtt_at > MIN_RTT_LIFETIME;

	if (c->min_rtt && ns >= c->min_rtt && !old)
		return;
	c->min_rtt = c->min_rtt && ns >= c->min_rtt ?
		     c->min_rtt + (ns - c->min_rtt) / 16 : ns;
	c->min_rtt_at = now;
}

/* A sample that follows an outlier counts for half of that at most. */
static void update_jitter(struct sroce_cwnd *c)
{
	u64 shorter = c->prev_rtt - min(c->rtt, c->prev_rtt);

	shorter = min(shorter, c->prev_rtt / 2);
	c->jitter -= c->jitter / JITTER_WEIGHT;
	c->jitter += shorter / JITTER_WEIGHT;
}

/**
 * sroce_cwnd_mark() - take in a sample besides those of sroce_cwnd_sample()
 * @c: the window's state
 * @ns: from a packet to its answer, in ns
 */
void sroce_cwnd_mark(struct sroce_cwnd *c, u64 ns)
{
	c->peak = max(c->peak, min(c->mark, ns));
	c->mark = ns;
}

/**
 * sroce_cwnd_sample() - take in a sample of the round trip
 * @c: the window's state
 * @ns: from a packet to its answer, in ns
 * @now: the time, in ns of sroce_now()
 */
void sroce_cwnd_sample(struct sroce_cwnd *c, u64 ns, u64 now)
{
	c->prev_rtt = c->rtt ?: ns;
	c->sampled = true;
	c->rtt = ns;
	c->prev_peak = c->peak;
	c->peak = 0;
	update_min_rtt(c, ns, now);
	update_jitter(c);
}

/**
 * sroce_cwnd_acked() - grow, as packets were acknowledged while the window was in use
 * @c: the window's state
 * @n: how many
 * @now: the time, in ns of sroce_now()
 */
void sroce_cwnd_acked(struct sroce_cwnd *c, u32 n, u64 now)
{
	u32 cwnd = sroce_cwnd(c), part = queue_of(c, c->rtt) > QUEUE_LONG ? 8 : 6;

	if (c->target)
		rise(c, now);
	else if (c->ssthresh ? cwnd < c->ssthresh : !is_queueing(c))
		set_cwnd(c, cwnd + n);
	else if (!c->ssthresh)
		grow_by(c, n, cwnd / part + 1);
	else
		grow(c, n, now);
}

/*
 * On a long path a queue that counts packets and is full drops small ones more often: less
 * time has passed since the packet before, in which one may have left. TCP beside takes what
 * this side has left, and windows shrink from loss to loss. If the window has not grown since
 * the last one, that decrease was not enough.
 */
static bool is_squeezed(const struct sroce_cwnd *c)
{
	u32 cwnd = sroce_cwnd(c);

	return is_long(c) && tcp_mss(c) > SROCE_MSS_ONE && cwnd < c->w_max &&
	       cwnd > c->ssthresh + c->ssthresh / GROWN_PART;
}

/*
 * On a long path a small packet that is lost is a smaller part of what TCP would have lost
 * (RFC 7141). On others this side loses less than TCP, whatever the size.
 */
static u32 after_loss(const struct sroce_cwnd *c)
{
	u32 cwnd = sroce_cwnd(c), mss = is_long(c) ? tcp_mss(c) : SROCE_MSS_ONE;

	if (is_squeezed(c))
		mss = max(mss, MSS_SQUEEZED);
	return cwnd - (cwnd - BETA(cwnd)) * SROCE_MSS_ONE / mss;
}

/* Much of a window is lost. */
static bool is_heavy(const struct sroce_cwnd *c)
{
	return c->lost >= max(sroce_cwnd(c) / HEAVY_PART, HEAVY_MIN);
}

/* The window after a decrease. @most: of the window, in packets */
static u32 decreased(const struct sroce_cwnd *c, u32 most)
{
	u32 cwnd = sroce_cwnd(c), kept;

	if (is_heavy(c))
		return BETA(cwnd);
	/* without a sample nothing is known of the path */
	if (!c->rtt || queue_of(c, c->rtt) > QUEUE_LONG ||
	    (is_long(c) && c->ssthresh && !c->sampled))
		return after_loss(c);
	kept = div64_u64(cwnd * c->min_rtt, c->min_rtt + queue_peak(c));
	return max(after_loss(c), min(kept, most));
}

/* The most that a decrease leaves where a queue may be too short to show, or gone by now */
static u32 least_cut(const struct sroce_cwnd *c)
{
	return sroce_cwnd(c) - sroce_cwnd(c) / LEAST_CUT - 1;
}

/*
 * The most that a decrease for losses leaves. What is sent again for random ones is little,
 * unless it is all that follows. Where the queue was full before the first sample, no round
 * trip ever shows it: many losses do.
 */
static u32 most_left(const struct sroce_cwnd *c, u32 apart)
{
	u32 cwnd = sroce_cwnd(c);

	if (!apart || (cwnd > CWND_SMALL && cwnd / LOSSES_MANY > apart))
		return least_cut(c);
	return cwnd;
}

/* Decrease the window to @to, for good; CUBIC's curve begins anew. */
static void decrease(struct sroce_cwnd *c, u32 to, u64 now)
{
	u32 cwnd = sroce_cwnd(c);

	/* fast convergence: leave more to flows that are new */
	c->w_max = cwnd < c->w_max && !is_squeezed(c) ? (17 * cwnd + 19) / 20 : cwnd;
	set_cwnd(c, to);
	c->ssthresh = c->cwnd;
	c->epoch = 0;
	c->cut_at = now;
	c->prior = 0;
	c->lost = 0;
	c->sampled = false;
	c->target = 0;
}

/* Whether losses mean that a queue has overflowed */
static bool is_overflow(const struct sroce_cwnd *c, u32 apart)
{
	return sroce_cwnd_congested(c) || is_heavy(c) || sroce_cwnd(c) / LOSSES_MAX > apart;
}

/**
 * sroce_cwnd_lost() - decrease the window if losses show that a queue has overflowed
 * @c: the window's state
 * @n: packets that were lost
 * @apart: mean distance of losses, in packets; 0 if the peer drops all that follows a loss
 * @now: the time, in ns of sroce_now()
 *
 * Return: whether the window was decreased, at most once per round trip.
 */
bool sroce_cwnd_lost(struct sroce_cwnd *c, u32 n, u32 apart, u64 now)
{
	u32 prior = sroce_cwnd(c), ssthresh = c->ssthresh;
	u64 wait;

	if (now - c->round > 2 * c->rtt)
		c->lost = 0;
	if (!c->lost)
		c->round = now;
	c->lost += n;
	/* a sample should show first what the last decrease has done */
	wait = !apart || c->sampled ? c->rtt : 4 * c->rtt;
	if (now - c->cut_at <= wait || !is_overflow(c, apart))
		return false;
	decrease(c, decreased(c, most_left(c, apart)), now);
	c->prior = prior;
	c->prior_ssthresh = ssthresh;
	return true;
}

/**
 * sroce_cwnd_undo() - take back the last decrease, as nothing was lost
 * @c: the window's state
 * @now: the time, in ns of sroce_now()
 * @known: for so long, in ns, the decrease is known to be for what was not lost
 *
 * A decrease of long ago was for other losses, and stays.
 */
void sroce_cwnd_undo(struct sroce_cwnd *c, u64 now, u64 known)
{
	if (c->prior > sroce_cwnd(c) && now - c->cut_at <= max(UNDO_RTTS * c->rtt, known)) {
		set_cwnd(c, c->prior);
		c->ssthresh = c->prior_ssthresh;
		c->epoch = 0;
	}
	c->prior = 0;
}

/**
 * sroce_cwnd_local_drop() - decrease the window, as a queue of this host was full
 * @c: the window's state
 * @now: the time, in ns of sroce_now()
 *
 * Return: whether the window was decreased, at most once per round trip. Before the first sample
 * that is taken for LOCAL_RTT, as a queue that is full is not empty before.
 */
bool sroce_cwnd_local_drop(struct sroce_cwnd *c, u64 now)
{
	if (now - c->cut_at <= (c->rtt ?: LOCAL_RTT))
		return false;
	decrease(c, decreased(c, least_cut(c)), now);
	return true;
}

/**
 * sroce_cwnd_cnp() - decrease the window, as packets of this side were marked
 * @c: the window's state
 * @now: the time, in ns of sroce_now()
 *
 * Where the queue is long, or the path, the others that are marked are TCP flows. There a
 * mark counts as a loss (RFC 3168); in a data center as in DCQCN. But alpha is 0 at first, not 1:
 * of several QPs that start at once, those whose first CNP halves the window are left behind.
 *
 * Return: whether the window was decreased, at most once per round trip and SROCE_CNP_INTERVAL.
 */
bool sroce_cwnd_cnp(struct sroce_cwnd *c, u64 now)
{
	u32 cwnd = sroce_cwnd(c);

	if (now - c->cut_at < max(SROCE_CNP_INTERVAL, c->rtt))
		return false;
	if (sroce_cwnd_is_slow(c)) {
		decrease(c, after_loss(c), now);
		return true;
	}
	decay_alpha(c, now);
	c->alpha += (SROCE_ALPHA_ONE - c->alpha) >> ALPHA_SHIFT;
	c->target = cwnd;
	c->rises = 0;
	c->rise_at = now;
	c->cut_at = now;
	c->prior = 0;
	set_cwnd(c, cwnd - max(cwnd * c->alpha / (2 * SROCE_ALPHA_ONE), 1U));
	c->ssthresh = c->cwnd;
	return true;
}

/**
 * sroce_cwnd_timeout() - halve the window, as the ACK timer has expired
 * @c: the window's state
 * @now: the time, in ns of sroce_now()
 *
 * Single losses are retransmitted long before. Either many packets are lost or the peer
 * has become slower: it must not get more than it can execute within the timeout.
 */
void sroce_cwnd_timeout(struct sroce_cwnd *c, u64 now)
{
	decrease(c, sroce_cwnd(c) / 2, now);
}

/* Make a window smaller that was of no use. As in RFC 2861 it grows back fast. */
static bool make_smaller(struct sroce_cwnd *c, u32 to)
{
	u32 cwnd = sroce_cwnd(c);

	if (to == cwnd)
		return false;
	if (c->ssthresh)
		c->ssthresh = max(c->ssthresh, cwnd - cwnd / 4);
	set_cwnd(c, to);
	c->epoch = 0;
	c->target = 0;
	c->prior = 0;
	return true;
}

/* Half of a window, but not less than what a new path has */
static u32 half_unused(u32 cwnd)
{
	return cwnd > SROCE_CWND_INIT ? max(cwnd / 2, SROCE_CWND_INIT) : cwnd;
}

/**
 * sroce_cwnd_idle() - make a window smaller that was not used for long
 * @c: the window's state
 * @ns: for so long, in ns
 *
 * What it was found for may carry other traffic since, or be another path. It is halved for each
 * period of silence.
 *
 * Return: whether it became smaller.
 */
bool sroce_cwnd_idle(struct sroce_cwnd *c, u64 ns)
{
	u64 period = max(2 * c->rtt, IDLE_PERIOD);
	u32 to = sroce_cwnd(c);

	for (; ns >= period && to > SROCE_CWND_INIT; ns -= period)
		to = half_unused(to);
	return make_smaller(c, to);
}

/**
 * sroce_cwnd_in_vain() - halve a window of which most was sent in vain
 * @c: the window's state
 * @flight: packets that were under way
 *
 * The path may have room for all of it, but what the peer drops once more is sent once more.
 *
 * Return: whether it became smaller.
 */
bool sroce_cwnd_in_vain(struct sroce_cwnd *c, u32 flight)
{
	return flight > SROCE_CWND_INIT &&
	       make_smaller(c, half_unused(min(sroce_cwnd(c), flight)));
}
