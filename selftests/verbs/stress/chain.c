// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * QPs of one host in a chain: each is connected to the next and not to the one
 * whose packets it gets. The response to a READ at one end lets the next QP send
 * its second READ, the response to which lets the QP after that send, and so on.
 * The device must not handle this by calls that nest as deep as the chain is long.
 */

#include "vt.h"

#define LINKS	300	/* with a QP that reads and one that answers in each */
#define PSN	1000

static struct ibv_cq *cq;
static struct ibv_qp *reads[LINKS], *answers[LINKS];

static struct ibv_qp *create(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 2, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = VT_PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ,
	};
	struct ibv_qp *qp = ibv_create_qp(vt_devs[0].pd, &init);

	if (qp && ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return NULL;
	return qp;
}

static why_t receive(struct ibv_qp *qp, const struct ibv_qp *dest, uint32_t psn)
{
	struct vt_dev *dev = &vt_devs[0];
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest->qp_num, .rq_psn = psn,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1, .port_num = VT_PORT,
			.grh = { .dgid = dev->gid, .hop_limit = 64,
				 .sgid_index = dev->gid_index },
		},
	};
	int err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);

	CHECK(!err, "to RTR: %s", strerror(err));
	return NULL;
}

/* Nobody waits for an answer that can't come. */
static why_t send(struct ibv_qp *qp, uint32_t psn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .sq_psn = psn, .max_rd_atomic = 1,
	};
	int err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
				IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);

	CHECK(!err, "to RTS: %s", strerror(err));
	return NULL;
}

/* Of no bytes, which takes no key */
static why_t post(struct ibv_qp *qp, uint64_t id)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = id, .opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
	};
	int err = ibv_post_send(qp, &wr, &bad);

	CHECK(!err, "READ: %s", strerror(err));
	return NULL;
}

/*
 * All but the first one read from a QP that isn't ready, and once more, for which they
 * have to wait until the first READ is answered.
 */
static why_t build(void)
{
	int i;

	cq = ibv_create_cq(vt_devs[0].ctx, 4 * LINKS, NULL, NULL, 0);
	CHECK(cq, "ibv_create_cq: %s", strerror(errno));
	for (i = 0; i < LINKS; i++) {
		reads[i] = create();
		answers[i] = create();
		CHECK(reads[i] && answers[i], "QP %d: %s", i, strerror(errno));
	}
	for (i = 0; i < LINKS; i++) {
		TRY(receive(reads[i], answers[i], PSN));
		TRY(send(reads[i], PSN + i - (i > 0)));
		if (!i)
			continue;
		TRY(post(reads[i], i));
		TRY(post(reads[i], LINKS + i));
	}
	for (i = 0; i + 1 < LINKS; i++)
		TRY(receive(answers[i], reads[i + 1], PSN + i));
	return NULL;
}

/* Each READ is answered by the QP of the link before. */
static why_t topple(void)
{
	bool done[LINKS] = {};
	struct ibv_wc wc;
	int i;

	TRY(post(reads[0], 0));
	for (i = 1; i < LINKS; i++) {
		TRY(vt_poll(cq, &wc, VT_LONG));
		CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id > 0 &&
		      wc.wr_id < LINKS && !done[wc.wr_id], "wr_id %llu: %s",
		      (unsigned long long)wc.wr_id,
		      ibv_wc_status_str(wc.status));
		done[wc.wr_id] = true;
	}
	return vt_quiet(cq, VT_SHORT);
}

static why_t tear_down(void)
{
	int i, err;

	for (i = 0; i < LINKS; i++) {
		err = ibv_destroy_qp(reads[i]) ?: ibv_destroy_qp(answers[i]);
		CHECK(!err, "QP %d: %s", i, strerror(err));
	}
	err = ibv_destroy_cq(cq);
	CHECK(!err, "CQ: %s", strerror(err));
	return NULL;
}

int main(int argc, char **argv)
{
	why_t why;

	vt_start(argc, argv);
	why = build();
	tap_report(why, "chain: %d QPs, each connected to the next", 2 * LINKS);
	if (why)
		return tap_finish();
	tap_report(topple(), "chain: one READ has all the others answered");
	tap_report(tear_down(), "chain: and they go");
	return tap_finish();
}
