// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Faults in pages of on-demand regions, in process context. Each QP has a work item for
 * the pages that it waits for: the QP is called when they are present. Other work items
 * prefetch pages on the advice of a user.
 */

#include <linux/slab.h>
#include <linux/workqueue.h>
#include "drv/compat/compat.h"
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/core/transport.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/sdev.h"
#include "drv/mem/odp.h"
#include "drv/mem/region.h"
#include "drv/task/task.h"
#include "drv/verbs/pager.h"

/*
 * Bytes that are faulted in before the QP is called, even if it needs less, and between
 * two checks for new requests
 */
#define STEP		(64 * PAGE_SIZE)

/* Prefetches at a time; they must not use up the workers that QPs wait for. */
#define PREFETCH_MAX	16

static struct workqueue_struct *pager_wq, *prefetch_wq;

static enum sroce_fault fault_of(const struct sroce_fault_req *req)
{
	return req->write ? SROCE_FAULT_WRITE : SROCE_FAULT_READ;
}

/* Record a page that could not be faulted in; the next request for it fails. */
static void record_error(struct sroce_pager *pg, const struct sroce_fault_req *req)
{
	struct sroce_fault_error *f;

	sroce_task_lock(pg->qp);
	f = &pg->error[pg->next_error++ % SROCE_FAULT_ERRORS];
	*f = (struct sroce_fault_error){
		.key = req->mr->key, .iova = req->iova,
		.write = req->write, .fresh = true,
	};
	sroce_task_unlock(pg->qp);
}

/* Fault in the next @len bytes. Return: false if there is no point in going on. */
static bool fault_in(struct sroce_pager *pg, struct sroce_fault_req *req, u32 len)
{
	u64 from = req->iova;
	u32 done;
	int ret;

	len = min(len, req->len);
	if (!len)
		return false;
	ret = sroce_odp_fault_in(req->mr->odp, &req->iova, len, fault_of(req),
				 false);
	if (ret && ret != -EBUSY && req->iova - from < req->need)
		record_error(pg, req);
	if (ret)
		return false;
	done = min_t(u64, req->iova - from, req->len);
	req->len -= done;
	req->need -= min(done, req->need);
	return true;
}

static void fault_in_needed(struct sroce_pager *pg, struct sroce_fault_req *req)
{
	if (!fault_in(pg, req, max_t(u32, req->need, STEP)))
		req->len = 0;
}

/* Fault in the rest of a request, until there are new requests or the QP is reset. */
static void fault_in_ahead(struct sroce_pager *pg, struct sroce_fault_req *req)
{
	while (req->len && !work_pending(&pg->work) &&
	       READ_ONCE(pg->qp->state) != IB_QPS_RESET)
		if (!fault_in(pg, req, STEP))
			break;
}

/* The work item of a QP: fault in what is requested, and have the QP go on. */
static void pager_fn(struct work_struct *work)
{
	struct sroce_pager *pg = container_of(work, struct sroce_pager, work);
	struct sroce_qp *qp = pg->qp;
	struct sroce_fault_req req[SROCE_FAULT_REQS];
	u32 i, n;

	sroce_task_lock(qp);
	n = pg->n;
	memcpy(req, pg->req, n * sizeof(*req));
	WRITE_ONCE(pg->n, 0);
	sroce_task_unlock(qp);
	for (i = 0; i < n; i++)
		fault_in_needed(pg, &req[i]);
	sroce_task_lock(qp);
	sroce_transport_faulted_in(qp);
	sroce_task_unlock_run(qp);
	for (i = 0; i < n; i++) {
		fault_in_ahead(pg, &req[i]);
		sroce_mr_put(req[i].mr);
	}
}

