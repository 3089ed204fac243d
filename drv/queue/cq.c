// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: a ring per CQ, shared with user space if the consumer is there, and
 * notification of the consumer, with moderation for kernel consumers.
 */

#include <linux/hrtimer.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "drv/compat/compat.h"
#include "drv/core/env.h"
#include "drv/lookup/sdev.h"
#include "drv/queue/cq.h"
#include "drv/queue/ringmem.h"

/* Entries that a resize moves at a time with interrupts disabled */
#define RESIZE_BATCH	256

static u32 elem_size(const struct sroce_cq *cq)
{
	return roundup_pow_of_two(max_t(u32, SMP_CACHE_BYTES,
					cq->user ? sizeof(struct ib_uverbs_wc) :
						   sizeof(struct ib_wc)));
}

/* The moderation period is over: notify of fewer completions than mod_count. */
static enum hrtimer_restart mod_timer_fn(struct hrtimer *timer)
{
	struct sroce_cq *cq = container_of(timer, struct sroce_cq, mod_timer);
	unsigned long flags;
	bool wake;

	spin_lock_irqsave(&cq->lock, flags);
	wake = cq->mod_held && cq->notify;
	if (wake) {
		cq->mod_held = 0;
		cq->notify = 0;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (wake)
		sroce_cq_notify(cq);
	return HRTIMER_NORESTART;
}

/**
 * sroce_cq_create() - create a completion queue
 * @ibcq: the queue
 * @attr: number of entries wanted, completion vector
 * @udata: user space: the mmap offset of the ring is returned there
 *
 * Return: 0; -EINVAL beyond a limit; -EOPNOTSUPP for flags: there are no time stamps, as
 * the provider's completions have no member for them, and no overrun is ignored;
 * -ENOMEM; -EFAULT.
 */
int sroce_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata)
{
	struct ib_ucontext *uc = sroce_uc(udata);
	struct sroce_abi_create_cq_resp resp = {};
	struct sroce_cq *cq = to_scq(ibcq);
	u32 slots;
	int ret;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > SROCE_MAX_CQE ||
	    attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	if (udata && udata->outlen < sizeof(resp))
		return -EINVAL;

	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_mutex);
	sroce_hrtimer_setup(&cq->mod_timer, mod_timer_fn, HRTIMER_MODE_REL_SOFT);
	cq->user = udata;
	slots = roundup_pow_of_two(attr->cqe + 1);
	cq->owner = sroce_uc_user(uc);
	ret = sroce_user_add(to_sdev(ibcq->device), cq->owner, SROCE_OBJ_CQ);
	if (ret)
		return ret;
	cq->mem = sroce_ringmem_create(uc, &cq->ring, slots, elem_size(cq));
	if (IS_ERR(cq->mem)) {
		ret = PTR_ERR(cq->mem);
		goto err;
	}
	ibcq->cqe = slots - 1;
	if (udata) {
		sroce_ringmem_describe(cq->mem, &resp.mi);
		ret = ib_copy_to_udata(udata, &resp, sizeof(resp));
		if (ret) {
			sroce_ringmem_destroy(cq->mem);
			goto err;
		}
	}
	sroce_live_inc();
	return 0;
err:
	sroce_user_del(to_sdev(ibcq->device), cq->owner, SROCE_OBJ_CQ);
	return ret;
}

#ifdef SROCE_HAVE_CREATE_CQ_ATTRS
/**
 * sroce_cq_create_attrs() - sroce_cq_create() with an attribute bundle
 * @ibcq: the queue
 * @attr: number of entries wanted, completion vector
 * @attrs: contains the udata; NULL for a kernel CQ
 *
 * Return: as sroce_cq_create()
 */
int sroce_cq_create_attrs(struct ib_cq *ibcq,
			  const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	return sroce_cq_create(ibcq, attr, attrs ? &attrs->driver_udata : NULL);
}
#endif

/**
 * sroce_cq_destroy() - destroy a completion queue
 * @ibcq: the queue, no longer used by any QP
 * @udata: unused
 *
 * Return: 0
 */
