// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: limit=1800 A B --family 4 +6 --hostile */
/* run: A B --family 6 --only rdma_ */
/* run: A B --family 6 --only ibv_create_ah */
/* run: A B --family 6 --only mcast */
/* run: A B --family 6 --hostile --only ibv_poll_cq */
/*
 * The engine of the conformance test, see conform.h. It runs each row on
 * endpoints of its own and compares all that the row expects.
 *
 *	conform DEV DEV [--family 4|6]		TAP
 *	conform DEV DEV -m			the feature matrix, as Markdown
 *	conform --list				the rows, without a device
 *	conform --names				what is named in them, likewise
 *	conform --summary			how many there are, likewise
 */

#define _GNU_SOURCE
#include <unistd.h>
#include <rdma/rdma_cma.h>
#include "conform.h"

/* Each CF_TABLE() of this folder, put there by the linker */
extern const struct cf_table *__start_cf_tables[], *__stop_cf_tables[];

#define for_each_table(t)						\
	for (const struct cf_table **t = __start_cf_tables;		\
	     t < __stop_cf_tables; t++)

/* Names as the manual has them */

#define WC(x)	[IBV_WC_##x] = #x
#define EV(x)	[IBV_EVENT_##x] = #x

static const char * const statuses[] = {
	WC(SUCCESS), WC(LOC_LEN_ERR), WC(LOC_QP_OP_ERR), WC(LOC_EEC_OP_ERR),
	WC(LOC_PROT_ERR), WC(WR_FLUSH_ERR), WC(MW_BIND_ERR), WC(BAD_RESP_ERR),
	WC(LOC_ACCESS_ERR), WC(REM_INV_REQ_ERR), WC(REM_ACCESS_ERR),
	WC(REM_OP_ERR), WC(RETRY_EXC_ERR), WC(RNR_RETRY_EXC_ERR),
};

static const char * const events[] = {
	EV(CQ_ERR), EV(QP_FATAL), EV(QP_REQ_ERR), EV(QP_ACCESS_ERR),
	EV(COMM_EST), EV(SQ_DRAINED), EV(PATH_MIG), EV(PATH_MIG_ERR),
	EV(DEVICE_FATAL), EV(PORT_ACTIVE), EV(PORT_ERR), EV(LID_CHANGE),
	EV(PKEY_CHANGE), EV(SM_CHANGE), EV(SRQ_ERR), EV(SRQ_LIMIT_REACHED),
	EV(QP_LAST_WQE_REACHED), EV(CLIENT_REREGISTER), EV(GID_CHANGE),
	EV(WQ_FATAL),
};

static const char *errno_name(int err)
{
	const char *name = strerrorname_np(err);

	return err ? name ? name : "an unknown error" : "success";
}

static void put(char *text, size_t size, const char *fmt, const char *arg)
{
	size_t at = strlen(text);

	if (at)
		at += snprintf(text + at, size - at, ", ");
	snprintf(text + at, size - at, fmt, arg);
}

/* What a row expects, in words */
static const char *expected(const struct cf_row *row)
{
	static char text[256];

	text[0] = 0;
	if (row->err)
		put(text, sizeof(text), "%s", errno_name(row->err));
	else if (row->or_err)
		put(text, sizeof(text), "%s", "works");
	if (row->or_err)
		put(text, sizeof(text), "or %s", errno_name(row->or_err));
	if (row->wc)
		put(text, sizeof(text), "wc %s", statuses[row->wc - 1]);
	if (row->recv)
		put(text, sizeof(text), "receive %s", statuses[row->recv - 1]);
	if (row->event)
		put(text, sizeof(text), row->event_at_peer ?
		    "event %s at the peer" : "event %s",
		    events[row->event - 1]);
	if (row->cm)
		put(text, sizeof(text), "%s", rdma_event_str(row->cm - 1));
	if (row->state)
		put(text, sizeof(text), "QP %s", vt_state_names[row->state - 1]);
	if (row->peer)
		put(text, sizeof(text), "peer %s", vt_state_names[row->peer - 1]);
	if (!text[0])
		put(text, sizeof(text), "%s", "works");
	return text;
}

/* By an errno, or in a completion */
static bool refused(const struct cf_row *row)
{
	return row->err || row->wc > CF_IS(IBV_WC_SUCCESS) ||
	       row->recv > CF_IS(IBV_WC_SUCCESS);
}

/* Comparing */

static why_t same_errno(const struct cf *t)
{
	const struct cf_row *row = t->row;

	if (t->err == row->err || (row->or_err && t->err == row->or_err))
		return NULL;
	return because("%s, not %s", errno_name(t->err),
		       errno_name(row->err));
}

