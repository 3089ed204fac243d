/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which page faults run, and which wait: a share for each process, and each user. */
#ifndef SROCE_MEM_FAULTQ_H
#define SROCE_MEM_FAULTQ_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

struct completion;
struct ib_device;
struct mm_struct;
struct sroce_fault_job;
struct sroce_fault_mm;
struct sroce_user;

/**
 * enum sroce_fault_use - what pages are faulted in for
 * @SROCE_FAULT_NEEDED: a QP waits for them
 * @SROCE_FAULT_ADVISED: a user has advised it
 * @SROCE_FAULT_USES: number of uses
 */
enum sroce_fault_use { SROCE_FAULT_NEEDED, SROCE_FAULT_ADVISED, SROCE_FAULT_USES };

/**
 * struct sroce_faultq - jobs for the pages of a process
 * @proc: the process
 * @ready: entry in sroce_user.ready while there is a job that may run
 * @waiting: jobs that wait for others
 * @n: number of jobs in @waiting
 * @running: number of jobs that run
 * @most: limit of @running
 */
struct sroce_faultq {
	struct sroce_fault_mm	*proc;
	struct list_head	ready;
	struct list_head	waiting;
	u32			n;
	u32			running;
	u32			most;
};

/**
 * struct sroce_fault_mm - a process with regions on demand
 * @hash: entry in the table of processes
 * @mm: its memory; the structure is held, the memory is not
 * @user: its user
 * @ref: references: one for each region, and each job
 * @free: frees the structure
 * @q: its queues; the lock of @user guards them
 */
struct sroce_fault_mm {
	struct hlist_node	hash;
	struct mm_struct	*mm;
	struct sroce_user	*user;
	refcount_t		ref;
	struct work_struct	free;
	struct sroce_faultq	q[SROCE_FAULT_USES];
};

/**
 * struct sroce_fault_job - something that faults in pages
 * @work: runs @fn
 * @list: entry in sroce_faultq.waiting
 * @q: the queue
 * @cpu: where to run
 * @fn: does it, and may free or add the job; @may_fault: false if the module is being
 *	removed, so that no page must be faulted in. SIGKILL can be sent to the task it runs in
 */
struct sroce_fault_job {
	struct work_struct	work;
	struct list_head	list;
	struct sroce_faultq	*q;
	int			cpu;
	void			(*fn)(struct sroce_fault_job *job, bool may_fault);
};

struct sroce_fault_mm *sroce_faultq_get_mm(void);
void sroce_faultq_put_mm(struct sroce_fault_mm *proc);
void sroce_faultq_init_job(struct sroce_fault_job *job,
			   void (*fn)(struct sroce_fault_job *job, bool may_fault));
bool sroce_faultq_is_full(const struct sroce_faultq *q);
void sroce_faultq_add(struct sroce_faultq *q, struct sroce_fault_job *job);
bool sroce_faultq_cancel(struct sroce_fault_job *job);
int sroce_faultq_wait(struct completion *done, struct ib_device *ibdev);
int sroce_faultq_init(void);
void sroce_faultq_exit(void);

#endif /* SROCE_MEM_FAULTQ_H */
