// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The calls of rdma_cm(7) that find, bind and connect. What each of them has
 * to lead to is the event in its row. Without a device some of them end the
 * program, inside of the library; so that isn't here.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include "cm.h"

/* Channels and identifiers */

static why_t channel(struct cf *t)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	TRY(cf_got(t, ch));
	CHECK(ch && ch->fd >= 0, "no file descriptor");
	rdma_destroy_event_channel(ch);
	return NULL;
}

static why_t create_id(struct cf *t, struct cm *c)
{
	TRY(cm_ret(t, rdma_create_id(c->a.ch, &c->a.id, c, t->row->arg2)));
	if (t->err)
		return NULL;
	CHECK(c->a.id->context == c && c->a.id->channel == c->a.ch &&
	      c->a.id->ps == (enum rdma_port_space)t->row->arg2 &&
	      !c->a.id->verbs, "the identifier says something else");
	CHECK(c->a.id->qp_type == (t->row->arg2 == RDMA_PS_UDP ||
				   t->row->arg2 == RDMA_PS_IPOIB ?
				   IBV_QPT_UD : IBV_QPT_RC), "qp_type %d",
	      c->a.id->qp_type);
	return NULL;
}

/* Without a channel each call waits for what comes of it. */
static why_t synchronous(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 sa;

	vt_enter_netns(c->a.dev);
	CHECK(!rdma_create_id(NULL, &c->a.id, NULL, RDMA_PS_TCP),
	      "rdma_create_id: %s", strerror(errno));
	cm_addr(c->b.dev, 7471, &sa);
	TRY(cm_ret(t, rdma_resolve_addr(c->a.id, NULL, SA(&sa), 5000)));
	CHECK(c->a.id->verbs, "it isn't bound to a device");
	return cm_ret(t, rdma_resolve_route(c->a.id, 5000));
}

static void *destroyer(void *arg)
{
	struct cm *c = arg;

	rdma_destroy_id(c->a.id);
	c->a.id = NULL;
	return NULL;
}

static why_t destroy_unacked(struct cf *t, struct cm *c)
{
	struct timespec soon;
	pthread_t thread;
	int early;

	TRY(cm_resolve_addr(c));
	CHECK(!pthread_create(&thread, NULL, destroyer, c), "pthread_create");
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec++;
	early = pthread_timedjoin_np(thread, NULL, &soon);
	if (early) {
		t->err = rdma_ack_cm_event(c->a.ev);
		c->a.ev = NULL;
		pthread_join(thread, NULL);
	}
	CHECK(early, "it didn't wait");
	CHECK(!c->a.id, "it isn't destroyed");
	return NULL;
}

static why_t ack_nothing(struct cf *t)
{
	return cm_ret(t, rdma_ack_cm_event(NULL));
}

static why_t no_event_yet(struct cf *t, struct cm *c)
{
	TRY(cm_make(c, &c->a, &c->a.id));
	t->err = 0;
	return cm_silent(&c->a, 100);
}

