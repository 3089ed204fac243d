// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: by nomem.test.sh */
/*
 * Every allocation of every verb fails once, by the fault injection of a debug
 * kernel (/proc/thread-self/fail-nth): the verb has to fail, or to do without,
 * and to leave nothing behind. What was left is counted when the module goes.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <linux/netlink.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_netlink.h>
#include <unistd.h>
#include "vt.h"

#define FAULTS_MAX 20000

static struct vt_conf conf;
static struct vt_ep ep;
static struct ibv_srq *srq;
static struct vt_buf buf;
static int fail_fd;

struct verb {
	const char *name;
	bool (*run)(void);	/* false: it failed */
	void (*undo)(void);
	bool (*there)(void);	/* it has done its work, whatever it said */
	bool many;		/* most are alike, and it takes long: a sample will do */
	void (*before)(void);	/* or NULL */
};

static void arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(fail_fd, text, len, 0) != len)
		perror("fail-nth");
}

/* Return: allocations that were left to the fault that was asked for; 0: it did happen */
static unsigned int disarm(void)
{
	char text[16] = "";
	unsigned int left = FAULTS_MAX;

	if (pread(fail_fd, text, sizeof(text) - 1, 0) > 0)
		left = atoi(text);
	arm(0);
	return left;
}

static struct ibv_pd *pd;

static bool alloc_pd(void)
{
	pd = ibv_alloc_pd(vt_devs[0].ctx);
	return pd;
}

static void dealloc_pd(void)
{
	ibv_dealloc_pd(pd);
}

static struct ibv_mr *mr;

static bool reg_mr(void)
{
	mr = ibv_reg_mr(vt_devs[0].pd, buf.map, buf.map_len, VT_ALL_ACCESS);
	return mr;
}

static void dereg_mr(void)
{
	ibv_dereg_mr(mr);
}

static struct ibv_cq *cq;

static bool create_cq(void)
{
	cq = ibv_create_cq(vt_devs[0].ctx, 1000, NULL, NULL, 0);
	return cq;
}

static void destroy_cq(void)
{
	ibv_destroy_cq(cq);
}

static int cqe = 500;

static bool resize_cq(void)
{
	return !ibv_resize_cq(ep.rcq, cqe++);
}

static void nothing(void)
{
}

static struct ibv_srq *other;

static bool create_srq(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 500, .max_sge = 4 },
	};

	other = ibv_create_srq(vt_devs[0].pd, &init);
	return other;
}

static void destroy_srq(void)
{
	ibv_destroy_srq(other);
}

static bool resize_srq(void)
{
	struct ibv_srq_attr attr = { .max_wr = cqe++ };

	return !ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

static struct ibv_qp *qp;

static bool create_qp(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = ep.scq, .recv_cq = ep.rcq,
		.cap = { .max_send_wr = 300, .max_recv_wr = 300,
			 .max_send_sge = 4, .max_recv_sge = 4 },
	};

	qp = ibv_create_qp(vt_devs[0].pd, &init);
	return qp;
}

static void destroy_qp(void)
{
	ibv_destroy_qp(qp);
}

static bool to_rtr(void)
{
	struct ibv_qp_attr attr;
	int mask;

	attr = vt_attr_rtr(&ep, ep.qp->qp_num, 0, &vt_devs[0].gid, &mask);
	return !ibv_modify_qp(ep.qp, &attr, mask);
}

/* A QP in INIT that has only what it needs there: what a modify has allocated stays. */
static void fresh_qp(void)
{
	ibv_destroy_qp(ep.qp);
	ep.qp = create_qp() ? qp : NULL;
	if (!ep.qp)
		tap_bail("ibv_create_qp: %s", strerror(errno));
	if (vt_ep_init(&ep))
		tap_bail("the QP does not get to INIT");
}

static void fresh_rtr(void)
{
	fresh_qp();
	if (!to_rtr())
		tap_bail("the QP does not get to RTR");
}

static bool to_rts(void)
{
	struct ibv_qp_attr attr;
	int mask;

	attr = vt_attr_rts(&ep, &mask);
	return !ibv_modify_qp(ep.qp, &attr, mask);
}

static bool to_err(void)
{
	return !vt_ep_state(&ep, IBV_QPS_ERR);
}

static struct ibv_ah *ah;

