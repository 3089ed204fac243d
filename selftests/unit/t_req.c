// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The requester: no losses; what fails locally or waits for pages; ACKs that nobody owes */

#include "tests.h"
#include "peer.h"

#define US	1000ULL

static const char *mtu_name(const struct sim_cfg *c)
{
	static const char * const names[] = {
		"", "256", "512", "1024", "2048", "4096"
	};

	return names[c->mtu];
}

static void one(const struct sim_cfg *cfg, u32 opcode, u32 len, u32 chunk)
{
	struct xfers t;

	t_where("%u bytes, extents of %u", len, chunk);
	xfers_init(&t, cfg, len + 256, chunk);
	xfer_put(&t, opcode, len);
	xfers_run_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_DUPLICATE), 0);
	CHECK_EQ(t.s->a.qp.req.reads, 0);
	CHECK_EQ(t.s->a.qp.req.read_psns, 0);
	xfers_end(&t);
}

static void sizes(const struct sim_cfg *cfg)
{
	u32 mtu = 128 << cfg->mtu, i, k;
	u32 sizes[] = { 0, 1, 2, 3, 4, mtu - 1, mtu, mtu + 1, 5 * mtu + 3 };

	for (i = 0; i < ARRAY_SIZE(xfer_rc_ops); i++) {
		t_case("req: %s, MTU %s, IPv%d, PSN %#x", xfer_name(xfer_rc_ops[i]),
		       mtu_name(cfg), cfg->v6 ? 6 : 4, cfg->psn);
		for (k = 0; k < ARRAY_SIZE(sizes); k++) {
			one(cfg, xfer_rc_ops[i], sizes[k], 4096);
			one(cfg, xfer_rc_ops[i], sizes[k], 104);
		}
	}
}

static void back_to_back(void)
{
	struct sim_cfg cfg = sim_default;
	struct rnd r = { 5 };
	struct xfers t;
	u32 i, round;

	t_case("req: queues full of mixed messages, across the PSN wrap");
	cfg.psn = 0xffff80;
	for (round = 0; round < 50; round++) {
		t_where("round %u", round);
		xfers_init(&t, &cfg, 400000, 1000);
		for (i = 0; i < 60; i++)
			xfer_put(&t, xfer_rc_ops[rnd_below(&r, ARRAY_SIZE(xfer_rc_ops))],
				 rnd_below(&r, 6000));
		xfers_run_check(&t);
		CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 0);
		xfers_end(&t);
	}
}

/* A WRITE in the ring of A, without a doorbell */
static void put_write(struct xfers *t, u32 flags)
{
	struct sim_wr wr = xfer_make(t, IB_WR_RDMA_WRITE, 1500);

	wr.flags = flags;
	sim_put_send(&t->s->a, &wr);
}

static void unsignaled(void)
{
	struct xfers t;
	u32 i;

	t_case("req: unsignaled work makes no completion, but completes");
	xfers_init(&t, NULL, 65536, 4096);
	for (i = 0; i < 10; i++)
		put_write(&t, i == 9 ? IB_SEND_SIGNALED : 0);
	xfers_run(&t);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].wr_id, 9);
	CHECK_EQ(t.s->a.qp.sq.ring.buf->consumer_index, 10);
	xfers_check_data(&t, 10);
	xfers_end(&t);
}

static void unannounced(void)
{
	struct xfers t;
	u32 i;

	t_case("req: work posted without a doorbell is not started by an ACK");
	xfers_init(&t, NULL, 65536, 4096);
	for (i = 0; i < 3; i++) {
		put_write(&t, IB_SEND_SIGNALED);
		if (!i)
			sim_doorbell(&t.s->a);
	}
	/* the ACK of the first runs the QP */
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 1);
	xfers_run(&t);
	CHECK_EQ(t.s->a.scq.n, 3);
	xfers_check_data(&t, 3);
	xfers_end(&t);

	t_case("req: and is flushed only at its doorbell");
	xfers_init(&t, NULL, 65536, 4096);
	for (i = 0; i < 3; i++)
		put_write(&t, IB_SEND_SIGNALED);
	sroce_flush_qp_error(&t.s->a.qp);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 0);
	sim_doorbell(&t.s->a);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_WR_FLUSH_ERR);
	xfers_end(&t);
}

static int lose_answers(struct sim *s, struct sim_packet *p)
{
	return p->from == &s->a ? 1 : 0;
}

#define WINDOW 1536U

