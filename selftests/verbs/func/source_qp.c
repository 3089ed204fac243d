// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * A QP of this host that sends to another, which is connected to a third one. On the wire
 * packets don't name their source QP. Within a host they do, and are dropped.
 */

#include "vt.h"

#define PSN	1000
/* More than what is copied in any case */
#define LENGTH	3000

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
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
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

static why_t post(struct ibv_qp *qp, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;
	int err = ibv_post_send(qp, &wr, &bad);

	CHECK(!err, "post: %s", strerror(err));
	return NULL;
}

/* Of no bytes, which takes no key */
static struct ibv_send_wr read_nothing(void)
{
	return (struct ibv_send_wr){
		.opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
	};
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

/* The stranger's request is the first; its PSN is the one that is expected. */
static why_t request_both(struct ibv_qp *client, struct ibv_qp *stranger, struct ibv_send_wr wr)
{
	struct ibv_wc wc;

	TRY(post(stranger, wr));
	TRY(vt_quiet(cq, VT_SHORT));
	wr = read_nothing();
	wr.wr_id = 2;
	TRY(post(client, wr));
	TRY(vt_poll_ok(cq, &wc, 2));
	return vt_quiet(cq, VT_SHORT);
}

static why_t with_qps(struct ibv_send_wr wr)
{
	struct ibv_qp *qp[3] = {};
	why_t why = open_qps(&qp[0], &qp[1], &qp[2]);
	int i;

	if (!why)
		why = request_both(qp[1], qp[2], wr);
	for (i = 0; i < 3; i++)
		if (qp[i])
			ibv_destroy_qp(qp[i]);
	return why;
}

static why_t read_test(void)
{
	return with_qps(read_nothing());
}

/* Into a region of the server's, from one with these rights */
static why_t write_from(int access)
{
	struct vt_buf from, to = {};
	struct ibv_sge sge;
	why_t why;

	why = vt_buf_open(&from, vt_devs[0].pd, LENGTH, access);
	if (!why)
		why = vt_buf_open(&to, vt_devs[0].pd, LENGTH, VT_ALL_ACCESS);
	if (!why) {
		vt_buf_fill(&from, 1);
		sge = vt_sge(&from, 0, LENGTH);
		why = with_qps((struct ibv_send_wr){
			.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
			.sg_list = &sge, .num_sge = 1,
			.wr.rdma = { (uintptr_t)to.data, to.mr->rkey },
		}) ?: vt_buf_check(&to);
	}
	vt_buf_close(&to);
	vt_buf_close(&from);
	return why;
}

static why_t write_test(void)
{
	return write_from(0);
}

/* Pages that may go can't be referred to until the receiver copies from them. */
static why_t on_demand_test(void)
{
	return write_from(IBV_ACCESS_ON_DEMAND);
}

int main(int argc, char **argv)
{
	vt_start(argc, argv);
	cq = ibv_create_cq(vt_devs[0].ctx, 8, NULL, NULL, 0);
	if (!cq)
		tap_bail("ibv_create_cq");
	tap_report(read_test(),
		   "source_qp: a QP of this host is heard by the QP connected to it only");
	tap_report(write_test(), "source_qp: a WRITE of one that is not does not land");
	tap_report(on_demand_test(), "source_qp: nor does one from a region on demand");
	return tap_finish();
}
