// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues. */

#include <linux/slab.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "drv/dev.h"

/* Entries moved at a time when a queue is resized */
#define RESIZE_BATCH	256

static u32 elem_size(const struct sroce_cq *cq)
{
	return roundup_pow_of_two(max_t(u32, SMP_CACHE_BYTES,
					cq->user ? sizeof(struct ib_uverbs_wc) :
						   sizeof(struct ib_wc)));
}

static enum hrtimer_restart late_fn(struct hrtimer *timer)
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
 * sroce_cq_create() - make a completion queue
 * @ibcq: the queue
 * @attr: entries wanted, completion vector
 * @udata: where the ring's place goes, for user space
 *
 * Return: 0, -EINVAL beyond a limit, -EOPNOTSUPP for flags: time stamps, which
 * the provider's completions have no room for, and entries that may be lost.
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
	sroce_hrtimer_setup(&cq->mod_timer, late_fn, HRTIMER_MODE_REL_SOFT);
	cq->user = udata;
	slots = roundup_pow_of_two(attr->cqe + 1);
	cq->mem = sroce_ringmem_create(uc, &cq->ring, slots, elem_size(cq));
	if (IS_ERR(cq->mem))
		return PTR_ERR(cq->mem);
	ibcq->cqe = slots - 1;
	if (udata) {
		sroce_ringmem_describe(cq->mem, &resp.mi);
		ret = ib_copy_to_udata(udata, &resp, sizeof(resp));
		if (ret) {
			sroce_ringmem_destroy(cq->mem);
			return ret;
		}
	}
	sroce_live_inc();
	return 0;
}

#ifdef SROCE_HAVE_CREATE_CQ_ATTRS
int sroce_cq_create_attrs(struct ib_cq *ibcq,
			  const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	return sroce_cq_create(ibcq, attr, attrs ? &attrs->driver_udata : NULL);
}
#endif

/**
 * sroce_cq_destroy() - end a completion queue; no QP uses it any more
 * @ibcq: the queue
 * @udata: unused
 */
int sroce_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata)
{
	sroce_ringmem_destroy(to_scq(ibcq)->mem);
	sroce_live_dec();
	return 0;
}

/**
 * sroce_cq_used() - entries not consumed
 * @cq: the queue, locked
 *
 * The extended poll of rdma-core before 55 steps one entry too far when it finds
 * the ring empty; then we go on from where it stands.
 */
u32 sroce_cq_used(struct sroce_cq *cq)
{
	struct sroce_ring *r = &cq->ring;
	/* who polls has read the slots before it gives them back */
	u32 cons = smp_load_acquire(&r->buf->consumer_index) & r->mask;

	if (((cons - cq->cons_seen) & r->mask) > ((r->own - cq->cons_seen) & r->mask))
		r->own = cons;
	cq->cons_seen = cons;
	return (r->own - cons) & r->mask;
}

/*
 * Some more entries go to a new ring, after the @moved oldest: not all at once,
 * as interrupts are off. A kernel's consumer may poll in between, a user's may
 * not.
 *
 * Return: 1 if there are more, 0 if not, or -EINVAL if there is no room.
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

/**
 * sroce_cq_resize() - change the number of entries, keeping what is in there
 * @ibcq: the queue
 * @cqe: entries wanted
 * @udata: where the new ring's place goes
 *
 * The provider holds its lock, so a user's consumer index does not move.
 */
int sroce_cq_resize(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	struct ib_ucontext *uc = sroce_uc(udata);
	struct sroce_abi_create_cq_resp resp = {};
	struct sroce_cq *cq = to_scq(ibcq);
	struct sroce_ringmem *map, *old;
	struct sroce_ring ring;
	unsigned long flags;
	u32 moved = 0;
	int ret;

	if (cqe < 1 || cqe > SROCE_MAX_CQE ||
	    (udata && udata->outlen < sizeof(resp)))
		return -EINVAL;
	map = sroce_ringmem_create(uc, &ring, roundup_pow_of_two(cqe + 1),
			       elem_size(cq));
	if (IS_ERR(map))
		return PTR_ERR(map);
	if (udata) {
		sroce_ringmem_describe(map, &resp.mi);
		if (ib_copy_to_udata(udata, &resp, sizeof(resp))) {
			sroce_ringmem_destroy(map);
			return -EFAULT;
		}
	}
	for (;;) {
		spin_lock_irqsave(&cq->lock, flags);
		ret = move_entries(cq, &ring, &moved);
		if (ret <= 0)
			break;
		spin_unlock_irqrestore(&cq->lock, flags);
		cond_resched();
	}
	if (ret) {
		spin_unlock_irqrestore(&cq->lock, flags);
		sroce_ringmem_destroy(map);
		return ret;
	}
	ring.own = moved;
	/* the entries are there before they are seen */
	smp_store_release(&ring.buf->producer_index, moved);
	old = cq->mem;
	cq->mem = map;
	cq->ring = ring;
	cq->cons_seen = 0;
	ibcq->cqe = ring.mask;
	spin_unlock_irqrestore(&cq->lock, flags);
	sroce_ringmem_destroy(old);
	return 0;
}

static u32 user_wc_flags(u32 flags)
{
	return (flags & IB_WC_GRH ? SROCE_ABI_WC_GRH : 0) |
	       (flags & IB_WC_WITH_IMM ? SROCE_ABI_WC_WITH_IMM : 0) |
	       (flags & IB_WC_WITH_INVALIDATE ? SROCE_ABI_WC_WITH_INV : 0);
}

