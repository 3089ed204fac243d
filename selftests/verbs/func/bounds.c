// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 */
/* Large objects, and many of them: what a process does with them must not hold up others. */

#define _GNU_SOURCE
#include <sched.h>
#include "vt.h"

#define LEN	64
#define QPS	500

/* ---- a thread that must run at once ------------------------------------------- */

struct urgent {
	pthread_t thread;
	volatile bool stop;
	volatile uint64_t worst;	/* longest sleep of 0.5 ms, in us */
	uint64_t start, took;		/* what is done meanwhile, in us */
};

static void *urgent_fn(void *arg)
{
	struct sched_param param = { .sched_priority = 50 };
	struct timespec nap = { 0, 500000 };
	struct urgent *u = arg;
	uint64_t start, took;

	vt_run_on(0);
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	while (!u->stop) {
		start = vt_now_us();
		nanosleep(&nap, NULL);
		took = vt_now_us() - start;
		if (took > u->worst)
			u->worst = took;
	}
	return NULL;
}

static why_t urgent_start(struct urgent *u)
{
	vt_run_on(0);
	CHECK(!pthread_create(&u->thread, NULL, urgent_fn, u), "pthread_create");
	vt_sleep_ms(50);
	u->worst = 0;
	u->start = vt_now_us();
	return NULL;
}

static void urgent_stop(struct urgent *u)
{
	u->took = vt_now_us() - u->start;
	vt_sleep_ms(5);
	u->stop = true;
	pthread_join(u->thread, NULL);
}

/* ---- SRQ ---------------------------------------------------------------------- */

static why_t post_many(struct ibv_srq *srq, struct vt_ep *ep, uint32_t n)
{
	struct ibv_sge sge = vt_sge(&ep->buf, 0, LEN);
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int err;

	for (; wr.wr_id < n; wr.wr_id++) {
		err = ibv_post_srq_recv(srq, &wr, &bad);
		CHECK(!err, "receive %u: %s", (unsigned int)wr.wr_id, strerror(err));
	}
	return NULL;
}

static why_t resize_to(struct ibv_srq *srq, uint32_t max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };
	int err = ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);

	CHECK(!err, "resize to %u: %s", max_wr, strerror(err));
	return NULL;
}

static why_t resize_beside(struct urgent *u, struct ibv_srq *srq)
{
	why_t why;

	*u = (struct urgent){};
	TRY(urgent_start(u));
	why = resize_to(srq, vt_devs[1].attr.max_srq_wr);
	urgent_stop(u);
	tap_note("a resize took %llu us, and held a thread up for %llu us",
		 (unsigned long long)u->took, (unsigned long long)u->worst);
	return why;
}

/*
 * The longest receives, as many as possible: 64 MiB of them. A host may stop a CPU now and
 * then, so one resize of some counts.
 */
static why_t resize_large(struct vt_pair *p, const void *arg)
{
	struct ibv_srq *srq = p->b.qp->srq;
	struct ibv_srq_attr attr;
	struct urgent u;
	int i;

	(void)arg;
	CHECK(!ibv_query_srq(srq, &attr), "ibv_query_srq");
	TRY(post_many(srq, &p->b, attr.max_wr));
	for (i = 0; i < 4; i++) {
		TRY(resize_beside(&u, srq));
		if (u.worst < u.took / 4)
			return NULL;
	}
	return because("with %u receives a thread is held up for %llu us of %llu", attr.max_wr,
		       (unsigned long long)u.worst, (unsigned long long)u.took);
}

/* A thread that sends, and has the receives taken in order */
struct taker {
	struct vt_pair *p;
	pthread_t thread;
	volatile bool stop;
	uint64_t taken;
	why_t why;
};

static why_t take_one(struct vt_pair *p, uint64_t n)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 8);
	struct ibv_send_wr wr = { .wr_id = n, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };
	struct ibv_wc wc;

	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, n));
	return vt_poll_ok(p->b.rcq, &wc, n);
}

