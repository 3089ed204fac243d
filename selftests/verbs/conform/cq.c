// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_create_cq(3), ibv_create_cq_ex(3), ibv_resize_cq(3), ibv_req_notify_cq(3),
 * ibv_get_cq_event(3), ibv_destroy_cq(3)
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include "conform.h"

static why_t make(struct cf *t, int cqe, int vector)
{
	t->cq = ibv_create_cq(t->dev->ctx, cqe, NULL, NULL, vector);
	TRY(cf_got(t, t->cq));
	CHECK(!t->cq || t->cq->cqe >= cqe, "%d entries", t->cq->cqe);
	return NULL;
}

static why_t of_size(struct cf *t)
{
	return make(t, t->row->arg, 0);
}

static why_t max_size(struct cf *t)
{
	return make(t, t->dev->attr.max_cqe, 0);
}

static why_t over_size(struct cf *t)
{
	return make(t, t->dev->attr.max_cqe + 1, 0);
}

static why_t last_vector(struct cf *t)
{
	return make(t, 16, t->dev->ctx->num_comp_vectors - 1);
}

static why_t over_vector(struct cf *t)
{
	return make(t, 16, t->dev->ctx->num_comp_vectors);
}

static why_t below_vector(struct cf *t)
{
	return make(t, 16, -1);
}

static why_t destroy_used(struct cf *t)
{
	t->err = ibv_destroy_cq(t->row->arg ? t->p->a.rcq : t->p->a.scq);
	CHECK(t->err, "a CQ in use was destroyed");
	return NULL;
}

static why_t works(struct cf *t)
{
	return vt_ping(t->p);
}

static why_t destroy_channel(struct cf *t)
{
	t->err = ibv_destroy_comp_channel(t->p->a.chan);
	CHECK(t->err, "a channel in use was destroyed");
	return NULL;
}

/* Completions 70, 71, ... wait in A's send CQ. */
static why_t writes(struct cf *t, int from, int n)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_RDMA_WRITE, 8);

	for (; n--; from++) {
		wr.wr_id = from;
		TRY(vt_post_send(&t->p->a, &wr));
	}
	vt_sleep_ms(300);
	return NULL;
}

static why_t resize(struct cf *t)
{
	TRY(writes(t, 70, 20));
	t->err = ibv_resize_cq(t->p->a.scq, t->row->arg);
	return NULL;
}

/* All of them are there, in order, whatever the resize has said. */
static why_t resized(struct cf *t)
{
	struct ibv_wc wc;
	int i;

	CHECK(t->err || t->p->a.scq->cqe >= t->row->arg, "cqe %d",
	      t->p->a.scq->cqe);
	for (i = 70; i < 90; i++)
		TRY(vt_poll_ok(t->p->a.scq, &wc, i));
	return vt_ping(t->p);
}

static why_t resize_over(struct cf *t)
{
	t->err = ibv_resize_cq(t->p->a.scq, t->dev->attr.max_cqe + 1);
	return vt_ping(t->p);
}

/* Events */

static why_t taken(struct vt_ep *ep, int ms, int want)
{
	int n = vt_take_cq_events(ep, ms);

	CHECK(n == want, "%d completion events, not %d", n, want);
	return NULL;
}

static why_t no_request(struct cf *t)
{
	TRY(writes(t, 70, 2));
	return taken(&t->p->a, 100, 0);
}

static why_t one_shot(struct cf *t)
{
	t->err = ibv_req_notify_cq(t->p->a.scq, 0);
	TRY(writes(t, 70, 5));
	return taken(&t->p->a, 200, 1);
}

static why_t solicited_only(struct cf *t)
{
	t->err = ibv_req_notify_cq(t->p->a.scq, 1);
	TRY(writes(t, 70, 2));
	return taken(&t->p->a, 200, 0);
}

static why_t solicited_error(struct cf *t)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_RDMA_WRITE, 8);

	t->err = ibv_req_notify_cq(t->p->a.scq, 1);
	wr.wr.rdma.rkey ^= 0x55;
	TRY(vt_post_send(&t->p->a, &wr));
	return taken(&t->p->a, 1000, 1);
}

static why_t both_requests(struct cf *t)
{
	CHECK(!ibv_req_notify_cq(t->p->a.scq, 0), "ibv_req_notify_cq");
	t->err = ibv_req_notify_cq(t->p->a.scq, 1);
	TRY(writes(t, 70, 1));
	return taken(&t->p->a, 200, 1);
}

