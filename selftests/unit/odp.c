// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory on demand, as drv/mem/odp.c; the test decides when pages come and go. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sim.h"

#define PAGE_SIZE	4096

enum { ABSENT, READABLE, WRITABLE, NEVER };

/**
 * struct sroce_odp - pages of a region
 * @plain: the region, as if all pages were present
 * @size: bytes of each
 * @pages: state of each
 * @n: how many there are in all
 * @entered: between enter and leave
 * @tried: one that can't be faulted in was asked for
 * @pinned: the region, if it becomes pinned at the first page fault
 */
struct sroce_odp {
	struct sroce_mr	plain;
	u32		size;
	u8		*pages;
	u32		n;
	bool		entered;
	bool		tried;
	struct sroce_mr	*pinned;
};

static u32 page_of(const struct sroce_odp *odp, u64 iova)
{
	return (iova - odp->plain.iova) / odp->size;
}

static void end(struct sroce_odp *odp)
{
	free(odp->pages);
	free(odp);
}

/* The region may be changed to a pinned one before the page fault is handled. */
static int absent(struct sroce_odp *odp)
{
	if (odp->pinned) {
		odp->pinned->odp = NULL;
		end(odp);
	}
	return -EAGAIN;
}

int sroce_odp_enter(struct sroce_odp *odp, u64 iova, u32 len, bool write)
{
	u32 i, last = page_of(odp, iova + len - 1);

	CHECK(len && last < odp->n && !odp->entered);
	for (i = page_of(odp, iova); i <= last; i++)
		if (odp->pages[i] < (write ? WRITABLE : READABLE) ||
		    odp->pages[i] == NEVER)
			return absent(odp);
	odp->entered = true;
	return 0;
}

void sroce_odp_leave(struct sroce_odp *odp)
{
	CHECK(odp->entered);
	odp->entered = false;
}

void *sroce_odp_span(struct sroce_odp *odp, u64 iova, u32 *len)
{
	u64 left = odp->size - (iova - odp->plain.iova) % odp->size;

	CHECK(odp->entered && odp->pages[page_of(odp, iova)]);
	if (*len > left)
		*len = left;
	return sroce_mr_span(&odp->plain, iova, len);
}

static bool hopeless(const struct sroce_odp *odp, u64 iova, u32 need)
{
	u32 i;

	for (i = page_of(odp, iova); need && i <= page_of(odp, iova + need - 1); i++)
		if (odp->pages[i] == NEVER)
			return true;
	return false;
}

int sroce_pager_fault_in(struct sroce_qp *qp, struct sroce_mr *mr, u64 iova, u32 need,
		   u32 len, bool write)
{
	struct sroce_kqp *kqp = qp->kqp;
	struct sroce_odp *odp = mr->odp;
	struct sim_fault_req *w;

	CHECK(need <= len && page_of(odp, iova + len - 1) < odp->n);
	if (hopeless(odp, iova, need)) {
		odp->tried = !odp->tried;
		if (!odp->tried)
			return -EFAULT;
	}
	if (!kqp->paged_when)
		kqp->paged_when = kqp->sim->now + kqp->sim->page_delay + 1;
	if (kqp->sim->page_few)
		len = need;
	if (kqp->fault_reqs == SIM_FAULT_REQS || !len)
		return -EAGAIN;
	w = &kqp->fault_req[kqp->fault_reqs++];
	w->odp = odp;
	w->first = page_of(odp, iova);
	w->last = page_of(odp, iova + len - 1);
	w->write = write;
	return -EAGAIN;
}

bool sroce_odp_used(const struct sroce_qp *qp)
{
	return qp->kqp->sim->on_demand;
}

/* The pages that the QP has asked for are present now. */
void sim_pages_in(struct sroce_kqp *kqp)
{
	u32 i, k;

	for (i = 0; i < kqp->fault_reqs; i++) {
		struct sim_fault_req *w = &kqp->fault_req[i];
		u8 to = w->write ? WRITABLE : READABLE;

		for (k = w->first; k <= w->last; k++)
			if (w->odp->pages[k] < to)
				w->odp->pages[k] = to;
	}
	kqp->fault_reqs = 0;
	kqp->paged_when = 0;
	if (kqp->sim->evict)
		kqp->sim->evict(kqp->sim);
	sroce_transport_faulted_in(&kqp->qp);
}

/* From now on the region is memory on demand; no page is present. */
void sim_buf_on_demand(struct sim_buf *b)
{
	struct sroce_odp *odp = calloc(1, sizeof(*odp));

	odp->plain = b->mr;
	odp->size = b->sim->page_size ? b->sim->page_size : PAGE_SIZE;
	odp->n = (b->mr.length + odp->size - 1) / odp->size;
	odp->pages = calloc(odp->n, 1);
	b->mr.odp = odp;
	b->sim->on_demand = true;
}

/* The pages from @page on can't be faulted in. */
void sim_buf_never(struct sim_buf *b, u32 page)
{
	struct sroce_odp *odp = b->mr.odp;

	memset(odp->pages + page, NEVER, odp->n - page);
}

/* It becomes a pinned region at the first page fault. */
void sim_buf_pin_on_fault(struct sim_buf *b)
{
	b->mr.odp->pinned = &b->mr;
}

/* Evict one page. */
void sim_buf_evict(struct sim_buf *b, u32 page)
{
	struct sroce_odp *odp = b->mr.odp;

	CHECK(!odp->entered);
	odp->pages[page % odp->n] = ABSENT;
}

/* Evict all pages. */
void sim_buf_evict_all(struct sim_buf *b)
{
	u32 i;

	for (i = 0; i < b->mr.odp->n; i++)
		sim_buf_evict(b, i);
}

void sim_buf_on_demand_free(struct sim_buf *b)
{
	if (!b->mr.odp)
		return;
	CHECK(!b->mr.odp->entered);
	end(b->mr.odp);
}
