// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/* What a device says of itself, and how it survives its users. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vt.h"

static struct vt_dev *dev;	/* the one under test */

static why_t limits(void)
{
	const struct ibv_device_attr *a = &dev->attr;

	CHECK(a->phys_port_cnt == 1, "phys_port_cnt %u", a->phys_port_cnt);
	CHECK(a->node_guid, "no node_guid");
	CHECK(a->sys_image_guid, "no sys_image_guid");
	CHECK(a->max_mr_size >= 1ULL << 31, "max_mr_size %llu",
	      (unsigned long long)a->max_mr_size);
	CHECK(a->page_size_cap & 4096, "page_size_cap %#llx",
	      (unsigned long long)a->page_size_cap);
	CHECK(a->max_qp >= 500 && a->max_cq >= 500 && a->max_mr >= 500 &&
	      a->max_pd >= 100 && a->max_ah >= 100,
	      "max_qp %d max_cq %d max_mr %d max_pd %d max_ah %d", a->max_qp,
	      a->max_cq, a->max_mr, a->max_pd, a->max_ah);
	CHECK(a->max_qp_wr >= 1024 && a->max_cqe >= 262144, "max_qp_wr %d max_cqe %d",
	      a->max_qp_wr, a->max_cqe);
	CHECK(a->max_sge >= 4, "max_sge %d", a->max_sge);
	CHECK(a->max_qp_rd_atom > 0 && a->max_qp_init_rd_atom > 0 &&
	      a->max_res_rd_atom >= a->max_qp_rd_atom,
	      "max_qp_rd_atom %d max_qp_init_rd_atom %d max_res_rd_atom %d",
	      a->max_qp_rd_atom, a->max_qp_init_rd_atom, a->max_res_rd_atom);
	CHECK(a->atomic_cap != IBV_ATOMIC_NONE, "no atomics");
	CHECK(a->max_srq > 0 && a->max_srq_wr > 0 && a->max_srq_sge > 0,
	      "max_srq %d max_srq_wr %d max_srq_sge %d", a->max_srq,
	      a->max_srq_wr, a->max_srq_sge);
	CHECK(a->max_pkeys == 1, "max_pkeys %u for a table of one",
	      a->max_pkeys);
	return NULL;
}

static why_t identity(void)
{
	const struct ibv_device *d = dev->ctx->device;

	CHECK(d->node_type == IBV_NODE_CA, "node type %d", d->node_type);
	CHECK(d->transport_type == IBV_TRANSPORT_IB, "transport type %d",
	      d->transport_type);
	CHECK(dev->ctx->num_comp_vectors >= 1, "no completion vector");
	CHECK(ibv_get_device_guid(dev->ctx->device) == dev->attr.node_guid,
	      "node GUIDs differ");
	return NULL;
}

static why_t port(void)
{
	const struct ibv_port_attr *p = &dev->port;

	CHECK(p->state == IBV_PORT_ACTIVE, "state %d", p->state);
	CHECK(p->phys_state == 5, "phys_state %u, not LinkUp", p->phys_state);
	CHECK(p->link_layer == IBV_LINK_LAYER_ETHERNET, "link_layer %u",
	      p->link_layer);
	CHECK(p->max_mtu == IBV_MTU_4096, "max_mtu %d", p->max_mtu);
	CHECK(p->pkey_tbl_len == 1, "pkey_tbl_len %u", p->pkey_tbl_len);
	CHECK(p->gid_tbl_len >= 4, "gid_tbl_len %d", p->gid_tbl_len);
	CHECK(p->max_msg_sz >= 1U << 30, "max_msg_sz %u", p->max_msg_sz);
	CHECK(p->active_width && p->active_speed, "no width or speed");
	CHECK(p->lid == 0 && p->sm_lid == 0 && p->lmc == 0, "LIDs on Ethernet");
	return NULL;
}

