// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 +6 */
/* Receivers that aren't ready, peers that are gone, and messages dropped. */

#include "vt.h"

#define LEN	3000

static struct ibv_send_wr send_of(struct vt_pair *p, uint64_t wr_id,
				  struct ibv_sge *sge)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = sge, .num_sge = 1,
	};

	vt_aim(&p->a, &p->b, &wr);
	return wr;
}

static why_t start_send(struct vt_pair *p, uint64_t wr_id, uint32_t len)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, len);
	struct ibv_send_wr wr = send_of(p, wr_id, &sge);

	return vt_post_send(&p->a, &wr);
}

/* A's send fails; what is behind it is flushed. Tells how long it took. */
static why_t send_fails(struct vt_pair *p, enum ibv_wc_status status,
			uint64_t *us)
{
	uint64_t start = vt_now_us();

	TRY(vt_post_recv_at(&p->a, 7, 0, LEN));
	TRY(start_send(p, 1, LEN));
	TRY(start_send(p, 2, LEN));
	TRY(vt_poll_status(p->a.scq, 1, status, "A's send"));
	*us = vt_now_us() - start;
	TRY(vt_poll_status(p->a.scq, 2, IBV_WC_WR_FLUSH_ERR, "A's next send"));
	TRY(vt_poll_status(p->a.rcq, 7, IBV_WC_WR_FLUSH_ERR, "A's receive"));
	TRY(vt_ep_is(&p->a, IBV_QPS_ERR));
	return vt_quiet(p->a.scq, 50);
}

/* RNR */

/* Some codes of the RNR timer (table 45) in microseconds */
static const struct rnr {
	uint8_t code, retry;
	uint32_t us;
} rnrs[] = {
	{ 12, 0, 640 },
	{ 12, 1, 640 },
	{ 14, 3, 1280 },
	{ 18, 6, 5120 },
	{ 24, 2, 40960 },
};

/*
 * Each retry waits for what the responder asks for. The specification sets no
 * upper bound; a scheduler's delay for each is granted.
 */
static why_t rnr_exceeded(struct vt_pair *p, const void *arg)
{
	const struct rnr *rnr = arg;
	uint64_t us, least = (uint64_t)rnr->retry * rnr->us;

	TRY(send_fails(p, IBV_WC_RNR_RETRY_EXC_ERR, &us));
	CHECK(us >= least, "failed after %llu us: too early for %u retries",
	      (unsigned long long)us, rnr->retry);
	CHECK(us <= 4 * least + 200000 * (rnr->retry + 1),
	      "failed only after %llu us", (unsigned long long)us);
	/* the responder has done nothing wrong */
	return vt_ep_is(&p->b, IBV_QPS_RTS);
}

static why_t rnr_receive_late(struct vt_pair *p, const void *arg)
{
	struct ibv_wc wc;

	(void)arg;
	vt_buf_fill(&p->a.buf, 1);
	vt_buf_fill(&p->b.buf, 2);
	TRY(start_send(p, 1, LEN));
	TRY(start_send(p, 2, LEN));
	TRY(vt_quiet(p->a.scq, 700));
	memcpy(p->b.buf.shadow, p->a.buf.data, LEN);
	memcpy(p->b.buf.shadow + 4096, p->a.buf.data, LEN);
	TRY(vt_post_recv_at(&p->b, 3, 0, LEN));
	TRY(vt_post_recv_at(&p->b, 4, 4096, LEN));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	TRY(vt_poll_ok(p->a.scq, &wc, 2));
	TRY(vt_poll_ok(p->b.rcq, &wc, 3));
	TRY(vt_poll_ok(p->b.rcq, &wc, 4));
	return vt_buf_check(&p->b.buf);
}

static void test_rnr(void)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);

	vt_run("RC: no receive, rnr_retry 7: waits for one", &c,
	       rnr_receive_late, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(rnrs); i++) {
		c.rnr_retry = rnrs[i].retry;
		c.min_rnr = rnrs[i].code;
		vt_runf(&c, rnr_exceeded, &rnrs[i],
			"RC: no receive, rnr_retry %u, RNR timer %u us",
			rnrs[i].retry, rnrs[i].us);
	}
}

