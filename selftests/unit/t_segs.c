// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Segments are an optimization only: packets on the wire, memory, completions and
 * counters must be the same with and without them.
 */

#include "tests.h"
#include "xfer.h"

#define SIZE		400000
#define TRAIN		64

/* What happens to the messages */
struct impairment {
	u32	loss;		/* one packet in this many is lost; 0: none */
	u32	copies;		/* likewise, comes twice */
	u32	damage;		/* likewise, is damaged */
	u32	row;		/* this many that follow a lost one are lost, too */
	u64	delay;		/* on the wire, in addition */
	u32	at;		/* when this many packets have been sent... */
	void	(*action)(struct xfers *t);	/* ...this happens */
};

/* All that can be observed */
struct seen {
	struct xfers	t;
	struct rnd	rnd;
	const struct impairment *imp;
	u32		packets;
	u32		losing;		/* packets still to be lost in a row */
	u64		wire;		/* hash of all that was sent */
	u64		done;		/* and of all completions */
	u64		memory;
	u64		batches;
	struct sroce_counters a, b;
	u32		state[2], events[2];
};

static void mix(u64 *hash, const void *p, size_t len)
{
	const u8 *b = p;

	while (len--)
		*hash = (*hash ^ *b++) * 0x100000001b3ULL;
}

static bool chance(struct rnd *r, u32 one_in)
{
	return one_in && !rnd_below(r, one_in);
}

static int watch(struct sim *s, struct sim_packet *p)
{
	struct seen *w = s->arg;
	const struct impairment *f = w->imp;
	bool lost, twice, damaged;

	/* how a READ is split depends on when its responses come */
	s->a.qp.req.read_cwnd.cwnd = SROCE_CWND_MAX;
	mix(&w->wire, p->data, p->len);
	mix(&w->wire, &s->now, sizeof(s->now));
	p->when += f->delay;
	if (f->action && ++w->packets == f->at)
		f->action(&w->t);
	/* the number of draws must not depend on their results */
	lost = chance(&w->rnd, f->loss);
	if (lost)
		w->losing = f->row;
	else if (w->losing)
		lost = w->losing--;
	twice = chance(&w->rnd, f->copies);
	damaged = chance(&w->rnd, f->damage);
	if (damaged)
		p->data[p->len - 5 - rnd_below(&w->rnd, 16)] ^= 0x10;
	return lost ? 0 : 1 + twice;
}

static void mix_cqe(struct sim *s, struct sroce_qp *qp, const struct sroce_cqe *cqe)
{
	struct seen *w = s->arg;

	mix(&w->done, &qp->qpn, sizeof(qp->qpn));
	mix(&w->done, &cqe->wr_id, sizeof(cqe->wr_id));
	mix(&w->done, &cqe->status, sizeof(cqe->status));
	mix(&w->done, &cqe->byte_len, sizeof(cqe->byte_len));
	mix(&w->done, &s->now, sizeof(s->now));
}

static void mix_memory(struct seen *w, const struct sim_buf *b)
{
	u64 off, n;

	for (off = 0; off < SIZE; off += n) {
		const u8 *p;

		n = SIZE - off;
		p = sim_span(b, off, &n);
		mix(&w->memory, p, n);
	}
}

static void take_counters(struct seen *w, const struct sroce_kqp *kqp,
			  struct sroce_counters *to)
{
	*to = kqp->counters;
	w->batches += to->c[SROCE_CNT_TX_PKT_BATCHES] + to->c[SROCE_CNT_TX_MSG_BATCHES];
	w->batches += to->c[SROCE_CNT_RX_PKT_BATCHES] << 32;
	to->c[SROCE_CNT_TX_PKT_BATCHES] = 0;
	to->c[SROCE_CNT_TX_MSG_BATCHES] = 0;
	to->c[SROCE_CNT_RX_PKT_BATCHES] = 0;
}

typedef void (*work_fn)(struct xfers *t);

