// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * rdma_cm(7): QPs that the library doesn't manage, options, moving between
 * channels, multicast, and the events that only come when something happens to
 * the network.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <net/if.h>
#include <infiniband/sa.h>
#include "cm.h"

/* QPs of one's own: the library only tells what their attributes have to be */

static why_t own_qp(struct cm *c, struct cm_end *end, struct ibv_qp **qp)
{
	struct ibv_qp_init_attr init = cm_qp_attr(c);

	init.send_cq = ibv_create_cq(end->id->verbs, 32, NULL, NULL, 0);
	init.recv_cq = init.send_cq;
	CHECK(init.send_cq, "ibv_create_cq");
	*qp = ibv_create_qp(end->id->pd, &init);
	CHECK(*qp, "ibv_create_qp: %s", strerror(errno));
	return NULL;
}

static void free_own(struct ibv_qp *qp)
{
	struct ibv_cq *cq = qp ? qp->send_cq : NULL;

	if (qp)
		ibv_destroy_qp(qp);
	if (cq)
		ibv_destroy_cq(cq);
}

static why_t raise_to(struct cm_end *end, struct ibv_qp *qp,
		      enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = { .qp_state = to };
	int mask = 0, err;

	vt_enter_netns(end->dev);
	CHECK(!rdma_init_qp_attr(end->id, &attr, &mask),
	      "rdma_init_qp_attr: %s", strerror(errno));
	CHECK(mask & IBV_QP_STATE && attr.qp_state == to, "mask %#x", mask);
	err = ibv_modify_qp(qp, &attr, mask);
	CHECK(!err, "to state %d: %s", to, strerror(err));
	return NULL;
}

/* A and B with QPs of their own, up to CONNECT_RESPONSE at A */
static why_t respond(struct cm *c, struct ibv_qp **a, struct ibv_qp **b)
{
	if (!c->listen)
		TRY(cm_listen(c));
	TRY(cm_resolve(c));
	TRY(own_qp(c, &c->a, a));
	TRY(raise_to(&c->a, *a, IBV_QPS_INIT));
	c->param.qp_num = (*a)->qp_num;
	CHECK(!rdma_connect(c->a.id, &c->param), "rdma_connect: %s",
	      strerror(errno));
	TRY(cm_expect(&c->b, RDMA_CM_EVENT_CONNECT_REQUEST, VT_LONG));
	TRY(own_qp(c, &c->b, b));
	TRY(raise_to(&c->b, *b, IBV_QPS_INIT));
	TRY(raise_to(&c->b, *b, IBV_QPS_RTR));
	TRY(raise_to(&c->b, *b, IBV_QPS_RTS));
	c->param.qp_num = (*b)->qp_num;
	CHECK(!rdma_accept(c->b.id, &c->param), "rdma_accept: %s",
	      strerror(errno));
	return cm_expect(&c->a, RDMA_CM_EVENT_CONNECT_RESPONSE, VT_LONG);
}

static why_t established(struct cf *t, struct cm *c, struct ibv_qp *a,
			 struct ibv_qp *b)
{
	struct ibv_send_wr wr = { .wr_id = CF_WR, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_recv_wr recv = { .wr_id = CF_RECV }, *bad_recv;
	struct ibv_send_wr *bad;

