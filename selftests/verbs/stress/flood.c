// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * Small messages posted one by one, each with a doorbell of its own, as fast as the
 * process can. However the device takes them together: each arrives, in order, the
 * last without another doorbell, and whatever becomes of the QP meanwhile each work
 * request ends once.
 */

#include "vt.h"

#define DEPTH	256
#define LEN	64U
/* Once the device has seen a stream it knows the next one sooner. */
#define ROUNDS	20
/* A stream of a hundred takes some ms where CPUs are emulated, and none by waiting. */
#define LATE_MS	100

static struct vt_conf conf_of(void)
{
	struct vt_conf conf = vt_conf(IBV_QPT_RC);

	conf.send_wr = DEPTH;
	conf.recv_wr = DEPTH;
	conf.cqe = 4 * DEPTH;
	return conf;
}

static why_t post_recvs(struct vt_pair *p, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		TRY(vt_post_recv_at(&p->b, i, 2 * LEN * i, LEN));
	return NULL;
}

/* Message @i of @n, each of its own content; the last is told of, or all are. */
static why_t post(struct vt_pair *p, uint32_t i, uint32_t n, bool all)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, LEN * i, LEN);
	struct ibv_send_wr wr = {
		.wr_id = i,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = i,
		.send_flags = all || i == n - 1 ? IBV_SEND_SIGNALED : 0,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return vt_post_send(&p->a, &wr);
}

static why_t post_all(struct vt_pair *p, uint32_t n, bool all)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		TRY(post(p, i, n, all));
	return NULL;
}

static why_t arrive_all(struct vt_pair *p, uint32_t n)
{
	struct ibv_wc wc;
	uint32_t i;

	for (i = 0; i < n; i++) {
		TRY(vt_poll_ok(p->b.rcq, &wc, i));
		CHECK(wc.imm_data == i, "message %u in the place of %u",
		      wc.imm_data, i);
		CHECK(wc.byte_len == LEN &&
		      !memcmp(p->b.buf.data + 2 * LEN * i,
			      p->a.buf.data + LEN * i, LEN),
		      "message %u arrives garbled", i);
	}
	return NULL;
}

/* Streams of all lengths up to more than what may be held */
static why_t one_round(struct vt_pair *p, uint32_t n)
{
	struct ibv_wc wc;

	vt_fill(p->a.buf.data, LEN * n, n);
	TRY(post_recvs(p, n));
	TRY(post_all(p, n, false));
	TRY(arrive_all(p, n));
	return vt_poll_ok(p->a.scq, &wc, n - 1);
}

static int late_ms(void)
{
	return LATE_MS * vt_slowness();
}

static why_t last_arrives(struct vt_pair *p, const void *arg)
{
	uint64_t began;
	uint32_t n;
	int late = 0;

	(void)arg;
	for (n = 1; n <= 100; n++) {
		began = vt_now_us();
		TRY(one_round(p, n));
		late += vt_now_us() - began > 1000ULL * late_ms();
	}
	/* the machine may be busy now and then */
	CHECK(late < 50, "%d of 100 streams took longer than %d ms", late,
	      late_ms());
	return NULL;
}

/* Doorbells of A's device that were held; none on a device that holds none */
static long held(void)
{
	char path[128];
	long n = 0;
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/coalesced_doorbells",
		 vt_devs[0].name);
	f = fopen(path, "r");
	if (f && fscanf(f, "%ld", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

static why_t write_and_wait(struct vt_pair *p, uint32_t n)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 8);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_wc wc;
	uint32_t i;

	vt_aim(&p->a, &p->b, &wr);
	for (i = 0; i < n; i++) {
		wr.wr_id = i;
		wr.send_flags = i == n - 1 ? IBV_SEND_SIGNALED : 0;
		TRY(vt_post_send(&p->a, &wr));
	}
	return vt_poll_ok(p->a.scq, &wc, n - 1);
}

/*
 * A program that waits for each message, or for a few, loses time if they are
 * held back. The device has to learn soon that it does.
 */
static why_t waited_for(struct vt_pair *p, const void *arg)
{
	const uint32_t *n = arg;
	long before = held();
	int i;

	for (i = 0; i < 500; i++)
		TRY(write_and_wait(p, *n));
	CHECK(held() - before <= (*n > 1 ? 20 : 0),
	      "%ld of %u doorbells were held", held() - before, 500 * *n);
	return NULL;
}

/* A message each way, by QPs that could hold many */
static why_t answered(struct vt_pair *p, const void *arg)
{
	long before = held();
	int i;

	(void)arg;
	for (i = 0; i < 300; i++)
		TRY(vt_ping(p));
	CHECK(held() == before, "%ld were held", held() - before);
	return NULL;
}

