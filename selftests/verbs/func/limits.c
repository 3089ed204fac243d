// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: limit=300 A B --family 4 */
/*
 * What a user may have: a share of the memory and of a device's objects. It leaves enough
 * for others, and comes back with the objects.
 */

#define _GNU_SOURCE
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vt.h"

#define USER	65533
#define OTHER	65532
/* Bytes of an entry of a CQ */
#define CQE	64
#define CQS	256

/* A process of a user, who has no privileges; @fn says what is wrong. */
static why_t as(uid_t uid, why_t (*fn)(struct vt_dev *dev))
{
	static __thread char text[200];
	int fds[2];
	ssize_t n;
	pid_t pid;

	CHECK(!pipe(fds), "pipe");
	pid = fork();
	if (!pid) {
		struct vt_dev dev = {};
		why_t why;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		vt_enter_netns(&vt_devs[0]);
		if (setgid(uid) || setuid(uid))
			_exit(1);
		vt_dev_open(&dev, vt_devs[0].name);
		why = fn(&dev);
		snprintf(text, sizeof(text), "%s", why ? why : "");
		_exit(write(fds[1], text, strlen(text) + 1) < 0);
	}
	close(fds[1]);
	n = read(fds[0], text, sizeof(text));
	close(fds[0]);
	waitpid(pid, NULL, 0);
	CHECK(n > 0, "a process of user %d has died", uid);
	return text[0] ? text : NULL;
}

static struct ibv_cq *cqs[CQS];

/* CQs as long as they can be had. Return: how many */
static int fill_memory(struct vt_dev *dev, int entries, int most)
{
	int n;

	for (n = 0; n < most; n++) {
		cqs[n] = ibv_create_cq(dev->ctx, entries, NULL, NULL, 0);
		if (!cqs[n])
			break;
	}
	return n;
}

static uint64_t total_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

/* Another user's rings while this one has its share */
static why_t has_room(struct vt_dev *dev)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 1000, NULL, NULL, 0);

	CHECK(cq, "another user gets no CQ: %s", strerror(errno));
	CHECK(!ibv_destroy_cq(cq), "ibv_destroy_cq: %s", strerror(errno));
	return NULL;
}

static why_t share_of_memory(struct vt_dev *dev)
{
	int entries = 262143, max = total_memory() / 10 / CQE / entries;
	int i, n = fill_memory(dev, entries, MIN(max, CQS)), again;

	CHECK(n < MIN(max, CQS), "%d CQs are more than a share of the memory", n);
	CHECK(errno == ENOMEM, "CQ %d: %s", n, strerror(errno));
	for (i = 0; i < n; i++)
		CHECK(!ibv_destroy_cq(cqs[i]), "ibv_destroy_cq: %s", strerror(errno));
	again = fill_memory(dev, entries, MIN(max, CQS));
	CHECK(n && again == n, "%d CQs at first, then %d", n, again);
	return NULL;
}

static why_t memory(struct vt_pair *p, const void *arg)
{
	(void)p;
	(void)arg;
	return as(USER, share_of_memory);
}

/* Slots of a send queue are memory as well as its ring. */
static why_t share_of_slots(struct vt_dev *dev)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 32767, .max_recv_wr = 1, .max_send_sge = 16,
			 .max_recv_sge = 1 },
	};
	/* at least the ring and the scatter/gather lists of the slots */
	int max = total_memory() / 10 / (32768 * 16 * 16 * 2), n;

	for (n = 0; n < max && ibv_create_qp(dev->pd, &init); n++)
		;
	CHECK(n < max, "%d QPs of 32,767 entries are more than a share of the memory", n);
	CHECK(errno == ENOMEM && n, "QP %d: %s", n, strerror(errno));
	return NULL;
}

static why_t slots(struct vt_pair *p, const void *arg)
{
	(void)p;
	(void)arg;
	return as(USER, share_of_slots);
}

static why_t share_of_ahs(struct vt_dev *dev)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = dev->gid, .sgid_index = dev->gid_index, .hop_limit = 64 },
	};
	int most = dev->attr.max_ah / 4, n;

	for (n = 0; n <= most && ibv_create_ah(dev->pd, &attr); n++)
		;
	CHECK(n <= most, "%d of %d address handles", n, dev->attr.max_ah);
	CHECK(errno == ENOMEM, "address handle %d: %s", n, strerror(errno));
	return NULL;
}

static why_t ahs(struct vt_pair *p, const void *arg)
{
	(void)p;
	(void)arg;
	return as(USER, share_of_ahs);
}

/* While one user has its share of memory, another gets rings. */
static why_t full_then_other(struct vt_dev *dev)
{
	fill_memory(dev, 262143, MIN((int)(total_memory() / 10 / CQE / 262143), CQS));
	fill_memory(dev, 1000, CQS);
	vt_sleep_ms(3000);
	return NULL;
}

static void *full_user(void *arg)
{
	(void)arg;
	as(USER, full_then_other);
	return NULL;
}

static why_t other_user(struct vt_pair *p, const void *arg)
{
	pthread_t thread;
	why_t why;

	(void)p;
	(void)arg;
	CHECK(!pthread_create(&thread, NULL, full_user, NULL), "pthread_create");
	vt_sleep_ms(1500);
	why = as(OTHER, has_room);
	pthread_join(thread, NULL);
	return why;
}

/* A CQ of the largest size is no danger to a small host. */
static why_t largest(struct vt_pair *p, const void *arg)
{
	const struct ibv_device_attr *a = &p->a.dev->attr;

	(void)arg;
	/* an object of each kind takes some hundred bytes, a QP some thousand */
	CHECK(a->max_qp <= 1 << 16 && a->max_cq <= 1 << 17 && a->max_ah <= 1 << 17 &&
	      a->max_pd <= 1 << 16 && a->max_srq <= 1 << 16 && a->max_mr <= 1 << 19,
	      "limits that no host can reach: max_qp %d max_cq %d max_ah %d max_mr %d",
	      a->max_qp, a->max_cq, a->max_ah, a->max_mr);
	CHECK((uint64_t)a->max_cqe * CQE <= 16 << 20, "a CQ of max_cqe %d has %llu MiB",
	      a->max_cqe, (unsigned long long)a->max_cqe * CQE >> 20);
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_conf c;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	vt_run_idle("limits: the largest CQ", &c, largest, NULL);
	vt_run_idle("limits: memory of rings", &c, memory, NULL);
	vt_run_idle("limits: memory of slots", &c, slots, NULL);
	vt_run_idle("limits: another user has its own share", &c, other_user, NULL);
	vt_run_idle("limits: address handles", &c, ahs, NULL);
	return tap_finish();
}