static void play(struct seen *w, const struct sim_cfg *cfg, u32 chunk,
		 const struct impairment *imp, work_fn work, u32 run, u32 seed)
{
	struct xfers *t = &w->t;
	u32 i;

	memset(w, 0, sizeof(*w));
	w->imp = imp;
	w->rnd.s = seed;
	xfers_init(t, cfg, SIZE, chunk);
	t->s->train = TRAIN;
	t->s->max_segs = run;
	t->s->wire = watch;
	t->s->posted = mix_cqe;
	t->s->arg = w;
	t->s->a.qp.req.read_cwnd.cwnd = SROCE_CWND_MAX;
	work(t);
	xfers_run(t);
	mix_memory(w, t->a);
	mix_memory(w, t->b);
	take_counters(w, &t->s->a, &w->a);
	take_counters(w, &t->s->b, &w->b);
	for (i = 0; i < 2; i++) {
		w->state[i] = t->s->kqp[i]->qp.state;
		w->events[i] = t->s->kqp[i]->events;
	}
	/* without an event the transfer must succeed as well */
	if (!imp->action && t->s->a.qp.svc == SROCE_SVC_RC)
		xfers_check(t);
	xfers_end(t);
}

static void check_counters(const struct sroce_counters *a,
			   const struct sroce_counters *b)
{
	u32 i;

	for (i = 0; i < SROCE_CNT_NUM; i++)
		if (a->c[i] != b->c[i])
			t_fail(__FILE__, __LINE__, "counter %u: %llu with segments, %llu without",
			       i, (unsigned long long)a->c[i],
			       (unsigned long long)b->c[i]);
}

/* Return: batches sent, and in the upper 32 bits batches received */
static u64 compare(const struct sim_cfg *cfg, u32 chunk, const struct impairment *imp,
		   work_fn work, u32 seed)
{
	static struct seen with, without;

	play(&with, cfg, chunk, imp, work, 2 + seed % TRAIN, seed);
	play(&without, cfg, chunk, imp, work, 1, seed);
	CHECK_EQ(without.batches, 0);
	CHECK(with.wire == without.wire);
	CHECK(with.done == without.done);
	CHECK(with.memory == without.memory);
	CHECK_EQ(with.state[0], without.state[0]);
	CHECK_EQ(with.state[1], without.state[1]);
	CHECK_EQ(with.events[0], without.events[0]);
	CHECK_EQ(with.events[1], without.events[1]);
	check_counters(&with.a, &without.a);
	check_counters(&with.b, &without.b);
	return with.batches;
}

static void long_ones(struct xfers *t)
{
	u32 mtu = t->s->a.qp.mtu;

	xfer_put(t, IB_WR_RDMA_WRITE, 20 * mtu);
	xfer_put(t, IB_WR_SEND, 17 * mtu + 1);
	if (t->s->a.qp.svc != SROCE_SVC_RC)
		return;
	xfer_put(t, IB_WR_RDMA_READ, 25 * mtu - 1);
	xfer_put(t, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
	xfer_put(t, IB_WR_RDMA_WRITE_WITH_IMM, 3 * mtu);
	xfer_put(t, IB_WR_SEND_WITH_IMM, 2 * mtu + 5);
}

static void longer_ones(struct xfers *t)
{
	xfer_put(t, IB_WR_RDMA_WRITE, 200 * t->s->a.qp.mtu);
	if (t->s->a.qp.svc != SROCE_SVC_RC)
		return;
	xfer_put(t, IB_WR_RDMA_READ, 250 * t->s->a.qp.mtu + 1);
	xfer_put(t, IB_WR_RDMA_READ, 150 * t->s->a.qp.mtu);
	xfer_put(t, IB_WR_SEND, 90 * t->s->a.qp.mtu + 3);
}

static void a_write(struct xfers *t)
{
	xfer_put(t, IB_WR_RDMA_WRITE, 300 * t->s->a.qp.mtu);
}

static void a_send(struct xfers *t)
{
	xfer_put(t, IB_WR_SEND, 300 * t->s->a.qp.mtu);
}

static void a_read(struct xfers *t)
{
	xfer_put(t, IB_WR_RDMA_READ, 300 * t->s->a.qp.mtu);
}

/* The receive is shorter than the message. */
static void too_long(struct xfers *t)
{
	struct sim_wr wr = xfer_make(t, IB_WR_SEND, 100 * t->s->a.qp.mtu);
	struct ib_sge sge = sim_sge(t->b, 0, 61 * t->s->a.qp.mtu + 8);

	sim_put_recv(&t->s->b, 1000, &sge, 1);
	sim_put_send(&t->s->a, &wr);
}

static void each_size(void)
{
	static const struct impairment none;
	struct sim_cfg cfg = sim_default;
	u32 chunk;

	for (cfg.mtu = IB_MTU_256; cfg.mtu <= IB_MTU_4096; cfg.mtu++) {
		t_case("segs: same as single packets, path MTU %u", 128 << cfg.mtu);
		for (chunk = 104; chunk < 20000; chunk *= 3) {
			u64 batches = compare(&cfg, chunk, &none, long_ones, chunk);

			t_where("extents of %u", chunk);
			CHECK((u32)batches > 2);
			CHECK(batches >> 32 > 2);
		}
		cfg.v6 = !cfg.v6;
	}
}

static void wire_of(const char *what, const struct impairment *imp, work_fn work)
{
	static const enum ib_qp_type types[] = { IB_QPT_RC, IB_QPT_UC };
	struct sim_cfg cfg = sim_default;
	u64 batches = 0;
	u32 i, seed;

	cfg.mtu = IB_MTU_512;
	cfg.timeout = 14;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		cfg.type = types[i];
		t_case("segs: same as single packets, %s, %s", xfer_type_name(cfg.type),
		       what);
		for (seed = 1; seed <= 60; seed++) {
			t_where("seed %u", seed);
			batches |= compare(&cfg, 3000, imp, work, seed);
		}
		CHECK((u32)batches && batches >> 32);
	}
}

