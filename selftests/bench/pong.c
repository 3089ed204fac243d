// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * 8 bytes by WRITE from one device to another and back, over and over, by one thread that is
 * the process at both ends: what a message costs where nobody has to wait for a CPU.
 *
 * usage: pong DEVICE GID-INDEX DEVICE GID-INDEX
 */

#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH	16

struct end {
	struct ibv_context	*ctx;
	struct ibv_mr		*mr;
	struct ibv_cq		*cq;
	struct ibv_qp		*qp;
	union ibv_gid		gid;
	int			gid_index;
	unsigned int		todo;	/* messages that are not complete */
	volatile uint64_t	word;	/* the peer's newest message */
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct ibv_context *device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	return ctx;
}

static void make(struct end *e, const char *name, int gid_index)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1, .max_inline_data = 8 },
	};
	struct ibv_pd *pd;

	e->ctx = device(name);
	if (!e->ctx)
		die(name);
	e->gid_index = gid_index;
	pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 2 * DEPTH, NULL, NULL, 0);
	if (!pd || !e->cq || ibv_query_gid(e->ctx, 1, gid_index, &e->gid))
		die("PD, CQ or GID");
	e->mr = ibv_reg_mr(pd, (void *)&e->word, sizeof(e->word),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	init.send_cq = e->cq;
	init.recv_cq = e->cq;
	e->qp = ibv_create_qp(pd, &init);
	if (!e->mr || !e->qp)
		die("MR or QP");
}

static void bring_up(struct end *e, const struct end *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	if (ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		die("to INIT");
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = peer->qp->qp_num;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.dgid = peer->gid;
	attr.ah_attr.grh.sgid_index = e->gid_index;
	attr.ah_attr.grh.hop_limit = 64;
	if (ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		die("to RTR");
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	if (ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("to RTS");
}

static void reap(struct end *e, unsigned int most)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(e->cq, 1, &wc);
		if (n < 0 || (n && wc.status != IBV_WC_SUCCESS)) {
			fprintf(stderr, "%s\n", ibv_wc_status_str(wc.status));
			exit(1);
		}
		e->todo -= n;
	} while (n || e->todo > most);
}

static void say(struct end *e, const struct end *peer, uint64_t what)
{
	struct ibv_sge sge = { .addr = (uintptr_t)&what, .length = sizeof(what) };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
		.wr.rdma = { .remote_addr = (uintptr_t)&peer->word, .rkey = peer->mr->rkey },
	}, *bad;

	/* the ACK of the last one may come with the answer */
	reap(e, DEPTH / 2);
	if (ibv_post_send(e->qp, &wr, &bad))
		die("post");
	e->todo++;
	while (peer->word != what)
		;
}

int main(int argc, char **argv)
{
	static struct end a, b;
	uint64_t i;

	if (argc != 5) {
		fprintf(stderr, "usage: pong DEVICE GID-INDEX DEVICE GID-INDEX\n");
		return 2;
	}
	make(&a, argv[1], atoi(argv[2]));
	make(&b, argv[3], atoi(argv[4]));
	bring_up(&a, &b);
	bring_up(&b, &a);
	for (i = 1;; i++) {
		say(&a, &b, i);
		say(&b, &a, i);
	}
}
