// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A scenario from a seed. Every choice comes from one stream of numbers. */

#include "scenario.h"

/* Memory of one host that all its work requests may use together */
#define BYTES_MAX (768 << 10)

struct maker {
	struct scenario	*sc;
	struct rnd	r;
	u32		bytes;		/* used so far */
	bool		bulk;		/* nothing but long messages */
	bool		alike;		/* most are as the one before */
};

static u32 below(struct maker *m, u32 n)
{
	return n ? rnd_below(&m->r, n) : 0;
}

static u32 range(struct maker *m, u32 from, u32 to)
{
	return from + below(m, to - from + 1);
}

/* One time in @n */
static bool once_in(struct maker *m, u32 n)
{
	return !below(m, n);
}

static bool lossless(const struct scenario *sc)
{
	return sc->class == SC_CALM || sc->class == SC_RNR ||
	       sc->class == SC_BAD || sc->class == SC_LIFE;
}

static void choose_psn(struct maker *m)
{
	struct sim_cfg *c = &m->sc->cfg;

	/* near the wrap, near where the sign changes, or anywhere */
	switch (below(m, 4)) {
	case 0:
	case 1:
		c->psn = -range(m, 1, 200) & SROCE_PSN_MASK;
		break;
	case 2:
		c->psn = (1 << 23) - below(m, 200);
		break;
	default:
		c->psn = rnd32(&m->r) & SROCE_PSN_MASK;
	}
}

static void choose_small(struct maker *m)
{
	struct sim_cfg *c = &m->sc->cfg;

	if (once_in(m, 2))
		c->rd_atomic = c->dest_rd_atomic = 1;
	if (once_in(m, 2))
		c->slots = 1 << range(m, 1, 4);
	if (once_in(m, 2))
		c->rq_slots = 1 << range(m, 1, 4);
	if (once_in(m, 2))
		m->sc->ofo_max = range(m, 1, 20);
	if (once_in(m, 3))
		c->cqe = range(m, 1, 40);
}

static void choose_cfg(struct maker *m)
{
	struct scenario *sc = m->sc;
	struct sim_cfg *c = &sc->cfg;

	*c = sim_default;
	c->type = sc->class == SC_UC ? IB_QPT_UC :
		  sc->class == SC_UD ? IB_QPT_UD : IB_QPT_RC;
	if (sc->class == SC_LIFE && once_in(m, 4))
		c->type = once_in(m, 2) ? IB_QPT_UC : IB_QPT_UD;
	c->v6 = once_in(m, 3);
	c->mtu = once_in(m, 3) ? range(m, IB_MTU_256, IB_MTU_4096) : IB_MTU_256;
	choose_psn(m);
	c->timeout = range(m, 8, 12);		/* 1 to 17 ms */
	c->retry_cnt = once_in(m, 4) ? below(m, 8) : 7;
	c->rnr_retry = 7;
	c->min_rnr_timer = once_in(m, 8) ? below(m, 32) : range(m, 1, 14);
	c->rd_atomic = once_in(m, 3) ? 1 : range(m, 1, 16);
	c->dest_rd_atomic = c->rd_atomic + (once_in(m, 2) ? 0 : below(m, 4));
	c->slots = 64;
	c->rq_slots = 128;
	c->max_sge = SC_SGES;
	c->max_inline = 256;
	c->cqe = 512;
	if (lossless(sc))
		c->timeout = range(m, 14, 18);
	if (sc->class == SC_ONE) {
		c->timeout = 14;
		c->retry_cnt = range(m, 1, 7);
	}
	if (sc->class == SC_HOST || sc->class == SC_ALL)
		c->slots = 1 << range(m, 1, 5);
	if (sc->class == SC_LONG) {
		c->mtu = range(m, IB_MTU_256, IB_MTU_512);
		c->rd_atomic = c->dest_rd_atomic = range(m, 2, 16);
	}
	if (sc->class == SC_SMALL || (sc->class == SC_ALL && once_in(m, 2)))
		choose_small(m);
}

