// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/* Regions that are deregistered while work uses them: it fails, and nothing else happens. */

#include "vt.h"

#define READS	16
#define LEN	65536U

/* A's own region, beside that of its endpoint */
static why_t own_region(struct vt_pair *p, struct ibv_mr **mr)
{
	*mr = ibv_reg_mr(p->a.dev->pd, p->a.buf.data, p->a.buf.len,
			 IBV_ACCESS_LOCAL_WRITE);
	CHECK(*mr, "ibv_reg_mr: %s", strerror(errno));
	return NULL;
}

static why_t post_reads(struct vt_pair *p, const struct ibv_mr *mr)
{
	struct ibv_sge sge = { (uintptr_t)p->a.buf.data, LEN, mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};

	vt_aim(&p->a, &p->b, &wr);
	for (wr.wr_id = 0; wr.wr_id < READS; wr.wr_id++)
		TRY(vt_post_send(&p->a, &wr));
	return NULL;
}

/* In order: some may succeed, one fails for its memory, the rest is flushed. */
static why_t end_of_reads(struct vt_pair *p, const void *arg)
{
	bool failed = false;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	int i, err;

	(void)arg;
	TRY(own_region(p, &mr));
	TRY(post_reads(p, mr));
	err = ibv_dereg_mr(mr);
	CHECK(!err, "ibv_dereg_mr: %s", strerror(err));
	for (i = 0; i < READS; i++) {
		TRY(vt_poll(p->a.scq, &wc, VT_LONG));
		CHECK(wc.wr_id == (uint64_t)i, "READ %llu, not %d", (unsigned long long)wc.wr_id,
		      i);
		if (failed)
			CHECK(wc.status == IBV_WC_WR_FLUSH_ERR, "READ %d after that: %s", i,
			      ibv_wc_status_str(wc.status));
		else
			CHECK(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_LOC_PROT_ERR,
			      "READ %d: %s", i, ibv_wc_status_str(wc.status));
		failed |= wc.status != IBV_WC_SUCCESS;
	}
	return failed ? vt_ep_is(&p->a, IBV_QPS_ERR) : vt_ep_is(&p->a, IBV_QPS_RTS);
}

/* A receive is looked at when its message comes. */
static why_t end_of_receive(struct vt_pair *p, const void *arg)
{
	struct ibv_sge to, from = vt_sge(&p->b.buf, 0, 100);
	struct ibv_send_wr wr = {
		.wr_id = 2, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &from, .num_sge = 1,
	};
	struct ibv_mr *mr;
	int err;

	(void)arg;
	TRY(own_region(p, &mr));
	to = (struct ibv_sge){ (uintptr_t)p->a.buf.data, 100, mr->lkey };
	TRY(vt_post_recv(&p->a, 1, &to, 1));
	err = ibv_dereg_mr(mr);
	CHECK(!err, "ibv_dereg_mr: %s", strerror(err));
	TRY(vt_quiet(p->a.rcq, 100));
	TRY(vt_ep_is(&p->a, IBV_QPS_RTS));
	TRY(vt_post_send(&p->b, &wr));
	TRY(vt_poll_status(p->a.rcq, 1, IBV_WC_LOC_PROT_ERR, "the receive"));
	return vt_poll_status(p->b.scq, 2, IBV_WC_REM_OP_ERR, "the SEND");
}

int main(int argc, char **argv)
{
	static const struct vt_test tests[] = {
		{ "a region goes while READs into it are under way", end_of_reads, NULL },
		{ "a region goes while a receive into it is posted", end_of_receive, NULL },
	};

	return vt_main(argc, argv, LEN, tests, ARRAY_SIZE(tests));
}
