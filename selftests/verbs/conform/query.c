// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_query_device(3), _device_ex, _port, _gid, _gid_ex, _gid_table, _pkey,
 * ibv_get_pkey_index(3)
 */

#include <arpa/inet.h>
#include "conform.h"

static why_t device(struct cf *t)
{
	struct ibv_device_attr a;

	memset(&a, 0xee, sizeof(a));
	t->err = ibv_query_device(t->dev->ctx, &a);
	CHECK(a.phys_port_cnt == 1, "phys_port_cnt %u", a.phys_port_cnt);
	CHECK(a.node_guid && a.sys_image_guid, "no GUIDs");
	CHECK(a.node_guid == ibv_get_device_guid(t->dev->ctx->device),
	      "node_guid isn't ibv_get_device_guid()");
	CHECK(a.fw_ver[0] && memchr(a.fw_ver, 0, sizeof(a.fw_ver)), "fw_ver");
	CHECK(a.max_qp > 0 && a.max_qp_wr > 0 && a.max_sge > 0 &&
	      a.max_cq > 0 && a.max_cqe > 0 && a.max_mr > 0 && a.max_pd > 0 &&
	      a.max_ah > 0 && a.max_srq > 0 && a.max_srq_wr > 0 &&
	      a.max_srq_sge > 0 && a.max_mr_size > 0 && a.page_size_cap > 0,
	      "a limit is zero");
	return NULL;
}

/* What is claimed is what the other rows find. */
static why_t claims(struct cf *t)
{
	unsigned int flags = t->dev->attr.device_cap_flags;
	unsigned int not = IBV_DEVICE_RESIZE_MAX_WR | IBV_DEVICE_AUTO_PATH_MIG |
			   IBV_DEVICE_UD_IP_CSUM | IBV_DEVICE_XRC |
			   IBV_DEVICE_RAW_IP_CSUM | IBV_DEVICE_MEM_WINDOW_TYPE_2A |
			   IBV_DEVICE_MANAGED_FLOW_STEERING;
	unsigned int has = IBV_DEVICE_CURR_QP_STATE_MOD |
			   IBV_DEVICE_PORT_ACTIVE_EVENT |
			   IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_SRQ_RESIZE |
			   IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_MEM_WINDOW |
			   IBV_DEVICE_MEM_WINDOW_TYPE_2B;

	CHECK(!(flags & not), "claims %#x", flags & not);
	CHECK((flags & has) == has, "doesn't claim %#x", has & ~flags);
	CHECK(t->dev->attr.atomic_cap != IBV_ATOMIC_NONE, "atomic_cap");
	CHECK(t->dev->attr.max_mw > 0 && t->dev->attr.max_mcast_grp > 0 &&
	      t->dev->attr.max_mcast_qp_attach > 0 &&
	      t->dev->attr.max_total_mcast_qp_attach > 0,
	      "max_mw %d max_mcast_grp %d", t->dev->attr.max_mw,
	      t->dev->attr.max_mcast_grp);
	return NULL;
}

#define UD_ODP	(IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |	\
		 IBV_ODP_SUPPORT_SRQ_RECV)
#define UC_ODP	(UD_ODP | IBV_ODP_SUPPORT_WRITE)
#define RC_ODP	(UC_ODP | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC)
/* Bits that rdma-core 44 has no names for */
#define CAP_FLUSH_GLOBAL	(1ULL << 38)
#define CAP_ATOMIC_WRITE	(1ULL << 40)
#define ODP_FLUSH		(1 << 6)
#define ODP_ATOMIC_WRITE	(1 << 7)

static why_t device_ex(struct cf *t)
{
	struct ibv_device_attr_ex a;

	memset(&a, 0xee, sizeof(a));
	t->err = ibv_query_device_ex(t->dev->ctx, NULL, &a);
	CHECK(a.orig_attr.max_qp == t->dev->attr.max_qp, "orig_attr");
	CHECK(!a.phys_port_cnt_ex || a.phys_port_cnt_ex == 1,
	      "phys_port_cnt_ex %u", a.phys_port_cnt_ex);
	return NULL;
}

