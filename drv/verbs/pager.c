// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Faults in pages of on-demand regions, in process context. Each QP has a job for the pages
 * that it waits for: the QP is called when they are present. Other jobs prefetch pages on the
 * advice of a user.
 *
 * A job may take for ever, and nothing waits for it. It has references to the pages of
 * regions, not to regions, and a QP that is destroyed is detached from its job.
 */

#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/core/transport.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/qp_tbl.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/user.h"
#include "drv/mem/faultq.h"
#include "drv/mem/odp.h"
#include "drv/mem/region.h"
#include "drv/task/task.h"
#include "drv/verbs/pager.h"

/* Bytes that are faulted in before the QP is called, even if it needs less, and then at once */
#define STEP		(64 * PAGE_SIZE)
/* Most fault requests that a QP has queued */
#define REQS		8
/* Most failed fault requests that a QP remembers */
#define ERRORS		4
/* What the pages of a region that is gone take, about, in bytes */
#define ODP_BYTES	512U

/*
 * Pages that one advice may find present; those that are absent, and stay so, count more. It is a
 * hint only, and the work is not charged to the CPU time of the process.
 */
#define PREFETCH_BUDGET	(4U << 20)

/**
 * struct fault_req - a range of a region to fault in
 * @odp: pages of the region, held
 * @key: key of the region
 * @iova: first byte
 * @need: bytes that the QP waits for
 * @len: bytes to fault in, at least @need; the rest is read-ahead
 * @write: fault in for writing
 */
struct fault_req {
	struct sroce_odp	*odp;
	u32			key;
	u64			iova;
	u32			need;
	u32			len;
	bool			write;
};

/**
 * struct fault_error - a fault request that failed
 * @key: key of the region
 * @iova: first byte that could not be faulted in
 * @write: the request was for writing
 * @fresh: not reported to the QP yet
 */
struct fault_error {
	u32	key;
	u64	iova;
	bool	write;
	bool	fresh;
};

/**
 * struct sroce_pager - faults in pages for a QP
 * @ref: references: the QP, and @job while it is @active
 * @lock: guards the members below, inside the lock of the QP
 * @kqp: the QP; NULL when it is detached
 * @job: processes @req
 * @active: @job was added, and has not ended
 * @enough: what is needed is there, so the rest of the requests that are processed may go
 * @worker: the task that processes requests, or NULL
 * @n: number of entries in @req
 * @req: fault requests
 * @error: ring of the last requests that failed
 * @next_error: number of entries ever written to @error
 */
struct sroce_pager {
	refcount_t		ref;
	spinlock_t		lock;
	struct sroce_kqp	*kqp;
	struct sroce_fault_job	job;
	bool			active;
	bool			enough;
	struct task_struct	*worker;
	u32			n;
	struct fault_req	req[REQS];
	struct fault_error	error[ERRORS];
	u32			next_error;
};

static void pager_put(struct sroce_pager *pg)
{
	if (!refcount_dec_and_test(&pg->ref))
		return;
	kfree(pg);
	sroce_live_dec();
}

static enum sroce_fault fault_of(const struct fault_req *req)
{
	return req->write ? SROCE_FAULT_WRITE : SROCE_FAULT_READ;
}

/* Record a page that could not be faulted in; the next request for it fails. */
static void record_error(struct sroce_pager *pg, const struct fault_req *req)
{
	struct fault_error *f;

	spin_lock_bh(&pg->lock);
	f = &pg->error[pg->next_error++ % ERRORS];
	*f = (struct fault_error){
		.key = req->key, .iova = req->iova,
		.write = req->write, .fresh = true,
	};
	spin_unlock_bh(&pg->lock);
}

