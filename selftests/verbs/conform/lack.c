// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The verbs that the stock provider doesn't have, and that libibverbs refuses
 * by itself: each call, and each of its flags.
 */

#include <fcntl.h>
#include "conform.h"

#define NO_OBJECT(fn, call)						\
	static why_t fn(struct cf *t)					\
	{								\
		errno = 0;						\
		return cf_got(t, call);					\
	}
#define NO_CALL(fn, call)						\
	static why_t fn(struct cf *t)					\
	{								\
		t->err = call;						\
		return NULL;						\
	}

#define CTX	(t->dev->ctx)

NO_OBJECT(xrcd, ibv_open_xrcd(CTX, &(struct ibv_xrcd_init_attr){
	.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
	.fd = -1, .oflags = O_CREAT }))
NO_CALL(close_xrcd, ibv_close_xrcd(&(struct ibv_xrcd){ .context = CTX }))
NO_OBJECT(open_qp, ibv_open_qp(CTX, &(struct ibv_qp_open_attr){
	.comp_mask = IBV_QP_OPEN_ATTR_NUM, .qp_num = 17 }))
NO_OBJECT(td, ibv_alloc_td(CTX, &(struct ibv_td_init_attr){}))
NO_CALL(dealloc_td, ibv_dealloc_td(&(struct ibv_td){ .context = CTX }))
NO_OBJECT(parent, ibv_alloc_parent_domain(CTX,
	&(struct ibv_parent_domain_init_attr){ .pd = t->dev->pd,
		.comp_mask = t->row->arg }))
NO_OBJECT(null_mr, ibv_alloc_null_mr(t->dev->pd))
NO_OBJECT(dm, ibv_alloc_dm(CTX, &(struct ibv_alloc_dm_attr){ .length = 64 }))
NO_CALL(free_dm, ibv_free_dm(&(struct ibv_dm){ .context = CTX }))
NO_OBJECT(dm_mr, ibv_reg_dm_mr(t->dev->pd, &(struct ibv_dm){ .context = CTX },
	0, 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED))
NO_OBJECT(counters, ibv_create_counters(CTX,
	&(struct ibv_counters_init_attr){}))
NO_CALL(free_counters, ibv_destroy_counters(
	&(struct ibv_counters){ .context = CTX }))
NO_CALL(attach_counters, ibv_attach_counters_point_flow(
	&(struct ibv_counters){ .context = CTX },
	&(struct ibv_counter_attach_attr){ .counter_desc = t->row->arg },
	NULL))
NO_CALL(read_counters, ibv_read_counters(
	&(struct ibv_counters){ .context = CTX }, (uint64_t[1]){}, 1,
	IBV_READ_COUNTERS_ATTR_PREFER_CACHED))
NO_OBJECT(action, ibv_create_flow_action_esp(CTX,
	&(struct ibv_flow_action_esp_attr){ .comp_mask = t->row->arg }))
NO_CALL(modify_action, ibv_modify_flow_action_esp(
	&(struct ibv_flow_action){ .context = CTX },
	&(struct ibv_flow_action_esp_attr){ .comp_mask = t->row->arg }))
NO_CALL(free_action, ibv_destroy_flow_action(
	&(struct ibv_flow_action){ .context = CTX }))
NO_OBJECT(ind_table, ibv_create_rwq_ind_table(CTX,
	&(struct ibv_rwq_ind_table_init_attr){}))
NO_CALL(free_ind_table, ibv_destroy_rwq_ind_table(
	&(struct ibv_rwq_ind_table){ .context = CTX }))
NO_OBJECT(wq, ibv_create_wq(CTX, &(struct ibv_wq_init_attr){
	.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1, .pd = t->dev->pd,
	.comp_mask = t->row->arg ? IBV_WQ_INIT_ATTR_FLAGS : 0,
	.create_flags = t->row->arg }))
NO_CALL(modify_wq, ibv_modify_wq(&(struct ibv_wq){ .context = CTX },
	&(struct ibv_wq_attr){ .attr_mask = IBV_WQ_ATTR_STATE }))
NO_CALL(free_wq, ibv_destroy_wq(&(struct ibv_wq){ .context = CTX }))
NO_CALL(free_flow, ibv_destroy_flow(&(struct ibv_flow){ .context = CTX }))
NO_CALL(cq_moderation, ibv_modify_cq(t->p->a.scq, &(struct ibv_modify_cq_attr){
	.attr_mask = IBV_CQ_ATTR_MODERATE,
	.moderate = { .cq_count = 4, .cq_period = 10 } }))
NO_CALL(rate, ibv_modify_qp_rate_limit(t->p->a.qp,
	&(struct ibv_qp_rate_limit_attr){ .rate_limit = 1000 }))