static why_t odp_caps(struct cf *t)
{
	struct ibv_device_attr_ex a;
	uint32_t rc = RC_ODP;

	t->err = ibv_query_device_ex(t->dev->ctx, NULL, &a);
	if (a.device_cap_flags_ex & CAP_FLUSH_GLOBAL)
		rc |= ODP_FLUSH;
	if (a.device_cap_flags_ex & CAP_ATOMIC_WRITE)
		rc |= ODP_ATOMIC_WRITE;
	CHECK(a.odp_caps.general_caps == (IBV_ODP_SUPPORT |
					  IBV_ODP_SUPPORT_IMPLICIT),
	      "odp_caps %#llx", (unsigned long long)a.odp_caps.general_caps);
	CHECK(a.odp_caps.per_transport_caps.rc_odp_caps == rc &&
	      a.odp_caps.per_transport_caps.uc_odp_caps == UC_ODP &&
	      a.odp_caps.per_transport_caps.ud_odp_caps == UD_ODP,
	      "odp_caps RC %#x UC %#x UD %#x",
	      a.odp_caps.per_transport_caps.rc_odp_caps,
	      a.odp_caps.per_transport_caps.uc_odp_caps,
	      a.odp_caps.per_transport_caps.ud_odp_caps);
	return NULL;
}

static why_t clocks(struct cf *t)
{
	struct ibv_device_attr_ex a;

	t->err = ibv_query_device_ex(t->dev->ctx, NULL, &a);
	CHECK(!a.completion_timestamp_mask && !a.hca_core_clock,
	      "a clock that no CQ has");
	CHECK(!a.tso_caps.max_tso && !a.rss_caps.supported_qpts &&
	      !a.max_wq_type_rq && !a.packet_pacing_caps.supported_qpts &&
	      !a.cq_mod_caps.max_cq_count && !a.max_dm_size,
	      "a capability that no verb has");
	return NULL;
}

static why_t raw_caps(struct cf *t)
{
	struct ibv_device_attr_ex a;

	t->err = ibv_query_device_ex(t->dev->ctx, NULL, &a);
	CHECK(!a.raw_packet_caps, "raw_packet_caps %#x", a.raw_packet_caps);
	CHECK(!(a.device_cap_flags_ex & IBV_DEVICE_PCI_WRITE_END_PADDING),
	      "IBV_DEVICE_PCI_WRITE_END_PADDING");
	return NULL;
}

static why_t tm_caps(struct cf *t)
{
	struct ibv_device_attr_ex a;

	t->err = ibv_query_device_ex(t->dev->ctx, NULL, &a);
	CHECK(!a.tm_caps.flags && !a.tm_caps.max_num_tags &&
	      !a.tm_caps.max_ops, "tm_caps.flags %#x", a.tm_caps.flags);
	return NULL;
}

/* What a device on PCI can do to the memory of others */
static why_t pci_caps(struct cf *t)
{
	struct ibv_device_attr_ex a;

	t->err = ibv_query_device_ex(t->dev->ctx, NULL, &a);
	CHECK(!a.pci_atomic_caps.fetch_add && !a.pci_atomic_caps.swap &&
	      !a.pci_atomic_caps.compare_swap, "pci_atomic_caps");
	return NULL;
}

static why_t device_ex_mask(struct cf *t)
{
	struct ibv_query_device_ex_input in = { .comp_mask = 1 };
	struct ibv_device_attr_ex a;

	t->err = ibv_query_device_ex(t->dev->ctx, &in, &a);
	return NULL;
}