static why_t which_cq(struct cf *t)
{
	static int mark;
	struct ibv_comp_channel *chan = ibv_create_comp_channel(t->dev->ctx);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;
	struct ibv_cq *cq = NULL;
	void *ctx = NULL;

	CHECK(chan, "ibv_create_comp_channel: %s", strerror(errno));
	t->cq = ibv_create_cq(t->dev->ctx, 8, &mark, chan, 0);
	CHECK(t->cq, "ibv_create_cq: %s", strerror(errno));
	init.send_cq = init.recv_cq = t->cq;
	t->qp = ibv_create_qp(t->dev->pd, &init);
	CHECK(t->qp, "ibv_create_qp: %s", strerror(errno));
	CHECK(!ibv_modify_qp(t->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "to INIT");
	CHECK(!ibv_post_recv(t->qp, &wr, &bad), "ibv_post_recv");
	CHECK(!ibv_req_notify_cq(t->cq, 0), "ibv_req_notify_cq");
	attr.qp_state = IBV_QPS_ERR;
	CHECK(!ibv_modify_qp(t->qp, &attr, IBV_QP_STATE), "to ERR");
	CHECK(poll(&(struct pollfd){ chan->fd, POLLIN, 0 }, 1, 5000) == 1,
	      "no completion event");
	t->err = ibv_get_cq_event(chan, &cq, &ctx) ? errno : 0;
	CHECK(cq == t->cq && ctx == &mark, "another CQ or context");
	ibv_ack_cq_events(cq, 1);
	CHECK(!ibv_destroy_qp(t->qp), "ibv_destroy_qp");
	t->qp = NULL;
	CHECK(!ibv_destroy_cq(t->cq), "ibv_destroy_cq");
	t->cq = NULL;
	CHECK(!ibv_destroy_comp_channel(chan), "ibv_destroy_comp_channel");
	return NULL;
}

static why_t nonblocking(struct cf *t)
{
	struct ibv_comp_channel *chan = t->p->a.chan;
	struct ibv_cq *cq;
	void *ctx;
	int ret;

	fcntl(chan->fd, F_SETFL, fcntl(chan->fd, F_GETFL) | O_NONBLOCK);
	ret = ibv_get_cq_event(chan, &cq, &ctx);
	CHECK(!ret || ret == -1, "it returns %d", ret);
	t->err = ret ? errno : 0;
	return NULL;
}

/* Extended CQs */

#define WC_STD	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |		\
		 IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP |	\
		 IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL |		\
		 IBV_WC_EX_WITH_DLID_PATH_BITS)

static why_t make_ex(struct cf *t, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *cq;

	errno = 0;
	cq = ibv_create_cq_ex(t->dev->ctx, attr);
	t->cq = cq ? ibv_cq_ex_to_cq(cq) : NULL;
	return cf_got(t, t->cq);
}

static why_t ex(struct cf *t)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16,
					    .wc_flags = t->row->arg };

	return make_ex(t, &attr);
}

static why_t ex_flags(struct cf *t)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16, .wc_flags = WC_STD, .flags = t->row->arg,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
	};

	return make_ex(t, &attr);
}

static why_t ex_vector(struct cf *t)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16, .wc_flags = WC_STD,
		.comp_vector = t->dev->ctx->num_comp_vectors,
	};

	return make_ex(t, &attr);
}

static why_t ex_parent(struct cf *t)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16, .wc_flags = WC_STD, .parent_domain = t->dev->pd,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
	};

	return make_ex(t, &attr);
}

static why_t ex_empty(struct cf *t)
{
	struct ibv_poll_cq_attr attr = {};
	struct ibv_cq_init_attr_ex init = { .cqe = 16, .wc_flags = WC_STD };

	TRY(make_ex(t, &init));
	CHECK(t->cq, "ibv_create_cq_ex: %s", strerror(errno));
	t->err = ibv_start_poll((struct ibv_cq_ex *)t->cq, &attr);
	return NULL;
}

/* A QP of A whose completions go to an extended CQ, talking to B */
static why_t ex_pair(struct cf *t)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 64, .wc_flags = WC_STD };
	struct vt_ep *a = &t->p->a;
	struct ibv_qp_init_attr qp = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	TRY(make_ex(t, &init));
	CHECK(t->cq, "ibv_create_cq_ex: %s", strerror(errno));
	qp.send_cq = qp.recv_cq = t->cq;
	CHECK(!ibv_destroy_qp(a->qp), "ibv_destroy_qp");
	a->qp = ibv_create_qp(t->dev->pd, &qp);
	CHECK(a->qp, "ibv_create_qp: %s", strerror(errno));
	return vt_connect(t->p);
}

/* The CQ may go only when no QP uses it. */
static why_t ex_end(struct cf *t)
{
	CHECK(!ibv_destroy_qp(t->p->a.qp), "ibv_destroy_qp");
	t->p->a.qp = NULL;
	return NULL;
}