	CHECK(c->a.ev->param.conn.qp_num == b->qp_num, "qp_num %#x",
	      c->a.ev->param.conn.qp_num);
	TRY(raise_to(&c->a, a, IBV_QPS_RTR));
	TRY(raise_to(&c->a, a, IBV_QPS_RTS));
	TRY(cm_ret(t, rdma_establish(c->a.id)));
	CHECK(!t->err, "rdma_establish: %s", strerror(t->err));
	TRY(cm_expect(&c->b, RDMA_CM_EVENT_ESTABLISHED, VT_LONG));
	CHECK(!ibv_post_recv(b, &recv, &bad_recv), "ibv_post_recv");
	CHECK(!ibv_post_send(a, &wr, &bad), "ibv_post_send");
	TRY(vt_poll_status(a->send_cq, CF_WR, IBV_WC_SUCCESS, "A"));
	return vt_poll_status(b->send_cq, CF_RECV, IBV_WC_SUCCESS, "B");
}

static why_t establish(struct cf *t, struct cm *c)
{
	struct ibv_qp *a = NULL, *b = NULL;
	why_t why;

	why = respond(c, &a, &b);
	if (!why)
		t->cm = c->a.ev->event;
	if (!why)
		why = established(t, c, a, b);
	free_own(a);
	free_own(b);
	return why;
}

/* Without A's word B is told by its QP, and tells the library. */
static why_t notify(struct cf *t, struct cm *c)
{
	struct ibv_qp *a = NULL, *b = NULL;
	why_t why;

	why = respond(c, &a, &b);
	if (!why)
		why = cm_ret(t, rdma_notify(c->b.id, IBV_EVENT_COMM_EST));
	if (!why && !t->err)
		why = cm_expect(&c->b, RDMA_CM_EVENT_ESTABLISHED, VT_LONG);
	if (!why && !t->err)
		t->cm = c->b.ev->event;
	free_own(a);
	free_own(b);
	return why;
}

static why_t notify_late(struct cf *t, struct cm *c)
{
	TRY(cm_connect(c));
	return cm_ret(t, rdma_notify(c->b.id, IBV_EVENT_COMM_EST));
}

static why_t notify_nothing(struct cf *t, struct cm *c)
{
	TRY(cm_resolve(c));
	return cm_ret(t, rdma_notify(c->a.id, IBV_EVENT_COMM_EST));
}

static why_t init_attr(struct cf *t, struct cm *c)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask = 0;

	TRY(cm_resolve(c));
	TRY(cm_ret(t, rdma_init_qp_attr(c->a.id, &attr, &mask)));
	CHECK(mask == (IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX |
		       IBV_QP_PORT), "mask %#x", mask);
	CHECK(attr.port_num == VT_PORT && !attr.pkey_index,
	      "port %u, pkey_index %u", attr.port_num, attr.pkey_index);
	return NULL;
}

/* What A offers arrives at B, and what B chooses at A. */
static why_t ece(struct cf *t, struct cm *c)
{
	struct ibv_ece mine = { .vendor_id = 0x1234, .options = 0x7 };
	struct ibv_ece theirs = {};
	struct ibv_qp *a = NULL;
	why_t why;

	TRY(cm_listen(c));
	TRY(cm_resolve(c));
	TRY(own_qp(c, &c->a, &a));
	c->param.qp_num = a->qp_num;
	TRY(cm_ret(t, rdma_set_local_ece(c->a.id, &mine)));
	CHECK(!rdma_connect(c->a.id, &c->param), "rdma_connect: %s",
	      strerror(errno));
	why = cm_expect(&c->b, RDMA_CM_EVENT_CONNECT_REQUEST, VT_LONG);
	free_own(a);
	if (why)
		return why;
	CHECK(!rdma_get_remote_ece(c->b.id, &theirs), "rdma_get_remote_ece: %s",
	      strerror(errno));
	CHECK(theirs.vendor_id == mine.vendor_id &&
	      theirs.options == mine.options, "vendor_id %#x, options %#x",
	      theirs.vendor_id, theirs.options);
	return NULL;
}

/* Channels */

static why_t migrate(struct cf *t, struct cm *c)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct cm_end moved = { .dev = c->a.dev, .ch = other };
	struct sockaddr_in6 sa;
	why_t why;

	CHECK(other, "rdma_create_event_channel");
	TRY(cm_make(c, &c->a, &c->a.id));
	cm_addr(c->b.dev, 7471, &sa);
	CHECK(!rdma_resolve_addr(c->a.id, NULL, SA(&sa), 5000),
	      "rdma_resolve_addr: %s", strerror(errno));
	vt_sleep_ms(200);
	/* its event is pending, and moves along */
	TRY(cm_ret(t, rdma_migrate_id(c->a.id, other)));
	CHECK(c->a.id->channel == other, "another channel");
	why = cm_expect(&moved, RDMA_CM_EVENT_ADDR_RESOLVED, VT_LONG);
	if (moved.ev) {
		t->cm = moved.ev->event;
		rdma_ack_cm_event(moved.ev);
	}
	if (!why)
		why = cm_silent(&c->a, 50);
	CHECK(!rdma_migrate_id(c->a.id, c->a.ch), "back again: %s",
	      strerror(errno));
	rdma_destroy_event_channel(other);
	return why;
}