/* Fault in the next @len bytes. Return: false if there is no point in going on. */
static bool fault_in(struct sroce_pager *pg, struct fault_req *req, u32 len)
{
	u64 from = req->iova;
	u32 done;
	int ret;

	len = min(len, req->len);
	if (!len)
		return false;
	ret = sroce_odp_fault_in(req->odp, &req->iova, len, fault_of(req), NULL);
	if (ret && ret != -EBUSY && ret != -EINTR && req->iova - from < req->need)
		record_error(pg, req);
	if (ret)
		return false;
	done = min_t(u64, req->iova - from, req->len);
	req->len -= done;
	req->need -= min(done, req->need);
	return true;
}

static void fault_in_needed(struct sroce_pager *pg, struct fault_req *req)
{
	if (!fault_in(pg, req, max_t(u32, req->need, STEP)))
		req->len = 0;
}

/* Fault in the rest of a request, until there are new requests or the QP is reset. */
static void fault_in_ahead(struct sroce_pager *pg, struct fault_req *req)
{
	while (req->len && !READ_ONCE(pg->n) && !READ_ONCE(pg->enough))
		if (!fault_in(pg, req, STEP))
			break;
}

/* Take the requests of a QP. Return: how many */
static u32 take_requests(struct sroce_pager *pg, struct fault_req *req)
{
	u32 n;

	spin_lock_bh(&pg->lock);
	n = pg->n;
	memcpy(req, pg->req, n * sizeof(*req));
	WRITE_ONCE(pg->n, 0);
	pg->enough = !pg->kqp;
	pg->worker = current;
	spin_unlock_bh(&pg->lock);
	return n;
}

/* Have the QP go on, unless it is detached. */
static void resume(struct sroce_pager *pg)
{
	struct sroce_kqp *kqp;

	spin_lock_bh(&pg->lock);
	kqp = pg->kqp;
	/* sroce_qp_tbl_wait(), after the QP is detached, waits for the trip */
	if (kqp)
		refcount_inc(&kqp->ref);
	spin_unlock_bh(&pg->lock);
	if (!kqp)
		return;
	sroce_task_lock(kqp->qp);
	sroce_transport_faulted_in(kqp->qp);
	sroce_task_unlock_run(kqp->qp);
	sroce_qp_tbl_put(kqp);
}

static void add_job(struct sroce_pager *pg)
{
	sroce_faultq_add(sroce_odp_faultq(pg->req[0].odp, SROCE_FAULT_NEEDED), &pg->job);
}

/* The job has done what it can. It is added again if there are new requests. */
static void finish(struct sroce_pager *pg, bool may_fault)
{
	bool again;

	spin_lock_bh(&pg->lock);
	pg->worker = NULL;
	again = pg->n && may_fault;
	pg->active = again;
	if (again)
		add_job(pg);
	spin_unlock_bh(&pg->lock);
	if (!again)
		pager_put(pg);
}

/* The job of a QP: fault in what is requested, and have the QP go on. */
static void pager_fn(struct sroce_fault_job *job, bool may_fault)
{
	struct sroce_pager *pg = container_of(job, struct sroce_pager, job);
	struct fault_req req[REQS];
	u32 i, n = take_requests(pg, req);

	for (i = 0; i < n && may_fault; i++)
		fault_in_needed(pg, &req[i]);
	if (may_fault)
		resume(pg);
	for (i = 0; i < n; i++) {
		if (may_fault)
			fault_in_ahead(pg, &req[i]);
		sroce_odp_put(req[i].odp);
	}
	finish(pg, may_fault);
}

/* Whether a range could not be faulted in since it was last requested; reported once */
static bool has_failed(struct sroce_pager *pg, const struct fault_req *req)
{
	u64 first = req->iova & PAGE_MASK;
	u32 i;

	for (i = 0; req->need && i < ERRORS; i++) {
		struct fault_error *f = &pg->error[i];

		if (!f->fresh || f->key != req->key ||
		    f->write > req->write ||
		    f->iova - first >= req->iova + req->need - first)
			continue;
		f->fresh = false;
		return true;
	}
	return false;
}

/*
 * Whether the needed pages are present by now. If so, the QP should not wait for the same
 * pages of a long scatter/gather list once more.
 */
