// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The verbs on queue pairs: create, modify, query, destroy. The state machine is in
 * drv/core/state.c.
 */

#include <linux/hrtimer.h>
#include <linux/if_ether.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/uverbs_ioctl.h>
#include "drv/core/qp.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/reset.h"
#include "drv/core/rc/resp_res.h"
#include "drv/core/state.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/mcast.h"
#include "drv/lookup/qp_tbl.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/user.h"
#include "drv/mem/mw.h"
#include "drv/net/av.h"
#include "drv/net/txq.h"
#include "drv/queue/cq.h"
#include "drv/queue/ringmem.h"
#include "drv/queue/srq.h"
#include "drv/rx/udp.h"
#include "drv/task/task.h"
#include "drv/verbs/pager.h"
#include "drv/verbs/qp.h"

/* Raw packet QPs need Ethernet frames. The core has checked for CAP_NET_RAW. */
static int check_raw(struct sroce_dev *dev, bool user)
{
	struct net_device *ndev = sroce_sdev_netdev(dev);
	bool ethernet;

	if (!ndev)
		return -ENODEV;
	ethernet = ndev->hard_header_len >= ETH_HLEN;
	dev_put(ndev);
	return user && ethernet ? 0 : -EOPNOTSUPP;
}

static int check_init(struct sroce_dev *dev, struct ib_qp_init_attr *init,
		      bool user)
{
	struct ib_qp_cap *cap = &init->cap;
	int ret;

	if (init->create_flags)
		return -EOPNOTSUPP;
	switch (init->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
		break;
	case IB_QPT_GSI:
		if (init->port_num != 1)
			return -EINVAL;
		break;
	case IB_QPT_RAW_PACKET:
		ret = check_raw(dev, user);
		if (ret)
			return ret;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > SROCE_MAX_QP_WR ||
	    cap->max_send_sge > SROCE_MAX_SGE ||
	    cap->max_inline_data > SROCE_MAX_INLINE)
		return -EINVAL;
	if (!init->srq && (cap->max_recv_wr > SROCE_MAX_QP_WR ||
			   cap->max_recv_sge > SROCE_MAX_SGE))
		return -EINVAL;
	return 0;
}

static size_t slots_size(const struct sroce_sq *sq)
{
	return (size_t)(sq->mask + 1) * sq->stride;
}

/* A slot is initialized when it is filled. */
static int alloc_slots(struct sroce_qp *qp)
{
	if (!qp->sq.slots)
		qp->sq.slots = kvmalloc(slots_size(&qp->sq),
					GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL |
					__GFP_NOWARN);
	return qp->sq.slots ? 0 : -ENOMEM;
}

/*
 * Of a user's QP nothing is taken from the ring before RTR, or the error state. So its slots
 * are only charged yet: who makes many QPs learns of the limit here. A kernel user fills the
 * slots where nothing can be allocated.
 */
static int create_slots(struct sroce_qp *qp, u32 stride)
{
	int ret;

	qp->sq.stride = stride;
	ret = sroce_user_charge(sroce_pd_owner(qp->ibqp.pd), slots_size(&qp->sq));
	if (ret)
		qp->sq.stride = 0;
	else if (!qp->user)
		ret = alloc_slots(qp);
	return ret;
}

static void free_slots(struct sroce_qp *qp)
{
	if (!qp->sq.stride)
		return;
	kvfree(qp->sq.slots);
	sroce_user_uncharge(sroce_pd_owner(qp->ibqp.pd), slots_size(&qp->sq));
}

/*
 * Number and size of slots are powers of two; @cap is raised to what fits into them, within the
 * device's limits: a program may ask for as much the next time. A kernel user gets as many as he
 * asked for: some have as many under way as they get, in a CQ that is shared and was made for what
 * they asked for (nvmet, isert).
 */