static why_t bounds(void)
{
	struct ibv_port_attr attr;
	union ibv_gid gid;
	__be16 pkey;

	CHECK(ibv_query_port(dev->ctx, 0, &attr), "port 0 exists");
	CHECK(ibv_query_port(dev->ctx, 2, &attr), "port 2 exists");
	CHECK(!ibv_query_pkey(dev->ctx, VT_PORT, 0, &pkey), "ibv_query_pkey");
	CHECK(ntohs(pkey) == 0xffff, "P_Key %04x", ntohs(pkey));
	CHECK(ibv_query_pkey(dev->ctx, VT_PORT, 1, &pkey), "P_Key 1 exists");
	CHECK(ibv_query_gid(dev->ctx, VT_PORT, dev->port.gid_tbl_len, &gid),
	      "GID behind the table exists");
	return NULL;
}

/*
 * The largest path MTU whose largest packet fits: over IPv6 40 + 8 + 12 + 16 +
 * 4 bytes go before the payload, and the ICRC after it; over IPv4 20 less.
 */
static why_t mtu(void)
{
	uint32_t now = vt_mtu_bytes(dev->port.active_mtu);
	struct ifreq ifr;

	TRY(vt_netdev(dev, &ifr));
	CHECK((int)now + 84 <= ifr.ifr_mtu, "%u don't fit into %d", now,
	      ifr.ifr_mtu);
	CHECK(now == 4096 || (int)now * 2 + 84 > ifr.ifr_mtu,
	      "only %u, but %d is enough for more", now, ifr.ifr_mtu);
	return NULL;
}

static bool has_gid(const union ibv_gid *want)
{
	struct ibv_gid_entry e;
	int i;

	for (i = 0; i < dev->port.gid_tbl_len; i++)
		if (!ibv_query_gid_ex(dev->ctx, VT_PORT, i, &e, 0) &&
		    e.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(&e.gid, want, 16))
			return true;
	return false;
}

static bool gid_of(const struct sockaddr *sa, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (sa && sa->sa_family == AF_INET) {
		gid->raw[10] = gid->raw[11] = 0xff;
		memcpy(gid->raw + 12,
		       &((const struct sockaddr_in *)sa)->sin_addr, 4);
		return true;
	}
	if (sa && sa->sa_family == AF_INET6) {
		memcpy(gid->raw, &((const struct sockaddr_in6 *)sa)->sin6_addr,
		       16);
		return true;
	}
	return false;
}

/* Every address of the netdev is a GID. */
static why_t gids(void)
{
	char text[INET6_ADDRSTRLEN];
	struct ifaddrs *list, *i;
	struct ifreq ifr;
	union ibv_gid gid;
	why_t why = NULL;
	int n = 0;

	TRY(vt_netdev(dev, &ifr));
	CHECK(!getifaddrs(&list), "getifaddrs");
	for (i = list; i && !why; i = i->ifa_next) {
		if (strcmp(i->ifa_name, ifr.ifr_name) || !gid_of(i->ifa_addr, &gid))
			continue;
		n++;
		inet_ntop(AF_INET6, &gid, text, sizeof(text));
		if (!has_gid(&gid))
			why = because("%s of %s isn't there", text,
				      ifr.ifr_name);
	}
	freeifaddrs(list);
	CHECK(why || n, "%s has no addresses", ifr.ifr_name);
	return why;
}

/* The stated limits of QPs work, and what is above them is refused. */
static why_t qp_limit(uint32_t wr, uint32_t sge, bool works)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);
	struct vt_ep ep;
	why_t why;

	c.send_wr = c.recv_wr = wr;
	c.send_sge = c.recv_sge = sge;
	why = vt_ep_open(&ep, dev, &c);
	CHECK(works || why, "succeeds");
	CHECK(!works || !why, "%s", why);
	return vt_ep_close(&ep);
}