static void local_key_gone(struct xfers *t)
{
	sim_buf_revoke(t->a);
}

static void remote_key_gone(struct xfers *t)
{
	sim_buf_revoke(t->b);
}

static void right_gone(struct xfers *t)
{
	t->s->b.qp.attr.qp_access_flags = 0;
}

static void region_right_gone(struct xfers *t)
{
	t->b->mr.access = IB_ACCESS_LOCAL_WRITE;
}

static void state_gone(struct xfers *t)
{
	sim_enter(&t->s->b, IB_QPS_ERR);
}

static void own_state_gone(struct xfers *t)
{
	sim_enter(&t->s->a, IB_QPS_ERR);
}

static void other_peer(struct xfers *t)
{
	t->s->b.qp.av.dgid.raw[15] ^= 1;
}

static void actions(void)
{
	static const struct {
		const char *what;
		void (*happens)(struct xfers *t);
	} all[] = {
		{ "the requester's key is revoked", local_key_gone },
		{ "the responder's key is revoked", remote_key_gone },
		{ "the QP's access rights change", right_gone },
		{ "the region's access rights change", region_right_gone },
		{ "the responder goes to ERR", state_gone },
		{ "the requester goes to ERR", own_state_gone },
		{ "the peer's address changes", other_peer },
	};
	static const work_fn works[] = { a_write, a_send, a_read };
	struct sim_cfg cfg = sim_default;
	u32 i, k, at;

	cfg.mtu = IB_MTU_256;
	cfg.retry_cnt = 1;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		t_case("segs: same as single packets, %s in the middle", all[i].what);
		for (at = 1; at < 300; at += 23) {
			struct impairment imp = { .at = at, .action = all[i].happens };

			for (k = 0; k < ARRAY_SIZE(works); k++) {
				t_where("packet %u of work %u", at, k);
				compare(&cfg, 5000, &imp, works[k], at);
			}
		}
	}
}

static void receives(void)
{
	static const struct impairment none;
	struct sim_cfg cfg = sim_default;

	t_case("segs: same as single packets, a SEND longer than the receive");
	/* that ends with an error: nothing else is to be checked */
	compare(&cfg, 7000, &(struct impairment){ .at = ~0, .action = state_gone },
		too_long, 1);
	t_case("segs: same as single packets, a SEND longer than the receive, UC");
	cfg.type = IB_QPT_UC;
	compare(&cfg, 7000, &none, too_long, 1);
}

