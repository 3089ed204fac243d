// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Impairment of the wire: what happens to each packet, by chance or by a script. */

#include <stdlib.h>
#include "world.h"

/* No probe is sent sooner. */
#define SILENCE_MIN (100 * SC_US)

void impair_init(struct world *w)
{
	w->impair.r.s = w->sc->impair_seed;
	w->impair.jitter.s = ~w->sc->impair_seed;
	w->s->wire = impair_wire;
	w->s->tx_ok = impair_tx_ok;
	w->s->loopback = w->sc->loopback;
}

static bool chance(struct impair *im, u32 rate)
{
	return rate && rnd_below(&im->r, 10000) < rate;
}

static void record(struct impair *im, u32 nr, char what, u64 arg)
{
	im->any = true;
	if (im->nfates < SC_FATES)
		im->fate[im->nfates] = (struct sc_fate){
			.what = what, .nr = nr, .arg = arg,
		};
	im->nfates++;
}

static bool blackout(const struct world *w)
{
	const struct sc_faults *f = &w->sc->faults;
	u32 i;

	for (i = 0; i < 2; i++)
		if (w->s->now >= f->blackout_from[i] &&
		    w->s->now < f->blackout_from[i] + f->blackout_len[i])
			return true;
	return false;
}

static bool lost(struct world *w, const struct sc_faults *f)
{
	struct impair *im = &w->impair;

	if (f->one == (s32)im->nr || blackout(w))
		return true;
	if (f->queue && w->s->wire_len >= f->queue)
		return true;
	if (im->burst) {
		im->burst--;
		return true;
	}
	if (!chance(im, f->drop))
		return false;
	im->burst = rnd_below(&im->r, 2 * f->burst);
	if (f->burst <= 1)
		im->burst = 0;
	return true;
}

/* One byte changes: no CRC of 32 bits misses that. */
static void corrupt(struct sim_packet *p, u64 arg)
{
	p->data[arg % p->len] ^= (arg >> 32) % 255 + 1;
}

/* The frame ends early, but not within what is read of every frame. */
static void cut_short(struct sim_packet *p, u64 arg)
{
	u32 least = p->l3_len + 8 + SROCE_BTH_LEN + SROCE_ICRC_LEN;

	if (p->len <= least)
		return;
	p->len = least + arg % (p->len - least);
	p->data = realloc(p->data, p->len);
}

/* @tx: what became of the attempt to send, not of the packet on the wire */
static char by_script(const struct scenario *sc, u32 nr, bool tx, u64 *arg)
{
	u32 i;

	for (i = 0; i < sc->nfates; i++) {
		const struct sc_fate *f = &sc->fate[i];

		if (!f->skip && f->nr == nr && (f->what == 't') == tx) {
			*arg = f->arg;
			return f->what;
		}
	}
	return 0;
}

static char by_chance(struct world *w, u32 side, u64 *arg)
{
	const struct sc_faults *f = &w->sc->faults;
	struct impair *im = &w->impair;

	if (!(f->dirs & BIT(side)))
		return 0;
	if (lost(w, f))
		return 'd';
	*arg = rnd64(&im->r);
	if (chance(im, f->corrupt))
		return 'c';
	if (chance(im, f->cut))
		return 'x';
	if (chance(im, f->ghost))
		return 'g';
	if (f->late_max)
		*arg %= f->late_max;
	if (chance(im, f->dup))
		return 'u';
	return chance(im, f->late) ? 'l' : 0;
}

/* Whether the loss of one packet can be known by this later one */
static void follow(struct world *w, const struct sim_packet *p)
{
	struct impair *im = &w->impair;
	if (!im->lost_one || p->from != im->lost_from ||
	    w->s->now > im->lost_when + SILENCE_MIN)
		return;
	if (sim_is_response(p) == im->lost_response &&
	    sroce_psn_diff(sim_psn(p), im->lost_psn) > 0)
		im->followed = true;
}

static void lose_one(struct world *w, const struct sim_packet *p)
{
	struct impair *im = &w->impair;

	im->lost_one = true;
	im->lost_psn = sim_psn(p);
	im->lost_from = p->from;
	im->lost_response = sim_is_response(p);
	im->lost_when = w->s->now;
}

