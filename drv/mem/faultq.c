// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Which page faults run, and which wait.
 *
 * A page may never come: its file may be on FUSE or NFS, with a server that does not answer,
 * and any user can mount FUSE. A worker that waits for such a page can't do anything else,
 * and often can't even be killed. So a process has a few workers at a time, and a user a
 * part of those that are free, so that some are left. What waits for one's pages keeps waiting
 * then, but others have theirs.
 *
 * A job holds a reference to the module while it runs, since the text that it returns to
 * must stay. The removal of the module does not wait for it; it is refused.
 */

#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "drv/compat/compat.h"
#include "drv/lookup/user.h"
#include "drv/mem/faultq.h"

/* Jobs of a process that run at a time, by use: for a QP, and on advice */
#define PROCESS_NEEDED	8
#define PROCESS_ADVISED	2
/* Jobs that run at a time, be they all on one CPU, and those of them that are shared out */
#define JOBS_MAX	512
#define JOBS_SHARED	384
/* A user may have this part of those that are free, or one job. */
#define USER_PART	8
/* How often a user whose share others have made small is looked at again, in jiffies */
#define RETRY_TIME	(HZ / 10)
/* Jobs on advice of a process that wait for others; a QP has one, so QPs limit those for them */
#define ADVISED_WAITING	256
/* How often a user who waits for a job checks whether the device goes, in jiffies */
#define CHECK_TIME	(HZ / 10)
#define TABLE_BITS	8

static struct workqueue_struct *wq;
static DEFINE_HASHTABLE(procs, TABLE_BITS);
static DEFINE_SPINLOCK(procs_lock);
/* Jobs of all users that are running */
static atomic_t jobs_running;

static void retry_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(retry, retry_fn);
static bool exiting;

/* Set whether the user may run another job of a queue. The user is locked. */
static void update_ready(struct sroce_user *user, struct sroce_faultq *q)
{
	if (q->running < q->most && !list_empty(&q->waiting))
		list_move_tail(&q->ready, &user->ready);
	else
		list_del_init(&q->ready);
}

/* Jobs that a user may have */
static u32 user_most(void)
{
	int left = JOBS_SHARED - atomic_read(&jobs_running);

	return left > USER_PART ? (left - 1) / USER_PART : 1;
}

/* Run what may run, the queues in turn. The user is locked. */
static void run_ready(struct sroce_user *user)
{
	while (!list_empty(&user->ready)) {
		struct sroce_faultq *q = list_first_entry(&user->ready,
							  struct sroce_faultq, ready);
		struct sroce_fault_job *job = list_first_entry(&q->waiting,
							       struct sroce_fault_job, list);

		if (user->faulting >= user_most()) {
			/* it may be the jobs of others that end */
			schedule_delayed_work(&retry, RETRY_TIME);
			break;
		}
		list_del_init(&job->list);
		WRITE_ONCE(q->n, q->n - 1);
		user->faulting++;
		atomic_inc(&jobs_running);
		q->running++;
		update_ready(user, q);
		queue_work_on(READ_ONCE(job->cpu), wq, &job->work);
	}
}

static void retry_bucket(const struct hlist_head *bucket)
{
	struct sroce_fault_mm *proc;

	spin_lock_bh(&procs_lock);
	hlist_for_each_entry(proc, bucket, hash) {
		spin_lock(&proc->user->lock);
		run_ready(proc->user);
		spin_unlock(&proc->user->lock);
	}
	spin_unlock_bh(&procs_lock);
}

/* Look again at all who wait. Users may have many processes: softirqs run in between. */
static void retry_fn(struct work_struct *work)
{
	u32 i;

	for (i = 0; i < HASH_SIZE(procs) && !READ_ONCE(exiting); i++)
		retry_bucket(&procs[i]);
}

/**
 * sroce_faultq_is_full() - whether no more advice should be queued
 * @q: the queue of a process for advice
 *
 * Threads that ask at once may each add a job.
 */
bool sroce_faultq_is_full(const struct sroce_faultq *q)
{
	return READ_ONCE(q->n) >= ADVISED_WAITING;
}

/**
 * sroce_faultq_add() - run a job when its process has a worker
 * @q: the queue
 * @job: the job, which is in no queue; on its CPU it will run
 *
 * Context: process or softirq.
 */
void sroce_faultq_add(struct sroce_faultq *q, struct sroce_fault_job *job)
{
	struct sroce_user *user = q->proc->user;

	refcount_inc(&q->proc->ref);
	job->q = q;
	spin_lock_bh(&user->lock);
	list_add_tail(&job->list, &q->waiting);
	WRITE_ONCE(q->n, q->n + 1);
	update_ready(user, q);
	run_ready(user);
	spin_unlock_bh(&user->lock);
}

/**
 * sroce_faultq_cancel() - take back a job that still waits for its turn
 * @job: the job, which was added
 *
 * Context: process or softirq.
 *
 * Return: false if it runs, or is about to.
 */
bool sroce_faultq_cancel(struct sroce_fault_job *job)
{
	struct sroce_faultq *q = job->q;
	struct sroce_user *user = q->proc->user;
	bool waiting;

	spin_lock_bh(&user->lock);
	waiting = !list_empty(&job->list);
	list_del_init(&job->list);
	WRITE_ONCE(q->n, q->n - waiting);
	update_ready(user, q);
	spin_unlock_bh(&user->lock);
	if (waiting)
		sroce_faultq_put_mm(q->proc);
	return waiting;
}

/**
 * sroce_faultq_wait() - wait for a job in a verb
 * @done: completed when it is done
 * @ibdev: the device; its removal waits for the verb, so the wait must not delay it
 *
 * Context: process.
 *
 * Return: 0; an error if the caller is being killed; -ENODEV if the device goes.
 */