static why_t event_names(struct cf *t)
{
	static const char * const names[] = {
		"RDMA_CM_EVENT_ADDR_RESOLVED", "RDMA_CM_EVENT_ADDR_ERROR",
		"RDMA_CM_EVENT_ROUTE_RESOLVED", "RDMA_CM_EVENT_ROUTE_ERROR",
		"RDMA_CM_EVENT_CONNECT_REQUEST",
		"RDMA_CM_EVENT_CONNECT_RESPONSE",
		"RDMA_CM_EVENT_CONNECT_ERROR", "RDMA_CM_EVENT_UNREACHABLE",
		"RDMA_CM_EVENT_REJECTED", "RDMA_CM_EVENT_ESTABLISHED",
		"RDMA_CM_EVENT_DISCONNECTED", "RDMA_CM_EVENT_DEVICE_REMOVAL",
		"RDMA_CM_EVENT_MULTICAST_JOIN",
		"RDMA_CM_EVENT_MULTICAST_ERROR", "RDMA_CM_EVENT_ADDR_CHANGE",
		"RDMA_CM_EVENT_TIMEWAIT_EXIT",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		CHECK(!strcmp(rdma_event_str(i), names[i]), "%zu is '%s'", i,
		      rdma_event_str(i));
	t->err = 0;
	return NULL;
}

static why_t devices(struct cf *t)
{
	struct ibv_context **list;
	int n = -1, i, found = 0;

	list = rdma_get_devices(&n);
	TRY(cf_got(t, list));
	for (i = 0; list && list[i]; i++)
		found += !strcmp(ibv_get_device_name(list[i]->device),
				 t->dev->name);
	if (list)
		rdma_free_devices(list);
	CHECK(i == n, "%d of %d devices", i, n);
	CHECK(found == 1, "%s is there %d times", t->dev->name, found);
	return NULL;
}

/* Addresses */

static why_t bind_to(struct cf *t, struct cm *c, struct sockaddr_in6 *sa)
{
	if (!c->a.id)
		TRY(cm_make(c, &c->a, &c->a.id));
	return cm_ret(t, rdma_bind_addr(c->a.id, SA(sa)));
}

static why_t bind_own(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 sa, got;

	cm_addr(c->a.dev, 0, &sa);
	TRY(bind_to(t, c, &sa));
	CHECK(c->a.id->verbs && c->a.id->port_num == VT_PORT,
	      "it isn't bound to a port");
	CHECK(!strcmp(ibv_get_device_name(c->a.id->verbs->device),
		      c->a.dev->name), "bound to %s",
	      ibv_get_device_name(c->a.id->verbs->device));
	CHECK(rdma_get_src_port(c->a.id), "no port was chosen");
	memcpy(&got, rdma_get_local_addr(c->a.id), sizeof(got));
	cm_addr(c->a.dev, ntohs(rdma_get_src_port(c->a.id)), &sa);
	CHECK(!memcmp(&got, &sa, vt_opts.family == 4 ?
		      sizeof(struct sockaddr_in) : 24), "another address");
	return NULL;
}

static why_t bind_any(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 sa = {
		.sin6_family = vt_opts.family == 4 ? AF_INET : AF_INET6,
	};

	TRY(bind_to(t, c, &sa));
	CHECK(!c->a.id->verbs, "bound to a device");
	CHECK(rdma_get_src_port(c->a.id), "no port was chosen");
	return NULL;
}

static why_t bind_foreign(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 sa;

	cm_addr(c->b.dev, 0, &sa);
	return bind_to(t, c, &sa);
}

static why_t bind_family(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 sa = { .sin6_family = AF_UNIX };

	return bind_to(t, c, &sa);
}

static why_t bind_twice(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 sa;

	cm_addr(c->a.dev, 0, &sa);
	TRY(bind_to(t, c, &sa));
	CHECK(!t->err, "rdma_bind_addr: %s", strerror(t->err));
	return bind_to(t, c, &sa);
}

static why_t bind_used(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 sa;
	struct rdma_cm_id *other;

	cm_addr(c->a.dev, 0, &sa);
	TRY(bind_to(t, c, &sa));
	CHECK(!t->err, "rdma_bind_addr: %s", strerror(t->err));
	cm_addr(c->a.dev, ntohs(rdma_get_src_port(c->a.id)), &sa);
	TRY(cm_make(c, &c->a, &other));
	TRY(cm_ret(t, rdma_bind_addr(other, SA(&sa))));
	rdma_destroy_id(other);
	return NULL;
}

static why_t resolve_addr(struct cf *t, struct cm *c)
{
	TRY(cm_resolve_addr(c));
	t->cm = c->a.ev->event;
	CHECK(c->a.id->verbs && c->a.id->pd, "no device");
	CHECK(rdma_get_local_addr(c->a.id)->sa_family ==
	      (vt_opts.family == 4 ? AF_INET : AF_INET6), "no local address");
	return NULL;
}

static why_t resolve_to(struct cf *t, struct cm *c, const char *v4,
			const char *v6)
{
	struct sockaddr_in *sin;
	struct sockaddr_in6 sa;

	cm_addr(c->b.dev, 7471, &sa);
	sin = (struct sockaddr_in *)&sa;
	if (vt_opts.family == 4)
		inet_pton(AF_INET, v4, &sin->sin_addr);
	else
		inet_pton(AF_INET6, v6, &sa.sin6_addr);
	TRY(cm_make(c, &c->a, &c->a.id));
	return cm_ret(t, rdma_resolve_addr(c->a.id, NULL, SA(&sa), 1000));
}

/* On the link, but nobody has it. */
static why_t resolve_nobody(struct cf *t, struct cm *c)
{
	TRY(resolve_to(t, c, "10.7.0.99", "fd07::99"));
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_ADDR_ERROR, VT_LONG));
	CHECK(c->a.ev->status < 0, "status %d", c->a.ev->status);
	t->cm = c->a.ev->event;
	return NULL;
}

