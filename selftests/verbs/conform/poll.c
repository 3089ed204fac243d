// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_poll_cq(3): each status that can come about, with the states and events
 * that go with it (IBTA 9.9, 10.10, 11.6.2), and what a completion says. And the
 * flags of ibv_post_send(3).
 */

#include <poll.h>
#include "conform.h"

/* Errors of requests: row->arg says how one is spoilt. */

enum spoil {
	LKEY, LOCAL_RANGE, LOCAL_PD, RKEY, KEYS, REMOTE_RANGE, RIGHTS, STALE, OTHER_PD,
};

static why_t another_pd(struct cf *t, const struct vt_ep *ep)
{
	t->pd = ibv_alloc_pd(ep->dev->ctx);
	CHECK(t->pd, "ibv_alloc_pd: %s", strerror(errno));
	t->mr = ibv_reg_mr(t->pd, ep->buf.data, ep->buf.len, VT_ALL_ACCESS);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	t->key = t->mr->rkey;
	return NULL;
}

static why_t stale(struct cf *t)
{
	struct ibv_mr *mr = ibv_reg_mr(t->p->b.dev->pd, t->p->b.buf.data,
				       t->p->b.buf.len, VT_ALL_ACCESS);

	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	t->key = mr->rkey;
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	return NULL;
}

static why_t spoilt(struct cf *t, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct ibv_send_wr wr;
	uint32_t *rkey;

	cf_fill(t);
	wr = cf_wr(t, opcode, len);
	rkey = opcode >= IBV_WR_ATOMIC_CMP_AND_SWP ? &wr.wr.atomic.rkey :
						     &wr.wr.rdma.rkey;
	switch (t->row->arg) {
	case LKEY:
		t->sge[0].lkey ^= 0x55;
		break;
	case LOCAL_RANGE:
		t->sge[0].addr -= 8;
		break;
	case KEYS:
		t->sge[0].lkey ^= 0x55;
		/* fall through */
	case LOCAL_PD:
		TRY(another_pd(t, &t->p->a));
		t->sge[0].lkey = t->mr->lkey;
		break;
	case RKEY:
		*rkey ^= 0x55;
		break;
	case REMOTE_RANGE:
		wr.wr.rdma.remote_addr += t->p->b.buf.len - len + 8;
		break;
	case STALE:
		TRY(stale(t));
		*rkey = t->key;
		break;
	case OTHER_PD:
		TRY(another_pd(t, &t->p->b));
		*rkey = t->key;
		break;
	default:
		break;
	}
	return cf_post_send(t, &wr);
}

static why_t bad_write(struct cf *t)
{
	return spoilt(t, IBV_WR_RDMA_WRITE, CF_LEN);
}

static why_t bad_write_imm(struct cf *t)
{
	TRY(cf_recv(t));
	return spoilt(t, IBV_WR_RDMA_WRITE_WITH_IMM, CF_LEN);
}

static why_t bad_read(struct cf *t)
{
	return spoilt(t, IBV_WR_RDMA_READ, CF_LEN);
}

static why_t bad_swap(struct cf *t)
{
	return spoilt(t, IBV_WR_ATOMIC_CMP_AND_SWP, 8);
}

