// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Pairs of QPs that share a link: post, wait, sum up. */

#include <stdlib.h>
#include <string.h>
#include "flows.h"

#define LIMIT	(4000 * SIM_MS)

struct run {
	struct link	link;		/* first, for link_wire() */
	struct stall	cpu[2];		/* of A's and of B's */
	const struct flows *like;
	struct sim	*s;
	struct cubic	*cubic;
	struct sim_buf	*from, *to;
	u64		start;
	u64		next_sample;
	u64		spread;
	struct rnd	r;
	struct train {
		u64	at, late;		/* when it was sent, and how late it is taken in */
		u64	newest;			/* when its newest packet is */
	} train[2 * FLOWS_MAX];			/* the last of each QP */
	struct {			/* before @like.settle had passed */
		u64	now, cubic;
		double	got;
	} settled;
	u32		posted[FLOWS_MAX];
	u64		end[FLOWS_MAX];		/* 0: not yet */
	u32		ended;
	double		jain;
};

static struct sroce_kqp *requester(const struct run *run, u32 pair)
{
	return run->s->kqp[2 * pair];
}

static struct lane *data_lane(struct run *run)
{
	return &run->link.lane[run->like->opcode == IB_WR_RDMA_READ];
}

u32 flows_progress(const struct sroce_kqp *kqp)
{
	return sroce_psn_diff(kqp->qp.req.una, kqp->qp.attr.sq_psn);
}

static void post(struct run *run, struct sroce_kqp *kqp, u32 nr)
{
	const struct flows *f = run->like;
	struct sim_wr wr = {
		.wr_id = nr, .opcode = f->opcode, .flags = IB_SEND_SIGNALED,
		.num_sge = 1, .sge = { sim_sge(run->from, 0, f->len) },
		.remote_addr = run->to->mr.iova, .rkey = run->to->mr.key,
	};

	sim_post(kqp, &wr);
}

/* Jain's index of what each pair has got so far */
static double fairness(const struct run *run)
{
	double sum = 0, squares = 0;
	u32 i;

	for (i = 0; i < run->like->pairs; i++) {
		double x = flows_progress(requester(run, i));

		sum += x;
		squares += x * x;
	}
	return squares ? sum * sum / squares / run->like->pairs : 0;
}

static void end_pair(struct run *run, u32 pair)
{
	if (run->end[pair])
		return;
	if (!run->ended++)
		run->jain = fairness(run);
	run->end[pair] = run->s->now;
}

static u64 joins(const struct run *run, u32 pair)
{
	return run->start + run->like->join * pair;
}

/* Return: when a pair that waits begins, or LINK_NEVER. */
static u64 post_all(struct run *run)
{
	const struct flows *f = run->like;
	u64 next = LINK_NEVER;
	u32 i;

	for (i = 0; i < f->pairs; i++) {
		struct sroce_kqp *kqp = requester(run, i);

		if (joins(run, i) > run->s->now) {
			next = joins(run, i) < next ? joins(run, i) : next;
			continue;
		}
		while (kqp->qp.state == IB_QPS_RTS && run->posted[i] < f->count &&
		       run->posted[i] - kqp->scq.n < f->depth)
			post(run, kqp, run->posted[i]++);
		if (kqp->scq.n >= f->count || kqp->qp.state != IB_QPS_RTS)
			end_pair(run, i);
	}
	return next;
}

/* Packets that all pairs have got */
static double progress(const struct run *run)
{
	double got = 0;
	u32 i;

	for (i = 0; i < run->like->pairs; i++)
		got += flows_progress(requester(run, i));
	return got;
}

static void settle(struct run *run)
{
	if (run->settled.now || run->s->now < run->start + run->like->settle)
		return;
	run->settled.now = run->s->now;
	run->settled.got = progress(run);
	run->settled.cubic = run->cubic ? run->cubic->delivered : 0;
}

