// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Module life, and the link type that `rdma link add` knows us by. */

#include <linux/module.h>
#include <rdma/rdma_netlink.h>
#include "drv/net/frag.h"
#include "drv/net/copy.h"
#include "drv/net/crc.h"
#include "drv/dev.h"

atomic_t sroce_sdev_live = ATOMIC_INIT(0);

static int sroce_newlink(const char *name, struct net_device *ndev)
{
	return sroce_device_add(name, ndev);
}

static struct rdma_link_ops sroce_link_ops = {
	.type = "sroce",
	.newlink = sroce_newlink,
};

static int __init sroce_init(void)
{
	int ret;

	sroce_crc_init();
	sroce_copy_init();
	sroce_steer_init();
	ret = sroce_loopback_init();
	if (ret)
		goto no_parcels;
	ret = sroce_dmabuf_init();
	if (ret)
		goto no_dmabuf;
	ret = sroce_pager_wq_init();
	if (ret)
		goto no_pagers;
	ret = sroce_snet_init();
	if (ret)
		goto no_netns;
	ret = sroce_device_init();
	if (ret)
		goto no_dev;
	rdma_link_register(&sroce_link_ops);
	return 0;

no_dev:
	sroce_snet_exit();
no_netns:
	sroce_pager_wq_exit();
no_pagers:
	sroce_dmabuf_exit();
no_dmabuf:
	sroce_loopback_exit();
no_parcels:
	sroce_crc_exit();
	return ret;
}

static void __exit sroce_exit(void)
{
	int left;

	rdma_link_unregister(&sroce_link_ops);
	sroce_device_exit();
	sroce_snet_exit();
	sroce_steer_exit();
	sroce_frag_exit();
	sroce_pager_wq_exit();
	sroce_dmabuf_exit();
	sroce_loopback_exit();
	sroce_crc_exit();
	left = atomic_read(&sroce_sdev_live);
	if (left)
		pr_err("sroce: %d object(s) leaked\n", left);
}

module_init(sroce_init);
module_exit(sroce_exit);

MODULE_DESCRIPTION("Software RoCEv2 device on any Ethernet netdev");
MODULE_AUTHOR("The sroce authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_LINK("sroce");