static int create_sq(struct sroce_qp *qp, struct ib_ucontext *uc,
		     struct ib_qp_cap *cap)
{
	u32 slots = roundup_pow_of_two(cap->max_send_wr + 1);
	u32 space = max_t(u32, cap->max_send_sge * sizeof(struct ib_sge),
			 cap->max_inline_data);
	u32 elem = roundup_pow_of_two(sizeof(struct sroce_abi_send_wqe) + space);
	struct sroce_sq *sq = &qp->sq;
	int ret;

	space = elem - sizeof(struct sroce_abi_send_wqe);
	if (uc)
		cap->max_send_wr = min_t(u32, slots - 1, SROCE_MAX_QP_WR);
	cap->max_send_sge = min_t(u32, space / sizeof(struct ib_sge),
				  SROCE_MAX_SGE);
	cap->max_inline_data = min_t(u32, space, SROCE_MAX_INLINE);

	sq->mask = slots - 1;
	sq->max_sge = cap->max_send_sge;
	sq->max_inline = cap->max_inline_data;
	ret = create_slots(qp, ALIGN(sizeof(struct sroce_wqe) + space, 64));
	if (ret)
		return ret;
	if (!uc)
		return 0;
	qp->kqp->sq_mem = sroce_ringmem_create(uc, &sq->ring, slots, elem);
	if (IS_ERR(qp->kqp->sq_mem)) {
		ret = PTR_ERR(qp->kqp->sq_mem);
		qp->kqp->sq_mem = NULL;
		return ret;
	}
	return 0;
}

static int create_rq(struct sroce_qp *qp, struct ib_ucontext *uc,
		     struct ib_qp_cap *cap)
{
	struct sroce_ringmem *map;

	if (qp->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		return 0;
	}
	map = sroce_srq_create_rq(&qp->rq, uc, &cap->max_recv_wr, SROCE_MAX_QP_WR,
				  &cap->max_recv_sge);
	if (IS_ERR(map))
		return PTR_ERR(map);
	qp->kqp->rq_mem = map;
	return 0;
}

static void free_qp(struct sroce_qp *qp)
{
	struct sroce_kqp *kqp = qp->kqp;

	sroce_pager_detach(qp);
	/* see sroce_task_lock_query() */
	spin_lock_bh(&qp->lock);
	qp->kqp = NULL;
	spin_unlock_bh(&qp->lock);
	sroce_cq_detach_qp(qp->scq, &qp->ibqp);
	sroce_cq_detach_qp(qp->rcq, &qp->ibqp);
	sroce_ringmem_destroy(kqp->sq_mem);
	sroce_ringmem_destroy(kqp->rq_mem);
	sroce_txq_close(kqp);
	dst_cache_destroy(&qp->av.dst);
	free_slots(qp);
	sroce_user_del(qp->dev, sroce_pd_owner(qp->ibqp.pd), SROCE_OBJ_QP);
	kfree(qp->req.read_buf);
	kfree(qp->resp.replays.q);
	kfree(qp->resp.res);
	kfree_rcu(kqp, rcu);
	sroce_live_dec();
}

static int copy_resp(struct sroce_qp *qp, struct ib_udata *udata)
{
	struct sroce_abi_create_qp_resp resp = {};

	if (!udata)
		return 0;
	if (qp->kqp->rq_mem)
		sroce_ringmem_describe(qp->kqp->rq_mem, &resp.rq_mi);
	sroce_ringmem_describe(qp->kqp->sq_mem, &resp.sq_mi);
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static u8 service_of(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_RC:
		return SROCE_SVC_RC;
	case IB_QPT_UC:
		return SROCE_SVC_UC;
	case IB_QPT_RAW_PACKET:
		return SROCE_SVC_RAW;
	default:
		return SROCE_SVC_UD;
	}
}

/*
 * A kernel user's QP is not changed by a trip of its own, which would send what is held. A timer
 * that fires with the tick only, or that a process which polls keeps from running on a real-time
 * kernel, would send it too late.
 */
static bool may_hold_acks(const struct sroce_qp *qp)
{
	return qp->user && READ_ONCE(qp->dev->ack_with_answer) &&
	       !IS_ENABLED(CONFIG_PREEMPT_RT) && hrtimer_resolution <= NSEC_PER_USEC;
}