/* An SGE after many packets can't be read: they are not copied again for each packet. */
static void failed_copy(void)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;

	t_case("segs: payload of segments that fail is copied once per run of the task");
	cfg.mtu = IB_MTU_256;
	xfers_init(&t, &cfg, SIZE, 100000);
	wr = xfer_make(&t, IB_WR_RDMA_WRITE, 61 * 256);
	wr.num_sge = 2;
	wr.sge[0] = sim_sge(t.a, 0, 60 * 256);
	wr.sge[1] = sim_sge(t.a, 60 * 256, 256);
	wr.sge[1].lkey ^= 0x100;
	wr.sge[0].length -= 8;
	wr.sge[1].length += 8;
	sim_copied = 0;
	sim_post(&t.s->a, &wr);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_LOC_PROT_ERR);
	CHECK(sim_copied <= 3 * 61 * 256);
	xfers_end(&t);
}

static void odp_long_ones(struct xfers *t)
{
	t->s->page_delay = 100000;
	sim_buf_on_demand(t->a);
	sim_buf_on_demand(t->b);
	long_ones(t);
}

static void on_demand(void)
{
	static const struct impairment none;
	static const struct impairment harm = { .loss = 40, .copies = 40 };
	struct sim_cfg cfg = sim_default;
	u32 seed;

	t_case("segs: same as single packets, memory on demand");
	for (seed = 1; seed < 40; seed++) {
		t_where("seed %u", seed);
		compare(&cfg, 3000, seed & 1 ? &none : &harm, odp_long_ones, seed);
	}
}

static u32 small;	/* bytes of each message */

/* Messages that may be sent together, and some that differ in one field each */
static void alike_ones(struct xfers *t)
{
	static const u32 ops[] = {
		IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE,
		IB_WR_RDMA_WRITE_WITH_IMM,
	};
	struct sim_wr wr;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		for (k = 0; k < 12; k++) {
			wr = xfer_make(t, ops[i], small);
			if (k == 8)
				wr.flags |= IB_SEND_SOLICITED;
			if (k == 9)
				wr.flags |= IB_SEND_FENCE;
			if (xfer_recvs(ops[i]))
				xfer_recv(t, t->n - 1);
			sim_put_send(&t->s->a, &wr);
		}
		if (small)
			xfer_put(t, ops[i], small - 1);
	}
}

static void alike_of(const char *what, const struct impairment *imp, work_fn work)
{
	static const u32 sizes[] = { 0, 1, 8, 63, 64, 255, 256 };
	struct sim_cfg cfg = sim_default;
	u32 i, seed;

	cfg.mtu = IB_MTU_256;
	cfg.timeout = 14;
	cfg.retry_cnt = 7;
	t_case("segs: messages sent together, same as one by one, %s", what);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		u64 batches = 0;

		small = sizes[i];
		for (seed = 1; seed <= 8; seed++) {
			t_where("%u bytes, seed %u", small, seed);
			batches += (u32)compare(&cfg, 100, imp, work, seed);
		}
		CHECK(batches >= 8 * 4);
	}
}

static void odp_alike(struct xfers *t)
{
	t->s->page_delay = 100000;
	sim_buf_on_demand(t->a);
	sim_buf_on_demand(t->b);
	alike_ones(t);
}

/* One of those in the middle can't be sent. */
static void bad_among_alike(struct xfers *t)
{
	struct sim_wr wr;
	u32 k;

	for (k = 0; k < 10; k++) {
		wr = xfer_make(t, IB_WR_SEND, 64);
		if (k == 5)
			wr.sge[0].lkey ^= 0x100;
		xfer_recv(t, k);
		sim_put_send(&t->s->a, &wr);
	}
}

