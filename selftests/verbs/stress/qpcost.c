// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: by counted.test.sh and the benchmark */
/*
 * What a QP costs: time, and memory of the kernel and of this process, that it takes to
 * make one with 64 + 64 work requests and take it to INIT, that it takes beyond that to
 * connect it, and the time until it is destroyed. Prints lines of: name, value, unit.
 *
 * usage: qpcost DEV PEER N - N QPs on DEV, "connected" to QPs that PEER does not have.
 * Needs root, since memory counts what is free when caches were dropped.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "vt.h"

#define WRS		64	/* of each queue */
#define SETTLES_MS	500	/* what is freed after a grace period is free by then */

static struct vt_conf conf;
static uint32_t num;
static struct vt_ep *eps;

static void bail_if(why_t why, const char *what)
{
	if (why)
		tap_bail("%s: %s", what, why);
}

static void drop_caches(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	vt_sleep_ms(SETTLES_MS);
	sync();
	if (fd < 0 || write(fd, "3", 1) != 1)
		tap_bail("drop_caches: %s", strerror(errno));
	close(fd);
}

/* Free memory of the machine without caches, in KiB */
static long free_kib(void)
{
	drop_caches();
	return vt_free_kib();
}

static why_t create(struct vt_ep *ep)
{
	struct ibv_qp_init_attr init = {
		.send_cq = eps->scq, .recv_cq = eps->rcq, .qp_type = conf.type,
		.cap = {
			.max_send_wr = WRS, .max_recv_wr = WRS,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};

	ep->dev = &vt_devs[0];
	ep->conf = &conf;
	ep->qp = ibv_create_qp(ep->dev->pd, &init);
	CHECK(ep->qp, "ibv_create_qp: %s", strerror(errno));
	return vt_ep_init(ep);
}

/* Nothing is sent, so nobody learns that the peer has no such QP. */
static why_t connect_ep(struct vt_ep *ep)
{
	struct vt_ep peer = { .dev = &vt_devs[1], .qp = ep->qp };

	TRY(vt_ep_rtr(ep, &peer));
	return vt_ep_rts(ep);
}

static why_t destroy(struct vt_ep *ep)
{
	CHECK(!ibv_destroy_qp(ep->qp), "ibv_destroy_qp: %s", strerror(errno));
	return NULL;
}

/* Do something to all QPs, and say what it took for each. */
static void all(const char *name, why_t (*step)(struct vt_ep *ep), bool memory)
{
	long before = memory ? free_kib() : 0;
	uint64_t began = vt_now_us();
	uint32_t i;

	for (i = 0; i < num; i++)
		bail_if(step(&eps[i]), name);
	printf("%s_time %.2f us\n", name, (double)(vt_now_us() - began) / num);
	if (memory)
		printf("%s_memory %.2f KiB\n", name, (double)(before - free_kib()) / num);
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[3]) : 0;

	if (n <= 0) {
		fprintf(stderr, "usage: qpcost DEV PEER N\n");
		return 2;
	}
	num = n;
	vt_dev_open(&vt_devs[0], argv[1]);
	vt_dev_open(&vt_devs[1], argv[2]);
	conf = vt_conf(IBV_QPT_RC);
	/* present from the beginning: its pages are not the QPs' */
	eps = mmap(NULL, num * sizeof(*eps), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (eps == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	eps->scq = ibv_create_cq(vt_devs[0].ctx, WRS, NULL, NULL, 0);
	eps->rcq = ibv_create_cq(vt_devs[0].ctx, WRS, NULL, NULL, 0);
	if (!eps->scq || !eps->rcq)
		tap_bail("ibv_create_cq: %s", strerror(errno));
	all("init", create, true);
	all("connect", connect_ep, true);
	all("destroy", destroy, false);
	return 0;
}
