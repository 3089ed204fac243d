// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Who brings pages of regions on demand: for a QP that waits for them, a work item
 * that tells it when they are there; or before anybody needs them.
 */

#include <linux/slab.h>
#include <linux/workqueue.h>
#include "drv/dev.h"

/*
 * Bytes brought before the QP is told, even if it needs less, and between two
 * looks at what else is wanted
 */
#define STEP		(64 * PAGE_SIZE)

/* So much advice is followed at a time: who waits for a page does not wait for that. */
#define ADVICE_MAX	16

static struct workqueue_struct *pager_wq, *advice_wq;

static enum sroce_fault how_of(const struct sroce_fault_req *want)
{
	return want->write ? SROCE_FAULT_WRITE : SROCE_FAULT_READ;
}

/* The QP is told why when it asks for that page again. */
static void note_failure(struct sroce_pager *pg, const struct sroce_fault_req *want)
{
	struct sroce_fault_error *f;

	sroce_task_lock(pg->qp);
	f = &pg->failed[pg->next_failed++ % SROCE_FAULT_ERRORS];
	*f = (struct sroce_fault_error){
		.key = want->mr->key, .iova = want->iova,
		.write = want->write, .fresh = true,
	};
	sroce_task_unlock(pg->qp);
}

/* Bring the next @len bytes; false: there is no use in going on */
static bool bring(struct sroce_pager *pg, struct sroce_fault_req *want, u32 len)
{
	u64 from = want->iova;
	u32 done;
	int ret;

	len = min(len, want->len);
	if (!len)
		return false;
	ret = sroce_odp_fault_in(want->mr->odp, &want->iova, len, how_of(want),
			      false);
	if (ret && ret != -EBUSY && want->iova - from < want->need)
		note_failure(pg, want);
	if (ret)
		return false;
	done = min_t(u64, want->iova - from, want->len);
	want->len -= done;
	want->need -= min(done, want->need);
	return true;
}

static void bring_needed(struct sroce_pager *pg, struct sroce_fault_req *want)
{
	if (!bring(pg, want, max_t(u32, want->need, STEP)))
		want->len = 0;
}

/* Unless something else is needed now, or has come and is waited for */
static void bring_ahead(struct sroce_pager *pg, struct sroce_fault_req *want)
{
	while (want->len && !work_pending(&pg->work) &&
	       READ_ONCE(pg->qp->state) != IB_QPS_RESET)
		if (!bring(pg, want, STEP))
			break;
}

/* The work item of a QP: bring what is wanted, and have it go on. */
static void pager_fn(struct work_struct *work)
{
	struct sroce_pager *pg = container_of(work, struct sroce_pager, work);
	struct sroce_qp *qp = pg->qp;
	struct sroce_fault_req want[SROCE_FAULT_REQS];
	u32 i, n;

	sroce_task_lock(qp);
	n = pg->n;
	memcpy(want, pg->want, n * sizeof(*want));
	WRITE_ONCE(pg->n, 0);
	sroce_task_unlock(qp);
	for (i = 0; i < n; i++)
		bring_needed(pg, &want[i]);
	sroce_task_lock(qp);
	sroce_transport_paged(qp);
	sroce_task_unlock_run(qp);
	for (i = 0; i < n; i++) {
		bring_ahead(pg, &want[i]);
		sroce_mr_put(want[i].mr);
	}
}

/* Whether a range can't be, as far as was found out since it was last wanted */
static bool has_failed(struct sroce_pager *pg, const struct sroce_fault_req *want)
{
	u64 first = want->iova & PAGE_MASK;
	u32 i;

	for (i = 0; want->need && i < SROCE_FAULT_ERRORS; i++) {
		struct sroce_fault_error *f = &pg->failed[i];

		if (!f->fresh || f->key != want->mr->key ||
		    f->write > want->write ||
		    f->iova - first >= want->iova + want->need - first)
			continue;
		f->fresh = false;
		return true;
	}
	return false;
}