static void sample(struct run *run)
{
	if (run->s->now < run->next_sample)
		return;
	run->like->sampled(run->s, data_lane(run), run->cubic);
	run->next_sample = run->s->now + run->like->sample;
}

/* Return: when there is something to do besides what the simulation has to do. */
static u64 outside(struct run *run, u64 limit)
{
	u64 t = post_all(run);

	settle(run);
	if (run->like->sample) {
		sample(run);
		t = run->next_sample < t ? run->next_sample : t;
	}
	if (run->cubic) {
		if (cubic_next(run->cubic) <= run->s->now)
			cubic_run(run->cubic, run->s->now);
		t = cubic_next(run->cubic) < t ? cubic_next(run->cubic) : t;
	}
	return t < limit ? t : limit;
}

static bool newly_done;

static void on_posted(struct sim *s, struct sroce_qp *qp, const struct sroce_cqe *cqe)
{
	(void)s;
	(void)qp;
	(void)cqe;
	newly_done = true;
}

static void transfer(struct run *run)
{
	struct sim *s = run->s;
	u64 limit = run->start + (run->like->limit ? run->like->limit : LIMIT);

	while (s->now < limit) {
		u64 t = outside(run, limit);
		bool any = false;

		if (run->like->pairs && run->ended == run->like->pairs)
			return;
		newly_done = false;
		while (!newly_done && sim_step_until(s, t))
			any = true;
		if (!newly_done && s->now < t)
			s->now = t;
		if (!any && t == limit)
			s->now = limit;
	}
}

static u64 runs_at(struct sim *s, const struct sroce_kqp *kqp, u64 when)
{
	struct run *run = s->arg;

	return stall_runs_at(&run->cpu[kqp->nr & 1], when);
}

static bool tx_pending(struct sim *s, struct sroce_qp *qp)
{
	const struct sim_packet *p = s->wire_head;

	while (p && (p->from != qp->kqp || sim_is_response(p)))
		p = p->next;
	return p;
}

/* A host is interrupted once for a train. Nothing overtakes what its QP sent before. */
static u64 taken_in(struct run *run, const struct sim_packet *p)
{
	struct train *t = &run->train[p->from->nr];
	u64 now = run->s->now;

	if (!run->like->late)
		return p->when;
	if (t->at != now)
		t->late = rnd_below(&run->r, run->like->late);
	t->at = now;
	if (t->newest < p->when + t->late)
		t->newest = p->when + t->late;
	return t->newest;
}

static int wire(struct sim *s, struct sim_packet *p)
{
	struct run *run = s->arg;
	int copies = link_wire(s, p);

	if (!copies)
		return 0;
	p->when += p->from->nr / 2 * run->spread;
	p->when = stall_receives_at(&run->cpu[!(p->from->nr & 1)], taken_in(run, p));
	return p->when ? copies : 0;
}

static void make_qps(struct run *run)
{
	const struct flows *f = run->like;
	struct sim_cfg cfg = sim_default;
	struct foreign_rules rxe = { .resp = FOREIGN_RESP_RXE };
	struct sim *s;
	u32 i;

	cfg.timeout = f->timeout ? f->timeout : 14;
	if (f->tries)
		cfg.retry_cnt = f->tries - 1;
	cfg.rd_atomic = f->rd_atomic ? f->rd_atomic : 4;
	cfg.dest_rd_atomic = cfg.rd_atomic;
	cfg.cqe = f->count + 64;
	s = sim_new(&cfg);
	for (i = 1; i < f->pairs; i++)
		sim_pair(s, &cfg);
	for (i = 0; i < s->kqps; i++) {
		if (f->ect)
			s->kqp[i]->qp.av.tclass = 2;
		if (f->adapter && !(i & 1))
			s->kqp[i]->qp.cc = false;
		if (f->back_n && i & 1)
			s->kqp[i]->qp.resp.ofo_max = 0;
		if (f->rxe && i & 1)
			foreign_set(s->kqp[i], &rxe);
	}
	run->s = s;
}

