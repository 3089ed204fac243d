// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory pressure: memory on demand, whose pages are evicted at any time */

#include "world.h"

static void on_demand(struct region *r, bool yes)
{
	if (yes)
		sim_buf_on_demand(r->buf);
}

static void evict_some(struct sim *s)
{
	struct world *w = s->arg;
	struct host_run *hr;
	struct region *r;

	if (!w->sc->evict_every || rnd_below(&w->mem_rnd, w->sc->evict_every))
		return;
	hr = &w->host[rnd_below(&w->mem_rnd, w->n)];
	r = (struct region *[]){ &hr->local, &hr->target, &hr->recv }
		[rnd_below(&w->mem_rnd, 3)];
	if (r->buf->mr.odp)
		sim_buf_evict(r->buf, rnd32(&w->mem_rnd));
}

/**
 * mem_pressure_init() - make memory on demand, as the scenario says
 * @w: the world; its regions are made
 */
void mem_pressure_init(struct world *w)
{
	u32 i;

	w->mem_rnd.s = w->sc->impair_seed + 1;
	w->s->page_size = w->sc->page_size;
	w->s->page_few = w->sc->page_few;
	w->s->evict = evict_some;
	for (i = 0; i < w->n; i++) {
		struct host_run *hr = &w->host[i];
		u8 which = w->sc->on_demand[i & 1];

		on_demand(&hr->local, which & SC_ODP_LOCAL);
		on_demand(&hr->target, which & SC_ODP_TARGET);
		on_demand(&hr->recv, which & SC_ODP_RECV);
	}
}

/**
 * mem_pressure_step() - pages may be evicted between two events
 * @w: the world
 */
void mem_pressure_step(struct world *w)
{
	if (!w->sc->page_delay)
		return;
	w->s->page_delay = rnd_below(&w->mem_rnd, w->sc->page_delay);
	evict_some(w->s);
}