/* It may have come since: a list of many must not want the same ones again. */
static bool is_there(const struct sroce_fault_req *want)
{
	struct sroce_odp *odp = want->mr->odp;

	if (!want->need ||
	    sroce_odp_enter(odp, want->iova, want->need, want->write))
		return false;
	sroce_odp_leave(odp);
	return true;
}

/* One that is wanted already may take another in. */
static bool join(struct sroce_fault_req *was, const struct sroce_fault_req *want)
{
	u64 skip = want->iova - was->iova;

	if (was->mr != want->mr || was->write < want->write ||
	    skip >= was->len || want->len > was->len - skip)
		return false;
	if (want->need)
		was->need = max_t(u32, was->need, skip + want->need);
	return true;
}

/**
 * sroce_pager_fault_in() - have pages brought in for a QP
 * @qp: the QP, locked
 * @mr: the region
 * @iova: first byte
 * @need: bytes that are needed
 * @len: bytes that are of use, those included
 * @write: they are to be changed
 *
 * Return: -EAGAIN: sroce_transport_paged() is called when those that are needed are there;
 * -EFAULT: that was tried before, and can't be done.
 *
 * They are brought by the CPU that wants them: were it another one that goes on
 * sending, its packets could overtake those that this CPU has sent.
 */
int sroce_pager_fault_in(struct sroce_qp *qp, struct sroce_mr *mr, u64 iova, u32 need,
		   u32 len, bool write)
{
	struct sroce_pager *pg = &qp->kqp->pager;
	struct sroce_fault_req want = {
		.mr = mr, .iova = iova, .need = need, .len = len,
		.write = write,
	};
	u32 i;

	if (has_failed(pg, &want))
		return -EFAULT;
	for (i = 0; i < pg->n && !join(&pg->want[i], &want); i++)
		;
	/* who finds no room asks again after those that did */
	if (i == pg->n && i < SROCE_FAULT_REQS && !is_there(&want)) {
		sroce_mr_hold(mr);
		pg->want[i] = want;
		WRITE_ONCE(pg->n, i + 1);
	}
	queue_work_on(smp_processor_id(), pager_wq, &pg->work);
	return -EAGAIN;
}

/**
 * sroce_pager_init() - set up what brings pages for a QP
 * @qp: the QP
 */
void sroce_pager_init(struct sroce_qp *qp)
{
	qp->kqp->pager.qp = qp;
	INIT_WORK(&qp->kqp->pager.work, pager_fn);
}

/**
 * sroce_pager_stop() - wait until no pages are brought for a QP
 * @qp: the QP, in RESET; nobody uses it
 */
void sroce_pager_stop(struct sroce_qp *qp)
{
	struct sroce_pager *pg = &qp->kqp->pager;

	cancel_work_sync(&pg->work);
	while (pg->n)
		sroce_mr_put(pg->want[--pg->n].mr);
}

/**
 * sroce_pager_forget() - what was found out for a QP is not for its next life
 * @qp: the QP, locked, going to RESET
 */
void sroce_pager_forget(struct sroce_qp *qp)
{
	struct sroce_pager *pg = &qp->kqp->pager;

	memset(pg->failed, 0, sizeof(pg->failed));
}

/**
 * struct prefetch - pages to be brought before they are needed
 * @work: brings them
 * @how: for what
 * @n: ranges
 * @want: these
 */
struct prefetch {
	struct work_struct	work;
	enum sroce_fault	how;
	u32			n;
	struct sroce_fault_req	want[];
};

/* Bring it all, and be done with it. Return: the first error */
static int prefetch_run(struct prefetch *pf)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < pf->n; i++) {
		struct sroce_fault_req *want = &pf->want[i];

		if (!ret && want->len)
			ret = sroce_odp_fault_in(want->mr->odp, &want->iova,
					      want->len, pf->how, true);
		sroce_mr_put(want->mr);
	}
	kfree(pf);
	return ret;
}

