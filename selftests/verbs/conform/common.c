// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the rows of the conformance test have in common. */

#include <arpa/inet.h>
#include "conform.h"

/* The verdict of a call that returns an object or NULL */
why_t cf_got(struct cf *t, const void *object)
{
	CHECK(object || errno, "it fails without errno");
	t->err = object ? 0 : errno;
	return NULL;
}

void cf_fill(struct cf *t)
{
	vt_buf_fill(&t->p->a.buf, 1);
	vt_buf_fill(&t->p->b.buf, 2);
}

/* A request of A, aimed at B; its list is of the beginning of A's buffer. */
struct ibv_send_wr cf_wr(struct cf *t, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct ibv_send_wr wr = {
		.wr_id = CF_WR, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = t->sge, .num_sge = 1,
	};

	if (opcode == IBV_WR_SEND_WITH_IMM ||
	    opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		wr.imm_data = htonl(CF_IMM);
	t->sge[0] = vt_sge(&t->p->a.buf, 0, len);
	vt_aim(&t->p->a, &t->p->b, &wr);
	return wr;
}

/* Post as the case itself: its errno is the verdict. */
why_t cf_post_send(struct cf *t, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;

	t->err = abs(ibv_post_send(t->p->a.qp, wr, &bad));
	return NULL;
}

/* Post for the case, and see it complete. */
why_t cf_post_good(struct cf *t, struct ibv_send_wr *wr)
{
	TRY(vt_post_send(&t->p->a, wr));
	return vt_poll_status(t->p->a.scq, wr->wr_id, IBV_WC_SUCCESS, "A");
}

why_t cf_recv(struct cf *t)
{
	return vt_post_recv_at(&t->p->b, CF_RECV, 0, CF_LEN + VT_GRH);
}

/* The message is in B's buffer; on UD behind the 40 bytes. */
why_t cf_arrived(struct cf *t)
{
	uint32_t grh = t->p->conf.type == IBV_QPT_UD ? VT_GRH : 0;

	memcpy(t->p->b.buf.shadow, t->p->b.buf.data, grh);
	memcpy(t->p->b.buf.shadow + grh, t->p->a.buf.data, CF_LEN);
	return vt_buf_wait(&t->p->b.buf, 5000);
}

/* Nothing has changed in either buffer. */
why_t cf_sent(struct cf *t)
{
	TRY(vt_buf_check(&t->p->a.buf));
	return vt_buf_check(&t->p->b.buf);
}

/* An ordinary message from A to B, as the case itself */
why_t cf_message(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	TRY(cf_recv(t));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	return cf_post_send(t, &wr);
}

/* B receives from an SRQ of 64, which the engine destroys. */
void cf_with_srq(struct vt_conf *c)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 64, .max_sge = 2 },
	};

	c->srq[1] = ibv_create_srq(vt_devs[1].pd, &init);
}

/* Either side's memory may have windows. */
void cf_bindable(struct vt_conf *c)
{
	c->mr_access |= IBV_ACCESS_MW_BIND;
}

/* A window of type 2 onto the beginning of a buffer; its key is in t->key. */
why_t cf_bind(struct cf *t, struct vt_ep *ep, uint32_t len, int access)
{
	struct ibv_send_wr wr = {
		.wr_id = 0xb1, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.bind_info = {
				.mr = ep->buf.mr, .length = len,
				.addr = (uintptr_t)ep->buf.data,
				.mw_access_flags = access,
			},
		},
	};

	t->mw = ibv_alloc_mw(ep->dev->pd, IBV_MW_TYPE_2);
	CHECK(t->mw, "ibv_alloc_mw: %s", strerror(errno));
	t->key = ibv_inc_rkey(t->mw->rkey);
	wr.bind_mw.mw = t->mw;
	wr.bind_mw.rkey = t->key;
	TRY(vt_post_send(ep, &wr));
	TRY(vt_poll_status(ep->scq, 0xb1, IBV_WC_SUCCESS, "the binder"));
	t->mw->rkey = t->key;
	return NULL;
}

uint64_t cf_word(const struct vt_buf *b, size_t off)
{
	uint64_t x;

	memcpy(&x, b->data + off, sizeof(x));
	return x;
}
