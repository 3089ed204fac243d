// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/* run: A B --family 4 --huge */
/* run: A B --family +6 --on-demand --only "all sizes" */
/* run: A B --family 6 --on-demand --only "all sizes, path MTU 1024" */
/* run: A B --family 6 --on-demand --only "all sizes, path MTU 4096" */
/* Every operation on every transport that has it, each byte verified. */

#include <arpa/inet.h>
#include <poll.h>
#include <sys/mman.h>
#include "xfer.h"

static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };

static bool has(const struct xfer_op *op, enum ibv_qp_type type)
{
	return op->types & (1U << type);
}

/*
 * While the pages of the first packet come the others are kept, so many of them; more
 * an unreliable connection may lose.
 */
#define KEPT	1024U

static uint32_t longest(const struct vt_pair *p, uint32_t mtu)
{
	uint32_t most = 1 << 20;

	if (p->conf.type == IBV_QPT_UC && vt_opts.on_demand && most > KEPT * mtu)
		return KEPT * mtu;
	return most;
}

/* One transfer; if it fails, also say how long it was. */
static why_t one(struct vt_pair *p, const struct xfer *x)
{
	why_t why = xfer_do(p, x);

	CHECK(!why, "%u bytes: %s", x->len, why);
	return NULL;
}

static why_t sizes(struct vt_pair *p, const void *arg)
{
	uint32_t mtu = vt_mtu_bytes(p->conf.mtu);
	const uint32_t len[] = { 0, 1, mtu - 1, mtu, mtu + 1, 3 * mtu + 17,
				 longest(p, mtu) };
	size_t i, n = ARRAY_SIZE(len);
	struct xfer x = {
		.op = arg, .sges = 1, .rsges = 1, .flags = IBV_SEND_SIGNALED,
	};

	if (p->conf.type == IBV_QPT_UD)
		n = 4;	/* one packet */
	for (i = 0; i < n; i++) {
		x.len = len[i];
		x.spread = i & 1;
		x.seed = vt_opts.seed + 10 * i;
		TRY(one(p, &x));
	}
	return NULL;
}

static void test_sizes(enum ibv_qp_type type, const struct xfer_op *op)
{
	struct vt_conf c = vt_conf(type);
	enum ibv_mtu mtu = type == IBV_QPT_UD ? c.mtu : IBV_MTU_256;

	c.buf = xfer_room(1 << 20);
	for (; mtu <= vt_max_mtu(); mtu++) {
		c.mtu = mtu;
		vt_runf(&c, sizes, op, "%s %s: all sizes, path MTU %u",
			vt_type_name(type), op->name, vt_mtu_bytes(mtu));
	}
}

static why_t sge_lists(struct vt_pair *p, const void *arg)
{
	uint32_t mtu = vt_mtu_bytes(p->conf.mtu);
	uint64_t rnd = vt_opts.seed;
	struct xfer x = {
		.op = arg, .spread = true, .flags = IBV_SEND_SIGNALED,
	};
	int i;

	for (i = 0; i < 24; i++) {
		why_t why;

		x.sges = p->conf.send_sge;
		x.rsges = p->conf.recv_sge;
		if (i) {	/* the first one has them all */
			x.sges = 1 + vt_below(&rnd, x.sges);
			x.rsges = 1 + vt_below(&rnd, x.rsges);
		}
		x.len = vt_below(&rnd, p->conf.type == IBV_QPT_UD ?
				       mtu + 1 : 5 * mtu);
		x.seed = vt_opts.seed + 100 + 10 * i;
		why = xfer_do(p, &x);
		CHECK(!why, "%u bytes of %d pieces into %d: %s", x.len, x.sges,
		      x.rsges, why);
	}
	return NULL;
}