static void *taker_fn(void *arg)
{
	struct taker *t = arg;

	while (!t->stop && !t->why) {
		t->why = take_one(t->p, t->taken);
		t->taken++;
	}
	return NULL;
}

static void *resizer_fn(void *arg)
{
	struct ibv_srq *srq = arg;
	int i;

	for (i = 0; i < 6; i++)
		if (resize_to(srq, 20000 + 2000 * i))
			return srq;
	return NULL;
}

/* Receives are taken in the order in which they were posted, whoever resizes. */
static why_t resize_taking(struct vt_pair *p, const void *arg)
{
	struct ibv_srq *srq = p->b.qp->srq;
	struct taker t = { .p = p };
	pthread_t other;
	void *bad, *worse;

	(void)arg;
	TRY(post_many(srq, &p->b, 15000));
	CHECK(!pthread_create(&t.thread, NULL, taker_fn, &t), "pthread_create");
	CHECK(!pthread_create(&other, NULL, resizer_fn, srq), "pthread_create");
	bad = resizer_fn(srq);
	pthread_join(other, &worse);
	t.stop = true;
	pthread_join(t.thread, NULL);
	TRY(t.why);
	CHECK(!bad && !worse, "a resize fails");
	CHECK(t.taken > 10, "only %u receives taken", (unsigned int)t.taken);
	return take_one(p, t.taken);
}

static void run_srq(const char *name, uint32_t max_wr, uint32_t max_sge, vt_case fn)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = max_wr, .max_sge = max_sge },
	};
	struct vt_conf c = vt_conf(IBV_QPT_RC);
	struct ibv_srq *srq;

	if (!vt_wanted(name))
		return;
	srq = ibv_create_srq(vt_devs[1].pd, &init);
	if (!srq) {
		tap_report(because("ibv_create_srq: %s", strerror(errno)), "%s", name);
		return;
	}
	c.srq[1] = srq;
	vt_run(name, &c, fn, NULL);
	ibv_destroy_srq(srq);
}

/* ---- QPs in the error state ------------------------------------------------------ */

/* Softirqs of a kind since the system was started */
static uint64_t softirqs(const char *kind)
{
	char line[4096], *at, *end;
	FILE *f = fopen("/proc/softirqs", "r");
	uint64_t n, sum = 0;

	while (f && fgets(line, sizeof(line), f)) {
		at = strstr(line, kind);
		if (!at)
			continue;
		for (at = strchr(at, ':') + 1;; at = end) {
			n = strtoull(at, &end, 10);
			if (end == at)
				break;
			sum += n;
		}
	}
	if (f)
		fclose(f);
	return sum;
}

struct crowd {
	struct ibv_cq *cq;
	struct ibv_qp *qp[QPS];
	uint64_t next[QPS];		/* receive that is flushed next */
};

/* There is no way from RESET to the error state but by INIT. */
static why_t to_err(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = VT_PORT };
	int err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				IBV_QP_ACCESS_FLAGS);

	CHECK(!err, "to INIT: %s", strerror(err));
	attr.qp_state = IBV_QPS_ERR;
	err = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	CHECK(!err, "to the error state: %s", strerror(err));
	return NULL;
}

static why_t crowd_open(struct crowd *c)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 16, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	int i;

	c->cq = ibv_create_cq(vt_devs[1].ctx, 16 * QPS, NULL, NULL, 0);
	CHECK(c->cq, "ibv_create_cq: %s", strerror(errno));
	init.send_cq = c->cq;
	init.recv_cq = c->cq;
	for (i = 0; i < QPS; i++) {
		init.qp_context = (void *)(uintptr_t)i;
		c->qp[i] = ibv_create_qp(vt_devs[1].pd, &init);
		CHECK(c->qp[i], "ibv_create_qp: %s", strerror(errno));
		TRY(to_err(c->qp[i]));
	}
	return NULL;
}

static why_t crowd_close(struct crowd *c)
{
	int i, err = 0;

	for (i = 0; i < QPS && c->qp[i]; i++)
		err = err ?: ibv_destroy_qp(c->qp[i]);
	if (c->cq)
		err = err ?: ibv_destroy_cq(c->cq);
	CHECK(!err, "destroy: %s", strerror(err));
	return NULL;
}