/* Whether a range could not be faulted in since it was last requested; reported once */
static bool has_failed(struct sroce_pager *pg, const struct sroce_fault_req *req)
{
	u64 first = req->iova & PAGE_MASK;
	u32 i;

	for (i = 0; req->need && i < SROCE_FAULT_ERRORS; i++) {
		struct sroce_fault_error *f = &pg->error[i];

		if (!f->fresh || f->key != req->mr->key ||
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
static bool is_present(const struct sroce_fault_req *req)
{
	struct sroce_odp *odp = req->mr->odp;

	if (!req->need ||
	    sroce_odp_enter(odp, req->iova, req->need, req->write))
		return false;
	sroce_odp_leave(odp);
	return true;
}

/* Add a request to an earlier one that covers it. Return: whether that was possible. */
static bool merge(struct sroce_fault_req *was, const struct sroce_fault_req *req)
{
	u64 skip = req->iova - was->iova;

	if (was->mr != req->mr || was->write < req->write ||
	    skip >= was->len || req->len > was->len - skip)
		return false;
	if (req->need)
		was->need = max_t(u32, was->need, skip + req->need);
	return true;
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
 * The work item runs on this CPU. If another CPU went on sending, its packets could
 * overtake those that this CPU has sent.
 *
 * Return: -EAGAIN: sroce_transport_faulted_in() is called when the needed pages are present;
 * -EFAULT: they could not be faulted in when this was tried before.
 */
int sroce_pager_fault_in(struct sroce_qp *qp, struct sroce_mr *mr, u64 iova, u32 need,
			 u32 len, bool write)
{
	struct sroce_pager *pg = &qp->kqp->pager;
	struct sroce_fault_req req = {
		.mr = mr, .iova = iova, .need = need, .len = len,
		.write = write,
	};
	u32 i;

	if (has_failed(pg, &req))
		return -EFAULT;
	for (i = 0; i < pg->n && !merge(&pg->req[i], &req); i++)
		;
	/* without a free entry the caller requests again when the others are done */
	if (i == pg->n && i < SROCE_FAULT_REQS && !is_present(&req)) {
		sroce_mr_hold(mr);
		pg->req[i] = req;
		WRITE_ONCE(pg->n, i + 1);
	}
	queue_work_on(smp_processor_id(), pager_wq, &pg->work);
	return -EAGAIN;
}

/**
 * sroce_pager_init() - initialize the pager of a QP
 * @qp: the QP
 */
void sroce_pager_init(struct sroce_qp *qp)
{
	qp->kqp->pager.qp = qp;
	INIT_WORK(&qp->kqp->pager.work, pager_fn);
}

/**
 * sroce_pager_stop() - cancel the work item of a QP and drop its requests
 * @qp: the QP, in RESET; all references are gone
 *
 * Context: process, may sleep.
 */
void sroce_pager_stop(struct sroce_qp *qp)
{
	struct sroce_pager *pg = &qp->kqp->pager;

	cancel_work_sync(&pg->work);
	while (pg->n)
		sroce_mr_put(pg->req[--pg->n].mr);
}

/**
 * sroce_pager_clear_errors() - forget recorded errors of a QP
 * @qp: the QP, locked, going to RESET
 */
void sroce_pager_clear_errors(struct sroce_qp *qp)
{
	struct sroce_pager *pg = &qp->kqp->pager;

	memset(pg->error, 0, sizeof(pg->error));
}

/**
 * struct prefetch - pages to be faulted in before they are needed
 * @work: faults them in
 * @fault: for reading, for writing, or only pages that are present in the process
 * @n: entries of @req
 * @req: ranges
 */
struct prefetch {
	struct work_struct	work;
	enum sroce_fault	fault;
	u32			n;
	struct sroce_fault_req	req[];
};

/* Fault in all ranges and free the prefetch. Return: the first error */
static int prefetch_run(struct prefetch *pf)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < pf->n; i++) {
		struct sroce_fault_req *req = &pf->req[i];

		if (!ret && req->len)
			ret = sroce_odp_fault_in(req->mr->odp, &req->iova,
						 req->len, pf->fault, true);
		sroce_mr_put(req->mr);
	}
	kfree(pf);
	return ret;
}

static void prefetch_fn(struct work_struct *work)
{
	prefetch_run(container_of(work, struct prefetch, work));
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
 * The region that a scatter/gather element names, held if there is no error. Until it is
 * checked it may be any region, even one that is being claimed. The claim may spin until
 * the reference is dropped, so bottom halves are off.
 */
static int find_region(struct ib_pd *pd, const struct ib_sge *sge,
		       enum sroce_fault fault, struct sroce_mr **found)
{
	struct sroce_mr *mr;
	int ret = -ENOENT;

	local_bh_disable();
	mr = sroce_region_find(to_sdev(pd->device), sge->lkey);
	if (mr) {
		ret = check_region(mr, pd, sge, fault);
		if (ret)
			sroce_mr_put(mr);
	}
	local_bh_enable();
	*found = mr;
	return ret;
}

static void prefetch_drop(struct prefetch *pf)
{
	while (pf->n)
		sroce_mr_put(pf->req[--pf->n].mr);
	kfree(pf);
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
 * region is not on demand, -EFAULT outside of it; and the first error of the prefetch, if
 * the caller waits.
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
	struct prefetch *pf;
	int ret;

	if (advice >= ARRAY_SIZE(faults))
		return -EOPNOTSUPP;
	pf = kzalloc(struct_size(pf, req, n), GFP_KERNEL_ACCOUNT);
	if (!pf)
		return -ENOMEM;
	pf->fault = faults[advice];
	for (; pf->n < n; pf->n++, sge++) {
		struct sroce_fault_req *req = &pf->req[pf->n];

		ret = find_region(pd, sge, pf->fault, &req->mr);
		if (ret) {
			prefetch_drop(pf);
			return ret;
		}
		req->iova = sge->addr;
		req->len = sge->length;
	}
	if (flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
		return prefetch_run(pf);
	INIT_WORK(&pf->work, prefetch_fn);
	queue_work(prefetch_wq, &pf->work);
	return 0;
}

/**
 * sroce_pager_wq_init() - create the work queues, when the module is loaded
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_pager_wq_init(void)
{
	pager_wq = alloc_workqueue("sroce_pages",
				   WQ_PERCPU | WQ_CPU_INTENSIVE, 0);
	if (!pager_wq)
		return -ENOMEM;
	prefetch_wq = alloc_workqueue("sroce_prefetch", WQ_UNBOUND, PREFETCH_MAX);
	if (!prefetch_wq)
		destroy_workqueue(pager_wq);
	return prefetch_wq ? 0 : -ENOMEM;
}

/**
 * sroce_pager_wq_exit() - destroy the work queues, after the last QP and region
 */
void sroce_pager_wq_exit(void)
{
	destroy_workqueue(prefetch_wq);
	destroy_workqueue(pager_wq);
}