static void init_qp(struct sroce_qp *qp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	qp->dev = to_sdev(qp->ibqp.device);
	qp->counters = qp->dev->counters;
	spin_lock_init(&qp->lock);
	mutex_init(&qp->mutex);
	qp->type = init->qp_type;
	qp->svc = service_of(qp->type);
	qp->user = udata;
	qp->cc = READ_ONCE(qp->dev->cc);
	qp->ack_with_answer = may_hold_acks(qp);
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->scq = to_scq(init->send_cq);
	qp->rcq = to_scq(init->recv_cq);
	sroce_cq_attach_qp(qp->scq);
	sroce_cq_attach_qp(qp->rcq);
	qp->srq = init->srq ? to_ssrq(init->srq) : NULL;
	qp->recv_pd = init->srq ? init->srq->pd : qp->ibqp.pd;
	qp->state = IB_QPS_RESET;
	qp->mtu = ib_mtu_enum_to_int(IB_MTU_4096);
	qp->attr.path_mig_state = IB_MIG_MIGRATED;
	qp->attr.port_num = 1;
}

/**
 * sroce_qp_create() - create a queue pair
 * @ibqp: the QP
 * @init: attributes; capacities are raised to those of the rings
 * @udata: returns the mmap offsets of the rings to user space; NULL for a kernel user
 *
 * Return: 0, -EINVAL for a value out of bounds, -EOPNOTSUPP for a type or flag that isn't
 * supported, -ENODEV if the netdev is gone, -ENOMEM.
 */
int sroce_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	struct sroce_user *owner = sroce_pd_owner(ibqp->pd);
	struct ib_ucontext *uc = sroce_uc(udata);
	struct sroce_kqp *kqp;
	int ret;

	if (udata && udata->outlen < sizeof(struct sroce_abi_create_qp_resp))
		return -EINVAL;
	ret = check_init(to_sdev(ibqp->device), init, udata);
	if (ret)
		return ret;
	ret = sroce_user_add(to_sdev(ibqp->device), owner, SROCE_OBJ_QP);
	if (ret)
		return ret;
	kqp = kzalloc(sizeof(*kqp), GFP_KERNEL_ACCOUNT);
	if (!kqp) {
		sroce_user_del(to_sdev(ibqp->device), owner, SROCE_OBJ_QP);
		return -ENOMEM;
	}
	init_qp(qp, init, udata);
	sroce_task_init(qp, kqp, sroce_udp_resume);
	kqp->flusher = owner ? &owner->flusher : NULL;
	kqp->share = owner ? &owner->share : &qp->dev->share;
	sroce_live_inc();

	ret = sroce_pager_attach(qp);
	if (!ret)
		ret = create_sq(qp, uc, &init->cap);
	if (!ret)
		ret = create_rq(qp, uc, &init->cap);
	if (ret)
		goto err;
	qp->attr.cap = init->cap;
	sroce_reset_qp(qp);
	ret = copy_resp(qp, udata);
	if (!ret)
		ret = sroce_qp_tbl_add(qp);
	if (ret)
		goto err;
	ibqp->qp_num = qp->qpn;
	return 0;
err:
	free_qp(qp);
	return ret;
}

/*
 * Resize the responder resources: one for each READ or atomic that the peer may have
 * outstanding. In a state that may receive they don't shrink: some may be in use.
 */
static int resize_res(struct sroce_qp *qp, u32 n)
{
	struct sroce_res *res = NULL, *old;

	if (sroce_qp_may_receive(qp))
		n = max(n, qp->resp.nres);
	if (n) {
		if (!qp->resp.replays.q)
			qp->resp.replays.q = kcalloc(SROCE_REPLAYS_MAX,
						     sizeof(*qp->resp.replays.q),
						     GFP_KERNEL_ACCOUNT);
		if (!qp->resp.replays.q)
			return -ENOMEM;
		res = kcalloc(n, sizeof(*res), GFP_KERNEL_ACCOUNT);
		if (!res)
			return -ENOMEM;
	}
	sroce_task_lock(qp);
	old = sroce_resp_res_resize(qp, res, n);
	sroce_task_unlock(qp);
	kfree(old);
	return 0;
}

