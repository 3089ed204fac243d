// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* One message from A to B, or read by A from B, verified to the last byte. */

#include <arpa/inet.h>
#include "xfer.h"

#define TRIES	5	/* UC and UD may lose messages; not always, though */
#define GAP	61	/* largest gap between pieces */

const struct xfer_op xfer_ops[] = {
	{ "SEND", IBV_WR_SEND, IBV_WC_SEND, TYPE(RC) | TYPE(UC) | TYPE(UD),
	  .recv = true },
	{ "SEND_WITH_IMM", IBV_WR_SEND_WITH_IMM, IBV_WC_SEND,
	  TYPE(RC) | TYPE(UC) | TYPE(UD), .recv = true, .imm = true },
	{ "RDMA_WRITE", IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE,
	  TYPE(RC) | TYPE(UC), .rdma = true },
	{ "RDMA_WRITE_WITH_IMM", IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE,
	  TYPE(RC) | TYPE(UC), .recv = true, .imm = true, .rdma = true },
	{ "RDMA_READ", IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, TYPE(RC),
	  .rdma = true },
};

const size_t xfer_num_ops = ARRAY_SIZE(xfer_ops);

const struct xfer_op *xfer_op(const char *name)
{
	size_t i;

	for (i = 0; i < xfer_num_ops; i++)
		if (!strcmp(xfer_ops[i].name, name))
			return &xfer_ops[i];
	return NULL;
}

/* What buffers have to hold for a message to be spread out in them. */
size_t xfer_room(uint32_t len)
{
	return len + VT_GRH + (XFER_MAX_SGE + 2) * (GAP + 1);
}

struct list {
	struct ibv_sge sge[XFER_MAX_SGE];
	int num;
	uint32_t len;
};

/* Cut @len bytes into @num pieces of odd lengths at odd places of @b. */
static void lay_out(struct list *l, const struct vt_buf *b, uint32_t len,
		    int num, bool spread, uint64_t *rnd)
{
	uint32_t left = len;
	size_t off = spread ? vt_below(rnd, GAP) : 0;
	int i;

	l->num = num;
	l->len = len;
	for (i = 0; i < num; i++) {
		uint32_t n = left;

		if (i < num - 1)
			n = MIN(left, 1 + vt_below(rnd, 2 * len / num + 1));
		l->sge[i] = vt_sge(b, off, n);
		left -= n;
		off += n + (spread ? vt_below(rnd, GAP) : 0);
	}
}

static size_t sge_off(const struct vt_buf *b, const struct ibv_sge *sge)
{
	return sge->addr - (uintptr_t)b->data;
}

static void gather(const struct vt_buf *b, const struct list *l, uint8_t *to)
{
	int i;

	for (i = 0; i < l->num; i++) {
		memcpy(to, b->data + sge_off(b, &l->sge[i]), l->sge[i].length);
		to += l->sge[i].length;
	}
}

/* Expect @len bytes to show up behind the first @skip bytes of the list. */
static void expect(struct vt_buf *b, const struct list *l, uint32_t skip,
		   const uint8_t *from, uint32_t len)
{
	int i;

	for (i = 0; i < l->num && len; i++) {
		uint32_t have = l->sge[i].length, n;
		size_t off = sge_off(b, &l->sge[i]);

		if (skip >= have) {
			skip -= have;
			continue;
		}
		n = MIN(len, have - skip);
		memcpy(b->shadow + off + skip, from, n);
		from += n;
		len -= n;
		skip = 0;
	}
}

static why_t check_ipv4(const uint8_t *ip, const struct vt_pair *p, size_t len)
{
	CHECK(ip[0] == 0x45, "GRH: not an IPv4 header in its last 20 bytes");
	CHECK(ip[9] == 17, "GRH: IPv4 protocol %u, not UDP", ip[9]);
	CHECK((size_t)(ip[2] << 8 | ip[3]) == len + 20, "GRH: IPv4 length %u",
	      ip[2] << 8 | ip[3]);
	CHECK(!memcmp(ip + 12, p->a.dev->gid.raw + 12, 4),
	      "GRH: wrong IPv4 source");
	CHECK(!memcmp(ip + 16, p->b.dev->gid.raw + 12, 4),
	      "GRH: wrong IPv4 destination");
	return NULL;
}

