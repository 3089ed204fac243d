// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * rdma_cm(7)'s short cuts: endpoints, addresses, and the verbs of an
 * identifier. B serves in a thread of its own, since its calls wait.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include "cm.h"

/* rdma_getaddrinfo(3) */

static void text_addr(const struct vt_dev *dev, char *text)
{
	bool v4 = vt_opts.family == 4;

	inet_ntop(v4 ? AF_INET : AF_INET6, dev->gid.raw + (v4 ? 12 : 0), text,
		  INET6_ADDRSTRLEN);
}

static why_t info(struct cf *t, const struct rdma_addrinfo *hints,
		  const char *node, struct rdma_addrinfo **res)
{
	vt_enter_netns(t->dev);
	CHECK(!rdma_getaddrinfo(node, "7472", hints, res),
	      "rdma_getaddrinfo: %s", strerror(errno));
	return NULL;
}

static why_t addrinfo(struct cf *t)
{
	struct rdma_addrinfo hints = {
		.ai_flags = t->row->arg, .ai_port_space = t->row->arg2,
	};
	struct rdma_addrinfo *res;
	char text[INET6_ADDRSTRLEN];
	bool passive = t->row->arg & RAI_PASSIVE;
	why_t why = NULL;

	if (t->row->arg & RAI_FAMILY)
		hints.ai_family = vt_opts.family == 4 ? AF_INET : AF_INET6;
	text_addr(&vt_devs[passive ? 0 : 1], text);
	TRY(info(t, &hints, text, &res));
	t->err = 0;
	if (res->ai_port_space != (int)t->row->arg2 ||
	    res->ai_qp_type != (t->row->arg2 == RDMA_PS_UDP ? IBV_QPT_UD :
							      IBV_QPT_RC))
		why = because("port space %#x, type %d", res->ai_port_space,
			      res->ai_qp_type);
	else if (!!res->ai_src_len != passive || !res->ai_dst_len != passive)
		why = because("ai_src_len %u, ai_dst_len %u",
			      res->ai_src_len, res->ai_dst_len);
	rdma_freeaddrinfo(res);
	return why;
}

static why_t no_name(struct cf *t)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST }, *res;
	int ret = rdma_getaddrinfo("localhost", "7472", &hints, &res);

	CHECK(ret == EAI_NONAME, "it returns %d", ret);
	t->err = 0;
	return NULL;
}

/* Endpoints: B in a thread */

#define MSG 256

struct server {
	struct cf *t;
	struct rdma_cm_id *listen;
	bool fails;
	char why[256];
	char mem[4 * MSG];	/* what A reads and writes comes third */
	uint32_t rkey;
};

static why_t passive(struct server *s, struct ibv_qp_init_attr *init)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE,
				       .ai_port_space = RDMA_PS_TCP }, *res;
	char text[INET6_ADDRSTRLEN];
	int ret;

	vt_enter_netns(&vt_devs[1]);
	text_addr(&vt_devs[1], text);
	CHECK(!rdma_getaddrinfo(text, "7472", &hints, &res),
	      "rdma_getaddrinfo: %s", strerror(errno));
	ret = rdma_create_ep(&s->listen, res, NULL, init);
	rdma_freeaddrinfo(res);
	CHECK(!ret, "rdma_create_ep: %s", strerror(errno));
	CHECK(!rdma_listen(s->listen, 1), "rdma_listen: %s", strerror(errno));
	return NULL;
}

static why_t got(struct rdma_cm_id *id, bool recv, enum ibv_wc_opcode opcode,
		 void *context, uint32_t len)
{
	struct ibv_wc wc;
	int n = recv ? rdma_get_recv_comp(id, &wc) :
		       rdma_get_send_comp(id, &wc);

	CHECK(n == 1, "%d completions: %s", n, strerror(errno));
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == opcode, "%s, opcode %d",
	      ibv_wc_status_str(wc.status), wc.opcode);
	CHECK(wc.wr_id == (uintptr_t)context, "another context");
	CHECK(!recv || wc.byte_len == len, "%u bytes", wc.byte_len);
	return NULL;
}