static bool is_present(const struct fault_req *req)
{
	if (!req->need ||
	    sroce_odp_enter(req->odp, req->iova, req->need, req->write))
		return false;
	sroce_odp_leave(req->odp);
	return true;
}

/* Add a request to an earlier one that covers it. Return: whether that was possible. */
static bool merge(struct fault_req *was, const struct fault_req *req)
{
	u64 skip = req->iova - was->iova;

	if (was->odp != req->odp || was->write < req->write ||
	    skip >= was->len || req->len > was->len - skip)
		return false;
	if (req->need)
		was->need = max_t(u32, was->need, skip + req->need);
	return true;
}

/* Add a request. Without a free entry the caller requests again when the others are done. */
static void add_request(struct sroce_pager *pg, struct fault_req *req)
{
	u32 i;

	for (i = 0; i < pg->n && !merge(&pg->req[i], req); i++)
		;
	if (i < pg->n || i == REQS)
		return;
	if (is_present(req))
		req->len = req->need;
	sroce_odp_get(req->odp);
	pg->req[i] = *req;
	WRITE_ONCE(pg->n, i + 1);
}

/**
 * sroce_pager_fault_in() - request that pages are faulted in for a QP
 * @qp: the QP, locked
 * @mr: the region
 * @iova: first byte
 * @need: bytes that are needed before the QP can go on
 * @len: bytes that are of use, those included
 * @write: fault in for writing
 *
 * The job runs on this CPU. If another CPU went on sending, its packets could overtake those
 * that this CPU has sent.
 *
 * Return: -EAGAIN: sroce_transport_faulted_in() is called when the needed pages are present;
 * -EFAULT: they could not be faulted in when this was tried before.
 */
int sroce_pager_fault_in(struct sroce_qp *qp, struct sroce_mr *mr, u64 iova, u32 need,
			 u32 len, bool write)
{
	struct sroce_pager *pg = qp->kqp->pager;
	struct fault_req req = {
		.odp = mr->odp, .key = mr->key, .iova = iova,
		.need = need, .len = len, .write = write,
	};
	bool failed;

	spin_lock(&pg->lock);
	failed = has_failed(pg, &req);
	if (!failed) {
		add_request(pg, &req);
		WRITE_ONCE(pg->job.cpu, smp_processor_id());
		if (!pg->active) {
			pg->active = true;
			refcount_inc(&pg->ref);
			add_job(pg);
		}
	}
	spin_unlock(&pg->lock);
	return failed ? -EFAULT : -EAGAIN;
}

/**
 * sroce_pager_attach() - give a QP a pager
 * @qp: the QP
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_pager_attach(struct sroce_qp *qp)
{
	struct sroce_pager *pg = kzalloc(sizeof(*pg), GFP_KERNEL_ACCOUNT);

	if (!pg)
		return -ENOMEM;
	sroce_live_inc();
	refcount_set(&pg->ref, 1);
	spin_lock_init(&pg->lock);
	pg->kqp = qp->kqp;
	sroce_faultq_init_job(&pg->job, pager_fn);
	qp->kqp->pager = pg;
	return 0;
}

/* Have the job of a QP end as soon as it can. */
static void end_job(struct sroce_pager *pg)
{
	WRITE_ONCE(pg->enough, true);
	if (pg->worker)
		send_sig(SIGKILL, pg->worker, 1);
}

/**
 * sroce_pager_detach() - drop the requests of a QP, and what its job will find
 * @qp: the QP, in RESET and locked, or not in use; it may have no pager
 *
 * A fault that waits for its page goes on waiting, if it can't be ended.
 *
 * Context: process; does not sleep.
 */
