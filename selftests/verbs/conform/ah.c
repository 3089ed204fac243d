// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* ibv_create_ah(3) with its relatives; ibv_attach_mcast(3) */

#include "conform.h"

static struct ibv_ah_attr attr_of(struct cf *t, const union ibv_gid *dgid)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = VT_PORT,
		.grh = { .dgid = *dgid, .sgid_index = t->dev->gid_index,
			 .hop_limit = 64 },
	};

	return attr;
}

static why_t create(struct cf *t, struct ibv_ah_attr *attr)
{
	errno = 0;
	t->ah = ibv_create_ah(t->dev->pd, attr);
	return cf_got(t, t->ah);
}

#define AH(fn, what)							\
	static why_t fn(struct cf *t)					\
	{								\
		struct ibv_ah_attr attr = attr_of(t, &vt_devs[1].gid);	\
									\
		attr.what;						\
		return create(t, &attr);				\
	}

AH(plain, src_path_bits = 0)
AH(classy, grh.traffic_class = 0x68)
AH(flow, grh.flow_label = 0xfffff)
AH(level, sl = 5)
AH(no_grh, is_global = 0)
AH(port_0, port_num = 0)
AH(port_2, port_num = 2)
AH(sgid_far, grh.sgid_index = MIN(255, t->dev->port.gid_tbl_len))
AH(sgid_empty, grh.sgid_index = MIN(255, t->dev->port.gid_tbl_len - 1))

static why_t pd_of_ah(struct cf *t)
{
	struct ibv_ah_attr attr = attr_of(t, &vt_devs[1].gid);
	struct ibv_ah *ah;

	t->pd = ibv_alloc_pd(t->dev->ctx);
	CHECK(t->pd, "ibv_alloc_pd: %s", strerror(errno));
	ah = ibv_create_ah(t->pd, &attr);
	CHECK(ah, "ibv_create_ah: %s", strerror(errno));
	t->err = ibv_dealloc_pd(t->pd);
	if (!t->err)
		t->pd = NULL;
	CHECK(!ibv_destroy_ah(ah), "ibv_destroy_ah");
	return NULL;
}

/* B answers to what it has received: a message to A, by an AH from the wc */
static why_t from_wc(struct cf *t)
{
	struct ibv_send_wr wr = {
		.wr_id = 7, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = t->sge, .num_sge = 1,
		.wr.ud.remote_qkey = VT_QKEY,
	};
	struct vt_ep *b = &t->p->b;
	struct ibv_ah_attr attr;
	struct ibv_wc wc;
	int err;

	TRY(cf_message(t));
	TRY(vt_poll_ok(b->rcq, &wc, CF_RECV));
	vt_enter_netns(b->dev);
	err = ibv_init_ah_from_wc(b->dev->ctx, VT_PORT, &wc,
				  (struct ibv_grh *)b->buf.data, &attr);
	CHECK(!err, "ibv_init_ah_from_wc: %d", err);
	CHECK(attr.is_global &&
	      !memcmp(&attr.grh.dgid, &t->dev->gid, 16), "another address");
	t->ah = ibv_create_ah_from_wc(b->dev->pd, &wc,
				      (struct ibv_grh *)b->buf.data, VT_PORT);
	TRY(cf_got(t, t->ah));
	CHECK(t->ah, "ibv_create_ah_from_wc: %s", strerror(errno));
	TRY(vt_post_recv_at(&t->p->a, 9, 4000, CF_LEN + VT_GRH));
	t->sge[0] = vt_sge(&b->buf, 0, CF_LEN);
	wr.wr.ud.ah = t->ah;
	wr.wr.ud.remote_qpn = wc.src_qp;
	TRY(vt_post_send(b, &wr));
	TRY(vt_poll_status(b->scq, 7, IBV_WC_SUCCESS, "the answer"));
	return vt_poll_status(t->p->a.rcq, 9, IBV_WC_SUCCESS, "its receiver");
}

/* Groups */

static why_t attach_group(struct cf *t)
{
	union ibv_gid gid = vt_group(2, 1);

	t->err = ibv_attach_mcast(t->p->b.qp, &gid, 0);
	return NULL;
}

/* A sends to a group; on success the wc is the row's. */
static why_t send_to(struct cf *t, int n)
{
	union ibv_gid gid = vt_group(2, n);
	struct ibv_ah_attr attr = attr_of(t, &gid);
	struct ibv_send_wr wr;

	if (!t->ah)
		t->ah = ibv_create_ah(t->dev->pd, &attr);
	CHECK(t->ah, "ibv_create_ah of a group: %s", strerror(errno));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	wr.wr.ud.ah = t->ah;
	wr.wr.ud.remote_qpn = 0xffffff;
	return cf_post_send(t, &wr);
}

static why_t member(struct cf *t)
{
	union ibv_gid gid = vt_group(2, 2);
	int i, err;

	cf_fill(t);
	/* one for a second copy, if there is one */
	TRY(cf_recv(t));
	TRY(cf_recv(t));
	for (i = 0; i <= t->row->arg; i++) {
		err = ibv_attach_mcast(t->p->b.qp, &gid, 0);
		CHECK(!err, "ibv_attach_mcast: %s", strerror(err));
	}
	return send_to(t, 2);
}