static why_t migrate_sync(struct cf *t, struct cm *c)
{
	TRY(cm_resolve_addr(c));
	rdma_ack_cm_event(c->a.ev);
	c->a.ev = NULL;
	TRY(cm_ret(t, rdma_migrate_id(c->a.id, NULL)));
	/* waits by itself */
	CHECK(!rdma_resolve_route(c->a.id, 5000), "rdma_resolve_route: %s",
	      strerror(errno));
	CHECK(c->a.id->route.num_paths == 1, "no route");
	return cm_silent(&c->a, 50);
}

/* Options */

static why_t option(struct cf *t, struct cm *c, int level, int name,
		    void *val, size_t len)
{
	if (!c->a.id)
		TRY(cm_make(c, &c->a, &c->a.id));
	return cm_ret(t, rdma_set_option(c->a.id, level, name, val, len));
}

static why_t set_tos(struct cf *t, struct cm *c)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	uint8_t tos = 0x68;

	TRY(option(t, c, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1));
	TRY(cm_connect(c));
	CHECK(!ibv_query_qp(c->a.id->qp, &attr, IBV_QP_AV, &init),
	      "ibv_query_qp");
	CHECK(attr.ah_attr.grh.traffic_class == tos, "traffic_class %#x",
	      attr.ah_attr.grh.traffic_class);
	return NULL;
}

static why_t tos_size(struct cf *t, struct cm *c)
{
	uint16_t tos = 0x68;

	return option(t, c, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 2);
}

static why_t set_timeout(struct cf *t, struct cm *c)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	uint8_t timeout = 11;

	TRY(option(t, c, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
		   1));
	TRY(cm_connect(c));
	CHECK(!ibv_query_qp(c->a.id->qp, &attr, IBV_QP_TIMEOUT, &init),
	      "ibv_query_qp");
	CHECK(attr.timeout == timeout, "timeout %u", attr.timeout);
	return NULL;
}

static why_t set_reuse(struct cf *t, struct cm *c)
{
	int on = 1;
	struct sockaddr_in6 sa;
	why_t why = NULL;
	struct rdma_cm_id *other;

	TRY(option(t, c, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on,
		   sizeof(on)));
	cm_addr(c->a.dev, 0, &sa);
	CHECK(!rdma_bind_addr(c->a.id, SA(&sa)), "rdma_bind_addr");
	cm_addr(c->a.dev, ntohs(rdma_get_src_port(c->a.id)), &sa);
	TRY(cm_make(c, &c->a, &other));
	if (rdma_set_option(other, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR,
			    &on, sizeof(on)) ||
	    rdma_bind_addr(other, SA(&sa)))
		why = because("the second: %s", strerror(errno));
	rdma_destroy_id(other);
	return why;
}

/* With it, a port belongs to IPv6 alone. */
static why_t set_afonly(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	why_t why = NULL;
	struct rdma_cm_id *other;
	int on = 1;

	TRY(option(t, c, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on,
		   sizeof(on)));
	CHECK(!rdma_bind_addr(c->a.id, SA(&any)), "rdma_bind_addr");
	v4.sin_port = rdma_get_src_port(c->a.id);
	TRY(cm_make(c, &c->a, &other));
	if (rdma_bind_addr(other, SA(&v4)))
		why = because("IPv4: %s", strerror(errno));
	rdma_destroy_id(other);
	return why;
}

static why_t set_path(struct cf *t, struct cm *c)
{
	struct ibv_path_data path = {
		.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY |
			 IBV_PATH_FLAG_BIDIRECTIONAL,
	};

	if (t->row->err)
		return option(t, c, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path,
			      sizeof(path) - 1);
	path.path.reversible_numpath = 0x81;
	path.path.pkey = 0xffff;
	TRY(cm_resolve_addr(c));
	memcpy(&path.path.dgid, &c->b.dev->gid, 16);
	memcpy(&path.path.sgid, &c->a.dev->gid, 16);
	TRY(option(t, c, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path,
		   sizeof(path)));
	CHECK(!t->err, "%s", strerror(t->err));
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_ROUTE_RESOLVED, VT_LONG));
	t->cm = c->a.ev->event;
	return NULL;
}