static why_t resolve_nowhere(struct cf *t, struct cm *c)
{
	return resolve_to(t, c, "203.0.113.7", "2001:db8::7");
}

static why_t resolve_twice(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 sa;

	TRY(cm_resolve_addr(c));
	cm_addr(c->b.dev, 7471, &sa);
	return cm_ret(t, rdma_resolve_addr(c->a.id, NULL, SA(&sa), 1000));
}

static why_t resolve_route(struct cf *t, struct cm *c)
{
	TRY(cm_resolve(c));
	t->cm = c->a.ev->event;
	CHECK(c->a.id->route.num_paths == 1 && c->a.id->route.path_rec,
	      "%d paths", c->a.id->route.num_paths);
	return NULL;
}

/* Queue pairs of an identifier */

static why_t create_qp(struct cf *t, struct cm *c)
{
	struct ibv_qp_init_attr init = cm_qp_attr(c);

	TRY(cm_resolve_addr(c));
	TRY(cm_ret(t, rdma_create_qp(c->a.id, NULL, &init)));
	CHECK(!t->err, "%s", strerror(t->err));
	CHECK(c->a.id->qp && c->a.id->send_cq && c->a.id->recv_cq &&
	      c->a.id->send_cq_channel && c->a.id->recv_cq_channel,
	      "CQs and channels are missing");
	CHECK(c->a.id->qp->pd == c->a.id->pd, "not the default PD");
	TRY(cm_qp_is(&c->a, c->ps == RDMA_PS_TCP ? IBV_QPS_INIT : IBV_QPS_RTS));
	rdma_destroy_qp(c->a.id);
	CHECK(!c->a.id->qp, "rdma_destroy_qp leaves it there");
	return NULL;
}

static why_t create_own(struct cf *t, struct cm *c)
{
	struct ibv_qp_init_attr init = cm_qp_attr(c);
	struct ibv_cq *cq;
	struct ibv_pd *pd;

	TRY(cm_resolve_addr(c));
	pd = ibv_alloc_pd(c->a.id->verbs);
	cq = ibv_create_cq(c->a.id->verbs, 32, NULL, NULL, 0);
	CHECK(pd && cq, "no PD, or no CQ");
	init.send_cq = cq;
	init.recv_cq = cq;
	TRY(cm_ret(t, rdma_create_qp(c->a.id, pd, &init)));
	CHECK(!t->err, "%s", strerror(t->err));
	CHECK(c->a.id->qp->pd == pd && c->a.id->qp->send_cq == cq,
	      "another PD or CQ");
	rdma_destroy_qp(c->a.id);
	CHECK(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd), "they are in use");
	return NULL;
}

static why_t create_second(struct cf *t, struct cm *c)
{
	struct ibv_qp_init_attr init = cm_qp_attr(c);

	TRY(cm_resolve_addr(c));
	TRY(cm_qp(c, &c->a));
	return cm_ret(t, rdma_create_qp(c->a.id, NULL, &init));
}

static why_t create_odd_type(struct cf *t, struct cm *c)
{
	struct ibv_qp_init_attr init = cm_qp_attr(c);

	init.qp_type = IBV_QPT_UD;
	TRY(cm_resolve_addr(c));
	return cm_ret(t, rdma_create_qp(c->a.id, NULL, &init));
}