/* What is told of is told of in order, be it done or flushed. */
static why_t end_all(struct vt_pair *p, uint32_t n)
{
	bool flushed = false;
	struct ibv_wc wc;
	uint32_t i;

	for (i = 0; i < n; i++) {
		TRY(vt_poll(p->a.scq, &wc, VT_LONG));
		CHECK(wc.wr_id == i, "completion of wr %llu, not %u",
		      (unsigned long long)wc.wr_id, i);
		CHECK(wc.status == IBV_WC_WR_FLUSH_ERR ||
		      (wc.status == IBV_WC_SUCCESS && !flushed),
		      "wr %u completes with %s", i, ibv_wc_status_str(wc.status));
		flushed = wc.status != IBV_WC_SUCCESS;
	}
	return vt_quiet(p->a.scq, 5);
}

/* The device knows a stream, and has the next one of @n under way, or holds it. */
static why_t be_streaming(struct vt_pair *p, uint32_t n)
{
	TRY(one_round(p, 100));
	TRY(post_recvs(p, n));
	return post_all(p, n, true);
}

static why_t error_one(struct vt_pair *p, const void *arg)
{
	(void)arg;
	TRY(be_streaming(p, 45));
	TRY(vt_ep_state(&p->a, IBV_QPS_ERR));
	return end_all(p, 45);
}

/* Destroyed with all of it under way: that there is nothing left is checked later */
static why_t destroy_one(struct vt_pair *p, const void *arg)
{
	(void)arg;
	TRY(be_streaming(p, 45));
	CHECK(!ibv_destroy_qp(p->a.qp), "ibv_destroy_qp: %s", strerror(errno));
	p->a.qp = NULL;
	return NULL;
}

static why_t reset_one(struct vt_pair *p, const void *arg)
{
	(void)arg;
	TRY(be_streaming(p, 45));
	return vt_ep_state(&p->a, IBV_QPS_RESET);
}

static why_t drain_one(struct vt_pair *p, const void *arg)
{
	(void)arg;
	TRY(be_streaming(p, 45));
	TRY(vt_ep_state(&p->a, IBV_QPS_SQD));
	TRY(vt_ep_state(&p->a, IBV_QPS_RTS));
	TRY(arrive_all(p, 45));
	return end_all(p, 45);
}

/* Nothing of what is left undone is left for long: often, with fresh QPs */
static void often(const char *name, vt_case fn)
{
	struct vt_conf conf = conf_of();
	why_t why = NULL;
	int i;

	if (!vt_wanted(name))
		return;
	for (i = 0; i < ROUNDS && !why; i++)
		why = vt_attempt(&conf, fn, NULL, true);
	tap_report(why, "%s", name);
}

struct poster {
	struct vt_pair *p;
	uint32_t first;
	pthread_t thread;
	why_t why;
};

/* No more than the queue takes: neither thread waits for the other's. */
static void *post_half(void *arg)
{
	struct poster *po = arg;
	uint32_t i;

	for (i = 0; i < DEPTH / 4 && !po->why; i++)
		po->why = post(po->p, po->first + i, 0, true);
	return NULL;
}

static why_t seen_once(struct vt_pair *p, uint32_t n)
{
	bool seen[DEPTH] = {};
	struct ibv_wc wc;
	uint32_t i;

	for (i = 0; i < n; i++) {
		TRY(vt_poll(p->b.rcq, &wc, VT_LONG));
		CHECK(!wc.status, "receive: %s", ibv_wc_status_str(wc.status));
		CHECK(wc.imm_data < n && !seen[wc.imm_data],
		      "message %u comes twice", wc.imm_data);
		seen[wc.imm_data] = true;
	}
	for (i = 0; i < n; i++) {
		TRY(vt_poll(p->a.scq, &wc, VT_LONG));
		CHECK(!wc.status, "send: %s", ibv_wc_status_str(wc.status));
	}
	return NULL;
}

static why_t two_threads(struct vt_pair *p, const void *arg)
{
	struct poster po[2] = {
		{ .p = p },
		{ .p = p, .first = DEPTH / 4 },
	};
	int round, i;

	(void)arg;
	for (round = 0; round < ROUNDS; round++) {
		TRY(post_recvs(p, DEPTH / 2));
		for (i = 0; i < 2; i++)
			CHECK(!pthread_create(&po[i].thread, NULL, post_half, &po[i]),
			      "pthread_create");
		for (i = 0; i < 2; i++)
			pthread_join(po[i].thread, NULL);
		TRY(po[0].why);
		TRY(po[1].why);
		TRY(seen_once(p, DEPTH / 2));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const uint32_t each = 1, four = 4;
	struct vt_conf conf;

	vt_start(argc, argv);
	conf = conf_of();
	vt_run("messages that are waited for are not held", &conf, waited_for, &each);
	vt_run("four that are waited for are hardly ever", &conf, waited_for, &four);
	vt_run("messages that answer each other are not", &conf, answered, NULL);
	vt_run("the last of a stream arrives without another doorbell", &conf,
	       last_arrives, NULL);
	vt_run("two threads post to one QP", &conf, two_threads, NULL);
	often("a QP goes to ERR in a stream", error_one);
	often("a QP is drained in a stream, and goes on", drain_one);
	often("a QP is reset in a stream", reset_one);
	often("a QP is destroyed in a stream", destroy_one);
	return tap_finish();
}
