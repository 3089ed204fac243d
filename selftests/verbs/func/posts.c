// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 --hostile */
/*
 * What may be posted when: ibv_post_send(3) as a table, bad_wr, errno.
 *
 * The provider is stock and writes into rings shared with the kernel. What it
 * checks itself is refused at once; it checks neither the opcode nor the state
 * of the QP, so these deviate from the man page:
 *  - an opcode that the QP's transport doesn't have completes with
 *    LOC_QP_OP_ERR (man: immediate error);
 *  - a post before RTS returns the EINVAL of the doorbell with bad_wr NULL
 *    (man: bad_wr is the first that failed);
 *  - misaligned and short atomics are refused at once (man: nothing said).
 */

#include "vt.h"

#define IB_WR_REG_MR	0x20	/* kernel users' only */

static int abs_err(int err)
{
	return err < 0 ? -err : err;
}

/* The table of ibv_post_send(3) for the transports there are */

enum verdict { NO, YES, OPT };	/* OPT: with memory windows only */

static const struct row {
	const char *name;
	uint32_t opcode;
	enum verdict ud, uc, rc;
	bool hostile;
} rows[] = {
	{ "SEND", IBV_WR_SEND, YES, YES, YES, false },
	{ "SEND_WITH_IMM", IBV_WR_SEND_WITH_IMM, YES, YES, YES, false },
	{ "RDMA_WRITE", IBV_WR_RDMA_WRITE, NO, YES, YES, false },
	{ "RDMA_WRITE_WITH_IMM", IBV_WR_RDMA_WRITE_WITH_IMM, NO, YES, YES,
	  false },
	{ "RDMA_READ", IBV_WR_RDMA_READ, NO, NO, YES, false },
	{ "ATOMIC_CMP_AND_SWP", IBV_WR_ATOMIC_CMP_AND_SWP, NO, NO, YES, false },
	{ "ATOMIC_FETCH_AND_ADD", IBV_WR_ATOMIC_FETCH_AND_ADD, NO, NO, YES,
	  false },
	{ "LOCAL_INV", IBV_WR_LOCAL_INV, NO, OPT, OPT, false },
	{ "SEND_WITH_INV", IBV_WR_SEND_WITH_INV, NO, OPT, OPT, false },
	/* offloads that the device doesn't claim, and what isn't an opcode */
	{ "TSO", IBV_WR_TSO, NO, NO, NO, true },
	{ "DRIVER1", IBV_WR_DRIVER1, NO, NO, NO, true },
	{ "12", 12, NO, NO, NO, true },
	{ "IB_WR_REG_MR", IB_WR_REG_MR, NO, NO, NO, true },
	{ "0x80000000", 0x80000000, NO, NO, NO, true },
	{ "0xffffffff", 0xffffffff, NO, NO, NO, true },
};

static enum verdict verdict(const struct row *row, enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return row->rc;
	case IBV_QPT_UC:
		return row->uc;
	default:
		return row->ud;
	}
}

static why_t row_works(struct vt_pair *p, struct ibv_send_wr *wr)
{
	struct ibv_wc wc;

	TRY(vt_post_recv_at(&p->b, 2, 0, 100));
	TRY(vt_post_send(&p->a, wr));
	return vt_poll_ok(p->a.scq, &wc, 1);
}

/* RC ends in ERR; UC and UD stop only the send queue. */
static why_t row_fails(struct vt_pair *p, struct ibv_send_wr *wr)
{
	TRY(vt_post_recv_at(&p->b, 2, 0, 100));
	TRY(vt_post_send(&p->a, wr));
	TRY(vt_poll_status(p->a.scq, 1, IBV_WC_LOC_QP_OP_ERR, "A's send"));
	TRY(vt_ep_is(&p->a, p->conf.type == IBV_QPT_RC ? IBV_QPS_ERR :
							 IBV_QPS_SQE));
	TRY(vt_quiet(p->b.rcq, 50));
	return vt_ep_is(&p->b, IBV_QPS_RTS);
}

static why_t row_case(struct vt_pair *p, const void *arg)
{
	const struct row *row = arg;
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 8);
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = row->opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};

	if (p->conf.type == IBV_QPT_UD && row->ud == NO)
		wr.opcode = IBV_WR_SEND;	/* an address is needed in any case */
	vt_aim(&p->a, &p->b, &wr);
	wr.opcode = row->opcode;
	if (verdict(row, p->conf.type) == YES)
		return row_works(p, &wr);
	return row_fails(p, &wr);
}

