// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Two ends of rdma_cm(7), each in the namespace of its device. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include "cm.h"

/* The verdict of a call that returns 0, or -1 and errno */
why_t cm_ret(struct cf *t, int ret)
{
	CHECK(!ret || ret == -1, "it returns %d", ret);
	t->err = ret ? errno : 0;
	return NULL;
}

/* The address behind a device's GID; an IPv4 one fits in as well. */
void cm_addr(const struct vt_dev *dev, uint16_t port, struct sockaddr_in6 *sa)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)sa;

	memset(sa, 0, sizeof(*sa));
	if (vt_opts.family == 4) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		memcpy(&v4->sin_addr, dev->gid.raw + 12, 4);
		return;
	}
	sa->sin6_family = AF_INET6;
	sa->sin6_port = htons(port);
	memcpy(&sa->sin6_addr, dev->gid.raw, 16);
}

/* An identifier belongs to the namespace in which it is made. */
why_t cm_make(struct cm *c, struct cm_end *end, struct rdma_cm_id **id)
{
	vt_enter_netns(end->dev);
	CHECK(!rdma_create_id(end->ch, id, c, c->ps), "rdma_create_id: %s",
	      strerror(errno));
	return NULL;
}

static void ack(struct cm_end *end)
{
	if (end->ev)
		rdma_ack_cm_event(end->ev);
	end->ev = NULL;
}

static why_t get(struct cm_end *end, int ms)
{
	struct pollfd pfd = { .fd = end->ch->fd, .events = POLLIN };

	ack(end);
	if (poll(&pfd, 1, ms) <= 0)
		return NULL;
	CHECK(!rdma_get_cm_event(end->ch, &end->ev), "rdma_get_cm_event: %s",
	      strerror(errno));
	return NULL;
}

/* The next event is of this type; who it introduces becomes the end's own. */
why_t cm_expect(struct cm_end *end, enum rdma_cm_event_type type, int ms)
{
	TRY(get(end, ms));
	CHECK(end->ev, "no %s", rdma_event_str(type));
	CHECK(end->ev->event == type, "%s (status %d), not %s",
	      rdma_event_str(end->ev->event), end->ev->status,
	      rdma_event_str(type));
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		end->id = end->ev->id;
	return NULL;
}

why_t cm_silent(struct cm_end *end, int ms)
{
	TRY(get(end, ms));
	CHECK(!end->ev, "%s", rdma_event_str(end->ev->event));
	return NULL;
}

why_t cm_listen(struct cm *c)
{
	struct sockaddr_in6 sa;

	TRY(cm_make(c, &c->b, &c->listen));
	cm_addr(c->b.dev, 0, &sa);
	CHECK(!rdma_bind_addr(c->listen, SA(&sa)), "rdma_bind_addr: %s",
	      strerror(errno));
	CHECK(!rdma_listen(c->listen, 4), "rdma_listen: %s", strerror(errno));
	return NULL;
}

why_t cm_resolve_addr(struct cm *c)
{
	uint16_t port = c->listen ? ntohs(rdma_get_src_port(c->listen)) : 7471;
	struct sockaddr_in6 sa;

	if (!c->a.id)
		TRY(cm_make(c, &c->a, &c->a.id));
	cm_addr(c->b.dev, port, &sa);
	CHECK(!rdma_resolve_addr(c->a.id, NULL, SA(&sa), 5000),
	      "rdma_resolve_addr: %s", strerror(errno));
	return cm_expect(&c->a, RDMA_CM_EVENT_ADDR_RESOLVED, VT_LONG);
}

/* A knows the way to B. */
why_t cm_resolve(struct cm *c)
{
	TRY(cm_resolve_addr(c));
	CHECK(!rdma_resolve_route(c->a.id, 5000), "rdma_resolve_route: %s",
	      strerror(errno));
	return cm_expect(&c->a, RDMA_CM_EVENT_ROUTE_RESOLVED, VT_LONG);
}

struct ibv_qp_init_attr cm_qp_attr(struct cm *c)
{
	return (struct ibv_qp_init_attr){
		.cap = { .max_send_wr = 16, .max_recv_wr = 16,
			 .max_send_sge = 4, .max_recv_sge = 4,
			 .max_inline_data = 64 },
		.qp_type = c->ps == RDMA_PS_TCP ? IBV_QPT_RC : IBV_QPT_UD,
	};
}

why_t cm_qp(struct cm *c, struct cm_end *end)
{
	struct ibv_qp_init_attr init = cm_qp_attr(c);

	vt_enter_netns(end->dev);
	CHECK(!rdma_create_qp(end->id, NULL, &init), "rdma_create_qp: %s",
	      strerror(errno));
	return NULL;
}

/* A has a QP and has asked; B has heard of it. */
why_t cm_request(struct cm *c)
{
	if (!c->listen)
		TRY(cm_listen(c));
	TRY(cm_resolve(c));
	TRY(cm_qp(c, &c->a));
	CHECK(!rdma_connect(c->a.id, &c->param), "rdma_connect: %s",
	      strerror(errno));
	return cm_expect(&c->b, RDMA_CM_EVENT_CONNECT_REQUEST, VT_LONG);
}

why_t cm_accept(struct cm *c)
{
	if (!c->b.id->qp)
		TRY(cm_qp(c, &c->b));
	vt_enter_netns(c->b.dev);
	CHECK(!rdma_accept(c->b.id, &c->param), "rdma_accept: %s",
	      strerror(errno));
	return NULL;
}

why_t cm_connect(struct cm *c)
{
	TRY(cm_request(c));
	TRY(cm_accept(c));
	TRY(cm_expect(&c->a, RDMA_CM_EVENT_ESTABLISHED, VT_LONG));
	/* who answers a datagram service isn't told what came of it */
	if (c->ps != RDMA_PS_TCP)
		return NULL;
	return cm_expect(&c->b, RDMA_CM_EVENT_ESTABLISHED, VT_LONG);
}

why_t cm_qp_is(struct cm_end *end, enum ibv_qp_state want)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK(!ibv_query_qp(end->id->qp, &attr, IBV_QP_STATE, &init),
	      "ibv_query_qp");
	CHECK(attr.qp_state == want, "%c's QP is in state %d, not %d",
	      end->dev == &vt_devs[0] ? 'A' : 'B', attr.qp_state, want);
	return NULL;
}

static void close_end(struct cm_end *end)
{
	ack(end);
	if (end->id && end->id->qp)
		rdma_destroy_qp(end->id);
	if (end->id && end->id->srq)
		rdma_destroy_srq(end->id);
	if (end->id)
		rdma_destroy_id(end->id);
}

why_t cm_act(struct cf *t)
{
	cm_case fn = (cm_case)t->row->arg;
	struct cm c = {
		.t = t, .ps = RDMA_PS_TCP,
		.a.dev = &vt_devs[0], .b.dev = &vt_devs[1],
		.param = { .responder_resources = 2, .initiator_depth = 3,
			   .retry_count = 5, .rnr_retry_count = 6 },
	};
	why_t why = "rdma_create_event_channel";

	if (t->row->arg2)
		c.ps = t->row->arg2;
	c.a.ch = rdma_create_event_channel();
	c.b.ch = rdma_create_event_channel();
	if (c.a.ch && c.b.ch)
		why = fn(t, &c);
	close_end(&c.a);
	close_end(&c.b);
	if (c.listen)
		rdma_destroy_id(c.listen);
	if (c.a.ch)
		rdma_destroy_event_channel(c.a.ch);
	if (c.b.ch)
		rdma_destroy_event_channel(c.b.ch);
	vt_enter_netns(t->dev);
	return why;
}
