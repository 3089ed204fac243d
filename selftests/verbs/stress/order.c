// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: by steer.test.sh */
/*
 * usage: order A B --only queue|stack - messages of a UC QP of A, posted by two CPUs in turn.
 *
 * queue: what A sends comes to B once a second, by a queue of this host, and belongs to A until
 * then. stack: the IP stack of B takes 10 ms, or more, for a message of LONG bytes.
 */

#include "vt.h"

#define INTERVAL_US	1000000
#define LEN		64
#define LONG		1000
#define TRIES		20
/* CPUs wait for no longer than 100 ms for each other. */
#define PAUSE_MS	150
#define STACK_MS_MAX	90

static why_t post(struct vt_pair *p, int cpu, uint32_t len)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, len);
	struct ibv_send_wr wr = {
		.wr_id = cpu, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	vt_run_on(cpu);
	return vt_post_send(&p->a, &wr);
}

static why_t by_two_cpus(struct vt_pair *p, const void *arg)
{
	struct ibv_wc wc;
	uint64_t start, us;
	int i;

	(void)arg;
	for (i = 0; i < 4; i++)
		TRY(vt_post_recv_at(&p->b, i, i * LEN, LEN));
	/* an interval begins with it */
	TRY(post(p, 0, LEN));
	TRY(vt_poll_ok(p->b.rcq, &wc, 0));
	start = vt_now_us();
	TRY(post(p, 0, LEN));
	TRY(post(p, 1, LEN));
	vt_sleep_ms(PAUSE_MS);
	TRY(post(p, 0, LEN));
	for (i = 1; i < 4; i++)
		TRY(vt_poll_ok(p->b.rcq, &wc, i));
	us = vt_now_us() - start;
	CHECK(us < INTERVAL_US * 3 / 2, "the last message comes after %llu ms",
	      (unsigned long long)us / 1000);
	return NULL;
}

struct first {
	struct vt_pair *p;
	uint64_t begun, done;	/* us */
};

static void *post_long(void *arg)
{
	struct first *first = arg;
	why_t why;

	first->begun = vt_now_us();
	why = post(first->p, 0, LONG);
	first->done = vt_now_us();
	return why ? strdup(why) : NULL;
}

/*
 * The second message is posted while the IP stack has the first one. A CPU receives what it sends
 * before the post returns, mostly. @in_time: so it was, and not for long
 */
static why_t post_both(struct vt_pair *p, bool *in_time)
{
	uint64_t sent = vt_counted(p->a.dev, "tx_pkts"), begun;
	struct first first = { .p = p };
	pthread_t poster;
	why_t why;
	void *ret;
	int i;

	vt_run_on(1);
	CHECK(!pthread_create(&poster, NULL, post_long, &first), "pthread_create");
	for (i = 0; i < 1000 && vt_counted(p->a.dev, "tx_pkts") == sent; i++)
		vt_sleep_ms(1);
	/* it is built, and leaves A now */
	vt_sleep_ms(1);
	begun = vt_now_us();
	why = post(p, 1, LEN);
	pthread_join(poster, &ret);
	*in_time = first.done > begun + 1000 && first.done - first.begun < STACK_MS_MAX * 1000;
	return why ?: ret;
}

static why_t in_order(struct vt_pair *p)
{
	struct ibv_wc wc[2];
	int i;

	for (i = 0; i < 2; i++)
		TRY(vt_poll_ok(p->b.rcq, &wc[i], i));
	CHECK(wc[0].byte_len == LONG && wc[1].byte_len == LEN, "the first message has %u bytes",
	      wc[0].byte_len);
	return NULL;
}

/* Only what was posted in time, and waited, tells: the machine may stand still anywhere. */
static why_t past_a_slow_stack(struct vt_pair *p, const void *arg)
{
	struct ibv_wc wc;
	uint64_t waits;
	bool in_time = false;
	why_t why;
	int i, n;

	(void)arg;
	for (n = 0; n < TRIES; n++) {
		for (i = 0; i < 2; i++)
			TRY(vt_post_recv_at(&p->b, i, 0, LONG));
		/* what is read of counters may be some milliseconds old */
		vt_sleep_ms(20);
		waits = vt_counted(p->a.dev, "tx_order_waits");
		TRY(post_both(p, &in_time));
		why = in_order(p);
		for (i = 0; i < 2; i++)
			TRY(vt_poll_ok(p->a.scq, &wc, i));
		vt_sleep_ms(20);
		if (in_time && (why || vt_counted(p->a.dev, "tx_order_waits") > waits))
			return why;
	}
	return because("no message has waited for another");
}

int main(int argc, char **argv)
{
	struct vt_conf conf;

	vt_start(argc, argv);
	conf = vt_conf(IBV_QPT_UC);
	vt_run("queue: a message waits no longer than 100 ms for that of another CPU", &conf,
	       by_two_cpus, NULL);
	vt_run("stack: a message does not overtake that of another CPU", &conf, past_a_slow_stack,
	       NULL);
	return tap_finish();
}