static void test_table(void)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_UD, IBV_QPT_UC, IBV_QPT_RC,
	};
	char name[128];
	size_t i, t;

	for (t = 0; t < ARRAY_SIZE(types); t++) {
		for (i = 0; i < ARRAY_SIZE(rows); i++) {
			struct vt_conf c = vt_conf(types[t]);
			enum verdict v = verdict(&rows[i], types[t]);

			snprintf(name, sizeof(name), "%s: opcode %s %s",
				 vt_type_name(types[t]), rows[i].name,
				 v == YES ? "works" : "is LOC_QP_OP_ERR");
			if (v == OPT)
				tap_skip("memory windows have tests of their own",
					 "%s", name);
			else if (rows[i].hostile && !vt_opts.hostile)
				tap_skip("only with --hostile", "%s", name);
			else
				vt_run(name, &c, row_case, &rows[i]);
		}
	}
}

/* Lists that fail in the middle */

struct three {
	struct ibv_send_wr wr[3];
	struct ibv_sge sge[3][64];
};

static void make_three(struct vt_pair *p, struct three *t)
{
	int i, k;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < 3; i++) {
		for (k = 0; k < 64; k++)
			t->sge[i][k] = vt_sge(&p->a.buf, 16 * k, 8);
		t->wr[i].wr_id = i;
		t->wr[i].opcode = p->conf.type == IBV_QPT_UD ?
					  IBV_WR_SEND : IBV_WR_RDMA_WRITE;
		t->wr[i].send_flags = IBV_SEND_SIGNALED;
		t->wr[i].sg_list = t->sge[i];
		t->wr[i].num_sge = 1;
		t->wr[i].next = i < 2 ? &t->wr[i + 1] : NULL;
		vt_aim(&p->a, &p->b, &t->wr[i]);
	}
}

/* The first is executed, the second is bad_wr, the third isn't looked at. */
static why_t middle_fails(struct vt_pair *p, struct three *t, int want)
{
	struct ibv_send_wr *bad = NULL;
	struct ibv_wc wc;
	int err = ibv_post_send(p->a.qp, t->wr, &bad);

	CHECK(err, "ibv_post_send succeeds");
	CHECK(bad == &t->wr[1], "bad_wr isn't the second of the list");
	CHECK(abs_err(err) == want, "errno %d (%s), not %d", err,
	      strerror(abs_err(err)), want);
	TRY(vt_poll_ok(p->a.scq, &wc, 0));
	TRY(vt_quiet(p->a.scq, 100));
	return vt_ep_is(&p->a, IBV_QPS_RTS);
}

static why_t too_many_sges(struct vt_pair *p, const void *arg)
{
	struct three t;

	(void)arg;
	make_three(p, &t);
	t.wr[1].num_sge = p->a.cap.max_send_sge + 1;
	TRY(middle_fails(p, &t, EINVAL));
	/* the limit itself is fine */
	t.wr[1].num_sge = p->a.cap.max_send_sge;
	TRY(vt_post_send(&p->a, t.wr));
	TRY(vt_poll_status(p->a.scq, 0, IBV_WC_SUCCESS, "first"));
	TRY(vt_poll_status(p->a.scq, 1, IBV_WC_SUCCESS, "second"));
	return vt_poll_status(p->a.scq, 2, IBV_WC_SUCCESS, "third");
}

static why_t inline_too_long(struct vt_pair *p, const void *arg)
{
	struct three t;

	(void)arg;
	make_three(p, &t);
	t.wr[1].send_flags |= IBV_SEND_INLINE;
	t.sge[1][0].length = p->a.cap.max_inline_data + 1;
	return middle_fails(p, &t, EINVAL);
}

static why_t short_atomic(struct vt_pair *p, const void *arg)
{
	struct three t;

	(void)arg;
	make_three(p, &t);
	t.wr[1].opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	vt_aim(&p->a, &p->b, &t.wr[1]);
	t.sge[1][0].length = 7;
	return middle_fails(p, &t, EINVAL);
}

static why_t odd_atomic(struct vt_pair *p, const void *arg)
{
	struct three t;

	(void)arg;
	make_three(p, &t);
	t.wr[1].opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	vt_aim(&p->a, &p->b, &t.wr[1]);
	t.wr[1].wr.atomic.remote_addr += 4;
	return middle_fails(p, &t, EINVAL);
}

