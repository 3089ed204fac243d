/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A TCP flow that always has something to send, as a model */
#ifndef SIM_CUBIC_H
#define SIM_CUBIC_H

#include "link.h"

#define CUBIC_MAX	8192	/* packets under way */
#define CUBIC_LEN	1500	/* bytes of a packet */

struct cubic {
	struct lane	*lane;
	u64		rtt;		/* ns, without queue */
	bool		ect;
	double		cwnd, ssthresh;	/* packets */
	double		w_max, k;	/* of the curve; k in seconds */
	double		w_est;		/* window of a Reno flow */
	u64		epoch;		/* when the curve began, 0: not yet */
	u64		srtt;
	u64		recovered;	/* losses of packets before this one are known */
	u64		sent, acked;	/* packets so far; the difference is under way */
	u64		delivered;
	struct {
		u64	when;		/* sent */
		bool	ce;
		u64	back;		/* its ACK is here, 0: lost */
	} p[CUBIC_MAX];
};

void cubic_init(struct cubic *c, struct lane *lane, u64 rtt, bool ect);
u64 cubic_next(const struct cubic *c);
void cubic_run(struct cubic *c, u64 now);

#endif /* SIM_CUBIC_H */