int sroce_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct sroce_cq *cq = to_scq(ibcq);
	struct sroce_ringmem *mem = cq->mem;

	/* a dump of the RDMA core's may still find the queue, see drv/dev/res.c */
	spin_lock_irq(&cq->lock);
	cq->mem = NULL;
	cq->ring.buf = NULL;
	spin_unlock_irq(&cq->lock);
	sroce_ringmem_destroy(mem);
	sroce_user_del(to_sdev(ibcq->device), cq->owner, SROCE_OBJ_CQ);
	sroce_live_dec();
	return 0;
}

/**
 * sroce_cq_used() - number of entries not consumed yet
 * @cq: the queue, locked
 *
 * The extended poll of rdma-core before 55 moves the consumer index one entry too far when
 * it finds the ring empty. Then the producer continues at the consumer index.
 *
 * Return: the number of entries.
 */
u32 sroce_cq_used(struct sroce_cq *cq)
{
	struct sroce_ring *r = &cq->ring;
	/* the slots were read before the consumer index was moved */
	u32 cons = smp_load_acquire(&r->buf->consumer_index) & r->mask;

	if (((cons - cq->cons_seen) & r->mask) > ((r->own - cq->cons_seen) & r->mask))
		r->own = cons;
	cq->cons_seen = cons;
	return (r->own - cons) & r->mask;
}

/*
 * Copy entries to a new ring, behind the @moved oldest ones that are there already. For a
 * user CQ this is done in batches, as interrupts are disabled; its consumer can't poll
 * between them. A kernel consumer could, so all entries are copied at once.
 *
 * Return: 1 if there are more entries, 0 if not, -EINVAL if they don't fit.
 */
static int move_entries(struct sroce_cq *cq, const struct sroce_ring *to,
			u32 *moved)
{
	u32 i, used = sroce_cq_used(cq), oldest = cq->ring.own - used;
	u32 n = cq->user ? RESIZE_BATCH : used;

	if (used > to->mask)
		return -EINVAL;
	*moved = min(*moved, used);
	n = min(n, used - *moved);
	for (i = *moved; i < *moved + n; i++)
		memcpy(sroce_ring_slot(to, i),
		       sroce_ring_slot(&cq->ring, oldest + i), 1 << to->shift);
	*moved += n;
	return *moved != used;
}

/* Use a new ring, with @n entries. The CQ is locked. */
static void use_ring(struct sroce_cq *cq, struct sroce_ring *ring, u32 n)
{
	ring->own = n;
	/* entries are written before the index that makes them visible */
	smp_store_release(&ring->buf->producer_index, n);
	cq->ring = *ring;
	cq->cons_seen = 0;
	cq->ibcq.cqe = ring->mask;
}

