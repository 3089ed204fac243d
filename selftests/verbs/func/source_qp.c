// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * A QP of this host that sends to another, which is connected to a third one. On the wire
 * packets don't name their source QP. Within a host they do, and are dropped.
 */

#include "vt.h"

#define PSN	1000

static struct ibv_cq *cq;

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

static why_t open_qps(struct ibv_qp **server, struct ibv_qp **client, struct ibv_qp **stranger)
{
	*server = create();
	*client = create();
	*stranger = create();
	CHECK(*server && *client && *stranger, "QP: %s", strerror(errno));
	TRY(receive(*server, *client, PSN));
	TRY(send(*server, PSN));
	TRY(receive(*client, *server, PSN));
	TRY(send(*client, PSN));
	TRY(receive(*stranger, *server, PSN));
	return send(*stranger, PSN);
}

/* The stranger's READ is the first; its PSN is the one that is expected. */
static why_t read_both(struct ibv_qp *client, struct ibv_qp *stranger)
{
	struct ibv_wc wc;

	TRY(post(stranger, 1));
	TRY(vt_quiet(cq, VT_SHORT));
	TRY(post(client, 2));
	TRY(vt_poll_ok(cq, &wc, 2));
	return vt_quiet(cq, VT_SHORT);
}

int main(int argc, char **argv)
{
	struct ibv_qp *server, *client, *stranger;
	why_t why;

	vt_start(argc, argv);
	cq = ibv_create_cq(vt_devs[0].ctx, 8, NULL, NULL, 0);
	why = cq ? open_qps(&server, &client, &stranger) : "ibv_create_cq";
	if (!why)
		why = read_both(client, stranger);
	tap_report(why, "source_qp: a QP of this host is heard by the QP connected to it only");
	return tap_finish();
}