static why_t port(struct cf *t)
{
	struct ibv_port_attr p;

	memset(&p, 0xee, sizeof(p));
	t->err = ibv_query_port(t->dev->ctx, t->row->arg, &p);
	if (t->err)
		return NULL;
	CHECK(p.state == IBV_PORT_ACTIVE && p.phys_state == 5,
	      "state %d phys_state %u", p.state, p.phys_state);
	CHECK(p.max_mtu == IBV_MTU_4096 && p.active_mtu >= IBV_MTU_256 &&
	      p.active_mtu <= p.max_mtu, "max_mtu %d active_mtu %d", p.max_mtu,
	      p.active_mtu);
	CHECK(p.link_layer == IBV_LINK_LAYER_ETHERNET, "link_layer %u",
	      p.link_layer);
	CHECK(p.gid_tbl_len > 0 && p.pkey_tbl_len > 0, "tables");
	CHECK(p.max_msg_sz >= 1U << 30, "max_msg_sz %u", p.max_msg_sz);
	CHECK(!p.lid && !p.sm_lid && !p.lmc, "LIDs on Ethernet");
	CHECK(p.active_width && p.active_speed, "no width or speed");
	return NULL;
}

/* RoCE has no addresses but GIDs. */
static why_t grh_required(struct cf *t)
{
	CHECK(t->dev->port.flags & IBV_QPF_GRH_REQUIRED, "flags %#x",
	      t->dev->port.flags);
	return NULL;
}

static why_t gid(struct cf *t)
{
	union ibv_gid gid;
	int ret;

	errno = 0;
	ret = ibv_query_gid(t->dev->ctx, VT_PORT, t->dev->gid_index, &gid);
	t->err = ret ? errno : 0;
	CHECK(ret || !memcmp(&gid, &t->dev->gid, 16), "another GID");
	return NULL;
}

static why_t gid_far(struct cf *t)
{
	union ibv_gid gid;

	t->err = 0;
	CHECK(ibv_query_gid(t->dev->ctx, VT_PORT, t->dev->port.gid_tbl_len,
			    &gid) == -1, "it doesn't return -1");
	return NULL;
}

static why_t gid_ex(struct cf *t, uint32_t port, uint32_t index,
		    uint32_t flags)
{
	struct ibv_gid_entry e;

	t->err = ibv_query_gid_ex(t->dev->ctx, port, index, &e, flags);
	if (t->err)
		return NULL;
	CHECK(e.gid_type == IBV_GID_TYPE_ROCE_V2 && e.gid_index == index &&
	      e.port_num == port && e.ndev_ifindex &&
	      !memcmp(&e.gid, &t->dev->gid, 16),
	      "type %u index %u port %u ifindex %u", e.gid_type, e.gid_index,
	      e.port_num, e.ndev_ifindex);
	return NULL;
}

static why_t gid_ex_good(struct cf *t)
{
	return gid_ex(t, VT_PORT, t->dev->gid_index, 0);
}

static why_t gid_ex_empty(struct cf *t)
{
	return gid_ex(t, VT_PORT, t->dev->port.gid_tbl_len - 1, 0);
}

static why_t gid_ex_far(struct cf *t)
{
	return gid_ex(t, VT_PORT, t->dev->port.gid_tbl_len, 0);
}

static why_t gid_ex_port(struct cf *t)
{
	return gid_ex(t, 2, 0, 0);
}

static why_t gid_ex_flags(struct cf *t)
{
	return gid_ex(t, VT_PORT, t->dev->gid_index, 1);
}

static why_t gid_table(struct cf *t)
{
	/* an ioctl's attribute has less than 64 KiB */
	static struct ibv_gid_entry list[1024];
	ssize_t n, i;
	bool found = false;

	n = ibv_query_gid_table(t->dev->ctx, list, ARRAY_SIZE(list), 0);
	CHECK(n > 0, "%zd entries", n);
	for (i = 0; i < n; i++)
		found |= !memcmp(&list[i].gid, &t->dev->gid, 16) &&
			 list[i].gid_index == (uint32_t)t->dev->gid_index;
	CHECK(found, "the GID in use isn't there");
	if (!t->row->arg)
		return NULL;
	/* one too small */
	i = ibv_query_gid_table(t->dev->ctx, list, n - 1, 0);
	CHECK(i < 0, "%zd of %zd entries", i, n);
	t->err = -i;
	return NULL;
}

static why_t pkey(struct cf *t)
{
	__be16 key = 0;
	int ret;

	errno = 0;
	ret = ibv_query_pkey(t->dev->ctx, VT_PORT, t->row->arg, &key);
	if (t->row->arg) {
		CHECK(ret == -1, "it doesn't return -1");
		return NULL;
	}
	CHECK(!ret && ntohs(key) == 0xffff, "%d, P_Key %#x", ret, ntohs(key));
	return NULL;
}