/* A peer that is gone */

struct gone {
	uint8_t timeout, retry;
};

/*
 * 9.7.6.1.3: a timeout is from 4.096 us * 2^timeout to 4 times that. A scheduler's delay is
 * granted for each time that the timer fires, of which late ones and every second one do not
 * count: at most three of four.
 */
static why_t retry_exceeded_err(struct vt_pair *p, const void *arg)
{
	const struct gone *gone = arg;
	uint64_t one = (4096ULL << gone->timeout) / 1000, us;
	uint64_t tries = gone->retry + 1, most = 4 * tries * (one + 20000) + 200000;

	TRY(vt_ep_state(&p->b, IBV_QPS_RESET));
	TRY(send_fails(p, IBV_WC_RETRY_EXC_ERR, &us));
	CHECK(us >= tries * one, "failed after %llu us, too early for %llu",
	      (unsigned long long)us, (unsigned long long)(tries * one));
	CHECK(us <= most, "failed only after %llu us, not %llu", (unsigned long long)us,
	      (unsigned long long)most);
	return NULL;
}

static why_t peer_destroyed(struct vt_pair *p, const void *arg)
{
	uint64_t us;

	(void)arg;
	CHECK(!ibv_destroy_qp(p->b.qp), "ibv_destroy_qp: %s", strerror(errno));
	p->b.qp = NULL;
	/* aiming a SEND on RC needs no peer */
	return send_fails(p, IBV_WC_RETRY_EXC_ERR, &us);
}

static why_t read_from_gone(struct vt_pair *p, const void *arg)
{
	const enum ibv_wr_opcode *opcode = arg;
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 8);
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = *opcode,
				  .sg_list = &sge, .num_sge = 1 };

	vt_buf_fill(&p->a.buf, 1);
	TRY(vt_ep_state(&p->b, IBV_QPS_RESET));
	vt_aim(&p->a, &p->b, &wr);
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_status(p->a.scq, 1, IBV_WC_RETRY_EXC_ERR, "A's request"));
	TRY(vt_ep_is(&p->a, IBV_QPS_ERR));
	return vt_buf_check(&p->a.buf);
}

/* Timeout 0 disables the timer. */
static why_t wait_for_ever(struct vt_pair *p, const void *arg)
{
	(void)arg;
	TRY(vt_ep_state(&p->b, IBV_QPS_RESET));
	TRY(start_send(p, 1, LEN));
	TRY(vt_quiet(p->a.scq, 1500));
	return vt_ep_is(&p->a, IBV_QPS_RTS);
}

/* Ringing the doorbell again and again must not postpone the timeout. */
static why_t doorbells(struct vt_pair *p, const void *arg)
{
	uint64_t start = vt_now_us(), last = start;
	uint64_t one = (4096ULL << p->conf.timeout) / 1000;
	uint64_t end = start + 4 * one * (p->conf.retry + 1) + 1000000;
	int posted = 0;
	struct ibv_wc wc;

	(void)arg;
	TRY(vt_ep_state(&p->b, IBV_QPS_RESET));
	for (;;) {
		if (vt_now_us() - last > one / 8 && posted < 60) {
			TRY(start_send(p, posted++, 1));
			last = vt_now_us();
		}
		if (ibv_poll_cq(p->a.scq, 1, &wc) == 1)
			break;
		CHECK(vt_now_us() < end, "no completion within %llu ms",
		      (unsigned long long)(end - start) / 1000);
	}
	CHECK(wc.status == IBV_WC_RETRY_EXC_ERR && wc.wr_id == 0,
	      "wr %llu completes with %s", (unsigned long long)wc.wr_id,
	      ibv_wc_status_str(wc.status));
	return NULL;
}