NO_CALL(clock_, ibv_query_rt_values_ex(CTX, &(struct ibv_values_ex){
	.comp_mask = IBV_VALUES_MASK_RAW_CLOCK }))
NO_CALL(get_ece, ibv_query_ece(t->p->a.qp, &(struct ibv_ece){}))
NO_CALL(put_ece, ibv_set_ece(t->p->a.qp, &(struct ibv_ece){ .vendor_id = 1 }))

/* A flow of row->more's type and flags, with one specification of row->arg */
static why_t flow(struct cf *t)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec spec;
	} f = {
		.attr = {
			.type = t->row->more & 0xff, .size = sizeof(f),
			.flags = t->row->more >> 8, .port = VT_PORT,
			.num_of_specs = !!t->row->arg,
		},
		.spec.hdr = { .type = t->row->arg, .size = sizeof(f.spec) },
	};

	errno = 0;
	return cf_got(t, ibv_create_flow(t->p->a.qp, &f.attr));
}

static why_t srq_ops(struct cf *t)
{
	struct ibv_ops_wr op = { .opcode = t->row->arg,
				 .flags = t->row->more }, *bad = NULL;

	CHECK(t->p->b.qp->srq, "no SRQ");
	t->err = ibv_post_srq_ops(t->p->b.qp->srq, &op, &bad);
	return NULL;
}

/* A QP that spreads by a field of its packets */
static why_t rx_hash(struct cf *t)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_type = IBV_QPT_RAW_PACKET, .pd = t->dev->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH |
			     IBV_QP_INIT_ATTR_IND_TABLE,
		.rx_hash_conf = {
			.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_fields_mask = t->row->arg,
		},
	};

	errno = 0;
	return cf_got(t, ibv_create_qp_ex(CTX, &ex));
}

static why_t usable(struct cf *t)
{
	return vt_ping(t->p);
}

#define WITH(page_, what, fn, arg_)					\
	{ #page_, "the call", what, fn, arg_, CF_DEVICE,		\
	  .err = EOPNOTSUPP, .via = CF_LACKING }
#define LACKS(page_, fn)	WITH(page_, "any use", fn, 0)
#define WITH_QP(page_, what, fn, arg_, more_)				\
	{ #page_, "the call", what, fn, arg_, .more = more_,		\
	  .err = EOPNOTSUPP, .via = CF_LACKING, .after = usable }
#define LACKS_QP(page_, fn)	WITH_QP(page_, "any use", fn, 0, 0)
#define SPEC(x)		WITH_QP(ibv_create_flow, #x, flow, x, 0)
#define KIND(x)		WITH_QP(ibv_create_flow, #x, flow,		\
				IBV_FLOW_SPEC_ETH, x)
#define FLAGGED(x)	WITH_QP(ibv_create_flow, #x, flow,		\
				IBV_FLOW_SPEC_ETH, (long)(x) << 8)
#define HASH(x)		WITH(ibv_create_qp_ex, #x, rx_hash, x)
#define OPS(x)								\
	{ "ibv_post_srq_ops", "no IBV_WC_TM_ERR, IBV_WC_TM_SYNC_REQ then", \
	  #x " with IBV_OPS_SIGNALED, IBV_OPS_TM_SYNC", srq_ops, x,	\
	  .more = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC,			\
	  .prep = cf_with_srq, .err = EOPNOTSUPP, .via = CF_LACKING }