static why_t pkey_index(struct cf *t)
{
	int i = ibv_get_pkey_index(t->dev->ctx, VT_PORT, htons(t->row->arg));

	CHECK(i == (t->row->arg == 0xffff ? 0 : -1), "index %d", i);
	return NULL;
}

static why_t wrong_port(struct cf *t)
{
	struct ibv_port_attr p;

	t->err = ibv_query_port(t->dev->ctx, 2, &p);
	return NULL;
}

#define SEND_ONLY	0x04	/* of RC, table 38 */

static uint32_t pkeys(const struct ibv_port_attr *p)
{
	return p->bad_pkey_cntr;
}

static uint32_t qkeys(const struct ibv_port_attr *p)
{
	return p->qkey_viol_cntr;
}

static why_t violations(struct vt_ep *ep,
			uint32_t (*of)(const struct ibv_port_attr *),
			uint32_t *n)
{
	struct ibv_port_attr p;
	int err = ibv_query_port(ep->dev->ctx, VT_PORT, &p);

	CHECK(!err, "ibv_query_port: %s", strerror(err));
	*n = of(&p);
	return NULL;
}

/* One packet more had a wrong key. */
static why_t one_more(struct vt_ep *ep,
		      uint32_t (*of)(const struct ibv_port_attr *),
		      uint32_t before)
{
	uint64_t end = vt_now_us() + VT_LONG * 1000ULL;
	uint32_t n = 0;

	do {
		vt_sleep_ms(1);
		TRY(violations(ep, of, &n));
	} while (n == before && vt_now_us() < end);
	CHECK(n == before + 1, "%u violations, after %u", n, before);
	return NULL;
}

static why_t wrong_pkey(struct cf *t)
{
	uint32_t before = 0;

	TRY(violations(&t->p->a, pkeys, &before));
	TRY(cf_forge(t, SEND_ONLY, 0x1234, t->p->b.psn, "", 0));
	return one_more(&t->p->a, pkeys, before);
}

static why_t wrong_qkey(struct cf *t)
{
	struct ibv_send_wr wr;
	uint32_t before = 0;

	TRY(violations(&t->p->b, qkeys, &before));
	cf_fill(t);
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	wr.wr.ud.remote_qkey ^= 1;
	TRY(cf_post_send(t, &wr));
	return one_more(&t->p->b, qkeys, before);
}

#define EX(says, what, fn)						\
	{ "ibv_query_device_ex", says, what, fn, .stage = CF_DEVICE,	\
	  .err = 0 }