/* The peer comes back before the retries are used up. */
static why_t peer_late(struct vt_pair *p, const void *arg)
{
	struct ibv_wc wc;

	(void)arg;
	TRY(vt_ep_init(&p->a));
	TRY(vt_ep_rtr(&p->a, &p->b));
	TRY(vt_ep_rts(&p->a));
	vt_buf_fill(&p->a.buf, 1);
	TRY(start_send(p, 1, LEN));
	vt_sleep_ms(700);
	TRY(vt_ep_init(&p->b));
	TRY(vt_post_recv_at(&p->b, 2, 0, LEN));
	TRY(vt_ep_rtr(&p->b, &p->a));
	TRY(vt_ep_rts(&p->b));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	TRY(vt_poll_ok(p->b.rcq, &wc, 2));
	CHECK(!memcmp(p->a.buf.data, p->b.buf.data, LEN), "garbled");
	return vt_ping(p);
}

/* An RC QP with a timeout and a count of retries */
static struct vt_conf rc_with(uint8_t timeout, uint8_t retry)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);

	c.timeout = timeout;
	c.retry = retry;
	return c;
}

static void test_gone(void)
{
	static const struct gone gone[] = {
		{ 14, 0 }, { 14, 1 }, { 12, 3 }, { 12, 7 }, { 8, 7 }, { 16, 2 },
	};
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct vt_conf c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(gone); i++) {
		c = rc_with(gone[i].timeout, gone[i].retry);
		vt_runf(&c, retry_exceeded_err, &gone[i],
			"RC: peer in RESET, timeout %u, retry_cnt %u",
			c.timeout, c.retry);
	}
	c = rc_with(14, 2);
	vt_run("RC: peer destroyed", &c, peer_destroyed, NULL);
	vt_run("RC: READ from a peer that is gone", &c, read_from_gone, &ops[0]);
	vt_run("RC: FETCH_ADD at a peer that is gone", &c, read_from_gone,
	       &ops[1]);
	c = rc_with(15, 1);
	vt_run("RC: doorbells don't postpone the timeout", &c, doorbells, NULL);
	c = rc_with(0, 1);
	vt_run("RC: timeout 0 waits for ever", &c, wait_for_ever, NULL);
	c = rc_with(16, 7);
	vt_run_idle("RC: peer gets ready late", &c, peer_late, NULL);
}

/* Datagrams */

static why_t ud_wrong_qkey(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 100);
	struct ibv_send_wr wr = send_of(p, 1, &sge);
	struct ibv_wc wc;

	(void)arg;
	vt_buf_fill(&p->a.buf, 1);
	vt_buf_fill(&p->b.buf, 2);
	TRY(vt_post_recv_at(&p->b, 2, 0, 140));
	wr.wr.ud.remote_qkey = VT_QKEY + 1;
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	TRY(vt_quiet(p->b.rcq, VT_SHORT));
	TRY(vt_buf_check(&p->b.buf));
	/* the receive is still there for a right one */
	wr.wr.ud.remote_qkey = VT_QKEY;
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	TRY(vt_poll_ok(p->b.rcq, &wc, 2));
	return vt_ep_is(&p->b, IBV_QPS_RTS);
}

/* A Q_Key with the top bit set stands for that of the QP (10.2.5). */
static why_t ud_controlled_qkey(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 100);
	struct ibv_send_wr wr = send_of(p, 1, &sge);
	struct ibv_wc wc;

	(void)arg;
	TRY(vt_post_recv_at(&p->b, 2, 0, 140));
	wr.wr.ud.remote_qkey = 0x80000000;
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	return vt_poll_ok(p->b.rcq, &wc, 2);
}

static why_t ud_wrong_qpn(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 100);
	struct ibv_send_wr wr = send_of(p, 1, &sge);
	struct ibv_wc wc;

	(void)arg;
	TRY(vt_post_recv_at(&p->b, 2, 0, 140));
	wr.wr.ud.remote_qpn ^= 0x800000;
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	TRY(vt_quiet(p->b.rcq, VT_SHORT));
	return vt_ep_is(&p->b, IBV_QPS_RTS);
}