int sroce_faultq_wait(struct completion *done, struct ib_device *ibdev)
{
	u32 locked = 0;
	long left;

	/* at the end of any namespace the lock of each device is held for a moment */
	while (locked < 2) {
		left = wait_for_completion_killable_timeout(done, CHECK_TIME);
		if (left)
			return min(left, 0L);
		locked = mutex_is_locked(&ibdev->unregistration_lock) ? locked + 1 : 0;
	}
	return -ENODEV;
}

static void job_done(struct sroce_faultq *q)
{
	struct sroce_user *user = q->proc->user;

	spin_lock_bh(&user->lock);
	user->faulting--;
	atomic_dec(&jobs_running);
	q->running--;
	update_ready(user, q);
	run_ready(user);
	spin_unlock_bh(&user->lock);
	sroce_faultq_put_mm(q->proc);
}

/* After job->fn() the job may be gone, or wait again. */
static void job_fn(struct work_struct *work)
{
	struct sroce_fault_job *job = container_of(work, struct sroce_fault_job, work);
	struct sroce_faultq *q = job->q;
	bool may_fault = try_module_get(THIS_MODULE);

	allow_kernel_signal(SIGKILL);
	job->fn(job, may_fault);
	/* this also drops one that was sent */
	disallow_signal(SIGKILL);
	if (may_fault)
		module_put(THIS_MODULE);
	job_done(q);
}

/**
 * sroce_faultq_init_job() - initialize a job
 * @job: the job
 * @fn: what it does
 */
void sroce_faultq_init_job(struct sroce_fault_job *job,
			   void (*fn)(struct sroce_fault_job *job, bool may_fault))
{
	INIT_WORK(&job->work, job_fn);
	INIT_LIST_HEAD(&job->list);
	job->cpu = WORK_CPU_UNBOUND;
	job->fn = fn;
}

static void init_queue(struct sroce_fault_mm *proc, enum sroce_fault_use use, u32 most)
{
	struct sroce_faultq *q = &proc->q[use];

	q->proc = proc;
	q->most = most;
	INIT_LIST_HEAD(&q->ready);
	INIT_LIST_HEAD(&q->waiting);
}

static void proc_free(struct sroce_fault_mm *proc)
{
	mmdrop(proc->mm);
	sroce_user_put(proc->user);
	kfree(proc);
}

/* The last mmdrop() takes locks that must not be taken in a softirq. */
static void free_fn(struct work_struct *work)
{
	proc_free(container_of(work, struct sroce_fault_mm, free));
}

static struct sroce_fault_mm *proc_alloc(void)
{
	struct sroce_fault_mm *proc = kzalloc(sizeof(*proc), GFP_KERNEL_ACCOUNT);

	if (!proc)
		return NULL;
	proc->user = sroce_user_get();
	if (!proc->user) {
		kfree(proc);
		return NULL;
	}
	refcount_set(&proc->ref, 1);
	INIT_WORK(&proc->free, free_fn);
	/* held, so that no other process gets the same address */
	proc->mm = current->mm;
	mmgrab(proc->mm);
	init_queue(proc, SROCE_FAULT_NEEDED, PROCESS_NEEDED);
	init_queue(proc, SROCE_FAULT_ADVISED, PROCESS_ADVISED);
	return proc;
}

/* Find the calling process, or else add @new. */
static struct sroce_fault_mm *find_or_add(struct sroce_fault_mm *new)
{
	unsigned long key = (unsigned long)current->mm;
	struct sroce_fault_mm *proc;

	spin_lock_bh(&procs_lock);
	hash_for_each_possible(procs, proc, hash, key)
		if (proc->mm == current->mm && refcount_inc_not_zero(&proc->ref))
			goto out;
	proc = new;
	if (new)
		hash_add(procs, &new->hash, key);
out:
	spin_unlock_bh(&procs_lock);
	return proc;
}

/**
 * sroce_faultq_get_mm() - get the queues of the calling process
 *
 * Context: process, may sleep.
 *
 * Return: the process, or NULL without memory.
 */
struct sroce_fault_mm *sroce_faultq_get_mm(void)
{
	struct sroce_fault_mm *proc = find_or_add(NULL), *new;

	if (proc)
		return proc;
	new = proc_alloc();
	if (!new)
		return NULL;
	proc = find_or_add(new);
	if (proc != new)
		proc_free(new);
	return proc;
}

/**
 * sroce_faultq_put_mm() - drop a reference to the queues of a process
 * @proc: the process
 *
 * Context: process or softirq.
 */
void sroce_faultq_put_mm(struct sroce_fault_mm *proc)
{
	if (!refcount_dec_and_test(&proc->ref))
		return;
	spin_lock_bh(&procs_lock);
	hash_del(&proc->hash);
	spin_unlock_bh(&procs_lock);
	queue_work(wq, &proc->free);
}

/**
 * sroce_faultq_init() - create the work queue, when the module is loaded
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_faultq_init(void)
{
	wq = alloc_workqueue("sroce_pages", WQ_PERCPU | WQ_CPU_INTENSIVE, JOBS_MAX);
	return wq ? 0 : -ENOMEM;
}

/**
 * sroce_faultq_exit() - destroy the work queue, after the last QP and region
 *
 * Jobs that are left do not fault in pages any more.
 */
void sroce_faultq_exit(void)
{
	/* only jobs may add jobs to a queue that is drained; each user that waits has one */
	WRITE_ONCE(exiting, true);
	cancel_delayed_work_sync(&retry);
	destroy_workqueue(wq);
	cancel_delayed_work_sync(&retry);
}
