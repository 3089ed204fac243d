// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Users of the host. What one user may have of a resource that all share is counted here,
 * for all of the user's processes together: a process more is had for the asking. So are
 * accounts, on some hosts: users together leave a part to the kernel and to processes with
 * CAP_SYS_RESOURCE, and each at most takes a part of what those before it have left.
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include "drv/lookup/user.h"

#define TABLE_BITS	8
/* A user has at most this part of a device's objects, ... */
#define OBJECT_SHARE	4
/* ... two fifths of what is left, so that four users do not have all, ... */
#define LEFT_NUM	2
#define LEFT_DEN	5
/* ... but for this part, which users do not get */
#define OBJECT_RESERVE	16
/* A user has at most this part of the memory, for rings and objects, all users this part, ... */
#define MEMORY_SHARE	16
#define MEMORY_ALL	2
/* ... and each this part of what is left of that, but this part of the memory at least */
#define MEMORY_LEFT	4
#define MEMORY_LEAST	256

/**
 * struct obj_limit - a limit that a device reports
 * @most: number of objects
 * @bytes: memory of an object without rings, roughly, with what the RDMA core keeps for it
 * @per_cpu: and for each CPU: a route
 */
struct obj_limit {
	u32	most;
	u32	bytes;
	u32	per_cpu;
};

/* An entry of a dst_cache, roughly */
#define ROUTE_BYTES	48

static const struct obj_limit limits[] = {
	[SROCE_OBJ_PD] = { SROCE_MAX_PD, 512 },
	[SROCE_OBJ_CQ] = { SROCE_MAX_CQ, 1024 },
	[SROCE_OBJ_SRQ] = { SROCE_MAX_SRQ, 1024 },
	/* one that has 128 READs outstanding each way */
	[SROCE_OBJ_QP] = { SROCE_MAX_QP, 27648, ROUTE_BYTES },
	[SROCE_OBJ_MR] = { SROCE_MAX_MR, 1024 },
	[SROCE_OBJ_AH] = { SROCE_MAX_AH, 720, ROUTE_BYTES },
	[SROCE_OBJ_GROUP] = { SROCE_MAX_GROUPS, 512 },
	/* it is in each page's way out of memory, if the regions are of the same pages */
	[SROCE_OBJ_ODP] = { SROCE_MAX_ODP, 512 },
};

static DEFINE_HASHTABLE(users, TABLE_BITS);
static DEFINE_SPINLOCK(users_lock);
/* Bytes that are charged to all users but those with CAP_SYS_RESOURCE */
static atomic_long_t all_memory;

static struct sroce_user *user_alloc(kuid_t uid)
{
	struct sroce_user *user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);

	if (!user)
		return NULL;
	user->uid = uid;
	refcount_set(&user->ref, 1);
	spin_lock_init(&user->lock);
	INIT_HLIST_NODE(&user->hash);
	INIT_LIST_HEAD(&user->ready);
	INIT_LIST_HEAD(&user->mapped);
	return user;
}

static struct sroce_user *find_locked(kuid_t uid)
{
	struct sroce_user *user;

	hash_for_each_possible(users, user, hash, __kuid_val(uid))
		if (uid_eq(user->uid, uid) && refcount_inc_not_zero(&user->ref))
			return user;
	return NULL;
}

/*
 * The user who counts for a process: outside of all user namespaces. A namespace has the
 * shares of whoever made it, however many users are mapped into it.
 */
