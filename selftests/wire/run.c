// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* One run of a script, statement by statement. */

#include <stdlib.h>
#include <string.h>
#include "wire.h"

#define OURS	"sroce"

/* mark: after= and before= count from here */
static why_t do_mark(struct wt_run *r, struct wt_stmt *s)
{
	(void)s;
	r->mark = wt_now();
	return NULL;
}

/* sleep TIME */
static why_t do_sleep(struct wt_run *r, struct wt_stmt *s)
{
	uint64_t us;

	CHECK(s->n > 1, "for how long?");
	s->used[1] = true;
	TRY(wt_eval(&r->vars, s->word[1], &us));
	wt_sleep(us);
	return NULL;
}

/* set NAME EXPRESSION */
static why_t do_set(struct wt_run *r, struct wt_stmt *s)
{
	uint64_t v;

	CHECK(s->n == 3, "set NAME EXPRESSION");
	s->used[1] = s->used[2] = true;
	TRY(wt_eval(&r->vars, s->word[2], &v));
	return wt_set(&r->vars, s->word[1], v);
}

static const struct {
	const char *name;
	why_t (*run)(struct wt_run *r, struct wt_stmt *s);
	bool needs_qp;
} kinds[] = {
	{ "<", wt_do_send, true },
	{ ">", wt_do_expect, true },
	{ "?", wt_do_maybe, true },
	{ "quiet", wt_do_quiet, true },
	{ "qp", wt_do_qp, false },
	{ "use", wt_do_use, false },
	{ "attach", wt_do_attach, true },
	{ "modify", wt_do_modify, true },
	{ "mr", wt_do_mr, false },
	{ "mw", wt_do_mw, true },
	{ "dereg", wt_do_dereg, false },
	{ "recv", wt_do_recv, true },
	{ "post", wt_do_post, true },
	{ "wc", wt_do_wc, true },
	{ "nowc", wt_do_nowc, true },
	{ "arm", wt_do_arm, true },
	{ "comp", wt_do_comp, true },
	{ "nocomp", wt_do_nocomp, true },
	{ "event", wt_do_event, true },
	{ "state", wt_do_state, true },
	{ "mem", wt_do_mem, false },
	{ "fill", wt_do_fill, false },
	{ "grh", wt_do_grh, true },
	{ "count", wt_do_count, false },
	{ "mark", do_mark, false },
	{ "sleep", do_sleep, false },
	{ "set", do_set, false },
};

/* "sroce:ARGUMENT" is for that device only, too. */
static void arguments_for(const struct wt_run *r, struct wt_stmt *s)
{
	for (int i = 1; i < s->n; i++) {
		if (strncmp(s->word[i], OURS ":", sizeof(OURS)))
			continue;
		s->word[i] += sizeof(OURS);
		s->used[i] = r->dut->any;
		if (r->dut->any)
			s->word[i] += strlen(s->word[i]);
	}
}

/* "sroce STATEMENT" is for that device only: true if it is to be done. */
static bool for_this_device(const struct wt_run *r, struct wt_stmt *s)
{
	arguments_for(r, s);
	if (strcmp(s->word[0], OURS) || s->n < 2)
		return true;
	s->n--;
	memmove(s->word, s->word + 1, s->n * sizeof(*s->word));
	return !r->dut->any;
}

static why_t do_statement(struct wt_run *r, struct wt_stmt *s)
{
	size_t i;

	if (!for_this_device(r, s))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].name, s->word[0]))
			break;
	}
	CHECK(i < ARRAY_SIZE(kinds), "no statement is called %s", s->word[0]);
	CHECK(r->qp || !kinds[i].needs_qp, "there is no QP yet");
	TRY(kinds[i].run(r, s));
	return wt_all_used(s);
}

static why_t statements(struct wt_run *r, const struct wt_script *s)
{
	for (int i = 0; i < s->n; i++) {
		struct wt_stmt *st = &s->stmts[i];
		why_t why = do_statement(r, st);

		if (why) {
			wt_trace(r, "line %d failed: %s", st->line, st->shown);
			return because("line %d: %s: %s", st->line, st->shown,
				       why);
		}
	}
	return NULL;
}

static why_t start(struct wt_run *r)
{
	struct ibv_async_event e;

	/* what an earlier script has left behind is no fault of this one */
	while (wt_peer_recv(r->peer, r->frame, 0))
		;
	while (!ibv_get_async_event(r->dut->ctx, &e))
		ibv_ack_async_event(&e);
	TRY(wt_open_memory(r));
	TRY(wt_counters_read(r->dut, r->before));
	r->start = wt_now();
	r->mark = r->start;
	return NULL;
}

/* NULL if all went as the script says. The trace is in @r->trace. */
why_t wt_run(struct wt_run *r, const struct wt_script *s)
{
	why_t why, end;

	why = start(r);
	if (!why)
		why = statements(r, s);
	if (!why)
		why = wt_no_leftovers(r);
	if (!why)
		why = wt_check_counters(r);
	end = wt_close_all(r);
	return why ? why : end;
}
