/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Peers that are not us, as rules around our own responder and requester */
#ifndef SIM_FOREIGN_H
#define SIM_FOREIGN_H

#include "../unit/sim.h"

enum foreign_resp {
	FOREIGN_RESP_NONE,	/* our own responder */
	FOREIGN_RESP_RXE,	/* rdma_rxe */
	FOREIGN_RESP_STRICT,	/* hardware that enforces all limits */
	FOREIGN_RESPS
};

/* What is foreign of a QP */
struct foreign_rules {
	u8	resp;		/* enum foreign_resp */
	bool	back_n;		/* the requester sends all again from the newest ACK on */
	u8	ack_every;	/* strict: messages for an ACK that was not asked for */
};

void foreign_set(struct sroce_kqp *kqp, const struct foreign_rules *rules);
u32 foreign_waiting(const struct sroce_kqp *kqp);
void foreign_end(struct sim *s);

#endif /* SIM_FOREIGN_H */