static kuid_t outermost_uid(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns != &init_user_ns; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

/**
 * sroce_user_get() - get the user of the calling process
 *
 * Context: process, may sleep.
 *
 * Return: the user, or NULL without memory.
 */
struct sroce_user *sroce_user_get(void)
{
	struct sroce_user *new = user_alloc(outermost_uid()), *user;

	if (!new)
		return NULL;
	new->privileged = ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
	if (new->privileged)
		return new;
	spin_lock_bh(&users_lock);
	user = find_locked(new->uid);
	if (!user)
		hash_add(users, &new->hash, __kuid_val(new->uid));
	spin_unlock_bh(&users_lock);
	if (!user)
		return new;
	kfree(new);
	return user;
}

/**
 * sroce_user_put() - drop a reference to a user
 * @user: the user
 *
 * Context: process or softirq.
 */
void sroce_user_put(struct sroce_user *user)
{
	if (!refcount_dec_and_test(&user->ref))
		return;
	spin_lock_bh(&users_lock);
	hash_del(&user->hash);
	spin_unlock_bh(&users_lock);
	kfree(user);
}

/* Whether a user may have so many bytes, when all have so many. @kept: whatever others have */
static bool may_have(unsigned long own, unsigned long all, bool kept)
{
	unsigned long total = totalram_pages() * PAGE_SIZE, most = total / MEMORY_ALL;

	if (own > total / MEMORY_SHARE)
		return false;
	return kept || (all <= most &&
			own <= max((most - all) / MEMORY_LEFT, total / MEMORY_LEAST));
}

static int charge(struct sroce_user *user, size_t bytes, bool kept)
{
	unsigned long own, all;

	if (!user)
		return 0;
	own = atomic_long_add_return(bytes, &user->memory);
	if (!user->privileged) {
		all = atomic_long_add_return(bytes, &all_memory);
		if (!may_have(own, all, kept)) {
			atomic_long_sub(bytes, &all_memory);
			atomic_long_sub(bytes, &user->memory);
			return -ENOMEM;
		}
	}
	refcount_inc(&user->ref);
	return 0;
}

/**
 * sroce_user_charge() - charge memory to a user
 * @user: the user; NULL for a kernel user, which is not limited
 * @bytes: how much
 *
 * A memory cgroup may limit it as well; this is for hosts without. The limit of locked
 * memory is not used: the usual one is less than some programs need for rings.
 *
 * Return: 0, and the user is held until sroce_user_uncharge(); -ENOMEM beyond its share.
 */
int sroce_user_charge(struct sroce_user *user, size_t bytes)
{
	return charge(user, bytes, false);
}

/**
 * sroce_user_charge_again() - charge memory that a running connection needs now and then
 * @user: the user; NULL for a kernel user, which is not limited
 * @bytes: how much
 *
 * A page that leaves memory and comes back is charged anew: what others have meanwhile must not
 * end the connection.
 *
 * Return: as sroce_user_charge().
 */
int sroce_user_charge_again(struct sroce_user *user, size_t bytes)
{
	return charge(user, bytes, true);
}

/**
 * sroce_user_uncharge() - undo sroce_user_charge()
 * @user: the user, or NULL
 * @bytes: how much
 */
void sroce_user_uncharge(struct sroce_user *user, size_t bytes)
{
	if (!user)
		return;
	if (!user->privileged)
		atomic_long_sub(bytes, &all_memory);
	atomic_long_sub(bytes, &user->memory);
	sroce_user_put(user);
}

static bool add_below(atomic_t *n, u32 most)
{
	if (atomic_inc_return(n) <= most)
		return true;
	atomic_dec(n);
	return false;
}

/**
 * sroce_user_most() - share of a user in what a limit allows
 * @user: the user; NULL for a kernel user, which is not limited
 * @limit: the limit
 * @all: what all users have, privileged ones excepted
 *
 * Return: the share; no limit for processes with CAP_SYS_RESOURCE.
 */
u32 sroce_user_most(const struct sroce_user *user, u32 limit, u32 all)
{
	u32 users = limit - limit / OBJECT_RESERVE;

	if (!user || user->privileged)
		return U32_MAX / 2;
	return all < users ? min(limit / OBJECT_SHARE, (users - all) * LEFT_NUM / LEFT_DEN) : 0;
}

static size_t object_bytes(const struct obj_limit *limit)
{
	return limit->bytes + limit->per_cpu * num_possible_cpus();
}

/**
 * sroce_user_add() - count an object to be created, if the limits allow it
 * @dev: the device
 * @user: the user; NULL for a kernel user
 * @obj: what it is
 *
 * Context: any.
 *
 * Return: 0, and the user is held until sroce_user_del(); -ENOMEM beyond a limit that the
 * device reports, or the share of a user.
 */
int sroce_user_add(struct sroce_dev *dev, struct sroce_user *user, enum sroce_obj obj)
{
	const struct obj_limit *limit = &limits[obj];
	u32 all;

	if (!add_below(&dev->objects[obj], limit->most))
		return -ENOMEM;
	if (!user)
		return 0;
	all = atomic_add_return(!user->privileged, &dev->user_objects[obj]);
	if (!add_below(&user->objects[obj], sroce_user_most(user, limit->most, all)))
		goto err_dev;
	if (!sroce_user_charge(user, object_bytes(limit)))
		return 0;
	atomic_dec(&user->objects[obj]);
err_dev:
	atomic_sub(!user->privileged, &dev->user_objects[obj]);
	atomic_dec(&dev->objects[obj]);
	return -ENOMEM;
}

/**
 * sroce_user_del() - undo sroce_user_add()
 * @dev: the device
 * @user: the user, or NULL
 * @obj: what it was
 *
 * Context: process or softirq.
 */
void sroce_user_del(struct sroce_dev *dev, struct sroce_user *user, enum sroce_obj obj)
{
	atomic_dec(&dev->objects[obj]);
	if (!user)
		return;
	atomic_sub(!user->privileged, &dev->user_objects[obj]);
	atomic_dec(&user->objects[obj]);
	sroce_user_uncharge(user, object_bytes(&limits[obj]));
}
