// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: limit=240 A B --family 4 */
/*
 * Pages that never come: memory of a file on FUSE whose daemon does not answer. What
 * waits for them may be destroyed, and others get their pages.
 *
 * With STUCK_HOLD=QPS set, the program makes so many QPs wait for such pages, prints the
 * process IDs of the daemon and of itself, and waits to be killed: see pages.test.sh and
 * hostile.sh.
 */

#define _GNU_SOURCE
#include <rdma/ib_user_ioctl_verbs.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "never.h"

#define PAGE	NEVER_PAGE
#define QPS	300

static int destroy_qp(void *qp) { return ibv_destroy_qp(qp); }

static int dereg_mr(void *mr) { return ibv_dereg_mr(mr); }

/* ---- QPs that wait -------------------------------------------------------- */

/* Have A write from memory @at to B. */
static why_t post(struct vt_pair *p, struct ibv_mr *mr, const void *at)
{
	return never_post(&p->a, &p->b, mr, at);
}

static why_t file_mr(struct vt_pair *p, struct ibv_mr **mr)
{
	*mr = ibv_reg_mr(p->a.dev->pd, never.mem, NEVER_SIZE, IBV_ACCESS_ON_DEMAND);
	CHECK(*mr, "ibv_reg_mr: %s", strerror(errno));
	return NULL;
}

/* A QP waits for page number @page. */
static why_t wait_for_page(struct vt_pair *p, struct ibv_mr *mr, uint32_t page)
{
	TRY(post(p, mr, never.mem + page * PAGE));
	return vt_quiet(p->a.scq, VT_SHORT);
}

static why_t qp_goes(struct vt_pair *p, const void *arg)
{
	struct ibv_mr *mr;

	(void)arg;
	TRY(file_mr(p, &mr));
	TRY(wait_for_page(p, mr, 0));
	TRY(never_soon("ibv_destroy_qp", destroy_qp, p->a.qp));
	p->a.qp = NULL;
	return never_soon("ibv_dereg_mr", dereg_mr, mr);
}

static why_t mr_goes(struct vt_pair *p, const void *arg)
{
	struct ibv_mr *mr;

	(void)arg;
	TRY(file_mr(p, &mr));
	TRY(wait_for_page(p, mr, 16));
	TRY(never_soon("ibv_dereg_mr", dereg_mr, mr));
	TRY(vt_quiet(p->a.scq, VT_SHORT));
	TRY(never_soon("ibv_destroy_qp", destroy_qp, p->a.qp));
	p->a.qp = NULL;
	return NULL;
}

/* ---- other processes ------------------------------------------------------ */

static struct never_helper victim, killed;

/* In another process: pages of its own come, for a QP and on advice. */
static why_t own_pages(struct vt_pair *p, const void *arg)
{
	uint8_t *mem = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;
	int ret;

	(void)arg;
	vt_run_on(0);
	mr = ibv_reg_mr(p->a.dev->pd, mem, 16 * PAGE, VT_ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	TRY(post(p, mr, mem));
	TRY(vt_poll_status(p->a.scq, 0, IBV_WC_SUCCESS, "WRITE from its own pages"));
	ret = vt_advise(p->a.dev->pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH,
			IB_UVERBS_ADVISE_MR_FLAG_FLUSH, mem + 8 * PAGE, 8 * PAGE, mr->lkey);
	CHECK(!ret, "ibv_advise_mr: %s", strerror(ret));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	return NULL;
}

static why_t open_pairs(struct vt_pair *pairs, const struct vt_conf *conf, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		struct vt_pair *p = &pairs[i];

		p->conf = *conf;
		TRY(vt_ep_open(&p->a, &vt_devs[0], &p->conf));
		TRY(vt_ep_open(&p->b, &vt_devs[1], &p->conf));
		TRY(vt_connect(p));
	}
	return NULL;
}

static why_t close_pairs(struct vt_pair *pairs, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (pairs[i].a.qp)
			TRY(never_soon("ibv_destroy_qp", destroy_qp, pairs[i].a.qp));
		pairs[i].a.qp = NULL;
		TRY(vt_ep_close(&pairs[i].a));
		TRY(vt_ep_close(&pairs[i].b));
	}
	return NULL;
}