static why_t check_ipv6(const uint8_t *ip, const struct vt_pair *p, size_t len)
{
	CHECK(ip[0] >> 4 == 6, "GRH: version %u, not 6", ip[0] >> 4);
	CHECK((size_t)(ip[4] << 8 | ip[5]) == len, "GRH: payload length %u",
	      ip[4] << 8 | ip[5]);
	CHECK(!memcmp(ip + 8, p->a.dev->gid.raw, 16), "GRH: wrong SGID");
	CHECK(!memcmp(ip + 24, p->b.dev->gid.raw, 16), "GRH: wrong DGID");
	return NULL;
}

static why_t check_grh(const uint8_t *grh, const struct vt_pair *p,
		       const struct xfer *x)
{
	/* UDP, BTH, DETH, immediate, payload and its padding, ICRC */
	size_t len = 8 + 12 + 8 + (x->op->imm ? 4 : 0) +
		     ((x->len + 3) & ~3U) + 4;

	if (vt_opts.family == 4)
		return check_ipv4(grh + 20, p, len);
	return check_ipv6(grh, p, len);
}

static why_t check_send_wc(const struct vt_pair *p, const struct xfer *x,
			   const struct ibv_wc *wc)
{
	CHECK(wc->opcode == x->op->wc, "send wc: opcode %d, not %d",
	      wc->opcode, x->op->wc);
	CHECK(wc->qp_num == p->a.qp->qp_num, "send wc: qp_num %u", wc->qp_num);
	if (x->op->wr == IBV_WR_RDMA_READ)
		CHECK(wc->byte_len == x->len, "send wc: byte_len %u, not %u",
		      wc->byte_len, x->len);
	return NULL;
}

static why_t check_recv_wc(const struct vt_pair *p, const struct xfer *x,
			   const struct ibv_wc *wc)
{
	bool ud = p->conf.type == IBV_QPT_UD;
	enum ibv_wc_opcode op = x->op->rdma ? IBV_WC_RECV_RDMA_WITH_IMM :
					      IBV_WC_RECV;

	CHECK(wc->opcode == op, "recv wc: opcode %d, not %d", wc->opcode, op);
	CHECK(wc->qp_num == p->b.qp->qp_num, "recv wc: qp_num %u", wc->qp_num);
	CHECK(wc->byte_len == x->len + (ud ? VT_GRH : 0),
	      "recv wc: byte_len %u for %u bytes", wc->byte_len, x->len);
	CHECK(!!(wc->wc_flags & IBV_WC_WITH_IMM) == x->op->imm,
	      "recv wc: IBV_WC_WITH_IMM %s", x->op->imm ? "missing" : "set");
	CHECK(!x->op->imm || ntohl(wc->imm_data) == XFER_IMM,
	      "recv wc: imm_data %08x", ntohl(wc->imm_data));
	if (!ud)
		return NULL;	/* the rest is valid for UD only */
	CHECK(wc->wc_flags & IBV_WC_GRH, "recv wc: IBV_WC_GRH missing");
	CHECK(wc->src_qp == p->a.qp->qp_num, "recv wc: src_qp %u", wc->src_qp);
	CHECK(wc->pkey_index == 0, "recv wc: pkey_index %u", wc->pkey_index);
	return NULL;
}

/* Returns whether the receiver has got the message. */
static bool arrived(struct vt_pair *p, const struct xfer *x, struct ibv_wc *wc,
		    why_t *why)
{
	int ms = p->conf.type == IBV_QPT_RC ? VT_LONG : 3000;

	if (x->op->wr == IBV_WR_RDMA_READ)
		*why = vt_buf_check(&p->a.buf);
	else if (x->op->recv)
		*why = vt_poll(p->b.rcq, wc, ms);
	else if (p->conf.type == IBV_QPT_RC)
		*why = vt_buf_check(&p->b.buf);
	else
		*why = vt_buf_wait(&p->b.buf, ms);
	return !*why;
}

static why_t send_until_arrived(struct vt_pair *p, const struct xfer *x,
				struct ibv_send_wr *wr, struct ibv_wc *rwc)
{
	int tries = p->conf.type == IBV_QPT_RC ? 1 : TRIES;
	struct ibv_wc wc;
	why_t why = NULL;

	while (tries--) {
		TRY(vt_post_send(&p->a, wr));
		if (x->inl)	/* the payload was taken at once */
			vt_fill(p->a.buf.data, p->a.buf.len, x->seed + 99);
		if (p->a.conf->sig_all || wr->send_flags & IBV_SEND_SIGNALED) {
			TRY(vt_poll_ok(p->a.scq, &wc, wr->wr_id));
			TRY(check_send_wc(p, x, &wc));
		}
		if (x->inl)
			memcpy(p->a.buf.data, p->a.buf.shadow, p->a.buf.len);
		if (arrived(p, x, rwc, &why))
			return NULL;
	}
	return why;
}