static why_t no_option(struct cf *t, struct cm *c)
{
	uint8_t val = 1;

	return option(t, c, RDMA_OPTION_ID, 77, &val, 1);
}

/* Multicast; QP, group and join flag */

static const char * const group4 = "239.7.7.77", * const group6 = "ff15::7:77";

static void group(struct sockaddr_in6 *sa)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)sa;

	memset(sa, 0, sizeof(*sa));
	sa->sin6_family = vt_opts.family == 4 ? AF_INET : AF_INET6;
	if (vt_opts.family == 4)
		inet_pton(AF_INET, group4, &v4->sin_addr);
	else
		inet_pton(AF_INET6, group6, &sa->sin6_addr);
}

/*
 * The kernel's rdma_cm joins no group of IPv6 on RoCEv2, whatever the device can:
 * it says ENOTSUPP, which is not for user space.
 */
#define NO_IPV6_GROUPS	524

static why_t member(struct cm *c, struct cm_end *end, int flag)
{
	struct rdma_cm_join_mc_attr_ex ex = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS |
			     RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = flag,
	};
	struct sockaddr_in6 sa, mc;

	if (!end->id) {
		TRY(cm_make(c, end, &end->id));
		cm_addr(end->dev, 0, &sa);
		CHECK(!rdma_bind_addr(end->id, SA(&sa)), "rdma_bind_addr: %s",
		      strerror(errno));
		TRY(cm_qp(c, end));
	}
	group(&mc);
	ex.addr = SA(&mc);
	vt_enter_netns(end->dev);
	TRY(cm_ret(c->t, flag < 0 ?
		   rdma_join_multicast(end->id, SA(&mc), c) :
		   rdma_join_multicast_ex(end->id, &ex, c)));
	if (c->t->err == NO_IPV6_GROUPS && vt_opts.family == 6)
		return NULL;
	CHECK(!c->t->err, "joining: %s", strerror(c->t->err));
	TRY(cm_expect(end, RDMA_CM_EVENT_MULTICAST_JOIN, VT_LONG));
	CHECK(end->ev->param.ud.qp_num == 0xffffff, "qp_num %#x",
	      end->ev->param.ud.qp_num);
	CHECK(end->ev->param.ud.private_data == c, "no join context");
	return NULL;
}