static const struct cf_row rows[] = {
	{ "ibv_query_device", "the attributes of the device", "limits and GUIDs",
	  device, .stage = CF_DEVICE, .err = 0 },
	{ "ibv_query_device", "device_cap_flags",
	  "all that works is claimed, and nothing else", claims,
	  .stage = CF_DEVICE, .err = 0 },
	{ "ibv_query_device_ex", "the attributes of the device",
	  "those of ibv_query_device() among them", device_ex,
	  .stage = CF_DEVICE, .err = 0 },
	EX("odp_caps, for RC, UC and UD",
	   "IBV_ODP_SUPPORT, IBV_ODP_SUPPORT_IMPLICIT; IBV_ODP_SUPPORT_SEND, "
	   "IBV_ODP_SUPPORT_RECV, IBV_ODP_SUPPORT_WRITE, IBV_ODP_SUPPORT_READ, "
	   "IBV_ODP_SUPPORT_ATOMIC, IBV_ODP_SUPPORT_SRQ_RECV", odp_caps),
	EX("clocks, TSO, RSS, pacing, moderation, device memory",
	   "nothing is claimed that no verb has", clocks),
	EX("raw_packet_caps, device_cap_flags_ex",
	   "no IBV_RAW_PACKET_CAP_CVLAN_STRIPPING, "
	   "IBV_RAW_PACKET_CAP_SCATTER_FCS, IBV_RAW_PACKET_CAP_IP_CSUM, "
	   "IBV_DEVICE_PCI_WRITE_END_PADDING", raw_caps),
	EX("tm_caps", "no IBV_TM_CAP_RC", tm_caps),
	EX("pci_atomic_caps", "no IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP, "
	   "IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP, "
	   "IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP", pci_caps),
	{ "ibv_query_device_ex", "input is for future extensions",
	  "comp_mask of the input", device_ex_mask, .stage = CF_DEVICE,
	  .err = EINVAL },
	{ "ibv_query_port", "neither IBV_LINK_LAYER_INFINIBAND nor "
	  "IBV_LINK_LAYER_UNSPECIFIED", "IBV_LINK_LAYER_ETHERNET, and the rest",
	  port, 1, CF_DEVICE, .err = 0 },
	{ "ibv_query_port", "the value of errno on failure", "port 0", port, 0,
	  CF_DEVICE, .err = EINVAL },
	{ "ibv_query_port", "the value of errno on failure", "port 2",
	  wrong_port, .stage = CF_DEVICE, .err = EINVAL },
	{ "ibv_query_port", "IBV_QPF_GRH_REQUIRED: all AHs with GRH",
	  "flags on Ethernet", grh_required, .stage = CF_DEVICE, .err = 0 },
	{ "ibv_query_port", "bad P_Key counter",
	  "bad_pkey_cntr: RC with another P_Key", wrong_pkey,
	  .state = CF_IS(IBV_QPS_RTS) },
	{ "ibv_query_port", "Q_Key violation counter",
	  "qkey_viol_cntr: UD with another Q_Key", wrong_qkey,
	  .type = IBV_QPT_UD, .wc = CF_IS(IBV_WC_SUCCESS),
	  .peer = CF_IS(IBV_QPS_RTS) },
	{ "ibv_query_gid", "the GID in entry index", "the GID in use", gid,
	  .stage = CF_DEVICE, .err = 0 },
	{ "ibv_query_gid", "-1 on error", "behind the table", gid_far,
	  .stage = CF_DEVICE, .err = 0 },
	{ "ibv_query_gid_ex", "neither IBV_GID_TYPE_IB nor IBV_GID_TYPE_ROCE_V1",
	  "the GID in use: IBV_GID_TYPE_ROCE_V2", gid_ex_good,
	  .stage = CF_DEVICE, .err = 0 },
	{ "ibv_query_gid_ex", "ENODATA: no data in this index",
	  "an empty entry", gid_ex_empty, .stage = CF_DEVICE, .err = ENODATA },
	{ "ibv_query_gid_ex", "errno value on error", "behind the table",
	  gid_ex_far, .stage = CF_DEVICE, .err = EINVAL },
	{ "ibv_query_gid_ex", "the number of port", "port 2", gid_ex_port,
	  .stage = CF_DEVICE, .err = EINVAL },
	{ "ibv_query_gid_ex", "flags must be 0", "flags 1", gid_ex_flags,
	  .stage = CF_DEVICE, .err = EINVAL, .or_err = EOPNOTSUPP },
	{ "ibv_query_gid_table", "the number of entries that were read",
	  "all of them", gid_table, 0, CF_DEVICE, .err = 0 },
	{ "ibv_query_gid_table", "fails if there are more than max_entries",
	  "room for one less", gid_table, 1, CF_DEVICE, .err = EINVAL },
	{ "ibv_query_pkey", "the P_Key value in entry index", "entry 0", pkey,
	  0, CF_DEVICE, .err = 0 },
	{ "ibv_query_pkey", "-1 on error", "behind the table", pkey, 1,
	  CF_DEVICE, .err = 0 },
	{ "ibv_get_pkey_index", "the index of the P_Key", "0xffff", pkey_index,
	  0xffff, CF_DEVICE, .err = 0 },
	{ "ibv_get_pkey_index", "-1 on error", "a P_Key that isn't there",
	  pkey_index, 0x1234, CF_DEVICE, .err = 0 },
};

CF_TABLE(20, "Queries", rows);
