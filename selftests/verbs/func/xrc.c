// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * XRC, which there isn't (drv/README.md says why), by each way there is past the
 * provider: the commands as libibverbs would write them. (What libibverbs itself
 * says is in conform/lack.c.)
 */

#include <fcntl.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>
#include "vt.h"

/* Room for what the kernel and the provider's driver answer */
#define ANSWER	256

/* A command; its first word is where the answer goes. Returns an errno. */
static int command(struct vt_dev *dev, uint32_t number, const void *cmd,
		   size_t len, bool answers)
{
	uint64_t buf[64] = {}, answer[ANSWER / 8];
	struct ib_uverbs_cmd_hdr hdr = {
		.command = number, .in_words = (sizeof(hdr) + len) / 4,
		.out_words = answers ? sizeof(answer) / 4 : 0,
	};

	memcpy(buf, &hdr, sizeof(hdr));
	memcpy(buf + 1, cmd, len);
	if (answers)
		buf[1] = (uintptr_t)answer;
	return write(dev->ctx->cmd_fd, buf, sizeof(hdr) + len) < 0 ? errno : 0;
}

static why_t open_domain(void)
{
	struct vt_dev *dev = &vt_devs[0];
	struct ib_uverbs_open_xrcd open = { .fd = -1, .oflags = O_CREAT };
	struct ib_uverbs_close_xrcd shut = { .xrcd_handle = 0 };
	int err;

	err = command(dev, IB_USER_VERBS_CMD_OPEN_XRCD, &open, sizeof(open),
		      true);
	CHECK(err == EOPNOTSUPP, "OPEN_XRCD: %s", strerror(err));
	err = command(dev, IB_USER_VERBS_CMD_CLOSE_XRCD, &shut, sizeof(shut),
		      false);
	CHECK(err == EOPNOTSUPP, "CLOSE_XRCD: %s", strerror(err));
	return NULL;
}

/* There is no domain to have it in. */
static why_t create_srq(struct ibv_cq *cq)
{
	struct vt_dev *dev = &vt_devs[0];
	struct ib_uverbs_create_xsrq srq = {
		.srq_type = IBV_SRQT_XRC, .pd_handle = dev->pd->handle,
		.max_wr = 10, .max_sge = 1, .cq_handle = cq->handle,
	};
	int err = command(dev, IB_USER_VERBS_CMD_CREATE_XSRQ, &srq, sizeof(srq),
			  true);

	CHECK(err == EINVAL, "CREATE_XSRQ: %s", strerror(err));
	/* the same with no domain works: it is for that that it fails */
	srq.srq_type = IBV_SRQT_BASIC;
	err = command(dev, IB_USER_VERBS_CMD_CREATE_XSRQ, &srq, sizeof(srq),
		      true);
	CHECK(!err, "CREATE_XSRQ of a basic one: %s", strerror(err));
	return NULL;
}

static why_t create_qp(struct ibv_cq *cq, enum ibv_qp_type type, int want)
{
	struct vt_dev *dev = &vt_devs[0];
	struct ib_uverbs_create_qp qp = {
		.pd_handle = dev->pd->handle, .send_cq_handle = cq->handle,
		.recv_cq_handle = cq->handle, .max_send_wr = 1,
		.max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
		.qp_type = type,
	};
	int err = command(dev, IB_USER_VERBS_CMD_CREATE_QP, &qp, sizeof(qp),
			  true);

	CHECK(err == want, "CREATE_QP: %s", strerror(err));
	return NULL;
}

static why_t open_qp(struct vt_pair *p, const void *arg)
{
	struct ib_uverbs_open_qp qp = {
		.qpn = p->a.qp->qp_num, .qp_type = IBV_QPT_XRC_RECV,
	};
	int err = command(p->a.dev, IB_USER_VERBS_CMD_OPEN_QP, &qp, sizeof(qp),
			  true);

	(void)arg;
	CHECK(err == EOPNOTSUPP, "OPEN_QP: %s", strerror(err));
	return NULL;
}

static why_t capability(void)
{
	CHECK(!(vt_devs[0].attr.device_cap_flags & IBV_DEVICE_XRC),
	      "IBV_DEVICE_XRC is claimed");
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_conf c;
	struct ibv_cq *cq;

	vt_start(argc, argv);
	cq = ibv_create_cq(vt_devs[0].ctx, 16, NULL, NULL, 0);
	tap_report(cq ? NULL : strerror(errno), "XRC: a CQ to begin with");
	if (!cq)
		return tap_finish();
	tap_report(capability(), "XRC: no capability");
	tap_report(open_domain(), "XRC: no domain");
	tap_report(create_srq(cq), "XRC: no SRQ");
	tap_report(create_qp(cq, IBV_QPT_RC, 0), "XRC: an RC QP, to compare");
	tap_report(create_qp(cq, IBV_QPT_XRC_SEND, EOPNOTSUPP),
		   "XRC: no QP that sends");
	tap_report(create_qp(cq, IBV_QPT_XRC_RECV, EINVAL),
		   "XRC: no QP that receives");
	c = vt_conf(IBV_QPT_RC);
	vt_run("XRC: no QP to open", &c, open_qp, NULL);
	return tap_finish();
}