static why_t to_group(struct cm *c)
{
	struct rdma_ud_param *ud = &c->a.ev->param.ud;
	struct ibv_send_wr wr = { .wr_id = CF_WR, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_ah *ah;
	why_t why;

	vt_enter_netns(c->a.dev);
	ah = ibv_create_ah(c->a.id->pd, &ud->ah_attr);
	CHECK(ah, "ibv_create_ah: %s", strerror(errno));
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = ud->qp_num;
	wr.wr.ud.remote_qkey = ud->qkey;
	if (ibv_post_send(c->a.id->qp, &wr, &bad))
		why = "ibv_post_send";
	else
		why = vt_poll_status(c->a.id->send_cq, CF_WR, IBV_WC_SUCCESS,
				     "A");
	ibv_destroy_ah(ah);
	return why;
}

static why_t hears(struct cm *c, bool want)
{
	struct ibv_recv_wr wr = { .wr_id = CF_RECV, .num_sge = 1 }, *bad;
	static char mem[VT_GRH];
	struct ibv_sge sge = { .addr = (uintptr_t)mem, .length = sizeof(mem) };
	struct ibv_mr *mr;
	why_t why;

	mr = ibv_reg_mr(c->b.id->pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr, "ibv_reg_mr");
	sge.lkey = mr->lkey;
	wr.sg_list = &sge;
	CHECK(!ibv_post_recv(c->b.id->qp, &wr, &bad), "ibv_post_recv");
	why = to_group(c);
	if (!why && want)
		why = vt_poll_status(c->b.id->recv_cq, CF_RECV, IBV_WC_SUCCESS,
				     "the member");
	else if (!why)
		why = vt_quiet(c->b.id->recv_cq, VT_SHORT);
	ibv_dereg_mr(mr);
	return why;
}

static why_t join(struct cf *t, struct cm *c)
{
	int flag = t->row->more - 1;

	c->ps = RDMA_PS_UDP;
	TRY(member(c, &c->b, flag));
	if (t->err) {
		t->err = 0;
		t->cm = RDMA_CM_EVENT_MULTICAST_JOIN;
		return NULL;
	}
	t->cm = c->b.ev->event;
	TRY(member(c, &c->a, -1));
	return hears(c, flag != RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER);
}

static why_t leave(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 mc;

	TRY(join(t, c));
	if (!c->a.id)
		return NULL;
	group(&mc);
	/* its events have to be acked */
	rdma_ack_cm_event(c->b.ev);
	c->b.ev = NULL;
	TRY(cm_ret(t, rdma_leave_multicast(c->b.id, SA(&mc))));
	CHECK(!t->err, "%s", strerror(t->err));
	return hears(c, false);
}

static why_t leave_nothing(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 sa, mc;

	TRY(cm_make(c, &c->a, &c->a.id));
	cm_addr(c->a.dev, 0, &sa);
	CHECK(!rdma_bind_addr(c->a.id, SA(&sa)), "rdma_bind_addr");
	group(&mc);
	return cm_ret(t, rdma_leave_multicast(c->a.id, SA(&mc)));
}

static why_t join_unbound(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 mc;

	TRY(cm_make(c, &c->a, &c->a.id));
	group(&mc);
	return cm_ret(t, rdma_join_multicast(c->a.id, SA(&mc), NULL));
}

static why_t join_mask(struct cf *t, struct cm *c)
{
	struct rdma_cm_join_mc_attr_ex ex = { .comp_mask = 64 };
	struct sockaddr_in6 mc;

	TRY(cm_make(c, &c->a, &c->a.id));
	group(&mc);
	ex.addr = SA(&mc);
	return cm_ret(t, rdma_join_multicast_ex(c->a.id, &ex, NULL));
}

/* What happens to the network */

/* A's QP can't follow B's answer. */
static why_t connect_error(struct cf *t, struct cm *c)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	TRY(cm_request(c));
	CHECK(!ibv_modify_qp(c->a.id->qp, &attr, IBV_QP_STATE), "to ERR");
	TRY(cm_accept(c));
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_CONNECT_ERROR, VT_LONG));
	t->cm = c->a.ev->event;
	return NULL;
}

static why_t neighbour(struct cm *c, char *name, char *addr)
{
	struct ibv_gid_entry e;

	CHECK(!ibv_query_gid_ex(c->a.dev->ctx, VT_PORT, c->a.dev->gid_index,
				&e, 0), "the GID is gone");
	vt_enter_netns(c->a.dev);
	CHECK(if_indextoname(e.ndev_ifindex, name), "netdev %u",
	      e.ndev_ifindex);
	inet_ntop(vt_opts.family == 4 ? AF_INET : AF_INET6,
		  c->b.dev->gid.raw + (vt_opts.family == 4 ? 12 : 0), addr,
		  INET6_ADDRSTRLEN);
	return NULL;
}

/* B's address now leads to another MAC, as when a host is replaced. */
static why_t unreachable(struct cf *t, struct cm *c)
{
	char name[IF_NAMESIZE], addr[INET6_ADDRSTRLEN];
	why_t why, back;

	TRY(cm_resolve(c));
	TRY(neighbour(c, name, addr));
	TRY(vt_run_cmd("ip neigh replace %s lladdr 02:00:00:00:77:77 nud reachable "
		       "dev %s", addr, name));
	why = cm_expect(&c->a, RDMA_CM_EVENT_UNREACHABLE, VT_LONG);
	if (why)
		why = strdupa(why);
	else
		t->cm = c->a.ev->event;
	back = vt_run_cmd("ip neigh del %s dev %s", addr, name);
	return why ? because("%s", why) : back;
}

/* A device of its own, which goes, or whose bond fails over */

#define OWN	"cfown"