static why_t create_srq(struct cf *t, struct cm *c)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8, .max_sge = 1 } };

	TRY(cm_resolve_addr(c));
	TRY(cm_ret(t, rdma_create_srq(c->a.id, NULL, &srq)));
	CHECK(!t->err, "%s", strerror(t->err));
	CHECK(c->a.id->srq && srq.attr.max_wr >= 8, "no SRQ");
	TRY(cm_qp(c, &c->a));
	CHECK(c->a.id->qp->srq == c->a.id->srq, "the QP doesn't use it");
	rdma_destroy_qp(c->a.id);
	rdma_destroy_srq(c->a.id);
	CHECK(!c->a.id->srq, "rdma_destroy_srq leaves it there");
	return NULL;
}

static why_t srq_ex(struct cf *t, struct cm *c)
{
	struct ibv_srq_init_attr_ex srq = {
		.attr = { .max_wr = 8, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE,
		.srq_type = t->row->more,
	};

	TRY(cm_resolve_addr(c));
	errno = 0;
	TRY(cm_ret(t, rdma_create_srq_ex(c->a.id, &srq)));
	CHECK(t->err || c->a.id->srq, "no SRQ");
	return NULL;
}

static why_t qp_ex(struct cf *t, struct cm *c)
{
	struct ibv_qp_init_attr_ex ex = {
		.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND |
				  IBV_QP_EX_WITH_RDMA_WRITE,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	TRY(cm_resolve_addr(c));
	TRY(cm_ret(t, rdma_create_qp_ex(c->a.id, &ex)));
	CHECK(t->err || ibv_qp_to_qp_ex(c->a.id->qp), "no extended QP");
	return NULL;
}

/* Listening */

/* row->arg2: without an address */
static why_t listen_on(struct cf *t, struct cm *c)
{
	struct sockaddr_in6 sa = {
		.sin6_family = vt_opts.family == 4 ? AF_INET : AF_INET6,
	};
	bool any = t->row->arg2 == RDMA_PS_TCP;

	TRY(cm_make(c, &c->b, &c->listen));
	if (!any)
		cm_addr(c->b.dev, 0, &sa);
	c->ps = RDMA_PS_TCP;
	CHECK(!rdma_bind_addr(c->listen, SA(&sa)), "rdma_bind_addr");
	TRY(cm_ret(t, rdma_listen(c->listen, 1)));
	CHECK(!t->err, "%s", strerror(t->err));
	CHECK(!c->listen->verbs == any, "bound to a device, or not");
	TRY(cm_request(c));
	t->cm = c->b.ev->event;
	CHECK(c->b.ev->listen_id == c->listen && c->b.id != c->listen &&
	      c->b.id->verbs, "identifiers of the request");
	CHECK(c->b.id->context == c->listen->context, "context");
	return NULL;
}

/* Without an address it listens everywhere. */
static why_t listen_unbound(struct cf *t, struct cm *c)
{
	TRY(cm_make(c, &c->b, &c->listen));
	TRY(cm_ret(t, rdma_listen(c->listen, 1)));
	return NULL;
}

static why_t listen_connected(struct cf *t, struct cm *c)
{
	TRY(cm_connect(c));
	return cm_ret(t, rdma_listen(c->a.id, 1));
}

/* Connecting */

static const char hello[56] = "the most that a request has room for, 56 bytes";
static const char answer[196] = "and up to 196 in the answer";

static void with_data(struct cm *c, const void *data, size_t len)
{
	c->param.private_data = data;
	c->param.private_data_len = len;
}

static why_t has_data(const struct cm_end *end, const void *data, size_t len)
{
	const struct rdma_conn_param *p = &end->ev->param.conn;

	if (end->id->ps != RDMA_PS_TCP)
		p = (const void *)&end->ev->param.ud;
	CHECK(p->private_data_len >= len, "%u bytes of private data",
	      p->private_data_len);
	CHECK(!memcmp(p->private_data, data, len), "other private data");
	return NULL;
}

/* What one side offers, the other sees from its own side. */
static why_t sees(const struct cm_end *end, const struct cm_end *peer)
{
	const struct rdma_conn_param *p = &end->ev->param.conn;

	CHECK(p->responder_resources == 3 && p->initiator_depth == 2,
	      "responder_resources %u, initiator_depth %u",
	      p->responder_resources, p->initiator_depth);
	CHECK(p->rnr_retry_count == 6, "rnr_retry_count %u",
	      p->rnr_retry_count);
	CHECK(p->qp_num == peer->id->qp->qp_num && !p->srq, "qp_num %#x",
	      p->qp_num);
	return NULL;
}

static why_t connect_rc(struct cf *t, struct cm *c)
{
	with_data(c, hello, sizeof(hello));
	TRY(cm_request(c));
	TRY(has_data(&c->b, hello, sizeof(hello)));
	TRY(sees(&c->b, &c->a));
	CHECK(c->b.ev->param.conn.retry_count == 5, "retry_count %u",
	      c->b.ev->param.conn.retry_count);
	with_data(c, answer, sizeof(answer));
	TRY(cm_accept(c));
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_ESTABLISHED, VT_LONG));
	TRY(has_data(&c->a, answer, sizeof(answer)));
	TRY(sees(&c->a, &c->b));
	TRY(cm_expect(&c->b, RDMA_CM_EVENT_ESTABLISHED, VT_LONG));
	t->cm = c->b.ev->event;
	TRY(cm_qp_is(&c->a, IBV_QPS_RTS));
	return cm_qp_is(&c->b, IBV_QPS_RTS);
}