/* Advice that waits takes memory of the kernel, so there is a limit. */
static why_t advise_until_refused(struct vt_pair *p, struct ibv_mr *mr)
{
	uint32_t i;
	int ret;

	for (i = 0; i < 5000; i++) {
		ret = vt_advise(p->a.dev->pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, 0,
				never.mem + 500 * 16 * PAGE, PAGE, mr->lkey);
		if (ret == EBUSY)
			return NULL;
		CHECK(!ret, "ibv_advise_mr: %s", strerror(ret));
	}
	return because("%u times advice, and none is refused", i);
}

/* More QPs of one CPU wait than there are workers, and as much advice is not done. */
static why_t others(struct vt_pair *p, const void *arg)
{
	struct vt_conf conf = never_conf();
	struct vt_pair *pairs = calloc(QPS, sizeof(*pairs));
	struct ibv_mr *mr;
	uint32_t i;
	int ret;

	(void)arg;
	TRY(open_pairs(pairs, &conf, QPS));
	TRY(file_mr(p, &mr));
	vt_run_on(0);
	for (i = 0; i < QPS; i++)
		TRY(post(&pairs[i], mr, never.mem + (100 + i) * 16 * PAGE));
	for (i = 0; i < 20; i++) {
		ret = vt_advise(p->a.dev->pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, 0,
				never.mem + (500 + i) * 16 * PAGE, PAGE, mr->lkey);
		CHECK(!ret, "ibv_advise_mr: %s", strerror(ret));
	}
	TRY(advise_until_refused(p, mr));
	vt_run_on(-1);
	TRY(vt_quiet(pairs[QPS - 1].a.scq, VT_SHORT));
	TRY(never_helper_go(&victim, VT_LONG));
	TRY(close_pairs(pairs, QPS));
	free(pairs);
	return never_soon("ibv_dereg_mr", dereg_mr, mr);
}

/* In another process: wait for a page until it is killed. */
static why_t wait_for_ever(struct vt_pair *p, const void *arg)
{
	struct ibv_mr *mr;

	TRY(file_mr(p, &mr));
	TRY(wait_for_page(p, mr, 1000));
	CHECK(write(*(const int *)arg, "", 1) == 1, "write");
	pause();
	return NULL;
}

static int wait_killed(void *arg)
{
	(void)arg;
	return waitpid(killed.pid, NULL, 0) < 0 ? errno : 0;
}

static why_t process_goes(struct vt_pair *p, const void *arg)
{
	(void)p;
	(void)arg;
	TRY(never_helper_go(&killed, VT_LONG));
	kill(killed.pid, SIGKILL);
	return never_soon("the end of the process", wait_killed, NULL);
}

/* ---- for pages.test.sh ---------------------------------------------------- */

/* A thread that changes the address space, for which faults must not hold its lock */
static void *keep_mapping(void *arg)
{
	for (;;) {
		munmap(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), PAGE);
		vt_sleep_ms(1);
	}
	return arg;
}

/* arg: number of QPs */
static why_t hold(struct vt_pair *p, const void *arg)
{
	struct vt_conf conf = never_conf();
	const int *n = arg;
	struct vt_pair *pairs = calloc(*n, sizeof(*pairs));
	pthread_t thread;
	struct ibv_mr *mr;
	int i;

	TRY(open_pairs(pairs, &conf, *n));
	TRY(file_mr(p, &mr));
	for (i = 0; i < *n; i++)
		TRY(post(&pairs[i], mr, never.mem + (2000 + i * 16) * PAGE));
	TRY(vt_quiet(pairs[*n - 1].a.scq, VT_SHORT));
	pthread_create(&thread, NULL, keep_mapping, NULL);
	vt_sleep_ms(100);
	never_hold();
}

int main(int argc, char **argv)
{
	const char *hold_env = getenv("STUCK_HOLD");
	int holds = hold_env ? atoi(hold_env) : 0;
	struct vt_conf c;

	never_up();
	if (!holds) {
		victim = never_helper_up(argc, argv, own_pages);
		killed = never_helper_up(argc, argv, wait_for_ever);
	}
	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	if (holds) {
		fprintf(stderr, "stuck: %s\n", vt_attempt(&c, hold, &holds, true));
		return 1;
	}
	vt_run("a QP whose pages don't come is destroyed", &c, qp_goes, NULL);
	vt_run("a region whose pages don't come is deregistered", &c, mr_goes, NULL);
	vt_run("a process whose pages don't come is killed", &c, process_goes, NULL);
	vt_run_idle("others get their pages while 300 QPs wait", &c, others, NULL);
	never_down();
	return tap_finish();
}