static why_t own_device(struct cm *c, bool bond)
{
	char type[64];

	/* the tests name devices after their link type */
	snprintf(type, sizeof(type), "%.*s",
		 (int)strcspn(c->a.dev->name, "0123456789"), c->a.dev->name);
	vt_enter_netns(c->a.dev);
	if (bond) {
		TRY(vt_run_cmd("ip link add %s type bond mode active-backup "
			       "fail_over_mac active miimon 100", OWN));
		TRY(vt_run_cmd("ip link add %s0 type dummy && "
			       "ip link set %s0 master " OWN, OWN, OWN));
		TRY(vt_run_cmd("ip link add %s1 type dummy && "
			       "ip link set %s1 master " OWN, OWN, OWN));
	} else {
		TRY(vt_run_cmd("ip link add %s type dummy", OWN));
	}
	TRY(vt_run_cmd("ip link set %s up && ip addr add 192.0.2.78/24 dev %s", OWN,
		       OWN));
	return vt_run_cmd("rdma link add %s type %s netdev " OWN, OWN, type);
}

static void no_device(struct cm *c)
{
	vt_enter_netns(c->a.dev);
	if (system("rdma link delete " OWN " 2>/dev/null; "
		   "ip link del " OWN " 2>/dev/null; "
		   "ip link del " OWN "0 2>/dev/null; "
		   "ip link del " OWN "1 2>/dev/null; true"))
		tap_note("the device " OWN " stays");
}

/* Bound to it, as soon as its GID is there */
static why_t bind_to_own(struct cm *c)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	uint64_t end = vt_now_us() + 5000000;

	inet_pton(AF_INET, "192.0.2.78", &sa.sin_addr);
	do {
		TRY(cm_make(c, &c->a, &c->a.id));
		if (!rdma_bind_addr(c->a.id, SA(&sa)) && c->a.id->verbs)
			return NULL;
		rdma_destroy_id(c->a.id);
		c->a.id = NULL;
		vt_sleep_ms(100);
	} while (vt_now_us() < end);
	return because("rdma_bind_addr: %s", strerror(errno));
}

static why_t with_own(struct cf *t, struct cm *c, bool bond, const char *what,
		      enum rdma_cm_event_type type)
{
	why_t why = own_device(c, bond);

	if (!why)
		why = bind_to_own(c);
	if (!why)
		why = vt_run_cmd(what, OWN);
	if (!why)
		why = cm_expect(&c->a, type, VT_LONG);
	if (!why)
		t->cm = c->a.ev->event;
	if (why)
		why = strdupa(why);
	/* the identifier first: a device waits for its users */
	if (c->a.ev)
		rdma_ack_cm_event(c->a.ev);
	c->a.ev = NULL;
	if (c->a.id)
		rdma_destroy_id(c->a.id);
	c->a.id = NULL;
	no_device(c);
	return why ? because("%s", why) : NULL;
}

static why_t removal(struct cf *t, struct cm *c)
{
	return with_own(t, c, false, "rdma link delete %s",
			RDMA_CM_EVENT_DEVICE_REMOVAL);
}

static why_t fail_over(struct cf *t, struct cm *c)
{
	return with_own(t, c, true, "ip link set %s0 down",
			RDMA_CM_EVENT_ADDR_CHANGE);
}

/* On Ethernet there is nobody to ask for a route, nor for a group. */
static why_t no_sa(struct cf *t, struct cm *c)
{
	TRY(cm_resolve(c));
	CHECK(c->a.dev->port.link_layer == IBV_LINK_LAYER_ETHERNET &&
	      !c->a.dev->port.sm_lid, "there is a subnet manager");
	t->err = 0;
	return NULL;
}

#define CALL(page_, says, what, fn, want)				\
	{ page_, says, what, CM(fn), CF_DEVICE, .err = want }