/* Without responses: the packets of a WRITE of @n packets that are sent */
static s32 out_of(u32 n, bool grows)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	s32 out;

	cfg.mtu = IB_MTU_256;
	xfers_init(&t, &cfg, 256 * n + 4096, 4096);
	t.s->can_append = grows;
	t.s->wire = lose_answers;
	t.s->a.qp.req.cwnd.cwnd = WINDOW;
	xfer_put(&t, IB_WR_RDMA_WRITE, 256 * n);
	sim_doorbell(&t.s->a);
	while (!sim_count(&t.s->a, SROCE_CNT_PROBE) && sim_step(t.s))
		;
	out = sroce_cc_in_flight(&t.s->a.qp);
	t.s->wire = NULL;
	sim_run(t.s);
	xfers_check(&t);
	xfers_end(&t);
	return out;
}

static void window_cuts(void)
{
	t_case("req: no train is started that the window would cut short");
	CHECK_EQ(out_of(2 * WINDOW, false), WINDOW - SROCE_TX_BUDGET + 1);

	t_case("req: a train that was started goes on");
	CHECK_EQ(out_of(2 * WINDOW, true), WINDOW);

	t_case("req: so does one that ends within the window");
	CHECK_EQ(out_of(WINDOW - 1, false), WINDOW - 1);
}

/*
 * A work request fails before its first packet is built. The one before must get an ACK
 * request all the same.
 */
static void fails_late(bool acked)
{
	struct sim_wr bad;
	struct xfers t;

	t_case("req: a WRITE fails locally, the one before %s",
	       acked ? "has its ACK" : "requests an ACK");
	peer_begin(&t);
	xfer_put(&t, IB_WR_RDMA_READ, MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	bad = xfer_make(&t, IB_WR_RDMA_WRITE, MTU);
	bad.sge[0].lkey++;
	if (acked) {
		sim_doorbell(&t.s->a);
		peer_ack(&t, FIRST + 1, ACK);
		/* the response is lost: the READ is sent again */
		CHECK_EQ(txlog.n, 3);
		txlog.n = 2;
	}
	sim_post(&t.s->a, &bad);
	CHECK_EQ(txlog.n, acked ? 2 : 3);
	if (!acked) {
		CHECK_EQ(txlog.p[2].psn, FIRST + 1);
		CHECK(txlog.p[2].ackreq);
		peer_ack(&t, FIRST + 1, ACK);
	}
	CHECK_EQ(t.s->a.scq.n, 0);
	peer_hear(&t, 0x10, FIRST, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_LOC_PROT_ERR);
	xfers_end(&t);
}

/* The payload of an ATOMIC WRITE can't be read any more when it is sent again. */
static void gone_since(bool older)
{
	struct sim_wr wr;
	struct xfers t;

	t_case("req: retransmission of an ATOMIC WRITE whose memory is gone%s",
	       older ? ", after a READ" : "");
	peer_begin(&t);
	if (older)
		xfer_put(&t, IB_WR_RDMA_READ, MTU);
	xfer_put(&t, SROCE_WR_ATOMIC_WRITE, 8);
	wr = xfer_make(&t, IB_WR_RDMA_WRITE, 0);
	sim_put_send(&t.s->a, &wr);
	sim_doorbell(&t.s->a);
	CHECK_EQ(txlog.n, 2 + older);
	sim_buf_revoke(t.a);
	peer_ack(&t, FIRST + 1 + older, ACK);
	if (older) {
		CHECK_EQ(t.s->a.scq.n, 0);
		t.a->mr.key = t.a->mr.ibmr.lkey;
		peer_hear(&t, 0x10, FIRST, ACK, MTU);
		sim_buf_revoke(t.a);
		CHECK_EQ(t.s->a.scq.n, 1);
		/* a probe finds out */
		sim_run(t.s);
	}
	CHECK_EQ(t.s->a.scq.n, 2 + older);
	CHECK_EQ(t.s->a.scq.e[older].status, IB_WC_LOC_PROT_ERR);
	CHECK_EQ(t.s->a.scq.e[older + 1].status, IB_WC_WR_FLUSH_ERR);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	CHECK_EQ(txlog.n, 2 + 2 * older);
	xfers_end(&t);
}

/* The ACK timeout does not run while a page fault delays the first packet. */
static void fault_before_tx(void)
{
	struct xfers t;

	t_case("req: a page fault longer than the timeout, without retries");
	xfers_init_odp(&t, XFER_LOCAL, false);
	t.s->a.qp.attr.retry_cnt = 0;
	t.s->a.qp.attr.timeout = 8;
	t.s->page_few = true;
	t.s->page_delay = 3 * (4096ULL << 8);
	xfer_put(&t, IB_WR_SEND, 10000);
	xfers_run(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_finish(&t);
}

static void write_from(struct xfers *t, struct sim_buf *from, u64 id, u32 len)
{
	xfer_put_other(t, IB_WR_RDMA_WRITE, id, from, &t->b->mr, len);
}

/* Memory that is pinned, beside that of the requester, which may be on demand */
static struct sim_buf *pinned_buf(struct sim *s)
{
	return sim_buf_new(s, 0x10000000, 65536, 4096, IB_ACCESS_LOCAL_WRITE);
}

/* The requester's memory is on demand; the peer says nothing. Return: memory that is pinned */
static struct sim_buf *begin_on_demand(struct xfers *t)
{
	struct sim_cfg cfg = sim_default;

	cfg.timeout = 14;
	peer_begin_with(t, &cfg, 65536);
	sim_buf_on_demand(t->a);
	return pinned_buf(t->s);
}

/*
 * A message whose memory is there, and one that waits long for its pages. The first is not sent
 * with AckReq, as the other was to follow.
 */
static void sent_before_fault(bool lost)
{
	struct xfer_loss loss = { .p = { { 1000, 1 } } };
	struct sim_buf *pinned;
	struct xfers t;

	t_case("req: what was sent before a page fault completes meanwhile%s",
	       lost ? ", even if it was lost" : "");
	xfers_init_odp(&t, XFER_LOCAL, false);
	t.s->a.qp.attr.timeout = 14;
	t.s->page_delay = 2000 * SIM_MS;
	if (lost) {
		t.s->wire = xfer_lose;
		t.s->arg = &loss;
	}
	pinned = pinned_buf(t.s);
	write_from(&t, pinned, 1, 1024);
	write_from(&t, t.a, 2, 1024);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + 1000 * SIM_MS);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].wr_id, 1);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->b.qp.resp.psn, 1002);
	xfers_end(&t);
}

