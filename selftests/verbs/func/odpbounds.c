// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 +6 */
/* run: A A --family 4 */
/* What a region on demand has faulted in: nothing outside of it. */

#define _GNU_SOURCE
#include <sys/mman.h>
#include "vt.h"

#define PAGE	4096UL
/* Not so near that it is faulted in for being near */
#define BEYOND	(1UL << 20)
#define SIZE	(BEYOND + PAGE)

/*
 * A list of two pages by the key of a region of the first: the second is not faulted in. Nothing
 * would tell the region when it goes.
 */
static why_t beyond(struct vt_pair *p, const void *arg)
{
	enum ibv_wr_opcode op = *(const enum ibv_wr_opcode *)arg;
	struct ibv_pd *pd = (op == IBV_WR_SEND ? p->b : p->a).dev->pd;
	unsigned char there = 0;
	struct ibv_sge sge[2];
	struct ibv_send_wr wr = {
		.wr_id = 7, .opcode = op, .sg_list = sge, .num_sge = 2,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)p->b.buf.data, p->b.buf.mr->rkey },
	};
	struct ibv_mr *mr;
	uint8_t *at;

	at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(at != MAP_FAILED, "mmap: %s", strerror(errno));
	mr = ibv_reg_mr(pd, at, PAGE, VT_ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	sge[0] = (struct ibv_sge){ (uintptr_t)at, PAGE, mr->lkey };
	sge[1] = (struct ibv_sge){ (uintptr_t)at + BEYOND, PAGE, mr->lkey };
	if (op == IBV_WR_SEND) {
		TRY(vt_post_recv(&p->b, 8, sge, 2));
		sge[0] = vt_sge(&p->a.buf, 0, 2 * PAGE);
		wr.num_sge = 1;
	}
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_status(p->a.scq, 7, op == IBV_WR_SEND ? IBV_WC_REM_OP_ERR :
			   IBV_WC_LOC_PROT_ERR, "A"));
	CHECK(!mincore(at + BEYOND, PAGE, &there) && !(there & 1),
	      "a page outside of the region was faulted in");
	/* what was kept of it would be used when the region goes */
	munmap(at + BEYOND, PAGE);
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	munmap(at, SIZE);
	return NULL;
}

int main(int argc, char **argv)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
	};
	static const char *const names[] = { "WRITE", "READ", "SEND" };
	struct vt_conf c;
	size_t i;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	c.buf = 2 * PAGE;
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		vt_runf(&c, beyond, &ops[i], "ODP: a list that goes beyond the region, %s",
			names[i]);
	return tap_finish();
}
