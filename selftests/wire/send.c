// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets that the peer sends: right by default, wrong where a script says. */

#include <stdlib.h>
#include <string.h>
#include "wire.h"

static void defaults(struct wt_run *r, struct wt_craft *c)
{
	const struct wt_net *net = r->qp->net;
	/* from run to run, and of this program: the kernel may still hold fragments */
	static uint16_t ip_id;

	*c = (struct wt_craft){
		.family = net->family,
		.from = net->peer,
		.to = net->dut,
		.vlan = net->vlan,
		.sport = 0xc123,
		.dport = WT_PORT_ROCE,
		.ttl = 64,
		.df = true,
		.cut = -1,
		.cutraw = -1,
		.flip = -1,
	};
	if (!ip_id)
		ip_id = wt_now() >> 8;
	c->id = ++ip_id;
	c->p.mig = 1;
	c->p.pkey = 0xffff;
	c->p.qpn = r->qp->qp->qp_num;
	c->p.sqpn = r->qp->peer_qpn;
	c->p.qkey = r->qp->attr.qkey;
	c->p.va = (uintptr_t)r->buf;
	c->p.rkey = r->mrs[0].mr ? r->mrs[0].mr->rkey : 0;
	c->p.syn = 31;
}

/* The opcode by name, or op= with ext= for one that has no name */
static why_t opcode(struct wt_run *r, struct wt_stmt *s, struct wt_pkt *p)
{
	const char *ext = wt_text(s, "ext");
	const struct wt_op *op;
	uint64_t code;
	bool found;

	TRY(wt_num(&r->vars, s, "op", &code, &found));
	if (found) {
		op = wt_op_by_code(code);
		p->op = code;
		p->ext = ext ? ext : op ? op->ext : "";
		return NULL;
	}
	CHECK(s->n > 1, "which packet?");
	op = wt_op_by_name(s->word[1]);
	CHECK(op, "no packet is called %s", s->word[1]);
	s->used[1] = true;
	p->op = op->code;
	p->ext = ext ? ext : op->ext;
	return NULL;
}

#define ARG(field) { #field, &c->p.field, sizeof(c->p.field) }

static void store(void *to, size_t size, uint64_t v)
{
	memcpy(to, &v, size);	/* little endian, as are all test machines */
}

static why_t header_fields(struct wt_run *r, struct wt_stmt *s,
			   struct wt_craft *c)
{
	const struct {
		const char *name;
		void *to;
		size_t size;
	} args[] = {
		ARG(psn), ARG(qpn), ARG(pkey), ARG(mig), ARG(tver),
		ARG(resv8a), ARG(resv7), ARG(qkey), ARG(sqpn), ARG(va),
		ARG(rkey), ARG(dlen), ARG(swap), ARG(cmp), ARG(msn), ARG(orig),
		ARG(imm), ARG(inv), ARG(feth),
		{ "sport", &c->sport, 2 }, { "dport", &c->dport, 2 },
		{ "tos", &c->tos, 1 }, { "ttl", &c->ttl, 1 },
		{ "cut", &c->cut, 4 }, { "cutraw", &c->cutraw, 4 },
		{ "grow", &c->grow, 4 }, { "udplen", &c->udplen, 4 },
		{ "iplen", &c->iplen, 4 }, { "ipopt", &c->ipopt, 4 },
		{ "frag", &c->frag, 4 }, { "fragonly", &c->fragonly, 4 },
		{ "trailer", &c->trailer, 4 }, { "flip", &c->flip, 4 },
		{ "vlan", &c->vlan, 4 },
	};
	uint64_t v;
	bool found;