/* A retransmission waits for its page, and turns out not to be needed: the packet was late. */
static void late_after_fault(void)
{
	struct sim_buf *pinned;
	struct sroce_req *req;
	struct xfers t;
	u32 i;

	t_case("req: a retransmission that waits in vain for its page does not stop the timers");
	pinned = begin_on_demand(&t);
	req = &t.s->a.qp.req;
	t.s->page_delay = 10 * 1000;
	write_from(&t, t.a, 1, MTU);
	for (i = 2; i < 8; i++)
		write_from(&t, pinned, i, MTU);
	peer_go(&t);
	req->retrans.gap_policy = SROCE_GAP_KEEPS;
	t.s->page_delay = 4000 * SIM_MS;
	sim_buf_evict_all(t.a);
	peer_ack(&t, FIRST, GAP);
	CHECK(req->paging);
	peer_ack(&t, FIRST + 2, ACK);
	sim_run_until(t.s, t.s->now + 3000 * SIM_MS);
	CHECK(sim_count(&t.s->a, SROCE_CNT_PROBE) > 0);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	xfers_end(&t);
}

/* What is sent again after a gap does not ask for an ACK in each packet. */
static void back_before_fault(void)
{
	struct sim_buf *pinned;
	struct xfers t;
	u32 n;

	t_case("req: going back while the next message waits for pages takes each packet once");
	pinned = begin_on_demand(&t);
	write_from(&t, pinned, 1, 20 * MTU);
	write_from(&t, t.a, 2, MTU);
	t.s->page_delay = 4000 * SIM_MS;
	peer_go(&t);
	t.s->a.qp.req.retrans.gap_policy = SROCE_GAP_DROPS;
	n = txlog.n;
	peer_ack(&t, FIRST, GAP);
	sim_run_until(t.s, t.s->now + 100 * 1000);
	/* and a duplicate of the last, for its ACK */
	CHECK(txlog.n >= n + 20 && txlog.n <= n + 21);
	xfers_end(&t);
}

