// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Module init and exit, and the link type of `rdma link add ... type sroce`. */

#include <linux/module.h>
#include <rdma/rdma_netlink.h>
#include "drv/dev/device.h"
#include "drv/dev/ops.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"
#include "drv/mem/dmabuf.h"
#include "drv/mem/faultq.h"
#include "drv/net/crc.h"
#include "drv/net/frag.h"
#include "drv/net/loopback.h"
#include "drv/net/segment.h"
#include "drv/queue/ringmem.h"
#include "drv/rx/udp.h"
#include "drv/task/steer.h"
#include "drv/version.h"

static int newlink(const char *name, struct net_device *ndev)
{
	return sroce_device_add(name, ndev);
}

static struct rdma_link_ops link_ops = {
	.type = "sroce",
	.newlink = newlink,
};

static int __init sroce_init(void)
{
	int ret;

	sroce_crc_init();
	sroce_segment_init();
	sroce_steer_init(sroce_udp_input);
	ret = sroce_loopback_init();
	if (ret)
		goto no_loopback;
	ret = sroce_dmabuf_init();
	if (ret)
		goto no_dmabuf;
	ret = sroce_faultq_init();
	if (ret)
		goto no_faultq;
	ret = sroce_snet_init();
	if (ret)
		goto no_snet;
	ret = sroce_device_init(sroce_ops_set);
	if (ret)
		goto no_dev;
	rdma_link_register(&link_ops);
	return 0;

no_dev:
	sroce_snet_exit();
no_snet:
	sroce_faultq_exit();
no_faultq:
	sroce_dmabuf_exit();
no_dmabuf:
	sroce_loopback_exit();
no_loopback:
	sroce_crc_exit();
	return ret;
}

static void __exit sroce_exit(void)
{
	int left;

	rdma_link_unregister(&link_ops);
	sroce_device_exit();
	sroce_snet_exit();
	sroce_steer_exit();
	sroce_frag_exit();
	sroce_faultq_exit();
	sroce_ringmem_exit();
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
MODULE_VERSION(SROCE_VERSION SROCE_GIT);
/* What programs open; not every kernel has symbols that bring it. */
MODULE_SOFTDEP("pre: ib_uverbs rdma_ucm");
MODULE_ALIAS_RDMA_LINK("sroce");
