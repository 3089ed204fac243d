/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CPUs that stand still now and then, as those of a VM on a busy host */
#ifndef SIM_STALL_H
#define SIM_STALL_H

#include "../unit/sim.h"

/* How long a CPU runs and stands still, in turn: least and most, in ns; never if 0 */
struct stall_cfg {
	u64	runs[2];
	u64	still[2];
	u32	ring;		/* packets that may wait for it meanwhile; 0: any number */
};

struct pause {
	u64	start, end;
	u32	waiting;		/* packets that have come meanwhile */
};

/* One CPU, and when it stands still */
struct stall {
	const struct stall_cfg *cfg;
	struct rnd	r;
	struct pause	*pause;		/* so far */
	u32		n;
};

void stall_init(struct stall *st, const struct stall_cfg *cfg, u64 seed);
void stall_end(struct stall *st);
u64 stall_runs_at(struct stall *st, u64 when);
u64 stall_receives_at(struct stall *st, u64 when);

#endif /* SIM_STALL_H */