/* The number in wr_id tells the QP and the receive. */
static why_t crowd_flushed(struct crowd *c, const struct ibv_wc *wc)
{
	uint64_t i = wc->wr_id / 16, n = wc->wr_id % 16;

	CHECK(wc->status == IBV_WC_WR_FLUSH_ERR, "status %d", wc->status);
	CHECK(i < QPS && n == c->next[i], "QP %u: receive %u is flushed", (unsigned int)i,
	      (unsigned int)n);
	c->next[i]++;
	return NULL;
}

static why_t crowd_post(struct crowd *c)
{
	struct ibv_wc wc;
	int i, n, err;

	for (i = 0; i < QPS; i++) {
		for (n = 0; n < 8; n++) {
			struct ibv_recv_wr wr = { .wr_id = 16 * i + n }, *bad;

			err = ibv_post_recv(c->qp[i], &wr, &bad);
			CHECK(!err, "ibv_post_recv: %s", strerror(err));
		}
	}
	for (n = 0; n < 8 * QPS; n++) {
		TRY(vt_poll(c->cq, &wc, VT_LONG));
		TRY(crowd_flushed(c, &wc));
	}
	return vt_quiet(c->cq, 100);
}

static why_t crowd_idle(void)
{
	uint64_t n;

	vt_sleep_ms(1000);
	n = softirqs("HRTIMER:");
	vt_sleep_ms(2000);
	n = (softirqs("HRTIMER:") - n) / 2;
	tap_note("%u QPs in the error state: %llu timer softirqs per s", QPS,
		 (unsigned long long)n);
	CHECK(n < QPS, "%llu timer softirqs per s", (unsigned long long)n);
	return NULL;
}

/* A process doesn't tell of receives; but QPs that get none must not cost much. */
static void test_crowd(void)
{
	static struct crowd c;
	why_t why = crowd_open(&c), closing;

	if (!why)
		why = crowd_idle();
	if (!why)
		why = crowd_post(&c);
	if (!why)
		why = crowd_idle();
	closing = crowd_close(&c);
	tap_report(why ?: closing, "%u QPs in the error state", QPS);
}

static why_t flushed_in_order(struct ibv_cq *cq, uint32_t from, uint32_t n)
{
	struct ibv_wc wc;
	uint32_t i;

	for (i = from; i < n; i++) {
		TRY(vt_poll(cq, &wc, VT_LONG));
		CHECK(wc.wr_id == i && wc.status == IBV_WC_WR_FLUSH_ERR,
		      "request %u: wr %u, status %d", i, (unsigned int)wc.wr_id, wc.status);
	}
	return vt_quiet(cq, 100);
}

#define MANY	4000

static why_t post_deep(struct vt_ep *ep)
{
	uint32_t i;

	for (i = 0; i < MANY; i++)
		TRY(vt_post_recv_at(ep, i, 0, LEN));
	return NULL;
}

/* All receives are flushed when the verb returns. */
static why_t deep_modify(struct vt_pair *p, const void *arg)
{
	struct ibv_wc wc[64];
	int n, sum = 0;

	(void)arg;
	TRY(post_deep(&p->b));
	TRY(vt_ep_state(&p->b, IBV_QPS_ERR));
	do {
		n = ibv_poll_cq(p->b.rcq, 64, wc);
		CHECK(n >= 0, "ibv_poll_cq: %d", n);
		for (int i = 0; i < n; i++)
			CHECK(wc[i].wr_id == (uint64_t)(sum + i), "receive %d: wr %u",
			      sum + i, (unsigned int)wc[i].wr_id);
		sum += n;
	} while (n);
	CHECK(sum == MANY, "%d of %d are flushed", sum, MANY);
	return NULL;
}

