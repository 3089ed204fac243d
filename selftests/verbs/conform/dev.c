// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices, domains, channels, names; acknowledging; importing. What there is to
 * a verb besides a QP and its memory.
 */

#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
#include "conform.h"

static struct ibv_device *find(struct cf *t, struct ibv_device **list)
{
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), t->dev->name))
			return list[i];
	return NULL;
}

static why_t device_list(struct cf *t)
{
	int n = -1, i = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_device *dev = find(t, list);

	TRY(cf_got(t, list));
	while (list && list[i])
		i++;
	if (list)
		ibv_free_device_list(list);
	CHECK(i == n && n >= 2, "%d of %d devices", i, n);
	CHECK(dev, "%s isn't there", t->dev->name);
	return NULL;
}

static why_t open_close(struct cf *t)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *dev = find(t, list);
	struct ibv_context *ctx = dev ? ibv_open_device(dev) : NULL;
	struct ibv_port_attr port;
	int err;

	TRY(cf_got(t, ctx));
	CHECK(ctx && ctx->device == dev && ctx->cmd_fd >= 0 &&
	      ctx->async_fd >= 0 && ctx->num_comp_vectors > 0, "no context");
	/* the list may go, the device stays */
	ibv_free_device_list(list);
	err = ibv_query_port(ctx, VT_PORT, &port);
	CHECK(!err, "ibv_query_port: %s", strerror(err));
	CHECK(!ibv_close_device(ctx), "ibv_close_device");
	return NULL;
}

static why_t identity(struct cf *t)
{
	struct ibv_device *dev = t->dev->ctx->device;

	t->err = 0;
	CHECK(!strcmp(ibv_get_device_name(dev), t->dev->name), "name '%s'",
	      ibv_get_device_name(dev));
	CHECK(ibv_get_device_guid(dev) == t->dev->attr.node_guid, "GUID");
	CHECK(ibv_get_device_index(dev) >= 0, "index %d",
	      ibv_get_device_index(dev));
	CHECK(dev->node_type == IBV_NODE_CA &&
	      dev->transport_type == IBV_TRANSPORT_IB, "node type %d",
	      dev->node_type);
	return NULL;
}

static why_t strings(struct cf *t)
{
	int i;

	t->err = 0;
	CHECK(strstr(ibv_node_type_str(t->dev->ctx->device->node_type),
		     "channel adapter"), "node type");
	CHECK(strcasestr(ibv_port_state_str(IBV_PORT_ACTIVE), "active"),
	      "port state");
	for (i = IBV_EVENT_CQ_ERR; i <= IBV_EVENT_WQ_FATAL; i++)
		CHECK(strcmp(ibv_event_type_str(i), "unknown"), "event %d", i);
	for (i = IBV_WC_SUCCESS; i <= IBV_WC_TM_RNDV_INCOMPLETE; i++)
		CHECK(strcmp(ibv_wc_status_str(i), "unknown"), "status %d", i);
	return NULL;
}

static why_t rates(struct cf *t)
{
	static const struct { enum ibv_rate rate; int mbps, mult; } known[] = {
		{ IBV_RATE_2_5_GBPS, 2500, 1 }, { IBV_RATE_5_GBPS, 5000, 2 },
		{ IBV_RATE_10_GBPS, 10000, 4 }, { IBV_RATE_40_GBPS, 40000, 16 },
		{ IBV_RATE_120_GBPS, 120000, 48 },
	};
	size_t i;

	t->err = 0;
	for (i = 0; i < ARRAY_SIZE(known); i++)
		CHECK(ibv_rate_to_mbps(known[i].rate) == known[i].mbps &&
		      mbps_to_ibv_rate(known[i].mbps) == known[i].rate &&
		      ibv_rate_to_mult(known[i].rate) == known[i].mult &&
		      mult_to_ibv_rate(known[i].mult) == known[i].rate,
		      "%d Mbit/s", known[i].mbps);
	return NULL;
}

static why_t inc_rkey(struct cf *t)
{
	t->err = 0;
	CHECK(ibv_inc_rkey(0x1234) == 0x1235 && ibv_inc_rkey(0x12ff) == 0x1200,
	      "%#x", ibv_inc_rkey(0x12ff));
	return NULL;
}

