// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_get_async_event(3): each event. Those of the port are made by ip(8) on
 * A's netdev, and everything is as it was in the end; so this table is the
 * last: it takes the link down and brings it back.
 */

#define _GNU_SOURCE
#include <net/if.h>
#include <poll.h>
#include <unistd.h>
#include "conform.h"

/* Events of QPs, CQs and SRQs */

static why_t comm_est(struct cf *t)
{
	struct vt_pair *p = t->p;
	struct ibv_send_wr wr;

	TRY(vt_ep_init(&p->a));
	TRY(vt_ep_init(&p->b));
	TRY(vt_ep_rtr(&p->a, &p->b));
	TRY(vt_ep_rtr(&p->b, &p->a));
	TRY(vt_ep_rts(&p->a));
	cf_fill(t);
	TRY(cf_recv(t));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	return cf_post_send(t, &wr);
}

static why_t drained(struct cf *t)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD,
				    .en_sqd_async_notify = 1 };
	struct ibv_send_wr wr;

	cf_fill(t);
	wr = cf_wr(t, IBV_WR_RDMA_WRITE, CF_LEN);
	TRY(cf_post_send(t, &wr));
	CHECK(!ibv_modify_qp(t->p->a.qp, &attr, IBV_QP_STATE |
			     IBV_QP_EN_SQD_ASYNC_NOTIFY), "to SQD");
	return NULL;
}

static why_t last_wqe(struct cf *t)
{
	int i;

	CHECK(t->p->b.qp->srq, "no SRQ");
	for (i = 0; i < 3; i++)
		TRY(cf_recv(t));
	return vt_ep_state(&t->p->b, IBV_QPS_ERR);
}

/* What is posted stays for others; the event comes once. */
static why_t once(struct cf *t)
{
	TRY(vt_quiet(t->p->b.rcq, 100));
	return vt_no_event(t->p->b.dev, 100);
}

static why_t bad_request(struct cf *t)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_RDMA_READ, CF_LEN);

	return cf_post_send(t, &wr);
}

static why_t bad_access(struct cf *t)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_RDMA_WRITE, CF_LEN);

	wr.wr.rdma.rkey ^= 0x55;
	return cf_post_send(t, &wr);
}

static void no_read(struct vt_conf *c)
{
	c->qp_access &= ~IBV_ACCESS_REMOTE_READ;
}

static void small_cq(struct vt_conf *c)
{
	c->cqe = 32;
	c->send_wr = 128;
}

static why_t overrun(struct cf *t)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_RDMA_WRITE, 8);
	struct ibv_send_wr *bad;
	int i;

	for (i = 0; i < t->p->a.scq->cqe + 20; i++) {
		if (ibv_post_send(t->p->a.qp, &wr, &bad))
			break;
		if (i % 8 == 7)
			vt_sleep_ms(5);
	}
	return NULL;
}

static why_t none(struct cf *t)
{
	struct ibv_async_event ev;
	int ret;

	/* vt_dev_open() has made it non-blocking */
	ret = ibv_get_async_event(t->dev->ctx, &ev);
	CHECK(!ret || ret == -1, "it returns %d", ret);
	t->err = ret ? errno : 0;
	return NULL;
}

/* Events of the port */

static why_t netdev(struct cf *t, char *name)
{
	struct ibv_gid_entry e;

	CHECK(!ibv_query_gid_ex(t->dev->ctx, VT_PORT, t->dev->gid_index, &e,
				0), "the GID is gone");
	CHECK(if_indextoname(e.ndev_ifindex, name), "netdev %u: %s",
	      e.ndev_ifindex, strerror(errno));
	return NULL;
}