/* Move all entries. @mem: in: memory of the new ring; out: what is to be freed */
static int move_to(struct sroce_cq *cq, struct sroce_ring *ring, struct sroce_ringmem **mem)
{
	unsigned long flags;
	u32 moved = 0;
	int ret;

	spin_lock_irqsave(&cq->lock, flags);
	while ((ret = move_entries(cq, ring, &moved)) > 0) {
		spin_unlock_irqrestore(&cq->lock, flags);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		spin_lock_irqsave(&cq->lock, flags);
	}
	if (!ret) {
		use_ring(cq, ring, moved);
		swap(cq->mem, *mem);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return ret;
}

/**
 * sroce_cq_resize() - change the size of a completion queue, keeping its entries
 * @ibcq: the queue
 * @cqe: number of entries wanted
 * @udata: user space: the mmap offset of the new ring is returned there
 *
 * The provider holds its lock during the call, so the consumer index of a user CQ does
 * not move.
 *
 * Return: 0; -EINVAL beyond a limit or if the entries don't fit; -ENOMEM; -EFAULT;
 * -EINTR after a fatal signal.
 */
int sroce_cq_resize(struct ib_cq *ibcq, sroce_cqe_arg cqe, struct ib_udata *udata)
{
	struct ib_ucontext *uc = sroce_uc(udata);
	struct sroce_abi_create_cq_resp resp = {};
	struct sroce_cq *cq = to_scq(ibcq);
	struct sroce_ringmem *mem;
	struct sroce_ring ring;
	int ret;

	if (cqe < 1 || cqe > SROCE_MAX_CQE ||
	    (udata && udata->outlen < sizeof(resp)))
		return -EINVAL;
	mem = sroce_ringmem_create(uc, &ring, roundup_pow_of_two(cqe + 1),
				   elem_size(cq));
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	if (udata) {
		sroce_ringmem_describe(mem, &resp.mi);
		if (ib_copy_to_udata(udata, &resp, sizeof(resp))) {
			sroce_ringmem_destroy(mem);
			return -EFAULT;
		}
	}
	ret = mutex_lock_killable(&cq->resize_mutex);
	if (!ret) {
		ret = move_to(cq, &ring, &mem);
		mutex_unlock(&cq->resize_mutex);
	}
	sroce_ringmem_destroy(mem);
	return ret;
}

static u32 user_wc_flags(u32 flags)
{
	return (flags & IB_WC_GRH ? SROCE_ABI_WC_GRH : 0) |
	       (flags & IB_WC_WITH_IMM ? SROCE_ABI_WC_WITH_IMM : 0) |
	       (flags & IB_WC_WITH_INVALIDATE ? SROCE_ABI_WC_WITH_INV : 0);
}

/*
 * A17.4.5.1: a datagram's completion says whether it came by IPv4 or IPv6. struct ibv_wc has
 * no member for that, so ConnectX says it in the SL, which RoCE doesn't have, and UCX reads
 * it there.
 */
static u8 user_wc_sl(const struct sroce_cqe *cqe)
{
	if (!(cqe->wc_flags & IB_WC_GRH))
		return 0;
	return cqe->v6 ? SROCE_ABI_SL_IPV6 : SROCE_ABI_SL_IPV4;
}

/* What struct ib_wc and struct ib_uverbs_wc have in common */
#define fill_wc(wc, cqe)						\
do {									\
	memset(wc, 0, sizeof(*(wc)));					\
	(wc)->wr_id = (cqe)->wr_id;					\
	(wc)->status = (cqe)->status;					\
	(wc)->opcode = (cqe)->opcode;					\
	(wc)->byte_len = (cqe)->byte_len;				\
	if ((cqe)->wc_flags & IB_WC_WITH_INVALIDATE)			\
		(wc)->ex.invalidate_rkey = (cqe)->inv_rkey;		\
	else								\
		(wc)->ex.imm_data = (cqe)->imm;				\
	(wc)->src_qp = (cqe)->src_qp;					\
	(wc)->pkey_index = (cqe)->pkey_index;				\
	(wc)->port_num = 1;						\
} while (0)

static void put_user_wc(struct ib_uverbs_wc *wc, const struct sroce_qp *qp,
			const struct sroce_cqe *cqe)
{
	fill_wc(wc, cqe);
	wc->qp_num = qp->ibqp.qp_num;
	wc->wc_flags = user_wc_flags(cqe->wc_flags);
	wc->sl = user_wc_sl(cqe);
}

static void put_kernel_wc(struct ib_wc *wc, struct sroce_qp *qp,
			  const struct sroce_cqe *cqe)
{
	fill_wc(wc, cqe);
	wc->qp = &qp->ibqp;
	wc->wc_flags = cqe->wc_flags;
	if (cqe->wc_flags & IB_WC_GRH) {
		wc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = cqe->v6 ? RDMA_NETWORK_IPV6 :
						 RDMA_NETWORK_IPV4;
	}
	if (cqe->vlan != 0xffff) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = cqe->vlan;
	}
}

/* Return: false if the handler runs already; then it will be called once more. */
static bool handler_enter(struct sroce_cq *cq)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&cq->lock, flags);
	first = !cq->in_handler;
	cq->in_handler = true;
	cq->handler_again = !first;
	spin_unlock_irqrestore(&cq->lock, flags);
	return first;
}

/* Return: whether the handler must be called again, for a notification while it ran */
static bool handler_rerun(struct sroce_cq *cq)
{
	unsigned long flags;
	bool again;

	spin_lock_irqsave(&cq->lock, flags);
	again = cq->handler_again;
	cq->in_handler = again;
	cq->handler_again = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	return again;
}

