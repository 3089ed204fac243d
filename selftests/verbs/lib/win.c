// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory windows: an endpoint binds, its peer uses. */

#include "win.h"

why_t win_open(struct win *w, struct ibv_pd *pd, enum ibv_mw_type type)
{
	w->mw = ibv_alloc_mw(pd, type);
	CHECK(w->mw, "ibv_alloc_mw: %s", strerror(errno));
	w->rkey = w->mw->rkey;
	return NULL;
}

/* Deallocate it after a test that ended with @why, and say what failed first. */
why_t win_end(struct win *w, why_t why)
{
	int err = w->mw ? ibv_dealloc_mw(w->mw) : 0;

	if (why)
		return why;
	CHECK(!err, "ibv_dealloc_mw: %s", strerror(err));
	return NULL;
}

why_t win_close(struct win *w)
{
	return win_end(w, NULL);
}

/* Bind by a work request, whatever the library would check before. */
why_t win_post_bind(struct vt_ep *ep, struct win *w, size_t off, size_t len, int access)
{
	struct ibv_send_wr wr = {
		.wr_id = 0xb1, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = w->mw, .rkey = ibv_inc_rkey(w->rkey),
			.bind_info = {
				.mr = ep->buf.mr,
				.addr = (uintptr_t)ep->buf.data + off,
				.length = len, .mw_access_flags = access,
			},
		},
	};

	w->rkey = wr.bind_mw.rkey;
	return vt_post_send(ep, &wr);
}

why_t win_bind(struct vt_ep *ep, struct win *w, size_t off, size_t len, int access)
{
	struct ibv_wc wc;

	TRY(win_post_bind(ep, w, off, len, access));
	TRY(vt_poll_ok(ep->scq, &wc, 0xb1));
	CHECK(wc.opcode == IBV_WC_BIND_MW, "opcode %d of a bind", wc.opcode);
	w->mw->rkey = w->rkey;
	return NULL;
}

/* A window of type 2 onto all of the endpoint's buffer */
why_t win_open_bound(struct vt_ep *ep, struct win *w, int access)
{
	TRY(win_open(w, ep->dev->pd, IBV_MW_TYPE_2));
	return win_bind(ep, w, 0, ep->buf.len, access);
}

/* By the library's own call, which is for windows of type 1 */
why_t win_bind_1(struct vt_ep *ep, struct win *w, const struct vt_buf *buf, size_t off,
		 size_t len, int access)
{
	struct ibv_mw_bind how = {
		.wr_id = 0xb2, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = buf->mr, .addr = (uintptr_t)buf->data + off,
			.length = len, .mw_access_flags = access,
		},
	};
	struct ibv_wc wc;
	int err = ibv_bind_mw(ep->qp, w->mw, &how);

	CHECK(!err, "ibv_bind_mw: %s", strerror(err));
	TRY(vt_poll_ok(ep->scq, &wc, 0xb2));
	CHECK(w->mw->rkey != w->rkey, "bound under the key that it had");
	w->rkey = w->mw->rkey;
	return NULL;
}

why_t win_use(struct vt_ep *ep, enum ibv_wr_opcode opcode, uint64_t addr, uint32_t rkey,
	      uint32_t len, enum ibv_wc_status status)
{
	struct ibv_sge sge = vt_sge(&ep->buf, 0, len);
	struct ibv_send_wr wr = {
		.wr_id = 0xa1, .opcode = opcode, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};

	/* the address is in the same place */
	if (opcode >= IBV_WR_ATOMIC_CMP_AND_SWP)
		wr.wr.atomic.rkey = rkey;
	TRY(vt_post_send(ep, &wr));
	return vt_poll_status(ep->scq, 0xa1, status, "the user");
}

why_t win_write(struct vt_pair *p, const struct win *w, size_t off, uint32_t len,
		enum ibv_wc_status status)
{
	vt_buf_fill(&p->a.buf, off + len);
	if (status == IBV_WC_SUCCESS)
		memcpy(p->b.buf.shadow + off, p->a.buf.data, len);
	TRY(win_use(&p->a, IBV_WR_RDMA_WRITE, (uintptr_t)p->b.buf.data + off, w->rkey, len,
		    status));
	return vt_buf_check(&p->b.buf);
}

why_t win_invalidate(struct vt_ep *ep, enum ibv_wr_opcode opcode, uint32_t rkey,
		     enum ibv_wc_status status)
{
	struct ibv_send_wr wr = {
		.wr_id = 0xc1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = rkey,
	};

	TRY(vt_post_send(ep, &wr));
	return vt_poll_status(ep->scq, 0xc1, status, "invalidation");
}
