// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets that the device has to send, and those that it must not. */

#include <stdlib.h>
#include <string.h>
#include "wire.h"

/* ack[:credits], rnr[:timer], nak[:code], or a number */
why_t wt_syndrome(const struct wt_vars *v, const char *text, uint8_t *value,
		  uint8_t *mask)
{
	static const struct {
		const char *name;
		uint8_t type;
		uint8_t low;
	} types[] = {
		{ "ack", 0x00, 31 }, { "rnr", 0x20, 0 }, { "resv", 0x40, 0 },
		{ "nak", 0x60, 0 },
	};
	uint64_t low;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		size_t n = strlen(types[i].name);

		if (strncmp(text, types[i].name, n))
			continue;
		*mask = 0xe0;
		*value = types[i].type | types[i].low;
		if (!text[n])
			return NULL;
		CHECK(text[n] == ':', "'%s' is no syndrome", text);
		TRY(wt_eval(v, text + n + 1, &low));
		*mask = 0xff;
		*value = types[i].type | (low & 31);
		return NULL;
	}
	TRY(wt_eval(v, text, &low));
	*mask = 0xff;
	*value = low;
	return NULL;
}

/* after= and before= bound the time since the last mark. */
why_t wt_in_time(struct wt_run *r, struct wt_stmt *s, uint64_t when)
{
	uint64_t after = 0, before = UINT64_MAX;
	uint64_t took = when > r->mark ? when - r->mark : 0;

	TRY(wt_num(&r->vars, s, "after", &after, NULL));
	TRY(wt_num(&r->vars, s, "before", &before, NULL));
	r->late = took > before;
	CHECK(took >= after && took <= before,
	      "came %llu us after the mark, should be %llu to %llu",
	      (unsigned long long)took, (unsigned long long)after,
	      (unsigned long long)before);
	return NULL;
}

/* ---- receiving ------------------------------------------------------------ */

static struct wt_qp *qp_of(struct wt_run *r, uint32_t peer_qpn)
{
	for (int i = 0; i < r->nqps; i++) {
		if (r->qps[i].peer_qpn == peer_qpn)
			return &r->qps[i];
	}
	return r->qp;
}

static why_t check_network(const struct wt_frame *f, const struct wt_qp *qp)
{
	const struct wt_net *net = qp->net;
	const struct wt_addr *to = qp->in_group ? &qp->group : &net->peer;

	CHECK(!memcmp(f->to.mac, to->mac, 6) &&
	      !memcmp(f->from.mac, net->dut.mac, 6),
	      "Ethernet addresses are wrong");
	CHECK(!memcmp(f->to.ip, to->ip, 16) &&
	      !memcmp(f->from.ip, net->dut.ip, 16), "IP addresses are wrong");
	CHECK(f->vlan == net->vlan, "VLAN tag %d, should be %d", f->vlan,
	      net->vlan);
	return NULL;
}

/* Where an earlier READ has asked for this PSN, the rest has to be the same. */
static bool rest_of_read(const struct wt_qp *qp, const struct wt_seen *old,
			 const struct wt_pkt *p)
{
	uint32_t off = ((p->psn - old->psn) & WT_PSN_MASK) * qp->mtu;

	return old->op == 0x0c && off < old->dlen && old->rkey == p->rkey &&
	       old->va + off == p->va && p->dlen && p->dlen <= old->dlen - off;
}

/* A request that comes again has to be what it was. */
static why_t check_again(struct wt_run *r, struct wt_qp *qp)
{
	const struct wt_frame *f = r->frame;
	const struct wt_pkt *p = &f->p;
	size_t head = wt_ext_len(p->ext);
	struct wt_seen new = {
		.psn = p->psn,
		.op = p->op,
		.hash = wt_crc32(p->se, p->payload - head, p->len + head),
		.va = p->va,
		.rkey = p->rkey,
		.dlen = p->dlen,
	};

	r->frame_again = false;
	for (int i = qp->nseen - 1; i >= 0; i--) {
		const struct wt_seen *old = &qp->seen[i];

		if (p->op == 0x0c && rest_of_read(qp, old, p)) {
			r->frame_again = true;
			return NULL;
		}
		if (old->psn != p->psn)
			continue;
		r->frame_again = true;
		CHECK(old->op == new.op && old->hash == new.hash,
		      "PSN %u comes again as another packet", p->psn);
		return NULL;
	}
	if (qp->nseen < WT_SEEN)
		qp->seen[qp->nseen++] = new;
	return NULL;
}