void sroce_pager_detach(struct sroce_qp *qp)
{
	struct sroce_pager *pg = qp->kqp->pager;
	bool cancelled;

	if (!pg)
		return;
	qp->kqp->pager = NULL;
	spin_lock_bh(&pg->lock);
	pg->kqp = NULL;
	cancelled = pg->active && sroce_faultq_cancel(&pg->job);
	while (pg->n) {
		WRITE_ONCE(pg->n, pg->n - 1);
		sroce_odp_put(pg->req[pg->n].odp);
	}
	if (pg->worker)
		sroce_count(qp, SROCE_CNT_ODP_DETACHED);
	end_job(pg);
	spin_unlock_bh(&pg->lock);
	if (cancelled)
		pager_put(pg);
	pager_put(pg);
}

/**
 * sroce_pager_reset() - forget recorded errors of a QP, and end what was requested
 * @qp: the QP, locked, going to RESET
 */
void sroce_pager_reset(struct sroce_qp *qp)
{
	struct sroce_pager *pg = qp->kqp->pager;

	spin_lock(&pg->lock);
	memset(pg->error, 0, sizeof(pg->error));
	end_job(pg);
	spin_unlock(&pg->lock);
}

/**
 * struct prefetch - pages to be faulted in before they are needed
 * @job: faults them in
 * @ref: references: the job, and a user who waits for it
 * @done: the job is done
 * @ret: its first error, or 0
 * @fault: for reading, for writing, or only pages that are present in the process
 * @owner: user that @charged is charged to, NULL for a kernel user
 * @charged: bytes of this and of what it may be the last to hold
 * @n: entries of @req
 * @req: ranges
 */
struct prefetch {
	struct sroce_fault_job	job;
	refcount_t		ref;
	struct completion	done;
	int			ret;
	enum sroce_fault	fault;
	struct sroce_user	*owner;
	size_t			charged;
	u32			n;
	struct fault_req	req[];
};

static void prefetch_put(struct prefetch *pf)
{
	if (!refcount_dec_and_test(&pf->ref))
		return;
	while (pf->n)
		sroce_odp_put(pf->req[--pf->n].odp);
	sroce_user_uncharge(pf->owner, pf->charged);
	kvfree(pf);
	sroce_live_dec();
}

static void prefetch_fn(struct sroce_fault_job *job, bool may_fault)
{
	struct prefetch *pf = container_of(job, struct prefetch, job);
	int ret = may_fault ? 0 : -ENODEV;
	u32 budget = PREFETCH_BUDGET, i;

	for (i = 0; i < pf->n && !ret && budget; i++) {
		struct fault_req *req = &pf->req[i];

		if (req->len)
			ret = sroce_odp_fault_in(req->odp, &req->iova, req->len,
						 pf->fault, &budget);
	}
	pf->ret = ret;
	complete(&pf->done);
	prefetch_put(pf);
}

