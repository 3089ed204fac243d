/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Differences between kernels, found by probes at build time. */
#ifndef SROCE_COMPAT_H
#define SROCE_COMPAT_H

#include <linux/hrtimer.h>
#include <net/flow.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#ifndef CONFIG_64BIT
#error "sroce needs a 64-bit kernel: regions are used by their kernel address"
#endif

#ifndef SROCE_HAVE_DST_FLOW_DSCP
static inline void sroce_flowi4_set_tos(struct flowi4 *fl, u8 tclass)
{
	fl->flowi4_tos = tclass & ~3;
}
#else
static inline void sroce_flowi4_set_tos(struct flowi4 *fl, u8 tclass)
{
	fl->flowi4_dscp = inet_dsfield_to_dscp(tclass);
}
#endif

static inline void sroce_hrtimer_setup(struct hrtimer *timer,
				       enum hrtimer_restart (*fn)(struct hrtimer *),
				       enum hrtimer_mode mode)
{
#ifdef SROCE_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = fn;
#endif
}

/* udev must not rename what the user named. */
#ifndef SROCE_HAVE_MARK_NAME
#define ib_mark_name_assigned_by_user(ibdev) do { } while (0)
#endif

/* .create_cq got the whole attribute bundle in 6.11. */
#ifdef SROCE_HAVE_CREATE_CQ_ATTRS
#define sroce_create_cq_op sroce_create_cq_attrs
#else
#define sroce_create_cq_op sroce_create_cq
#endif

#endif /* SROCE_COMPAT_H */