static void begin(struct run *run, const struct flows *f, u64 seed)
{
	struct sim *s;
	u32 i;

	run->like = f;
	run->link = f->link;
	link_init(&run->link, seed);
	run->spread = f->spread * seed;
	run->r.s = seed * 15485863 + 3;
	for (i = 0; i < 2; i++)
		stall_init(&run->cpu[i], &f->stall[i], 2 * seed + i);
	make_qps(run);
	s = run->s;
	s->wire = wire;
	s->runs_at = runs_at;
	s->tx_pending = f->one_host ? tx_pending : NULL;
	s->arg = run;
	s->posted = on_posted;
	s->train = SROCE_TX_BUDGET;
	s->task_delay = f->kick;
	s->quick = true;
	run->from = sim_buf_zeros(s, 0x10000000, f->len, IB_ACCESS_LOCAL_WRITE);
	run->to = sim_buf_zeros(s, 0x70000000, f->len, IB_ACCESS_LOCAL_WRITE |
				IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
	run->start = s->now;
	if (f->cubic) {
		run->cubic = malloc(sizeof(*run->cubic));
		cubic_init(run->cubic, data_lane(run), 2 * f->link.latency, f->ect);
	}
}

static void sum_up_pair(const struct run *run, u32 pair, struct flows_result *res)
{
	const struct sroce_kqp *kqp = requester(run, pair);
	u32 i;

	for (i = 0; i < kqp->scq.n; i++)
		res->done += kqp->scq.e[i].status == IB_WC_SUCCESS;
	res->dead += kqp->qp.state != IB_QPS_RTS;
	res->timeouts += sim_count(kqp, SROCE_CNT_TIMEOUT);
	res->excused += sim_count(kqp, SROCE_CNT_TIMEOUT_EXCUSED);
	res->probes += sim_count(kqp, SROCE_CNT_PROBE);
	res->retransmits += sim_count(kqp, SROCE_CNT_RETRANSMIT);
}

static struct flows_result sum_up(struct run *run)
{
	const struct lane *lane = data_lane(run);
	struct flows_result res = {
		.ns = run->s->now - run->start, .marked = lane->marked,
		.longest = lane->longest, .wanted = run->like->pairs * run->like->count,
		.jain = run->ended ? run->jain : fairness(run),
	};
	double could = (double)(run->s->now - run->settled.now) / (lane->svc ? lane->svc : 1);
	u32 i;

	for (i = 0; i < run->like->pairs; i++)
		sum_up_pair(run, i, &res);
	res.part = (progress(run) - run->settled.got) / could;
	if (run->cubic)
		res.cubic = (run->cubic->delivered - run->settled.cubic) / could *
			    CUBIC_LEN / LINK_FULL;
	res.dropped = lane->sent ? (double)lane->dropped / lane->sent : 0;
	return res;
}

/* What is under way is forgotten: QPs must not end with work that is left. */
static void stop(struct run *run)
{
	struct sim *s = run->s;
	struct sim_packet *p;
	u32 i;

	while ((p = sim_wire_take(s)))
		sim_packet_free(p);
	for (i = 0; i < s->kqps; i++)
		sim_destroy(s->kqp[i]);
	foreign_end(s);
	sim_end(s);
	link_end(&run->link);
	stall_end(&run->cpu[0]);
	stall_end(&run->cpu[1]);
	free(run->cubic);
	free(run);
}

/**
 * flows_run() - have some pairs share a link
 * @like: which, and what they do
 * @seed: of what is left to chance
 */
struct flows_result flows_run(const struct flows *like, u64 seed)
{
	struct run *run = calloc(1, sizeof(*run));
	struct flows_result res;

	begin(run, like, seed);
	transfer(run);
	res = sum_up(run);
	stop(run);
	return res;
}
