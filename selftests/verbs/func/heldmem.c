// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: limit=120 A B --family 4 */
/*
 * Packets that a QP keeps, while a page of its receive does not come, hold no more of the
 * machine's memory than is counted, even if their sender has each lie in a block of memory that
 * is full of packets for others.
 */

#define _GNU_SOURCE
#include <sys/mman.h>
#include "never.h"

#define SMALL	64		/* bytes of a packet that is kept */
#define OTHERS	40		/* packets of a KiB to nobody after each */
#define ROUNDS	1000
#define NOBODY	0xfffff0
/* What a packet that is kept may take; a block is 32 KiB */
#define MOST_KIB	8

/* A receive that waits for its page */
static why_t post_receive(struct vt_pair *p)
{
	struct ibv_sge sge = { .addr = (uintptr_t)never.mem, .length = NEVER_PAGE };
	struct ibv_mr *mr;

	CHECK(!mprotect(never.mem, NEVER_SIZE, PROT_READ | PROT_WRITE), "mprotect: %s",
	      strerror(errno));
	mr = ibv_reg_mr(p->b.dev->pd, never.mem, NEVER_SIZE,
			IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	sge.lkey = mr->lkey;
	return vt_post_recv(&p->b, 0, &sge, 1);
}

static void to(const struct vt_pair *p, struct ibv_send_wr *wr, uint32_t qpn)
{
	wr->opcode = IBV_WR_SEND;
	wr->num_sge = 1;
	wr->wr.ud.ah = p->a.ah;
	wr->wr.ud.remote_qpn = qpn;
	wr->wr.ud.remote_qkey = VT_QKEY;
}

/* A packet that B keeps, and enough for nobody to fill the rest of a block */
static why_t send_round(struct vt_pair *p)
{
	struct ibv_sge small = vt_sge(&p->a.buf, 0, SMALL), big = vt_sge(&p->a.buf, 0, 1024);
	struct ibv_send_wr kept = { .sg_list = &small }, others[OTHERS] = {};
	struct ibv_wc wc;
	int i;

	to(p, &kept, p->b.qp->qp_num);
	for (i = 0; i < OTHERS; i++) {
		to(p, &others[i], NOBODY);
		others[i].sg_list = &big;
		others[i].next = i + 1 < OTHERS ? &others[i + 1] : NULL;
	}
	others[OTHERS - 1].send_flags = IBV_SEND_SIGNALED;
	TRY(vt_post_send(&p->a, &kept));
	TRY(vt_post_send(&p->a, others));
	return vt_poll_ok(p->a.scq, &wc, 0);
}

static why_t holds_little(struct vt_pair *p, const void *arg)
{
	uint64_t dropped = vt_counted(p->b.dev, "odp_drops");
	long before, taken, kept;
	int i;

	(void)arg;
	TRY(post_receive(p));
	/* blocks are filled and freed by one CPU */
	vt_run_on(0);
	TRY(send_round(p));
	before = vt_free_kib();
	for (i = 0; i < ROUNDS; i++)
		TRY(send_round(p));
	taken = before - vt_free_kib();
	vt_run_on(-1);
	kept = ROUNDS - (vt_counted(p->b.dev, "odp_drops") - dropped);
	CHECK(kept >= ROUNDS / 2, "only %ld packets are kept", kept);
	CHECK(taken < kept * MOST_KIB, "%ld packets of %u bytes hold %ld KiB", kept, SMALL, taken);
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_conf c;

	never_up();
	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_UD);
	vt_run("packets that are kept hold no blocks of memory", &c, holds_little, NULL);
	never_down();
	return tap_finish();
}