static why_t bad_add(struct cf *t)
{
	return spoilt(t, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
}

static why_t long_swap(struct cf *t)
{
	return spoilt(t, IBV_WR_ATOMIC_CMP_AND_SWP, 9);
}

static why_t long_add(struct cf *t)
{
	return spoilt(t, IBV_WR_ATOMIC_FETCH_AND_ADD, 9);
}

static why_t bad_send(struct cf *t)
{
	return spoilt(t, IBV_WR_SEND, CF_LEN);
}

#define LACK_MR(fn, right)						\
	static void fn(struct vt_conf *c)				\
	{								\
		c->mr_access &= ~IBV_ACCESS_##right;			\
	}
#define LACK_QP(fn, right)						\
	static void fn(struct vt_conf *c)				\
	{								\
		c->qp_access &= ~IBV_ACCESS_##right;			\
	}

LACK_MR(mr_no_write, REMOTE_WRITE)
LACK_MR(mr_no_read, REMOTE_READ)
LACK_MR(mr_no_atomic, REMOTE_ATOMIC)
LACK_QP(qp_no_write, REMOTE_WRITE)
LACK_QP(qp_no_read, REMOTE_READ)
LACK_QP(qp_no_atomic, REMOTE_ATOMIC)

static void no_responder(struct vt_conf *c)
{
	c->dest_rd = 0;
}

static void impatient(struct vt_conf *c)
{
	c->rnr_retry = 1;
	c->min_rnr = 1;
	c->timeout = 10;
	c->retry = 1;
}

/* What is lost isn't missed before the peer's answer has been made up. */
static void patient(struct vt_conf *c)
{
	c->timeout = 20;
}

/* Errors of receives */

static why_t short_recv(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	TRY(vt_post_recv_at(&t->p->b, CF_RECV, 0, CF_LEN - 1));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	return cf_post_send(t, &wr);
}

static why_t bad_recv(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	t->sge[1] = vt_sge(&t->p->b.buf, 0, CF_LEN);
	t->sge[1].lkey ^= 0x55;
	TRY(vt_post_recv(&t->p->b, CF_RECV, &t->sge[1], 1));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	return cf_post_send(t, &wr);
}

/* A message of row->arg bytes into a receive that is longer than its MR of CF_LEN */
static why_t recv_beyond(struct cf *t)
{
	struct vt_buf *buf = &t->p->b.buf;
	struct ibv_send_wr wr;

	cf_fill(t);
	t->mr = ibv_reg_mr(t->p->b.dev->pd, buf->data, CF_LEN, IBV_ACCESS_LOCAL_WRITE);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	t->sge[1] = vt_sge(buf, 0, 2 * CF_LEN);
	t->sge[1].lkey = t->mr->lkey;
	TRY(vt_post_recv(&t->p->b, CF_RECV, &t->sge[1], 1));
	wr = cf_wr(t, IBV_WR_SEND, t->row->arg);
	return cf_post_send(t, &wr);
}

/* The answer finds memory that may not be written. */
static why_t to_readonly(struct cf *t, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	t->mr = ibv_reg_mr(t->dev->pd, t->p->a.buf.data, CF_LEN, 0);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	wr = cf_wr(t, opcode, len);
	t->sge[0].lkey = t->mr->lkey;
	return cf_post_send(t, &wr);
}

static why_t read_to_readonly(struct cf *t)
{
	return to_readonly(t, IBV_WR_RDMA_READ, CF_LEN);
}

static why_t add_to_readonly(struct cf *t)
{
	return to_readonly(t, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
}

static why_t no_recv(struct cf *t)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_SEND, CF_LEN);

	return cf_post_send(t, &wr);
}

static why_t no_peer(struct cf *t)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_SEND, CF_LEN);

	TRY(vt_ep_state(&t->p->b, IBV_QPS_RESET));
	return cf_post_send(t, &wr);
}

#define READ_ONLY	0x10	/* READ response only, table 38 */

/* A READ of 100 bytes is answered, but with row->arg of them. */
static why_t false_answer(struct cf *t)
{
	struct ibv_send_wr wr;
	/* AETH: an ACK without credits, the first message */
	uint8_t ext[4 + 128] = { 0x1f, 0, 0, 1 };

	cf_fill(t);
	wr = cf_wr(t, IBV_WR_RDMA_READ, 100);
	TRY(vt_ep_state(&t->p->b, IBV_QPS_RESET));
	TRY(cf_post_send(t, &wr));
	return cf_forge(t, READ_ONLY, 0xffff, t->p->a.psn, ext,
			4 + t->row->arg);
}

static why_t ud_too_long(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	TRY(cf_recv(t));
	wr = cf_wr(t, IBV_WR_SEND, vt_mtu_bytes(t->p->conf.mtu) + 1);
	return cf_post_send(t, &wr);
}

static why_t ud_foreign_ah(struct cf *t)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = VT_PORT,
		.grh = { .dgid = t->p->b.dev->gid, .hop_limit = 64,
			 .sgid_index = t->dev->gid_index },
	};
	struct ibv_send_wr wr;

	t->pd = ibv_alloc_pd(t->dev->ctx);
	CHECK(t->pd, "ibv_alloc_pd: %s", strerror(errno));
	t->ah = ibv_create_ah(t->pd, &attr);
	CHECK(t->ah, "ibv_create_ah: %s", strerror(errno));
	cf_fill(t);
	TRY(cf_recv(t));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	wr.wr.ud.ah = t->ah;
	return cf_post_send(t, &wr);
}

static why_t ud_wrong_qkey(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	TRY(cf_recv(t));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	wr.wr.ud.remote_qkey ^= 1;
	return cf_post_send(t, &wr);
}

static why_t peer_quiet(struct cf *t)
{
	TRY(vt_quiet(t->p->b.rcq, 200));
	return cf_sent(t);
}