/* The datagram service: B's answer is where A can send to. */
static why_t connect_ud(struct cf *t, struct cm *c)
{
	const struct rdma_ud_param *ud;

	with_data(c, hello, sizeof(hello));
	TRY(cm_request(c));
	TRY(has_data(&c->b, hello, sizeof(hello)));
	TRY(cm_accept(c));
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_ESTABLISHED, VT_LONG));
	t->cm = c->a.ev->event;
	ud = &c->a.ev->param.ud;
	CHECK(ud->qp_num == c->b.id->qp->qp_num, "qp_num %#x", ud->qp_num);
	CHECK(ud->qkey == RDMA_UDP_QKEY, "qkey %#x", ud->qkey);
	CHECK(ud->ah_attr.is_global &&
	      !memcmp(&ud->ah_attr.grh.dgid, &c->b.dev->gid, 16), "ah_attr");
	return NULL;
}

static why_t connect_srq(struct cf *t, struct cm *c)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8, .max_sge = 1 } };

	TRY(cm_listen(c));
	TRY(cm_resolve(c));
	CHECK(!rdma_create_srq(c->a.id, NULL, &srq), "rdma_create_srq");
	TRY(cm_qp(c, &c->a));
	TRY(cm_ret(t, rdma_connect(c->a.id, &c->param)));
	TRY(cm_expect(&c->b, RDMA_CM_EVENT_CONNECT_REQUEST, VT_LONG));
	CHECK(c->b.ev->param.conn.srq == 1, "srq %u",
	      c->b.ev->param.conn.srq);
	return NULL;
}

static why_t connect_long(struct cf *t, struct cm *c)
{
	TRY(cm_listen(c));
	TRY(cm_resolve(c));
	TRY(cm_qp(c, &c->a));
	with_data(c, answer, sizeof(hello) + 1);
	return cm_ret(t, rdma_connect(c->a.id, &c->param));
}

static why_t connect_early(struct cf *t, struct cm *c)
{
	TRY(cm_resolve_addr(c));
	return cm_ret(t, rdma_connect(c->a.id, &c->param));
}

/* Nobody listens; 8 is "invalid service ID". */
static why_t connect_nobody(struct cf *t, struct cm *c)
{
	TRY(cm_resolve(c));
	TRY(cm_qp(c, &c->a));
	TRY(cm_ret(t, rdma_connect(c->a.id, &c->param)));
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_REJECTED, VT_LONG));
	t->cm = c->a.ev->event;
	CHECK(c->a.ev->status == 8, "status %d", c->a.ev->status);
	return NULL;
}

/* For UD the status is that of the SIDR REP: 1, not supported. */
static why_t lookup_nobody(struct cf *t, struct cm *c)
{
	TRY(cm_resolve(c));
	TRY(cm_qp(c, &c->a));
	TRY(cm_ret(t, rdma_connect(c->a.id, &c->param)));
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_UNREACHABLE, VT_LONG));
	t->cm = c->a.ev->event;
	CHECK(c->a.ev->status == 1, "status %d", c->a.ev->status);
	return NULL;
}

static why_t accept_nothing(struct cf *t, struct cm *c)
{
	TRY(cm_resolve(c));
	return cm_ret(t, rdma_accept(c->a.id, &c->param));
}