/* Sending goes back behind a local operation, and does not get past it again. */
static void local_before_fault(void)
{
	struct sim_wr bind = { .opcode = IB_WR_BIND_MW, .wr_id = 2, .flags = IB_SEND_SIGNALED };
	struct sim_buf *pinned, *w;
	struct sroce_qp *qp;
	struct xfers t;

	t_case("req: a local operation completes between what is sent again and a page fault");
	pinned = begin_on_demand(&t);
	qp = &t.s->a.qp;
	w = sim_window_new(t.s, SROCE_MW_1);
	bind.bind.key = w->mr.key;
	bind.bind.new_key = w->mr.key + 1;
	write_from(&t, pinned, 1, MTU);
	sim_post(&t.s->a, &bind);
	write_from(&t, t.a, 3, MTU);
	t.s->page_delay = 4000 * SIM_MS;
	peer_go(&t);
	qp->req.retrans.gap_policy = SROCE_GAP_DROPS;
	peer_ack(&t, FIRST, GAP);
	peer_ack(&t, FIRST, ACK);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[1].opcode, IB_WC_BIND_MW);
	/* the message that waits is the oldest, and the next to be sent */
	CHECK_EQ(qp->req.next_idx, qp->sq.cons);
	xfers_end(&t);
}

/* The transmit queue takes so many packets, and no more until the test says so. */
static u32 room_once(struct sim *s, struct sroce_qp *qp, bool response)
{
	u32 *left = s->arg, n = *left;

	(void)qp;
	if (response)
		return ~0u;
	*left = 0;
	return n;
}

/*
 * The transmit queue is full in mid-message, before a packet has asked for an ACK. Then the
 * window becomes smaller than what is under way: no ACK would open it.
 */
static void no_ack_owed(u32 retries, bool after_gap)
{
	struct xfer_loss lost = { .p = { { 1005, 1 }, { 1010, 1 } } };
	struct sim_cfg cfg = sim_default;
	u64 resent, dups;
	struct sroce_req *req;
	struct xfers t;
	u32 room = 3, i;

	t_case("req: after a cut an ACK is asked for if none is owed, with %u retries%s", retries,
	       after_gap ? ", after a gap was filled" : "");
	cfg.timeout = 14;
	cfg.retry_cnt = retries;
	xfers_init(&t, &cfg, 65536, 4096);
	req = &t.s->a.qp.req;
	t.s->a.qp.av.tclass = 2;
	if (after_gap) {
		req->retrans.gap_policy = SROCE_GAP_KEEPS;
		t.s->wire = xfer_lose;
		t.s->arg = &lost;
		xfer_put(&t, IB_WR_RDMA_WRITE, 15 * 1024);
		xfers_run_check(&t);
		t.s->wire = NULL;
		t.s->sent = 0;
		req->cwnd.cwnd = SROCE_CWND_INIT;
	}
	resent = sim_count(&t.s->a, SROCE_CNT_RETRANSMIT);
	dups = sim_count(&t.s->b, SROCE_CNT_DUPLICATE);
	t.s->tx_room = room_once;
	t.s->arg = &room;
	xfer_put(&t, IB_WR_RDMA_WRITE, 40 * 1024);
	sim_doorbell(&t.s->a);
	for (i = 0; i < 3; i++) {
		sim_run_until(t.s, t.s->now + 50 * US);
		req->cwnd.alpha = 1024;
		req->cwnd.rise_at = t.s->now;
		sroce_cc_cnp(&t.s->a.qp);
	}
	CHECK_EQ(sroce_cwnd(&req->cwnd), 2);
	CHECK_EQ(t.s->sent, 3);
	CHECK_EQ(sroce_cc_in_flight(&t.s->a.qp), 3);
	CHECK_EQ(req->since_ackreq, 3);
	t.s->tx_room = NULL;
	xfers_run_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), resent + 1);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_DUPLICATE), dups + 1);
	xfers_end(&t);
}

/* The transmit queue takes so many packets in all. */
static u32 room_in_all(struct sim *s, struct sroce_qp *qp, bool response)
{
	const u32 *all = s->arg;

	(void)qp;
	return response ? ~0u : *all - min(*all, s->sent);
}

/*
 * The transmit queue is full in mid-message, before a packet has asked for an ACK. Then the
 * window allows a few packets more, fewer than a train: no ACK would allow a whole one.
 */
static void small_room_no_ack_owed(void)
{
	struct sim_cfg cfg = sim_default;
	struct sroce_req *req;
	u32 room = 1000;
	struct xfers t;

	t_case("req: the end of a window is sent if no ACK is owed that opens it");
	cfg.timeout = 14;
	xfers_init(&t, &cfg, 2 << 20, 4096);
	req = &t.s->a.qp.req;
	req->cwnd.cwnd = SROCE_CWND_MAX;
	t.s->tx_room = room_in_all;
	t.s->arg = &room;
	xfer_put(&t, IB_WR_RDMA_WRITE, 2000 * 1024);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + 50 * US);
	CHECK_EQ(t.s->sent, room);
	CHECK_EQ(req->since_ackreq, room);
	req->cwnd.cwnd = room + 30;
	CHECK(!sroce_cc_is_paced(&t.s->a.qp));
	t.s->tx_room = NULL;
	xfers_run_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_end(&t);
}