/* An event of a port, or, as port 0, of the device */
static why_t event_of(struct cf *t, enum ibv_event_type type, int port, int ms)
{
	uint64_t end = vt_now_us() + ms * 1000ULL;
	struct pollfd pfd = { .fd = t->dev->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event ev;

	while (vt_now_us() < end) {
		if (poll(&pfd, 1, 100) <= 0 ||
		    ibv_get_async_event(t->dev->ctx, &ev))
			continue;
		ibv_ack_async_event(&ev);
		if (ev.event_type != type)
			continue;
		CHECK(!port || ev.element.port_num == port, "of port %d",
		      ev.element.port_num);
		return NULL;
	}
	return because("no event '%s'", ibv_event_type_str(type));
}

static why_t port_event(struct cf *t, enum ibv_event_type type, int ms)
{
	return event_of(t, type, VT_PORT, ms);
}

static why_t port_is(struct cf *t, enum ibv_port_state want)
{
	uint64_t end = vt_now_us() + 5000000;
	struct ibv_port_attr p;

	do {
		CHECK(!ibv_query_port(t->dev->ctx, VT_PORT, &p),
		      "ibv_query_port");
		if (p.state == want)
			return NULL;
		vt_sleep_ms(20);
	} while (vt_now_us() < end);
	return because("port state %d, not %d", p.state, want);
}

/* The GID of the other rows is back, in its place. */
static why_t gid_is_back(struct cf *t)
{
	uint64_t end = vt_now_us() + VT_LONG * 1000ULL;
	union ibv_gid gid;

	do {
		if (!ibv_query_gid(t->dev->ctx, VT_PORT, t->dev->gid_index,
				   &gid) &&
		    !memcmp(&gid, &t->dev->gid, 16))
			return NULL;
		vt_sleep_ms(50);
	} while (vt_now_us() < end);
	return "the GID has not come back";
}

/* Down and up; row->arg is the event that has to come. */
static why_t link_event(struct cf *t)
{
	char name[IF_NAMESIZE];
	why_t why, up;

	TRY(netdev(t, name));
	TRY(vt_run_cmd("echo 1 >/proc/sys/net/ipv6/conf/%s/keep_addr_on_down", name));
	TRY(vt_run_cmd("ip link set %s down", name));
	why = port_is(t, IBV_PORT_DOWN);
	if (!why && t->row->arg == IBV_EVENT_PORT_ERR)
		why = port_event(t, IBV_EVENT_PORT_ERR, 5000);
	if (why)
		why = strdupa(why);
	up = vt_run_cmd("ip link set %s up", name);
	if (!why)
		why = up;
	if (!why)
		why = port_is(t, IBV_PORT_ACTIVE);
	if (!why && t->row->arg == IBV_EVENT_PORT_ACTIVE)
		why = port_event(t, IBV_EVENT_PORT_ACTIVE, 5000);
	if (why)
		return because("%s", why);
	return gid_is_back(t);
}

static why_t gid_change(struct cf *t)
{
	char name[IF_NAMESIZE];
	why_t why, del;

	TRY(netdev(t, name));
	TRY(vt_run_cmd("ip addr add 192.0.2.77/32 dev %s", name));
	why = port_event(t, IBV_EVENT_GID_CHANGE, 5000);
	if (why)
		why = strdupa(why);
	del = vt_run_cmd("ip addr del 192.0.2.77/32 dev %s", name);
	if (why || del)
		return because("%s", why ? why : del);
	return port_event(t, IBV_EVENT_GID_CHANGE, 5000);
}

/* A device of its own, on a netdev of its own, goes while it is open. */

#define FATAL_DEV "cffatal"

static struct ibv_context *open_fatal(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), FATAL_DEV))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

static why_t goes_away(struct cf *t)
{
	struct vt_dev dev = { .ctx = open_fatal() };
	struct cf other = { .row = t->row, .dev = &dev };
	why_t why;

	CHECK(dev.ctx, "can't open " FATAL_DEV ": %s", strerror(errno));
	why = vt_run_cmd("rdma link delete %s", FATAL_DEV);
	if (!why)
		why = event_of(&other, IBV_EVENT_DEVICE_FATAL, 0, 5000);
	ibv_close_device(dev.ctx);
	return why;
}

