// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The operations of the device, and the verbs that need no state. */

#include <linux/if_vlan.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include "drv/compat/compat.h"
#include "drv/core/qp.h"
#include "drv/dev/attr.h"
#include "drv/dev/device.h"
#include "drv/dev/ops.h"
#include "drv/dev/pma.h"
#include "drv/dev/res.h"
#include "drv/dev/stats.h"
#include "drv/lookup/gid_tbl.h"
#include "drv/lookup/mcast.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/user.h"
#include "drv/mem/dmabuf.h"
#include "drv/mem/mw.h"
#include "drv/mem/region.h"
#include "drv/queue/cq.h"
#include "drv/queue/ringmem.h"
#include "drv/queue/srq.h"
#include "drv/task/flusher.h"
#include "drv/verbs/ah.h"
#include "drv/verbs/pager.h"
#include "drv/verbs/post.h"
#include "drv/verbs/qp.h"
#include "drv/version.h"

/*
 * Bits of ODP transports that newer kernels define, for requests that this one knows; older
 * versions of ibv_devinfo call them unknown
 */
#ifdef SROCE_HAVE_FLUSH
#define ODP_FLUSH		BIT(6)
#else
#define ODP_FLUSH		0
#endif
#ifdef SROCE_HAVE_ATOMIC_WRITE
#define ODP_ATOMIC_WRITE	BIT(7)
#else
#define ODP_ATOMIC_WRITE	0
#endif

/* Returned with the device attributes: the core reads them at registration */
static const struct ib_odp_caps odp_caps = {
	.general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT,
	.per_transport_caps = {
		.rc_odp_caps = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
			       IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ |
			       IB_ODP_SUPPORT_ATOMIC | IB_ODP_SUPPORT_SRQ_RECV |
			       ODP_FLUSH | ODP_ATOMIC_WRITE,
		.uc_odp_caps = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
			       IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_SRQ_RECV,
		.ud_odp_caps = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
			       IB_ODP_SUPPORT_SRQ_RECV,
	},
};

static void fill_attrs(struct sroce_dev *dev, struct ib_device_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = SROCE_FW_VERSION;
	attr->vendor_id = SROCE_VENDOR_ID;
	attr->vendor_part_id = SROCE_VENDOR_PART;
	attr->hw_ver = SROCE_HW_VERSION;
	attr->max_mr_size = ~0ULL;
	/* extents of a region may have any size */
	attr->page_size_cap = PAGE_MASK;
	attr->max_qp = SROCE_MAX_QP;
	attr->max_qp_wr = SROCE_MAX_QP_WR;
	attr->device_cap_flags = IB_DEVICE_BAD_PKEY_CNTR |
				 IB_DEVICE_BAD_QKEY_CNTR |
				 IB_DEVICE_CURR_QP_STATE_MOD |
				 IB_DEVICE_CHANGE_PHY_PORT |
				 IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID |
				 IB_DEVICE_RC_RNR_NAK_GEN |
				 IB_DEVICE_SRQ_RESIZE |
				 IB_DEVICE_MEM_WINDOW |
				 IB_DEVICE_MEM_WINDOW_TYPE_2B |
				 IB_DEVICE_MEM_MGT_EXTENSIONS;
#ifdef SROCE_HAVE_FLUSH
	attr->device_cap_flags |= IB_DEVICE_FLUSH_GLOBAL;
#endif
#ifdef SROCE_HAVE_ATOMIC_WRITE
	attr->device_cap_flags |= IB_DEVICE_ATOMIC_WRITE;
#endif
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG | IBK_ON_DEMAND_PAGING |
				 IBK_SG_GAPS_REG;
	attr->odp_caps = odp_caps;
	attr->max_send_sge = SROCE_MAX_SGE;
	attr->max_recv_sge = SROCE_MAX_SGE;
	attr->max_sge_rd = SROCE_MAX_SGE;
	attr->max_cq = SROCE_MAX_CQ;
	attr->max_cqe = SROCE_MAX_CQE;
	attr->max_mr = SROCE_MAX_MR;
	attr->max_mw = SROCE_MAX_MR;
	attr->max_fast_reg_page_list_len = SROCE_MAX_FAST_PAGES;
	attr->max_pd = SROCE_MAX_PD;
	attr->max_qp_rd_atom = SROCE_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = SROCE_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = SROCE_MAX_RD_ATOMIC * SROCE_MAX_QP;
	attr->atomic_cap = sroce_attr_atomic_cap(dev);
	attr->max_ah = SROCE_MAX_AH;
	attr->max_srq = SROCE_MAX_SRQ;
	attr->max_srq_wr = SROCE_MAX_SRQ_WR;
	attr->max_srq_sge = SROCE_MAX_SGE;
	attr->max_raw_ethy_qp = SROCE_MAX_QP;
	attr->max_mcast_grp = SROCE_MAX_GROUPS;
	attr->max_mcast_qp_attach = SROCE_MAX_GROUP_QPS;
	attr->max_total_mcast_qp_attach = SROCE_MAX_GROUPS *
					  SROCE_MAX_GROUP_QPS;
	attr->max_pkeys = 1;
	attr->local_ca_ack_delay = SROCE_CA_ACK_DELAY;
	attr->sys_image_guid = dev->ibdev.node_guid;
}

