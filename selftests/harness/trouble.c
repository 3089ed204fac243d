// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A module that misbehaves on request, to see whether the VM harness notices.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stop_machine.h>
#include <rdma/ib_verbs.h>

static char *what = "";
module_param(what, charp, 0400);
MODULE_PARM_DESC(what, "warn, leak, forget, stuck or dead");

/* A PD on every device, never given back. */
static int trouble_leak(struct ib_device *ibdev)
{
	return PTR_ERR_OR_ZERO(ib_alloc_pd(ibdev, 0));
}

static struct ib_client trouble_client = {
	.name = "trouble",
	.add = trouble_leak,
};

/* Memory that nobody points to any more */
static int trouble_forget(void)
{
	int i;

	/* the last one's address may linger in a register or on a stack */
	for (i = 0; i < 8; i++)
		if (!kmalloc(2000 + i, GFP_KERNEL))
			return -ENOMEM;
	return 0;
}

/* Runs on every CPU with interrupts off. */
static int trouble_dead(void *unused)
{
	for (;;)
		cpu_relax();
	return 0;
}

static int __init trouble_init(void)
{
	if (!strcmp(what, "leak"))
		return ib_register_client(&trouble_client);
	if (!strcmp(what, "forget"))
		return trouble_forget();
	if (!strcmp(what, "warn"))
		return WARN_ON_ONCE(1) ? 0 : -EINVAL;
	if (!strcmp(what, "dead"))
		return stop_machine(trouble_dead, NULL, cpu_online_mask);
	if (strcmp(what, "stuck"))
		return -EINVAL;
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
}

module_init(trouble_init);

MODULE_DESCRIPTION("Misbehaves on request");
MODULE_LICENSE("Dual BSD/GPL");