static void choose_wire(struct maker *m)
{
	struct scenario *sc = m->sc;

	sc->latency = range(m, 1, 20) * 1000;
	sc->ns_per_kb = once_in(m, 2) ? 0 : range(m, 80, 8000);
	sc->jitter = once_in(m, 2) ? 0 : below(m, 5000);
	sc->chunk = 8 * range(m, 1, once_in(m, 2) ? 40 : 1000);
	sc->batch = once_in(m, 2) ? SC_OPS : range(m, 1, 6);
	sc->impair_seed = rnd64(&m->r);
	if (once_in(m, 2))
		sc->task_delay_max = range(m, 1, 40000);
}

/* A long path, on which the window is paced and sampled otherwise */
static void be_far(struct maker *m)
{
	m->sc->latency = range(m, 3, 30) * SC_MS;
	m->sc->cfg.timeout = range(m, 16, 18);
}

static u32 rate(struct maker *m)
{
	static const u32 rates[] = { 10, 100, 300, 1000, 2000, 3000 };

	return rates[below(m, ARRAY_SIZE(rates))];
}

static void be_messy(struct maker *m, struct sc_faults *f)
{
	if (once_in(m, 2))
		f->drop = rate(m) / 2;
	if (once_in(m, 2))
		f->dup = rate(m);
	if (!once_in(m, 3))
		f->late = rate(m);
	f->late_max = once_in(m, 3) ? 5 * SC_MS : range(m, 1, 200) * SC_US;
	if (once_in(m, 3))
		f->corrupt = rate(m) / 2;
	if (once_in(m, 6))
		f->cut = rate(m) / 4;
	if (once_in(m, 6))
		f->ghost = rate(m);
}

static void be_bursty(struct maker *m, struct sc_faults *f)
{
	u32 i;

	if (once_in(m, 2)) {
		f->drop = rate(m) / 4;
		f->burst = range(m, 2, 40);
	}
	if (once_in(m, 2))
		f->dirs = once_in(m, 2) ? BIT(0) : BIT(1);
	for (i = 0; i < 2; i++) {
		if (once_in(m, 2))
			continue;
		f->blackout_from[i] = below(m, 1000) * SC_US;
		f->blackout_len[i] = range(m, 1, 4000) * SC_US;
	}
	if (once_in(m, 3)) {
		f->queue = range(m, 4, 64);
		if (!m->sc->ns_per_kb)
			m->sc->ns_per_kb = 800;
	}
}

static void choose_faults(struct maker *m)
{
	struct scenario *sc = m->sc;
	struct sc_faults *f = &sc->faults;

	f->one = -1;
	f->dirs = BIT(0) | BIT(1);
	f->burst = 1;
	switch (sc->class) {
	case SC_ONE:
		f->one = below(m, 200);
		break;
	case SC_LOSS:
	case SC_FOREIGN:
		m->bulk = once_in(m, sc->class == SC_LOSS ? 6 : 3);
		f->drop = m->bulk ? rate(m) / 10 : rate(m);
		if (m->bulk && once_in(m, 2))
			be_far(m);
		break;
	case SC_BACKN:
	case SC_SMALL:
		f->drop = rate(m);
		break;
	case SC_LONG:
		/* each hole is asked for again, and answered by many packets */
		f->drop = rate(m) / 100;
		break;
	case SC_MESS:
		be_messy(m, f);
		break;
	case SC_BURST:
		be_bursty(m, f);
		break;
	case SC_HOST:
		f->tx_fail = once_in(m, 4) ? 0 : rate(m);
		sc->task_delay_max = range(m, 1, 1000) * SC_US;
		break;
	case SC_RNR:
	case SC_BAD:
	case SC_LIFE:
		/* in part over a wire that loses */
		if (once_in(m, 2)) {
			f->drop = rate(m) / 2;
			sc->cfg.timeout = range(m, 8, 12);
		}
		break;
	case SC_UC:
	case SC_UD:
		if (once_in(m, 2))
			be_messy(m, f);
		break;
	case SC_ALL:
		be_messy(m, f);
		if (once_in(m, 2))
			be_bursty(m, f);
		if (once_in(m, 3))
			f->tx_fail = rate(m) / 2;
		break;
	default:
		break;
	}
}