static why_t flushed(struct cf *t)
{
	TRY(vt_post_recv_at(&t->p->b, CF_RECV, 0, CF_LEN));
	return vt_ep_state(&t->p->b, IBV_QPS_ERR);
}

static why_t flushed_send(struct cf *t)
{
	struct ibv_send_wr first = cf_wr(t, IBV_WR_SEND, 8), wr = first;

	/* nobody receives the first, so the other stays as well */
	TRY(vt_post_send(&t->p->a, &first));
	TRY(cf_post_send(t, &wr));
	TRY(vt_ep_state(&t->p->a, IBV_QPS_ERR));
	return vt_poll_status(t->p->a.scq, CF_WR, IBV_WC_WR_FLUSH_ERR, "first");
}

/* After SQE the receive queue works, and RTS can be had again. */
static why_t sqe_recovers(struct cf *t)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	int err = ibv_modify_qp(t->p->a.qp, &attr, IBV_QP_STATE);

	CHECK(!err, "from SQE to RTS: %s", strerror(err));
	return vt_ping(t->p);
}

/* Polling */

static why_t writes(struct cf *t, int n)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_RDMA_WRITE, 8);
	int i;

	for (i = 0; i < n; i++) {
		wr.wr_id = 70 + i;
		TRY(vt_post_send(&t->p->a, &wr));
	}
	vt_sleep_ms(300);
	return NULL;
}

static why_t poll_some(struct cf *t)
{
	struct ibv_wc wc[8];
	int n, i;

	n = ibv_poll_cq(t->p->a.scq, 8, wc);
	CHECK(n == 0, "%d completions in an empty CQ", n);
	TRY(writes(t, 5));
	n = ibv_poll_cq(t->p->a.scq, 2, wc);
	CHECK(n == 2, "%d of 2 completions", n);
	n = ibv_poll_cq(t->p->a.scq, 8, wc + 2);
	CHECK(n == 3, "%d of the other 3 completions", n);
	for (i = 0; i < 3; i++)
		CHECK(wc[2 + i].wr_id == 72U + i && !wc[2 + i].status,
		      "wr %d: %s", (int)wc[2 + i].wr_id,
		      ibv_wc_status_str(wc[2 + i].status));
	n = ibv_poll_cq(t->p->a.scq, 8, wc);
	CHECK(n == 0, "%d completions twice", n);
	return NULL;
}

static why_t poll_none(struct cf *t)
{
	struct ibv_wc wc;
	int n;

	TRY(writes(t, 1));
	n = ibv_poll_cq(t->p->a.scq, 0, &wc);
	CHECK(n == 0, "%d completions", n);
	return vt_poll_ok(t->p->a.scq, &wc, 70);
}

static why_t overrun(struct cf *t)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_RDMA_WRITE, 8);
	struct ibv_send_wr *bad;
	int i, n = t->p->a.scq->cqe + 20;

	/* some at a time: not more than the send queue takes */
	for (i = 0; i < n; i++) {
		if (ibv_post_send(t->p->a.qp, &wr, &bad))
			break;
		if (i % 8 == 7)
			vt_sleep_ms(5);
	}
	return NULL;
}

static void small_cq(struct vt_conf *c)
{
	c->cqe = 32;
	c->send_wr = 128;
}

static why_t qp_fatal(struct cf *t)
{
	TRY(vt_event(t->dev, IBV_EVENT_QP_FATAL, t->p->a.qp, 5000));
	return vt_ep_is(&t->p->a, IBV_QPS_ERR);
}

static why_t no_csum(struct cf *t)
{
	CHECK(!(t->dev->attr.device_cap_flags & IBV_DEVICE_UD_IP_CSUM),
	      "claims IBV_DEVICE_UD_IP_CSUM");
	CHECK(!(t->rwc.wc_flags & IBV_WC_IP_CSUM_OK), "IBV_WC_IP_CSUM_OK set");
	return cf_arrived(t);
}

/* A GID of IPv4 is an address mapped into IPv6. */
static why_t names_header(struct cf *t)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	int sl = memcmp(t->dev->gid.raw, mapped, sizeof(mapped)) ? 1 : 2;

	CHECK(t->rwc.wc_flags & IBV_WC_GRH, "wc_flags %#x", t->rwc.wc_flags);
	CHECK(t->rwc.sl == sl, "sl %d, not %d", t->rwc.sl, sl);
	CHECK(!t->wc.sl, "sl %d of the SEND", t->wc.sl);
	return cf_arrived(t);
}