/* A program may ask for what it was given the last time, which create has written there. */
static why_t qp_again(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = dev->attr.max_qp_wr, .max_recv_wr = dev->attr.max_qp_wr,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 1, NULL, NULL, 0);
	struct ibv_qp *qp;
	int i;

	CHECK(cq, "ibv_create_cq: %s", strerror(errno));
	init.send_cq = cq;
	init.recv_cq = cq;
	for (i = 0; i < 2; i++) {
		qp = ibv_create_qp(dev->pd, &init);
		CHECK(qp, "QP %d: %s", i, strerror(errno));
		CHECK(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	}
	CHECK(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	return NULL;
}

static why_t srq_again(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = dev->attr.max_srq_wr, .max_sge = 1 },
	};
	struct ibv_srq *srq;
	struct ibv_srq_attr attr;
	int i;

	for (i = 0; i < 2; i++) {
		srq = ibv_create_srq(dev->pd, &init);
		CHECK(srq, "SRQ %d: %s", i, strerror(errno));
		CHECK(!ibv_query_srq(srq, &attr), "ibv_query_srq");
		CHECK(attr.max_wr == init.attr.max_wr, "max_wr %u, and then %u", init.attr.max_wr,
		      attr.max_wr);
		CHECK(!ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), "modify to max_wr %u: %s",
		      attr.max_wr, strerror(errno));
		CHECK(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	}
	return NULL;
}

static void test_queries(const char *name)
{
	const struct ibv_device_attr *a = &dev->attr;

	tap_report(identity(), "%s: identity", name);
	tap_report(limits(), "%s: limits of the device", name);
	tap_report(port(), "%s: attributes of the port", name);
	tap_report(mtu(), "%s: active MTU fits the netdev", name);
	tap_report(gids(), "%s: GIDs are the netdev's addresses", name);
	tap_report(bounds(), "%s: bounds of the tables", name);
	tap_report(qp_limit(a->max_qp_wr, 1, true), "%s: QP of max_qp_wr", name);
	tap_report(qp_limit(a->max_qp_wr + 1, 1, false),
		   "%s: QP of more than max_qp_wr", name);
	tap_report(qp_limit(16, a->max_sge, true), "%s: QP of max_sge", name);
	tap_report(qp_limit(16, a->max_sge + 1, false),
		   "%s: QP of more than max_sge", name);
	tap_report(qp_again(), "%s: QP of what one of max_qp_wr has", name);
	tap_report(srq_again(), "%s: SRQ of what one of max_srq_wr has", name);
}

/* Memory registrations that can't be (ibv_reg_mr(3)) */
static why_t bad_mr(void *addr, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(dev->pd, addr, len, access);

	if (!mr)
		return NULL;
	ibv_dereg_mr(mr);
	return "succeeds";
}

static void test_mrs(const char *name)
{
	static char mem[4096];

	tap_report(bad_mr(mem, 64, IBV_ACCESS_REMOTE_WRITE),
		   "%s: MR for REMOTE_WRITE without LOCAL_WRITE", name);
	tap_report(bad_mr(mem, 64, IBV_ACCESS_REMOTE_ATOMIC),
		   "%s: MR for REMOTE_ATOMIC without LOCAL_WRITE", name);
	tap_report(bad_mr((void *)64, 64, IBV_ACCESS_LOCAL_WRITE),
		   "%s: MR of memory that isn't there", name);
	tap_report(bad_mr((void *)-4096UL, 8192, 0),
		   "%s: MR around the end of memory", name);
	tap_report(bad_mr(mem, 1ULL << 62, 0), "%s: MR without end", name);
}

/* Processes that are killed in the middle */

struct hello {
	uint32_t qpn, psn, rkey;
	uint64_t addr;
	union ibv_gid gid;
};

static why_t say_hello(struct vt_ep *ep, int fd)
{
	struct hello h = {
		.qpn = ep->qp->qp_num, .psn = ep->psn,
		.rkey = ep->buf.mr->rkey, .addr = (uintptr_t)ep->buf.data,
		.gid = ep->dev->gid,
	};

	CHECK(write(fd, &h, sizeof(h)) == sizeof(h), "no one to talk to");
	return NULL;
}