/* Full queues */

/* Without receives at the peer, sends stay; and all of them are good. */
static why_t send_queue_full(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 8);
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int i, k, n, err = 0;

	(void)arg;
	for (n = 0; n <= 4 * (int)p->a.cap.max_send_wr && !err; n++) {
		struct ibv_send_wr wr = {
			.wr_id = n, .opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = &sge, .num_sge = 1,
		};

		bad = NULL;
		err = ibv_post_send(p->a.qp, &wr, &bad);
		CHECK(!err == !bad, "error %d, but bad_wr %s", err,
		      bad ? "set" : "NULL");
		CHECK(!bad || bad == &wr, "bad_wr is something else");
	}
	n--;
	CHECK(err, "the queue of %u takes %d", p->a.cap.max_send_wr, n);
	CHECK(abs_err(err) == ENOMEM, "errno %d, not ENOMEM", err);
	CHECK(n >= (int)p->a.cap.max_send_wr, "full after %d of %u", n,
	      p->a.cap.max_send_wr);
	for (i = 0; i < n; i += k) {
		for (k = 0; k < 8 && i + k < n; k++)
			TRY(vt_post_recv_at(&p->b, i + k, 0, 8));
		for (k = 0; k < 8 && i + k < n; k++) {
			TRY(vt_poll_ok(p->a.scq, &wc, i + k));
			TRY(vt_poll_ok(p->b.rcq, &wc, i + k));
		}
	}
	return vt_ping(p);
}

static why_t recv_queue_full(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->b.buf, 0, 8);
	struct ibv_recv_wr wr[2] = {
		{ .wr_id = 0, .sg_list = &sge, .num_sge = 1, .next = &wr[1] },
		{ .wr_id = 1, .sg_list = &sge, .num_sge = 1 },
	};
	struct ibv_recv_wr *bad = NULL;
	int n, err = 0;

	(void)arg;
	for (n = 0; n <= 4 * (int)p->b.cap.max_recv_wr && !err; n++)
		err = ibv_post_recv(p->b.qp, wr, &bad);
	n = 2 * (n - 1) + (bad == &wr[1]);
	CHECK(err, "the queue of %u takes %d", p->b.cap.max_recv_wr, n);
	CHECK(abs_err(err) == ENOMEM, "errno %d, not ENOMEM", err);
	CHECK(bad == &wr[0] || bad == &wr[1], "bad_wr is something else");
	CHECK(n >= (int)p->b.cap.max_recv_wr, "full after %d of %u", n,
	      p->b.cap.max_recv_wr);
	return NULL;
}

static why_t recv_too_many_sges(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge[65];
	struct ibv_recv_wr wr[2] = {
		{ .wr_id = 1, .sg_list = sge, .num_sge = 1, .next = &wr[1] },
		{ .wr_id = 2, .sg_list = sge },
	};
	struct ibv_recv_wr *bad = NULL;
	int i, err;

	(void)arg;
	for (i = 0; i < 65; i++)
		sge[i] = vt_sge(&p->b.buf, 16 * i, 8);
	wr[1].num_sge = p->b.cap.max_recv_sge + 1;
	err = ibv_post_recv(p->b.qp, wr, &bad);
	CHECK(abs_err(err) == EINVAL, "errno %d, not EINVAL", err);
	CHECK(bad == &wr[1], "bad_wr isn't the second of the list");
	return NULL;
}

/* States */

static why_t post_refused(struct vt_pair *p, const char *state)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 8);
	struct ibv_send_wr wr = {
		.wr_id = 666, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};
	struct ibv_send_wr *bad = NULL;
	int err;

	vt_aim(&p->a, &p->b, &wr);
	err = ibv_post_send(p->a.qp, &wr, &bad);
	CHECK(err, "ibv_post_send in %s succeeds", state);
	CHECK(abs_err(err) == EINVAL, "errno %d in %s, not EINVAL", err, state);
	return vt_quiet(p->a.scq, 50);
}