static why_t names_none(struct cf *t)
{
	CHECK(!t->rwc.sl, "sl %d", t->rwc.sl);
	return cf_arrived(t);
}

/* Flags */

static why_t unsignaled(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	wr = cf_wr(t, IBV_WR_RDMA_WRITE, CF_LEN);
	wr.send_flags = 0;
	wr.wr_id = 3;
	TRY(vt_post_send(&t->p->a, &wr));
	if (t->row->arg) {	/* sq_sig_all */
		wr.wr_id = CF_WR;
		TRY(vt_poll_status(t->p->a.scq, 3, IBV_WC_SUCCESS, "first"));
		return cf_post_send(t, &wr);
	}
	TRY(vt_quiet(t->p->a.scq, 100));
	wr.wr_id = CF_WR;
	wr.send_flags = IBV_SEND_SIGNALED;
	return cf_post_send(t, &wr);
}

static void sig_all(struct vt_conf *c)
{
	c->sig_all = 1;
}

static why_t unsignaled_error(struct cf *t)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_RDMA_WRITE, CF_LEN);

	wr.send_flags = 0;
	wr.wr.rdma.rkey ^= 0x55;
	return cf_post_send(t, &wr);
}

/* What the READ brings is what the SEND behind it sends. */
static why_t fenced(struct cf *t)
{
	struct ibv_send_wr read, send;

	cf_fill(t);
	TRY(vt_post_recv_at(&t->p->b, CF_RECV, 4096, CF_LEN));
	read = cf_wr(t, IBV_WR_RDMA_READ, CF_LEN);
	send = cf_wr(t, IBV_WR_SEND, CF_LEN);
	read.send_flags = 0;
	read.next = &send;
	send.send_flags |= IBV_SEND_FENCE;
	memcpy(t->p->b.buf.shadow + 4096, t->p->b.buf.data, CF_LEN);
	memcpy(t->p->a.buf.shadow, t->p->b.buf.data, CF_LEN);
	return cf_post_send(t, &read);
}

/* Neither the key nor, after the call, the buffer is looked at. */
static why_t inlined(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	TRY(cf_recv(t));
	wr = cf_wr(t, t->row->arg, 64);
	wr.send_flags |= IBV_SEND_INLINE;
	t->sge[0].lkey = 0xbad;
	memcpy(t->p->b.buf.shadow, t->p->a.buf.data, 64);
	TRY(cf_post_send(t, &wr));
	memset(t->p->a.buf.data, 0x77, 64);
	memset(t->p->a.buf.shadow, 0x77, 64);
	return NULL;
}

/* A request that fetches has no data of its own. */
static why_t inline_fetch(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	wr = cf_wr(t, t->row->arg, 8);
	wr.send_flags |= IBV_SEND_INLINE;
	return cf_post_send(t, &wr);
}

/* Without the capability it has no meaning. */
static why_t with_csum(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	TRY(cf_recv(t));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	wr.send_flags |= IBV_SEND_IP_CSUM;
	return cf_post_send(t, &wr);
}