static u32 choose_len(struct maker *m, u32 mtu)
{
	if (m->bulk)
		return range(m, 30, 90) * mtu;
	switch (below(m, 8)) {
	case 0:
		return below(m, 9);
	case 1:		/* about a multiple of the MTU */
		return range(m, 1, 8) * mtu + range(m, 0, 2) - 1;
	case 2:
		return once_in(m, 8) ? below(m, 90 * mtu) : below(m, 20 * mtu);
	case 3:
	case 4:
		return below(m, 6 * mtu);
	default:
		return below(m, mtu + 1);
	}
}

static u32 choose_opcode(struct maker *m)
{
	static const u32 rc[] = {
		IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_SEND_WITH_INV,
		IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM,
		IB_WR_RDMA_READ, IB_WR_RDMA_READ, IB_WR_ATOMIC_CMP_AND_SWP,
		IB_WR_ATOMIC_FETCH_AND_ADD, SROCE_WR_ATOMIC_WRITE,
		SROCE_WR_FLUSH,
	};
	static const u32 uc[] = {
		IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE,
		IB_WR_RDMA_WRITE_WITH_IMM,
	};

	switch (m->sc->cfg.type) {
	case IB_QPT_RC:
		return rc[below(m, ARRAY_SIZE(rc))];
	case IB_QPT_UC:
		return uc[below(m, ARRAY_SIZE(uc))];
	default:
		return uc[below(m, 2)];
	}
}

/* Whether a later one uses the memory of a work request */
static bool is_shared(const struct sc_host *h, u32 k)
{
	u32 i;

	for (i = k + 1; i < h->nops; i++)
		if (h->op[i].of == (s16)k)
			return true;
	return false;
}

/* A work request that shares memory with an earlier one, in a defined order */
static s16 relate(struct maker *m, struct sc_host *h, struct sc_op *op)
{
	u32 k;

	if (m->sc->cfg.type != IB_QPT_RC || !h->nops || !once_in(m, 3))
		return -1;
	k = below(m, h->nops);
	if (is_shared(h, k) || h->op[k].of >= 0 || !h->op[k].len || h->op[k].deep)
		return -1;
	if ((op->opcode == IB_WR_RDMA_READ || sc_is_flush(op->opcode)) &&
	    sc_is_write(h->op[k].opcode)) {
		op->len = h->op[k].len;
		return k;
	}
	if (sc_is_write(op->opcode) && h->op[k].opcode == IB_WR_RDMA_READ) {
		op->len = h->op[k].len;
		op->flags |= IB_SEND_FENCE;
		return k;
	}
	return -1;
}

/* One WRITE or READ goes by a window; a SEND after the WRITE ends that. */
static void use_window(struct maker *m, struct sc_host *h, struct sc_op *op)
{
	if (m->sc->cfg.type != IB_QPT_RC)
		return;
	if (op->opcode == IB_WR_SEND_WITH_INV && h->via >= 0 && !h->inv &&
	    sc_is_write(h->op[h->via].opcode)) {
		op->inv = true;
		h->inv = true;
	}
	if (h->via >= 0 || op->of >= 0 || !op->len || !once_in(m, 4) ||
	    (op->opcode != IB_WR_RDMA_READ && !sc_is_write(op->opcode)))
		return;
	op->via = true;
	h->via = op - h->op;
}

/* A host binds its window and invalidates it, by turns. */
static void make_mem_op(struct maker *m, struct sc_host *h)
{
	h->op[h->nops++] = (struct sc_op){
		.opcode = h->bound ? IB_WR_LOCAL_INV : IB_WR_BIND_MW, .of = -1,
		.flags = (once_in(m, 3) ? 0 : IB_SEND_SIGNALED) |
			 (once_in(m, 4) ? IB_SEND_FENCE : 0),
	};
	h->bound = !h->bound;
}

/* Make it like the one before, so that they are sent together. */
static void imitate(struct sc_op *op, const struct sc_op *other, u32 mtu)
{
	if (other->len > mtu || (!sc_is_send(other->opcode) &&
				 !sc_is_write(other->opcode)))
		return;
	op->opcode = other->opcode;
	op->len = other->len;
	op->flags = (op->flags & ~IB_SEND_SOLICITED) |
		    (other->flags & IB_SEND_SOLICITED);
}

