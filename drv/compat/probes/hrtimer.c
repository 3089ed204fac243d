// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: hrtimer_setup() of <linux/hrtimer.h>
 * form 1 SROCE_HAVE_HRTIMER_SETUP: sets the function, too
 * form 2: is missing, there is hrtimer_init()
 */
#if SROCE_FORM == 1
static inline void probe_hrtimer(struct hrtimer *t,
				 enum hrtimer_restart (*fn)(struct hrtimer *))
{
	hrtimer_setup(t, fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}
#elif SROCE_FORM == 2
ABSENT_FUNCTION(hrtimer_setup);

static inline void probe_hrtimer(struct hrtimer *t,
				 enum hrtimer_restart (*fn)(struct hrtimer *))
{
	hrtimer_init(t, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	t->function = fn;
}
#endif