/* Rejecting: 28 is "consumer reject", 35 "vendor option not supported". */
static why_t reject(struct cf *t, struct cm *c, bool ece)
{
	TRY(cm_request(c));
	TRY(cm_ret(t, ece ? rdma_reject_ece(c->b.id, answer, 100) :
			    rdma_reject(c->b.id, answer, 100)));
	CHECK(!t->err, "%s", strerror(t->err));
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_REJECTED, VT_LONG));
	t->cm = c->a.ev->event;
	CHECK(c->a.ev->status == (ece ? 35 : 28), "status %d",
	      c->a.ev->status);
	return has_data(&c->a, answer, 100);
}

static why_t reject_plain(struct cf *t, struct cm *c)
{
	return reject(t, c, false);
}

static why_t reject_ece(struct cf *t, struct cm *c)
{
	return reject(t, c, true);
}

static why_t reject_ud(struct cf *t, struct cm *c)
{
	TRY(cm_request(c));
	TRY(cm_ret(t, rdma_reject(c->b.id, answer, 100)));
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_UNREACHABLE, VT_LONG));
	t->cm = c->a.ev->event;
	CHECK(c->a.ev->status > 0, "status %d", c->a.ev->status);
	return NULL;
}

static why_t reject_nothing(struct cf *t, struct cm *c)
{
	TRY(cm_resolve(c));
	return cm_ret(t, rdma_reject(c->a.id, NULL, 0));
}

/* Parting */

static why_t disconnect(struct cf *t, struct cm *c)
{
	struct ibv_recv_wr wr = { .wr_id = CF_RECV }, *bad;

	TRY(cm_connect(c));
	CHECK(!ibv_post_recv(c->b.id->qp, &wr, &bad), "ibv_post_recv");
	TRY(cm_ret(t, rdma_disconnect(c->a.id)));
	CHECK(!t->err, "%s", strerror(t->err));
	TRY(cm_expect(&c->b, RDMA_CM_EVENT_DISCONNECTED, VT_LONG));
	CHECK(!rdma_disconnect(c->b.id), "the other side: %s", strerror(errno));
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_DISCONNECTED, VT_LONG));
	t->cm = c->a.ev->event;
	TRY(cm_qp_is(&c->a, IBV_QPS_ERR));
	TRY(cm_qp_is(&c->b, IBV_QPS_ERR));
	return vt_poll_status(c->b.id->recv_cq, CF_RECV, IBV_WC_WR_FLUSH_ERR,
			      "B's receive");
}

static why_t timewait(struct cf *t, struct cm *c)
{
	TRY(cm_connect(c));
	CHECK(!rdma_disconnect(c->a.id), "rdma_disconnect");
	TRY(cm_expect(&c->b, RDMA_CM_EVENT_DISCONNECTED, VT_LONG));
	CHECK(!rdma_disconnect(c->b.id), "the other side");
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_DISCONNECTED, VT_LONG));
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_TIMEWAIT_EXIT, 2 * VT_LONG));
	t->cm = c->a.ev->event;
	return NULL;
}

static why_t disconnect_nothing(struct cf *t, struct cm *c)
{
	TRY(cm_resolve(c));
	return cm_ret(t, rdma_disconnect(c->a.id));
}

static why_t addresses(struct cf *t, struct cm *c)
{
	struct sockaddr *local, *peer;

	TRY(cm_connect(c));
	CHECK(rdma_get_src_port(c->a.id) == rdma_get_dst_port(c->b.id) &&
	      rdma_get_dst_port(c->a.id) == rdma_get_src_port(c->b.id) &&
	      rdma_get_dst_port(c->a.id) == rdma_get_src_port(c->listen),
	      "ports");
	local = rdma_get_local_addr(c->a.id);
	peer = rdma_get_peer_addr(c->b.id);
	CHECK(!memcmp(local, peer, vt_opts.family == 4 ?
		      sizeof(struct sockaddr_in) : 24), "A's address");
	local = rdma_get_local_addr(c->b.id);
	peer = rdma_get_peer_addr(c->a.id);
	CHECK(!memcmp(local, peer, vt_opts.family == 4 ?
		      sizeof(struct sockaddr_in) : 24), "B's address");
	t->err = 0;
	return NULL;
}

