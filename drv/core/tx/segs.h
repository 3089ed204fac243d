/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SROCE_RUN_H
#define SROCE_RUN_H

#include "drv/core/wire/pkt.h"

struct sroce_qp;
struct sroce_wqe;

/**
 * sroce_segs_gap() - bytes between the payloads of two packets of a run
 * @pkt: the first of them
 */
static inline u32 sroce_segs_gap(const struct sroce_pkt *pkt)
{
	return SROCE_ICRC_LEN + pkt->op->hdr_len;
}

int sroce_segs_tx_wqe(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		  const struct sroce_wqe *wqe, u32 off, u32 n);
u32 sroce_segs_tx_remote(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		     u32 rkey, u64 va, u32 n);

#endif /* SROCE_RUN_H */
