/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completer: the requester's receive side. */
#ifndef SROCE_CORE_RC_COMP_H
#define SROCE_CORE_RC_COMP_H

#include <linux/types.h>

struct sroce_pkt;
struct sroce_qp;

void sroce_comp_settle(struct sroce_qp *qp);
void sroce_comp_faulted_in(struct sroce_qp *qp);
void sroce_comp_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt);
bool sroce_comp_rx_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt);

#endif /* SROCE_CORE_RC_COMP_H */