/* One copy, and none once it has left */
static why_t leaves(struct cf *t)
{
	union ibv_gid gid = vt_group(2, 2);
	int err;

	TRY(cf_arrived(t));
	TRY(vt_quiet(t->p->b.rcq, 200));
	err = ibv_detach_mcast(t->p->b.qp, &gid, 0);
	CHECK(!err, "ibv_detach_mcast: %s", strerror(err));
	TRY(send_to(t, 2));
	TRY(vt_poll_status(t->p->a.scq, CF_WR, IBV_WC_SUCCESS, "A"));
	return vt_quiet(t->p->b.rcq, 200);
}

static why_t detach_stranger(struct cf *t)
{
	union ibv_gid gid = vt_group(2, 3);

	t->err = ibv_detach_mcast(t->p->b.qp, &gid, 0);
	return NULL;
}

static why_t detach_twice(struct cf *t)
{
	union ibv_gid gid = vt_group(2, 4);

	CHECK(!ibv_attach_mcast(t->p->b.qp, &gid, 0), "ibv_attach_mcast");
	CHECK(!ibv_detach_mcast(t->p->b.qp, &gid, 0), "ibv_detach_mcast");
	t->err = ibv_detach_mcast(t->p->b.qp, &gid, 0);
	return NULL;
}

static why_t attach_unicast(struct cf *t)
{
	t->err = ibv_attach_mcast(t->p->b.qp, &t->p->a.dev->gid, 0);
	return NULL;
}

static why_t other_group(struct cf *t)
{
	union ibv_gid gid = vt_group(2, 5);

	cf_fill(t);
	TRY(cf_recv(t));
	CHECK(!ibv_attach_mcast(t->p->b.qp, &gid, 0), "ibv_attach_mcast");
	return send_to(t, 6);
}

static why_t not_there(struct cf *t)
{
	union ibv_gid gid = vt_group(2, 5);

	TRY(vt_quiet(t->p->b.rcq, 200));
	CHECK(!ibv_detach_mcast(t->p->b.qp, &gid, 0), "ibv_detach_mcast");
	return cf_sent(t);
}

#define GOOD(name_, fn)							\
	{ "ibv_create_ah", "GRH attributes", name_, fn,			\
	  .stage = CF_DEVICE, .err = 0 }
#define BAD(name_, fn, also)						\
	{ "ibv_create_ah", "NULL if the request fails", name_, fn,	\
	  .stage = CF_DEVICE, .err = EINVAL, .or_err = also }

static const struct cf_row rows[] = {
	GOOD("to a GID", plain), GOOD("traffic_class", classy),
	GOOD("flow_label", flow), GOOD("sl", level),
	{ "ibv_create_ah", "with IBV_QPF_GRH_REQUIRED is_global must be 1",
	  "is_global 0", no_grh, .stage = CF_DEVICE, .err = EINVAL },
	BAD("port_num 0", port_0, 0), BAD("port_num 2", port_2, 0),
	BAD("sgid_index out of the table", sgid_far, ENODATA),
	BAD("sgid_index of an empty entry", sgid_empty, ENODATA),
	{ "ibv_dealloc_pd", "may fail if another resource is associated with it",
	  "PD of an AH; ibv_destroy_ah frees it", pd_of_ah,
	  .stage = CF_DEVICE, .err = EBUSY },
	{ "ibv_create_ah_from_wc", "an AH of the sender",
	  "answer a message: ibv_init_ah_from_wc, ibv_create_ah_from_wc",
	  from_wc, .type = IBV_QPT_UD, .wc = CF_IS(IBV_WC_SUCCESS) },
};

CF_TABLE(150, "Address handles", rows);

static const struct cf_row groups[] = {
	{ "ibv_attach_mcast", "attaches the QP to the group",
	  "message to the group; none after ibv_detach_mcast()", member, 0,
	  .type = IBV_QPT_UD, .wc = CF_IS(IBV_WC_SUCCESS),
	  .recv = CF_IS(IBV_WC_SUCCESS), .after = leaves },
	{ "ibv_attach_mcast", "attached many times it gets a single copy",
	  "attached twice", member, 1, .type = IBV_QPT_UD,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = CF_IS(IBV_WC_SUCCESS),
	  .after = leaves },
	{ "ibv_attach_mcast", "the group having MGID gid", "another group",
	  other_group, .type = IBV_QPT_UD, .wc = CF_IS(IBV_WC_SUCCESS),
	  .after = not_there },
	{ "ibv_attach_mcast", "only UD QPs", "RC QP", attach_group,
	  .type = IBV_QPT_RC, .err = EINVAL },
	{ "ibv_attach_mcast", "only UD QPs", "UC QP", attach_group,
	  .type = IBV_QPT_UC, .err = EINVAL },
	{ "ibv_attach_mcast", "MGID", "a GID that is no group's",
	  attach_unicast, .type = IBV_QPT_UD, .err = EINVAL },
	{ "ibv_detach_mcast", "detaches from the group", "never attached",
	  detach_stranger, .type = IBV_QPT_UD, .err = EINVAL },
	{ "ibv_detach_mcast", "detaches from the group", "detached twice",
	  detach_twice, .type = IBV_QPT_UD, .err = EINVAL },
};

CF_TABLE(160, "Multicast", groups);