/* What was refused is never executed, although the provider published it. */
static why_t post_before_rts(struct vt_pair *p, const void *arg)
{
	if (p->conf.type == IBV_QPT_UD)
		TRY(vt_ep_ah(&p->a, &p->b.dev->gid));
	if (!arg)
		TRY(post_refused(p, "RESET"));
	TRY(vt_ep_init(&p->a));
	TRY(vt_ep_init(&p->b));
	if (arg)
		TRY(post_refused(p, "INIT"));
	TRY(vt_ep_rtr(&p->a, &p->b));
	TRY(vt_ep_rtr(&p->b, &p->a));
	if (arg)
		TRY(post_refused(p, "RTR"));
	TRY(vt_ep_rts(&p->a));
	TRY(vt_ep_rts(&p->b));
	if (p->conf.type == IBV_QPT_UD)
		TRY(vt_ep_ah(&p->b, &p->a.dev->gid));
	TRY(vt_ping(p));
	return vt_quiet(p->a.scq, 50);
}

static why_t recv_in_init(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 8);
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };
	struct ibv_wc wc;

	(void)arg;
	TRY(vt_ep_init(&p->b));
	TRY(vt_post_recv_at(&p->b, 2, 0, 48));
	TRY(vt_ep_init(&p->a));
	TRY(vt_ep_rtr(&p->a, &p->b));
	TRY(vt_ep_rtr(&p->b, &p->a));
	TRY(vt_ep_rts(&p->a));
	if (p->conf.type == IBV_QPT_UD)
		TRY(vt_ep_ah(&p->a, &p->b.dev->gid));
	vt_aim(&p->a, &p->b, &wr);
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	return vt_poll_ok(p->b.rcq, &wc, 2);	/* in RTR still */
}

static why_t post_in_err(struct vt_pair *p, const void *arg)
{
	struct three t;
	int i;

	(void)arg;
	TRY(vt_ep_state(&p->a, IBV_QPS_ERR));
	make_three(p, &t);
	TRY(vt_post_send(&p->a, t.wr));
	for (i = 0; i < 3; i++)
		TRY(vt_poll_status(p->a.scq, i, IBV_WC_WR_FLUSH_ERR, "send"));
	return vt_quiet(p->a.scq, 50);
}

/*
 * Nothing tells the kernel of a receive posted in ERR. It is flushed when the
 * kernel hears of the QP next.
 */
static why_t recv_in_err(struct vt_pair *p, const void *arg)
{
	struct three t;

	(void)arg;
	TRY(vt_ep_state(&p->a, IBV_QPS_ERR));
	TRY(vt_post_recv_at(&p->a, 5, 0, 100));
	make_three(p, &t);
	t.wr[0].next = NULL;
	TRY(vt_post_send(&p->a, t.wr));
	TRY(vt_poll_status(p->a.scq, 0, IBV_WC_WR_FLUSH_ERR, "send"));
	return vt_poll_status(p->a.rcq, 5, IBV_WC_WR_FLUSH_ERR, "receive");
}

static void test_type(enum ibv_qp_type type)
{
	struct vt_conf c = vt_conf(type);
	const char *t = vt_type_name(type);
	char name[128];
	size_t i;
	static const struct {
		const char *name;
		vt_case fn;
		bool idle;
		const void *arg;
	} cases[] = {
		{ "send with too many pieces", too_many_sges, false, NULL },
		{ "inline too long", inline_too_long, false, NULL },
		{ "receive queue full", recv_queue_full, false, NULL },
		{ "receive with too many pieces", recv_too_many_sges, false,
		  NULL },
		{ "send in RESET is refused", post_before_rts, true, NULL },
		{ "send in INIT and RTR is refused", post_before_rts, true,
		  "late" },
		{ "receive in INIT", recv_in_init, true, NULL },
		{ "send in ERR is flushed", post_in_err, false, NULL },
		{ "receive in ERR is flushed", recv_in_err, false, NULL },
	};

	c.inline_data = 32;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(name, sizeof(name), "%s: %s", t, cases[i].name);
		(cases[i].idle ? vt_run_idle : vt_run)(name, &c, cases[i].fn,
						       cases[i].arg);
	}
}

int main(int argc, char **argv)
{
	struct vt_conf c;

	vt_start(argc, argv);
	test_table();
	test_type(IBV_QPT_RC);
	test_type(IBV_QPT_UC);
	test_type(IBV_QPT_UD);
	c = vt_conf(IBV_QPT_RC);
	vt_run("RC: send queue full", &c, send_queue_full, NULL);
	vt_run("RC: atomic with less than 8 bytes", &c, short_atomic, NULL);
	vt_run("RC: atomic at an odd address", &c, odd_atomic, NULL);
	return tap_finish();
}