static why_t no_receive(struct vt_pair *p, const void *arg)
{
	struct ibv_wc wc;
	int i;

	(void)arg;
	for (i = 0; i < 5; i++) {
		TRY(start_send(p, i, 100));
		TRY(vt_poll_ok(p->a.scq, &wc, i));
	}
	vt_sleep_ms(100);
	return vt_ping(p);
}

/*
 * Local errors of UC and UD stop the send queue, and only that: state SQE,
 * which RTS is left to again (10.3.1.6).
 */
static why_t sqe(struct vt_pair *p, struct ibv_send_wr *wr,
		 enum ibv_wc_status status)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	int err;

	TRY(vt_post_recv_at(&p->b, 3, 0, LEN));
	TRY(vt_post_send(&p->a, wr));
	TRY(vt_poll_status(p->a.scq, 1, status, "A's send"));
	TRY(vt_ep_is(&p->a, IBV_QPS_SQE));
	TRY(start_send(p, 2, 10));
	TRY(vt_poll_status(p->a.scq, 2, IBV_WC_WR_FLUSH_ERR, "A's next send"));
	TRY(vt_quiet(p->b.rcq, 100));
	err = ibv_modify_qp(p->a.qp, &attr, IBV_QP_STATE);
	CHECK(!err, "modify from SQE to RTS: %s", strerror(err));
	TRY(start_send(p, 4, 10));
	TRY(vt_poll_status(p->a.scq, 4, IBV_WC_SUCCESS, "A's send after SQE"));
	TRY(vt_poll_status(p->b.rcq, 3, IBV_WC_SUCCESS, "B's receive"));
	return vt_ping(p);
}

static why_t too_large(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0,
				    vt_mtu_bytes(p->conf.mtu) + 1);
	struct ibv_send_wr wr = send_of(p, 1, &sge);

	(void)arg;
	return sqe(p, &wr, IBV_WC_LOC_LEN_ERR);
}

static why_t wrong_lkey(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 100);
	struct ibv_send_wr wr = send_of(p, 1, &sge);

	(void)arg;
	sge.lkey ^= 0x55;
	return sqe(p, &wr, IBV_WC_LOC_PROT_ERR);
}

/* An unreliable write that may not be done is dropped, unseen by the writer. */
static why_t uc_bad_write(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, LEN);
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};
	struct ibv_wc wc;

	(void)arg;
	vt_buf_fill(&p->a.buf, 1);
	vt_buf_fill(&p->b.buf, 2);
	vt_aim(&p->a, &p->b, &wr);
	wr.wr.rdma.rkey ^= 0x55;
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	vt_sleep_ms(100);
	TRY(vt_ep_is(&p->a, IBV_QPS_RTS));
	return vt_buf_check(&p->b.buf);
}

static void test_unreliable(void)
{
	struct vt_conf c = vt_conf(IBV_QPT_UD);

	vt_run("UD: wrong Q_Key is dropped", &c, ud_wrong_qkey, NULL);
	vt_run("UD: controlled Q_Key", &c, ud_controlled_qkey, NULL);
	vt_run("UD: unknown QP number is dropped", &c, ud_wrong_qpn, NULL);
	vt_run("UD: no receive, dropped", &c, no_receive, NULL);
	vt_run("UD: message too large", &c, too_large, NULL);
	vt_run("UD: wrong lkey", &c, wrong_lkey, NULL);
	c.type = IBV_QPT_UC;
	vt_run("UC: no receive, dropped", &c, no_receive, NULL);
	vt_run("UC: wrong lkey", &c, wrong_lkey, NULL);
	vt_run("UC: WRITE with a wrong rkey is dropped", &c, uc_bad_write, NULL);
}

int main(int argc, char **argv)
{
	vt_start(argc, argv);
	test_rnr();
	test_gone();
	test_unreliable();
	return tap_finish();
}