/* Packets of a sender stay in order unless they are delayed by chance. */
static u64 arrival(struct world *w, const struct sim_packet *p, u32 side)
{
	struct impair *im = &w->impair;
	u64 t = w->s->now + w->sc->latency;

	if (w->sc->jitter)
		t += rnd_below(&im->jitter, w->sc->jitter);
	if (t < im->last[side])
		t = im->last[side];
	t += (u64)p->len * w->sc->ns_per_kb >> 10;
	im->last[side] = t;
	return t;
}

/*
 * After @p comes an ACK, or a NAK, of a packet that was not sent, or was sent so long
 * ago that its PSN is a future one: a million before or after.
 */
static void send_ghost(struct sim *s, const struct sim_packet *p, u64 arg)
{
	static const u8 says[] = { SROCE_AETH_ACK, SROCE_AETH_RNR,
				   SROCE_AETH_NAK, SROCE_AETH_NAK | 1 };
	const struct sroce_qp *to = &p->from->qp;
	struct sroce_pkt pkt = {
		.opcode = SROCE_OP_ACK, .pkey = SROCE_PKEY_FULL,
		.migreq = true, .qpn = to->attr.dest_qp_num,
		.psn = sroce_psn_add(to->attr.rq_psn,
				     arg & 1 ? 1 << 20 : -(1 << 20)),
		.syndrome = says[arg >> 8 & 3] , .msn = arg >> 16 & 0xffff,
	};
	struct sim_packet *ghost = sim_forge(p->from, &pkt, NULL);

	sim_copy_later(s, ghost, p->when - s->now);
	sim_packet_free(ghost);
}

/* A queue on the path marks the packet: not by the script, but by its number. */
static void mark(const struct world *w, struct sim_packet *p)
{
	struct rnd r = { w->sc->impair_seed + w->impair.nr * 0x9e3779b97f4a7c15ULL };

	if (!w->sc->mark || rnd_below(&r, 10000) >= w->sc->mark)
		return;
	p->data[1] |= p->l3_len == 40 ? 3 << 4 : 3;
	trace_note(w, "the next packet is marked");
}

/* During an RNR wait only responses of executed requests may be asked for again. */
static bool breaks_wait(const struct sim_packet *p)
{
	const struct sroce_req *req = &p->from->qp.req;

	return req->rnr_wait && !sim_is_response(p) && sim_bth(p)[0] != SROCE_OP_CNP &&
	       sroce_psn_diff(sim_psn(p), req->acked) >= 0;
}

int impair_wire(struct sim *s, struct sim_packet *p)
{
	struct world *w = s->arg;
	struct impair *im = &w->impair;
	u32 side = p->from->nr & 1;
	u64 arg = 0;
	char what;

	what = w->sc->scripted ? by_script(w->sc, im->nr, false, &arg) :
				 by_chance(w, side, &arg);
	if (breaks_wait(p))
		t_fail("impair", 1, "a request is sent during an RNR wait");
	follow(w, p);
	mark(w, p);
	p->when = arrival(w, p, side);
	if (what)
		record(im, im->nr, what, arg);
	im->nr++;
	switch (what) {
	case 'd':
		if (w->sc->faults.one >= 0)
			lose_one(w, p);
		trace_packet(w, p, "LOST");
		return 0;
	case 'c':
		trace_packet(w, p, "CORRUPTED");
		corrupt(p, arg);
		return 1;
	case 'x':
		trace_packet(w, p, "CUT");
		cut_short(p, arg);
		return 1;
	case 'u':
		trace_packet(w, p, "TWICE");
		sim_copy_later(s, p, p->when - s->now + arg);
		return 1;
	case 'g':
		trace_packet(w, p, "GHOST BEHIND");
		if (w->sc->cfg.type == IB_QPT_RC)
			send_ghost(s, p, arg);
		return 1;
	case 'l':
		trace_packet(w, p, "LATE");
		p->when += arg;
		return 1;
	default:
		trace_packet(w, p, "");
		return 1;
	}
}

bool impair_tx_ok(struct sim *s, struct sroce_qp *qp)
{
	struct world *w = s->arg;
	struct impair *im = &w->impair;
	u32 nr = im->tries++;
	u64 arg;

	if (w->sc->scripted ? !by_script(w->sc, nr, true, &arg) :
			      !chance(im, w->sc->faults.tx_fail))
		return true;
	record(im, nr, 't', 0);
	trace_note(w, "a packet of QP %#x can't be sent, attempt %u", qp->qpn,
		   nr);
	return false;
}