	for (size_t i = 0; i < ARRAY_SIZE(args); i++) {
		TRY(wt_num(&r->vars, s, args[i].name, &v, &found));
		if (found)
			store(args[i].to, args[i].size, v);
	}
	c->p.psn &= WT_PSN_MASK;
	c->p.msn &= WT_PSN_MASK;
	c->p.ack = wt_flag(s, "ack");
	c->p.se = wt_flag(s, "se");
	if (wt_flag(s, "nodf") || c->frag)
		c->df = false;
	if (wt_flag(s, "untagged"))
		c->vlan = -1;
	if (wt_flag(s, "group"))
		c->to = r->qp->group;
	return NULL;
}

static why_t one_of(struct wt_stmt *s, const char *arg, const char *const *names,
		    int n, int *to)
{
	const char *text = wt_text(s, arg);

	if (!text)
		return NULL;
	for (*to = 0; *to < n; ++*to) {
		if (!strcmp(names[*to], text))
			return NULL;
	}
	return because("%s=%s is not known", arg, text);
}

static why_t damage(struct wt_run *r, struct wt_stmt *s, struct wt_craft *c)
{
	static const char *const icrcs[] = { "ok", "bad", "zero", "swapped" };
	static const char *const exts[] = { "none", "hbh", "dst", "frag", "longdst" };
	static const char *const sums[] = { "none", "ok", "bad" };
	int icrc = WT_ICRC_OK, ext = WT_EXT_NONE;
	uint64_t src = 0, dst = 0;

	TRY(one_of(s, "icrc", icrcs, ARRAY_SIZE(icrcs), &icrc));
	TRY(one_of(s, "exthdr", exts, ARRAY_SIZE(exts), &ext));
	TRY(one_of(s, "udpsum", sums, ARRAY_SIZE(sums), &c->udpsum));
	c->icrc = icrc;
	c->exthdr = ext;
	TRY(wt_num(&r->vars, s, "src", &src, NULL));
	TRY(wt_num(&r->vars, s, "dst", &dst, NULL));
	c->from.ip[15] += src;
	c->to.ip[15] += dst;
	return NULL;
}

/* len= bytes of pattern seed= from at= on, and the padding that goes with it */
static why_t payload(struct wt_run *r, struct wt_stmt *s, struct wt_craft *c,
		     uint8_t *data)
{
	uint64_t len = 0, seed = WT_SEED_PEER, at = 0, padbytes, pad;
	bool found;

	TRY(wt_num(&r->vars, s, "len", &len, NULL));
	TRY(wt_num(&r->vars, s, "seed", &seed, NULL));
	TRY(wt_num(&r->vars, s, "at", &at, NULL));
	CHECK(len < WT_FRAME_MAX - 200, "too long for a frame");
	for (uint64_t i = 0; i < len; i++)
		data[i] = wt_pattern(seed, at + i);
	c->p.payload = data;
	c->p.len = len;
	padbytes = -len & 3;
	TRY(wt_num(&r->vars, s, "padbytes", &padbytes, NULL));
	pad = padbytes;
	TRY(wt_num(&r->vars, s, "pad", &pad, NULL));
	c->padbytes = padbytes;
	c->p.pad = pad;
	TRY(wt_num(&r->vars, s, "dlen", &pad, &found));
	if (!found)
		c->p.dlen = len;
	return NULL;
}

/* < OP [ack] [se] psn= len= ...: the peer sends a packet */
why_t wt_do_send(struct wt_run *r, struct wt_stmt *s)
{
	static uint8_t data[WT_FRAME_MAX];
	const char *syn = wt_text(s, "syn");
	struct wt_craft c;
	uint8_t mask;

	CHECK(r->qp, "there is no QP yet");
	defaults(r, &c);
	TRY(opcode(r, s, &c.p));
	TRY(header_fields(r, s, &c));
	TRY(damage(r, s, &c));
	TRY(payload(r, s, &c, data));
	if (syn)
		TRY(wt_syndrome(&r->vars, syn, &c.p.syn, &mask));
	r->last = c;
	r->last.p.payload = NULL;
	wt_trace_pkt(r, '<', wt_now(), &c.p, "");
	return wt_frame_send(&c, wt_peer_send, r->peer);
}