/**
 * sroce_cq_notify() - call the consumer's completion handler
 * @cq: the queue, which was armed
 *
 * The handler of a kernel consumer runs on one CPU at a time, as consumers may expect that.
 * A CPU that finds it running makes the other CPU call it again, and returns.
 *
 * The queue can't be destroyed meanwhile, as the caller is in a trip into one of its QPs,
 * or in the moderation timer, which sroce_cq_detach_qp() stops.
 *
 * Context: no lock held, as a handler may poll, arm and post.
 */
void sroce_cq_notify(struct sroce_cq *cq)
{
	struct ib_cq *ibcq = &cq->ibcq;

	if (!ibcq->comp_handler || (!cq->user && !handler_enter(cq)))
		return;
	do {
		ibcq->comp_handler(ibcq, ibcq->cq_context);
	} while (!cq->user && handler_rerun(cq));
}

static void start_moderation(struct sroce_cq *cq)
{
	if (!hrtimer_is_queued(&cq->mod_timer))
		hrtimer_start(&cq->mod_timer, ns_to_ktime(cq->mod_usec * (u64)NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
}

/* Return: whether the notification is delayed by moderation. The CQ is locked and armed. */
static bool moderate(struct sroce_cq *cq)
{
	if (cq->mod_count < 2 || !cq->mod_usec || ++cq->mod_held >= cq->mod_count) {
		cq->mod_held = 0;
		return false;
	}
	start_moderation(cq);
	return true;
}

/**
 * sroce_cq_modify() - set moderation, which reduces the calls of the handler
 * @ibcq: the queue
 * @count: completions that cause a call
 * @period: time in us after which fewer completions cause one
 *
 * There is no moderation if @count is below 2 or @period is 0. It is for kernel consumers: the
 * device reports a maximum of 0 for both to user space, and a process that has destroyed its
 * last QP could not be told of what is in the queue.
 *
 * Return: 0; -EOPNOTSUPP for a process
 */
int sroce_cq_modify(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct sroce_cq *cq = to_scq(ibcq);
	unsigned long flags;

	if (cq->user)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, flags);
	cq->mod_count = count;
	cq->mod_usec = period;
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
}

/**
 * sroce_cq_attach_qp() - count a QP that completes to a queue
 * @cq: the queue; one call for each of a QP's send and receive queue
 */
void sroce_cq_attach_qp(struct sroce_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->qps++;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/*
 * Remove the completions of a kernel user's QP, which is about to be freed: wc->qp points to it.
 * The consumer polls under the same lock.
 */
static void remove_completions(struct sroce_cq *cq, const struct ib_qp *ibqp)
{
	struct sroce_ring *r = &cq->ring;
	u32 from = r->buf->consumer_index, to = from;
	const struct ib_wc *wc;

	for (; from != r->own; from = (from + 1) & r->mask) {
		wc = sroce_ring_slot(r, from);
		if (wc->qp == ibqp)
			continue;
		if (to != from)
			memcpy(sroce_ring_slot(r, to), wc, sizeof(*wc));
		to = (to + 1) & r->mask;
	}
	r->own = to;
	/* as in sroce_ring_produce(): the slots are filled before the index moves */
	smp_store_release(&r->buf->producer_index, to);
}

/**
 * sroce_cq_detach_qp() - undo sroce_cq_attach_qp()
 * @cq: the queue; there are no more trips into the QP
 * @ibqp: the QP; a kernel user's has no more completions in the queue then
 *
 * After the last QP is gone the handler must not be called: consumers stop what their
 * handlers have started and destroy the queue then.
 *
 * Context: process, waits for the moderation timer.
 */
void sroce_cq_detach_qp(struct sroce_cq *cq, const struct ib_qp *ibqp)
{
	unsigned long flags;
	bool last;

	spin_lock_irqsave(&cq->lock, flags);
	last = !--cq->qps;
	if (!cq->user)
		remove_completions(cq, ibqp);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (!last)
		return;
	hrtimer_cancel(&cq->mod_timer);
	/* for a QP that was attached meanwhile, and has completions that the timer was to tell */
	spin_lock_irqsave(&cq->lock, flags);
	if (cq->qps && cq->mod_held)
		start_moderation(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
}

/**
 * sroce_cq_overflow_event() - report that the queue has overflowed (11.6.3.2)
 * @cq: the queue; it takes no more completions
 *
 * Context: no lock held, as the consumer's event handler is called.
 */
void sroce_cq_overflow_event(struct sroce_cq *cq)
{
	struct ib_event ev = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&ev, cq->ibcq.cq_context);
}

/**
 * sroce_cq_post() - add a completion
 * @qp: the QP of the work request, locked
 * @cq: the queue
 * @cqe: the completion
 * @solicited: notify also a consumer that waits for solicited completions only
 * @defer: bit of sroce_qp.deferred: it is set if the consumer is to be notified, and
 *	SROCE_DEFER_OVERFLOW(@defer) is set if the queue has overflowed now
 *
 * Return: false if the queue has overflowed, now or earlier.
 */
bool sroce_cq_post(struct sroce_qp *qp, struct sroce_cq *cq,
		   const struct sroce_cqe *cqe, bool solicited, u32 defer)
{
	bool lost, first = false;
	unsigned long flags;
	void *slot;

	spin_lock_irqsave(&cq->lock, flags);
	lost = cq->overflowed;
	if (!lost && sroce_cq_used(cq) == cq->ring.mask) {
		lost = true;
		first = true;
		cq->overflowed = true;
	}
	if (!lost) {
		slot = sroce_ring_slot(&cq->ring, cq->ring.own);
		if (cq->user)
			put_user_wc(slot, qp, cqe);
		else
			put_kernel_wc(slot, qp, cqe);
		sroce_ring_produce(&cq->ring);
		if ((cq->notify == IB_CQ_NEXT_COMP ||
		     (cq->notify == IB_CQ_SOLICITED && solicited)) &&
		    !moderate(cq)) {
			cq->notify = 0;
			qp->deferred |= defer;
		}
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (unlikely(first)) {
		sroce_count(qp, SROCE_CNT_CQ_OVERFLOW);
		qp->deferred |= SROCE_DEFER_OVERFLOW(defer);
	}
	return !lost;
}

/**
 * sroce_cq_poll() - take completions from a kernel CQ
 * @ibcq: the queue
 * @num: size of @wc
 * @wc: filled in
 *
 * Return: number of completions taken, or -EINVAL for a queue of user space, whose entries are
 * not the kernel's.
 */
int sroce_cq_poll(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct sroce_cq *cq = to_scq(ibcq);
	struct sroce_ring *r = &cq->ring;
	unsigned long flags;
	u32 cons;
	int n;

	if (unlikely(cq->user))
		return -EINVAL;
	spin_lock_irqsave(&cq->lock, flags);
	cons = r->buf->consumer_index;
	for (n = 0; n < num && cons != r->own; n++) {
		memcpy(&wc[n], sroce_ring_slot(r, cons), sizeof(*wc));
		cons = (cons + 1) & r->mask;
	}
	/* the slots are read before they are given back */
	smp_store_release(&r->buf->consumer_index, cons);
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

/**
 * sroce_cq_req_notify() - arm a queue for one notification
 * @ibcq: the queue
 * @flags: IB_CQ_SOLICITED, IB_CQ_NEXT_COMP, or IB_CQ_SOLICITED_MASK, which is both of them
 *	and arms for any completion (net/smc has that); and IB_CQ_REPORT_MISSED_EVENTS
 *
 * Return: 1 if asked to report missed events and there are entries, else 0.
 */
int sroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	u8 how = flags & IB_CQ_NEXT_COMP ? IB_CQ_NEXT_COMP : flags & IB_CQ_SOLICITED;
	struct sroce_cq *cq = to_scq(ibcq);
	unsigned long irq;
	int ret;

	spin_lock_irqsave(&cq->lock, irq);
	if (cq->notify != IB_CQ_NEXT_COMP)
		cq->notify = how;
	ret = flags & IB_CQ_REPORT_MISSED_EVENTS && sroce_cq_used(cq);
	spin_unlock_irqrestore(&cq->lock, irq);
	return ret;
}
