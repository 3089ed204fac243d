// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Driver attributes of objects for `rdma resource show -dd`, and the counters of on-demand
 * regions for `rdma statistic show mr`. QPs and CQs may be destroyed at any time during
 * these calls: kernels without rdma_restrack_begin_del() let a dump find them until the
 * driver has destroyed them. Only the memory of the core's object is valid then. Regions
 * can't be found any more when their deregistration begins.
 */

#include <net/netlink.h>
#include <rdma/restrack.h>
#include <uapi/rdma/rdma_netlink.h>
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/dev/res.h"
#include "drv/lookup/kqp.h"
#include "drv/mem/odp.h"
#include "drv/queue/cq.h"
#include "drv/task/task.h"

/**
 * struct sroce_attr - a driver attribute
 * @name: name that is printed
 * @value: the value
 * @hex: print it in hexadecimal
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

/* Before there is a PSN the number that it is counted from would be all that is shown. */
static u32 shown_psn(const struct sroce_qp *qp, enum ib_qp_state least, u32 psn, u32 base)
{
	return qp->state < least ? 0 : sroce_psn_add(psn, base);
}

/**
 * sroce_res_fill_qp() - put the progress of a QP into a netlink message
 * @msg: the message
 * @ibqp: the QP
 *
 * Any user may see it, so PSNs are counted from numbers that nobody knows: how far they have
 * come is shown, and not where they are. See sroce_qp_query(). Of a QP that went to ERR without a
 * PSN the numbers are shown: they are others in its next life.
 *
 * Return: 0 or -EMSGSIZE.
 */
int sroce_res_fill_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	const struct sroce_req *req = &qp->req;
	struct sroce_attr attrs[12];
	struct sroce_kqp *kqp;
	u32 n = 0;

	kqp = sroce_task_lock_query(qp);
	attrs[n++] = (struct sroce_attr){ "mtu", qp->mtu };
	attrs[n++] = (struct sroce_attr){ "sq_pending",
		(qp->sq.prod - qp->sq.cons) & qp->sq.mask };
	attrs[n++] = (struct sroce_attr){ "sq_psns",
		shown_psn(qp, IB_QPS_RTS, req->psn, qp->psn_base[0]) };
	attrs[n++] = (struct sroce_attr){ "rq_psns",
		shown_psn(qp, IB_QPS_RTR, qp->resp.psn, qp->psn_base[1]) };
	attrs[n++] = (struct sroce_attr){ "sq_unacked",
		sroce_psn_diff(req->max_psn, req->una) };
	attrs[n++] = (struct sroce_attr){ "sq_cwnd", sroce_cwnd(&req->cwnd) };
	attrs[n++] = (struct sroce_attr){ "read_cwnd", sroce_cwnd(&req->read_cwnd) };
	attrs[n++] = (struct sroce_attr){ "srtt_ns", req->rtt.srtt };
	attrs[n++] = (struct sroce_attr){ "retries_left", req->retries };
	attrs[n++] = (struct sroce_attr){ "rnr_wait", req->rnr_wait };
	attrs[n++] = (struct sroce_attr){ "rd_atomic", req->reads };
	attrs[n++] = (struct sroce_attr){ "ofo_queued", qp->resp.ofo_len };
	sroce_task_unlock_query(qp, kqp);
	return put_attrs(msg, attrs, n);
}

/**
 * sroce_res_fill_cq() - put the fill level of a CQ into a netlink message
 * @msg: the message
 * @ibcq: the CQ
 *
 * Return: 0 or -EMSGSIZE.
 */
int sroce_res_fill_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct sroce_cq *cq = to_scq(ibcq);
	struct sroce_attr attrs[3];

	spin_lock_irq(&cq->lock);
	/* a CQ that was destroyed has no ring */
	attrs[0] = (struct sroce_attr){ "used", cq->mem ? sroce_cq_used(cq) : 0 };
	attrs[1] = (struct sroce_attr){ "armed", cq->notify };
	attrs[2] = (struct sroce_attr){ "overflowed", cq->overflowed };
	spin_unlock_irq(&cq->lock);
	return put_attrs(msg, attrs, ARRAY_SIZE(attrs));
}

/**
 * sroce_res_fill_mr() - put the properties of a region into a netlink message
 * @msg: the message
 * @ibmr: the region
 *
 * Any user may see them. So there is no address: that of a kernel user's region tells where
 * the kernel's memory is, that of another user's where a process has its own.
 *
 * Return: 0 or -EMSGSIZE.
 */
int sroce_res_fill_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct sroce_mr *mr = to_smr(ibmr);
	struct sroce_attr attrs[] = {
		{ "access", mr->access, true },
		{ "extents", mr->nr },
		{ "windows", atomic_read(&mr->windows) },
		{ "valid", READ_ONCE(mr->state) == SROCE_MR_VALID },
	};

	return put_attrs(msg, attrs, ARRAY_SIZE(attrs));
}

/* Read the counters of a region. Return: false if it is not on demand. */
static bool odp_stat(struct sroce_mr *mr, struct sroce_odp_stat *stat)
{
	bool has = false;

	/* sroce_mr_claim() either sees the reference, and may spin until it is put ... */
	local_bh_disable();
	sroce_mr_hold(mr);
	/* ... or the state that it has set is seen below */
	smp_mb__after_atomic();
	/* pairs with the release that made the region valid */
	if (smp_load_acquire(&mr->state) == SROCE_MR_VALID && mr->odp) {
		sroce_odp_stat(mr->odp, stat);
		has = true;
	}
	sroce_mr_put(mr);
	local_bh_enable();
	return has;
}

/**
 * sroce_res_fill_mr_stat() - put the counters of an on-demand region into a message
 * @msg: the message
 * @ibmr: the region
 *
 * The counters have the same names as those of mlx5.
 *
 * Return: 0 or -EMSGSIZE.
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