/* This kernel copies what is pinned when a process forks. */
static why_t fork_safe(struct cf *t)
{
	CHECK(ibv_is_fork_initialized() == IBV_FORK_UNNEEDED, "%d",
	      ibv_is_fork_initialized());
	t->err = ibv_fork_init();
	CHECK(ibv_is_fork_initialized() != IBV_FORK_DISABLED, "disabled");
	return NULL;
}

static why_t domains(struct cf *t)
{
	struct ibv_pd *pd[64];
	int i;

	for (i = 0; i < 64; i++) {
		pd[i] = ibv_alloc_pd(t->dev->ctx);
		CHECK(pd[i], "PD %d: %s", i, strerror(errno));
	}
	t->err = 0;
	while (i--)
		t->err |= ibv_dealloc_pd(pd[i]);
	return NULL;
}

static why_t comp_channel(struct cf *t)
{
	struct ibv_comp_channel *chan = ibv_create_comp_channel(t->dev->ctx);

	TRY(cf_got(t, chan));
	CHECK(chan && chan->fd >= 0 && chan->context == t->dev->ctx,
	      "no channel");
	CHECK(!ibv_destroy_comp_channel(chan), "ibv_destroy_comp_channel");
	return NULL;
}

/* Destroying waits until all events that were taken are acknowledged. */

struct waiter {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	int err;
};

static void *destroys(void *arg)
{
	struct waiter *w = arg;

	w->err = w->qp ? ibv_destroy_qp(w->qp) : ibv_destroy_cq(w->cq);
	return NULL;
}

static why_t waits(struct cf *t, struct waiter *w, void (*ack)(void *what),
		   void *what)
{
	struct timespec soon;
	pthread_t thread;
	int early;

	CHECK(!pthread_create(&thread, NULL, destroys, w), "pthread_create");
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec++;
	early = pthread_timedjoin_np(thread, NULL, &soon);
	if (early) {
		ack(what);
		pthread_join(thread, NULL);
	}
	CHECK(early, "it didn't wait");
	t->err = w->err;
	return NULL;
}

static void ack_cq(void *what)
{
	ibv_ack_cq_events(what, 1);
}

static void ack_async(void *what)
{
	ibv_ack_async_event(what);
}

static why_t cq_waits(struct cf *t)
{
	struct ibv_recv_wr recv = { .wr_id = CF_RECV }, *bad;
	struct waiter w = {};
	void *ctx;

	CHECK(!ibv_req_notify_cq(t->p->b.rcq, 0), "ibv_req_notify_cq");
	CHECK(!ibv_post_recv(t->p->b.qp, &recv, &bad), "ibv_post_recv");
	TRY(vt_ep_state(&t->p->b, IBV_QPS_ERR));
	CHECK(!ibv_get_cq_event(t->p->b.chan, &w.cq, &ctx), "no event");
	CHECK(!ibv_destroy_qp(t->p->b.qp), "ibv_destroy_qp");
	t->p->b.qp = NULL;
	t->p->b.rcq = NULL;
	return waits(t, &w, ack_cq, w.cq);
}

static why_t qp_waits(struct cf *t)
{
	struct waiter w = { .qp = t->p->b.qp };
	struct ibv_async_event ev;
	int i;

	TRY(vt_ep_state(&t->p->b, IBV_QPS_ERR));
	for (i = 0; i < 50; i++) {
		if (!ibv_get_async_event(t->p->b.dev->ctx, &ev))
			break;
		vt_sleep_ms(100);
	}
	CHECK(i < 50 && ev.event_type == IBV_EVENT_QP_LAST_WQE_REACHED &&
	      ev.element.qp == w.qp, "no event of the QP");
	t->p->b.qp = NULL;
	return waits(t, &w, ack_async, &ev);
}

/* Importing what another process has shared: not with this provider. */

static why_t import_device(struct cf *t)
{
	int fd = dup(t->dev->ctx->cmd_fd);
	struct ibv_context *ctx;

	errno = 0;
	ctx = ibv_import_device(fd);
	TRY(cf_got(t, ctx));
	close(fd);
	return NULL;
}