/* READs and atomics are refused until max_rd_atomic has been set to more than 0. */
static int alloc_read_buf(struct sroce_qp *qp)
{
	struct sroce_read_buf *buf;

	if (qp->req.read_buf)
		return 0;
	buf = kzalloc(sizeof(*buf), GFP_KERNEL_ACCOUNT);
	if (!buf)
		return -ENOMEM;
	sroce_task_lock(qp);
	sroce_req_set_read_buf(&qp->req, buf);
	sroce_task_unlock(qp);
	return 0;
}

/*
 * Allocate what the new state and attributes need. Hosts may have very many QPs, not all of
 * which get so far, or send READs. What was allocated stays until the QP is destroyed, even
 * if the modify fails.
 */
static int provide(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask,
		   enum ib_qp_state to)
{
	int ret = 0;

	if (to == IB_QPS_RTR || to == IB_QPS_ERR)
		ret = alloc_slots(qp);
	if (!ret && to == IB_QPS_RTR)
		ret = sroce_txq_open(qp);
	if (!ret && mask & IB_QP_AV && !qp->av.dst.cache)
		ret = dst_cache_init(&qp->av.dst, GFP_KERNEL_ACCOUNT);
	if (!ret && mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic)
		ret = alloc_read_buf(qp);
	if (!ret && mask & IB_QP_MAX_DEST_RD_ATOMIC)
		ret = resize_res(qp, attr->max_dest_rd_atomic);
	return ret;
}

/*
 * A path MTU has to fit the netdev. rdma_cm takes the client's for both ends, and neither
 * its messages nor an errno can tell the two users which of their netdevs is the other's
 * trouble.
 */
static int check_path_mtu(struct sroce_qp *qp, enum ib_mtu mtu)
{
	struct net_device *ndev = sroce_sdev_netdev(qp->dev);
	bool fits;

	if (!ndev)
		return -ENODEV;
	fits = mtu <= sroce_sdev_mtu(ndev->mtu);
	if (!fits && mtu <= IB_MTU_4096)
		ibdev_info_ratelimited(&qp->dev->ibdev,
				       "path MTU %d, the peer's perhaps, exceeds MTU %u of %s\n",
				       ib_mtu_enum_to_int(mtu), ndev->mtu, ndev->name);
	dev_put(ndev);
	return fits && mtu >= IB_MTU_256 ? 0 : -EINVAL;
}

static int check_values(struct sroce_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return -EINVAL;
	/* there is no automatic path migration: the only path is active */
	if (mask & IB_QP_ALT_PATH)
		return -EINVAL;
	if (mask & IB_QP_PATH_MIG_STATE &&
	    attr->path_mig_state != IB_MIG_MIGRATED)
		return -EINVAL;
	return mask & IB_QP_PATH_MTU ? check_path_mtu(qp, attr->path_mtu) : 0;
}

/* Attributes are set before the state, which other CPUs read without the lock. */
static void set_attrs(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask,
		      const struct sroce_av *av)
{
	sroce_state_set_attrs(&qp->attr, attr, mask);
	if (mask & IB_QP_PATH_MTU)
		qp->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	if (mask & IB_QP_AV) {
		struct dst_cache dst = qp->av.dst;

		qp->attr.ah_attr.grh.sgid_attr = NULL;
		qp->av = *av;
		qp->av.dst = dst;
		dst_cache_reset(&qp->av.dst);
		sroce_reset_path(qp);
	}
	if (mask & IB_QP_SQ_PSN)
		sroce_reset_req_psn(qp, attr->sq_psn);
}

static void enter_state(struct sroce_qp *qp, enum ib_qp_state from, enum ib_qp_state to)
{
	if (from == IB_QPS_RESET)
		get_random_bytes(qp->psn_base, sizeof(qp->psn_base));
	sroce_state_enter(qp, from, to);
	if (to != IB_QPS_RESET)
		return;
	qp->kqp->posted = qp->sq.prod;
	/* the QP may have another peer soon, and begin at another PSN */
	sroce_task_drop_queued(qp->kqp);
	sroce_pager_reset(qp);
}