static void prefetch_fn(struct work_struct *work)
{
	prefetch_run(container_of(work, struct prefetch, work));
}

/* Whether that may be done with a region */
static int check(const struct sroce_mr *mr, const struct ib_pd *pd,
		 const struct ib_sge *sge, enum sroce_fault how)
{
	/* pairs with the release that made it valid */
	if (smp_load_acquire(&mr->state) != SROCE_MR_VALID ||
	    mr->key != sge->lkey)
		return -ENOENT;
	if (mr->pd != pd)
		return -EPERM;
	if (!mr->odp)
		return -EINVAL;
	if (how == SROCE_FAULT_WRITE && !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return -EPERM;
	return sroce_mr_covers(mr, sge->addr, sge->length) ? 0 : -EFAULT;
}

/*
 * What a scatter/gather element names; held if there is no error. Until then it may be
 * anything, which a softirq may want for itself.
 */
static int find(struct ib_pd *pd, const struct ib_sge *sge,
		enum sroce_fault how, struct sroce_mr **found)
{
	struct sroce_mr *mr;
	int ret = -ENOENT;

	local_bh_disable();
	mr = sroce_region_find(to_sdev(pd->device), sge->lkey);
	if (mr) {
		ret = check(mr, pd, sge, how);
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
		sroce_mr_put(pf->want[--pf->n].mr);
	kfree(pf);
}

/**
 * sroce_pager_advise() - bring pages before they are needed
 * @pd: protection domain
 * @advice: for reading or writing; or only those that the process has already
 * @flags: IB_UVERBS_ADVISE_MR_FLAG_FLUSH: the caller waits
 * @sge: where
 * @n: entries of @sge
 * @attrs: unused
 *
 * Return: 0; -EOPNOTSUPP for other advice; for what an entry names -ENOENT, -EPERM
 * in another domain or without the right, -EINVAL if it isn't on demand, -EFAULT
 * beyond its end; and what came of it, if the caller waits.
 */
int sroce_pager_advise(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sge, u32 n,
		    struct uverbs_attr_bundle *attrs)
{
	static const enum sroce_fault how[] = {
		[IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH] = SROCE_FAULT_READ,
		[IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE] = SROCE_FAULT_WRITE,
		[IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT] =
			SROCE_FAULT_PRESENT,
	};
	struct prefetch *pf;
	int ret;

	if (advice >= ARRAY_SIZE(how))
		return -EOPNOTSUPP;
	pf = kzalloc(struct_size(pf, want, n), GFP_KERNEL_ACCOUNT);
	if (!pf)
		return -ENOMEM;
	pf->how = how[advice];
	for (; pf->n < n; pf->n++, sge++) {
		struct sroce_fault_req *want = &pf->want[pf->n];

		ret = find(pd, sge, pf->how, &want->mr);
		if (ret) {
			prefetch_drop(pf);
			return ret;
		}
		want->iova = sge->addr;
		want->len = sge->length;
	}
	if (flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
		return prefetch_run(pf);
	INIT_WORK(&pf->work, prefetch_fn);
	queue_work(advice_wq, &pf->work);
	return 0;
}

/**
 * sroce_pager_wq_init() - before the first QP
 */
int sroce_pager_wq_init(void)
{
	pager_wq = alloc_workqueue("sroce_pages",
				   WQ_PERCPU | WQ_CPU_INTENSIVE, 0);
	if (!pager_wq)
		return -ENOMEM;
	advice_wq = alloc_workqueue("sroce_advice", WQ_UNBOUND, ADVICE_MAX);
	if (!advice_wq)
		destroy_workqueue(pager_wq);
	return advice_wq ? 0 : -ENOMEM;
}

/**
 * sroce_pager_wq_exit() - after the last QP and region
 */
void sroce_pager_wq_exit(void)
{
	destroy_workqueue(advice_wq);
	destroy_workqueue(pager_wq);
}
