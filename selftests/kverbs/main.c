// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * In debugfs: devices and perhaps the beginning of a name written to kverbs/run
 * have the cases run; kverbs/results has them in TAP. kverbs/events counts
 * what the devices report. A device written to kverbs/live is kept busy until
 * it is removed.
 */

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "kverbs.h"

#define RESULTS_MAX	(64 << 10)

static struct dentry *dir;
/* Keeps devices while they are in use, and the results together */
static DEFINE_MUTEX(lock);
static char *results;
static size_t results_len;
static atomic_t events[32];

struct kv_dev {
	struct list_head	list;
	struct ib_device	*ibdev;
	struct ib_event_handler	handler;
};

static LIST_HEAD(devs);

static int push(struct kv_undo *undo, u32 *n, void (*fn)(void *arg), void *arg)
{
	if (WARN_ON(*n == ARRAY_SIZE(((struct kv *)NULL)->undo)))
		return -ENOSPC;
	undo[*n].fn = fn;
	undo[*n].arg = arg;
	++*n;
	return 0;
}

static void pop_all(struct kv_undo *undo, u32 *n)
{
	while (*n) {
		--*n;
		undo[*n].fn(undo[*n].arg);
	}
}

/**
 * kv_later() - have something given back after the case
 * @kv: the run
 * @fn: gives it back
 * @arg: what it is
 */
int kv_later(struct kv *kv, void (*fn)(void *arg), void *arg)
{
	return push(kv->undo, &kv->undos, fn, arg);
}

/**
 * kv_later_mem() - have memory given back after all that may write to it
 * @kv: the run
 * @fn: gives it back
 * @arg: what it is
 */
int kv_later_mem(struct kv *kv, void (*fn)(void *arg), void *arg)
{
	return push(kv->mem, &kv->mems, fn, arg);
}

/**
 * kv_becomes() - wait until something is so
 * @fn: says whether it is
 * @arg: passed to @fn
 *
 * Return: false if it takes too long.
 */
bool kv_becomes(bool (*fn)(void *arg), void *arg)
{
	unsigned long end = jiffies + msecs_to_jiffies(KV_WAIT_MS);

	while (!fn(arg)) {
		if (time_after(jiffies, end))
			return fn(arg);
		usleep_range(50, 200);
	}
	return true;
}

static __printf(1, 2) void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	results_len += vscnprintf(results + results_len,
				  RESULTS_MAX - results_len, fmt, args);
	va_end(args);
}

static void run_case(struct kv *kv, const struct kv_case *c, u32 n)
{
	int ret;

	kv->why[0] = 0;
	kv->arg = c->arg;
	/* the log says where a complaint of the kernel's belongs */
	pr_info("case %u: %s\n", n, c->name);
	ret = c->run(kv);
	pop_all(kv->undo, &kv->undos);
	pop_all(kv->mem, &kv->mems);
	if (ret)
		pr_info("case %u: %s (%d)\n", n, kv->why, ret);
	if (ret == KV_SKIP)
		say("ok %u - %s # SKIP %s\n", n, c->name, kv->why);
	else if (ret)
		say("not ok %u - %s # %s (%d)\n", n, c->name, kv->why, ret);
	else
		say("ok %u - %s\n", n, c->name);
}

/* Kbuild defines KV_GROUPS as KV_GROUP(name) for each t_name.c */
#define KV_GROUP(name)	extern const struct kv_case kv_##name##_cases[];
KV_GROUPS
#undef KV_GROUP

#define KV_GROUP(name)	kv_##name##_cases,
static const struct kv_case *const groups[] = { KV_GROUPS };
#undef KV_GROUP

static void run_all(struct kv *kv, const char *prefix)
{
	const struct kv_case *c;
	u32 i, n = 0;

	results_len = 0;
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		for (c = groups[i]; c->name; c++)
			if (!strncmp(c->name, prefix, strlen(prefix)))
				run_case(kv, c, ++n);
	say("1..%u\n", n);
}

static struct ib_device *find(const char *name)
{
	struct kv_dev *d;

	list_for_each_entry(d, &devs, list)
		if (!strcmp(dev_name(&d->ibdev->dev), name))
			return d->ibdev;
	return NULL;
}