/* Receive in two pieces, answer in two; then wait until A has had enough. */
static why_t serve_one(struct server *s, struct rdma_cm_id *id,
		       struct ibv_mr *mr, struct ibv_mr *remote)
{
	struct ibv_sge sg[2] = {
		{ (uintptr_t)s->mem, MSG / 2, mr->lkey },
		{ (uintptr_t)s->mem + MSG / 2, MSG / 2, mr->lkey },
	};

	CHECK(id->qp && id->event, "no QP, or no event");
	CHECK(!rdma_post_recvv(id, s, sg, 2), "rdma_post_recvv: %s",
	      strerror(errno));
	CHECK(!rdma_post_recv(id, id, s->mem + MSG, MSG, mr),
	      "rdma_post_recv: %s", strerror(errno));
	s->rkey = remote->rkey;
	CHECK(!rdma_accept(id, NULL), "rdma_accept: %s", strerror(errno));
	TRY(got(id, true, IBV_WC_RECV, s, MSG));
	CHECK(!rdma_post_sendv(id, s, sg, 2, IBV_SEND_SIGNALED),
	      "rdma_post_sendv: %s", strerror(errno));
	TRY(got(id, false, IBV_WC_SEND, s, 0));
	return got(id, true, IBV_WC_RECV, id, 0);
}

static why_t serve(struct server *s)
{
	struct rdma_cm_id *id = NULL;
	struct ibv_mr *mr, *remote;
	why_t why;

	CHECK(!rdma_get_request(s->listen, &id), "rdma_get_request: %s",
	      strerror(errno));
	mr = rdma_reg_msgs(id, s->mem, sizeof(s->mem));
	/* what A reads has to allow it; so does what it writes */
	remote = s->t->row->arg == IBV_WR_RDMA_WRITE ?
		 rdma_reg_write(id, s->mem + 2 * MSG, MSG) :
		 rdma_reg_read(id, s->mem + 2 * MSG, MSG);
	if (!mr || !remote)
		return "rdma_reg_msgs, rdma_reg_read or rdma_reg_write";
	why = serve_one(s, id, mr, remote);
	if (!why && (rdma_dereg_mr(mr) || rdma_dereg_mr(remote)))
		why = because("rdma_dereg_mr: %s", strerror(errno));
	rdma_destroy_ep(id);
	return why;
}

static void *server(void *arg)
{
	struct server *s = arg;
	why_t why;

	vt_enter_netns(&vt_devs[1]);
	why = serve(s);
	s->fails = why;
	if (why)
		snprintf(s->why, sizeof(s->why), "B: %s", why);
	return NULL;
}

static struct ibv_qp_init_attr ep_attr(void)
{
	return (struct ibv_qp_init_attr){
		.cap = { .max_send_wr = 8, .max_recv_wr = 8,
			 .max_send_sge = 2, .max_recv_sge = 2,
			 .max_inline_data = 16 },
		.qp_type = IBV_QPT_RC,
	};
}

/* A's part, with a message there and one back */
static why_t ask(struct server *s, struct rdma_cm_id *id, char *mem,
		 struct ibv_mr *mr)
{
	CHECK(!rdma_post_recv(id, mem, mem + MSG, MSG, mr),
	      "rdma_post_recv: %s", strerror(errno));
	CHECK(!rdma_connect(id, NULL), "rdma_connect: %s", strerror(errno));
	CHECK(!rdma_post_send(id, mem, mem, MSG, mr, IBV_SEND_SIGNALED),
	      "rdma_post_send: %s", strerror(errno));
	TRY(got(id, false, IBV_WC_SEND, mem, 0));
	TRY(got(id, true, IBV_WC_RECV, mem, MSG));
	CHECK(!memcmp(mem, mem + MSG, MSG) && !memcmp(mem, s->mem, MSG),
	      "another message");
	return NULL;
}

static int one_sided(struct server *s, struct rdma_cm_id *id, char *at,
		     struct ibv_mr *mr, struct ibv_sge *sg)
{
	uint64_t to = (uintptr_t)s->mem + 2 * MSG;
	bool list = s->t->row->more;