static why_t check_received(struct vt_pair *p, const struct xfer *x,
			    const struct list *rl, const struct ibv_wc *wc)
{
	uint8_t *all;
	why_t why;

	CHECK(wc->status == IBV_WC_SUCCESS, "receive completes with %s",
	      ibv_wc_status_str(wc->status));
	CHECK(wc->wr_id == x->seed + 1, "recv wc: wrong wr_id");
	TRY(check_recv_wc(p, x, wc));
	if (p->conf.type != IBV_QPT_UD)
		return NULL;

	/* The header is judged by its meaning; then its bytes are accepted. */
	all = malloc(rl->len);
	CHECK(all, "out of memory");
	gather(&p->b.buf, rl, all);
	why = check_grh(all, p, x);
	expect(&p->b.buf, rl, 0, all, VT_GRH);
	free(all);
	return why;
}

static why_t post_receive(struct vt_pair *p, const struct xfer *x,
			  struct list *rl, uint64_t *rnd)
{
	uint32_t grh = p->conf.type == IBV_QPT_UD ? VT_GRH : 0;
	uint32_t slack = vt_below(rnd, 2) ? vt_below(rnd, GAP) : 0;

	lay_out(rl, &p->b.buf, x->len + grh + slack, x->rsges, x->spread, rnd);
	if (x->op->rdma)
		/* the list isn't used: the data goes where the writer says */
		rl->num = MIN(rl->num, (int)vt_below(rnd, 2));
	return vt_post_recv(&p->b, x->seed + 1, rl->sge, rl->num);
}

static void aim_at(struct vt_pair *p, struct ibv_send_wr *wr, size_t off)
{
	vt_aim(&p->a, &p->b, wr);
	if (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM)
		wr->wr.rdma.remote_addr += off;
}

static void expect_message(struct vt_pair *p, const struct xfer *x,
			   const struct list *l, const struct list *rl,
			   size_t roff, uint8_t *msg)
{
	uint32_t grh = p->conf.type == IBV_QPT_UD ? VT_GRH : 0;

	if (x->op->wr == IBV_WR_RDMA_READ) {
		expect(&p->a.buf, l, 0, p->b.buf.data + roff, x->len);
		return;
	}
	gather(&p->a.buf, l, msg);
	if (x->op->rdma)
		memcpy(p->b.buf.shadow + roff, msg, x->len);
	else
		expect(&p->b.buf, rl, grh, msg, x->len);
}

why_t xfer_do(struct vt_pair *p, const struct xfer *x)
{
	uint64_t rnd = x->seed * 2654435761ULL + 1;
	size_t roff = x->spread ? vt_below(&rnd, GAP) : 0;
	struct list l, rl = {};
	struct ibv_send_wr wr = {
		.wr_id = x->seed,
		.opcode = x->op->wr,
		.send_flags = x->flags | (x->inl ? IBV_SEND_INLINE : 0),
		.imm_data = x->op->imm ? htonl(XFER_IMM) : 0,
		.sg_list = l.sge,
	};
	struct ibv_wc rwc;
	uint8_t *msg;
	int i;

	vt_buf_fill(&p->a.buf, x->seed);
	vt_buf_fill(&p->b.buf, x->seed + 1000000);
	lay_out(&l, &p->a.buf, x->len, x->sges, x->spread, &rnd);
	if (!x->len && vt_below(&rnd, 2))
		l.num = 0;
	wr.num_sge = l.num;
	for (i = 0; x->inl && i < l.num; i++)
		l.sge[i].lkey = 0xbad;	/* not looked at */
	if (x->op->recv)
		TRY(post_receive(p, x, &rl, &rnd));
	aim_at(p, &wr, roff);

	msg = malloc(x->len + 1);
	CHECK(msg, "out of memory");
	expect_message(p, x, &l, &rl, roff, msg);
	free(msg);

	TRY(send_until_arrived(p, x, &wr, &rwc));
	if (x->op->recv)
		TRY(check_received(p, x, &rl, &rwc));
	TRY(vt_buf_check(&p->a.buf));
	return vt_buf_check(&p->b.buf);
}