static bool create_ah(void)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = VT_PORT,
		.grh = { .dgid = vt_devs[0].gid, .hop_limit = 64,
			 .sgid_index = vt_devs[0].gid_index },
	};

	ah = ibv_create_ah(vt_devs[0].pd, &attr);
	return ah;
}

static void destroy_ah(void)
{
	ibv_destroy_ah(ah);
}

static int verbs_fd, async_fd;

static bool get_context_by_write(void)
{
	struct ib_uverbs_get_context_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_get_context core;
	} cmd = {
		.hdr = { IB_USER_VERBS_CMD_GET_CONTEXT, sizeof(cmd) / 4, sizeof(resp) / 4 },
		.core = { .response = (uintptr_t)&resp },
	};

	if (write(verbs_fd, &cmd, sizeof(cmd)) != sizeof(cmd))
		return false;
	async_fd = resp.async_fd;
	return true;
}

/*
 * Not ibv_open_device(): its ioctl frees a context that the driver has no memory for without
 * rdma_restrack_put(), so that the process is never freed, and kmemleak reports that.
 */
static bool get_context(void)
{
	char path[100];

	snprintf(path, sizeof(path), "/dev/infiniband/%s", vt_devs[0].ctx->device->dev_name);
	verbs_fd = open(path, O_RDWR | O_CLOEXEC);
	if (verbs_fd < 0)
		return false;
	if (get_context_by_write())
		return true;
	close(verbs_fd);
	return false;
}

static void put_context(void)
{
	close(async_fd);
	close(verbs_fd);
}

/* rdma link add, by this thread */
struct request {
	struct nlmsghdr nlh;
	char attrs[200];
};

static void put_string(struct request *r, uint16_t type, const char *s)
{
	struct nlattr *a = (void *)((char *)r + r->nlh.nlmsg_len);

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + strlen(s) + 1;
	strcpy((char *)a + NLA_HDRLEN, s);
	r->nlh.nlmsg_len += NLA_ALIGN(a->nla_len);
}

static int nl_fd;

/* Return: 0 or a negative errno; without an answer, that of the socket */
static int talk(struct request *r)
{
	struct {
		struct nlmsghdr nlh;
		struct nlmsgerr err;
		char rest[400];
	} answer;

	if (send(nl_fd, r, r->nlh.nlmsg_len, 0) < 0 ||
	    recv(nl_fd, &answer, sizeof(answer), MSG_DONTWAIT) < 0)
		return -errno;
	return answer.err.error;
}

static bool link_add(void)
{
	struct request r = { .nlh = {
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
					       RDMA_NLDEV_CMD_NEWLINK),
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
	} };

	put_string(&r, RDMA_NLDEV_ATTR_DEV_NAME, "nomem0");
	put_string(&r, RDMA_NLDEV_ATTR_NDEV_NAME, "nomem");
	put_string(&r, RDMA_NLDEV_ATTR_LINK_TYPE, "sroce");
	return !talk(&r);
}

static void link_delete(void)
{
	if (system("rdma link delete nomem0"))
		tap_note("rdma link delete failed");
}

/* The answer may be what there was no memory for. */
static bool link_there(void)
{
	return !access("/sys/class/infiniband/nomem0", F_OK);
}

/* One that needs nothing before it, and whose result is what it says */
#define VERB(name, run, undo)	{ name, run, undo, NULL, false, NULL }

static const struct verb verbs[] = {
	VERB("GET_CONTEXT", get_context, put_context),
	VERB("ibv_alloc_pd", alloc_pd, dealloc_pd),
	VERB("ibv_reg_mr", reg_mr, dereg_mr),
	VERB("ibv_create_cq", create_cq, destroy_cq),
	VERB("ibv_resize_cq", resize_cq, nothing),
	VERB("ibv_create_srq", create_srq, destroy_srq),
	VERB("ibv_modify_srq", resize_srq, nothing),
	VERB("ibv_create_qp", create_qp, destroy_qp),
	{ "ibv_modify_qp, RTR", to_rtr, nothing, NULL, false, fresh_qp },
	{ "ibv_modify_qp, RTS", to_rts, nothing, NULL, false, fresh_rtr },
	{ "ibv_modify_qp, error", to_err, nothing, NULL, false, fresh_qp },
	VERB("ibv_create_ah", create_ah, destroy_ah),
	{ "rdma link add", link_add, link_delete, link_there, true, NULL },
};