static void make_op(struct maker *m, struct sc_host *h, u32 nr)
{
	struct sc_op *op = &h->op[h->nops];
	u32 mtu = sc_mtu(m->sc);

	if (m->sc->cfg.type == IB_QPT_RC && once_in(m, 12)) {
		make_mem_op(m, h);
		return;
	}
	memset(op, 0, sizeof(*op));
	op->opcode = choose_opcode(m);
	op->len = choose_len(m, mtu);
	if (sc_is_atomic(op->opcode))
		op->len = 8;
	/* where any receive must have room for any message */
	if (m->sc->srq || m->sc->cfg.type == IB_QPT_UC)
		op->len %= 12000;
	if (m->sc->cfg.type == IB_QPT_UD && op->len > mtu)
		op->len %= mtu + 1;
	op->flags = once_in(m, 4) ? 0 : IB_SEND_SIGNALED;
	if (once_in(m, 4))
		op->flags |= IB_SEND_SOLICITED;
	if (once_in(m, 5))
		op->flags |= IB_SEND_FENCE;
	if (m->alike && h->nops && !once_in(m, 4))
		imitate(op, &h->op[h->nops - 1], mtu);
	op->hit = !once_in(m, 3);
	op->word = below(m, SC_COUNTERS);
	/* who else would know what it is to be compared with, or has become? */
	if (op->opcode != IB_WR_ATOMIC_FETCH_AND_ADD && sc_shared_word(op))
		op->word = 0;
	op->dest = (nr & 1) ^ 1;
	if (m->sc->pairs > 1 && once_in(m, 2))
		op->dest += 2;
	op->of = relate(m, h, op);
	op->nsge = range(m, op->len ? 1 : 0, once_in(m, 2) ? 1 : SC_SGES);
	if (sc_is_flush(op->opcode)) {
		op->nsge = 0;
		op->whole = once_in(m, 3);
	} else if (op->len <= m->sc->cfg.max_inline && once_in(m, 4) &&
		   !sc_fetches(op->opcode)) {
		op->flags |= IB_SEND_INLINE;
	}
	if (m->bytes + op->len > BYTES_MAX)
		return;
	use_window(m, h, op);
	m->bytes += op->len;
	h->nops++;
}

static void make_host(struct maker *m, u32 nr)
{
	struct sc_host *h = &m->sc->host[nr];
	u32 i, n = range(m, 1, once_in(m, 2) ? SC_OPS : 12);
	bool spread = once_in(m, 2);
	u64 when = 0;

	if (m->sc->pairs == 1 && once_in(m, 3))
		n = 0;		/* only the other way */
	if (nr == 0 && !n)
		n = 10;
	m->bytes = 0;
	m->alike = once_in(m, 3);
	h->via = -1;
	for (i = 0; i < n; i++)
		make_op(m, h, nr);
	for (i = 0; i < h->nops; i++) {
		h->op[i].when = when;
		if (spread && once_in(m, 3))
			when += below(m, 500) * SC_US;
	}
	if (m->sc->class == SC_RNR || (m->sc->class == SC_ALL &&
				       once_in(m, 2))) {
		h->recv_late = below(m, 3000) * SC_US;
		h->recv_gap = once_in(m, 2) ? 0 : below(m, 400) * SC_US;
	}
	if (nr & 1 && once_in(m, 6) && m->sc->class != SC_CALM)
		h->rts_late = below(m, 2000) * SC_US;
}

static const u8 rc_bads[] = {
	BAD_RKEY, BAD_RANGE, BAD_ACCESS, BAD_ALIGN, BAD_LKEY, BAD_LKEY_LATE,
	BAD_OPCODE, BAD_SGES, BAD_INLINE, BAD_ATOMIC_LEN, BAD_RECV_SHORT,
	BAD_RECV_LKEY, BAD_BIND,
};

/* Whether a work request can be wrong in this way */
static bool can_be(const struct sc_op *op, u32 bad)
{
	u32 o = op->opcode;

	switch (bad) {
	case BAD_RANGE:
		return !sc_is_send(o) && op->len && !op->whole;
	case BAD_RKEY:
	case BAD_ACCESS:
		return !sc_is_send(o) && op->len;
	case BAD_BIND:
		return o == IB_WR_BIND_MW;
	case BAD_ALIGN:
		return sc_is_atomic(o);
	case BAD_ATOMIC_LEN:
		return sc_is_atomic(o) && !(op->flags & IB_SEND_INLINE);
	case BAD_LKEY:
	case BAD_LKEY_LATE:
		return !(op->flags & IB_SEND_INLINE) && op->len && op->nsge;
	case BAD_SGES:
		return !(op->flags & IB_SEND_INLINE) && op->nsge;
	case BAD_INLINE:
		return sc_is_send(o) || sc_is_write(o);
	case BAD_RECV_SHORT:
	case BAD_RECV_LKEY:
		return sc_is_send(o) && op->len;
	case BAD_UD_LEN:
	case BAD_AH:
	case BAD_QKEY:
		return true;
	default:
		return bad == BAD_OPCODE;
	}
}