static void test_sge_lists(enum ibv_qp_type type, const struct xfer_op *op)
{
	struct vt_conf c = vt_conf(type);

	c.send_sge = MIN(vt_devs[0].attr.max_sge, XFER_MAX_SGE);
	c.recv_sge = c.send_sge;
	c.buf = xfer_room(5 * vt_mtu_bytes(c.mtu));
	vt_runf(&c, sge_lists, op, "%s %s: up to %u pieces, unaligned",
		vt_type_name(type), op->name, c.send_sge);
}

static why_t inlines(struct vt_pair *p, const void *arg)
{
	uint32_t max = p->conf.inline_data;
	const uint32_t len[] = { 0, 1, 7, max / 2, max - 1, max };
	struct xfer x = {
		.op = arg, .rsges = 1, .spread = true, .inl = true,
		.flags = IBV_SEND_SIGNALED,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(len) * 2; i++) {
		x.len = len[i / 2];
		x.sges = i & 1 ? p->conf.send_sge : 1;
		x.seed = vt_opts.seed + 10 * i;
		TRY(one(p, &x));
	}
	return NULL;
}

static void test_inline(enum ibv_qp_type type, const struct xfer_op *op)
{
	struct vt_conf c = vt_conf(type);

	if (op->wr == IBV_WR_RDMA_READ)
		return;
	c.inline_data = 256;
	c.buf = xfer_room(c.inline_data);
	vt_runf(&c, inlines, op, "%s %s: inline up to %u bytes",
		vt_type_name(type), op->name, c.inline_data);
}

/* Atomics */

static why_t atomic(struct vt_pair *p, enum ibv_wr_opcode opcode, size_t roff,
		    uint64_t before, uint64_t arg1, uint64_t arg2, int pieces)
{
	struct ibv_sge sge[2] = { vt_sge(&p->a.buf, 3, 8) };
	struct ibv_send_wr wr = {
		.wr_id = 4711, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = sge, .num_sge = pieces,
	};
	bool cas = opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
	uint64_t after = cas ? (before == arg1 ? arg2 : before) : before + arg1;
	struct ibv_wc wc;

	vt_buf_fill(&p->a.buf, before);
	vt_buf_fill(&p->b.buf, before + 1);
	memcpy(p->b.buf.data + roff, &before, 8);
	memcpy(p->b.buf.shadow + roff, &after, 8);
	memcpy(p->a.buf.shadow + 3, &before, 8);
	if (pieces == 2) {
		sge[0].length = 5;
		sge[1] = vt_sge(&p->a.buf, 100, 3);
		memcpy(p->a.buf.shadow + 8, p->a.buf.data + 8, 3);
		memcpy(p->a.buf.shadow + 100, (char *)&before + 5, 3);
	}
	vt_aim(&p->a, &p->b, &wr);
	wr.wr.atomic.remote_addr += roff;
	wr.wr.atomic.compare_add = arg1;
	wr.wr.atomic.swap = arg2;
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 4711));
	CHECK(wc.opcode == (cas ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD),
	      "wc opcode %d", wc.opcode);
	CHECK(wc.qp_num == p->a.qp->qp_num, "wc qp_num %u", wc.qp_num);
	CHECK(wc.byte_len == 8, "wc byte_len %u, not 8", wc.byte_len);
	TRY(vt_buf_check(&p->a.buf));
	return vt_buf_check(&p->b.buf);
}

static why_t cmp_swp(struct vt_pair *p, const void *arg)
{
	const uint64_t x = 0x0123456789abcdefULL, y = 0xfedcba9876543210ULL;
	int pieces;

	(void)arg;
	for (pieces = 1; pieces <= 2; pieces++) {
		TRY(atomic(p, IBV_WR_ATOMIC_CMP_AND_SWP, 0, x, x, y, pieces));
		TRY(atomic(p, IBV_WR_ATOMIC_CMP_AND_SWP, 64, x, x + 1, y,
			   pieces));
		TRY(atomic(p, IBV_WR_ATOMIC_CMP_AND_SWP, p->b.buf.len - 8, x,
			   x ^ 1ULL << 63, y, pieces));
	}
	return NULL;
}

