// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The ACK timer: when a silent peer is given up, and what is not the peer's fault */

#include "tests.h"
#include "xfer.h"

static int cut(struct sim *s, struct sim_packet *p)
{
	(void)p;
	return s->now < *(u64 *)s->arg;
}

static int arrives_late(struct sim *s, struct sim_packet *p)
{
	p->when = max_t(u64, p->when, *(u64 *)s->arg);
	return 1;
}

static void peer_gone(u32 retries)
{
	struct sim_cfg cfg = sim_default;
	u64 never = 0, start;
	struct xfers t;

	t_case("timeout: the peer is silent for %u retries", retries);
	cfg.retry_cnt = retries;
	xfers_init(&t, &cfg, 65536, 4096);
	t.s->wire = cut;
	t.s->arg = &never;
	xfer_put(&t, IB_WR_SEND, 10);
	start = t.s->now;
	xfers_run(&t);
	xfers_check_failed(&t, 0, IB_WC_RETRY_EXC_ERR);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), retries + 1);
	/* as many do not count, and are followed by a retransmission, too */
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT_EXCUSED), retries + 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT),
		 (retries ? 2 * retries + 1 : 0) + sim_count(&t.s->a, SROCE_CNT_PROBE));
	CHECK_EQ(t.s->sent, 1 + sim_count(&t.s->a, SROCE_CNT_RETRANSMIT));
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE) > 0, retries > 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRY_EXC), 1);
	/* 9.7.6.1.3: not before the timeout, and not after four times that */
	CHECK(t.s->now - start >= 2 * (retries + 1) * (4096ULL << 8));
	CHECK(t.s->now - start <= 4 * (retries + 1) * (4096ULL << 8));
	xfers_end(&t);
}

/* The most timeouts that may be excused */
static u32 excused_max(u32 retries)
{
	return 3 * (retries + 1) - 1;
}

/*
 * Where timers are @percent of the timeout late the answer may be late as well: that is
 * not the peer's fault, unless it goes on. @host: so late shows that this host stood still
 */
static void held_up(u32 percent, u32 retries, u32 excused, bool host)
{
	u64 nominal = 4096ULL << 8, late = nominal * percent / 100, never = 0, most;
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("timeout: the peer is silent for %u retries, and timers are %u %% late", retries,
	       percent);
	cfg.retry_cnt = retries;
	xfers_init(&t, &cfg, 65536, 4096);
	t.s->timer_late = late;
	t.s->wire = cut;
	t.s->arg = &never;
	xfer_put(&t, IB_WR_SEND, 10);
	xfers_run(&t);
	xfers_check_failed(&t, 0, IB_WC_RETRY_EXC_ERR);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), retries + 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT_EXCUSED), excused);
	/* those that are this host's fault don't decrease the window */
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE),
		 retries + 1 + (host ? 0 : excused));
	/* what the timers were late is not the peer's time; each may be late for a probe, too */
	most = 4 * (retries + 1) * nominal + 2 * (excused + retries + 1) * late;
	CHECK(t.s->now >= (retries + 1) * nominal);
	CHECK(t.s->now <= most);
	xfers_end(&t);
}

static bool pending(struct sim *s, struct sroce_qp *qp)
{
	(void)s;
	(void)qp;
	return true;
}

/* A qdisc of this host keeps the request. */
static void in_local_queue(u32 retries, u32 timeouts)
{
	u64 nominal = 4096ULL << 8, never = 0;
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("timeout: a request is in a queue of this host, for %u retries", retries);
	cfg.retry_cnt = retries;
	xfers_init(&t, &cfg, 65536, 4096);
	t.s->tx_pending = pending;
	t.s->wire = cut;
	t.s->arg = &never;
	xfer_put(&t, IB_WR_SEND, 10);
	sim_doorbell(&t.s->a);
	/* longer than the retries would have lasted */
	sim_run_until(t.s, nominal * timeouts);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_RTS);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK(sim_count(&t.s->a, SROCE_CNT_TIMEOUT_EXCUSED) >= timeouts - 1);
	/* no copies of it queue up behind it */
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	/* without retries there are none */
	CHECK(sim_count(&t.s->a, SROCE_CNT_PROBE_HELD) >= (retries ? timeouts - 1 : 0));
	/* but not for ever */
	sim_run(t.s);
	xfers_check_failed(&t, 0, IB_WC_RETRY_EXC_ERR);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), retries + 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT_EXCUSED), excused_max(retries));
	CHECK(t.s->now <= 4 * (retries + 1) * nominal);
	xfers_end(&t);
}

/* What CPUs do between @from and @to they do at @to. */
struct pause {
	u64	from, to;
	bool	gone;		/* packets are lost instead of late */
};

static u64 runs_at(struct sim *s, const struct sroce_kqp *kqp, u64 when)
{
	const struct pause *p = s->arg;

	return kqp == &s->a && when >= p->from && when < p->to ? p->to : when;
}