static ssize_t run_write(struct file *file, const char __user *from,
			 size_t count, loff_t *pos)
{
	char buf[128] = "", a[32] = "", b[32] = "";
	int skip = 0;
	ssize_t ret = count;
	struct kv *kv;

	if (count >= sizeof(buf) || copy_from_user(buf, from, count))
		return -EINVAL;
	strim(buf);
	if (sscanf(buf, "%31s %31s %n", a, b, &skip) < 2)
		return -EINVAL;
	kv = kzalloc(sizeof(*kv), GFP_KERNEL);
	if (!kv)
		return -ENOMEM;
	mutex_lock(&lock);
	kv->dev[0] = find(a);
	kv->dev[1] = find(b);
	if (kv->dev[0] && kv->dev[1])
		run_all(kv, skip ? buf + skip : "");
	else
		ret = -ENODEV;
	mutex_unlock(&lock);
	kfree(kv);
	return ret;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
};

static int results_show(struct seq_file *m, void *v)
{
	mutex_lock(&lock);
	seq_write(m, results, results_len);
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(results);

static int events_show(struct seq_file *m, void *v)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (atomic_read(&events[i]))
			seq_printf(m, "%d %s\n", atomic_read(&events[i]),
				   ib_event_msg(i));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(events);

static ssize_t live_write(struct file *file, const char __user *from,
			  size_t count, loff_t *pos)
{
	char buf[64] = "";
	struct ib_device *dev;
	int ret = -ENODEV;

	if (count >= sizeof(buf) || copy_from_user(buf, from, count))
		return -EINVAL;
	mutex_lock(&lock);
	dev = find(strim(buf));
	if (dev)
		ret = kv_live_start(dev);
	mutex_unlock(&lock);
	return ret ?: count;
}

static ssize_t live_read(struct file *file, char __user *to, size_t count,
			 loff_t *pos)
{
	char buf[128];
	int len = kv_live_say(buf, sizeof(buf));

	return simple_read_from_buffer(to, count, pos, buf, len);
}

static const struct file_operations live_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = live_read,
	.write = live_write,
};

static void count_event(struct ib_event_handler *handler, struct ib_event *ev)
{
	if (ev->event < ARRAY_SIZE(events))
		atomic_inc(&events[ev->event]);
}

static struct ib_client client;

static int add(struct ib_device *ibdev)
{
	struct kv_dev *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return -ENOMEM;
	d->ibdev = ibdev;
	INIT_IB_EVENT_HANDLER(&d->handler, ibdev, count_event);
	ib_register_event_handler(&d->handler);
	mutex_lock(&lock);
	list_add_tail(&d->list, &devs);
	mutex_unlock(&lock);
	ib_set_client_data(ibdev, &client, d);
	return 0;
}

static void remove(struct ib_device *ibdev, void *data)
{
	struct kv_dev *d = data;

	kv_live_removed(ibdev);
	mutex_lock(&lock);
	list_del(&d->list);
	mutex_unlock(&lock);
	ib_unregister_event_handler(&d->handler);
	kfree(d);
}

static struct ib_client client = {
	.name = "kverbs",
	.add = add,
	.remove = remove,
};

static int __init kverbs_init(void)
{
	int ret;

	results = kvzalloc(RESULTS_MAX, GFP_KERNEL);
	if (!results)
		return -ENOMEM;
	ret = ib_register_client(&client);
	if (ret) {
		kvfree(results);
		return ret;
	}
	dir = debugfs_create_dir("kverbs", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("results", 0400, dir, NULL, &results_fops);
	debugfs_create_file("events", 0400, dir, NULL, &events_fops);
	debugfs_create_file("live", 0600, dir, NULL, &live_fops);
	return 0;
}

static void __exit kverbs_exit(void)
{
	debugfs_remove(dir);
	kv_live_stop();
	ib_unregister_client(&client);
	kvfree(results);
}

module_init(kverbs_init);
module_exit(kverbs_exit);
MODULE_DESCRIPTION("Test of the kernel's verbs");
MODULE_LICENSE("Dual BSD/GPL");