/* The peer's mistake has the QP enter the error state. */
static why_t deep_packet(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 8);
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };
	struct ibv_wc wc;

	(void)arg;
	TRY(post_deep(&p->b));
	wr.wr.rdma.remote_addr = (uintptr_t)p->b.buf.data;
	wr.wr.rdma.rkey = p->b.buf.mr->rkey ^ 1;
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll(p->a.scq, &wc, VT_LONG));
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR, "status %d", wc.status);
	TRY(flushed_in_order(p->b.rcq, 0, MANY));
	/* and it goes on like that */
	TRY(post_deep(&p->b));
	return flushed_in_order(p->b.rcq, 0, MANY);
}

/* ---- a long send queue ----------------------------------------------------------- */

/* Sends that wait, as the peer has no receive for them: as many as a QP may have */
static why_t post_sends(struct vt_pair *p, uint32_t n)
{
	struct ibv_sge sge[16];
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = 16 };
	uint32_t i;

	for (i = 0; i < 16; i++)
		sge[i] = vt_sge(&p->a.buf, 0, 4);
	for (wr.wr_id = 0; wr.wr_id < n; wr.wr_id++)
		TRY(vt_post_send(&p->a, &wr));
	return NULL;
}

static why_t sends_flushed(struct vt_ep *ep, uint32_t n)
{
	struct ibv_wc wc;
	uint32_t i;

	for (i = 0; i < n; i++) {
		/* all are flushed when the verb returns */
		CHECK(ibv_poll_cq(ep->scq, 1, &wc) == 1, "%u of %u are flushed", i, n);
		CHECK(wc.wr_id == i && wc.status == IBV_WC_WR_FLUSH_ERR,
		      "send %u: wr %u, status %d", i, (unsigned int)wc.wr_id, wc.status);
	}
	return vt_quiet(ep->scq, 100);
}

/* @u: a thread that is urgent while @n sends are flushed */
static why_t flush_sends(struct vt_pair *p, uint32_t n, struct urgent *u)
{
	why_t why;

	TRY(post_sends(p, n));
	TRY(urgent_start(u));
	why = vt_ep_state(&p->a, IBV_QPS_ERR);
	urgent_stop(u);
	TRY(why);
	tap_note("flush of %u sends: %llu us, a thread was held up for %llu us", n,
		 (unsigned long long)u->took, (unsigned long long)u->worst);
	return sends_flushed(&p->a, n);
}

/*
 * The flush lets others run. Under one lock a thread would be held up for nearly all of it; now
 * and then it is, because the host of a VM is busy.
 */
static why_t deep_sends(struct vt_pair *p, const void *arg)
{
	struct urgent u;
	int i;

	(void)arg;
	for (i = 0; i < 4; i++) {
		u = (struct urgent){};
		if (i) {
			TRY(vt_ep_state(&p->a, IBV_QPS_RESET));
			TRY(vt_ep_state(&p->b, IBV_QPS_RESET));
			TRY(vt_connect(p));
		}
		TRY(flush_sends(p, p->a.cap.max_send_wr, &u));
		if (u.worst < u.took / 2)
			return NULL;
	}
	return because("a thread is held up for %llu us of %llu", (unsigned long long)u.worst,
		       (unsigned long long)u.took);
}

/* The peer has gone, and the error state is entered in a softirq, which flushes. */
static why_t deep_fail(struct vt_pair *p)
{
	struct ibv_wc wc;

	TRY(post_sends(p, p->a.cap.max_send_wr));
	TRY(vt_ep_state(&p->b, IBV_QPS_RESET));
	TRY(vt_poll(p->a.scq, &wc, VT_LONG));
	CHECK(!wc.wr_id && wc.status == IBV_WC_RETRY_EXC_ERR, "wr %u: status %d",
	      (unsigned int)wc.wr_id, wc.status);
	return NULL;
}

static why_t deep_destroy(struct vt_pair *p, const void *arg)
{
	(void)arg;
	TRY(deep_fail(p));
	CHECK(!ibv_destroy_qp(p->a.qp), "ibv_destroy_qp: %s", strerror(errno));
	p->a.qp = NULL;
	return NULL;
}

