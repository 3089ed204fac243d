// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Address vectors and the handles of UD. */

#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/uverbs_ioctl.h>
#include <net/ipv6.h>
#include "drv/dev.h"

/**
 * sroce_av_from_attr() - resolve address attributes into a path
 * @dev: the device
 * @av: filled in, but for its route cache
 * @attr: attributes; the core has checked and resolved the GID index
 * @entropy: what tells this flow from others between the same addresses
 *
 * Return: 0 or -EINVAL.
 */
int sroce_av_from_attr(struct sroce_dev *dev, struct sroce_av *av,
		       const struct rdma_ah_attr *attr, u32 entropy)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct ib_gid_attr *sgid = grh->sgid_attr;
	const struct net_device *ndev;
	int ret = 0;

	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !sgid)
		return -EINVAL;

	av->sgid = sgid->gid;
	av->dgid = grh->dgid;
	av->v6 = !ipv6_addr_v4mapped((struct in6_addr *)&sgid->gid);
	if (av->v6 == ipv6_addr_v4mapped((struct in6_addr *)&grh->dgid))
		return -EINVAL;
	av->multicast = sroce_gid_tbl_is_multicast(&grh->dgid);
	av->tclass = grh->traffic_class;
	av->hop_limit = grh->hop_limit ?: 64;
	av->flow_label = grh->flow_label & 0xfffff;
	av->ip_id = get_random_u32();
	/* A17.9.2: the source port carries the flow's entropy. */
	if (av->flow_label)
		av->sport = rdma_flow_label_to_udp_sport(av->flow_label);
	else
		av->sport = IB_ROCE_UDP_ENCAP_VALID_PORT_MIN |
			    (jhash_1word(entropy, 0) & 0x3fff);

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	if (IS_ERR(ndev) || !net_eq(dev_net(ndev), dev->sn->net))
		ret = -EINVAL;
	else
		av->ifindex = ndev->ifindex;
	rcu_read_unlock();
	return ret;
}

/**
 * sroce_ah_put() - let go of an address
 * @ah: the address
 *
 * The route goes at once, not after a grace period: it must not outlive its
 * namespace.
 */
void sroce_ah_put(struct sroce_ah *ah)
{
	if (!refcount_dec_and_test(&ah->ref))
		return;
	dst_cache_destroy(&ah->av.dst);
	kfree_rcu(ah, rcu);
	sroce_live_dec();
}

/**
 * sroce_ah_get() - the address of a handle, by number
 * @qp: on whose behalf; its PD must be the handle's
 * @ah_num: number
 *
 * Return: the address, held until sroce_ah_put(), or NULL.
 */
struct sroce_ah *sroce_ah_get(struct sroce_qp *qp, u32 ah_num)
{
	struct sroce_ah *ah;

	rcu_read_lock();
	ah = ah_num ? xa_load(&qp->dev->ahs, ah_num) : NULL;
	if (ah && (ah->pd != qp->ibqp.pd || !refcount_inc_not_zero(&ah->ref)))
		ah = NULL;
	rcu_read_unlock();
	return ah;
}

/**
 * sroce_ah_av() - where an address leads
 * @ah: the address
 */
struct sroce_av *sroce_ah_av(struct sroce_ah *ah)
{
	return &ah->av;
}

static struct sroce_ah *ah_build(struct sroce_dev *dev, struct ib_pd *pd,
				 const struct rdma_ah_attr *attr, gfp_t gfp)
{
	struct sroce_ah *ah = kzalloc(sizeof(*ah), gfp);
	int ret = -ENOMEM;

	if (!ah)
		return ERR_PTR(ret);
	refcount_set(&ah->ref, 1);
	ah->pd = pd;
	/* The GID reference is the core's; only the values are kept. */
	ah->attr = *attr;
	ah->attr.grh.sgid_attr = NULL;
	ret = sroce_av_from_attr(dev, &ah->av, attr, (u32)(uintptr_t)ah);
	if (!ret)
		ret = dst_cache_init(&ah->av.dst, gfp);
	if (ret) {
		kfree(ah);
		return ERR_PTR(ret);
	}
	sroce_live_inc();
	return ah;
}

/**
 * sroce_ah_create() - make an address handle
 * @ibah: the handle
 * @init: attributes; without RDMA_CREATE_AH_SLEEPABLE the caller is atomic
 * @udata: where the number goes, for user space
 */
int sroce_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata)
{
	bool may_sleep = init->flags & RDMA_CREATE_AH_SLEEPABLE;
	struct sroce_dev *dev = to_sdev(ibah->device);
	gfp_t gfp = may_sleep ? GFP_KERNEL_ACCOUNT : GFP_ATOMIC;
	struct sroce_abi_create_ah_resp resp = {};
	struct sroce_ah *ah;
	unsigned long flags;
	int ret;

	ah = ah_build(dev, ibah->pd, init->ah_attr, gfp);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	xa_lock_irqsave(&dev->ahs, flags);
	ret = __xa_alloc_cyclic(&dev->ahs, &ah->num, ah,
				XA_LIMIT(1, SROCE_MAX_AH), &dev->next_ah, gfp);
	xa_unlock_irqrestore(&dev->ahs, flags);
	if (ret < 0)
		goto err;
	if (udata) {
		resp.ah_num = ah->num;
		ret = ib_copy_to_udata(udata, &resp,
				       min(sizeof(resp), udata->outlen));
		if (ret) {
			xa_erase_irq(&dev->ahs, ah->num);
			goto err;
		}
	}
	to_sibah(ibah)->ah = ah;
	return 0;
err:
	sroce_ah_put(ah);
	return ret;
}

/**
 * sroce_ah_modify() - give a handle another address
 * @ibah: the handle
 * @attr: new attributes
 */
int sroce_ah_modify(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct sroce_dev *dev = to_sdev(ibah->device);
	struct sroce_ah *old = to_sibah(ibah)->ah, *ah;
	unsigned long flags;

	ah = ah_build(dev, ibah->pd, attr, GFP_ATOMIC);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	ah->num = old->num;
	xa_lock_irqsave(&dev->ahs, flags);
	__xa_store(&dev->ahs, ah->num, ah, GFP_ATOMIC);
	to_sibah(ibah)->ah = ah;
	xa_unlock_irqrestore(&dev->ahs, flags);
	sroce_ah_put(old);
	return 0;
}

/**
 * sroce_ah_query() - attributes of a handle, as set
 * @ibah: the handle
 * @attr: filled in
 */
int sroce_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_sibah(ibah)->ah->attr;
	return 0;
}

/**
 * sroce_ah_destroy() - end a handle; work requests that use it go on
 * @ibah: the handle
 * @flags: whether the caller may sleep; it does not matter here
 */
int sroce_ah_destroy(struct ib_ah *ibah, u32 flags)
{
	struct sroce_dev *dev = to_sdev(ibah->device);
	struct sroce_ah *ah = to_sibah(ibah)->ah;
	unsigned long irq;

	xa_lock_irqsave(&dev->ahs, irq);
	__xa_erase(&dev->ahs, ah->num);
	xa_unlock_irqrestore(&dev->ahs, irq);
	sroce_ah_put(ah);
	return 0;
}
