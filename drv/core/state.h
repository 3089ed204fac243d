/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* QP states: which transitions are possible, and what they initialize. */
#ifndef SROCE_CORE_STATE_H
#define SROCE_CORE_STATE_H

#include <rdma/ib_verbs.h>

struct ib_qp_attr;
struct sroce_qp;

bool sroce_state_transition_ok(struct sroce_qp *qp, const struct ib_qp_attr *attr,
			       int mask, enum ib_qp_state from, enum ib_qp_state to);
void sroce_state_set_attrs(struct ib_qp_attr *to, const struct ib_qp_attr *attr, int mask);
void sroce_state_enter(struct sroce_qp *qp, enum ib_qp_state from, enum ib_qp_state to);

#endif /* SROCE_CORE_STATE_H */