/* Packets wait for the CPU, and are received after the timers have fired. */
static int receive_late(struct sim *s, struct sim_packet *p)
{
	const struct pause *pause = s->arg;

	if (pause->gone && s->now >= pause->from)
		return 0;
	if (p->from == &s->b && p->when >= pause->from && p->when < pause->to)
		p->when = pause->to + 1000;
	return 1;
}

static void begin_pause(struct xfers *t, struct pause *p, u8 timeout, u8 retries)
{
	struct sim_cfg cfg = sim_default;

	cfg.timeout = timeout;
	cfg.retry_cnt = retries;
	xfers_init(t, &cfg, 65536, 4096);
	t->s->runs_at = runs_at;
	t->s->wire = receive_late;
	t->s->arg = p;
	xfer_put(t, IB_WR_SEND, 10);
}

/* The answer has come while this CPU stood still: the timers fire before it is received. */
static void answer_waits(const char *what, u8 timeout, u8 retries, u64 len)
{
	struct pause p = { .from = 1500, .to = 1500 + len };
	struct xfers t;

	t_case("timeout: this CPU stands still for longer than %s: the answer is received",
	       what);
	begin_pause(&t, &p, timeout, retries);
	xfers_run_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE), 0);
	xfers_end(&t);
}

/*
 * This CPU has stood still once, and the peer is gone: its timeouts are excused for a while,
 * and count then.
 */
static void gone_after_pause(u8 timeout, u8 retries, u64 most)
{
	u64 nominal = 4096ULL << timeout, len = 50 * SIM_MS;
	struct pause p = { .from = 1, .to = 1 + len, .gone = true };
	struct xfers t;
	u64 took;

	t_case("timeout: the peer is gone since this CPU stood still, timeout %u, %u retries",
	       timeout, retries);
	begin_pause(&t, &p, timeout, retries);
	xfers_run(&t);
	xfers_check_failed(&t, 0, IB_WC_RETRY_EXC_ERR);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), retries + 1);
	CHECK(sim_count(&t.s->a, SROCE_CNT_TIMEOUT_EXCUSED) > 0);
	took = t.s->now - len;
	CHECK(took >= (retries + 1) * nominal);
	CHECK(took <= 4 * (retries + 1) * nominal);
	CHECK(took <= most);
	xfers_end(&t);
}

/* A peer whose host is busy answers late: after more timeouts than retries, but it answers. */
static void answers_late(u8 timeout, u8 retries)
{
	u64 nominal = 4096ULL << timeout, until = 2 * (retries + 1) * nominal - nominal / 2;
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("timeout: the peer answers after %u timeouts, %u retries", 2 * retries + 1, retries);
	cfg.timeout = timeout;
	cfg.retry_cnt = retries;
	xfers_init(&t, &cfg, 65536, 4096);
	t.s->wire = arrives_late;
	t.s->arg = &until;
	xfer_put(&t, IB_WR_SEND, 10);
	xfers_run_check(&t);
	CHECK(t.s->now > until);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), retries);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT_EXCUSED), retries + 1);
	xfers_end(&t);
}

static void peer_goes_midway(void)
{
	u64 when = 5 * SIM_LATENCY;
	struct xfers t;

	t_case("timeout: the peer disappears in the middle of a transfer");
	xfers_init(&t, NULL, 1100000, 4096);
	xfers_put_writes(&t, 2);
	xfer_put(&t, IB_WR_RDMA_READ, 1000 * 1024);
	xfers_put_writes(&t, 3);
	t.s->wire = cut;
	t.s->arg = &when;
	t.s->task_delay = 5 * SIM_LATENCY;
	xfers_run(&t);
	xfers_check_failed(&t, 2, IB_WC_RETRY_EXC_ERR);
	xfers_end(&t);
}

UNIT_TESTS(timeout)
{
	peer_gone(0);
	peer_gone(3);
	held_up(5, 1, 2, false);
	held_up(100, 1, 5, true);
	held_up(100, 0, 2, true);
	held_up(50, 7, 23, true);
	in_local_queue(0, 2);
	in_local_queue(3, 9);
	answer_waits("the time until a probe", 14, 7, 30 * SIM_MS);
	answer_waits("the timeout", 14, 7, 80 * SIM_MS);
	answer_waits("all retries", 8, 1, 80 * SIM_MS);
	answer_waits("the timeout, without retries", 8, 0, 3 * SIM_MS);
	gone_after_pause(8, 7, 100 * SIM_MS);
	gone_after_pause(10, 0, 100 * SIM_MS);
	/* what was a second ago is no excuse any more */
	gone_after_pause(16, 7, 4500 * SIM_MS);
	answers_late(8, 7);
	answers_late(14, 0);
	answers_late(14, 1);
	peer_goes_midway();
}
