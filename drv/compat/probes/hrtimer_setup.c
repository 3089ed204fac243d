// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/hrtimer.h>

void probe(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *));
void probe(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *))
{
	hrtimer_setup(t, fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}