static why_t take_frame(struct wt_run *r)
{
	struct wt_frame *f = r->frame;
	struct wt_qp *qp;
	why_t why;

	f->soft = r->soft;
	why = wt_frame_parse(f);
	r->frames++;
	r->frame_again = false;
	if (why) {
		wt_trace(r, "> a frame of %zu bytes: %s", f->raw_len, why);
		return why;
	}
	if (f->p.op == 0x11 && !(f->p.syn >> 5))
		r->acks++;
	qp = qp_of(r, f->p.qpn);
	if (!wt_op_is_response(f->p.op))
		why = check_again(r, qp);
	r->again += r->frame_again;
	for (int i = 0; i < WT_RULES; i++) {
		if (f->odd & 1u << i)
			TRY(wt_note(r, i, "not so in %s",
				    wt_op_by_code(f->p.op)->name));
	}
	wt_trace_pkt(r, '>', f->when, &f->p, r->frame_again ? " (again)" : "");
	TRY(why);
	return check_network(f, qp);
}

/* The next frame within @us; *got says if there was one. */
static why_t next_frame(struct wt_run *r, uint64_t us, bool *got)
{
	if (r->frame_held) {
		r->frame_held = false;
		*got = true;
		return NULL;
	}
	*got = wt_peer_recv(r->peer, r->frame, us);
	return *got ? take_frame(r) : NULL;
}

static const char *name_of(const struct wt_pkt *p)
{
	return wt_op_by_code(p->op)->name;
}

/*
 * A QP that does not retry sends nothing again unless it is told to: each of
 * its packets counts. Of one that does, those sent again may come at any time.
 */
static bool is_resent(const struct wt_run *r)
{
	return r->frame_again && r->qp && r->qp->attr.retry_cnt;
}

/* Nothing for @us, but for what a QP that retries has sent before. */
why_t wt_no_frames(struct wt_run *r, uint64_t us)
{
	uint64_t end = wt_now() + us, now = wt_now();

	do {
		bool got;

		TRY(next_frame(r, end - now, &got));
		CHECK(!got || is_resent(r),
		      "unexpected packet: %s psn=%u", name_of(&r->frame->p),
		      r->frame->p.psn);
		now = wt_now();
	} while (now < end);
	return NULL;
}

/* quiet TIME */
why_t wt_do_quiet(struct wt_run *r, struct wt_stmt *s)
{
	uint64_t us;

	CHECK(s->n > 1, "for how long?");
	TRY(wt_eval(&r->vars, s->word[1], &us));
	s->used[1] = true;
	return wt_no_frames(r, us);
}

/* ---- comparing ------------------------------------------------------------ */

static why_t compare_fields(struct wt_run *r, struct wt_stmt *s,
			    const struct wt_frame *f)
{
	const struct wt_pkt *p = &f->p;
	const struct {
		const char *name;
		uint64_t is;
		uint64_t mask;
	} args[] = {
		{ "psn", p->psn, WT_PSN_MASK }, { "msn", p->msn, WT_PSN_MASK },
		{ "se", p->se, 1 },
		{ "qkey", p->qkey, UINT32_MAX }, { "sqpn", p->sqpn, UINT32_MAX },
		{ "va", p->va, UINT64_MAX }, { "rkey", p->rkey, UINT32_MAX },
		{ "dlen", p->dlen, UINT32_MAX }, { "swap", p->swap, UINT64_MAX },
		{ "cmp", p->cmp, UINT64_MAX }, { "orig", p->orig, UINT64_MAX },
		{ "feth", p->feth, UINT32_MAX },
		{ "imm", p->imm, UINT32_MAX }, { "inv", p->inv, UINT32_MAX },
		{ "len", p->len, UINT32_MAX }, { "tos", f->tos, 0xff },
		{ "ttl", f->ttl, 0xff }, { "sport", f->sport, 0xffff },
	};

	for (size_t i = 0; i < ARRAY_SIZE(args); i++) {
		const char *text = wt_text(s, args[i].name);
		uint64_t want;
		bool found;

		if (text && strstr(text, "..")) {
			TRY(wt_in_range(&r->vars, text, args[i].is, &found));
			CHECK(found, "%s is %#llx, should be %s", args[i].name,
			      (unsigned long long)args[i].is, text);
			continue;
		}
		TRY(wt_num(&r->vars, s, args[i].name, &want, &found));
		CHECK(!found || (want & args[i].mask) == args[i].is,
		      "%s is %#llx, should be %#llx", args[i].name,
		      (unsigned long long)args[i].is,
		      (unsigned long long)(want & args[i].mask));
	}
	return NULL;
}

/* Requests for acknowledges */
static why_t compare_ackreq(struct wt_run *r, struct wt_stmt *s,
			    const struct wt_pkt *p)
{
	uint64_t want;
	bool found;

	TRY(wt_num(&r->vars, s, "ackreq", &want, &found));
	return !found || want == p->ack ? NULL :
	       wt_note(r, WT_RULE_ACKREQ, "ackreq is %u, should be %u", p->ack,
		       (unsigned int)want);
}

