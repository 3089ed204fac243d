// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A A --family 4 6 */
/*
 * Two threads post long lists to one UC QP, whose peer is on the same host. While the packets of
 * one are delivered, those of the other wait: not as many as a process can post, but some, and
 * none is lost.
 */

#include "vt.h"

#define LIST	256		/* work requests posted by one call */
#define LISTS	200		/* of each thread */
#define LEN	1024U

struct poster {
	struct vt_pair *p;
	uint32_t nr;
	pthread_t thread;
	why_t why;
};

/* Lists that are complete, of each thread */
static uint32_t done[2];

static why_t wait_done(struct vt_pair *p, uint32_t nr, uint32_t n)
{
	uint64_t until = vt_now_us() + VT_LONG * 1000;
	struct ibv_wc wc;

	while (__atomic_load_n(&done[nr], __ATOMIC_SEQ_CST) < n) {
		CHECK(vt_now_us() < until, "thread %u: list %u does not end", nr, n);
		/* either thread takes the completions of both */
		if (ibv_poll_cq(p->a.scq, 1, &wc) != 1)
			continue;
		CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id < 2, "wr %u: %s",
		      (unsigned int)wc.wr_id, ibv_wc_status_str(wc.status));
		__atomic_add_fetch(&done[wc.wr_id], 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static why_t post_list(struct vt_pair *p, uint32_t nr)
{
	struct ibv_send_wr wr[LIST] = {};
	struct ibv_sge sge[LIST];
	size_t off;
	int i;

	for (i = 0; i < LIST; i++) {
		off = LEN * (nr * LIST + i);
		sge[i] = vt_sge(&p->a.buf, off, LEN);
		wr[i].wr_id = nr;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
		wr[i].send_flags = i == LIST - 1 ? IBV_SEND_SIGNALED : 0;
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		wr[i].next = i == LIST - 1 ? NULL : &wr[i + 1];
		vt_aim(&p->a, &p->b, &wr[i]);
		wr[i].wr.rdma.remote_addr += off;
	}
	return vt_post_send(&p->a, wr);
}

static void *post_lists(void *arg)
{
	struct poster *po = arg;
	uint32_t i;

	vt_run_on(po->nr);
	for (i = 0; i < LISTS && !po->why; i++) {
		po->why = post_list(po->p, po->nr);
		if (!po->why)
			po->why = wait_done(po->p, po->nr, i + 1);
	}
	return NULL;
}

/* What comes after all that was posted shows that it has arrived. */
static why_t last(struct vt_pair *p)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 8);
	struct ibv_send_wr wr = { .wr_id = 3, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };
	struct ibv_wc wc;

	TRY(vt_post_recv_at(&p->b, 4, 2 * LIST * LEN, 8));
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 3));
	return vt_poll_ok(p->b.rcq, &wc, 4);
}

static why_t two_threads(struct vt_pair *p, const void *arg)
{
	struct poster po[2] = { { .p = p }, { .p = p, .nr = 1 } };
	uint64_t lost, stopped, sent;
	int i;

	(void)arg;
	memset(done, 0, sizeof(done));
	vt_fill(p->a.buf.data, 2 * LIST * LEN, 1);
	vt_sleep_ms(20);
	lost = vt_counted(p->b.dev, "uc_dropped_messages");
	stopped = vt_counted(p->a.dev, "tx_queue_stopped");
	sent = vt_counted(p->a.dev, "loopback_pkts");
	for (i = 0; i < 2; i++)
		CHECK(!pthread_create(&po[i].thread, NULL, post_lists, &po[i]),
		      "pthread_create");
	for (i = 0; i < 2; i++)
		pthread_join(po[i].thread, NULL);
	TRY(po[0].why);
	TRY(po[1].why);
	TRY(last(p));
	CHECK(!memcmp(p->a.buf.data, p->b.buf.data, 2 * LIST * LEN), "arrives garbled");
	vt_sleep_ms(20);
	CHECK(vt_counted(p->b.dev, "uc_dropped_messages") == lost, "packets are lost");
	sent = vt_counted(p->a.dev, "loopback_pkts") - sent;
	CHECK(sent == 2 * LIST * LISTS + 1, "%llu packets by the short cut",
	      (unsigned long long)sent);
	stopped = vt_counted(p->a.dev, "tx_queue_stopped") - stopped;
	tap_note("stopped %llu times", (unsigned long long)stopped);
	CHECK(stopped, "the queue is never full");
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_conf c;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_UC);
	c.send_wr = 2 * LIST;
	c.cqe = 4 * LIST;
	c.buf = 2 * LIST * LEN + 4096;
	vt_run("long lists of two threads to a QP of this host", &c, two_threads, NULL);
	return tap_finish();
}
