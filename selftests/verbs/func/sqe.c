// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 */
/*
 * A QP leaves SQE while thousands of its sends are flushed, and more are posted: each completes
 * once, in order, and what was flushed is not sent. What a doorbell has rung for is flushed as a
 * whole, but for what a held doorbell may divide.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include "vt.h"

#define LIST	1500		/* work requests that are posted at once */
#define LISTS	40
#define TOTAL	(LIST * LISTS)
#define DEPTH	4096
#define LEN	16

struct race {
	struct vt_pair *p;
	pthread_t poster, leaver;
	volatile bool stop;
	uint8_t status[TOTAL];
	bool received[TOTAL];
	uint32_t done, sent, left, busy;
	uint32_t halves;	/* lists that were flushed in part */
	uint32_t next;		/* the least number that B of UC may receive next */
	why_t why;		/* of the threads */
};

/* Of three lists the first begins with a bad one, and the last has one in the middle. */
static bool is_bad(uint32_t n)
{
	uint32_t list = n / LIST, i = n % LIST;

	return (list % 3 == 0 && !i) || (list % 3 == 2 && i == LIST / 2);
}

/* A reason of a thread that ends */
static why_t kept(why_t why)
{
	return why ? strdup(why) : NULL;
}

/* ---- the threads ------------------------------------------------------------- */

static why_t post_list(struct race *r, uint32_t first)
{
	static struct ibv_send_wr wrs[LIST];
	static struct ibv_sge sges[LIST];
	struct vt_pair *p = r->p;
	uint32_t i;

	for (i = 0; i < LIST; i++) {
		sges[i] = vt_sge(&p->a.buf, 0, LEN);
		if (is_bad(first + i))
			sges[i].lkey ^= 0x55;
		wrs[i] = (struct ibv_send_wr){
			.wr_id = first + i, .opcode = IBV_WR_SEND_WITH_IMM,
			.imm_data = htonl(first + i), .sg_list = &sges[i], .num_sge = 1,
			.send_flags = IBV_SEND_SIGNALED,
			.next = i < LIST - 1 ? &wrs[i + 1] : NULL,
		};
		vt_aim(&p->a, &p->b, &wrs[i]);
	}
	return vt_post_send(&p->a, wrs);
}

static void *poster_fn(void *arg)
{
	struct race *r = arg;
	uint32_t n;

	for (n = 0; n < TOTAL && !r->why && !r->stop; n += LIST) {
		while (n + LIST - __atomic_load_n(&r->done, __ATOMIC_ACQUIRE) > DEPTH - 1 &&
		       !r->stop)
			sched_yield();
		r->why = kept(post_list(r, n));
	}
	return NULL;
}

/* EBUSY: others went on posting; EINVAL: it was in RTS, and is in SQE now */
static void *leaver_fn(void *arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct race *r = arg;
	int err;

	while (!r->stop && !r->why) {
		err = ibv_modify_qp(r->p->a.qp, &attr, IBV_QP_STATE);
		if (err && err != EBUSY && err != EINVAL)
			r->why = kept(because("modify to RTS: %s", strerror(err)));
		r->left += !err;
		r->busy += err == EBUSY;
	}
	return NULL;
}

/* ---- what completes ------------------------------------------------------------ */