static int path_from_attr(struct sroce_qp *qp, struct sroce_av *av,
			  const struct ib_qp_attr *attr, int mask)
{
	u32 peer = mask & IB_QP_DEST_QPN ? attr->dest_qp_num : qp->attr.dest_qp_num;
	int ret = sroce_av_from_attr(qp->dev, av, &attr->ah_attr, qp->qpn ^ peer << 8);

	if (!ret && qp->cc && sroce_is_rc(qp))
		sroce_av_set_ect(qp->dev, av);
	return ret;
}

/*
 * Unlock a QP of which a batch of work requests was flushed. The caller flushes more, or makes
 * a trip more in the end: of a user's QP the tasklet does not go on meanwhile, as a softirq
 * would flush several batches.
 */
static void unlock_between(struct sroce_qp *qp)
{
	if (qp->user)
		sroce_task_unlock_run_once(qp);
	else
		sroce_task_unlock_verb(qp);
}

/*
 * Lock a QP that may have to leave SQE: what was to be flushed must not be executed. Others may
 * go on posting, and have that flushed, too, but can't keep the caller here: then it is left
 * with sroce_sq.flushing.
 */
static void lock_flushed(struct sroce_qp *qp, enum ib_qp_state to)
{
	u32 left = qp->sq.mask / SROCE_FLUSH_BATCH + 1;

	sroce_task_lock(qp);
	for (; unlikely(qp->sq.flushing && to == IB_QPS_RTS) && left; left--) {
		sroce_flush_sq(qp);
		unlock_between(qp);
		cond_resched();
		sroce_task_lock(qp);
	}
}

static int modify_locked(struct sroce_qp *qp, struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state from, to;
	struct sroce_av av = {};
	int ret;

	from = READ_ONCE(qp->state);
	to = mask & IB_QP_STATE ? attr->qp_state : from;
	if (!sroce_state_transition_ok(qp, attr, mask, from, to))
		return -EINVAL;
	ret = check_values(qp, attr, mask);
	if (ret)
		return ret;
	if (mask & IB_QP_AV) {
		ret = path_from_attr(qp, &av, attr, mask);
		if (ret)
			return ret;
	}
	ret = provide(qp, attr, mask, to);
	if (ret)
		return ret;

	lock_flushed(qp, to);
	/* the QP may have entered the error state before it was locked */
	if (qp->state != from && to != IB_QPS_ERR && to != IB_QPS_RESET) {
		sroce_task_unlock_verb(qp);
		return -EINVAL;
	}
	if (qp->sq.flushing && to == IB_QPS_RTS) {
		sroce_task_unlock_verb(qp);
		return -EBUSY;
	}
	if (!qp->user)
		/* pairs with the release in drv/verbs/post.c */
		qp->sq.prod = smp_load_acquire(&qp->kqp->posted);
	set_attrs(qp, attr, mask, &av);
	if (mask & IB_QP_STATE)
		enter_state(qp, from, to);
	if (to == IB_QPS_ERR)
		unlock_between(qp);
	else
		sroce_task_unlock_verb(qp);
	return 0;
}

/* Whether a user's receives are left to be flushed; the tasklet sees to those of others. */
static bool has_receives(const struct sroce_qp *qp)
{
	return qp->user && !qp->srq && sroce_ring_filled(&qp->rq.ring);
}

/*
 * A modify to the error state has flushed the first work requests. Flush the rest in the
 * context of the caller, but no more than the rings hold, or others could keep it here. The
 * tasklet goes on for a process that is killed; a kernel user is about to post a last send, for
 * which there must be room.
 */
