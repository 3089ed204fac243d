// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: by txq.test.sh */
/*
 * usage: former DEV NETDEV DGID - take a QP to RESET while a thread is sending a gigabyte
 * to a QP that is not there, and see whether a packet leaves by NETDEV after that. The
 * thread sends trips of packets, and this program, of a higher priority on the same CPU,
 * runs between two of them.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include "vt.h"

#define LEN	(32 << 20)
#define ROUNDS	20

static struct ibv_qp *qp;
static struct ibv_mr *mr;
static const char *netdev;
static union ibv_gid dgid;

static long sent(void)
{
	char path[128], line[32] = "-1";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/tx_packets", netdev);
	f = fopen(path, "r");
	if (f && !fgets(line, sizeof(line), f))
		tap_bail("%s", path);
	if (f)
		fclose(f);
	return atol(line);
}

static void on_cpu_0(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	vt_run_on(0);
	pthread_setschedparam(pthread_self(), priority ? SCHED_FIFO : SCHED_OTHER, &param);
}

/* The first GID that maps an IPv4 address */
static int find_gid(struct ibv_context *ctx)
{
	union ibv_gid gid;
	int i;

	for (i = 0; i < 256; i++)
		if (!ibv_query_gid(ctx, 1, i, &gid) && IN6_IS_ADDR_V4MAPPED(gid.raw))
			return i;
	tap_bail("no GID");
}

static why_t connect_qp(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			     IBV_QP_ACCESS_FLAGS), "INIT: %s", strerror(errno));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = 0xfffff0;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.hop_limit = 64;
	attr.ah_attr.grh.sgid_index = find_gid(qp->context);
	attr.ah_attr.grh.dgid = dgid;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN), "RTR: %s", strerror(errno));
	attr.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), "RTS: %s",
	      strerror(errno));
	return NULL;
}

static void *sender(void *arg)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;
	struct ibv_sge sge[32];

	on_cpu_0(0);
	for (wr.num_sge = 0; wr.num_sge < 32; wr.num_sge++)
		sge[wr.num_sge] = (struct ibv_sge){
			.addr = (uintptr_t)mr->addr, .length = LEN, .lkey = mr->lkey,
		};
	wr.sg_list = sge;
	ibv_post_send(qp, &wr, &bad);
	return arg;
}

/* Return: packets that have left during and after the modify */
static why_t round_of(int i, long *late)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	long first = sent(), before;
	pthread_t thread;
	int err;

	TRY(connect_qp());
	CHECK(!pthread_create(&thread, NULL, sender, NULL), "pthread_create");
	do {
		usleep(2000 + 137 * i);
		before = sent();
	} while (before - first < 10);
	err = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	*late += sent() - before;
	before = sent();
	pthread_join(thread, NULL);
	*late += sent() - before;
	CHECK(!err, "RESET: %s", strerror(err));
	return NULL;
}

static why_t rounds(void)
{
	long late = 0;
	int i;

	for (i = 0; i < ROUNDS; i++)
		TRY(round_of(i, &late));
	CHECK(!late, "%ld trains leave after %d RESETs", late, ROUNDS);
	return NULL;
}

static void open_qp(const char *name)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UC, .cap = { .max_send_wr = 4, .max_send_sge = 32 },
	};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	void *buf = aligned_alloc(4096, LEN);

	while (list && *list && strcmp(ibv_get_device_name(*list), name))
		list++;
	ctx = list && *list ? ibv_open_device(*list) : NULL;
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	if (!pd || !buf)
		tap_bail("ibv_open_device: %s", name);
	init.send_cq = ibv_create_cq(ctx, 100, NULL, NULL, 0);
	init.recv_cq = init.send_cq;
	qp = ibv_create_qp(pd, &init);
	mr = ibv_reg_mr(pd, buf, LEN, IBV_ACCESS_LOCAL_WRITE);
	if (!qp || !mr)
		tap_bail("ibv_create_qp: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	if (argc != 4 || inet_pton(AF_INET6, argv[3], &dgid) != 1)
		return 2;
	netdev = argv[2];
	open_qp(argv[1]);
	alarm(120);
	on_cpu_0(50);
	tap_report(rounds(), "no packet leaves after RESET");
	return tap_finish();
}