static why_t sent(struct race *r, const struct ibv_wc *wc)
{
	uint32_t n = r->done;
	bool bad = n < TOTAL && is_bad(n);

	CHECK(n < TOTAL && wc->wr_id == n, "completion of %u, not %u",
	      (unsigned int)wc->wr_id, n);
	CHECK(wc->status == IBV_WC_WR_FLUSH_ERR ||
	      wc->status == (bad ? IBV_WC_LOC_PROT_ERR : IBV_WC_SUCCESS),
	      "%s send %u: %s", bad ? "bad" : "good", n, ibv_wc_status_str(wc->status));
	/* only a bad one has the QP enter SQE */
	CHECK(wc->status != IBV_WC_WR_FLUSH_ERR || !n ||
	      r->status[n - 1] != IBV_WC_SUCCESS, "send %u is flushed behind a good one", n);
	/* it is flushed, and this one was behind it in its list */
	r->halves += n % LIST && wc->status == IBV_WC_SUCCESS &&
		     r->status[n - 1] == IBV_WC_WR_FLUSH_ERR;
	r->status[n] = wc->status;
	r->sent += wc->status == IBV_WC_SUCCESS;
	__atomic_store_n(&r->done, n + 1, __ATOMIC_RELEASE);
	return NULL;
}

static why_t received(struct race *r, const struct ibv_wc *wc)
{
	uint32_t n = ntohl(wc->imm_data);

	CHECK(wc->status == IBV_WC_SUCCESS, "receive: %s", ibv_wc_status_str(wc->status));
	CHECK(n < TOTAL && !r->received[n], "send %u is received again", n);
	r->received[n] = true;
	/* datagrams of several CPUs may overtake each other */
	CHECK(n >= r->next || r->p->conf.type == IBV_QPT_UD, "send %u is received after %u", n,
	      r->next - 1);
	r->next = n + 1;
	/* its completion may not have been polled yet */
	CHECK(n >= r->done || r->status[n] == IBV_WC_SUCCESS, "send %u is received, and was %s",
	      n, ibv_wc_status_str(r->status[n]));
	return vt_post_recv_at(&r->p->b, 0, 0, VT_GRH + LEN);
}

static why_t poll_all(struct race *r)
{
	uint64_t end = vt_now_us() + 1000000ULL * 120;
	struct ibv_wc wc;
	int n;

	while (r->done < TOTAL && !r->why) {
		CHECK(vt_now_us() < end, "%u of %u complete", r->done, TOTAL);
		n = ibv_poll_cq(r->p->b.rcq, 1, &wc);
		if (n == 1)
			TRY(received(r, &wc));
		n = ibv_poll_cq(r->p->a.scq, 1, &wc);
		if (n == 1)
			TRY(sent(r, &wc));
	}
	return r->why;
}

static why_t run(struct race *r)
{
	why_t why;
	int i;

	/* receives, the memory of which all share */
	for (i = 0; i < 1000; i++)
		TRY(vt_post_recv_at(&r->p->b, 0, 0, VT_GRH + LEN));
	CHECK(!pthread_create(&r->poster, NULL, poster_fn, r) &&
	      !pthread_create(&r->leaver, NULL, leaver_fn, r), "pthread_create");
	why = poll_all(r);
	r->stop = true;
	pthread_join(r->poster, NULL);
	pthread_join(r->leaver, NULL);
	return why ?: r->why;
}

static why_t leave(struct vt_pair *p, const void *arg)
{
	struct race *r = calloc(1, sizeof(*r));
	why_t why;

	(void)arg;
	r->p = p;
	why = run(r);
	if (!why) {
		tap_note("%u sends, %u executed; RTS %u times, EBUSY %u times", TOTAL, r->sent,
			 r->left, r->busy);
		if (!r->sent || r->sent >= TOTAL - LIST / 2)
			why = because("%u of %u executed", r->sent, TOTAL);
		else if (r->halves > LISTS / 8)
			why = because("%u of %u lists are flushed in part", r->halves, LISTS);
	}
	free(r);
	TRY(why);
	return vt_quiet(p->a.scq, 100);
}

int main(int argc, char **argv)
{
	struct vt_conf c;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_UD);
	c.send_wr = DEPTH - 1;
	c.recv_wr = 1024;
	c.cqe = 2 * DEPTH;
	vt_run("UD: SQE is left during a flush", &c, leave, NULL);
	c.type = IBV_QPT_UC;
	vt_run("UC: SQE is left during a flush", &c, leave, NULL);
	return tap_finish();
}
