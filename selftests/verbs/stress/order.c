// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: by steer.test.sh */
/*
 * usage: order A B - messages of a UC QP of A, posted by two CPUs in turn. What A sends comes to B
 * once a second, by a queue of this host, and belongs to A until then.
 */

#include "vt.h"

#define INTERVAL_US	1000000
#define LEN		64
/* CPUs wait for no longer than 100 ms for each other. */
#define PAUSE_MS	150

static why_t post(struct vt_pair *p, int cpu)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, LEN);
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
	TRY(post(p, 0));
	TRY(vt_poll_ok(p->b.rcq, &wc, 0));
	start = vt_now_us();
	TRY(post(p, 0));
	TRY(post(p, 1));
	vt_sleep_ms(PAUSE_MS);
	TRY(post(p, 0));
	for (i = 1; i < 4; i++)
		TRY(vt_poll_ok(p->b.rcq, &wc, i));
	us = vt_now_us() - start;
	CHECK(us < INTERVAL_US * 3 / 2, "the last message comes after %llu ms",
	      (unsigned long long)us / 1000);
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_conf conf;

	vt_start(argc, argv);
	conf = vt_conf(IBV_QPT_UC);
	vt_run("a message waits no longer than 100 ms for that of another CPU", &conf, by_two_cpus,
	       NULL);
	return tap_finish();
}