static void flush_rest(struct sroce_qp *qp)
{
	u32 rounds = max(qp->sq.mask, qp->rq.ring.mask) / SROCE_FLUSH_BATCH;

	for (; rounds && (READ_ONCE(qp->sq.flushing) || has_receives(qp)); rounds--) {
		if (qp->user && fatal_signal_pending(current))
			break;
		sroce_task_lock(qp);
		if (qp->state == IB_QPS_ERR && qp->sq.flushing)
			sroce_flush_sq(qp);
		if (qp->state == IB_QPS_ERR && has_receives(qp))
			sroce_flush_rq(qp);
		unlock_between(qp);
		cond_resched();
	}
	sroce_task_lock(qp);
	sroce_task_unlock_verb(qp);
}

/**
 * sroce_qp_modify() - change state and attributes of a queue pair
 * @ibqp: the QP
 * @attr: new values
 * @mask: enum ib_qp_attr_mask: the values to change
 * @udata: unused
 *
 * Return: 0, -EINVAL for a transition that is not allowed or a value out of bounds,
 * -EOPNOTSUPP for an attribute that is not in the specification, such as a rate limit,
 * -ENODEV if the netdev is gone, -EBUSY if others went on posting to a QP that is to leave
 * SQE, -ENOMEM for what the new state or an attribute needs: the QP keeps its state then, also
 * on the way from RESET or INIT to the error state.
 */
int sroce_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	int ret;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	sroce_task_send_held(qp);
	mutex_lock(&qp->mutex);
	ret = modify_locked(qp, attr, mask);
	if (!ret && READ_ONCE(qp->state) == IB_QPS_ERR)
		flush_rest(qp);
	mutex_unlock(&qp->mutex);
	return ret;
}

/**
 * sroce_qp_query() - current state and attributes of a queue pair
 * @ibqp: the QP
 * @attr: filled in
 * @mask: all attributes are filled in, but PSNs only if one is asked for
 * @init: filled in
 *
 * Who has the QP asks for what is wanted. The RDMA core asks for nothing, and shows any user
 * what it gets (`rdma resource`). With its PSNs another user of the device could connect a QP to
 * the same peer, and speak for this one. Who is asking the core can't be told here: of a long
 * dump, parts are made by whoever reads from the socket, perhaps a program of root's that was
 * handed it.
 *
 * Return: 0.
 */
int sroce_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	struct sroce_kqp *kqp;

	kqp = sroce_task_lock_query(qp);
	*attr = qp->attr;
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->sq_draining = qp->state == IB_QPS_SQD && !qp->drained;
	attr->rq_psn = qp->state >= IB_QPS_RTR ? qp->resp.psn : attr->rq_psn;
	attr->sq_psn = qp->state >= IB_QPS_RTS ? qp->req.psn : attr->sq_psn;
	sroce_task_unlock_query(qp, kqp);
	if (!(mask & (IB_QP_RQ_PSN | IB_QP_SQ_PSN))) {
		attr->rq_psn = 0;
		attr->sq_psn = 0;
	}

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = qp->type;
	init->port_num = 1;
	return 0;
}

/**
 * sroce_qp_destroy() - destroy a queue pair
 * @ibqp: the QP
 * @udata: unused
 *
 * Waits for trips in progress, never for a peer or a timer to expire.
 *
 * Return: 0.
 */
int sroce_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct sroce_qp *qp = to_sqp(ibqp);

	sroce_task_send_held(qp);
	sroce_qp_tbl_del(qp);
	mutex_lock(&qp->mutex);
	spin_lock_bh(&qp->lock);
	if (!qp->user)
		/* pairs with the release in drv/verbs/post.c */
		qp->sq.prod = smp_load_acquire(&qp->kqp->posted);
	sroce_reset_qp(qp);
	qp->kqp->posted = qp->sq.prod;
	sroce_pager_detach(qp);
	/* keep deferred: a trip that is sending now notifies CQs, which others share */
	qp->events = 0;
	spin_unlock_bh(&qp->lock);
	mutex_unlock(&qp->mutex);
	sroce_qp_tbl_wait(qp->kqp);
	sroce_task_stop(qp->kqp);
	sroce_mw_unbind_qp(qp);
	sroce_mcast_detach_all(qp);
	free_qp(qp);
	return 0;
}
