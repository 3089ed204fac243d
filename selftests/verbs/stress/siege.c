// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: by hostile.sh, gro.test.sh, flusher.test.sh and pages.test.sh */
/*
 * usage: siege errors DEV QPS - QPs in the error state, to all of which receives are posted
 *	  siege idle DEV QPS - the same, to none of which any is
 *	  siege resize DEV - an SRQ with as many receives as it takes is resized
 *	  siege stray DEV ADDRESS - WRITEs of UC to a host that has no device
 *	  siege pages DEV USERS - 8 QPs of each user wait for pages that never come; do those
 *				of one more user come, and of the first when the others are gone?
 *	  siege probe SECONDS - how long threads of the highest priority are held up, one on
 *				each CPU: the longest in ms, the number of those above 20 ms
 *
 * The first three say "ready" and go on until they are killed. All of "pages" are on one CPU.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "never.h"
#include "vt.h"

#define DEPTH	64
#define SRQ_WR	32767
/* What is too long for a thread that waits for a ms, in us */
#define HELD_UP	20000
#define MAX_CPUS	64

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "siege: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* ---- QPs in the error state ------------------------------------------------ */

static struct ibv_qp *failed_qp(struct vt_dev *dev, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = DEPTH, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = VT_PORT };
	struct ibv_qp *qp = ibv_create_qp(dev->pd, &init);

	if (!qp)
		die("ibv_create_qp");
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		die("INIT");
	attr.qp_state = IBV_QPS_ERR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		die("ERR");
	return qp;
}

static void errors(struct vt_dev *dev, int n, bool posts)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 65536, NULL, NULL, 0);
	struct ibv_qp **qps = calloc(n, sizeof(*qps));
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;
	struct ibv_wc wc[64];
	int i;

	if (!cq)
		die("ibv_create_cq");
	for (i = 0; i < n; i++)
		qps[i] = failed_qp(dev, cq);
	ready();
	while (!posts)
		pause();
	for (i = 0; ; i = (i + 1) % n) {
		while (!ibv_post_recv(qps[i], &wr, &bad))
			;
		while (ibv_poll_cq(cq, ARRAY_SIZE(wc), wc) > 0)
			;
	}
}

/* ---- resizes --------------------------------------------------------------- */

static void resize(struct vt_dev *dev)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = SRQ_WR, .max_sge = 8 } };
	struct ibv_srq *srq = ibv_create_srq(dev->pd, &init);
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;

	if (!srq)
		die("ibv_create_srq");
	while (!ibv_post_srq_recv(srq, &wr, &bad))
		;
	ready();
	for (;;)
		if (ibv_modify_srq(srq, &init.attr, IBV_SRQ_MAX_WR))
			die("ibv_modify_srq");
}

/* ---- packets for nobody ----------------------------------------------------- */

#define STRAY_LEN	(1 << 20)
#define STRAYS		16

static why_t send_stray(struct vt_ep *ep, const union ibv_gid *gid)
{
	struct ibv_sge sge = vt_sge(&ep->buf, 0, STRAY_LEN);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};
	struct ibv_qp_attr attr;
	struct ibv_wc wc;
	int mask, err, i;

	TRY(vt_ep_init(ep));
	attr = vt_attr_rtr(ep, 0x123456, 0, gid, &mask);
	err = ibv_modify_qp(ep->qp, &attr, mask);
	CHECK(!err, "RTR: %s", strerror(err));
	TRY(vt_ep_rts(ep));
	for (i = 0; i < STRAYS; i++) {
		TRY(vt_post_send(ep, &wr));
		TRY(vt_poll_ok(ep->scq, &wc, 0));
	}
	return NULL;
}

static void stray(struct vt_dev *dev, const char *address)
{
	struct vt_conf conf = vt_conf(IBV_QPT_UC);
	struct vt_ep ep = {};
	union ibv_gid gid;
	char mapped[64];
	why_t why;

	snprintf(mapped, sizeof(mapped), "::ffff:%s", address);
	inet_pton(AF_INET6, mapped, gid.raw);
	conf.buf = STRAY_LEN;
	conf.mtu = IBV_MTU_1024;
	why = vt_ep_open(&ep, dev, &conf);
	if (!why)
		why = send_stray(&ep, &gid);
	if (why)
		tap_bail("%s", why);
	exit(0);
}

/* ---- pages that never come -------------------------------------------------- */

/* Jobs of a process, as in drv/mem/faultq.c */
#define JOBS		8
#define FIRST_UID	20000

/* A QP that is connected to itself wants a page. */
static why_t want_page(struct vt_ep *ep, struct ibv_mr *mr, const uint8_t *at)
{
	TRY(vt_ep_init(ep));
	TRY(vt_ep_rtr(ep, ep));
	TRY(vt_ep_rts(ep));
	return never_post(ep, ep, mr, at);
}

/* The calling process is another user's from now on, on the first CPU, and wants pages of @mem. */
static why_t want_pages(const char *spec, int uid, uint8_t *mem, struct vt_ep *ep, int n)
{
	struct vt_conf conf = never_conf();
	struct vt_dev dev = {};
	struct ibv_mr *mr;
	int i;

	conf.mtu = IBV_MTU_1024;
	vt_run_on(0);
	CHECK(!setresuid(uid, uid, uid), "setresuid: %s", strerror(errno));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	vt_dev_open(&dev, spec);
	mr = ibv_reg_mr(dev.pd, mem, NEVER_SIZE, IBV_ACCESS_ON_DEMAND);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	for (i = 0; i < n; i++) {
		TRY(vt_ep_open(&ep[i], &dev, &conf));
		TRY(want_page(&ep[i], mr, mem + i * 64 * NEVER_PAGE));
	}
	return NULL;
}