/* What is left when the QP is reset never completes. */
static why_t deep_reset(struct vt_pair *p, const void *arg)
{
	uint32_t n = 1;
	struct ibv_wc wc;

	(void)arg;
	TRY(deep_fail(p));
	TRY(vt_ep_state(&p->a, IBV_QPS_RESET));
	for (; ibv_poll_cq(p->a.scq, 1, &wc) == 1; n++)
		CHECK(wc.wr_id == n && wc.status == IBV_WC_WR_FLUSH_ERR,
		      "send %u: wr %u, status %d", n, (unsigned int)wc.wr_id, wc.status);
	tap_note("%u of %u sends were complete at the RESET", n, p->a.cap.max_send_wr);
	TRY(vt_quiet(p->a.scq, 100));
	TRY(vt_connect(p));
	return vt_ping(p);
}

static why_t deep_error(struct vt_pair *p, const void *arg)
{
	(void)arg;
	TRY(deep_fail(p));
	return flushed_in_order(p->a.scq, 1, p->a.cap.max_send_wr);
}

static why_t deep_again(struct vt_pair *p, const void *arg)
{
	uint32_t n = p->a.cap.max_send_wr;

	(void)arg;
	TRY(post_sends(p, n));
	TRY(vt_ep_state(&p->a, IBV_QPS_ERR));
	TRY(sends_flushed(&p->a, n));
	/* a doorbell in ERR flushes what it has rung for */
	TRY(post_sends(p, n));
	TRY(flushed_in_order(p->a.scq, 0, n));
	TRY(vt_ep_state(&p->a, IBV_QPS_RESET));
	return vt_quiet(p->a.scq, 100);
}

static void run_deep_sends(const char *name, vt_case fn, uint32_t n)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);

	c.send_wr = n;
	c.send_sge = 16;
	c.cqe = 2 * c.send_wr + 16;
	c.timeout = 10;
	c.retry = 1;
	vt_run(name, &c, fn, NULL);
}

static void run_deep(const char *name, vt_case fn)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);

	c.recv_wr = MANY;
	c.cqe = 2 * MANY;
	vt_run(name, &c, fn, NULL);
}

/* ---- many QPs without receives --------------------------------------------------- */

/* Fewer where each costs more, so that the CPUs have time for anything else */
#define WAITING		(128 / vt_slowness())
#define REFUSALS_MAX	15000	/* per s; 10,000 are meant */

/* RNR timers: 10 us; and 640 us, in which a QP is refused no second time */
#define RNR_SHORT	1
#define RNR_ONCE	12

static why_t waiting_open(struct vt_pair *p, uint8_t min_rnr)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };

	p->conf = vt_conf(IBV_QPT_RC);
	p->conf.rnr_retry = 7;
	p->conf.min_rnr = min_rnr;
	TRY(vt_ep_open(&p->a, &vt_devs[0], &p->conf));
	TRY(vt_ep_open(&p->b, &vt_devs[1], &p->conf));
	TRY(vt_connect(p));
	sge = vt_sge(&p->a.buf, 0, 8);
	return vt_post_send(&p->a, &wr);
}

/* Refusals per s */
static uint64_t refusals(void)
{
	uint64_t n;

	vt_sleep_ms(1000);
	n = vt_counted(&vt_devs[0], "rx_rnr_nak");
	vt_sleep_ms(2000);
	return (vt_counted(&vt_devs[0], "rx_rnr_nak") - n) / 2;
}

static why_t waiting_end(struct vt_pair *p)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < WAITING; i++)
		TRY(vt_post_recv_at(&p[i].b, 0, 0, LEN));
	for (i = 0; i < WAITING; i++) {
		TRY(vt_poll_ok(p[i].a.scq, &wc, 0));
		TRY(vt_poll_ok(p[i].b.rcq, &wc, 0));
	}
	return NULL;
}

#define SOON_US		8000	/* a wait that others make longer takes 12,900 */
#define SOON_TRIES	40