static why_t fetch_add(struct vt_pair *p, const void *arg)
{
	int pieces;

	(void)arg;
	for (pieces = 1; pieces <= 2; pieces++) {
		TRY(atomic(p, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 41, 1, 0, pieces));
		TRY(atomic(p, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, UINT64_MAX, 2, 0,
			   pieces));
		TRY(atomic(p, IBV_WR_ATOMIC_FETCH_AND_ADD, p->b.buf.len - 8,
			   0x00000000ffffffffULL, 1, 0, pieces));
	}
	return NULL;
}

/* Many in flight, more than the responder has resources for. */
static why_t add_many(struct vt_pair *p, const void *arg)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD };
	struct ibv_sge sge;
	uint64_t got, zero = 0;
	struct ibv_wc wc;
	int i, n = 48;

	(void)arg;
	memcpy(p->b.buf.data, &zero, 8);
	for (i = 0; i < n; i++) {
		sge = vt_sge(&p->a.buf, 8 * i, 8);
		wr.wr_id = i;
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		vt_aim(&p->a, &p->b, &wr);
		wr.wr.atomic.compare_add = 3;
		TRY(vt_post_send(&p->a, &wr));
	}
	for (i = 0; i < n; i++)
		TRY(vt_poll_ok(p->a.scq, &wc, i));
	for (i = 0; i < n; i++) {
		memcpy(&got, p->a.buf.data + 8 * i, 8);
		CHECK(got == 3ULL * i, "addition %d found %llu", i,
		      (unsigned long long)got);
	}
	memcpy(&got, p->b.buf.data, 8);
	CHECK(got == 3ULL * n, "sum %llu", (unsigned long long)got);
	return NULL;
}

/* Flags */

static why_t signals(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 64);
	struct ibv_send_wr wr = {
		.opcode = p->conf.type == IBV_QPT_UD ? IBV_WR_SEND :
						       IBV_WR_RDMA_WRITE,
		.sg_list = &sge, .num_sge = 1,
	};
	struct ibv_wc wc;
	int i;

	(void)arg;
	for (i = 0; i < 48; i++) {
		wr.wr_id = i;
		wr.send_flags = i % 8 == 7 ? IBV_SEND_SIGNALED : 0;
		vt_aim(&p->a, &p->b, &wr);
		TRY(vt_post_send(&p->a, &wr));
	}
	for (i = 0; i < 48; i++)
		if (p->conf.sig_all || i % 8 == 7)
			TRY(vt_poll_ok(p->a.scq, &wc, i));
	return vt_quiet(p->a.scq, VT_SHORT);
}

/* Unsignaled ones free their slots when a later one completes. */
static why_t signals_wrap(struct vt_pair *p, const void *arg)
{
	int i;

	for (i = 0; i < 20; i++)
		TRY(signals(p, arg));
	return NULL;
}

/* New bytes at both ends, for round @i */
static void fill_both(struct vt_pair *p, int i)
{
	vt_buf_fill(&p->a.buf, 2 * i);
	vt_buf_fill(&p->b.buf, 2 * i + 1);
}

/* A fenced send waits for the reads before it, so it sends what they read. */
static why_t fence(struct vt_pair *p, const void *arg)
{
	const uint32_t len = 100003;
	struct ibv_sge local = vt_sge(&p->a.buf, 0, len);
	struct ibv_send_wr send = {
		.wr_id = 2, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
		.sg_list = &local, .num_sge = 1,
	};
	struct ibv_send_wr read = {
		.wr_id = 1, .opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &local, .num_sge = 1, .next = &send,
	};
	struct ibv_wc wc;
	int i;

	(void)arg;
	for (i = 0; i < 20; i++) {
		fill_both(p, i);
		memcpy(p->b.buf.shadow + len, p->b.buf.data, len);
		TRY(vt_post_recv_at(&p->b, 3, len, len));
		vt_aim(&p->a, &p->b, &read);
		TRY(vt_post_send(&p->a, &read));
		TRY(vt_poll_ok(p->a.scq, &wc, 1));
		TRY(vt_poll_ok(p->a.scq, &wc, 2));
		TRY(vt_poll_ok(p->b.rcq, &wc, 3));
		TRY(vt_buf_check(&p->b.buf));
	}
	return NULL;
}