	if (s->t->row->arg == IBV_WR_RDMA_WRITE)
		return list ? rdma_post_writev(id, at, sg, 2, IBV_SEND_SIGNALED,
					       to, s->rkey) :
			      rdma_post_write(id, at, at, MSG, mr,
					      IBV_SEND_SIGNALED, to, s->rkey);
	return list ? rdma_post_readv(id, at, sg, 2, IBV_SEND_SIGNALED, to,
				      s->rkey) :
		      rdma_post_read(id, at, at, MSG, mr, IBV_SEND_SIGNALED,
				     to, s->rkey);
}

static why_t reach(struct server *s, struct rdma_cm_id *id, char *at,
		   struct ibv_mr *mr)
{
	struct ibv_sge sg[2] = {
		{ (uintptr_t)at, 100, mr->lkey },
		{ (uintptr_t)at + 100, MSG - 100, mr->lkey },
	};
	bool write = s->t->row->arg == IBV_WR_RDMA_WRITE;

	vt_fill(s->mem + 2 * MSG, MSG, 5);
	CHECK(!one_sided(s, id, at, mr, sg), "posting: %s", strerror(errno));
	TRY(got(id, false, write ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ, at,
		0));
	CHECK(!memcmp(at, s->mem + 2 * MSG, MSG), "other bytes");
	return NULL;
}

static why_t converse(struct server *s, struct rdma_cm_id *id)
{
	char mem[3 * MSG];
	struct ibv_mr *mr;
	why_t why;

	vt_fill(mem, sizeof(mem), 4);
	mr = rdma_reg_msgs(id, mem, sizeof(mem));
	CHECK(mr, "rdma_reg_msgs: %s", strerror(errno));
	why = ask(s, id, mem, mr);
	if (!why && s->t->row->arg)
		why = reach(s, id, mem + 2 * MSG, mr);
	/* an empty message: enough */
	if (!why && rdma_post_send(id, NULL, NULL, 0, mr,
				   IBV_SEND_SIGNALED | IBV_SEND_INLINE))
		why = because("the end: %s", strerror(errno));
	if (!why)
		why = got(id, false, IBV_WC_SEND, NULL, 0);
	if (why)
		rdma_disconnect(id);
	rdma_dereg_mr(mr);
	return why;
}

static why_t client(struct server *s)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *res;
	struct ibv_qp_init_attr init = ep_attr();
	char text[INET6_ADDRSTRLEN];
	struct rdma_cm_id *id;
	why_t why;
	int ret;

	text_addr(&vt_devs[1], text);
	TRY(info(s->t, &hints, text, &res));
	ret = rdma_create_ep(&id, res, NULL, &init);
	rdma_freeaddrinfo(res);
	CHECK(!ret, "rdma_create_ep: %s", strerror(errno));
	CHECK(id->qp && id->pd, "no QP");
	why = converse(s, id);
	rdma_destroy_ep(id);
	return why;
}

static why_t endpoints(struct cf *t)
{
	struct ibv_qp_init_attr init = ep_attr();
	struct server s = { .t = t };
	pthread_t thread;
	why_t why;

	TRY(passive(&s, &init));
	CHECK(!pthread_create(&thread, NULL, server, &s), "pthread_create");
	why = client(&s);
	if (why)
		/* B may wait for a request that never comes */
		pthread_cancel(thread);
	pthread_join(thread, NULL);
	rdma_destroy_ep(s.listen);
	t->err = 0;
	if (s.fails)
		return because("%s; A: %s", s.why, why ? why : "all well");
	return why;
}

/* Datagrams */

static why_t ud_send(struct cf *t, struct cm *c)
{
	char mem[VT_GRH + MSG];
	struct ibv_mr *mr, *at_b;
	struct rdma_ud_param *ud;
	struct ibv_ah *ah;
	why_t why;

	TRY(cm_connect(c));
	ud = &c->a.ev->param.ud;
	mr = rdma_reg_msgs(c->a.id, mem, MSG);
	at_b = rdma_reg_msgs(c->b.id, mem, sizeof(mem));
	vt_enter_netns(c->a.dev);
	ah = ibv_create_ah(c->a.id->pd, &ud->ah_attr);
	CHECK(mr && at_b && ah, "no memory or no address");
	CHECK(!rdma_post_recv(c->b.id, c, mem, sizeof(mem), at_b),
	      "rdma_post_recv");
	TRY(cm_ret(t, rdma_post_ud_send(c->a.id, c, mem, 100, mr,
					IBV_SEND_SIGNALED, ah, ud->qp_num)));
	why = vt_poll_status(c->a.id->send_cq, (uintptr_t)c, IBV_WC_SUCCESS,
			     "A");
	if (!why)
		why = got(c->b.id, true, IBV_WC_RECV, c, VT_GRH + 100);
	ibv_destroy_ah(ah);
	rdma_dereg_mr(mr);
	rdma_dereg_mr(at_b);
	return why;
}

