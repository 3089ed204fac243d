// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What QPs did before the scenario: some work, ended by RESET, with the same PSNs
 * that the scenario uses. None of it may have an effect on the scenario.
 */

#include "world.h"

#define ROOM 4096

static int lossy(struct sim *s, struct sim_packet *p)
{
	struct world *w = s->arg;

	(void)p;
	return rnd_below(&w->r, 8) < 7;
}

static struct sim_wr some_work(struct world *w, struct sim_buf *b, u32 nr)
{
	static const u32 rc[] = {
		IB_WR_SEND, IB_WR_RDMA_WRITE, IB_WR_RDMA_READ,
		IB_WR_RDMA_READ, IB_WR_ATOMIC_FETCH_AND_ADD,
		IB_WR_SEND_WITH_IMM, SROCE_WR_ATOMIC_WRITE, SROCE_WR_FLUSH,
	};
	struct sim_wr wr = {
		.wr_id = 1000 + nr, .flags = IB_SEND_SIGNALED, .num_sge = 1,
		.remote_addr = b->mr.iova, .rkey = b->mr.key,
		.opcode = IB_WR_SEND,
	};
	u32 len = rnd_below(&w->r, ROOM);

	if (w->sc->cfg.type == IB_QPT_RC)
		wr.opcode = rc[rnd_below(&w->r, ARRAY_SIZE(rc))];
	else if (w->sc->cfg.type == IB_QPT_UD)
		len %= sc_mtu(w->sc);
	if (sc_is_atomic(wr.opcode))
		len = 8;
	wr.sge[0] = sim_sge(b, 0, len);
	if (sc_is_flush(wr.opcode)) {
		wr.num_sge = 0;
		wr.length = len;
		wr.type = SROCE_FLUSH_GLOBAL;
	}
	wr.ah = 1;
	return wr;
}

static void live(struct world *w, struct sroce_kqp *kqp, struct sim_buf *b)
{
	u32 i, n = w->sc->cfg.slots - 1;
	struct ib_sge sge = sim_sge(b, 0, ROOM);
	struct sim_wr wr;

	for (i = 0; i < 3 && i + 1 < w->sc->cfg.rq_slots; i++)
		sim_put_recv(kqp, 1000 + i, &sge, 1);
	for (i = 0; i < n && i < 8; i++) {
		wr = some_work(w, b, i);
		sim_put_send(kqp, &wr);
	}
	sim_doorbell(kqp);
}

static void clear_wire(struct sim *s)
{
	struct sim_packet *p;

	while ((p = sim_wire_take(s)))
		sim_packet_free(p);
}

static void begin_anew(struct sroce_kqp *kqp)
{
	sim_enter(kqp, IB_QPS_RESET);
	sim_enter(kqp, IB_QPS_INIT);
	sim_enter(kqp, IB_QPS_RTR);
	sim_enter(kqp, IB_QPS_RTS);
	memset(&kqp->counters, 0, sizeof(kqp->counters));
	kqp->scq.n = 0;
	kqp->rcq.n = 0;
	kqp->scq.overflowed = false;
	kqp->rcq.overflowed = false;
	kqp->events = 0;
}

/**
 * prior_life_run() - use and reset the QPs before anything else
 * @w: the world; its QPs are in RTS
 */
void prior_life_run(struct world *w)
{
	struct sim *s = w->s;
	struct sim_buf *b;
	u32 i;

	b = sim_buf_new(s, 0x100000000ULL, ROOM, 1024, IB_ACCESS_LOCAL_WRITE |
			IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
			IB_ACCESS_REMOTE_ATOMIC | SROCE_ACCESS_FLUSH_GLOBAL);
	s->wire = lossy;
	for (i = 0; i < w->n; i++)
		live(w, s->kqp[i], b);
	for (i = 0; i < w->sc->prior_events && sim_step(s); i++)
		;
	for (i = 0; i < w->n; i++)
		begin_anew(s->kqp[i]);
	clear_wire(s);
	s->sent = 0;
	sim_buf_revoke(b);
}