/*
 * The peer has dropped what followed a gap. Of what is sent again only the first packet asks for an
 * ACK before the transmit queue is full; then the window becomes smaller than what is under way.
 */
static void no_ack_owed_again(u32 retries)
{
	struct sim_cfg cfg = sim_default;
	struct sroce_req *req;
	struct xfers t;
	u32 room, i, n;

	t_case("req: after going back an ACK is asked for if none is owed, with %u retries",
	       retries);
	cfg.timeout = 14;
	cfg.retry_cnt = retries;
	peer_begin_with(&t, &cfg, 65536);
	req = &t.s->a.qp.req;
	req->cwnd.cwnd = 64;
	req->quota = 64;
	req->retrans.gap_policy = SROCE_GAP_DROPS;
	t.s->a.qp.av.tclass = 2;
	xfer_put(&t, IB_WR_RDMA_WRITE, 200 * MTU);
	peer_go(&t);
	room = t.s->sent + 11;
	t.s->tx_room = room_in_all;
	t.s->arg = &room;
	peer_ack(&t, FIRST, GAP);
	sim_run_until(t.s, t.s->now + 20 * US);
	CHECK_EQ(req->psn, FIRST + 11);
	CHECK_EQ(req->since_ackreq, 10);
	for (i = 0; i < 6; i++) {
		sim_run_until(t.s, t.s->now + 60 * US);
		req->cwnd.alpha = SROCE_ALPHA_ONE;
		req->cwnd.rise_at = t.s->now;
		sroce_cc_cnp(&t.s->a.qp);
	}
	CHECK(sroce_cwnd(&req->cwnd) < 10);
	t.s->tx_room = NULL;
	n = txlog.n;
	peer_ack(&t, FIRST, ACK);
	CHECK_EQ(txlog.n, n + 1);
	CHECK_EQ(txlog.p[n].psn, FIRST + 10);
	CHECK(txlog.p[n].ackreq);
	xfers_end(&t);
}

/*
 * The task's budget ends before the last request, so the one before needs no ACK request;
 * then SQD keeps the last one from being started.
 */
static void drained_within_burst(u32 timeout)
{
	struct sim_wr wr = { .opcode = IB_WR_RDMA_WRITE, .flags = IB_SEND_SIGNALED };
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("req: SQD between two runs of the task, no retries, timeout %u", timeout);
	cfg.retry_cnt = 0;
	cfg.timeout = timeout;
	cfg.slots = 2 * SROCE_TX_BUDGET;
	xfers_init(&t, &cfg, 65536, 4096);
	t.s->task_delay = 100 * SIM_LATENCY;
	sim_open_cwnd(&t.s->a);
	for (i = 0; i <= SROCE_TX_BUDGET; i++)
		sim_put_send(&t.s->a, &wr);
	sim_doorbell(&t.s->a);
	sim_enter(&t.s->a, IB_QPS_SQD);
	sim_run(t.s);
	CHECK(t.s->a.qp.drained);
	CHECK_EQ(t.s->a.scq.n, SROCE_TX_BUDGET);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	sim_enter(&t.s->a, IB_QPS_RTS);
	xfers_run(&t);
	CHECK_EQ(t.s->a.scq.n, SROCE_TX_BUDGET + 1);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_RTS);
	xfers_end(&t);
}

UNIT_TESTS(req)
{
	struct sim_cfg cfg = sim_default;

	sizes(&cfg);
	cfg.v6 = true;
	cfg.mtu = IB_MTU_256;
	sizes(&cfg);
	cfg.mtu = IB_MTU_4096;
	sizes(&cfg);
	cfg.v6 = false;
	cfg.mtu = IB_MTU_512;
	cfg.psn = 0xfffffe;
	sizes(&cfg);
	back_to_back();
	unsignaled();
	unannounced();
	window_cuts();
	fails_late(false);
	fails_late(true);
	gone_since(false);
	gone_since(true);
	fault_before_tx();
	sent_before_fault(false);
	sent_before_fault(true);
	late_after_fault();
	back_before_fault();
	local_before_fault();
	no_ack_owed(7, false);
	no_ack_owed(0, false);
	no_ack_owed(7, true);
	no_ack_owed(0, true);
	small_room_no_ack_owed();
	no_ack_owed_again(7);
	no_ack_owed_again(0);
	drained_within_burst(14);
	drained_within_burst(0);
}
