// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The engine of the conformance test, see conform.h. It runs each row on
 * endpoints of its own and compares all that the row expects.
 *
 *	conform DEV DEV [--family 4|6]		TAP
 *	conform DEV DEV -m			the feature matrix, as Markdown
 *	conform --list				the rows, without a device
 */

#define _GNU_SOURCE
#include "conform.h"

static const struct cf_table * const tables[] = {
	&cf_post, &cf_flags, &cf_poll, &cf_wrapi, &cf_qp,
	&cf_steps, &cf_values, &cf_create, &cf_mr,
	&cf_mw, &cf_cq, &cf_srq, &cf_ah, &cf_mcast, &cf_query, &cf_lacking,
	/* it takes the link down and brings it back */
	&cf_event,
};

/* Names as the manual has them */

#define NAME(prefix, x)	[IBV_##prefix##x] = #x

static const char * const statuses[] = {
	NAME(WC_, SUCCESS), NAME(WC_, LOC_LEN_ERR), NAME(WC_, LOC_QP_OP_ERR),
	NAME(WC_, LOC_EEC_OP_ERR), NAME(WC_, LOC_PROT_ERR),
	NAME(WC_, WR_FLUSH_ERR), NAME(WC_, MW_BIND_ERR),
	NAME(WC_, BAD_RESP_ERR), NAME(WC_, LOC_ACCESS_ERR),
	NAME(WC_, REM_INV_REQ_ERR), NAME(WC_, REM_ACCESS_ERR),
	NAME(WC_, REM_OP_ERR), NAME(WC_, RETRY_EXC_ERR),
	NAME(WC_, RNR_RETRY_EXC_ERR),
};

static const char * const states[] = {
	NAME(QPS_, RESET), NAME(QPS_, INIT), NAME(QPS_, RTR), NAME(QPS_, RTS),
	NAME(QPS_, SQD), NAME(QPS_, SQE), NAME(QPS_, ERR),
};

static const char * const events[] = {
	NAME(EVENT_, CQ_ERR), NAME(EVENT_, QP_FATAL), NAME(EVENT_, QP_REQ_ERR),
	NAME(EVENT_, QP_ACCESS_ERR), NAME(EVENT_, COMM_EST),
	NAME(EVENT_, SQ_DRAINED), NAME(EVENT_, PATH_MIG),
	NAME(EVENT_, PATH_MIG_ERR), NAME(EVENT_, DEVICE_FATAL),
	NAME(EVENT_, PORT_ACTIVE), NAME(EVENT_, PORT_ERR),
	NAME(EVENT_, LID_CHANGE), NAME(EVENT_, PKEY_CHANGE),
	NAME(EVENT_, SM_CHANGE), NAME(EVENT_, SRQ_ERR),
	NAME(EVENT_, SRQ_LIMIT_REACHED), NAME(EVENT_, QP_LAST_WQE_REACHED),
	NAME(EVENT_, CLIENT_REREGISTER), NAME(EVENT_, GID_CHANGE),
	NAME(EVENT_, WQ_FATAL),
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
	if (row->state)
		put(text, sizeof(text), "QP %s", states[row->state - 1]);
	if (row->peer)
		put(text, sizeof(text), "peer %s", states[row->peer - 1]);
	if (!text[0])
		put(text, sizeof(text), "%s", "works");
	return text;
}

/* Comparing */

static vt_why same_errno(const struct cf *t)
{
	const struct cf_row *row = t->row;

	if (t->err == row->err || (row->or_err && t->err == row->or_err))
		return NULL;
	return vt_because("%s, not %s", errno_name(t->err),
			  errno_name(row->err));
}

static vt_why same_wc(struct ibv_cq *cq, struct ibv_wc *wc, uint64_t wr_id,
		      int status, const struct vt_ep *ep, const char *who)
{
	vt_why why = vt_poll(cq, wc, VT_LONG);

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

static vt_why same_event(struct cf *t)
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

static vt_why judge(struct cf *t)
{
	const struct cf_row *row = t->row;

	errno = 0;
	TRY(row->act(t));
	TRY(same_errno(t));
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
			why = vt_because(#verb ": %s",			\
					 errno_name(err_));		\
	} while (0)

static vt_why end(struct cf *t)
{
	vt_why why = NULL;

	END(t, mw, ibv_dealloc_mw);
	END(t, mr, ibv_dereg_mr);
	END(t, ah, ibv_destroy_ah);
	END(t, qp, ibv_destroy_qp);
	END(t, srq, ibv_destroy_srq);
	END(t, cq, ibv_destroy_cq);
	END(t, pd, ibv_dealloc_pd);
	return why;
}

static vt_why act(struct vt_pair *p, const void *arg)
{
	struct cf t = { .row = arg, .p = p, .dev = &vt_devs[0] };
	vt_why why, ending;

	/* connecting has left the thread in B's; addresses are A's matter */
	vt_enter_netns(t.dev);
	why = judge(&t);
	if (why)
		why = strdupa(why);
	ending = end(&t);
	return why ? vt_because("%s", why) : ending;
}

static vt_why run_row(const struct cf_row *row)
{
	struct vt_conf c;
	vt_why why;

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
	if (c.srq[1] && ibv_destroy_srq(c.srq[1]) && !why)
		why = "ibv_destroy_srq fails in the end";
	return why;
}

/* Output */

static void cell(const char *text)
{
	for (; *text; text++)
		printf(*text == '|' ? "\\%c" : "%c", *text);
	printf(" |");
}

static void matrix_line(const struct cf_row *row, const char *result)
{
	char page[64];

	snprintf(page, sizeof(page), "%s(3)", row->page);
	printf("| ");
	cell(page);
	printf(" ");
	cell(row->name);
	printf(" ");
	cell(row->clause);
	printf(" %s%s%s%s | ", expected(row), row->via ? " (" : "",
	       row->via ? row->via : "", row->via ? ")" : "");
	cell(result);
	printf("\n");
	fflush(stdout);
}

static void matrix_head(void)
{
	printf("| manual page | case | it says | expected | result |\n"
	       "| --- | --- | --- | --- | --- |\n");
}

static bool wanted(const struct cf_row *row)
{
	return vt_wanted(row->name) || vt_wanted(row->page);
}

static int failed, ran;

static void one(const struct cf_row *row, bool list)
{
	char text[600];
	vt_why why;

	if (list) {
		matrix_line(row, "");
		return;
	}
	if (!wanted(row) || (row->hostile && !vt_opts.hostile))
		return;
	why = run_row(row);
	ran++;
	failed += !!why;
	if (!vt_opts.matrix) {
		vt_report(why, "%s: %s: %s", row->page, row->name,
			  expected(row));
		return;
	}
	snprintf(text, sizeof(text), "no: %s", why);
	matrix_line(row, why ? text : "yes");
}

static void all(bool list)
{
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (k = 0; k < tables[i]->num; k++)
			one(&tables[i]->rows[k], list);
}

int main(int argc, char **argv)
{
	bool list = argc == 2 && !strcmp(argv[1], "--list");

	if (list) {
		matrix_head();
		all(true);
		return 0;
	}
	vt_start(argc, argv);
	if (vt_opts.matrix)
		matrix_head();
	all(false);
	if (vt_opts.matrix)
		return failed || !ran;
	return vt_finish();
}
