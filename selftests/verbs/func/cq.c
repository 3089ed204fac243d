// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/* Completion queues and their channels. */

#define _GNU_SOURCE
#include <poll.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>
#include "vt.h"

/* 11.6.3: an overrun CQ fails, and with it the QPs that complete to it. */
static why_t overflow(struct vt_pair *p, const void *arg)
{
	int i, n = p->a.scq->cqe + 20;

	(void)arg;
	for (i = 0; i < n; i += 8) {
		/* not more than the send queue takes */
		if (vt_post_writes(p, i, 8, 16))
			break;
		vt_sleep_ms(5);
	}
	TRY(vt_event(p->a.dev, IBV_EVENT_CQ_ERR, p->a.scq, VT_LONG));
	TRY(vt_event(p->a.dev, IBV_EVENT_QP_FATAL, p->a.qp, 2000));
	TRY(vt_ep_is(&p->a, IBV_QPS_ERR));
	return vt_ep_is(&p->b, IBV_QPS_RTS);
}

/* As many as promised fit, and they come in order. */
static why_t exactly_full(struct vt_pair *p, const void *arg)
{
	int i, n = p->a.scq->cqe;
	struct ibv_wc wc;

	(void)arg;
	for (i = 0; i < n; i++) {
		TRY(vt_post_writes(p, i, 1, 16));
		if (i % 16 == 15)
			vt_sleep_ms(20);	/* slots come back */
	}
	TRY(vt_no_event(p->a.dev, VT_SHORT));
	for (i = 0; i < n; i++)
		TRY(vt_poll_ok(p->a.scq, &wc, i));
	return vt_quiet(p->a.scq, 50);
}

static why_t resize(struct vt_pair *p, const void *arg)
{
	static const int sizes[] = { 1000, 45, 300 };
	struct ibv_wc wc;
	size_t s;
	int i, err, next = 0, got = 0;

	(void)arg;
	TRY(vt_post_writes(p, 0, 40, 16));
	next = 40;
	vt_sleep_ms(200);
	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		err = ibv_resize_cq(p->a.scq, sizes[s]);
		CHECK(!err, "resize to %d: %s", sizes[s], strerror(err));
		CHECK(p->a.scq->cqe >= sizes[s], "cqe %d after resize to %d",
		      p->a.scq->cqe, sizes[s]);
		for (i = 0; i < 10; i++)
			TRY(vt_poll_ok(p->a.scq, &wc, got++));
		TRY(vt_post_writes(p, next, 10, 16));
		next += 10;
		vt_sleep_ms(100);
	}
	/* there are 40: fewer must be refused, and nothing lost by that */
	err = ibv_resize_cq(p->a.scq, 20);
	CHECK(err == EINVAL, "resize below what is there: %d", err);
	while (got < next)
		TRY(vt_poll_ok(p->a.scq, &wc, got++));
	return vt_quiet(p->a.scq, 50);
}

/* More WRITEs than the send queue has room for at once */
static why_t write_many(struct vt_pair *p, int num)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 16);
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};
	uint64_t until = vt_now_us() + VT_LONG * 1000;
	int err;

	vt_aim(&p->a, &p->b, &wr);
	while (wr.wr_id < (uint64_t)num) {
		err = ibv_post_send(p->a.qp, &wr, &bad);
		CHECK(!err || (err == ENOMEM && vt_now_us() < until), "WRITE %d: %s",
		      (int)wr.wr_id, strerror(err));
		if (err)
			vt_sleep_ms(1);
		else
			wr.wr_id++;
	}
	return NULL;
}

/* So many that they are not moved in one go */
static why_t resize_many(struct vt_pair *p, const void *arg)
{
	static const int sizes[] = { 4000, 1600, 2500 };
	struct ibv_wc wc;
	int i, err, n = 1500;
	size_t s;

	(void)arg;
	TRY(write_many(p, n));
	vt_sleep_ms(200);
	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		err = ibv_resize_cq(p->a.scq, sizes[s]);
		CHECK(!err, "resize to %d: %s", sizes[s], strerror(err));
	}
	err = ibv_resize_cq(p->a.scq, 1000);
	CHECK(err == EINVAL, "resize below what is there: %d", err);
	for (i = 0; i < n; i++)
		TRY(vt_poll_ok(p->a.scq, &wc, i));
	return vt_quiet(p->a.scq, 50);
}

/* Entries are added while the ring is being exchanged. */
static why_t resize_busy(struct vt_pair *p, const void *arg)
{
	struct ibv_wc wc;
	int i, err, got = 0;

	(void)arg;
	for (i = 0; i < 30; i++) {
		TRY(vt_post_writes(p, 30 * i, 30, 16));
		err = ibv_resize_cq(p->a.scq, i & 1 ? 64 : 512);
		CHECK(!err, "ibv_resize_cq: %s", strerror(err));
		while (got < 30 * (i + 1))
			TRY(vt_poll_ok(p->a.scq, &wc, got++));
	}
	return vt_quiet(p->a.scq, 50);
}