static why_t device_fatal(struct cf *t)
{
	char type[64];
	why_t why, del;

	/* the tests name devices after their link type */
	snprintf(type, sizeof(type), "%.*s",
		 (int)strcspn(t->dev->name, "0123456789"), t->dev->name);
	TRY(vt_run_cmd("ip link add %s type dummy", FATAL_DEV));
	why = vt_run_cmd("ip link set %s up", FATAL_DEV);
	if (!why)
		why = vt_run_cmd("rdma link add " FATAL_DEV " type %s netdev "
				 FATAL_DEV, type);
	if (!why)
		why = goes_away(t);
	if (why)
		why = strdupa(why);
	del = vt_run_cmd("ip link del %s", FATAL_DEV);
	return why ? because("%s", why) : del;
}

/*
 * What can't come: there is nothing on this device that it could be about, and
 * that is what is looked at.
 */

static why_t no_lids(struct cf *t)
{
	struct ibv_port_attr p;

	t->err = ibv_query_port(t->dev->ctx, VT_PORT, &p);
	CHECK(p.link_layer == IBV_LINK_LAYER_ETHERNET && !p.lid && !p.lmc,
	      "link_layer %u lid %u lmc %u", p.link_layer, p.lid, p.lmc);
	return NULL;
}

static why_t no_sm(struct cf *t)
{
	struct ibv_port_attr p;

	t->err = ibv_query_port(t->dev->ctx, VT_PORT, &p);
	CHECK(!p.sm_lid && !p.sm_sl && !p.init_type_reply && !p.subnet_timeout,
	      "sm_lid %u sm_sl %u", p.sm_lid, p.sm_sl);
	return NULL;
}

static why_t fixed_pkeys(struct cf *t)
{
	CHECK(t->dev->port.pkey_tbl_len == 1 && t->dev->attr.max_pkeys == 1,
	      "pkey_tbl_len %u", t->dev->port.pkey_tbl_len);
	return NULL;
}

static why_t no_apm(struct cf *t)
{
	CHECK(!(t->dev->attr.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG),
	      "claims IBV_DEVICE_AUTO_PATH_MIG");
	return NULL;
}

/* A receive that can't be used is an error of the QP that takes it. */
static why_t bad_recv(struct cf *t)
{
	struct ibv_recv_wr recv = { .wr_id = CF_RECV, .num_sge = 1,
				    .sg_list = t->sge }, *bad;
	struct ibv_send_wr wr;

	CHECK(t->p->b.qp->srq, "no SRQ");
	t->sge[0] = vt_sge(&t->p->b.buf, 0, CF_LEN);
	t->sge[0].lkey ^= 0x55;
	CHECK(!ibv_post_srq_recv(t->p->b.qp->srq, &recv, &bad),
	      "ibv_post_srq_recv");
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	return cf_post_send(t, &wr);
}

static why_t srq_is_well(struct cf *t)
{
	struct ibv_async_event ev;
	struct ibv_srq_attr attr;

	vt_sleep_ms(200);
	while (!ibv_get_async_event(t->p->b.dev->ctx, &ev)) {
		ibv_ack_async_event(&ev);
		CHECK(ev.event_type != IBV_EVENT_SRQ_ERR, "IBV_EVENT_SRQ_ERR");
	}
	CHECK(!ibv_query_srq(t->p->b.qp->srq, &attr), "ibv_query_srq");
	return NULL;
}

static why_t no_wqs(struct cf *t)
{
	struct ibv_device_attr_ex a;

	t->err = ibv_query_device_ex(t->dev->ctx, NULL, &a);
	CHECK(!a.max_wq_type_rq, "max_wq_type_rq %u", a.max_wq_type_rq);
	return NULL;
}

