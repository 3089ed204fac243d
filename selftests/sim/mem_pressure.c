// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory whose pages come when they are needed, and go whenever they like */

#include "world.h"

static void on_demand(struct region *r, bool yes)
{
	if (yes)
		sim_buf_on_demand(r->buf);
}

static void ebb(struct sim *s)
{
	struct world *w = s->arg;
	struct host_run *hr;
	struct region *r;

	if (!w->sc->ebb || rnd_below(&w->tide, w->sc->ebb))
		return;
	hr = &w->host[rnd_below(&w->tide, w->n)];
	r = (struct region *[]){ &hr->local, &hr->target, &hr->recv }
		[rnd_below(&w->tide, 3)];
	if (r->buf->mr.odp)
		sim_buf_evict(r->buf, rnd32(&w->tide));
}

/**
 * tide_init() - make memory come on demand, as the scenario has it
 * @w: the world; its regions are made
 */
void tide_init(struct world *w)
{
	u32 i;

	w->tide.s = w->sc->weather + 1;
	w->s->page_size = w->sc->page_size;
	w->s->page_few = w->sc->page_few;
	w->s->ebb = ebb;
	for (i = 0; i < w->n; i++) {
		struct host_run *hr = &w->host[i];
		u8 which = w->sc->on_demand[i & 1];

		on_demand(&hr->local, which & SC_PAGED_LOCAL);
		on_demand(&hr->target, which & SC_PAGED_TARGET);
		on_demand(&hr->recv, which & SC_PAGED_RECV);
	}
}

/**
 * tide_turn() - between two events pages may go
 * @w: the world
 */
void tide_turn(struct world *w)
{
	if (!w->sc->page_delay)
		return;
	w->s->page_delay = rnd_below(&w->tide, w->sc->page_delay);
	ebb(w->s);
}
