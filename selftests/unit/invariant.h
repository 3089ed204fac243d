/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is true of every QP between two bursts, whatever came before */
#ifndef UNIT_INVARIANT_H
#define UNIT_INVARIANT_H

struct sroce_kqp;

void sim_invariants(const struct sroce_kqp *kqp);

#endif /* UNIT_INVARIANT_H */
