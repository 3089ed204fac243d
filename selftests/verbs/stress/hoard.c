// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: by chaos.test.sh */
/*
 * usage: hoard DEV QPS - open a device, make very many objects on it, say
 * "ready" and send a gigabyte in one go to a QP that is not there. To remove
 * such a device takes seconds. The process belongs to no namespace but that of
 * its caller.
 */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <netinet/in.h>
#include <infiniband/verbs.h>

#define LEN	(32 << 20)

static void die(const char *what)
{
	fprintf(stderr, "hoard: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct ibv_context *open_dev(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return ibv_open_device(*list);
	errno = ENODEV;
	return NULL;
}

/* The first GID that maps an IPv4 address */
static int find_gid(struct ibv_context *ctx, union ibv_gid *gid)
{
	int i;

	for (i = 0; i < 256; i++)
		if (!ibv_query_gid(ctx, 1, i, gid) && IN6_IS_ADDR_V4MAPPED(gid->raw))
			return i;
	errno = EADDRNOTAVAIL;
	die("find_gid");
	return -1;
}

static void connect_qp(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("INIT");
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = 0xfffff0;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.hop_limit = 64;
	attr.ah_attr.grh.sgid_index = find_gid(qp->context,
					       &attr.ah_attr.grh.dgid);
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN))
		die("RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		die("RTS");
}

static void send_much(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 32 },
	};
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;
	struct ibv_sge sge[32];
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	void *buf;

	buf = aligned_alloc(4096, LEN);
	qp = ibv_create_qp(pd, &init);
	mr = buf ? ibv_reg_mr(pd, buf, LEN, IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (!qp || !mr)
		die("ibv_reg_mr");
	connect_qp(qp);
	for (wr.num_sge = 0; wr.num_sge < 32; wr.num_sge++)
		sge[wr.num_sge] = (struct ibv_sge){
			.addr = (uintptr_t)buf, .length = LEN,
			.lkey = mr->lkey,
		};
	wr.sg_list = sge;
	puts("ready");
	fflush(stdout);
	ibv_post_send(qp, &wr, &bad);
}

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 64, .max_recv_wr = 64,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_context *ctx;
	static char buf[4096];
	struct ibv_pd *pd;
	int i, qps;

	if (argc != 3)
		return 2;
	qps = atoi(argv[2]);
	ctx = open_dev(argv[1]);
	if (!ctx)
		die("ibv_open_device");
	pd = ibv_alloc_pd(ctx);
	init.send_cq = ibv_create_cq(ctx, 100, NULL, NULL, 0);
	init.recv_cq = init.send_cq;
	if (!pd || !init.send_cq)
		die("ibv_create_cq");
	for (i = 0; i < qps; i++)
		if (!ibv_create_qp(pd, &init) ||
		    !ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE))
			die("ibv_create_qp");
	alarm(120);
	send_much(pd, init.send_cq);
	pause();
	return 0;
}