#define GIVES(page_, says, what, fn, event_)				\
	{ page_, says, what, CM(fn), CF_DEVICE,				\
	  .cm = CF_IS(RDMA_CM_EVENT_##event_) }

static const struct cf_row rows[] = {
	GIVES("rdma_establish", "completes a connection without a QP",
	      "RC", establish, CONNECT_RESPONSE),
	GIVES("rdma_notify", "forces the connection into an established state",
	      "IBV_EVENT_COMM_EST before the peer's word", notify,
	      ESTABLISHED),
	{ "rdma_notify", "EISCONN may safely be ignored",
	  "when established already", CM(notify_late), CF_DEVICE, .err = 0,
	  .or_err = EISCONN },
	CALL("rdma_notify", "of a connection", "no connection",
	     notify_nothing, EINVAL),
	CALL("rdma_init_qp_attr", "attributes and their mask", "IBV_QPS_INIT",
	     init_attr, 0),
	CALL("rdma_get_remote_ece", "as received from the peer",
	     "rdma_set_local_ece, rdma_get_remote_ece", ece, 0),
	GIVES("rdma_migrate_id", "moves pending events to the new channel",
	      "with an event pending", migrate, ADDR_RESOLVED),
	CALL("rdma_migrate_id", "without a channel it is synchronous",
	     "to no channel", migrate_sync, 0),

	CALL("rdma_set_option", "the quality of service",
	     "RDMA_OPTION_ID_TOS", set_tos, 0),
	CALL("rdma_set_option", "optlen is the size of uint8_t",
	     "RDMA_OPTION_ID_TOS of 2 bytes", tos_size, EINVAL),
	CALL("rdma_set_option", "the QP's ACK timeout",
	     "RDMA_OPTION_ID_ACK_TIMEOUT", set_timeout, 0),
	CALL("rdma_set_option", "others may bind to the address",
	     "RDMA_OPTION_ID_REUSEADDR", set_reuse, 0),
	CALL("rdma_set_option", "IPV6_V6ONLY", "RDMA_OPTION_ID_AFONLY",
	     set_afonly, 0),
	GIVES("rdma_set_option", "the path record", "RDMA_OPTION_IB_PATH",
	      set_path, ROUTE_RESOLVED),
	CALL("rdma_set_option", "optlen is that of struct ibv_path_data[]",
	     "RDMA_OPTION_IB_PATH, a byte too short", set_path, EINVAL),
	{ "rdma_set_option", "-1 on error", "no such option", CM(no_option),
	  CF_DEVICE, .err = ENOSYS, .or_err = EINVAL },

	GIVES("rdma_join_multicast", "qp_num, qkey, the join context",
	      "a group of two", join, MULTICAST_JOIN),
	{ "rdma_join_multicast_ex", "sends and receives",
	  "RDMA_MC_JOIN_FLAG_FULLMEMBER", CM(join), CF_DEVICE,
	  .more = CF_IS(RDMA_MC_JOIN_FLAG_FULLMEMBER),
	  .cm = CF_IS(RDMA_CM_EVENT_MULTICAST_JOIN) },
	{ "rdma_join_multicast_ex", "doesn't receive",
	  "RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER", CM(join), CF_DEVICE,
	  .more = CF_IS(RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER),
	  .cm = CF_IS(RDMA_CM_EVENT_MULTICAST_JOIN) },
	CALL("rdma_join_multicast_ex", "the comp_mask", "a bit that is no flag",
	     join_mask, ENOTSUP),
	{ "rdma_join_multicast", "the identifier must be bound to a device",
	  "not bound", CM(join_unbound), CF_DEVICE, .err = EINVAL,
	  .or_err = ENODEV },
	CALL("rdma_leave_multicast", "leaves the group", "of a group", leave,
	     0),
	CALL("rdma_leave_multicast", "a group that was joined", "no group",
	     leave_nothing, EADDRNOTAVAIL),

	GIVES("rdma_get_cm_event", "an error trying to establish a connection",
	      "a QP in error", connect_error, CONNECT_ERROR),
	GIVES("rdma_get_cm_event", "the remote server is not reachable",
	      "another MAC address", unreachable, UNREACHABLE),
	CALL("rdma_get_cm_event", "rdma_resolve_route failed; Ethernet asks "
	     "nobody", "no RDMA_CM_EVENT_ROUTE_ERROR", no_sa, 0),
	CALL("rdma_get_cm_event", "joining failed; Ethernet asks nobody",
	     "no RDMA_CM_EVENT_MULTICAST_ERROR", no_sa, 0),
	GIVES("rdma_get_cm_event", "the local device has been removed",
	      "rdma link delete", removal, DEVICE_REMOVAL),
	GIVES("rdma_get_cm_event", "the netdev changed its address",
	      "failover of a bond", fail_over, ADDR_CHANGE),
};

CF_TABLE(200, "`rdma_cm`: options, multicast, rare events", rows);
