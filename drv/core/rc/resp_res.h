/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Responder resources: requests that the responder can answer again. */
#ifndef SROCE_CORE_RC_RESP_RES_H
#define SROCE_CORE_RC_RESP_RES_H

#include <linux/types.h>

struct sroce_pkt;
struct sroce_qp;
struct sroce_res;
struct sroce_resp;

void sroce_resp_res_end_first(struct sroce_resp *resp, struct sroce_res *res);
void sroce_resp_res_end_replay(struct sroce_resp *resp);
void sroce_resp_res_cancel(struct sroce_qp *qp);
struct sroce_res *sroce_resp_res_resize(struct sroce_qp *qp, struct sroce_res *res,
					u32 n);
bool sroce_resp_res_has_room(const struct sroce_qp *qp);
struct sroce_res *sroce_resp_res_new(struct sroce_qp *qp);
void sroce_resp_res_queue(struct sroce_qp *qp, struct sroce_res *res);
bool sroce_resp_res_replay(struct sroce_qp *qp, const struct sroce_pkt *pkt);
u32 sroce_resp_res_ack_psn(const struct sroce_qp *qp, u32 psn);

#endif /* SROCE_CORE_RC_RESP_RES_H */