static void spoil(struct maker *m, struct sc_op *op)
{
	static const u8 uc[] = {
		BAD_RKEY, BAD_RANGE, BAD_ACCESS, BAD_LKEY, BAD_LKEY_LATE,
		BAD_OPCODE, BAD_SGES, BAD_INLINE,
	};
	static const u8 ud[] = {
		BAD_LKEY, BAD_LKEY_LATE, BAD_OPCODE, BAD_SGES, BAD_INLINE,
		BAD_UD_LEN, BAD_AH, BAD_QKEY,
	};
	enum ib_qp_type type = m->sc->cfg.type;
	u32 bad = type == IB_QPT_RC ? rc_bads[below(m, sizeof(rc_bads))] :
		  type == IB_QPT_UC ? uc[below(m, sizeof(uc))] :
		  ud[below(m, sizeof(ud))];

	if (m->sc->srq && (bad == BAD_RECV_SHORT || bad == BAD_RECV_LKEY))
		return;
	if (op->of < 0 && can_be(op, bad))
		op->bad = bad;
}

/* Nobody relies on what a wrong request would have done. */
static void spoil_some(struct maker *m)
{
	struct scenario *sc = m->sc;
	u32 i, n = range(m, 1, 3);

	for (i = 0; i < n; i++) {
		struct sc_host *h = &sc->host[below(m, 2 * sc->pairs)];
		u32 at;

		if (!h->nops)
			continue;
		at = below(m, h->nops);
		if (!is_shared(h, at))
			spoil(m, &h->op[at]);
	}
	if (once_in(m, 10) && sc->cfg.type == IB_QPT_RC)
		sc->host[1].no_access = true;
}

/* The last READs are so long that the QP ends before they do. */
static void make_long(struct maker *m)
{
	struct sc_host *h = &m->sc->host[0];
	u32 i, n = range(m, 2, 20), when = range(m, 30, 200) * SC_US;

	for (i = h->nops > n ? h->nops - n : 0; i < h->nops; i++) {
		struct sc_op *op = &h->op[i];

		if (op->of >= 0 || is_shared(h, i) || op->via || op->inv ||
		    sc_is_mem_op(op->opcode) || once_in(m, 4))
			continue;
		*op = (struct sc_op){
			.opcode = IB_WR_RDMA_READ, .deep = true, .nsge = 1,
			.len = 1U << range(m, 26, 31), .of = -1,
			.flags = op->flags & IB_SEND_SIGNALED,
		};
		/* nearly half of all PSNs, and more if others were to follow */
		if (op->len == 1U << 31)
			op->len -= below(m, 2000);
	}
	/* both ends, as one alone would go on for long */
	for (i = 0; i < 2; i++)
		m->sc->act[m->sc->nacts++] = (struct sc_act){
			.kind = range(m, 0, 1) ? ACT_ERR :
				range(m, ACT_RESET, ACT_DESTROY),
			.host = i, .when = when + i * 30 * SC_US,
		};
	m->sc->task_delay_max = range(m, 30, 90) * SC_US;
}

static void make_acts(struct maker *m)
{
	struct scenario *sc = m->sc;
	u32 i, n = range(m, 1, 3);

	for (i = 0; i < n; i++) {
		struct sc_act *act = &sc->act[sc->nacts++];

		act->kind = below(m, ACT_KINDS);
		act->host = below(m, 2 * sc->pairs);
		act->when = below(m, once_in(m, 2) ? 200 : 3000) * SC_US;
		act->len = below(m, 2000) * SC_US;
	}
}

