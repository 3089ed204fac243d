// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completions, events, states, memory and counters as a script expects them. */

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "wire.h"

/* ---- completions ---------------------------------------------------------- */

static const char *const statuses[] = {
	[IBV_WC_SUCCESS] = "SUCCESS",
	[IBV_WC_LOC_LEN_ERR] = "LOC_LEN_ERR",
	[IBV_WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
	[IBV_WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
	[IBV_WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR",
	[IBV_WC_MW_BIND_ERR] = "MW_BIND_ERR",
	[IBV_WC_BAD_RESP_ERR] = "BAD_RESP_ERR",
	[IBV_WC_LOC_ACCESS_ERR] = "LOC_ACCESS_ERR",
	[IBV_WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR",
	[IBV_WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
	[IBV_WC_REM_OP_ERR] = "REM_OP_ERR",
	[IBV_WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR",
	[IBV_WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXC_ERR",
	[IBV_WC_LOC_RDD_VIOL_ERR] = "LOC_RDD_VIOL_ERR",
	[IBV_WC_REM_INV_RD_REQ_ERR] = "REM_INV_RD_REQ_ERR",
	[IBV_WC_REM_ABORT_ERR] = "REM_ABORT_ERR",
	[IBV_WC_INV_EECN_ERR] = "INV_EECN_ERR",
	[IBV_WC_INV_EEC_STATE_ERR] = "INV_EEC_STATE_ERR",
	[IBV_WC_FATAL_ERR] = "FATAL_ERR",
	[IBV_WC_RESP_TIMEOUT_ERR] = "RESP_TIMEOUT_ERR",
	[IBV_WC_GENERAL_ERR] = "GENERAL_ERR",
};

static const char *status_name(enum ibv_wc_status status)
{
	if (status < ARRAY_SIZE(statuses) && statuses[status])
		return statuses[status];
	return "?";
}

static const struct {
	const char *name;
	enum ibv_wc_opcode op;
} wc_ops[] = {
	{ "SEND", IBV_WC_SEND }, { "WRITE", IBV_WC_RDMA_WRITE },
	{ "READ", IBV_WC_RDMA_READ }, { "CMP_SWP", IBV_WC_COMP_SWAP },
	{ "FETCH_ADD", IBV_WC_FETCH_ADD }, { "RECV", IBV_WC_RECV },
	{ "RECV_WITH_IMM", IBV_WC_RECV_RDMA_WITH_IMM },
};

static bool poll_for(struct ibv_cq *cq, struct ibv_wc *wc, uint64_t us)
{
	uint64_t end = wt_now() + us;

	do {
		if (ibv_poll_cq(cq, 1, wc) > 0)
			return true;
		wt_sleep(100);
	} while (wt_now() < end);
	return false;
}

static why_t compare_wc_op(struct wt_stmt *s, const struct ibv_wc *wc)
{
	const char *op = wt_text(s, "op");
	size_t i;

	if (!op)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(wc_ops) && strcmp(wc_ops[i].name, op); i++)
		;
	CHECK(i < ARRAY_SIZE(wc_ops), "no opcode of a completion is %s", op);
	CHECK(wc->opcode == wc_ops[i].op, "opcode is %d", wc->opcode);
	return NULL;
}

static why_t compare_wc_flag(struct wt_run *r, struct wt_stmt *s,
			     const struct ibv_wc *wc, const char *name,
			     unsigned int flag, uint32_t value)
{
	uint64_t want;
	bool found;

	TRY(wt_num(&r->vars, s, name, &want, &found));
	if (!found && wc->wc_flags & flag && wt_flag(s, "send"))
		return wt_note(r, WT_RULE_WC_FLAGS, "%s of a send", name);
	CHECK(found == !!(wc->wc_flags & flag), "%s: the completion has %s",
	      name, found ? "none" : "one");
	CHECK(!found || (uint32_t)want == value, "%s is %#x, should be %#x",
	      name, value, (unsigned int)want);
	return NULL;
}

static why_t compare_wc(struct wt_run *r, struct wt_stmt *s,
			const struct ibv_wc *wc)
{
	const char *status = wt_text(s, "status");
	uint64_t v = 0;
	bool found;

	if (!status)
		status = "SUCCESS";
	CHECK(!strcmp(status_name(wc->status), status), "status is %s",
	      status_name(wc->status));
	TRY(wt_num(&r->vars, s, "id", &v, &found));
	CHECK(wc->wr_id == v, "wr_id is %llu", (unsigned long long)wc->wr_id);
	CHECK(wc->qp_num == r->qp->qp->qp_num, "QP number is %#x", wc->qp_num);
	if (wc->status != IBV_WC_SUCCESS)
		return NULL;
	TRY(wt_num(&r->vars, s, "len", &v, &found));
	CHECK(!found || wc->byte_len == v, "byte_len is %u, should be %u",
	      wc->byte_len, (unsigned int)v);
	TRY(wt_num(&r->vars, s, "sqpn", &v, &found));
	CHECK(!found || wc->src_qp == v, "src_qp is %#x, should be %#x",
	      wc->src_qp, (unsigned int)v);
	if (wt_flag(s, "grh") != !!(wc->wc_flags & IBV_WC_GRH)) {
		CHECK(r->qp->type != IBV_QPT_UD, "GRH flag is %d",
		      !!(wc->wc_flags & IBV_WC_GRH));
		TRY(wt_note(r, WT_RULE_WC_FLAGS, "GRH flag is %d",
			    !!(wc->wc_flags & IBV_WC_GRH)));
	}
	TRY(compare_wc_op(s, wc));
	TRY(compare_wc_flag(r, s, wc, "imm", IBV_WC_WITH_IMM,
			    ntohl(wc->imm_data)));
	return compare_wc_flag(r, s, wc, "inv", IBV_WC_WITH_INV,
			       wc->invalidated_rkey);
}

/* wc send|recv id= [status=] [len=] [imm=] [op=] [within=] [after=] [before=] */
why_t wt_do_wc(struct wt_run *r, struct wt_stmt *s)
{
	uint64_t within = r->dut->patience;
	struct ibv_wc wc;
	bool recv = wt_flag(s, "recv");

	CHECK(r->qp, "there is no QP yet");
	CHECK(recv || wt_flag(s, "send"), "of which queue?");
	TRY(wt_num(&r->vars, s, "within", &within, NULL));
	CHECK(poll_for(recv ? r->qp->rcq : r->qp->scq, &wc, within),
	      "no completion");
	wt_trace(r, "  wc %s id=%llu status=%s", recv ? "recv" : "send",
		 (unsigned long long)wc.wr_id, status_name(wc.status));
	TRY(compare_wc(r, s, &wc));
	return wt_in_time(r, s, wt_now());
}

/* The bind of a window has been done. */
why_t wt_bound(struct wt_run *r)
{
	struct ibv_wc wc;

	CHECK(poll_for(r->qp->scq, &wc, r->dut->patience), "no completion");
	CHECK(!wc.status && wc.opcode == IBV_WC_BIND_MW, "status is %s",
	      status_name(wc.status));
	return NULL;
}

static why_t no_wc(struct wt_qp *qp)
{
	struct ibv_wc wc;

	for (int i = 0; i < 2; i++) {
		int n = ibv_poll_cq(i ? qp->rcq : qp->scq, 1, &wc);

		CHECK(!n, "unexpected completion of a %s: wr_id %llu, %s",
		      i ? "receive" : "send", (unsigned long long)wc.wr_id,
		      status_name(wc.status));
	}
	return NULL;
}

/* nowc: there is none now */
why_t wt_do_nowc(struct wt_run *r, struct wt_stmt *s)
{
	(void)s;
	return no_wc(r->qp);
}

/* ---- completion events ---------------------------------------------------- */

static why_t queue_of(struct wt_run *r, struct wt_stmt *s, struct ibv_cq **cq,
		      struct ibv_comp_channel **chan)
{
	bool recv = wt_flag(s, "recv");

	CHECK(recv || wt_flag(s, "send"), "of which queue?");
	*cq = recv ? r->qp->rcq : r->qp->scq;
	*chan = recv ? r->qp->rchan : r->qp->schan;
	return NULL;
}

/* arm send|recv [solicited]: ask for an event with the next completion */
why_t wt_do_arm(struct wt_run *r, struct wt_stmt *s)
{
	struct ibv_comp_channel *chan = NULL;
	struct ibv_cq *cq = NULL;

	TRY(queue_of(r, s, &cq, &chan));
	CHECK(!ibv_req_notify_cq(cq, wt_flag(s, "solicited")),
	      "ibv_req_notify_cq fails");
	return NULL;
}

static why_t get_comp(struct wt_run *r, struct wt_stmt *s, uint64_t us,
		      bool *got)
{
	uint64_t end = wt_now() + us;
	struct ibv_comp_channel *chan = NULL;
	struct ibv_cq *cq = NULL;
	void *arg;

	TRY(queue_of(r, s, &cq, &chan));
	*got = false;
	do {
		struct ibv_cq *of;

		if (!ibv_get_cq_event(chan, &of, &arg)) {
			ibv_ack_cq_events(of, 1);
			*got = true;
			break;
		}
		if (us)
			wt_sleep(200);
	} while (wt_now() < end);
	return NULL;
}

/* comp send|recv: the event comes */
why_t wt_do_comp(struct wt_run *r, struct wt_stmt *s)
{
	bool got = false;

	TRY(get_comp(r, s, r->dut->patience, &got));
	CHECK(got, "no completion event");
	return NULL;
}

/* nocomp send|recv: there is none now */
why_t wt_do_nocomp(struct wt_run *r, struct wt_stmt *s)
{
	bool got = false;

	TRY(get_comp(r, s, 0, &got));
	CHECK(!got, "a completion event");
	return NULL;
}

/* ---- events and states ---------------------------------------------------- */

static const struct {
	const char *name;
	enum ibv_event_type type;
} events[] = {
	{ "COMM_EST", IBV_EVENT_COMM_EST },
	{ "QP_FATAL", IBV_EVENT_QP_FATAL },
	{ "QP_REQ_ERR", IBV_EVENT_QP_REQ_ERR },
	{ "QP_ACCESS_ERR", IBV_EVENT_QP_ACCESS_ERR },
	{ "SQ_DRAINED", IBV_EVENT_SQ_DRAINED },
	{ "LAST_WQE_REACHED", IBV_EVENT_QP_LAST_WQE_REACHED },
	{ "CQ_ERR", IBV_EVENT_CQ_ERR },
	{ "SRQ_LIMIT", IBV_EVENT_SRQ_LIMIT_REACHED },
};

static const char *event_name(enum ibv_event_type type)
{
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		if (events[i].type == type)
			return events[i].name;
	}
	return ibv_event_type_str(type);
}

static bool is_qp_event(enum ibv_event_type type)
{
	return type <= IBV_EVENT_PATH_MIG_ERR ? type != IBV_EVENT_CQ_ERR :
	       type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

static bool get_event(struct wt_run *r, struct ibv_async_event *e, uint64_t us)
{
	uint64_t end = wt_now() + us;

	do {
		if (!ibv_get_async_event(r->dut->ctx, e)) {
			ibv_ack_async_event(e);
			wt_trace(r, "  event %s", event_name(e->event_type));
			return true;
		}
		if (us)
			wt_sleep(200);
	} while (wt_now() < end);
	return false;
}

/* Which rule an event that comes or not is a matter of */
static enum wt_rule event_rule(const char *name)
{
	return strcmp(name, "COMM_EST") ? WT_RULE_EVENT : WT_RULE_COMM_EST;
}

/* event NAME */
why_t wt_do_event(struct wt_run *r, struct wt_stmt *s)
{
	struct ibv_async_event e;
	enum wt_rule rule;

	CHECK(s->n > 1, "which event?");
	s->used[1] = true;
	rule = event_rule(s->word[1]);
	for (;;) {
		const char *name;

		if (!get_event(r, &e, wt_soft(r, rule) ? WT_SOON :
			       r->dut->patience))
			return wt_note(r, rule, "no event %s", s->word[1]);
		name = event_name(e.event_type);
		if (!strcmp(name, s->word[1]))
			break;
		TRY(wt_note(r, WT_RULE_EVENT, "event is %s", name));
	}
	CHECK(!is_qp_event(e.event_type) || e.element.qp == r->qp->qp,
	      "the event is for another QP");
	return NULL;
}

static const char *state_name(enum ibv_qp_state state)
{
	static const char *const names[] = {
		"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

/* state NAME: now or soon */
why_t wt_do_state(struct wt_run *r, struct wt_stmt *s)
{
	uint64_t end = wt_now() + WT_SOON;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK(s->n > 1, "which state?");
	s->used[1] = true;
	do {
		CHECK(!ibv_query_qp(r->qp->qp, &attr, IBV_QP_STATE, &init),
		      "ibv_query_qp fails");
		if (!strcmp(state_name(attr.qp_state), s->word[1]))
			return NULL;
		wt_sleep(1000);
	} while (wt_now() < end);
	return because("state is %s", state_name(attr.qp_state));
}

/* ---- memory --------------------------------------------------------------- */

struct range {
	uint64_t off, len;
};

/* What off=, len= and seed=, at= or u64= say, written to @to */
static why_t paint(struct wt_run *r, struct wt_stmt *s, uint8_t *to,
		   struct range *g, uint64_t seed)
{
	uint64_t at = 0, value;
	bool word;

	g->len = 8;
	TRY(wt_num(&r->vars, s, "off", &g->off, NULL));
	TRY(wt_num(&r->vars, s, "len", &g->len, NULL));
	TRY(wt_num(&r->vars, s, "seed", &seed, NULL));
	TRY(wt_num(&r->vars, s, "at", &at, NULL));
	TRY(wt_num(&r->vars, s, "u64", &value, &word));
	CHECK(g->off < WT_BUF && g->len <= WT_BUF - g->off,
	      "outside the buffer");
	if (word) {
		memcpy(to + g->off, &value, g->len < 8 ? g->len : 8);
		return NULL;
	}
	for (uint64_t i = 0; i < g->len; i++)
		to[g->off + i] = wt_pattern(seed, at + i);
	return NULL;
}

/* fill off= len= seed= at= | u64=: the user writes to his memory */
why_t wt_do_fill(struct wt_run *r, struct wt_stmt *s)
{
	struct range g = { 0 };

	TRY(paint(r, s, r->buf, &g, WT_SEED_DUT));
	memcpy(r->shadow + g.off, r->buf + g.off, g.len);
	return NULL;
}

static why_t compare_memory(struct wt_run *r, uint64_t off, uint64_t len)
{
	for (uint64_t i = off; i < off + len; i++)
		CHECK(r->buf[i] == r->shadow[i], "byte %llu of the buffer is "
		      "%02x, should be %02x", (unsigned long long)i, r->buf[i],
		      r->shadow[i]);
	return NULL;
}

/* mem off= len= [seed= at= | u64= | any]: what it holds, from now on */
why_t wt_do_mem(struct wt_run *r, struct wt_stmt *s)
{
	uint64_t end = wt_now() + WT_SOON;
	struct range g = { 0 };
	bool any = wt_flag(s, "any");
	why_t why;

	TRY(paint(r, s, r->shadow, &g, WT_SEED_PEER));
	if (any) {
		memcpy(r->shadow + g.off, r->buf + g.off, g.len);
		return NULL;
	}
	do {
		why = compare_memory(r, g.off, g.len);
		if (why)
			wt_sleep(1000);
	} while (why && wt_now() < end);
	return why;
}

/*
 * grh off=: the 40 bytes before a datagram. IPv6's header is there as it was
 * sent; IPv4's is in the last 20 and the first 20 are undefined (A17.4.5.2).
 */
why_t wt_do_grh(struct wt_run *r, struct wt_stmt *s)
{
	uint8_t want[128];
	uint64_t off = 0;
	size_t len = wt_net_header(&r->last, want);

	TRY(wt_num(&r->vars, s, "off", &off, NULL));
	CHECK(off <= WT_BUF - WT_GRH, "outside the buffer");
	memcpy(r->shadow + off, r->buf + off, WT_GRH - len);
	memcpy(r->shadow + off + WT_GRH - len, want, len);
	return compare_memory(r, off, WT_GRH);
}

/* ---- counters ------------------------------------------------------------- */

/* Those move with any traffic; what is known about them is checked below. */
static const char *const traffic[] = {
	"tx_pkts", "tx_bytes", "rx_pkts", "rx_bytes", "tx_ack",
	"tx_trains", "tx_segmented_trains", "rx_trains", "tx_pkt_batches", "tx_msg_batches",
	"rx_pkt_batches", "backlog_pkts",
	"steered_pkts", "coalesced_doorbells",
};

static int counter_named(const struct wt_dut *d, const char *name, size_t len)
{
	for (int i = 0; i < d->ncounters; i++) {
		if (strlen(d->counter[i]) == len &&
		    !memcmp(d->counter[i], name, len))
			return i;
	}
	return -1;
}

/* count NAME=N|A..B|A..|*: all others must not move */
why_t wt_do_count(struct wt_run *r, struct wt_stmt *s)
{
	for (int i = 1; r->dut->any && i < s->n; i++)
		s->used[i] = true;
	for (int i = 1; !r->dut->any && i < s->n; i++) {
		const char *eq = strchr(s->word[i], '=');
		int c = eq ? counter_named(r->dut, s->word[i],
					   eq - s->word[i]) : -1;

		CHECK(c >= 0, "no counter for '%s'", s->word[i]);
		r->want[c] = eq + 1;
		s->used[i] = true;
	}
	return NULL;
}

/* Whether a number is *, N, A.. or A..B */
why_t wt_in_range(const struct wt_vars *v, const char *text, uint64_t is,
		  bool *ok)
{
	uint64_t low, high = UINT64_MAX;
	const char *dots = strstr(text, "..");
	char copy[64];

	*ok = true;
	if (!strcmp(text, "*"))
		return NULL;
	snprintf(copy, sizeof(copy), "%s", text);
	if (dots) {
		copy[dots - text] = 0;
		if (dots[2])
			TRY(wt_eval(v, dots + 2, &high));
	}
	TRY(wt_eval(v, copy, &low));
	*ok = is >= low && (dots ? is <= high : is == low);
	return NULL;
}

static uint64_t moved(struct wt_run *r, const uint64_t *now, const char *name)
{
	int c = counter_named(r->dut, name, strlen(name));

	return c < 0 ? 0 : now[c] - r->before[c];
}

static bool is_traffic(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(traffic); i++) {
		if (!strcmp(traffic[i], name))
			return true;
	}
	return false;
}

/* Each as the script says, and all as many packets as the peer has seen. */
static why_t counters_now(struct wt_run *r)
{
	uint64_t now[WT_COUNTERS];

	TRY(wt_counters_read(r->dut, now));
	for (int i = 0; i < r->dut->ncounters; i++) {
		uint64_t is = now[i] - r->before[i];
		const char *want = r->want[i] ? r->want[i] : "0";
		bool ok;

		if (!r->want[i] && is_traffic(r->dut->counter[i]))
			continue;
		TRY(wt_in_range(&r->vars, want, is, &ok));
		CHECK(ok, "counter %s moved by %llu, should be %s",
		      r->dut->counter[i], (unsigned long long)is, want);
	}
	CHECK(moved(r, now, "tx_pkts") == r->frames,
	      "tx_pkts moved by %llu, the peer has got %llu",
	      (unsigned long long)moved(r, now, "tx_pkts"),
	      (unsigned long long)r->frames);
	CHECK(moved(r, now, "tx_ack") == r->acks,
	      "tx_ack moved by %llu, the peer has got %llu",
	      (unsigned long long)moved(r, now, "tx_ack"),
	      (unsigned long long)r->acks);
	CHECK(moved(r, now, "retransmitted_pkts") == r->again,
	      "retransmitted_pkts moved by %llu, the peer has got %llu",
	      (unsigned long long)moved(r, now, "retransmitted_pkts"),
	      (unsigned long long)r->again);
	return NULL;
}

/*
 * A packet without an answer may not have been looked at yet; and a requester whose request
 * has no answer may send it again meanwhile.
 */
why_t wt_check_counters(struct wt_run *r)
{
	uint64_t end = wt_now() + WT_SOON;
	why_t why;

	if (r->dut->any)
		return NULL;
	do {
		why = counters_now(r);
		if (why)
			TRY(wt_no_frames(r, WT_POLL));
	} while (why && wt_now() < end);
	return why;
}

/* ---- the end -------------------------------------------------------------- */

/* Packets, completions, events, bytes that no statement has asked for */
why_t wt_no_leftovers(struct wt_run *r)
{
	struct ibv_async_event e;

	TRY(wt_no_frames(r, WT_SETTLE));
	for (int i = 0; i < r->nqps; i++)
		TRY(no_wc(&r->qps[i]));
	while (get_event(r, &e, 0))
		TRY(wt_note(r, event_rule(event_name(e.event_type)),
			    "unexpected event %s", event_name(e.event_type)));
	return compare_memory(r, 0, WT_BUF);
}
