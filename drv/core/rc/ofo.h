/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packets that wait for earlier packets, or for pages. */
#ifndef SROCE_CORE_RC_OFO_H
#define SROCE_CORE_RC_OFO_H

#include <linux/types.h>

/* Packets that are passed, per search, until the place of another one is found */
#define SROCE_OFO_SCAN_MAX	64

struct sroce_ofo_pkt;
struct sroce_pkt;
struct sroce_qp;

/*
 * Whether a user may keep packets of @own bytes of the @all that are kept, if @max may be.
 * It may keep a quarter of what is free then: n greedy ones take all but (4/5)^n. Its QPs have
 * peers that need not trust each other: one with @qp bytes may keep as much as is free then of
 * the most that the user may.
 */
static inline bool sroce_ofo_is_fair(u64 qp, u64 own, u64 all, u64 max)
{
	return 4 * own + all <= max && 5 * (qp + own) <= max;
}

int sroce_ofo_put(struct sroce_qp *qp, const struct sroce_pkt *pkt);
bool sroce_ofo_is_ahead(const struct sroce_resp *resp, u32 psn);
bool sroce_ofo_lacks(struct sroce_qp *qp);
void sroce_ofo_ask(struct sroce_qp *qp);
int sroce_ofo_defer(struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_ofo_defer_again(struct sroce_qp *qp, struct sroce_ofo_pkt *ofo);
void sroce_ofo_free(struct sroce_qp *qp, struct sroce_ofo_pkt *ofo);
struct sroce_ofo_pkt *sroce_ofo_take(struct sroce_qp *qp);
void sroce_ofo_put_back(struct sroce_qp *qp, struct sroce_ofo_pkt *ofo);
void sroce_ofo_duplicate(struct sroce_qp *qp);
void sroce_ofo_purge(struct sroce_qp *qp);

#endif /* SROCE_CORE_RC_OFO_H */