static int sroce_query_device(struct ib_device *ibdev,
			      struct ib_device_attr *attr,
			      struct ib_udata *udata)
{
	/* the core asks for itself, too, and then some kernels have no udata */
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;
	fill_attrs(to_sdev(ibdev), attr);
	return 0;
}

static enum ib_port_phys_state phys_state(const struct net_device *ndev)
{
	if (!netif_running(ndev))
		return IB_PORT_PHYS_STATE_DISABLED;
	return netif_carrier_ok(ndev) ? IB_PORT_PHYS_STATE_LINK_UP :
					IB_PORT_PHYS_STATE_POLLING;
}

/* A counter of key violations of PortInfo: it stops at its 16 bits (14.2.5.6) */
static u32 violations(struct sroce_dev *dev, enum sroce_counter c)
{
	return min_t(u64, sroce_stats_total(dev, c), U16_MAX);
}

/*
 * State, MTU and speed of the netdev. dev_put() comes before ib_get_eth_speed(), which gets
 * the netdev itself, and takes RTNL. It logs each time that the speed is not known, for any user
 * who asks: the answer it would give is that of 1 Gbit/s.
 */
static int query_netdev(struct sroce_dev *dev, struct net_device *ndev, struct ib_port_attr *attr)
{
	bool known = sroce_sdev_read_speed(dev, ndev);

	attr->active_mtu = sroce_sdev_mtu(ndev->mtu);
	attr->state = sroce_sdev_port_state(ndev);
	attr->phys_state = phys_state(ndev);
	dev_put(ndev);
	if (known)
		return ib_get_eth_speed(&dev->ibdev, 1, &attr->active_speed, &attr->active_width);
	attr->active_speed = IB_SPEED_SDR;
	attr->active_width = IB_WIDTH_1X;
	return 0;
}

static int sroce_query_port(struct ib_device *ibdev, u32 port,
			    struct ib_port_attr *attr)
{
	struct sroce_dev *dev = to_sdev(ibdev);
	struct net_device *ndev = sroce_sdev_netdev(dev);
	int ret = ndev ? 0 : -ENODEV;

	attr->max_mtu = IB_MTU_4096;
	attr->gid_tbl_len = SROCE_GIDS;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = SROCE_MSG_MAX;
	attr->pkey_tbl_len = 1;
	attr->max_vl_num = 1;
	attr->bad_pkey_cntr = violations(dev, SROCE_CNT_RX_PKEY);
	attr->qkey_viol_cntr = violations(dev, SROCE_CNT_RX_QKEY);
	if (ndev)
		ret = query_netdev(dev, ndev, attr);
	if (ret != -ENODEV)
		return ret;
	/* the netdev goes: report a port that is down. The core would log an error. */
	attr->active_mtu = IB_MTU_256;
	attr->state = IB_PORT_DOWN;
	attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	attr->active_speed = IB_SPEED_SDR;
	attr->active_width = IB_WIDTH_1X;
	return 0;
}

static int sroce_get_port_immutable(struct ib_device *ibdev, u32 port,
				    struct ib_port_immutable *imm)
{
	imm->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	imm->pkey_tbl_len = 1;
	imm->gid_tbl_len = SROCE_GIDS;
	imm->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer sroce_get_link_layer(struct ib_device *ibdev,
						 u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

/*
 * The core gives a device the addresses of this netdev and of its VLANs. So a device on a
 * VLAN returns the real device below it.
 */
static struct net_device *sroce_get_netdev(struct ib_device *ibdev, u32 port)
{
	struct net_device *ndev = sroce_sdev_netdev(to_sdev(ibdev)), *real;

	if (!ndev || !is_vlan_dev(ndev))
		return ndev;
	real = vlan_dev_real_dev(ndev);
	dev_hold(real);
	dev_put(ndev);
	return real;
}

static int sroce_query_pkey(struct ib_device *ibdev, u32 port, u16 index,
			    u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = SROCE_PKEY_FULL;
	return 0;
}

static void sroce_get_fw_str(struct ib_device *ibdev, char *str)
{
	strscpy(str, SROCE_VERSION, IB_FW_VERSION_NAME_MAX);
}

static int sroce_alloc_ucontext(struct ib_ucontext *uc, struct ib_udata *udata)
{
	struct sroce_user *user = sroce_user_get();

	if (!user)
		return -ENOMEM;
	to_suc(uc)->user = user;
	sroce_flusher_init(&user->flusher);
	return 0;
}

static void sroce_dealloc_ucontext(struct ib_ucontext *uc)
{
	sroce_flusher_settle(&sroce_uc_user(uc)->flusher);
	sroce_user_put(sroce_uc_user(uc));
}

/* Mapped rings stay: their pages are reference-counted and outlive the device. */
static void sroce_disassociate_ucontext(struct ib_ucontext *uc)
{
}

static int sroce_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct sroce_user *owner = sroce_uc_user(sroce_uc(udata));

	container_of(pd, struct sroce_pd, ibpd)->owner = owner;
	return sroce_user_add(to_sdev(pd->device), owner, SROCE_OBJ_PD);
}

static int sroce_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	sroce_user_del(to_sdev(pd->device), sroce_pd_owner(pd), SROCE_OBJ_PD);
	return 0;
}