static why_t no_memory(struct cf *t, struct cm *c)
{
	TRY(cm_resolve_addr(c));
	errno = 0;
	return cf_got(t, rdma_reg_msgs(c->a.id, (void *)(1UL << 46), MSG));
}

static why_t full_queue(struct cf *t, struct cm *c)
{
	int i;

	TRY(cm_resolve_addr(c));
	TRY(cm_qp(c, &c->a));
	for (i = 0; i < 1000 && !t->err; i++)
		TRY(cm_ret(t, rdma_post_recvv(c->a.id, c, NULL, 0)));
	return NULL;
}

#define INFO(what, flags, ps)						\
	{ "rdma_getaddrinfo", "ai_flags, ai_port_space, ai_qp_type", what, \
	  addrinfo, flags, CF_DEVICE, .arg2 = ps }
#define EP(page_, says, what, op, list)					\
	{ page_, says, what, endpoints, op, CF_DEVICE, .more = list }
#define CALL(page_, says, what, fn, want)				\
	{ page_, says, what, CM(fn), CF_DEVICE, .err = want }

static const struct cf_row rows[] = {
	INFO("RDMA_PS_TCP: IBV_QPT_RC", 0, RDMA_PS_TCP),
	INFO("RDMA_PS_UDP: IBV_QPT_UD", 0, RDMA_PS_UDP),
	INFO("RAI_PASSIVE", RAI_PASSIVE, RDMA_PS_TCP),
	INFO("RAI_NUMERICHOST", RAI_NUMERICHOST, RDMA_PS_TCP),
	INFO("RAI_NOROUTE", RAI_NOROUTE, RDMA_PS_TCP),
	INFO("RAI_FAMILY", RAI_FAMILY, RDMA_PS_TCP),
	{ "rdma_getaddrinfo", "EAI_NONAME: node must be numerical",
	  "RAI_NUMERICHOST with a name", no_name, .stage = CF_DEVICE },
	EP("rdma_create_ep", "passive and active, with their QPs",
	   "rdma_create_ep, rdma_destroy_ep, rdma_get_request", 0, 0),
	EP("rdma_post_send", "a message, and a receive for one",
	   "rdma_post_send, rdma_post_recv", 0, 0),
	EP("rdma_post_sendv", "a list of pieces, and a receive for one",
	   "rdma_post_sendv, rdma_post_recvv", 0, 0),
	EP("rdma_get_send_comp", "waits; 1 completion",
	   "rdma_get_send_comp, rdma_get_recv_comp", 0, 0),
	EP("rdma_post_read", "reads a registered buffer",
	   "rdma_post_read, rdma_reg_read", IBV_WR_RDMA_READ, 0),
	EP("rdma_post_readv", "reads into a list of pieces",
	   "rdma_post_readv", IBV_WR_RDMA_READ, 1),
	EP("rdma_post_write", "writes to a registered buffer",
	   "rdma_post_write, rdma_reg_write", IBV_WR_RDMA_WRITE, 0),
	EP("rdma_post_writev", "writes from a list of pieces",
	   "rdma_post_writev", IBV_WR_RDMA_WRITE, 1),
	EP("rdma_reg_msgs", "buffers for messages",
	   "rdma_reg_msgs, rdma_dereg_mr", 0, 0),
	CALL("rdma_reg_msgs", "NULL on error", "memory that isn't there",
	     no_memory, EFAULT),
	{ "rdma_post_ud_send", "to an address handle and a QP", "UD",
	  CM(ud_send), CF_DEVICE, .arg2 = RDMA_PS_UDP },
	CALL("rdma_post_recvv", "-1 on error", "the receive queue is full",
	     full_queue, ENOMEM),
};

CF_TABLE(190, "Endpoints and their verbs", rows);