static int ex_wait(struct cf *t)
{
	struct ibv_poll_cq_attr attr = {};
	uint64_t end = vt_now_us() + 5000000;
	int ret;

	do {
		ret = ibv_start_poll((struct ibv_cq_ex *)t->cq, &attr);
	} while (ret == ENOENT && vt_now_us() < end);
	return ret;
}

static why_t ex_send(struct cf *t)
{
	struct ibv_cq_ex *cq;
	struct ibv_send_wr wr;

	TRY(ex_pair(t));
	cf_fill(t);
	TRY(cf_recv(t));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	TRY(vt_post_send(&t->p->a, &wr));
	t->err = ex_wait(t);
	CHECK(!t->err, "ibv_start_poll: %s", strerror(t->err));
	cq = (struct ibv_cq_ex *)t->cq;
	CHECK(cq->wr_id == CF_WR && cq->status == IBV_WC_SUCCESS,
	      "wr %llu: %s", (unsigned long long)cq->wr_id,
	      ibv_wc_status_str(cq->status));
	CHECK(ibv_wc_read_opcode(cq) == IBV_WC_SEND, "opcode %d",
	      ibv_wc_read_opcode(cq));
	CHECK(ibv_wc_read_qp_num(cq) == t->p->a.qp->qp_num, "qp_num");
	CHECK(!ibv_wc_read_vendor_err(cq), "vendor_err %#x",
	      ibv_wc_read_vendor_err(cq));
	ibv_end_poll(cq);
	TRY(cf_arrived(t));
	return ex_end(t);
}

static why_t ex_recv(struct cf *t)
{
	struct ibv_send_wr wr = {
		.wr_id = 7, .opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(CF_IMM),
		.send_flags = IBV_SEND_SIGNALED, .sg_list = t->sge,
		.num_sge = 1,
	};
	struct ibv_cq_ex *cq;

	TRY(ex_pair(t));
	TRY(vt_post_recv_at(&t->p->a, CF_RECV, 0, CF_LEN));
	t->sge[0] = vt_sge(&t->p->b.buf, 0, 500);
	TRY(vt_post_send(&t->p->b, &wr));
	t->err = ex_wait(t);
	CHECK(!t->err, "ibv_start_poll: %s", strerror(t->err));
	cq = (struct ibv_cq_ex *)t->cq;
	CHECK(cq->wr_id == CF_RECV && cq->status == IBV_WC_SUCCESS,
	      "wr %llu: %s", (unsigned long long)cq->wr_id,
	      ibv_wc_status_str(cq->status));
	CHECK(ibv_wc_read_opcode(cq) == IBV_WC_RECV, "opcode %d",
	      ibv_wc_read_opcode(cq));
	CHECK(ibv_wc_read_byte_len(cq) == 500, "byte_len %u",
	      ibv_wc_read_byte_len(cq));
	CHECK(ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM, "wc_flags %#x",
	      ibv_wc_read_wc_flags(cq));
	CHECK(ntohl(ibv_wc_read_imm_data(cq)) == CF_IMM, "imm_data %#x",
	      ntohl(ibv_wc_read_imm_data(cq)));
	CHECK(ibv_wc_read_src_qp(cq) == t->p->b.qp->qp_num, "src_qp %#x",
	      ibv_wc_read_src_qp(cq));
	/* InfiniBand's own */
	CHECK(!ibv_wc_read_slid(cq) && !ibv_wc_read_sl(cq) &&
	      !ibv_wc_read_dlid_path_bits(cq), "slid, sl, dlid_path_bits");
	ibv_end_poll(cq);
	return ex_end(t);
}

/* B invalidates A's window; the one of A is bound with its own QP and CQ. */
static why_t ex_inv(struct cf *t)
{
	struct ibv_send_wr wr = {
		.wr_id = 7, .opcode = IBV_WR_SEND_WITH_INV,
		.send_flags = IBV_SEND_SIGNALED, .sg_list = t->sge,
		.num_sge = 1,
	};
	struct ibv_cq *own = t->p->a.scq;
	struct ibv_cq_ex *cq;
	why_t why;

	TRY(ex_pair(t));
	t->p->a.scq = t->cq;
	why = cf_bind(t, &t->p->a, CF_LEN, IBV_ACCESS_REMOTE_WRITE);
	t->p->a.scq = own;
	if (why)
		return why;
	TRY(vt_post_recv_at(&t->p->a, CF_RECV, 0, CF_LEN));
	t->sge[0] = vt_sge(&t->p->b.buf, 0, 500);
	wr.invalidate_rkey = t->key;
	TRY(vt_post_send(&t->p->b, &wr));
	t->err = ex_wait(t);
	CHECK(!t->err, "ibv_start_poll: %s", strerror(t->err));
	cq = (struct ibv_cq_ex *)t->cq;
	CHECK(ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_INV, "wc_flags %#x",
	      ibv_wc_read_wc_flags(cq));
	CHECK(ibv_wc_read_invalidated_rkey(cq) == t->key,
	      "invalidated_rkey %#x", ibv_wc_read_invalidated_rkey(cq));
	ibv_end_poll(cq);
	return ex_end(t);
}