static why_t import_pd(struct cf *t)
{
	errno = 0;
	return cf_got(t, ibv_import_pd(t->dev->ctx, 1));
}

static why_t import_mr(struct cf *t)
{
	errno = 0;
	return cf_got(t, ibv_import_mr(t->dev->pd, 1));
}

static why_t import_dm(struct cf *t)
{
	errno = 0;
	return cf_got(t, ibv_import_dm(t->dev->ctx, 1));
}

/* Without an import there is nothing that they could end. */
static why_t unimport(struct cf *t)
{
	ibv_unimport_pd(t->p->a.dev->pd);
	ibv_unimport_mr(t->p->a.buf.mr);
	t->err = 0;
	return vt_ping(t->p);
}

static why_t data_in_order(struct cf *t)
{
	t->err = 0;
	CHECK(!ibv_query_qp_data_in_order(t->p->a.qp, IBV_WR_RDMA_WRITE, 0),
	      "claims an order between bytes");
	return NULL;
}

static why_t srq_num(struct cf *t)
{
	uint32_t num;

	CHECK(t->p->b.qp->srq, "no SRQ");
	t->err = ibv_get_srq_num(t->p->b.qp->srq, &num);
	return NULL;
}

#define DEV(page_, says, what, fn)					\
	{ page_, says, what, fn, .stage = CF_DEVICE }
#define LACKS(page_, fn)						\
	{ page_, "the call", "any use", fn, .stage = CF_DEVICE,		\
	  .err = EOPNOTSUPP, .via = CF_LACKING }

static const struct cf_row rows[] = {
	DEV("ibv_get_device_list", "NULL-terminated, and their number",
	    "ibv_get_device_list, ibv_free_device_list", device_list),
	DEV("ibv_open_device", "stays when the list is freed",
	    "ibv_open_device, ibv_close_device", open_close),
	DEV("ibv_get_device_name", "name, GUID, index",
	    "ibv_get_device_name, ibv_get_device_guid, ibv_get_device_index",
	    identity),
	DEV("ibv_event_type_str", "a string for each value",
	    "ibv_node_type_str, ibv_port_state_str, ibv_event_type_str",
	    strings),
	DEV("ibv_rate_to_mbps", "IBV_RATE_5_GBPS is 5000, and 2 times the base",
	    "ibv_rate_to_mbps, ibv_rate_to_mult and back", rates),
	DEV("ibv_inc_rkey", "increments the 8 least significant bits",
	    "ibv_inc_rkey", inc_rkey),
	DEV("ibv_fork_init", "IBV_FORK_UNNEEDED, not IBV_FORK_ENABLED nor "
	    "IBV_FORK_DISABLED", "ibv_fork_init, ibv_is_fork_initialized",
	    fork_safe),
	DEV("ibv_alloc_pd", "allocates a PD", "64: ibv_alloc_pd, ibv_dealloc_pd",
	    domains),
	DEV("ibv_create_comp_channel", "a file descriptor",
	    "ibv_create_comp_channel, ibv_destroy_comp_channel",
	    comp_channel),
	{ "ibv_ack_cq_events", "all events must be acked",
	  "ibv_destroy_cq waits for it", cq_waits, .err = 0 },
	{ "ibv_ack_async_event", "all events must be acked",
	  "ibv_destroy_qp waits for it", qp_waits, .prep = cf_with_srq },
	{ "ibv_query_qp_data_in_order", "0: not guaranteed", "RDMA_WRITE",
	  data_in_order, .err = 0 },
	{ "ibv_get_srq_num", "of an XRC SRQ", "a basic SRQ", srq_num,
	  .prep = cf_with_srq, .err = EOPNOTSUPP, .via = CF_LACKING },
	LACKS("ibv_import_device", import_device),
	LACKS("ibv_import_pd", import_pd), LACKS("ibv_import_mr", import_mr),
	LACKS("ibv_import_dm", import_dm),
	{ "ibv_import_pd", "without an import they do nothing",
	  "ibv_unimport_pd, ibv_unimport_mr, ibv_unimport_dm", unimport,
	  .via = CF_LACKING },
};

CF_TABLE(10, "Devices, domains, channels", rows);