/* Drawn last, so that older seeds keep the rest of their scenario. */
static void choose_rest(struct maker *m)
{
	struct scenario *sc = m->sc;

	if (!once_in(m, 3))
		sc->train = range(m, 2, 64);
	if (once_in(m, 4))
		sc->prior_events = range(m, 1, 120);
	sc->sig_all = once_in(m, 8);
	if (sc->srq && once_in(m, 2))
		sc->srq_limit = range(m, 1, 20);
	if (sc->cfg.type != IB_QPT_RC && once_in(m, 6))
		sc->short_recv = range(m, 1, 300);
	if ((sc->class == SC_MESS || sc->class == SC_BURST ||
	     sc->class == SC_BACKN || sc->class == SC_ALL) && once_in(m, 3)) {
		sc->gap_policy[0] = below(m, 3);
		sc->gap_policy[1] = below(m, 3);
	}
	/* without a timer all is well as long as nothing is lost */
	if (sc->class == SC_CALM && once_in(m, 8))
		sc->cfg.timeout = 0;
}

/* A machine that stands still now and then; not in classes that tell how long all takes */
static void choose_stalls(struct maker *m)
{
	struct scenario *sc = m->sc;

	if ((sc->class == SC_MESS || sc->class == SC_BURST || sc->class == SC_BACKN ||
	     sc->class == SC_ALL) && sc->cfg.timeout && once_in(m, 4))
		sc->timer_late = range(m, 1, 12) * SC_MS;
}

/* Not in classes that count each packet that is sent twice */
static void choose_pages(struct maker *m)
{
	struct scenario *sc = m->sc;
	u32 i;

	if (sc->class == SC_CALM || sc->class == SC_ONE || sc->class == SC_LOSS ||
	    sc->class == SC_LONG || sc->class == SC_FOREIGN || !once_in(m, 3))
		return;
	for (i = 0; i < 2; i++)
		sc->on_demand[i] = below(m, 8);
	sc->page_delay = range(m, 1, once_in(m, 2) ? 20 : 300) * SC_US;
	sc->page_size = 1 << range(m, 9, 12);
	if (!once_in(m, 4))
		sc->evict_every = range(m, 4, 60);
	sc->page_few = once_in(m, 2);
}

/*
 * Strict hardware takes a repeat for another request, so it must not meet a READ that was
 * only thought to be lost: nothing arrives twice or late, and the timeout is long, beside
 * the round trip, too.
 */
static void choose_strict(struct maker *m, struct foreign_rules *f)
{
	static const u8 every[] = { 1, 4, 16 };
	struct scenario *sc = m->sc;

	f->ack_every = every[below(m, ARRAY_SIZE(every))];
	sc->cfg.timeout = range(m, 14, 16);
	while (4096ULL << sc->cfg.timeout < 5 * sc->latency)
		sc->cfg.timeout++;
	if (sc->ns_per_kb > 400)
		sc->ns_per_kb = 400;
}

/* One side is not ours. */
static void choose_foreign(struct maker *m)
{
	struct scenario *sc = m->sc;
	struct foreign_rules *f = &sc->foreign[below(m, 2)];
	bool strict = sc->class == SC_FOREIGN || sc->class == SC_LOSS;

	if (sc->class != SC_FOREIGN &&
	    ((sc->class != SC_LOSS && sc->class != SC_MESS && sc->class != SC_BURST &&
	      sc->class != SC_BACKN && sc->class != SC_SMALL) || !once_in(m, 6)))
		return;
	f->resp = below(m, strict ? FOREIGN_RESPS : FOREIGN_RESP_STRICT);
	f->back_n = !f->resp || once_in(m, 3);
	if (f->resp == FOREIGN_RESP_STRICT)
		choose_strict(m, f);
	/* there is a wire, and all memory is there */
	sc->loopback = false;
	memset(sc->on_demand, 0, sizeof(sc->on_demand));
	sc->page_delay = 0;
	sc->evict_every = 0;
}

/*
 * Not in classes that count each packet that is sent twice: an ACK may have to be asked for
 * again once the window has become smaller. A foreign peer may take that for a new request.
 */
static void choose_ecn(struct maker *m)
{
	static const u32 marks[] = { 100, 1000, 5000, 10000 };
	struct scenario *sc = m->sc;

	if (sc->class == SC_CALM || sc->class == SC_ONE || sc->cfg.type == IB_QPT_UD ||
	    sc_is_foreign(sc, 0) || sc_is_foreign(sc, 1))
		return;
	if (once_in(m, 4))
		sc->mark = marks[below(m, ARRAY_SIZE(marks))];
	if (once_in(m, 8))
		sc->cc_off = range(m, 1, 3);
}