static void put_user_wc(struct ib_uverbs_wc *wc, const struct sroce_qp *qp,
			const struct sroce_cqe *cqe)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->byte_len = cqe->byte_len;
	if (cqe->wc_flags & IB_WC_WITH_INVALIDATE)
		wc->ex.invalidate_rkey = cqe->inv_rkey;
	else
		wc->ex.imm_data = cqe->imm;
	wc->qp_num = qp->ibqp.qp_num;
	wc->src_qp = cqe->src_qp;
	wc->wc_flags = user_wc_flags(cqe->wc_flags);
	wc->pkey_index = cqe->pkey_index;
	wc->port_num = 1;
}

static void put_kernel_wc(struct ib_wc *wc, struct sroce_qp *qp,
			  const struct sroce_cqe *cqe)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->byte_len = cqe->byte_len;
	if (cqe->wc_flags & IB_WC_WITH_INVALIDATE)
		wc->ex.invalidate_rkey = cqe->inv_rkey;
	else
		wc->ex.imm_data = cqe->imm;
	wc->qp = &qp->ibqp;
	wc->src_qp = cqe->src_qp;
	wc->wc_flags = cqe->wc_flags;
	wc->pkey_index = cqe->pkey_index;
	wc->port_num = 1;
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

static bool handler_begins(struct sroce_cq *cq)
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

/* Whether it has to be called once more, for somebody who came meanwhile */
static bool handler_repeats(struct sroce_cq *cq)
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
 * sroce_cq_notify() - call the consumer's handler
 * @cq: the queue, armed until now
 *
 * No lock is held: a handler polls, arms and posts. Only one of them runs at a
 * time, as consumers in the kernel may expect: whoever comes meanwhile leaves it
 * to the one that is there, and may go. The queue stays, since a burst of one of its QPs
 * is in here.
 */
void sroce_cq_notify(struct sroce_cq *cq)
{
	struct ib_cq *ibcq = &cq->ibcq;

	if (!ibcq->comp_handler || (!cq->user && !handler_begins(cq)))
		return;
	do {
		ibcq->comp_handler(ibcq, ibcq->cq_context);
	} while (!cq->user && handler_repeats(cq));
}

/* Whether the handler can wait for more; the queue is locked and armed. */
static bool hold_back(struct sroce_cq *cq)
{
	if (cq->mod_count < 2 || !cq->mod_usec || ++cq->mod_held >= cq->mod_count) {
		cq->mod_held = 0;
		return false;
	}
	if (!hrtimer_is_queued(&cq->mod_timer))
		hrtimer_start(&cq->mod_timer, ns_to_ktime(cq->mod_usec *
						     (u64)NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
	return true;
}

/**
 * sroce_cq_modify() - moderation: fewer calls of the handler
 * @ibcq: the queue
 * @count: completions that are worth one
 * @period: us after which fewer are; without both there is no moderation
 *
 * For kernel users. Its bounds are attributes that only user space asks for, and
 * the provider has no such call: so there they are 0.
 */
int sroce_cq_modify(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct sroce_cq *cq = to_scq(ibcq);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->mod_count = count;
	cq->mod_usec = period;
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
}

/**
 * sroce_cq_attach_qp() - a QP's completions will come here
 * @cq: the queue
 */
void sroce_cq_attach_qp(struct sroce_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->qps++;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/**
 * sroce_cq_detach_qp() - no more of them; no burst of the QP is left
 * @cq: the queue
 *
 * Consumers stop what their handlers have started, and then destroy the queue:
 * no handler may be called once the last QP is gone.
 */
void sroce_cq_detach_qp(struct sroce_cq *cq)
{
	unsigned long flags;
	bool last;

	spin_lock_irqsave(&cq->lock, flags);
	last = !--cq->qps;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (last)
		hrtimer_cancel(&cq->mod_timer);
}

/**
 * sroce_cq_overflow_event() - say once that the queue was full, and takes no more
 * @cq: the queue
 *
 * 11.6.3.2. No lock is held, as the owner's handler is called.
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
 * @qp: whose work it was, locked
 * @cq: the queue
 * @cqe: the completion
 * @solicited: it wakes a consumer that waits for solicited ones
 * @duty: bit to set in @qp's duties if the consumer must be woken; if it is to
 *	hear of an overflow, the one that SROCE_DEFER_OVERFLOW() makes of it
 *
 * Return: false if the queue has overflowed, now or earlier.
 */
bool sroce_cq_post(struct sroce_qp *qp, struct sroce_cq *cq,
		   const struct sroce_cqe *cqe, bool solicited, u32 duty)
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
		    !hold_back(cq)) {
			cq->notify = 0;
			qp->deferred |= duty;
		}
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (unlikely(first)) {
		sroce_count(qp, SROCE_CNT_CQ_OVERFLOW);
		qp->deferred |= SROCE_DEFER_OVERFLOW(duty);
	}
	return !lost;
}

/**
 * sroce_cq_poll() - take completions from a kernel CQ
 * @ibcq: the queue
 * @num: room in @wc
 * @wc: filled in
 *
 * Return: how many there were.
 */
int sroce_cq_poll(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct sroce_cq *cq = to_scq(ibcq);
	struct sroce_ring *r = &cq->ring;
	unsigned long flags;
	u32 cons;
	int n;

	spin_lock_irqsave(&cq->lock, flags);
	cons = r->buf->consumer_index;
	for (n = 0; n < num && cons != r->own; n++) {
		memcpy(&wc[n], sroce_ring_slot(r, cons), sizeof(*wc));
		cons = (cons + 1) & r->mask;
	}
	/* done with the slots */
	smp_store_release(&r->buf->consumer_index, cons);
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

/**
 * sroce_cq_req_notify() - arm a queue for one notification
 * @ibcq: the queue
 * @flags: which completions count
 *
 * Return: 1 if asked to report missed events and there are entries, else 0.
 */
int sroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	u8 how = flags & IB_CQ_SOLICITED_MASK;
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