/* Two in one batch; then there are no more. */
static why_t ex_next(struct cf *t)
{
	struct ibv_send_wr wr;
	struct ibv_cq_ex *cq;

	TRY(ex_pair(t));
	wr = cf_wr(t, IBV_WR_RDMA_WRITE, 8);
	TRY(vt_post_send(&t->p->a, &wr));
	wr.wr_id++;
	TRY(vt_post_send(&t->p->a, &wr));
	vt_sleep_ms(300);
	cq = (struct ibv_cq_ex *)t->cq;
	CHECK(!ex_wait(t), "ibv_start_poll");
	CHECK(cq->wr_id == CF_WR, "wr %llu", (unsigned long long)cq->wr_id);
	CHECK(!ibv_next_poll(cq), "ibv_next_poll");
	CHECK(cq->wr_id == CF_WR + 1, "wr %llu",
	      (unsigned long long)cq->wr_id);
	if (t->row->arg)
		/* the provider of 44 spoils the CQ if the batch were ended */
		t->err = ibv_next_poll(cq);
	else
		ibv_end_poll(cq);
	return ex_end(t);
}

static const struct cf_row rows[] = {
	{ "ibv_create_cq", "at least cqe entries", "1 entry", of_size, 1,
	  CF_DEVICE, .err = 0 },
	{ "ibv_create_cq", "at least cqe entries", "1000 entries", of_size,
	  1000, CF_DEVICE, .err = 0 },
	{ "ibv_create_cq", "max_cqe of ibv_query_device(3)", "max_cqe entries",
	  max_size, .stage = CF_DEVICE, .err = 0 },
	{ "ibv_create_cq", "max_cqe of ibv_query_device(3)",
	  "more than max_cqe", over_size, .stage = CF_DEVICE,
	  .err = EINVAL },
	{ "ibv_create_cq", "NULL if the request fails", "no entries", of_size,
	  0, CF_DEVICE, .err = EINVAL },
	{ "ibv_create_cq", "NULL if the request fails", "-1 entries", of_size,
	  -1, CF_DEVICE, .err = EINVAL },
	{ "ibv_create_cq", "less than num_comp_vectors",
	  "the last completion vector", last_vector, .stage = CF_DEVICE,
	  .err = 0 },
	{ "ibv_create_cq", "less than num_comp_vectors",
	  "comp_vector num_comp_vectors", over_vector, .stage = CF_DEVICE,
	  .err = EINVAL },
	{ "ibv_create_cq", "at least zero", "comp_vector -1", below_vector,
	  .stage = CF_DEVICE, .err = EINVAL },
	{ "ibv_destroy_cq", "fails if any QP is still associated",
	  "send CQ of a QP", destroy_used, 0, .err = EBUSY, .after = works },
	{ "ibv_destroy_cq", "fails if any QP is still associated",
	  "receive CQ of a QP", destroy_used, 1, .err = EBUSY,
	  .after = works },
	{ "ibv_destroy_comp_channel", "fails if any CQ is still associated",
	  "channel of a CQ", destroy_channel, .err = EBUSY, .after = works },

	{ "ibv_resize_cq", "at least cqe entries", "larger, 20 unpolled",
	  resize, 2000, .err = 0, .after = resized },
	{ "ibv_resize_cq", "a valid value less than the current size",
	  "smaller, 20 unpolled", resize, 40, .err = 0, .after = resized },
	{ "ibv_resize_cq", "at least the number of unpolled entries",
	  "smaller than what is unpolled", resize, 10, .err = EINVAL,
	  .after = resized },
	{ "ibv_resize_cq", "the value of errno on failure", "no entries",
	  resize, 0, .err = EINVAL, .after = resized },
	{ "ibv_resize_cq", "max_cqe of ibv_query_device(3)",
	  "more than max_cqe", resize_over, .err = EINVAL },

	{ "ibv_req_notify_cq", "requests a notification",
	  "no event without a request", no_request, .err = 0 },
	{ "ibv_req_notify_cq", "one event for each call", "5 completions",
	  one_shot, .err = 0 },
	{ "ibv_req_notify_cq", "a successful send completion is unsolicited",
	  "solicited_only, sends", solicited_only, .err = 0 },
	{ "ibv_req_notify_cq", "a CQE that isn't successful is solicited",
	  "solicited_only, an error", solicited_error, .err = 0 },
	{ "ibv_req_notify_cq", "IBTA 11.4.2.2: next prevails over solicited",
	  "any, then solicited_only", both_requests, .err = 0 },
	{ "ibv_get_cq_event", "fills cq and cq_context", "which CQ, whose context",
	  which_cq, .stage = CF_DEVICE, .err = 0 },
	{ "ibv_get_cq_event", "-1 on error", "non-blocking, no event",
	  nonblocking, .err = EAGAIN },

	{ "ibv_create_cq_ex", "the wc_flags that can be queried",
	  "IBV_WC_EX_WITH_BYTE_LEN, IBV_WC_EX_WITH_IMM, "
	  "IBV_WC_EX_WITH_QP_NUM, IBV_WC_EX_WITH_SRC_QP, "
	  "IBV_WC_EX_WITH_SLID, IBV_WC_EX_WITH_SL, "
	  "IBV_WC_EX_WITH_DLID_PATH_BITS", ex, WC_STD, CF_DEVICE, .err = 0 },
	{ "ibv_create_cq_ex", "a parent domain; librxe doesn't look at it",
	  "IBV_CQ_INIT_ATTR_MASK_PD", ex_parent, .stage = CF_DEVICE,
	  .err = 0 },
	{ "ibv_create_cq_ex", "IBV_CQ_INIT_ATTR_MASK_FLAGS",
	  "IBV_CREATE_CQ_ATTR_SINGLE_THREADED", ex_flags,
	  IBV_CREATE_CQ_ATTR_SINGLE_THREADED, CF_DEVICE, .err = 0 },
	{ "ibv_create_cq_ex", "IBV_CQ_INIT_ATTR_MASK_FLAGS",
	  "IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN", ex_flags,
	  IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN, CF_DEVICE, .err = EOPNOTSUPP },
	{ "ibv_create_cq_ex", "must be < num_comp_vectors",
	  "comp_vector num_comp_vectors", ex_vector, .stage = CF_DEVICE,
	  .err = EINVAL },
#define LACKS(flag, reader)						\
	{ "ibv_create_cq_ex", "so no " #reader, "IBV_WC_EX_WITH_" #flag, ex, \
	  IBV_WC_EX_WITH_##flag, CF_DEVICE, .err = EOPNOTSUPP,		\
	  .via = CF_LACKING }
	LACKS(COMPLETION_TIMESTAMP, ibv_wc_read_completion_ts),
	LACKS(CVLAN, ibv_wc_read_cvlan),
	LACKS(FLOW_TAG, ibv_wc_read_flow_tag),
	LACKS(COMPLETION_TIMESTAMP_WALLCLOCK,
	      ibv_wc_read_completion_wallclock_ns),
	LACKS(TM_INFO, ibv_wc_read_tm_info),
	{ "ibv_create_cq_ex", "ENOENT if there are no completions",
	  "ibv_start_poll of an empty CQ", ex_empty, .stage = CF_DEVICE,
	  .err = ENOENT },
	{ "ibv_create_cq_ex", "ibv_wc_read_opcode, ibv_wc_read_qp_num, "
	  "ibv_wc_read_vendor_err", "of a SEND", ex_send, .stage = CF_RESET,
	  .err = 0 },
	{ "ibv_create_cq_ex", "ibv_wc_read_byte_len, ibv_wc_read_imm_data, "
	  "ibv_wc_read_src_qp, ibv_wc_read_slid, ibv_wc_read_sl, "
	  "ibv_wc_read_dlid_path_bits", "of a receive with immediate", ex_recv,
	  .stage = CF_RESET, .err = 0 },
	{ "ibv_create_cq_ex", "ibv_wc_read_wc_flags, "
	  "ibv_wc_read_invalidated_rkey", "of a receive that invalidates",
	  ex_inv, .stage = CF_RESET, .prep = cf_bindable, .err = 0 },
	{ "ibv_create_cq_ex", "ibv_next_poll: the next work completion",
	  "two in a batch; ibv_end_poll", ex_next, 0, CF_RESET, .err = 0 },
	{ "ibv_create_cq_ex", "ENOENT if there are no completions",
	  "ibv_next_poll after the last", ex_next, 1, CF_RESET,
	  .err = ENOENT },
};

CF_TABLE(130, "Completion queues and their events", rows);
