// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Regions and windows by key, as drv/mem/region.c; references are counted. */

#include "sim.h"

/* A fast region that is valid at each look-up */
static struct sroce_mr *find_any(struct sim *s, u32 key)
{
	s->any.mr.kind = SROCE_MR_FAST;
	s->any.mr.state = SROCE_MR_VALID;
	s->any.mr.access = IB_ACCESS_REMOTE_READ;
	s->any.mr.key = key;
	s->any.sim = s;
	return &s->any.mr;
}

struct sroce_mr *sroce_mr_find(struct sroce_qp *qp, u32 key)
{
	struct sim *s = qp->kqp->sim;
	u32 index = sroce_key_index(key);
	struct sroce_mr *mr = NULL;

	if (index >= sroce_key_index(SIM_ANY_KEY))
		mr = find_any(s, key);
	else if (index < SIM_MRS && s->mrs[index])
		mr = &s->mrs[index]->mr;
	if (!mr)
		return NULL;
	mr->ref.refs++;
	s->mr_refs++;
	return mr;
}

struct sroce_mr *sroce_mr_enter(struct sroce_qp *qp, u32 key)
{
	return sroce_mr_find(qp, key);
}

void sroce_mr_leave(struct sroce_mr *mr)
{
	sroce_mr_put(mr);
}

void sroce_mr_drain(struct sroce_mr *mr)
{
	CHECK_EQ(mr->state, SROCE_MR_BUSY);
	CHECK_EQ(mr->ref.refs, 1);
}

bool sroce_mr_is_committed(const struct sroce_mr *mr)
{
	(void)mr;
	return true;
}

void sroce_mr_hold(struct sroce_mr *mr)
{
	struct sim_buf *b = container_of(mr, struct sim_buf, mr);

	CHECK(mr->ref.refs > 0);
	mr->ref.refs++;
	b->sim->mr_refs++;
}

void sroce_mr_put(struct sroce_mr *mr)
{
	struct sim_buf *b = container_of(mr, struct sim_buf, mr);

	CHECK(mr->ref.refs > 0);
	mr->ref.refs--;
	b->sim->mr_refs--;
}