static why_t same_wc(struct ibv_cq *cq, struct ibv_wc *wc, uint64_t wr_id,
		     int status, const struct vt_ep *ep, const char *who)
{
	why_t why = vt_poll(cq, wc, VT_LONG);

	CHECK(!why, "%s: %s", who, why);
	CHECK(wc->wr_id == wr_id, "%s: completion of wr %#llx", who,
	      (unsigned long long)wc->wr_id);
	CHECK((int)wc->status == status, "%s completes with %s, not %s", who,
	      wc->status < ARRAY_SIZE(statuses) ? statuses[wc->status] :
	      ibv_wc_status_str(wc->status), statuses[status]);
	/* valid whatever the status */
	CHECK(wc->qp_num == ep->qp->qp_num, "%s: completion of QP %u", who,
	      wc->qp_num);
	return NULL;
}

static why_t same_event(struct cf *t)
{
	struct vt_ep *ep = t->row->event_at_peer ? &t->p->b : &t->p->a;
	enum ibv_event_type type = t->row->event - 1;
	void *element = ep->qp;

	if (type == IBV_EVENT_CQ_ERR)
		element = ep->scq;
	else if (type == IBV_EVENT_SRQ_LIMIT_REACHED)
		element = ep->qp->srq;
	return vt_event(ep->dev, type, element, 5000);
}

static why_t judge(struct cf *t)
{
	const struct cf_row *row = t->row;

	errno = 0;
	TRY(row->act(t));
	TRY(same_errno(t));
	CHECK(!row->cm || t->cm == row->cm - 1, "%s", rdma_event_str(t->cm));
	if (row->wc)
		TRY(same_wc(t->p->a.scq, &t->wc, CF_WR, row->wc - 1, &t->p->a,
			    "the send"));
	if (row->recv)
		TRY(same_wc(t->p->b.rcq, &t->rwc, CF_RECV, row->recv - 1,
			    &t->p->b, "the receive"));
	/* those of the port and the device are awaited by their rows */
	if (row->event && t->p)
		TRY(same_event(t));
	if (row->state)
		TRY(vt_ep_is(&t->p->a, row->state - 1));
	if (row->peer)
		TRY(vt_ep_is(&t->p->b, row->peer - 1));
	return row->after ? row->after(t) : NULL;
}

/* End what a row has left in its hands; that has to work as well. */

#define END(t, what, verb)						\
	do {								\
		int err_ = (t)->what ? verb((t)->what) : 0;		\
									\
		if (err_ && !why)					\
			why = because(#verb ": %s",			\
					 errno_name(err_));		\
	} while (0)

static why_t end(struct cf *t)
{
	why_t why = NULL;

	END(t, mw, ibv_dealloc_mw);
	END(t, mr, ibv_dereg_mr);
	END(t, ah, ibv_destroy_ah);
	END(t, qp, ibv_destroy_qp);
	END(t, srq, ibv_destroy_srq);
	END(t, cq, ibv_destroy_cq);
	END(t, pd, ibv_dealloc_pd);
	return why;
}

static why_t act(struct vt_pair *p, const void *arg)
{
	struct cf t = { .row = arg, .p = p, .dev = &vt_devs[0], .cm = -1 };
	why_t why, ending;

	/* connecting has left the thread in B's; addresses are A's matter */
	vt_enter_netns(t.dev);
	why = judge(&t);
	if (why)
		why = strdupa(why);
	ending = end(&t);
	return why ? because("%s", why) : ending;
}

/* An SRQ may have a PD of its own. */
static int end_srq(struct ibv_srq *srq)
{
	struct ibv_pd *pd = srq->pd;
	int err = ibv_destroy_srq(srq);

	return err || pd == vt_devs[1].pd ? err : ibv_dealloc_pd(pd);
}

static why_t run_row(const struct cf_row *row)
{
	struct vt_conf c;
	why_t why;

	if (row->stage == CF_DEVICE) {
		vt_drop_events();
		return act(NULL, row);
	}
	c = vt_conf(row->type ? row->type : IBV_QPT_RC);
	c.buf = 8192;
	c.inline_data = 64;
	if (row->prep)
		row->prep(&c);
	why = vt_attempt(&c, act, row, row->stage == CF_RTS);
	return c.srq[1] && end_srq(c.srq[1]) && !why ?
	       "ibv_destroy_srq fails in the end" : why;
}

/* Output */

static void cell(const char *text)
{
	for (; *text; text++)
		printf(*text == '|' ? "\\%c" : "%c", *text);
	printf(" |");
}

/* One row, as Markdown */
static void matrix_row(const struct cf_row *row, const char *result)
{
	char page[64];

	snprintf(page, sizeof(page), "%s(%d)", row->page,
		 strcmp(row->page, "rdma_cm") ? 3 : 7);
	printf("| ");
	cell(page);
	printf(" ");
	cell(row->name);
	printf(" ");
	cell(row->clause);
	printf(" %s%s%s%s |", expected(row), row->via ? " (" : "",
	       row->via ? row->via : "", row->via ? ")" : "");
	if (result) {
		printf(" ");
		cell(result);
	}
	printf("\n");
	fflush(stdout);
}

static void matrix_head(const char *subject, bool result)
{
	printf("\n## %s\n\n| page | case | it says | expected |%s\n"
	       "| --- | --- | --- | --- |%s\n", subject,
	       result ? " result |" : "", result ? " --- |" : "");
}