/* Only what nothing else depends on, and most of that has one packet. */
static void shorten(struct maker *m, struct sc_host *h)
{
	u32 i, mtu = sc_mtu(m->sc);

	for (i = 0; i < h->nops; i++) {
		struct sc_op *op = &h->op[i];

		if (op->of < 0 && !is_shared(h, i) && !op->via && !op->bad && op->len > mtu &&
		    (sc_is_send(op->opcode) || sc_is_write(op->opcode)) && !once_in(m, 8))
			op->len = op->len % mtu + 1;
	}
}

/* Hosts whose processes answer each other, as soon as an ACK waits for that, or later */
static void take_turns(struct maker *m)
{
	struct scenario *sc = m->sc;
	u32 i;

	sc->turn_delay = range(m, 1, once_in(m, 4) ? 900 : 200) * SC_US;
	sc->answers = once_in(m, 8) ? sc->answers : BIT(0) | BIT(1);
	/* else none would be held */
	sc->cfg.timeout = max_t(u8, sc->cfg.timeout, range(m, 11, 14));
	for (i = 0; i < 2 * sc->pairs; i++)
		shorten(m, &sc->host[i]);
}

static void choose_answers(struct maker *m)
{
	struct scenario *sc = m->sc;

	sc->answers = below(m, 4);
	if (once_in(m, 4))
		sc->ack_off = range(m, 1, 3);
	/* who never holds one probes a peer that does: both are alike where a probe counts */
	if (sc->ack_off && (sc->class == SC_CALM || sc->class == SC_ONE))
		sc->ack_off = BIT(0) | BIT(1);
	if (sc->cfg.type == IB_QPT_RC && sc->class != SC_LONG && sc->cfg.timeout &&
	    !m->bulk && once_in(m, 3))
		take_turns(m);
}

/**
 * scenario_make() - the scenario that a seed stands for
 * @sc: filled in
 * @seed: the seed
 * @class: which kind, or -1 to have the seed say that, too
 */
void scenario_make(struct scenario *sc, u64 seed, int class)
{
	struct maker m = { .sc = sc, .r = { seed * 0x2545f4914f6cdd1dULL } };
	u32 i;

	memset(sc, 0, sizeof(*sc));
	sc->seed = seed;
	sc->class = class < 0 ? seed % SC_CLASS_NUM : (u32)class;
	rnd64(&m.r);
	choose_cfg(&m);
	sc->pairs = once_in(&m, 4) && sc->class != SC_LONG ? SC_PAIRS : 1;
	sc->srq = (sc->class == SC_RNR || sc->class == SC_ALL ||
		   sc->class == SC_LIFE || sc->class == SC_UC ||
		   sc->class == SC_SMALL ||
		   sc->class == SC_UD) && once_in(&m, 3);
	sc->backn[below(&m, 2)] = sc->class == SC_BACKN;
	if (sc->class == SC_RNR && once_in(&m, 3))
		sc->cfg.rnr_retry = below(&m, 8);
	choose_wire(&m);
	/* a queue longer than the RTO would cause retransmissions */
	if (sc->class == SC_CALM || sc->class == SC_ONE)
		sc->ns_per_kb = 0;
	choose_faults(&m);
	if (lossless(sc) && !sc->faults.drop)
		sc->cfg.retry_cnt = 7;
	for (i = 0; i < 2 * sc->pairs; i++)
		make_host(&m, i);
	if (sc->class == SC_BAD || sc->class == SC_ALL ||
	    ((sc->class == SC_UC || sc->class == SC_UD) && once_in(&m, 4)))
		spoil_some(&m);
	if (sc->class == SC_LIFE || (sc->class == SC_ALL && once_in(&m, 2)))
		make_acts(&m);
	if (sc->class == SC_LONG)
		make_long(&m);
	choose_rest(&m);
	sc->loopback = once_in(&m, 6);
	choose_pages(&m);
	choose_foreign(&m);
	choose_ecn(&m);
	choose_stalls(&m);
	choose_answers(&m);
}
