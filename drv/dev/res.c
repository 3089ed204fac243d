// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What `rdma resource show -dd` prints of an object beyond what the core knows,
 * and `rdma statistic show mr` of a region on demand.
 */

#include <net/netlink.h>
#include <rdma/restrack.h>
#include <uapi/rdma/rdma_netlink.h>
#include "drv/dev.h"

/**
 * struct sroce_attr - a value that is shown
 * @name: as it is printed
 * @value: the value
 * @hex: printed as such
 */
struct sroce_attr {
	const char	*name;
	u64		value;
	bool		hex;
};

static int put_attrs(struct sk_buff *msg, const struct sroce_attr *attrs, u32 n)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	int ret = 0;
	u32 i;

	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < n && !ret; i++) {
		const struct sroce_attr *a = &attrs[i];

		ret = a->hex ?
		      rdma_nl_put_driver_u64_hex(msg, a->name, a->value) :
		      rdma_nl_put_driver_u64(msg, a->name, a->value);
	}
	if (ret)
		nla_nest_cancel(msg, table);
	else
		nla_nest_end(msg, table);
	return ret;
}

/**
 * sroce_res_fill_qp() - how far a QP is
 * @msg: the answer
 * @ibqp: the QP
 */
int sroce_res_fill_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	const struct sroce_req *req = &qp->req;
	struct sroce_attr attrs[10];
	u32 n = 0;

	sroce_task_lock(qp);
	attrs[n++] = (struct sroce_attr){ "mtu", qp->mtu };
	attrs[n++] = (struct sroce_attr){ "sq_pending",
		(qp->sq.prod - qp->sq.cons) & qp->sq.mask };
	attrs[n++] = (struct sroce_attr){ "rq_epsn", qp->resp.psn };
	attrs[n++] = (struct sroce_attr){ "sq_unacked",
		sroce_psn_diff(req->max_psn, req->una) };
	attrs[n++] = (struct sroce_attr){ "sq_cwnd", req->rtt.cwnd };
	attrs[n++] = (struct sroce_attr){ "srtt_ns", req->rtt.srtt };
	attrs[n++] = (struct sroce_attr){ "retries_left", req->retries };
	attrs[n++] = (struct sroce_attr){ "rnr_wait", req->rnr_wait };
	attrs[n++] = (struct sroce_attr){ "rd_atomic", req->reads };
	attrs[n++] = (struct sroce_attr){ "ofo_queued", qp->resp.ofo_len };
	sroce_task_unlock(qp);
	return put_attrs(msg, attrs, n);
}

/**
 * sroce_res_fill_cq() - how full a CQ is
 * @msg: the answer
 * @ibcq: the CQ
 */
int sroce_res_fill_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct sroce_cq *cq = to_scq(ibcq);
	struct sroce_attr attrs[3];

	spin_lock_irq(&cq->lock);
	attrs[0] = (struct sroce_attr){ "used", sroce_cq_used(cq) };
	attrs[1] = (struct sroce_attr){ "armed", cq->notify };
	attrs[2] = (struct sroce_attr){ "overflowed", cq->overflowed };
	spin_unlock_irq(&cq->lock);
	return put_attrs(msg, attrs, ARRAY_SIZE(attrs));
}

/**
 * sroce_res_fill_mr() - what a region is made of
 * @msg: the answer
 * @ibmr: the region
 */
int sroce_res_fill_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct sroce_mr *mr = to_smr(ibmr);
	struct sroce_attr attrs[] = {
		{ "access", mr->access, true },
		{ "iova", mr->iova, true },
		{ "extents", mr->nr },
		{ "windows", atomic_read(&mr->windows) },
		{ "valid", READ_ONCE(mr->state) == SROCE_MR_VALID },
	};

	return put_attrs(msg, attrs, ARRAY_SIZE(attrs));
}

/* False if none of its pages come on demand */
static bool odp_stat(struct sroce_mr *mr, struct sroce_odp_stat *stat)
{
	bool has = false;

	/* whoever claims it either sees us, and may spin until we let go ... */
	local_bh_disable();
	sroce_mr_hold(mr);
	/* ... or is seen: sroce_mr_claim() */
	smp_mb__after_atomic();
	/* pairs with the release that made it valid */
	if (smp_load_acquire(&mr->state) == SROCE_MR_VALID && mr->odp) {
		sroce_odp_stat(mr->odp, stat);
		has = true;
	}
	sroce_mr_put(mr);
	local_bh_enable();
	return has;
}

/**
 * sroce_res_fill_mr_stat() - how often pages came and went, by the names of mlx5
 * @msg: the answer
 * @ibmr: the region
 */
int sroce_res_fill_mr_stat(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct sroce_odp_stat stat;
	struct nlattr *table;

	if (!odp_stat(to_smr(ibmr), &stat))
		return 0;
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;
	if (rdma_nl_stat_hwcounter_entry(msg, "page_faults", stat.faults) ||
	    rdma_nl_stat_hwcounter_entry(msg, "page_invalidations",
					 stat.gone) ||
	    rdma_nl_stat_hwcounter_entry(msg, "page_prefetch",
					 stat.prefetched)) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}