#ifdef SROCE_HAVE_COUNTER_PORT
/* The port is the only one, and so that of the QP */
static int sroce_counter_bind_port(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port)
{
	return sroce_stats_bind_qp(counter, ibqp);
}

static int sroce_counter_unbind_port(struct ib_qp *ibqp, u32 port)
{
	return sroce_stats_unbind_qp(ibqp);
}
#endif

static const struct ib_device_ops device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_RXE,
	.uverbs_abi_ver = SROCE_ABI_VERSION,
	.device_group = &sroce_attr_group,

	.add_gid = sroce_gid_tbl_add,
	.advise_mr = sroce_pager_advise,
	.alloc_hw_port_stats = sroce_stats_alloc_port,
	.alloc_mr = sroce_region_alloc_fast,
	.alloc_mw = sroce_mw_alloc,
	.alloc_pd = sroce_alloc_pd,
	.alloc_ucontext = sroce_alloc_ucontext,
	.attach_mcast = sroce_mcast_attach,
	.counter_alloc_stats = sroce_stats_alloc,
	.counter_bind_qp = sroce_counter_bind_op,
	.counter_dealloc = sroce_stats_dealloc,
	.counter_unbind_qp = sroce_counter_unbind_op,
	.counter_update_stats = sroce_stats_update,
	.create_ah = sroce_ah_create,
	.create_cq = sroce_cq_create_op,
	.create_qp = sroce_qp_create,
	.create_srq = sroce_srq_create,
	.create_user_ah = sroce_ah_create,
	SROCE_CREATE_USER_CQ_OP
	.dealloc_driver = sroce_device_dealloc,
	.dealloc_mw = sroce_mw_dealloc,
	.dealloc_pd = sroce_dealloc_pd,
	.dealloc_ucontext = sroce_dealloc_ucontext,
	.del_gid = sroce_gid_tbl_del,
	.dereg_mr = sroce_region_dereg,
	.destroy_ah = sroce_ah_destroy,
	.destroy_cq = sroce_cq_destroy,
	.destroy_qp = sroce_qp_destroy,
	.destroy_srq = sroce_srq_destroy,
	.detach_mcast = sroce_mcast_detach,
	.disassociate_ucontext = sroce_disassociate_ucontext,
	.enable_driver = sroce_device_enable,
	.fill_res_cq_entry = sroce_res_fill_cq,
	.fill_res_mr_entry = sroce_res_fill_mr,
	.fill_res_qp_entry = sroce_res_fill_qp,
	.fill_stat_mr_entry = sroce_res_fill_mr_stat,
	.get_dev_fw_str = sroce_get_fw_str,
	.get_dma_mr = sroce_region_get_dma,
	.get_hw_stats = sroce_stats_get_port,
	.get_link_layer = sroce_get_link_layer,
	.get_netdev = sroce_get_netdev,
	.get_port_immutable = sroce_get_port_immutable,
	.map_mr_sg = sroce_region_map_sg,
	.mmap = sroce_ringmem_mmap,
	.mmap_free = sroce_ringmem_mmap_free,
	.modify_ah = sroce_ah_modify,
	.modify_cq = sroce_cq_modify,
	.modify_qp = sroce_qp_modify,
	.modify_srq = sroce_srq_modify,
	.poll_cq = sroce_cq_poll,
	.post_recv = sroce_post_recv,
	.post_send = sroce_post_send,
	.post_srq_recv = sroce_post_srq_recv,
	.process_mad = sroce_pma_process_mad,
	.query_ah = sroce_ah_query,
	.query_device = sroce_query_device,
	.query_pkey = sroce_query_pkey,
	.query_port = sroce_query_port,
	.query_qp = sroce_qp_query,
	.query_srq = sroce_srq_query,
	.reg_user_mr = sroce_region_reg_user,
	.reg_user_mr_dmabuf = sroce_dmabuf_reg,
	.req_notify_cq = sroce_cq_req_notify,
	.rereg_user_mr = sroce_region_rereg_user,
	.sroce_resize_cq_op = sroce_cq_resize,

	INIT_RDMA_OBJ_SIZE(ib_ah, sroce_ibah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, sroce_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, sroce_ibmw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, sroce_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, sroce_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, sroce_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, sroce_ucontext, ibuc),
};

/**
 * sroce_ops_set() - set operations and attributes of a new device
 * @dev: the device, not registered
 */
void sroce_ops_set(struct sroce_dev *dev)
{
	struct ib_device *ibdev = &dev->ibdev;

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	strscpy(ibdev->node_desc, "sroce", sizeof(ibdev->node_desc));
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				  BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	ib_set_device_ops(ibdev, &device_ops);
}