/* All that was written before a message is there when it completes. */
static why_t write_send_order(struct vt_pair *p, const void *arg)
{
	const uint32_t len = 150001;
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, len);
	struct ibv_send_wr send = { .wr_id = 2, .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr write = { .wr_id = 1, .opcode = IBV_WR_RDMA_WRITE,
				     .sg_list = &sge, .num_sge = 1,
				     .next = &send };
	struct ibv_wc wc;
	int i;

	(void)arg;
	for (i = 0; i < 20; i++) {
		fill_both(p, i);
		memcpy(p->b.buf.shadow, p->a.buf.data, len);
		TRY(vt_post_recv_at(&p->b, 3, 0, 0));
		vt_aim(&p->a, &p->b, &write);
		TRY(vt_post_send(&p->a, &write));
		TRY(vt_poll_ok(p->b.rcq, &wc, 3));
		TRY(vt_buf_check(&p->b.buf));
		TRY(vt_poll_ok(p->a.scq, &wc, 2));
	}
	return NULL;
}

/* Reads larger than the window, more than responder resources, interleaved. */
static why_t read_many(struct vt_pair *p, const void *arg)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_READ };
	const uint32_t len = 5003;
	struct ibv_sge sge;
	struct ibv_wc wc;
	int i, n = 48;

	(void)arg;
	vt_buf_fill(&p->a.buf, 1);
	vt_buf_fill(&p->b.buf, 2);
	for (i = 0; i < n; i++) {
		sge = vt_sge(&p->a.buf, i * len, len);
		wr.wr_id = i;
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		vt_aim(&p->a, &p->b, &wr);
		wr.wr.rdma.remote_addr += (n - 1 - i) * len;
		memcpy(p->a.buf.shadow + i * len,
		       p->b.buf.data + (n - 1 - i) * len, len);
		TRY(vt_post_send(&p->a, &wr));
	}
	for (i = 0; i < n; i++)
		TRY(vt_poll_ok(p->a.scq, &wc, i));
	TRY(vt_buf_check(&p->a.buf));
	return vt_buf_check(&p->b.buf);
}

/* Many work requests in one call. */
static why_t list_post(struct vt_pair *p, const void *arg)
{
	struct ibv_send_wr wr[32];
	struct ibv_sge sge[32];
	struct ibv_wc wc;
	int i;

	(void)arg;
	vt_buf_fill(&p->a.buf, 1);
	vt_buf_fill(&p->b.buf, 2);
	memset(wr, 0, sizeof(wr));
	for (i = 0; i < 32; i++) {
		sge[i] = vt_sge(&p->a.buf, 1009 * i, 1009);
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		wr[i].next = i < 31 ? &wr[i + 1] : NULL;
		TRY(vt_post_recv_at(&p->b, i, 1013 * i, 1009));
		memcpy(p->b.buf.shadow + 1013 * i, p->a.buf.data + 1009 * i,
		       1009);
	}
	TRY(vt_post_send(&p->a, wr));
	for (i = 0; i < 32; i++) {
		TRY(vt_poll_ok(p->b.rcq, &wc, i));
		TRY(vt_poll_ok(p->a.scq, &wc, i));
	}
	return vt_buf_check(&p->b.buf);
}