static why_t meet(struct vt_ep *ep, int fd, struct hello *h)
{
	struct ibv_qp_attr attr;
	int mask;

	TRY(vt_ep_init(ep));
	TRY(say_hello(ep, fd));
	CHECK(read(fd, h, sizeof(*h)) == sizeof(*h), "no answer");
	vt_enter_netns(ep->dev);
	attr = vt_attr_rtr(ep, h->qpn, h->psn, &h->gid, &mask);
	CHECK(!ibv_modify_qp(ep->qp, &attr, mask), "modify to RTR");
	return vt_ep_rts(ep);
}

/* Keep the queue full of writes until one fails. */
static why_t write_on(struct vt_ep *ep, const struct hello *h)
{
	struct ibv_sge sge = vt_sge(&ep->buf, 0, 20000);
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
		.wr.rdma = { .remote_addr = h->addr, .rkey = h->rkey },
	};
	uint64_t end = vt_now_us() + VT_LONG * 1000ULL;
	struct ibv_wc wc;
	int flying = 0;

	while (vt_now_us() < end) {
		for (; flying < 16; flying++)
			if (ibv_post_send(ep->qp, &wr, &bad))
				return because("ibv_post_send");
		if (ibv_poll_cq(ep->scq, 1, &wc) != 1)
			continue;
		flying--;
		if (wc.status != IBV_WC_SUCCESS)
			return ibv_wc_status_str(wc.status);
	}
	return NULL;
}

static why_t victim(int fd)
{
	struct vt_conf c;
	struct hello h;
	struct vt_ep ep;

	vt_open();
	c = vt_conf(IBV_QPT_RC);
	TRY(vt_ep_open(&ep, &vt_devs[1], &c));
	TRY(meet(&ep, fd, &h));
	return write_on(&ep, &h);
}

static pid_t start_victim(int *fd)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return -1;
	pid = fork();
	if (!pid) {
		close(fds[0]);
		victim(fds[1]);
		_exit(1);
	}
	close(fds[1]);
	*fd = fds[0];
	return pid;
}

#define VICTIMS	5

static struct victim {
	pid_t pid;
	int fd;
} victims[VICTIMS];

/* Its writes come in until it dies; then ours to it must come to an end. */
static why_t kill_one(struct victim *v)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);
	struct vt_ep ep;
	struct hello h;
	why_t why;
	int status;

	c.timeout = 12;
	why = vt_ep_open(&ep, &vt_devs[0], &c);
	if (!why)
		why = meet(&ep, v->fd, &h);
	vt_sleep_ms(200);
	kill(v->pid, SIGKILL);
	if (!why) {
		why = write_on(&ep, &h);
		/* gone in the middle, or its memory first */
		if (!why)
			why = because("writes to a dead process go on");
		else if (!strcmp(why, ibv_wc_status_str(IBV_WC_RETRY_EXC_ERR)) ||
			 !strcmp(why, ibv_wc_status_str(IBV_WC_REM_ACCESS_ERR)))
			why = NULL;
	}
	CHECK(waitpid(v->pid, &status, 0) == v->pid, "waitpid");
	if (!why && !WIFSIGNALED(status))
		why = because("the victim had ended by itself");
	if (why)
		vt_ep_close(&ep);
	else
		why = vt_ep_close(&ep);
	return why;
}

static why_t ping(struct vt_pair *p, const void *arg)
{
	(void)arg;
	return vt_ping(p);
}

int main(int argc, char **argv)
{
	struct vt_conf c;
	int i;

	vt_args(argc, argv);
	/* before any device is open here: uverbs contexts aren't inherited */
	for (i = 0; i < VICTIMS; i++)
		victims[i].pid = start_victim(&victims[i].fd);
	vt_open();
	for (i = 0; i < 2; i++) {
		char name[4] = { 'A' + i };

		dev = &vt_devs[i];
		test_queries(name);
		test_mrs(name);
	}
	c = vt_conf(IBV_QPT_RC);
	for (i = 0; i < VICTIMS; i++)
		tap_report(victims[i].pid < 0 ? "fork" : kill_one(&victims[i]),
			   "process %d killed with traffic in flight", i + 1);
	vt_run("traffic after all that", &c, ping, NULL);
	return tap_finish();
}