static bool wanted(const struct cf_row *row)
{
	return vt_wanted(row->name) || vt_wanted(row->page);
}

static int failed, ran;

/*
 * What the kernel has no name for, no device in it can say that it can do. Why
 * a row is not for this one, or NULL
 */
static const char *unfit(const struct cf_row *row)
{
	struct ibv_device_attr_ex a = {};
	bool can;

	if (!row->cap)
		return NULL;
	can = !ibv_query_device_ex(vt_devs[0].ctx, NULL, &a) &&
	      (a.device_cap_flags_ex & row->cap) == row->cap;
	if (can == !row->without)
		return NULL;
	return can ? "this kernel has it" : "not in this kernel";
}

/* All identifiers in a text, one a line, with something in front */
static void words(const char *text, const char *begin)
{
	static const char id[] = "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t n;

	for (; *text; text += n ? n : 1) {
		n = strspn(text, id);
		if (n)
			printf("%s%.*s\n", begin, (int)n, text);
	}
}

/* Where a page's names have one beginning, its rows leave it out. */
static const struct { const char *page, *begin; } shorts[] = {
	{ "ibv_reg_mr", "IBV_ACCESS_" },
	{ "ibv_rereg_mr", "IBV_REREG_MR_" },
	{ "ibv_advise_mr", "IBV_ADVISE_MR_ADVICE_" },
	{ "ibv_create_qp_ex", "IBV_QP_EX_WITH_" },
	{ "ibv_get_async_event", "IBV_EVENT_" },
};

/* What a row is about, by its full names: for manual.py */
static void names(const struct cf_row *row)
{
	size_t i;

	words(row->page, "");
	words(row->name, "");
	words(row->clause, "");
	for (i = 0; i < ARRAY_SIZE(shorts); i++)
		if (!strcmp(row->page, shorts[i].page))
			words(row->name, shorts[i].begin);
	if (row->wc)
		printf("IBV_WC_%s\n", statuses[row->wc - 1]);
	if (row->recv)
		printf("IBV_WC_%s\n", statuses[row->recv - 1]);
	if (row->event)
		printf("IBV_EVENT_%s\n", events[row->event - 1]);
	if (row->cm)
		printf("%s\n", rdma_event_str(row->cm - 1));
	if (row->state)
		printf("IBV_QPS_%s\n", vt_state_names[row->state - 1]);
	if (row->peer)
		printf("IBV_QPS_%s\n", vt_state_names[row->peer - 1]);
}

static void one(const struct cf_row *row)
{
	const char *not_here;
	char text[600];
	why_t why;

	if (!wanted(row) || (row->hostile && !vt_opts.hostile))
		return;
	not_here = unfit(row);
	if (not_here) {
		if (vt_opts.matrix)
			matrix_row(row, not_here);
		else
			tap_skip(not_here, "%s: %s", row->page, row->name);
		return;
	}
	why = run_row(row);
	ran++;
	failed += !!why;
	if (!vt_opts.matrix) {
		tap_report(why, "%s: %s: %s", row->page, row->name,
			   expected(row));
		return;
	}
	snprintf(text, sizeof(text), "no: %s", why);
	matrix_row(row, why ? text : "yes");
}

static void all(void (*each)(const struct cf_row *row), bool head)
{
	for_each_table(t) {
		if (head)
			matrix_head((*t)->subject, each == one);
		for (size_t k = 0; k < (*t)->num; k++)
			each(&(*t)->rows[k]);
	}
}

static void listed(const struct cf_row *row)
{
	matrix_row(row, NULL);
}

/* How many rows there are of each subject, and how they are to end */
static void summary(void)
{
	unsigned int all = 0;

	printf("| subject | cases | work | refused as documented | "
	       "not in the stock provider |\n"
	       "| --- | ---: | ---: | ---: | ---: |\n");
	for_each_table(t) {
		unsigned int n[3] = {};

		for (size_t k = 0; k < (*t)->num; k++) {
			const struct cf_row *row = &(*t)->rows[k];

			n[row->via && row->err ? 2 : refused(row)]++;
		}
		all += (*t)->num;
		printf("| %s | %zu | %u | %u | %u |\n", (*t)->subject,
		       (*t)->num, n[0], n[1], n[2]);
	}
	printf("| all | %u | | | |\n", all);
}

static int by_order(const void *a, const void *b)
{
	const struct cf_table *const *x = a, *const *y = b;

	return (*x)->order - (*y)->order ?:
	       strcmp((*x)->subject, (*y)->subject);
}

int main(int argc, char **argv)
{
	qsort(__start_cf_tables, __stop_cf_tables - __start_cf_tables,
	      sizeof(*__start_cf_tables), by_order);
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		all(listed, true);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--names")) {
		all(names, false);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--summary")) {
		summary();
		return 0;
	}
	vt_start(argc, argv);
	/* some hundred rows, perhaps on a kernel that checks all it does */
	alarm(1800);
	all(one, vt_opts.matrix);
	if (vt_opts.matrix)
		return failed || !ran;
	return tap_finish();
}