static why_t woken(struct vt_ep *ep, int ms, bool expected)
{
	struct pollfd pfd = { .fd = ep->chan->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *ctx;
	int n = poll(&pfd, 1, ms);

	if (n > 0) {
		CHECK(!ibv_get_cq_event(ep->chan, &cq, &ctx),
		      "ibv_get_cq_event: %s", strerror(errno));
		ibv_ack_cq_events(cq, 1);
	}
	CHECK(!!n == expected, expected ? "no completion event" :
					  "completion event without reason");
	return NULL;
}

static why_t send_flagged(struct vt_pair *p, int flags)
{
	struct xfer x = {
		.op = xfer_op("SEND"), .len = 33, .sges = 1, .rsges = 1,
		.flags = IBV_SEND_SIGNALED | flags, .seed = 9,
	};

	return xfer_do(p, &x);
}

static why_t solicited(struct vt_pair *p, const void *arg)
{
	(void)arg;
	CHECK(!ibv_req_notify_cq(p->b.rcq, 1), "ibv_req_notify_cq");
	TRY(send_flagged(p, 0));
	TRY(woken(&p->b, VT_SHORT, false));
	TRY(send_flagged(p, IBV_SEND_SOLICITED));
	TRY(woken(&p->b, VT_LONG, true));
	/* the request was for one event */
	TRY(send_flagged(p, IBV_SEND_SOLICITED));
	TRY(woken(&p->b, VT_SHORT, false));
	/* any completion */
	CHECK(!ibv_req_notify_cq(p->b.rcq, 0), "ibv_req_notify_cq");
	TRY(send_flagged(p, 0));
	TRY(woken(&p->b, VT_LONG, true));
	/* send completions aren't solicited ones */
	CHECK(!ibv_req_notify_cq(p->a.scq, 1), "ibv_req_notify_cq");
	TRY(send_flagged(p, IBV_SEND_SOLICITED));
	return woken(&p->a, VT_SHORT, false);
}

static why_t solicited_error(struct vt_pair *p, const void *arg)
{
	(void)arg;
	TRY(vt_post_recv_at(&p->b, 1, 0, 64));
	CHECK(!ibv_req_notify_cq(p->b.rcq, 1), "ibv_req_notify_cq");
	TRY(vt_ep_state(&p->b, IBV_QPS_ERR));
	return woken(&p->b, VT_LONG, true);
}

static why_t solicited_imm(struct vt_pair *p, const void *arg)
{
	struct xfer x = {
		.op = xfer_op("RDMA_WRITE_WITH_IMM"), .len = 5000,
		.sges = 1, .rsges = 1, .flags = IBV_SEND_SIGNALED, .seed = 9,
	};

	(void)arg;
	CHECK(!ibv_req_notify_cq(p->b.rcq, 1), "ibv_req_notify_cq");
	TRY(xfer_do(p, &x));
	TRY(woken(&p->b, VT_SHORT, false));
	x.flags |= IBV_SEND_SOLICITED;
	TRY(xfer_do(p, &x));
	return woken(&p->b, VT_LONG, true);
}

static void test_flags(enum ibv_qp_type type)
{
	const char *t = vt_type_name(type);
	struct vt_conf c = vt_conf(type);

	vt_runf(&c, signals, NULL, "%s: only signaled sends complete", t);
	vt_runf(&c, signals_wrap, NULL, "%s: unsignaled sends free their slots",
		t);
	c.sig_all = 1;
	vt_runf(&c, signals, NULL, "%s: sq_sig_all", t);
	c.sig_all = 0;
	vt_runf(&c, solicited, NULL, "%s: solicited events of SEND", t);
	vt_runf(&c, solicited_error, NULL, "%s: an error is a solicited event",
		t);
	if (type == IBV_QPT_UD)
		return;
	vt_runf(&c, solicited_imm, NULL,
		"%s: solicited events of WRITE_WITH_IMM", t);
}

static void test_rc(void)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);

	vt_run("RC ATOMIC_CMP_AND_SWP", &c, cmp_swp, NULL);
	vt_run("RC ATOMIC_FETCH_AND_ADD", &c, fetch_add, NULL);
	vt_run("RC ATOMIC_FETCH_AND_ADD: 48 in flight", &c, add_many, NULL);
	c.buf = 400000;
	vt_run("RC: fenced SEND behind RDMA_READ", &c, fence, NULL);
	vt_run("RC: data of WRITE is there when SEND arrives", &c,
	       write_send_order, NULL);
	vt_run("RC RDMA_READ: 48 in flight", &c, read_many, NULL);
	vt_run("RC SEND: 32 posted in one list", &c, list_post, NULL);
}