/*
 * The next allocation to fail. Thousands of a link are the core's files for its GIDs, between what
 * the module allocates before and what it does after.
 */
static unsigned int next_fault(const struct verb *v, unsigned int n, unsigned int all)
{
	if (!v->many)
		return n + 1;
	return n < 300 || n + 300 > all ? n + 5 : n + 397;
}

/* How many allocations it takes when none fails; 0: it fails */
static unsigned int allocations(const struct verb *v)
{
	unsigned int all;
	bool ok;

	if (v->before)
		v->before();
	arm(FAULTS_MAX);
	ok = v->run();
	all = FAULTS_MAX - disarm();
	if (ok)
		v->undo();
	return ok ? all : 0;
}

static void try_verb(const struct verb *v)
{
	unsigned int n, failed = 0, all = allocations(v);

	for (n = 1; n < FAULTS_MAX; n = next_fault(v, n, all)) {
		bool hit, ok;

		if (v->before)
			v->before();
		arm(n);
		ok = v->run();
		hit = !disarm();
		if (v->there)
			ok = v->there();
		if (ok)
			v->undo();
		if (!hit) {
			tap_report(!ok ? "it fails without a fault as well" :
				   !failed ? "no fault made it fail" : NULL,
				   "%s: %u allocations, %u vital of those tried",
				   v->name, n - 1, failed);
			return;
		}
		failed += !ok;
	}
	tap_report("there is no end of allocations", "%s", v->name);
}

static why_t prepare(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 100, .max_sge = 1 },
	};

	conf = vt_conf(IBV_QPT_RC);
	TRY(vt_buf_open(&buf, vt_devs[0].pd, 1 << 20, VT_ALL_ACCESS));
	TRY(vt_ep_open(&ep, &vt_devs[0], &conf));
	TRY(vt_ep_init(&ep));
	srq = ibv_create_srq(vt_devs[0].pd, &init);
	CHECK(srq, "ibv_create_srq: %s", strerror(errno));
	nl_fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	CHECK(nl_fd >= 0, "netlink: %s", strerror(errno));
	fail_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	CHECK(fail_fd >= 0, "fail-nth: %s", strerror(errno));
	CHECK(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall: %s",
	      strerror(errno));
	return NULL;
}

static void tell(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		tap_note("%s: %s", path, strerror(errno));
	close(fd);
}

#define FAIL_PAGES "/sys/kernel/debug/fail_page_alloc/"

/* Blocks of 16 pages and more are not to be had by this process. */
static void fragment(void)
{
	tell(FAIL_PAGES "min-order", "4");
	tell(FAIL_PAGES "task-filter", "Y");
	tell(FAIL_PAGES "times", "-1");
	tell(FAIL_PAGES "probability", "100");
	tell("/proc/self/make-it-fail", "1");
}

/* In reverse: as long as anything fails only large blocks may, or the rest can't be told. */
static void defragment(void)
{
	tell("/proc/self/make-it-fail", "0");
	tell(FAIL_PAGES "probability", "0");
	tell(FAIL_PAGES "times", "1");
	tell(FAIL_PAGES "task-filter", "N");
	tell(FAIL_PAGES "min-order", "0");
}

static why_t advise_many(void)
{
	static struct ibv_sge sge[4000];
	struct ibv_mr *whole = ibv_reg_mr(vt_devs[0].pd, buf.map, buf.map_len,
					  VT_ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	size_t i;
	int ret;

	CHECK(whole, "ibv_reg_mr: %s", strerror(errno));
	for (i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)buf.map, 1, whole->lkey };
	fragment();
	ret = vt_advise_list(vt_devs[0].pd, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH,
			     sge, ARRAY_SIZE(sge));
	defragment();
	CHECK(!ret, "ibv_advise_mr: %s", strerror(ret));
	CHECK(!ibv_dereg_mr(whole), "ibv_dereg_mr: %s", strerror(errno));
	return NULL;
}

int main(int argc, char **argv)
{
	why_t why;
	size_t i;

	vt_start(argc, argv);
	/* a debug kernel is slow; who runs us has a limit of his own */
	alarm(0);
	why = prepare();
	if (why) {
		tap_report(why, "preparations");
		return tap_finish();
	}
	tap_report(advise_many(), "advice of 4000 ranges needs no large block of memory");
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (vt_wanted(verbs[i].name))
			try_verb(&verbs[i]);
	return tap_finish();
}