static why_t woken(struct cf *t, bool want, int ms)
{
	struct pollfd pfd = { .fd = t->p->b.chan->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *ctx;
	int n = poll(&pfd, 1, ms);

	if (n > 0) {
		CHECK(!ibv_get_cq_event(t->p->b.chan, &cq, &ctx),
		      "ibv_get_cq_event: %s", strerror(errno));
		ibv_ack_cq_events(cq, 1);
	}
	CHECK(!!n == want, want ? "no completion event" :
				  "completion event without reason");
	return NULL;
}

static why_t solicited(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	CHECK(!ibv_req_notify_cq(t->p->b.rcq, 1), "ibv_req_notify_cq");
	TRY(vt_post_recv_at(&t->p->b, 1, 0, CF_LEN + VT_GRH));
	TRY(cf_recv(t));
	wr = cf_wr(t, t->row->arg, CF_LEN);
	TRY(cf_post_good(t, &wr));
	TRY(vt_poll_status(t->p->b.rcq, 1, IBV_WC_SUCCESS, "B"));
	TRY(woken(t, false, 100));
	wr.send_flags |= IBV_SEND_SOLICITED;
	return cf_post_send(t, &wr);
}

static why_t is_woken(struct cf *t)
{
	return woken(t, true, 5000);
}

#define LOCAL(name_, fn, how)						\
	{ "ibv_poll_cq", "IBTA 11.6.2: Local Protection Error", name_, fn, \
	  how, .wc = CF_IS(IBV_WC_LOC_PROT_ERR),			\
	  .state = CF_IS(IBV_QPS_ERR), .peer = CF_IS(IBV_QPS_RTS),	\
	  .after = cf_sent }
#define ACCESS(name_, fn, how, prep_)					\
	{ "ibv_poll_cq", "IBTA 11.6.2: Remote Access Error", name_, fn, how, \
	  .prep = prep_, .wc = CF_IS(IBV_WC_REM_ACCESS_ERR),		\
	  .event = CF_IS(IBV_EVENT_QP_ACCESS_ERR), .event_at_peer = true, \
	  .state = CF_IS(IBV_QPS_ERR), .peer = CF_IS(IBV_QPS_ERR),	\
	  .after = cf_sent }
#define INVALID(name_, fn, prep_)					\
	{ "ibv_poll_cq", "IBTA 11.6.2: Remote Invalid Request Error",	\
	  name_, fn, RIGHTS, .prep = prep_,				\
	  .wc = CF_IS(IBV_WC_REM_INV_REQ_ERR),				\
	  .event = CF_IS(IBV_EVENT_QP_REQ_ERR), .event_at_peer = true,	\
	  .state = CF_IS(IBV_QPS_ERR), .peer = CF_IS(IBV_QPS_ERR),	\
	  .after = cf_sent }

static const struct cf_row rows[] = {
	{ "ibv_poll_cq", "IBV_WC_SUCCESS", "SEND and its receive", cf_message,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = CF_IS(IBV_WC_SUCCESS),
	  .state = CF_IS(IBV_QPS_RTS), .after = cf_arrived },
	LOCAL("SEND with a wrong lkey", bad_send, LKEY),
	LOCAL("SEND from before its MR", bad_send, LOCAL_RANGE),
	LOCAL("RDMA_WRITE with a wrong lkey", bad_write, LKEY),
	LOCAL("RDMA_READ with a wrong lkey", bad_read, LKEY),
	LOCAL("ATOMIC_FETCH_AND_ADD with a wrong lkey", bad_add, LKEY),
	/* nothing is asked for that has no place here */
	LOCAL("RDMA_WRITE with a wrong lkey and a wrong rkey", bad_write, KEYS),
	LOCAL("RDMA_READ with a wrong lkey and a wrong rkey", bad_read, KEYS),
	LOCAL("ATOMIC_CMP_AND_SWP with a wrong lkey and a wrong rkey", bad_swap, KEYS),
	LOCAL("ATOMIC_FETCH_AND_ADD with a wrong lkey and a wrong rkey", bad_add, KEYS),
	LOCAL("RDMA_READ into an MR without LOCAL_WRITE", read_to_readonly, 0),
	LOCAL("ATOMIC_FETCH_AND_ADD into an MR without LOCAL_WRITE", add_to_readonly, 0),
	LOCAL("SEND from another PD", bad_send, LOCAL_PD),
	LOCAL("RDMA_WRITE from another PD", bad_write, LOCAL_PD),
	LOCAL("RDMA_READ into another PD", bad_read, LOCAL_PD),
	LOCAL("ATOMIC_CMP_AND_SWP into another PD", bad_swap, LOCAL_PD),
	LOCAL("ATOMIC_FETCH_AND_ADD into another PD", bad_add, LOCAL_PD),
	ACCESS("RDMA_WRITE with a wrong rkey", bad_write, RKEY, NULL),
	ACCESS("RDMA_WRITE beyond the MR", bad_write, REMOTE_RANGE, NULL),
	ACCESS("RDMA_WRITE without MR right", bad_write, RIGHTS, mr_no_write),
	ACCESS("RDMA_WRITE after ibv_dereg_mr()", bad_write, STALE, NULL),
	ACCESS("RDMA_WRITE to another PD", bad_write, OTHER_PD, NULL),
	/* its key is looked at first: no receive is in use by then */
	{ "ibv_poll_cq", "IBTA 11.6.2: Remote Access Error",
	  "RDMA_WRITE_WITH_IMM with a wrong rkey", bad_write_imm, RKEY,
	  .wc = CF_IS(IBV_WC_REM_ACCESS_ERR),
	  .recv = CF_IS(IBV_WC_WR_FLUSH_ERR),
	  .event = CF_IS(IBV_EVENT_QP_ACCESS_ERR), .event_at_peer = true,
	  .state = CF_IS(IBV_QPS_ERR), .peer = CF_IS(IBV_QPS_ERR),
	  .after = cf_sent },
	ACCESS("RDMA_READ with a wrong rkey", bad_read, RKEY, NULL),
	ACCESS("RDMA_READ beyond the MR", bad_read, REMOTE_RANGE, NULL),
	ACCESS("RDMA_READ without MR right", bad_read, RIGHTS, mr_no_read),
	ACCESS("RDMA_READ from another PD", bad_read, OTHER_PD, NULL),
	ACCESS("ATOMIC_CMP_AND_SWP with a wrong rkey", bad_swap, RKEY, NULL),
	ACCESS("ATOMIC_CMP_AND_SWP beyond the MR", bad_swap, REMOTE_RANGE,
	       NULL),
	ACCESS("ATOMIC_CMP_AND_SWP in another PD", bad_swap, OTHER_PD, NULL),
	ACCESS("ATOMIC_CMP_AND_SWP without MR right", bad_swap, RIGHTS,
	       mr_no_atomic),
	ACCESS("ATOMIC_FETCH_AND_ADD with a wrong rkey", bad_add, RKEY, NULL),
	ACCESS("ATOMIC_FETCH_AND_ADD in another PD", bad_add, OTHER_PD, NULL),
	ACCESS("ATOMIC_FETCH_AND_ADD without MR right", bad_add, RIGHTS,
	       mr_no_atomic),
	INVALID("RDMA_WRITE without QP right", bad_write, qp_no_write),
	INVALID("RDMA_READ without QP right", bad_read, qp_no_read),
	INVALID("ATOMIC_CMP_AND_SWP without QP right", bad_swap, qp_no_atomic),
	INVALID("ATOMIC_FETCH_AND_ADD without QP right", bad_add,
		qp_no_atomic),
	INVALID("RDMA_READ with max_dest_rd_atomic 0", bad_read, no_responder),
	{ "ibv_poll_cq", "IBTA 11.6.2: Local Length Error at the responder",
	  "SEND longer than the receive", short_recv,
	  .wc = CF_IS(IBV_WC_REM_INV_REQ_ERR),
	  .recv = CF_IS(IBV_WC_LOC_LEN_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .peer = CF_IS(IBV_QPS_ERR) },
	{ "ibv_poll_cq", "IBTA 11.6.2: Remote Operation Error",
	  "SEND into a receive with a wrong lkey", bad_recv,
	  .wc = CF_IS(IBV_WC_REM_OP_ERR),
	  .recv = CF_IS(IBV_WC_LOC_PROT_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .peer = CF_IS(IBV_QPS_ERR), .after = cf_sent },
	{ "ibv_poll_cq", "IBTA 11.6.2: Remote Operation Error",
	  "SEND of more than the MR of a longer receive", recv_beyond, CF_LEN + 1,
	  .wc = CF_IS(IBV_WC_REM_OP_ERR),
	  .recv = CF_IS(IBV_WC_LOC_PROT_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .peer = CF_IS(IBV_QPS_ERR), .after = cf_sent },
	{ "ibv_poll_cq", "IBTA 11.6.2: memory is looked at as far as it is used",
	  "SEND of what fits the MR of a longer receive", recv_beyond, CF_LEN,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = CF_IS(IBV_WC_SUCCESS),
	  .state = CF_IS(IBV_QPS_RTS), .peer = CF_IS(IBV_QPS_RTS) },
	{ "ibv_poll_cq", "IBTA 11.6.2: Local Length Error",
	  "ATOMIC_CMP_AND_SWP into 9 bytes", long_swap, RIGHTS,
	  .wc = CF_IS(IBV_WC_LOC_LEN_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .peer = CF_IS(IBV_QPS_RTS), .after = cf_sent },
	{ "ibv_poll_cq", "IBTA 11.6.2: Local Length Error",
	  "ATOMIC_FETCH_AND_ADD into 9 bytes", long_add, RIGHTS,
	  .wc = CF_IS(IBV_WC_LOC_LEN_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .peer = CF_IS(IBV_QPS_RTS), .after = cf_sent },
	{ "ibv_poll_cq", "IBTA 11.6.2: RNR Retry Counter Exceeded",
	  "no receive, rnr_retry 1", no_recv, .prep = impatient,
	  .wc = CF_IS(IBV_WC_RNR_RETRY_EXC_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .peer = CF_IS(IBV_QPS_RTS) },
	{ "ibv_poll_cq", "IBTA 11.6.2: Transport Retry Counter Exceeded",
	  "no answer, retry_cnt 1", no_peer, .prep = impatient,
	  .wc = CF_IS(IBV_WC_RETRY_EXC_ERR), .state = CF_IS(IBV_QPS_ERR) },
	{ "ibv_poll_cq", "IBTA 11.6.2: Bad Response Error",
	  "READ, the answer is shorter", false_answer, 96,
	  .prep = patient, .wc = CF_IS(IBV_WC_BAD_RESP_ERR),
	  .state = CF_IS(IBV_QPS_ERR), .after = cf_sent },
	{ "ibv_poll_cq", "IBTA 11.6.2: Bad Response Error",
	  "READ, the answer is longer", false_answer, 104,
	  .prep = patient, .wc = CF_IS(IBV_WC_BAD_RESP_ERR),
	  .state = CF_IS(IBV_QPS_ERR), .after = cf_sent },
	{ "ibv_poll_cq", "IBTA 11.6.2: Work Request Flushed Error",
	  "receive of a QP that goes to ERR", flushed,
	  .recv = CF_IS(IBV_WC_WR_FLUSH_ERR), .peer = CF_IS(IBV_QPS_ERR) },
	{ "ibv_poll_cq", "IBTA 11.6.2: Work Request Flushed Error",
	  "send of a QP that goes to ERR", flushed_send,
	  .wc = CF_IS(IBV_WC_WR_FLUSH_ERR), .state = CF_IS(IBV_QPS_ERR) },
	{ "ibv_poll_cq", "IBTA 11.6.2: Local Length Error", "UD over the MTU",
	  ud_too_long, .type = IBV_QPT_UD, .wc = CF_IS(IBV_WC_LOC_LEN_ERR),
	  .state = CF_IS(IBV_QPS_SQE), .after = peer_quiet },
	{ "ibv_poll_cq", "IBTA 10.2.2.3: an AH is of the QP's PD",
	  "UD with an AH of another PD", ud_foreign_ah, .type = IBV_QPT_UD,
	  .wc = CF_IS(IBV_WC_LOC_QP_OP_ERR), .state = CF_IS(IBV_QPS_SQE),
	  .after = peer_quiet },
	{ "ibv_poll_cq", "IBTA 10.3.1.6: SQE", "UD with a wrong lkey",
	  bad_send, LKEY, .type = IBV_QPT_UD,
	  .wc = CF_IS(IBV_WC_LOC_PROT_ERR), .state = CF_IS(IBV_QPS_SQE),
	  .after = sqe_recovers },
	{ "ibv_poll_cq", "IBTA 10.3.1.6: SQE", "UC with a wrong lkey",
	  bad_send, LKEY, .type = IBV_QPT_UC,
	  .wc = CF_IS(IBV_WC_LOC_PROT_ERR), .state = CF_IS(IBV_QPS_SQE),
	  .after = sqe_recovers },
	{ "ibv_poll_cq", "IBTA 9.6.1.4: dropped", "UD with a wrong Q_Key",
	  ud_wrong_qkey, .type = IBV_QPT_UD, .wc = CF_IS(IBV_WC_SUCCESS),
	  .peer = CF_IS(IBV_QPS_RTS), .after = peer_quiet },
	{ "ibv_poll_cq", "IBTA 9.7.5: dropped", "UC WRITE with a wrong rkey",
	  bad_write, RKEY, .type = IBV_QPT_UC, .wc = CF_IS(IBV_WC_SUCCESS),
	  .state = CF_IS(IBV_QPS_RTS), .after = peer_quiet },
	{ "ibv_poll_cq", "returns the first num_entries, or all; removed once",
	  "2 of 5, then the others", poll_some, .err = 0 },
	{ "ibv_poll_cq", "returns the first num_entries", "none of 1",
	  poll_none, .err = 0 },
	{ "ibv_poll_cq", "in case of an overrun IBV_EVENT_CQ_ERR", "overrun",
	  overrun, .prep = small_cq, .event = CF_IS(IBV_EVENT_CQ_ERR),
	  .after = qp_fatal },
	{ "ibv_poll_cq", "IBV_WC_IP_CSUM_OK only if device_cap_flags says so",
	  "no checksum offload", cf_message, .type = IBV_QPT_UD,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = CF_IS(IBV_WC_SUCCESS),
	  .after = no_csum },
	{ "ibv_poll_cq", "IBTA A17.4.5.1: IPv4 or IPv6; ConnectX says it by sl",
	  "sl of a datagram", cf_message, .type = IBV_QPT_UD,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = CF_IS(IBV_WC_SUCCESS),
	  .after = names_header },
	{ "ibv_poll_cq", "IBTA 11.4.2.1: sl is for datagrams", "sl on RC",
	  cf_message, .wc = CF_IS(IBV_WC_SUCCESS),
	  .recv = CF_IS(IBV_WC_SUCCESS), .after = names_none },
};

CF_TABLE(90, "Completions and their statuses", rows);

static const struct cf_row flags[] = {
	{ "ibv_post_send", "completion notification", "no IBV_SEND_SIGNALED",
	  unsignaled, .wc = CF_IS(IBV_WC_SUCCESS), .after = cf_arrived },
	{ "ibv_post_send", "relevant only if sq_sig_all=0", "sq_sig_all",
	  unsignaled, 1, .prep = sig_all, .wc = CF_IS(IBV_WC_SUCCESS),
	  .after = cf_arrived },
	{ "ibv_post_send", "IBTA 10.8.3.1: errors always complete",
	  "no IBV_SEND_SIGNALED, and an error", unsignaled_error,
	  .wc = CF_IS(IBV_WC_REM_ACCESS_ERR), .state = CF_IS(IBV_QPS_ERR) },
	{ "ibv_post_send", "the fence indicator, on RC",
	  "IBV_SEND_FENCE behind a READ", fenced,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = CF_IS(IBV_WC_SUCCESS),
	  .after = cf_sent },
	{ "ibv_post_send", "data is inline, the L_Key isn't checked",
	  "IBV_SEND_INLINE: SEND on RC", inlined, IBV_WR_SEND,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = CF_IS(IBV_WC_SUCCESS),
	  .after = cf_sent },
	{ "ibv_post_send", "data is inline, the L_Key isn't checked",
	  "IBV_SEND_INLINE: SEND on UC", inlined, IBV_WR_SEND,
	  .type = IBV_QPT_UC, .wc = CF_IS(IBV_WC_SUCCESS),
	  .recv = CF_IS(IBV_WC_SUCCESS), .after = cf_sent },
	{ "ibv_post_send", "data is inline, the L_Key isn't checked",
	  "IBV_SEND_INLINE: RDMA_WRITE", inlined, IBV_WR_RDMA_WRITE,
	  .wc = CF_IS(IBV_WC_SUCCESS), .after = cf_sent },
	{ "ibv_post_send", "data is inline, the L_Key isn't checked",
	  "IBV_SEND_INLINE: RDMA_WRITE_WITH_IMM", inlined,
	  IBV_WR_RDMA_WRITE_WITH_IMM, .wc = CF_IS(IBV_WC_SUCCESS),
	  .recv = CF_IS(IBV_WC_SUCCESS), .after = cf_sent },
	{ "ibv_post_send", "valid for Send and RDMA Write",
	  "IBV_SEND_INLINE: RDMA_READ", inline_fetch, IBV_WR_RDMA_READ,
	  .wc = CF_IS(IBV_WC_LOC_QP_OP_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .after = cf_sent },
	{ "ibv_post_send", "valid for Send and RDMA Write",
	  "IBV_SEND_INLINE: ATOMIC_FETCH_AND_ADD", inline_fetch,
	  IBV_WR_ATOMIC_FETCH_AND_ADD, .wc = CF_IS(IBV_WC_LOC_QP_OP_ERR),
	  .state = CF_IS(IBV_QPS_ERR), .after = cf_sent },
	{ "ibv_post_send", "valid only if device_cap_flags says so; it doesn't",
	  "IBV_SEND_IP_CSUM: SEND on UD", with_csum, .type = IBV_QPT_UD,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = CF_IS(IBV_WC_SUCCESS),
	  .after = cf_arrived },
	{ "ibv_post_send", "the solicited event indicator, for Send",
	  "IBV_SEND_SOLICITED: SEND on RC", solicited, IBV_WR_SEND,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = CF_IS(IBV_WC_SUCCESS),
	  .after = is_woken },
	{ "ibv_post_send", "the solicited event indicator, for Send",
	  "IBV_SEND_SOLICITED: SEND_WITH_IMM on UD", solicited,
	  IBV_WR_SEND_WITH_IMM, .type = IBV_QPT_UD,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = CF_IS(IBV_WC_SUCCESS),
	  .after = is_woken },
	{ "ibv_post_send", "and for RDMA Write with immediate",
	  "IBV_SEND_SOLICITED: RDMA_WRITE_WITH_IMM", solicited,
	  IBV_WR_RDMA_WRITE_WITH_IMM, .wc = CF_IS(IBV_WC_SUCCESS),
	  .recv = CF_IS(IBV_WC_SUCCESS), .after = is_woken },
};

CF_TABLE(80, "Send flags", flags);