/* Another QP is refused once: how many us it takes for its message to be received */
static why_t refused_once(struct vt_pair *p, uint64_t *us)
{
	struct ibv_wc wc;
	uint64_t start;

	TRY(waiting_open(p, RNR_ONCE));
	start = vt_now_us();
	while (vt_now_us() - start < 300)
		;
	TRY(vt_post_recv_at(&p->b, 0, 0, LEN));
	TRY(vt_poll_ok(p->b.rcq, &wc, 0));
	*us = vt_now_us() - start;
	TRY(vt_poll_ok(p->a.scq, &wc, 0));
	return NULL;
}

/*
 * One of some tries, as the host may have other things to do. With sanitizers none is that fast,
 * and each takes ten seconds.
 */
static why_t others_wait_less(void)
{
	int tries = vt_slowness() > 1 ? 2 : SOON_TRIES;
	uint64_t us = 0, least = UINT64_MAX;
	struct vt_pair p;
	why_t why = NULL;
	int i;

	for (i = 0; i < tries && least >= SOON_US && !why; i++) {
		memset(&p, 0, sizeof(p));
		why = refused_once(&p, &us);
		if (why)
			why = strdup(why);
		least = MIN(least, us);
		vt_ep_close(&p.a);
		vt_ep_close(&p.b);
	}
	TRY(why);
	CHECK(least < SOON_US || vt_slowness() > 1, "a QP that is refused once waits for %llu us",
	      (unsigned long long)least);
	return NULL;
}

static why_t waiting_run(struct vt_pair *p)
{
	uint64_t n, delayed = vt_counted(&vt_devs[0], "rnr_waits_delayed");
	int i;

	for (i = 0; i < WAITING; i++)
		TRY(waiting_open(&p[i], RNR_SHORT));
	n = refusals();
	tap_note("%u QPs are refused %llu times per s", WAITING, (unsigned long long)n);
	CHECK(n, "nobody is refused");
	CHECK(n < REFUSALS_MAX, "%llu refusals per s", (unsigned long long)n);
	/* a slow host would not have more in any case */
	CHECK(vt_counted(&vt_devs[0], "rnr_waits_delayed") > delayed, "no wait is delayed");
	TRY(others_wait_less());
	return waiting_end(p);
}

/* However many QPs of a user try again and again, the host has other things to do. */
static void test_waiting(void)
{
	struct vt_pair *p = calloc(WAITING, sizeof(*p));
	why_t why = p ? waiting_run(p) : "no memory", closing;
	int i;

	if (why)
		why = strdupa(why);
	for (i = 0; p && i < WAITING; i++) {
		closing = vt_ep_close(&p[i].a);
		why = why ?: closing;
		closing = vt_ep_close(&p[i].b);
		why = why ?: closing;
	}
	free(p);
	tap_report(why, "%u QPs whose peers post no receives", WAITING);
}

int main(int argc, char **argv)
{
	uint32_t sends, fewer;

	vt_start(argc, argv);
	sends = vt_devs[0].attr.max_qp_wr / 2;
	/* enough to last longer than what happens meanwhile */
	fewer = sends / vt_slowness();
	run_srq("SRQ resize with all receives posted", vt_devs[1].attr.max_srq_wr,
		vt_devs[1].attr.max_srq_sge, resize_large);
	run_srq("SRQ resizes while receives are taken", 20000, 1, resize_taking);
	run_deep("thousands of receives, error state by a verb", deep_modify);
	run_deep("thousands of receives, error state by a packet", deep_packet);
	run_deep_sends("thousands of sends, error state by a verb", deep_sends, sends);
	run_deep_sends("thousands of sends, error state by a timer", deep_error, fewer);
	run_deep_sends("thousands of sends, destroyed while they are flushed", deep_destroy, fewer);
	run_deep_sends("thousands of sends, reset while they are flushed", deep_reset, fewer);
	run_deep_sends("thousands of sends, error state, and more of them", deep_again, fewer);
	if (vt_wanted("QPs in the error state"))
		test_crowd();
	if (vt_wanted("QPs whose peers post no receives"))
		test_waiting();
	return tap_finish();
}
