// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pages that a region will pin, of files, or of memory whose faults a process handles
 * (userfaultfd). Some may never come, as their server or that process does not answer. A pin waits
 * for them in the system call, which the removal of the device waits for, and with it the end of
 * any network namespace. So a job has the pages read first, and the caller waits in a way that ends
 * with the process or the device. The job may take for ever.
 *
 * A process that wants to can have a page go again before it is pinned. But the RDMA core waits
 * for pages of a call's arguments just as well, so that is nothing that this could prevent.
 */

#include <linux/capability.h>
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/userfaultfd_k.h>
#include "drv/compat/compat.h"
#include "drv/core/env.h"
#include "drv/lookup/sdev.h"
#include "drv/mem/faultq.h"
#include "drv/mem/filepages.h"

/* Most pages that are read at once */
#define BATCH	64

/**
 * struct reading - pages that are being read
 * @job: reads them
 * @ref: references: the job, and the caller who waits for it
 * @proc: the process, held
 * @done: the job is done
 * @at: first page that is not read yet
 * @end: end of the range
 * @flags: those of the pin, without FOLL_LONGTERM
 * @lock: guards the members below, in process context
 * @given_up: the caller does not wait any more
 * @worker: the task that reads, or NULL
 */
struct reading {
	struct sroce_fault_job	job;
	refcount_t		ref;
	struct sroce_fault_mm	*proc;
	struct completion	done;
	unsigned long		at;
	unsigned long		end;
	unsigned int		flags;
	spinlock_t		lock;
	bool			given_up;
	struct task_struct	*worker;
};

static void reading_put(struct reading *rd)
{
	if (!refcount_dec_and_test(&rd->ref))
		return;
	sroce_faultq_put_mm(rd->proc);
	kfree(rd);
	sroce_live_dec();
}

/* Return: number of pages read; less than one: there is no point in going on */
static long read_batch(struct mm_struct *mm, const struct reading *rd)
{
	struct page *page[BATCH];
	int locked = 1;
	long i, n;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	n = sroce_gup_remote(mm, rd->at,
			     min_t(unsigned long, (rd->end - rd->at) >> PAGE_SHIFT, BATCH),
			     rd->flags, page, &locked);
	if (locked)
		mmap_read_unlock(mm);
	for (i = 0; i < n; i++)
		put_page(page[i]);
	return n;
}

/* A page that can't be read is for the pin to report. */
static void read_pages(struct reading *rd, struct mm_struct *mm)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(mm);
	struct mem_cgroup *before = set_active_memcg(memcg);
	long n;

	while (rd->at < rd->end && !READ_ONCE(rd->given_up)) {
		n = read_batch(mm, rd);
		if (n < 1)
			break;
		rd->at += n * PAGE_SIZE;
		cond_resched();
	}
	set_active_memcg(before);
	mem_cgroup_put(memcg);
}

static void set_worker(struct reading *rd, struct task_struct *worker)
{
	spin_lock(&rd->lock);
	rd->worker = worker;
	spin_unlock(&rd->lock);
}

static void read_fn(struct sroce_fault_job *job, bool may_fault)
{
	struct reading *rd = container_of(job, struct reading, job);
	struct mm_struct *mm = rd->proc->mm;

	set_worker(rd, current);
	if (may_fault && mmget_not_zero(mm)) {
		read_pages(rd, mm);
		mmput(mm);
	}
	set_worker(rd, NULL);
	complete(&rd->done);
	reading_put(rd);
}

/* Have the job end, if the file system lets it. */
static void give_up(struct reading *rd, struct sroce_dev *dev)
{
	if (sroce_faultq_cancel(&rd->job)) {
		reading_put(rd);
		return;
	}
	spin_lock(&rd->lock);
	WRITE_ONCE(rd->given_up, true);
	if (rd->worker) {
		this_cpu_inc(dev->counters->c[SROCE_CNT_ODP_DETACHED]);
		send_sig(SIGKILL, rd->worker, 1);
	}
	spin_unlock(&rd->lock);
}

static struct reading *reading_new(unsigned long start, unsigned long end, int access)
{
	struct reading *rd = kzalloc(sizeof(*rd), GFP_KERNEL_ACCOUNT);

	if (!rd)
		return NULL;
	rd->proc = sroce_faultq_get_mm();
	if (!rd->proc) {
		kfree(rd);
		return NULL;
	}
	sroce_live_inc();
	refcount_set(&rd->ref, 2);
	init_completion(&rd->done);
	spin_lock_init(&rd->lock);
	rd->at = start & PAGE_MASK;
	rd->end = PAGE_ALIGN(end);
	/* a page may be there, and wait for somebody before it can be written */
	rd->flags = sroce_umem_gup_flags(ib_access_writable(access));
	sroce_faultq_init_job(&rd->job, read_fn);
	rd->job.cpu = raw_smp_processor_id();
	return rd;
}

static int read_range(struct sroce_dev *dev, unsigned long start, unsigned long end, int access)
{
	struct reading *rd = reading_new(start, end, access);
	int ret;

	if (!rd)
		return -ENOMEM;
	sroce_faultq_add(&rd->proc->q[SROCE_FAULT_NEEDED], &rd->job);
	ret = sroce_faultq_wait(&rd->done, &dev->ibdev);
	if (ret)
		give_up(rd, dev);
	reading_put(rd);
	return ret;
}

/*
 * Whether a mapping's pages come from elsewhere: from a file, or a process that has asked for the
 * faults. Memory that has a name is memory.
 */
static bool maps_file(struct vm_area_struct *vma)
{
	unsigned long magic;

	if (userfaultfd_armed(vma))
		return true;
	if (!vma->vm_file)
		return false;
	magic = file_inode(vma->vm_file)->i_sb->s_magic;
	return magic != TMPFS_MAGIC && magic != HUGETLBFS_MAGIC;
}

/* Whether a range has such pages. Return: 1, 0, or -EINTR if the process is killed */
static int has_file(unsigned long start, unsigned long end)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	int ret = 0;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	for (vma = find_vma(mm, start); vma && vma->vm_start < end && !ret;
	     vma = find_vma(mm, vma->vm_end))
		ret = maps_file(vma);
	mmap_read_unlock(mm);
	return ret;
}

/* Whether the process may pin so much; if not, the attempt is refused at once. */
static bool may_pin(u64 length)
{
	return length <= rlimit(RLIMIT_MEMLOCK) || capable(CAP_IPC_LOCK);
}

/**
 * sroce_filepages_read() - have pages in a range read that come from elsewhere
 * @dev: the device that goes to pin the range
 * @start: address of the first byte in the calling process
 * @length: bytes
 * @access: access flags of the region; its pages are made writable if the pin does that
 *
 * Context: process.
 *
 * Return: 0, also if pages can't be read, which the pin will tell; an error if the process is
 * killed; -ENODEV if the device goes; -ENOMEM.
 */
int sroce_filepages_read(struct sroce_dev *dev, u64 start, u64 length, int access)
{
	int ret;

	/* as the pin does */
	start = untagged_addr(start);
	if (start + length < start || !may_pin(length))
		return 0;
	ret = has_file(start, start + length);
	return ret > 0 ? read_range(dev, start, start + length, access) : ret;
}