/* A process whose pages never come: it tells when it waits for them. */
static void waiting_user(const char *spec, int uid, int out)
{
	struct vt_ep ep[JOBS] = {};
	why_t why;
	int i;

	if (fork())
		return;
	why = want_pages(spec, uid, never.mem, ep, JOBS);
	for (i = 0; !why && i < JOBS; i++)
		why = vt_quiet(ep[i].scq, 10);
	if (why)
		tap_bail("user %d: %s", uid, why);
	if (write(out, "", 1) != 1)
		die("write");
	for (;;)
		pause();
}

static void waiting_users(const char *spec, int uid, int n)
{
	int i, out[2];
	char byte;

	if (pipe(out))
		die("pipe");
	for (i = 0; i < n; i++)
		waiting_user(spec, uid + i, out[1]);
	close(out[1]);
	for (i = 0; i < n; i++)
		if (read(out[0], &byte, 1) != 1)
			die("a user whose pages never come");
	close(out[0]);
}

/* A process that wants a page of its own. Its status is 0 if that comes in time. */
static pid_t user_of_memory(const char *spec, int uid)
{
	char byte;
	int out[2];
	struct vt_ep ep = {};
	struct ibv_wc wc;
	uint8_t *mem;
	pid_t pid;
	why_t why;

	if (pipe(out))
		die("pipe");
	pid = fork();
	if (pid) {
		close(out[1]);
		/* it has asked for the page, or has died */
		if (read(out[0], &byte, 1) != 1)
			fprintf(stderr, "user %d has not begun\n", uid);
		close(out[0]);
		return pid;
	}
	mem = mmap(NULL, NEVER_SIZE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	why = want_pages(spec, uid, mem, &ep, 1);
	if (!why && write(out[1], "", 1) == 1)
		why = vt_poll_ok(ep.scq, &wc, 0);
	if (why)
		fprintf(stderr, "user %d: %s\n", uid, why);
	exit(!!why);
}

static bool ends_well(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && !status;
}

static bool is_running(pid_t pid)
{
	return !waitpid(pid, NULL, WNOHANG);
}

/* The first user's pages are those of another file system than the others'. */
static void pages(const char *spec, int users)
{
	struct never first;
	bool good;
	pid_t last;

	never_up();
	waiting_users(spec, FIRST_UID, 1);
	first = never;
	never_up();
	waiting_users(spec, FIRST_UID + 1, users - 1);
	good = ends_well(user_of_memory(spec, FIRST_UID + users));
	/* the first has its share already, until the others' jobs have ended */
	last = user_of_memory(spec, FIRST_UID);
	vt_sleep_ms(2000);
	if (good && !is_running(last))
		tap_bail("user %d has more than the share", FIRST_UID);
	never_down();
	good = good && ends_well(last);
	never = first;
	never_down();
	exit(!good);
}

/* ---- a thread that should not wait ----------------------------------------- */

struct probe {
	pthread_t thread;
	int cpu;
	uint64_t end;
	uint64_t worst;
	int held_up;
};

static void *probe_run(void *arg)
{
	struct sched_param param = { .sched_priority = 80 };
	struct probe *p = arg;
	uint64_t start, late;

	vt_run_on(p->cpu);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param))
		die("SCHED_FIFO");
	for (start = vt_now_us(); start < p->end; start = vt_now_us()) {
		usleep(1000);
		late = vt_now_us() - start - 1000;
		p->held_up += late > HELD_UP;
		if (late > p->worst)
			p->worst = late;
	}
	return NULL;
}

static void probe(int seconds)
{
	int cpus = MIN((int)sysconf(_SC_NPROCESSORS_ONLN), MAX_CPUS), i, held_up = 0;
	uint64_t end = vt_now_us() + seconds * 1000000ULL, worst = 0;
	struct probe p[MAX_CPUS];

	for (i = 0; i < cpus; i++) {
		p[i] = (struct probe){ .cpu = i, .end = end };
		if (pthread_create(&p[i].thread, NULL, probe_run, &p[i]))
			die("pthread_create");
	}
	for (i = 0; i < cpus; i++) {
		pthread_join(p[i].thread, NULL);
		held_up += p[i].held_up;
		if (p[i].worst > worst)
			worst = p[i].worst;
	}
	printf("%.1f %d\n", worst / 1000.0, held_up);
}

int main(int argc, char **argv)
{
	struct vt_dev dev = {};

	if (argc == 3 && !strcmp(argv[1], "probe")) {
		probe(atoi(argv[2]));
		return 0;
	}
	if (argc < 3)
		return 2;
	if (argc == 4 && !strcmp(argv[1], "pages"))
		pages(argv[2], atoi(argv[3]));
	vt_dev_open(&dev, argv[2]);
	if (argc == 4 && !strcmp(argv[1], "errors"))
		errors(&dev, atoi(argv[3]), true);
	else if (argc == 4 && !strcmp(argv[1], "idle"))
		errors(&dev, atoi(argv[3]), false);
	else if (argc == 4 && !strcmp(argv[1], "stray"))
		stray(&dev, argv[3]);
	else if (!strcmp(argv[1], "resize"))
		resize(&dev);
	return 2;
}
