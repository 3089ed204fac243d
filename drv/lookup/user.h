/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What each user of the host has of resources that all share. */
#ifndef SROCE_LOOKUP_USER_H
#define SROCE_LOOKUP_USER_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "drv/lookup/kqp.h"
#include "drv/lookup/sdev.h"

/**
 * struct sroce_user - a user, as far as shares are counted
 * @hash: entry in the table of users
 * @uid: the user
 * @ref: references
 * @privileged: a process with CAP_SYS_RESOURCE; it is counted by itself, and has no shares
 * @memory: bytes of rings and objects
 * @objects: number of objects on all devices, by enum sroce_obj
 * @share: what the user's QPs take
 * @flusher: visits the user's QPs in the error state
 * @lock: guards the members below, see drv/mem/faultq.c
 * @faulting: number of fault jobs that are running
 * @ready: queues with jobs that may run
 * @mapped: destroyed rings that are still mapped, see drv/queue/ringmem.c, ...
 * @n_mapped: ... and how many
 * @mappers: entry in the list of users who have such rings
 */
struct sroce_user {
	struct hlist_node	hash;
	kuid_t			uid;
	refcount_t		ref;
	bool			privileged;
	atomic_long_t		memory;
	atomic_t		objects[SROCE_OBJS];
	struct sroce_share	share;
	struct sroce_flusher	flusher;
	spinlock_t		lock;
	u32			faulting;
	struct list_head	ready;
	struct list_head	mapped;
	u32			n_mapped;
	struct list_head	mappers;
};

/**
 * struct sroce_ucontext - user context of a process, as the RDMA core allocates it
 * @ibuc: the RDMA core's part
 * @user: its user
 */
struct sroce_ucontext {
	struct ib_ucontext	ibuc;
	struct sroce_user	*user;
};

static inline struct sroce_ucontext *to_suc(struct ib_ucontext *uc)
{
	return container_of(uc, struct sroce_ucontext, ibuc);
}

/**
 * struct sroce_pd - a protection domain: regions and QPs just compare pointers to it
 * @ibpd: the core's part
 * @owner: the user whose objects are in it; NULL for a kernel user
 */
struct sroce_pd {
	struct ib_pd		ibpd;
	struct sroce_user	*owner;
};

/* User context of a verb; NULL if a kernel user has called it. */
static inline struct ib_ucontext *sroce_uc(struct ib_udata *udata)
{
	struct sroce_ucontext *uc = rdma_udata_to_drv_context(udata,
					struct sroce_ucontext, ibuc);

	return uc ? &uc->ibuc : NULL;
}

/* The user of a context; NULL for that of a kernel user, which is NULL */
static inline struct sroce_user *sroce_uc_user(struct ib_ucontext *uc)
{
	return uc ? to_suc(uc)->user : NULL;
}

/* The user whose objects are in a domain; NULL for a kernel user */
static inline struct sroce_user *sroce_pd_owner(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct sroce_pd, ibpd)->owner;
}

struct sroce_user *sroce_user_get(void);
void sroce_user_put(struct sroce_user *user);
int sroce_user_charge(struct sroce_user *user, size_t bytes);
int sroce_user_charge_again(struct sroce_user *user, size_t bytes);
void sroce_user_uncharge(struct sroce_user *user, size_t bytes);
u32 sroce_user_most(const struct sroce_user *user, u32 limit, u32 all);
int sroce_user_add(struct sroce_dev *dev, struct sroce_user *user, enum sroce_obj obj);
void sroce_user_del(struct sroce_dev *dev, struct sroce_user *user, enum sroce_obj obj);

#endif /* SROCE_LOOKUP_USER_H */