static void together(void)
{
	static const struct impairment none;
	struct sim_cfg cfg = sim_default;
	u32 at;

	alike_of("whole", &none, alike_ones);
	alike_of("packets lost", &(struct impairment){ .loss = 20 }, alike_ones);
	alike_of("packets twice", &(struct impairment){ .copies = 20 }, alike_ones);
	alike_of("memory on demand", &none, odp_alike);

	t_case("segs: messages sent together, a key is revoked in the middle");
	small = 64;
	for (at = 1; at < 50; at += 7) {
		t_where("packet %u", at);
		compare(&cfg, 100, &(struct impairment){ .at = at, .action = local_key_gone },
			alike_ones, at);
		compare(&cfg, 100, &(struct impairment){ .at = at, .action = remote_key_gone },
			alike_ones, at);
	}

	t_case("segs: messages sent together, up to one that can't be sent");
	CHECK((u32)compare(&cfg, 100, &(struct impairment){ .at = ~0, .action = state_gone },
			   bad_among_alike, 1));
}

/* A first packet like @p and nine middle ones arrive at once. */
static void forge_ten(struct sroce_kqp *from, struct sroce_kqp *to,
		      struct sroce_pkt *p, u32 psn)
{
	static u8 data[1024];
	u32 i;

	memset(data, 0xee, sizeof(data));
	p->qpn = to->qp.qpn;
	for (i = 0; i < 10; i++) {
		p->psn = sroce_psn_add(psn, i);
		sim_send(from->sim, sim_forge(from, p, data));
		/* first to middle: 0x06 to 0x07, 0x0d to 0x0e */
		p->opcode += !i;
	}
}

/* Middle packets with more data than the first one announced, received at once */
static void beyond_promise(void)
{
	struct sroce_pkt p = { .opcode = 0x06, .pkey = 0xffff, .payload_len = 1024,
			       .length = 5 * 1024, .va = XFER_IOVA_B };
	struct xfers t;
	u32 i;

	t_case("segs: a WRITE longer than announced writes nothing beyond");
	xfers_init(&t, NULL, SIZE, 4096);
	t.s->train = TRAIN;
	p.rkey = t.b->mr.key;
	forge_ten(&t.s->a, &t.s->b, &p, t.s->b.qp.resp.psn);
	sim_run(t.s);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_INV_SENT), 1);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	for (i = 0; i < 5 * 1024; i++)
		CHECK_EQ(*sim_byte(t.b, i), i < 4 * 1024 ? 0xee : 0);
	xfers_end(&t);
}

/* Responses beyond those that were asked for */
static void beyond_read(void)
{
	struct sroce_pkt p = { .opcode = 0x0d, .pkey = 0xffff, .payload_len = 1024,
			       .syndrome = 0x1f };
	struct xfers t;
	u32 i;

	t_case("segs: responses past the end of a READ write nothing");
	xfers_init(&t, NULL, SIZE, 4096);
	t.s->train = TRAIN;
	xfer_put(&t, IB_WR_RDMA_READ, 4 * 1024);
	xfer_put(&t, IB_WR_RDMA_WRITE, 20 * 1024);
	/* the peer is silent, but for the forger */
	t.s->b.gone = true;
	sim_doorbell(&t.s->a);
	forge_ten(&t.s->b, &t.s->a, &p, t.s->a.qp.req.una);
	sim_run_until(t.s, t.s->now + 10000);
	for (i = 0; i < 4 * 1024; i++)
		CHECK_EQ(*sim_byte(t.a, t.x[0].off + i), 0xee);
	CHECK(sim_count(&t.s->a, SROCE_CNT_BAD_RESPONSE) > 0);
	CHECK(sim_filled(t.a, t.x[1].off, t.x[1].len, 1));
	t.s->b.gone = false;
	xfers_end(&t);
}

UNIT_TESTS(segs)
{
	each_size();
	wire_of("packets lost", &(struct impairment){ .loss = 30 }, long_ones);
	wire_of("packets twice", &(struct impairment){ .copies = 30 }, long_ones);
	wire_of("packets damaged", &(struct impairment){ .damage = 30 }, long_ones);
	wire_of("all of that", &(struct impairment){ .loss = 40, .copies = 40, .damage = 60 }, long_ones);
	wire_of("many lost at once",
		&(struct impairment){ .loss = 150, .row = 12, .copies = 60, .delay = 200000 },
		longer_ones);
	actions();
	receives();
	failed_copy();
	on_demand();
	together();
	beyond_promise();
	beyond_read();
}
