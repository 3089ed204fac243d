// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 */
/*
 * A memory cgroup that is full: calls fail with ENOMEM, work again once there is room, and the
 * kernel has nothing to say. The test of the VM looks at its log.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vt.h"

/* Room that is left: less than the slots of the QP, more than the call needs beside them */
#define ROOM	(1L << 20)

static char top[] = "/tmp/memlimit.XXXXXX";

/* Write to a file of the cgroup, or of the one above. Return: 0 or errno */
static int put(const char *file, const char *text)
{
	char path[100];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", top, file);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}

static long in_use(void)
{
	char path[100];
	long n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/vt/memory.current", top);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%ld", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

static int set_limit(long bytes)
{
	char text[30];

	snprintf(text, sizeof(text), "%ld", bytes);
	return put("vt/memory.max", text);
}

/* Join a memory cgroup of this process's own. Return: whether this kernel has any */
static bool join(void)
{
	char path[100], self[20];

	if (!mkdtemp(top) || mount("none", top, "cgroup2", 0, NULL))
		return false;
	put("cgroup.subtree_control", "+memory");
	snprintf(path, sizeof(path), "%s/vt", top);
	snprintf(self, sizeof(self), "%d", getpid());
	return !mkdir(path, 0755) && !put("vt/memory.max", "max") &&
	       !put("vt/cgroup.procs", self);
}

static void leave(void)
{
	char path[100], self[20];

	snprintf(path, sizeof(path), "%s/vt", top);
	snprintf(self, sizeof(self), "%d", getpid());
	put("cgroup.procs", self);
	rmdir(path);
	umount2(top, MNT_DETACH);
	rmdir(top);
}

/* The largest QP that this user may have, in INIT; its slots are allocated later */
static struct ibv_qp *largest_qp(struct vt_pair *p)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = p->a.scq, .recv_cq = p->a.rcq,
		.cap = { .max_send_wr = 32768, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1, .max_inline_data = 512 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = VT_PORT };
	struct ibv_qp *qp = NULL;

	for (; !qp && init.cap.max_send_wr > 4096; init.cap.max_send_wr /= 2)
		qp = ibv_create_qp(p->a.dev->pd, &init);
	if (qp && ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				IBV_QP_ACCESS_FLAGS))
		return NULL;
	return qp;
}

static why_t full(struct vt_pair *p, const void *arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp *qp = largest_qp(p);
	int err, again;

	(void)arg;
	CHECK(qp, "no QP in INIT: %s", strerror(errno));
	CHECK(!set_limit(in_use() + ROOM), "memory.max: %s", strerror(errno));
	err = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	put("vt/memory.max", "max");
	again = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	CHECK(err == ENOMEM, "ibv_modify_qp: %s, not ENOMEM", strerror(err));
	CHECK(!again, "ibv_modify_qp, with memory: %s", strerror(again));
	CHECK(!ibv_destroy_qp(qp), "ibv_destroy_qp: %s", strerror(errno));
	return NULL;
}

/* What it takes is a part of a call, and may find room; nobody is to be killed for it. */
static why_t full_of_advice(struct vt_pair *p, const void *arg)
{
	static struct ibv_sge sge[4000];
	struct ibv_mr *mr = ibv_reg_mr(p->a.dev->pd, sge, sizeof(sge),
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
	size_t i;
	int err, again;

	(void)arg;
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	for (i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)sge, 1, mr->lkey };
	CHECK(!set_limit(in_use()), "memory.max: %s", strerror(errno));
	err = vt_advise_list(p->a.dev->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH,
			     sge, ARRAY_SIZE(sge));
	put("vt/memory.max", "max");
	again = vt_advise_list(p->a.dev->pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
			       IBV_ADVISE_MR_FLAG_FLUSH, sge, ARRAY_SIZE(sge));
	CHECK(!err || err == ENOMEM, "ibv_advise_mr: %s", strerror(err));
	CHECK(!again, "ibv_advise_mr, with memory: %s", strerror(again));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_conf c;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	if (join()) {
		vt_run_idle("memory cgroup: the error state of a QP has no room", &c, full, NULL);
		vt_run_idle("memory cgroup: advice has none", &c, full_of_advice, NULL);
	} else {
		tap_skip("no memory cgroups", "memory cgroup");
	}
	leave();
	return tap_finish();
}
