/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Included by each probe. It is compiled once for all of them, so it has all headers whose
 * contents they ask about.
 */
#include <linux/dma-buf.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <net/flow.h>
#include <net/inet_dscp.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/udp_tunnel.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

/* Is the type of @expr @type? A call would accept what can be converted. */
#define SAME_TYPE(expr, ...)						\
	_Static_assert(__builtin_types_compatible_p(typeof(expr), __VA_ARGS__), "")

/* Is there no such function or macro with arguments? If there is, the declarations differ. */
#define ABSENT_FUNCTION(name)	struct sroce_absent *name(struct sroce_absent *)

/* Is there no such constant or variable? Nor a macro, which would expand to something. */
#define ABSENT_NAME(name)						\
	extern struct sroce_absent name;				\
	_Static_assert(sizeof(#name) == sizeof(SROCE_EXPANDED(name)), "")
#define SROCE_EXPANDED(name)	#name

/* Has @type no such member? If it has, this one has its name twice (-fms-extensions). */
#define ABSENT_MEMBER(type, name) struct sroce_with_##name { type; int name; }

struct sroce_absent;
