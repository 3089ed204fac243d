/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the rows of rdma_cm(7) have in common: two ends that find each other. */
#ifndef CONFORM_CM_H
#define CONFORM_CM_H

#include <netinet/in.h>
#include <rdma/rdma_verbs.h>
#include "conform.h"

struct cm_end {
	struct vt_dev *dev;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct rdma_cm_event *ev;	/* the last one, until the next */
};

/* A is the active side. */
struct cm {
	struct cf *t;
	enum rdma_port_space ps;
	struct cm_end a, b;
	struct rdma_cm_id *listen;	/* B's */
	struct rdma_conn_param param;	/* of both sides */
};

typedef why_t (*cm_case)(struct cf *t, struct cm *c);

/* A row's act and arg: fn(t, c) with the channels open */
#define CM(fn)		cm_act, (long)(fn)

why_t cm_act(struct cf *t);
why_t cm_ret(struct cf *t, int ret);
void cm_addr(const struct vt_dev *dev, uint16_t port, struct sockaddr_in6 *sa);
#define SA(addr)	((struct sockaddr *)(addr))

why_t cm_make(struct cm *c, struct cm_end *end, struct rdma_cm_id **id);
why_t cm_expect(struct cm_end *end, enum rdma_cm_event_type type, int ms);
why_t cm_silent(struct cm_end *end, int ms);
why_t cm_listen(struct cm *c);
why_t cm_resolve_addr(struct cm *c);
why_t cm_resolve(struct cm *c);
struct ibv_qp_init_attr cm_qp_attr(struct cm *c);
why_t cm_qp(struct cm *c, struct cm_end *end);
why_t cm_request(struct cm *c);
why_t cm_accept(struct cm *c);
why_t cm_connect(struct cm *c);
why_t cm_qp_is(struct cm_end *end, enum ibv_qp_state want);

#endif