/* One event for each request, however many completions there are. */
static why_t events(struct vt_pair *p, const void *arg)
{
	struct ibv_wc wc;
	int i, n;

	(void)arg;
	TRY(vt_post_writes(p, 0, 5, 16));
	n = vt_take_cq_events(&p->a, 200);
	CHECK(n == 0, "%d events without a request", n);
	for (i = 0; i < 5; i++)
		TRY(vt_poll_ok(p->a.scq, &wc, i));
	CHECK(!ibv_req_notify_cq(p->a.scq, 0), "ibv_req_notify_cq");
	CHECK(!ibv_req_notify_cq(p->a.scq, 0), "ibv_req_notify_cq");
	TRY(vt_post_writes(p, 5, 5, 16));
	n = vt_take_cq_events(&p->a, VT_SHORT);
	CHECK(n == 1, "%d events for one request", n);
	for (i = 5; i < 10; i++)
		TRY(vt_poll_ok(p->a.scq, &wc, i));
	/* a request for any completion isn't narrowed by a later one */
	CHECK(!ibv_req_notify_cq(p->a.scq, 0), "ibv_req_notify_cq");
	CHECK(!ibv_req_notify_cq(p->a.scq, 1), "ibv_req_notify_cq");
	TRY(vt_post_writes(p, 10, 1, 16));
	n = vt_take_cq_events(&p->a, VT_SHORT);
	CHECK(n == 1, "%d events for a request and a solicited one", n);
	return NULL;
}

/* The usual loop of sleepers: arm, poll, sleep. Nothing is ever missed. */
static why_t sleeper(struct vt_pair *p, const void *arg)
{
	struct pollfd pfd = { .fd = p->a.chan->fd, .events = POLLIN };
	int i, got = 0, ev = 0;
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *ctx;

	(void)arg;
	CHECK(!ibv_req_notify_cq(p->a.scq, 0), "ibv_req_notify_cq");
	for (i = 0; i < 200; i++) {
		TRY(vt_post_writes(p, 2 * i, 2, 16));
		while (got < 2 * (i + 1)) {
			CHECK(poll(&pfd, 1, 5000) == 1,
			      "no event for completion %d", got);
			CHECK(!ibv_get_cq_event(p->a.chan, &cq, &ctx),
			      "ibv_get_cq_event");
			ev++;
			CHECK(!ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
			while (ibv_poll_cq(cq, 1, &wc) == 1)
				CHECK(!wc.status && (int)wc.wr_id == got++,
				      "wr %d: %s", (int)wc.wr_id,
				      ibv_wc_status_str(wc.status));
		}
	}
	ibv_ack_cq_events(p->a.scq, ev);
	return NULL;
}

/* Twenty at a time; fewer times where each costs more */
#define MANY_ROUNDS	(25 / vt_slowness())

static why_t many(void)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);
	struct vt_ep ep[20];
	int i, round;

	c.buf = 4096;
	for (round = 0; round < MANY_ROUNDS; round++) {
		for (i = 0; i < 20; i++) {
			c.type = i % 3 == 0 ? IBV_QPT_RC :
				 i % 3 == 1 ? IBV_QPT_UC : IBV_QPT_UD;
			TRY(vt_ep_open(&ep[i], &vt_devs[i & 1], &c));
			TRY(vt_ep_init(&ep[i]));
		}
		for (i = 0; i < 20; i++)
			TRY(vt_ep_close(&ep[i]));
	}
	return NULL;
}

static why_t create(int cqe, bool works)
{
	struct ibv_cq *cq = ibv_create_cq(vt_devs[0].ctx, cqe, NULL, NULL, 0);

	if (cq) {
		int real = cq->cqe;

		CHECK(!ibv_destroy_cq(cq), "ibv_destroy_cq");
		CHECK(works, "succeeds");
		CHECK(real >= cqe, "only %d entries", real);
	}
	CHECK(cq || !works, "%s", strerror(errno));
	return NULL;
}

/* The device reports no moderation, and the provider has no call for it. */
static why_t moderation(void)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		struct ib_uverbs_ex_modify_cq in;
	} cmd = {
		.hdr.command = IB_USER_VERBS_EX_CMD_MODIFY_CQ | IB_USER_VERBS_CMD_FLAG_EXTENDED,
		.hdr.in_words = sizeof(cmd.in) / 8,
		.in.attr_mask = IBV_CQ_ATTR_MODERATE,
		.in.attr = { .cq_count = 1000, .cq_period = 60000 },
	};
	struct ibv_cq *cq = ibv_create_cq(vt_devs[0].ctx, 1, NULL, NULL, 0);
	ssize_t n;

	CHECK(cq, "ibv_create_cq: %s", strerror(errno));
	cmd.in.cq_handle = cq->handle;
	n = write(vt_devs[0].ctx->cmd_fd, &cmd, sizeof(cmd));
	CHECK(n < 0 && errno == EOPNOTSUPP, "%zd: %s", n, strerror(errno));
	CHECK(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_conf c;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	c.send_wr = 300;
	vt_run("resize with live entries", &c, resize, NULL);
	vt_run("resize under traffic", &c, resize_busy, NULL);
	c.cqe = 2000;
	vt_run("resize with many live entries", &c, resize_many, NULL);
	c.cqe = 256;
	vt_run("events are one for each request", &c, events, NULL);
	vt_run("a sleeper misses nothing", &c, sleeper, NULL);
	c.cqe = 64;
	vt_run("as many entries as promised", &c, exactly_full, NULL);
	vt_run("overflow fails the CQ and its QP", &c, overflow, NULL);
	tap_report(moderation(), "a process can't moderate notifications");
	tap_report(many(), "%d endpoints come and go", 20 * MANY_ROUNDS);
	tap_report(create(1, true), "CQ with one entry");
	tap_report(create(vt_devs[0].attr.max_cqe, true), "CQ of max_cqe");
	tap_report(create(vt_devs[0].attr.max_cqe + 1, false),
		   "CQ of more than max_cqe");
	tap_report(create(0, false), "CQ without entries");
	return tap_finish();
}
