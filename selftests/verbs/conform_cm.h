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

typedef vt_why (*cm_case)(struct cf *t, struct cm *c);

/* A row's act and arg: fn(t, c) with the channels open */
#define CM(fn)		cm_act, (long)(fn)

vt_why cm_act(struct cf *t);
vt_why cm_ret(struct cf *t, int ret);
void cm_addr(const struct vt_dev *dev, uint16_t port, struct sockaddr_in6 *sa);
#define SA(addr)	((struct sockaddr *)(addr))

vt_why cm_make(struct cm *c, struct cm_end *end, struct rdma_cm_id **id);
vt_why cm_expect(struct cm_end *end, enum rdma_cm_event_type type, int ms);
vt_why cm_silent(struct cm_end *end, int ms);
vt_why cm_listen(struct cm *c);
vt_why cm_resolve_addr(struct cm *c);
vt_why cm_resolve(struct cm *c);
struct ibv_qp_init_attr cm_qp_attr(struct cm *c);
vt_why cm_qp(struct cm *c, struct cm_end *end);
vt_why cm_request(struct cm *c);
vt_why cm_accept(struct cm *c);
vt_why cm_connect(struct cm *c);
vt_why cm_qp_is(struct cm_end *end, enum ibv_qp_state want);

#endif