/* 1 GiB in one message */

#define GIB	(1UL << 30)

static why_t write_gib(struct vt_pair *p, uint8_t *src, uint8_t *dst)
{
	struct ibv_mr *from, *to;
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_sge sge = { .addr = (uintptr_t)src, .length = GIB };
	why_t why = NULL;
	struct ibv_wc wc;

	from = ibv_reg_mr(p->a.dev->pd, src, GIB, 0);
	to = ibv_reg_mr(p->b.dev->pd, dst + VT_GUARD, GIB, VT_ALL_ACCESS);
	if (!from || !to)
		why = because("ibv_reg_mr of 1 GiB: %s", strerror(errno));
	if (!why) {
		sge.lkey = from->lkey;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.wr.rdma.remote_addr = (uintptr_t)dst + VT_GUARD;
		wr.wr.rdma.rkey = to->rkey;
		why = vt_post_send(&p->a, &wr);
	}
	if (!why)
		why = vt_poll(p->a.scq, &wc, 400000);
	if (!why && wc.status != IBV_WC_SUCCESS)
		why = because("%s", ibv_wc_status_str(wc.status));
	if (from)
		ibv_dereg_mr(from);
	if (to)
		ibv_dereg_mr(to);
	return why;
}

static why_t gib(struct vt_pair *p, const void *arg)
{
	size_t room = GIB + 2 * VT_GUARD, i;
	uint8_t *src, *dst;
	why_t why;

	(void)arg;
	CHECK(p->a.dev->port.max_msg_sz >= GIB, "max_msg_sz is only %u",
	      p->a.dev->port.max_msg_sz);
	src = mmap(NULL, GIB, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	dst = mmap(NULL, room, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(src != MAP_FAILED && dst != MAP_FAILED, "out of memory");
	vt_fill(src, GIB, 3);
	memset(dst, 0xc5, room);
	why = write_gib(p, src, dst);
	if (!why && memcmp(src, dst + VT_GUARD, GIB))
		why = because("1 GiB arrived garbled");
	for (i = 0; !why && i < VT_GUARD; i++)
		if (dst[i] != 0xc5 || dst[VT_GUARD + GIB + i] != 0xc5)
			why = because("guard overwritten");
	munmap(src, GIB);
	munmap(dst, room);
	return why;
}

static void test_huge(void)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);
	const char *name = "RC RDMA_WRITE: 1 GiB";

	if (vt_slowness() > 1)
		tap_skip("takes ten minutes with sanitizers", "%s", name);
	else if (vt_meminfo_kib("MemAvailable") < (long)(5 * GIB / 2 / 1024))
		tap_skip("needs 2.5 GiB of memory", "%s", name);
	else
		vt_run(name, &c, gib, NULL);
}

int main(int argc, char **argv)
{
	size_t t, i;

	vt_start(argc, argv);
	if (vt_opts.huge) {
		test_huge();
		return tap_finish();
	}
	for (t = 0; t < ARRAY_SIZE(types); t++) {
		for (i = 0; i < xfer_num_ops; i++) {
			if (!has(&xfer_ops[i], types[t]))
				continue;
			test_sizes(types[t], &xfer_ops[i]);
			test_sge_lists(types[t], &xfer_ops[i]);
			test_inline(types[t], &xfer_ops[i]);
		}
		test_flags(types[t]);
	}
	test_rc();
	return tap_finish();
}