#define DEV(page_, says, what, fn, want)				\
	{ page_, says, what, fn, .stage = CF_DEVICE, .err = want }
#define CALL(page_, says, what, fn, want)				\
	{ page_, says, what, CM(fn), CF_DEVICE, .err = want }
#define OR(page_, says, what, fn, want, other)				\
	{ page_, says, what, CM(fn), CF_DEVICE, .err = want,		\
	  .or_err = other }
#define UDP(page_, says, what, fn)					\
	{ page_, says, what, CM(fn), CF_DEVICE, .arg2 = RDMA_PS_UDP }
#define GIVES(page_, says, what, fn, event_)				\
	{ page_, says, what, CM(fn), CF_DEVICE,				\
	  .cm = CF_IS(RDMA_CM_EVENT_##event_) }
#define UDP_GIVES(page_, says, what, fn, event_)			\
	{ page_, says, what, CM(fn), CF_DEVICE, .arg2 = RDMA_PS_UDP,	\
	  .cm = CF_IS(RDMA_CM_EVENT_##event_) }
#define ID(ps_, want)							\
	{ "rdma_create_id", "the port space", #ps_, CM(create_id),	\
	  CF_DEVICE, .arg2 = ps_, .err = want }

static const struct cf_row rows[] = {
	DEV("rdma_create_event_channel", "a channel with a file descriptor",
	    "rdma_create_event_channel, rdma_destroy_event_channel", channel,
	    0),
	ID(RDMA_PS_TCP, 0), ID(RDMA_PS_UDP, 0), ID(RDMA_PS_IPOIB, 0),
	ID(RDMA_PS_IB, 0), ID(0x7777, EINVAL),
	CALL("rdma_create_id", "without a channel it is synchronous",
	     "resolving without a channel", synchronous, 0),
	CALL("rdma_destroy_id", "all events must be acked first",
	     "it waits for rdma_ack_cm_event", destroy_unacked, 0),
	DEV("rdma_ack_cm_event", "frees an event", "no event", ack_nothing,
	    EINVAL),
	CALL("rdma_get_cm_event", "events have to be pending", "no event",
	     no_event_yet, 0),
	DEV("rdma_event_str", "a string for each event", "all of them",
	    event_names, 0),
	DEV("rdma_get_devices", "a NULL-terminated array of open devices",
	    "rdma_get_devices, rdma_free_devices", devices, 0),

	CALL("rdma_bind_addr", "bound to a local device; port 0: one is chosen",
	     "an address of the device", bind_own, 0),
	CALL("rdma_bind_addr", "the address may be wildcarded", "any address",
	     bind_any, 0),
	OR("rdma_bind_addr", "a local address", "another host's address",
	   bind_foreign, EADDRNOTAVAIL, ENODEV),
	CALL("rdma_bind_addr", "IPv4 or IPv6", "a family that is none",
	     bind_family, EINVAL),
	CALL("rdma_bind_addr", "of an identifier that isn't bound", "twice",
	     bind_twice, EINVAL),
	CALL("rdma_bind_addr", "a port of one's own", "a port in use",
	     bind_used, EADDRINUSE),

	GIVES("rdma_resolve_addr", "address resolution", "a neighbour",
	      resolve_addr, ADDR_RESOLVED),
	GIVES("rdma_resolve_addr", "rdma_resolve_addr failed",
	      "an address that nobody has", resolve_nobody, ADDR_ERROR),
	OR("rdma_resolve_addr", "-1 on error", "no route", resolve_nowhere,
	   ENETUNREACH, EHOSTUNREACH),
	CALL("rdma_resolve_addr", "-1 on error", "twice", resolve_twice,
	     EINVAL),
	GIVES("rdma_resolve_route", "after rdma_resolve_addr", "a neighbour",
	      resolve_route, ROUTE_RESOLVED),

	CALL("rdma_create_qp", "CQs, channels and a default PD; INIT",
	     "RC: rdma_create_qp, rdma_destroy_qp", create_qp, 0),
	UDP("rdma_create_qp", "CQs, channels and a default PD; ready to send",
	    "UD: rdma_create_qp, rdma_destroy_qp", create_qp),
	CALL("rdma_create_qp", "the PD that is given", "with a PD and a CQ",
	     create_own, 0),
	CALL("rdma_create_qp", "the QP of an identifier", "a second QP",
	     create_second, EINVAL),
	CALL("rdma_create_qp", "the type of the port space",
	     "UD with RDMA_PS_TCP", create_odd_type, EINVAL),
	CALL("rdma_create_srq", "the QPs of the identifier use it",
	     "rdma_create_srq, rdma_destroy_srq", create_srq, 0),

	{ "rdma_create_srq", "a type of SRQ",
	  "rdma_create_srq_ex: IBV_SRQT_BASIC",
	  CM(srq_ex), CF_DEVICE, .more = IBV_SRQT_BASIC, .err = 0 },
	{ "rdma_create_srq", "a type of SRQ",
	  "rdma_create_srq_ex: IBV_SRQT_XRC",
	  CM(srq_ex), CF_DEVICE, .more = IBV_SRQT_XRC, .err = EOPNOTSUPP,
	  .via = CF_LACKING },
	CALL("rdma_create_qp", "extended attributes",
	     "rdma_create_qp_ex with IBV_QP_INIT_ATTR_SEND_OPS_FLAGS", qp_ex,
	     0),

	GIVES("rdma_listen", "restricted to that address and device",
	      "bound to an address", listen_on, CONNECT_REQUEST),
	{ "rdma_listen", "across all devices", "bound to a port only",
	  CM(listen_on), CF_DEVICE, .arg2 = RDMA_PS_TCP,
	  .cm = CF_IS(RDMA_CM_EVENT_CONNECT_REQUEST) },
	CALL("rdma_listen", "rdma_bind_addr comes first; any address otherwise",
	     "not bound", listen_unbound, 0),
	CALL("rdma_listen", "-1 on error", "of a connection", listen_connected,
	     EINVAL),

	GIVES("rdma_connect", "private data, depths and retries",
	      "RC: rdma_connect, rdma_accept", connect_rc, ESTABLISHED),
	UDP_GIVES("rdma_connect", "ah_attr, qp_num, qkey of the remote",
		  "UD: rdma_connect, rdma_accept", connect_ud, ESTABLISHED),
	CALL("rdma_connect", "srq: the sender uses a shared receive queue",
	     "RC with an SRQ", connect_srq, 0),
	CALL("rdma_connect", "private data", "57 bytes of it", connect_long,
	     EINVAL),
	CALL("rdma_connect", "rdma_resolve_route comes first",
	     "before rdma_resolve_route", connect_early, EINVAL),
	GIVES("rdma_connect", "rejected by the remote end point",
	      "RC: nobody listens", connect_nobody, REJECTED),
	UDP_GIVES("rdma_connect", "the status of the SIDR REP",
		  "UD: nobody listens", lookup_nobody, UNREACHABLE),
	CALL("rdma_accept", "a connection request", "no request",
	     accept_nothing, EINVAL),
	GIVES("rdma_reject", "private data in the reject", "RC", reject_plain,
	      REJECTED),
	UDP_GIVES("rdma_reject", "a datagram service lookup", "UD", reject_ud,
		  UNREACHABLE),
	CALL("rdma_reject", "a connection request", "no request",
	     reject_nothing, EINVAL),
	GIVES("rdma_set_local_ece", "rdma_accept, rdma_establish or this",
	      "rdma_reject_ece", reject_ece, REJECTED),
	GIVES("rdma_disconnect", "an event at both; QPs in error, flushed",
	      "of a connection", disconnect, DISCONNECTED),
	CALL("rdma_disconnect", "-1 on error", "no connection",
	     disconnect_nothing, EINVAL),
	GIVES("rdma_get_cm_event", "the QP has exited its timewait state",
	      "after rdma_disconnect", timewait, TIMEWAIT_EXIT),
	CALL("rdma_get_local_addr", "the addresses and ports of both sides",
	     "rdma_get_local_addr, rdma_get_peer_addr, rdma_get_src_port, "
	     "rdma_get_dst_port", addresses, 0),
};

CF_TABLE(180, "Connections: `rdma_cm`", rows);