static why_t compare_payload(struct wt_run *r, struct wt_stmt *s,
			     const struct wt_pkt *p)
{
	uint64_t at, seed = WT_SEED_DUT;
	bool found;

	TRY(wt_num(&r->vars, s, "seed", &seed, NULL));
	TRY(wt_num(&r->vars, s, "at", &at, &found));
	for (uint32_t i = 0; found && i < p->len; i++)
		CHECK(p->payload[i] == wt_pattern(seed, at + i),
		      "byte %u of the payload is wrong", i);
	return NULL;
}

/* Whatever credits an acknowledge has, it is one. */
static why_t compare_syndrome(struct wt_run *r, const char *text, uint8_t is)
{
	uint8_t value, mask;

	TRY(wt_syndrome(&r->vars, text, &value, &mask));
	if ((is & mask) == (value & mask))
		return NULL;
	CHECK(!(is >> 5) && !(value >> 5), "syndrome is %#x, should be %#x", is,
	      value);
	return wt_note(r, WT_RULE_CREDITS, "syndrome is %#x, should be %#x", is,
		       value);
}

static why_t compare(struct wt_run *r, struct wt_stmt *s, uint8_t op)
{
	const struct wt_pkt *p = &r->frame->p;
	const char *syn = wt_text(s, "syn");
	uint64_t dqpn = r->qp->peer_qpn;

	CHECK(p->op == op, "packet is %s psn=%u", name_of(p), p->psn);
	TRY(compare_fields(r, s, r->frame));
	TRY(compare_ackreq(r, s, p));
	TRY(wt_num(&r->vars, s, "dqpn", &dqpn, NULL));
	CHECK(p->qpn == dqpn, "destination QP is %#x, should be %#x", p->qpn,
	      (unsigned int)dqpn);
	if (syn)
		TRY(compare_syndrome(r, syn, p->syn));
	TRY(compare_payload(r, s, p));
	return wt_in_time(r, s, r->frame->when);
}

/*
 * The next packet. With "again" it has to be one sent before. For a QP that
 * retries: the next that is not merely sent again; with "again" one that is,
 * and that matches, after any number of others sent again.
 */
static why_t expect_one(struct wt_run *r, struct wt_stmt *s, uint8_t op,
			bool again, uint64_t within)
{
	uint64_t end = wt_now() + within, now;
	why_t why = NULL;
	bool got;

	while ((now = wt_now()) < end) {
		TRY(next_frame(r, end - now, &got));
		if (!got)
			break;
		if (!again && is_resent(r))
			continue;
		why = compare(r, s, op);
		if (why && again && is_resent(r))
			continue;
		if (!why && r->frame_again != again)
			why = because("the packet is %s", again ? "new" :
				      "one that was sent before");
		return why;
	}
	return why ? why : because("no packet came in %llu us",
				   (unsigned long long)within);
}

static why_t packet_of(struct wt_stmt *s, const struct wt_op **op)
{
	CHECK(s->n > 1, "which packet?");
	*op = wt_op_by_name(s->word[1]);
	CHECK(*op, "no packet is called %s", s->word[1]);
	s->used[1] = true;
	return NULL;
}

/* > OP [again] [within=] [after=] [before=] psn= ... */
why_t wt_do_expect(struct wt_run *r, struct wt_stmt *s)
{
	uint64_t within = r->dut->patience;
	const struct wt_op *op;
	bool again = wt_flag(s, "again");

	TRY(packet_of(s, &op));
	TRY(wt_num(&r->vars, s, "within", &within, NULL));
	return expect_one(r, s, op->code, again, within);
}

/*
 * ? OP psn= ...: the next packet is this one, or the next statement's, or there is none. As
 * with expect_one(), packets of a QP that retries which come again do not count.
 */
why_t wt_do_maybe(struct wt_run *r, struct wt_stmt *s)
{
	uint64_t within = WT_MAYBE, end, now;
	const struct wt_op *op;
	bool again = wt_flag(s, "again"), got, resent;

	TRY(packet_of(s, &op));
	TRY(wt_num(&r->vars, s, "within", &within, NULL));
	end = wt_now() + within;
	do {
		now = wt_now();
		TRY(next_frame(r, now < end ? end - now : 0, &got));
		resent = got && !again && is_resent(r);
		/* reading may take longer than it takes for the next to come */
	} while (resent && r->frame->when < end);
	if (got && !resent && (compare(r, s, op->code) || r->frame_again != again))
		r->frame_held = true;
	for (int i = 1; i < s->n; i++)
		s->used[i] = true;
	return NULL;
}