#define PAGE "ibv_get_async_event"
#define EVENT(x)	.event = CF_IS(IBV_EVENT_##x)
#define NEVER(name_, what, fn)						\
	{ PAGE, what, "no " #name_, fn, .stage = CF_DEVICE, .err = 0 }

static const struct cf_row rows[] = {
	/* IBTA 11.6.3.2: of what no completion can tell */
	{ PAGE, "error on a QP, it transitioned to error state", "QP_FATAL",
	  overrun, .prep = small_cq, EVENT(QP_FATAL),
	  .state = CF_IS(IBV_QPS_ERR) },
	{ PAGE, "Invalid Request Local Work Queue Error", "QP_REQ_ERR",
	  bad_request, .prep = no_read, EVENT(QP_REQ_ERR),
	  .event_at_peer = true, .peer = CF_IS(IBV_QPS_ERR) },
	{ PAGE, "Local access violation error", "QP_ACCESS_ERR", bad_access,
	  EVENT(QP_ACCESS_ERR), .event_at_peer = true,
	  .peer = CF_IS(IBV_QPS_ERR) },
	{ PAGE, "Communication was established on a QP", "COMM_EST", comm_est,
	  .stage = CF_RESET, .wc = CF_IS(IBV_WC_SUCCESS),
	  .recv = CF_IS(IBV_WC_SUCCESS), EVENT(COMM_EST),
	  .event_at_peer = true, .peer = CF_IS(IBV_QPS_RTR) },
	{ PAGE, "Send Queue was drained of outstanding messages", "SQ_DRAINED",
	  drained, EVENT(SQ_DRAINED), .state = CF_IS(IBV_QPS_SQD) },
	{ PAGE, "Last WQE Reached on a QP associated with an SRQ",
	  "QP_LAST_WQE_REACHED", last_wqe, .prep = cf_with_srq,
	  EVENT(QP_LAST_WQE_REACHED), .event_at_peer = true,
	  .peer = CF_IS(IBV_QPS_ERR), .after = once },
	{ PAGE, "CQ is in error (CQ overrun)", "CQ_ERR", overrun,
	  .prep = small_cq, EVENT(CQ_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .peer = CF_IS(IBV_QPS_RTS) },
	{ PAGE, "-1 on error", "non-blocking, no event", none,
	  .stage = CF_DEVICE, .err = EAGAIN },
	{ PAGE, "error occurred on an SRQ; a QP's error isn't", "no SRQ_ERR",
	  bad_recv, .prep = cf_with_srq, .wc = CF_IS(IBV_WC_REM_OP_ERR),
	  .recv = CF_IS(IBV_WC_LOC_PROT_ERR), .peer = CF_IS(IBV_QPS_ERR),
	  .after = srq_is_well },
	NEVER(PATH_MIG, "a migrated path; APM is not claimed", no_apm),
	NEVER(PATH_MIG_ERR, "a path not migrated; APM is not claimed", no_apm),
	NEVER(LID_CHANGE, "LID was changed; Ethernet has none", no_lids),
	NEVER(SM_CHANGE, "SM was changed; Ethernet has none", no_sm),
	NEVER(CLIENT_REREGISTER, "SM sent a request; Ethernet has none",
	      no_sm),
	NEVER(PKEY_CHANGE, "P_Key table was changed; it is fixed",
	      fixed_pkeys),
	NEVER(WQ_FATAL, "error on a WQ; there are none", no_wqs),
	{ PAGE, "CA is in FATAL state: it was taken away", "DEVICE_FATAL",
	  device_fatal, .stage = CF_DEVICE, EVENT(DEVICE_FATAL) },
	{ PAGE, "GID table was changed on a port", "GID_CHANGE", gid_change,
	  .stage = CF_DEVICE, EVENT(GID_CHANGE) },
	{ PAGE, "Link became unavailable on a port", "PORT_ERR", link_event,
	  IBV_EVENT_PORT_ERR, CF_DEVICE, EVENT(PORT_ERR) },
	{ PAGE, "Link became active on a port", "PORT_ACTIVE", link_event,
	  IBV_EVENT_PORT_ACTIVE, CF_DEVICE, EVENT(PORT_ACTIVE) },
};

CF_TABLE(1000, "Asynchronous events", rows);