/* Whether a region may be prefetched: 0 or an error of sroce_pager_advise() */
static int check_region(const struct sroce_mr *mr, const struct ib_pd *pd,
			const struct ib_sge *sge, enum sroce_fault fault)
{
	/* pairs with the release that made the region valid */
	if (smp_load_acquire(&mr->state) != SROCE_MR_VALID ||
	    mr->key != sge->lkey)
		return -ENOENT;
	if (mr->pd != pd)
		return -EPERM;
	if (!mr->odp)
		return -EINVAL;
	if (fault == SROCE_FAULT_WRITE && !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return -EPERM;
	return sroce_mr_covers(mr, sge->addr, sge->length) ? 0 : -EFAULT;
}

/*
 * Pages of the region that a scatter/gather element names, held if there is no error. Until
 * it is checked it may be any region, even one that is being claimed. The claim may spin
 * until the reference is dropped, so bottom halves are off.
 */
static int find_region(struct ib_pd *pd, const struct ib_sge *sge,
		       enum sroce_fault fault, struct sroce_odp **found)
{
	struct sroce_mr *mr;
	int ret = -ENOENT;

	local_bh_disable();
	mr = sroce_region_find(to_sdev(pd->device), sge->lkey);
	if (mr) {
		ret = check_region(mr, pd, sge, fault);
		if (!ret) {
			*found = mr->odp;
			sroce_odp_get(*found);
		}
		sroce_mr_put(mr);
	}
	local_bh_enable();
	return ret;
}

/*
 * A job for @n ranges, none yet, or an error pointer. One that waits for long keeps the pages of
 * regions that are gone.
 */
static struct prefetch *prefetch_alloc(struct ib_pd *pd, enum sroce_fault fault, u32 n)
{
	struct sroce_user *owner = sroce_pd_owner(pd);
	struct prefetch *pf;
	size_t bytes = struct_size(pf, req, n) + n * ODP_BYTES;
	int ret = sroce_user_charge(owner, bytes);

	if (ret)
		return ERR_PTR(ret);
	pf = kvzalloc(struct_size(pf, req, n),
		      GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!pf) {
		sroce_user_uncharge(owner, bytes);
		return ERR_PTR(-ENOMEM);
	}
	sroce_live_inc();
	refcount_set(&pf->ref, 1);
	init_completion(&pf->done);
	sroce_faultq_init_job(&pf->job, prefetch_fn);
	pf->fault = fault;
	pf->owner = owner;
	pf->charged = bytes;
	return pf;
}

/* The job for the ranges @sge, or an error pointer as of sroce_pager_advise() */
static struct prefetch *prefetch_new(struct ib_pd *pd, enum sroce_fault fault,
				     const struct ib_sge *sge, u32 n)
{
	struct prefetch *pf = prefetch_alloc(pd, fault, n);
	int ret;

	if (IS_ERR(pf))
		return pf;
	for (; pf->n < n; pf->n++, sge++) {
		struct fault_req *req = &pf->req[pf->n];

		ret = fatal_signal_pending(current) ? -EINTR :
		      find_region(pd, sge, fault, &req->odp);
		if (ret) {
			prefetch_put(pf);
			return ERR_PTR(ret);
		}
		req->iova = sge->addr;
		req->len = sge->length;
	}
	return pf;
}

/**
 * sroce_pager_advise() - prefetch pages of on-demand regions (ibv_advise_mr())
 * @pd: protection domain
 * @advice: prefetch for reading, for writing, or only pages that are present in the process
 * @flags: IB_UVERBS_ADVISE_MR_FLAG_FLUSH: wait until it is done
 * @sge: the ranges
 * @n: entries of @sge
 * @attrs: unused
 *
 * Return: 0, -EOPNOTSUPP for other advice, -ENOMEM; for the first bad entry -ENOENT if
 * there is no such region, -EPERM in another domain or without the right, -EINVAL if the
 * region is not on demand, -EFAULT outside of it; -EBUSY if much advice of the process waits
 * for pages; -EINTR if the caller is being killed; and if it waits, the first error of the
 * prefetch, or -ENODEV if the device goes meanwhile.
 */
int sroce_pager_advise(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		       u32 flags, struct ib_sge *sge, u32 n,
		       struct uverbs_attr_bundle *attrs)
{
	static const enum sroce_fault faults[] = {
		[IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH] = SROCE_FAULT_READ,
		[IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE] = SROCE_FAULT_WRITE,
		[IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT] =
			SROCE_FAULT_PRESENT,
	};
	struct sroce_faultq *q;
	struct prefetch *pf;
	int ret = 0;

	if (advice >= ARRAY_SIZE(faults))
		return -EOPNOTSUPP;
	if (!n)
		return 0;
	pf = prefetch_new(pd, faults[advice], sge, n);
	if (IS_ERR(pf))
		return PTR_ERR(pf);
	q = sroce_odp_faultq(pf->req[0].odp, SROCE_FAULT_ADVISED);
	if (sroce_faultq_is_full(q)) {
		prefetch_put(pf);
		return -EBUSY;
	}
	refcount_inc(&pf->ref);
	WRITE_ONCE(pf->job.cpu, raw_smp_processor_id());
	sroce_faultq_add(q, &pf->job);
	if (flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
		ret = sroce_faultq_wait(&pf->done, pd->device) ?: pf->ret;
	prefetch_put(pf);
	return ret;
}