static const struct cf_row rows[] = {
	LACKS(ibv_open_xrcd, xrcd), LACKS(ibv_close_xrcd, close_xrcd),
	LACKS(ibv_open_qp, open_qp),
	LACKS(ibv_alloc_td, td), LACKS(ibv_dealloc_td, dealloc_td),
	WITH(ibv_alloc_parent_domain, "no IBV_ALLOCATOR_USE_DEFAULT", parent,
	     0),
	WITH(ibv_alloc_parent_domain, "IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS",
	     parent, IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS),
	WITH(ibv_alloc_parent_domain, "IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT",
	     parent, IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT),
	LACKS(ibv_alloc_null_mr, null_mr),
	WITH(ibv_alloc_dm, "so no ibv_memcpy_to_dm, ibv_memcpy_from_dm", dm,
	     0),
	LACKS(ibv_free_dm, free_dm), LACKS(ibv_reg_dm_mr, dm_mr),
	LACKS(ibv_create_counters, counters),
	LACKS(ibv_destroy_counters, free_counters),
	WITH(ibv_attach_counters_point_flow, "IBV_COUNTER_PACKETS",
	     attach_counters, IBV_COUNTER_PACKETS),
	WITH(ibv_attach_counters_point_flow, "IBV_COUNTER_BYTES",
	     attach_counters, IBV_COUNTER_BYTES),
	WITH(ibv_read_counters, "IBV_READ_COUNTERS_ATTR_PREFER_CACHED",
	     read_counters, 0),
	LACKS(ibv_create_flow_action_esp, action),
	WITH(ibv_create_flow_action_esp, "IBV_FLOW_ACTION_ESP_MASK_ESN",
	     action, IBV_FLOW_ACTION_ESP_MASK_ESN),
	WITH(ibv_modify_flow_action_esp, "IBV_FLOW_ACTION_ESP_REPLAY_BMP",
	     modify_action, IBV_FLOW_ACTION_ESP_MASK_ESN),
	LACKS(ibv_destroy_flow_action, free_action),
	LACKS(ibv_create_rwq_ind_table, ind_table),
	LACKS(ibv_destroy_rwq_ind_table, free_ind_table),
	LACKS(ibv_create_wq, wq),
	WITH(ibv_create_wq, "IBV_WQ_FLAGS_CVLAN_STRIPPING", wq,
	     IBV_WQ_FLAGS_CVLAN_STRIPPING),
	WITH(ibv_create_wq, "IBV_WQ_FLAGS_SCATTER_FCS", wq,
	     IBV_WQ_FLAGS_SCATTER_FCS),
	WITH(ibv_create_wq, "IBV_WQ_FLAGS_DELAY_DROP", wq,
	     IBV_WQ_FLAGS_DELAY_DROP),
	WITH(ibv_create_wq, "IBV_WQ_FLAGS_PCI_WRITE_END_PADDING", wq,
	     IBV_WQ_FLAGS_PCI_WRITE_END_PADDING),
	WITH(ibv_create_wq, "IBV_WQ_FLAGS_RESERVED", wq,
	     IBV_WQ_FLAGS_RESERVED),
	LACKS(ibv_modify_wq, modify_wq), LACKS(ibv_destroy_wq, free_wq),
	HASH(IBV_RX_HASH_SRC_IPV4), HASH(IBV_RX_HASH_DST_IPV4),
	HASH(IBV_RX_HASH_SRC_IPV6), HASH(IBV_RX_HASH_DST_IPV6),
	HASH(IBV_RX_HASH_SRC_PORT_TCP), HASH(IBV_RX_HASH_DST_PORT_TCP),
	HASH(IBV_RX_HASH_SRC_PORT_UDP), HASH(IBV_RX_HASH_DST_PORT_UDP),
	HASH(IBV_RX_HASH_IPSEC_SPI), HASH(IBV_RX_HASH_INNER),
	WITH(ibv_query_rt_values_ex, "IBV_VALUES_MASK_RAW_CLOCK", clock_, 0),
	WITH_QP(ibv_create_flow, "IBV_FLOW_ATTR_NORMAL, no IBV_DEVICE_MANAGED_"
		"FLOW_STEERING", flow, 0, IBV_FLOW_ATTR_NORMAL),
	KIND(IBV_FLOW_ATTR_ALL_DEFAULT), KIND(IBV_FLOW_ATTR_MC_DEFAULT),
	KIND(IBV_FLOW_ATTR_SNIFFER), FLAGGED(IBV_FLOW_ATTR_FLAGS_DONT_TRAP),
	FLAGGED(IBV_FLOW_ATTR_FLAGS_EGRESS),
	SPEC(IBV_FLOW_SPEC_ETH), SPEC(IBV_FLOW_SPEC_IPV4),
	SPEC(IBV_FLOW_SPEC_IPV4_EXT), SPEC(IBV_FLOW_SPEC_IPV6),
	SPEC(IBV_FLOW_SPEC_TCP), SPEC(IBV_FLOW_SPEC_UDP),
	SPEC(IBV_FLOW_SPEC_ESP), SPEC(IBV_FLOW_SPEC_GRE),
	SPEC(IBV_FLOW_SPEC_MPLS), SPEC(IBV_FLOW_SPEC_VXLAN_TUNNEL),
	SPEC(IBV_FLOW_SPEC_INNER), SPEC(IBV_FLOW_SPEC_ACTION_TAG),
	SPEC(IBV_FLOW_SPEC_ACTION_DROP), SPEC(IBV_FLOW_SPEC_ACTION_HANDLE),
	SPEC(IBV_FLOW_SPEC_ACTION_COUNT),
	LACKS(ibv_destroy_flow, free_flow),
	LACKS_QP(ibv_modify_cq, cq_moderation),
	LACKS_QP(ibv_modify_qp_rate_limit, rate),
	LACKS_QP(ibv_query_ece, get_ece), LACKS_QP(ibv_set_ece, put_ece),
	OPS(IBV_WR_TAG_ADD), OPS(IBV_WR_TAG_DEL), OPS(IBV_WR_TAG_SYNC),
};

CF_TABLE(170, "Not in the stock provider", rows);
