// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_modify_qp(3) and ibv_query_qp(3): transitions, the attributes that each
 * requires, values out of range, and that nothing changes when it fails.
 */

#include "conform.h"

static why_t modify(struct cf *t, struct ibv_qp_attr *attr, int mask)
{
	t->err = ibv_modify_qp(t->p->a.qp, attr, mask);
	return NULL;
}

/* Transitions: row->arg is from and to. */

#define WAY(from, to)	(IBV_QPS_##from << 4 | IBV_QPS_##to)

static why_t transition(struct cf *t)
{
	enum ibv_qp_state from = t->row->arg >> 4, to = t->row->arg & 15;
	struct ibv_qp_attr attr;
	int mask;

	TRY(vt_bring(t->p, from));
	attr = vt_attr_to(t->p, to, &mask);
	/* only the way up needs them all */
	if (to == IBV_QPS_RTS && from != IBV_QPS_RTR)
		mask = IBV_QP_STATE;
	return modify(t, &attr, mask);
}

#define STATES "IBTA 10.3.1, figure of the QP states"
#define MAY(from, to)							\
	{ "ibv_modify_qp", STATES, #from " to " #to, transition,	\
	  WAY(from, to), CF_RESET, .state = CF_IS(IBV_QPS_##to) }
#define NOT(from, to)							\
	{ "ibv_modify_qp", STATES, "no way from " #from " to " #to,	\
	  transition, WAY(from, to), CF_RESET, .err = EINVAL,		\
	  .state = CF_IS(IBV_QPS_##from) }

static const struct cf_row rows[] = {
	MAY(RESET, RESET), MAY(RESET, INIT), NOT(RESET, RTR), NOT(RESET, RTS),
	NOT(RESET, SQD), NOT(RESET, SQE),
	MAY(INIT, RESET), MAY(INIT, INIT), MAY(INIT, RTR), NOT(INIT, RTS),
	NOT(INIT, SQD), NOT(INIT, SQE), MAY(INIT, ERR),
	MAY(RTR, RESET), NOT(RTR, INIT), NOT(RTR, RTR), MAY(RTR, RTS),
	NOT(RTR, SQD), NOT(RTR, SQE), MAY(RTR, ERR),
	MAY(RTS, RESET), NOT(RTS, INIT), NOT(RTS, RTR), MAY(RTS, RTS),
	MAY(RTS, SQD), NOT(RTS, SQE), MAY(RTS, ERR),
	MAY(SQD, RESET), NOT(SQD, INIT), NOT(SQD, RTR), MAY(SQD, RTS),
	MAY(SQD, SQD), NOT(SQD, SQE), MAY(SQD, ERR),
	MAY(ERR, RESET), NOT(ERR, INIT), NOT(ERR, RTR), NOT(ERR, RTS),
	NOT(ERR, SQD), NOT(ERR, SQE), MAY(ERR, ERR),
};

CF_TABLE(40, "State machine", rows);

/*
 * The tables of required attributes: row->arg is the state to go to, an
 * attribute to leave out, and one too many.
 */
#define STEP(to, less, more)						\
	((long)IBV_QPS_##to | (long)(less) << 4 | (long)(more) << 32)

static why_t step(struct cf *t)
{
	enum ibv_qp_state to = t->row->arg & 15;
	int less = t->row->arg >> 4 & 0xfffffff, more = t->row->arg >> 32;
	struct ibv_qp_attr attr;
	int mask;

	TRY(vt_bring(t->p, to - 1));
	attr = vt_attr_to(t->p, to, &mask);
	CHECK((mask & less) == less, "attribute %#x isn't there to leave out",
	      less);
	CHECK(!(mask & more), "attribute %#x is there already", more);
	return modify(t, &attr, (mask & ~less) | more);
}

/* After a refusal the same step, complete, works. */
static why_t step_again(struct cf *t)
{
	return vt_go(t->p, t->row->arg & 15);
}

#define REQUIRED "the table of required attributes"
#define LESS(t, from, to, what)						\
	{ "ibv_modify_qp", REQUIRED, #t " to " #to " without IBV_QP_" #what, \
	  step, STEP(to, IBV_QP_##what, 0), CF_RESET,			\
	  .type = IBV_QPT_##t, .err = EINVAL,				\
	  .state = CF_IS(IBV_QPS_##from), .after = step_again }
#define MORE(t, from, to, what)						\
	{ "ibv_modify_qp", "IBTA 11.2.5.2, table of attributes",	\
	  #t " to " #to " with IBV_QP_" #what, step,			\
	  STEP(to, 0, IBV_QP_##what), CF_RESET, .type = IBV_QPT_##t,	\
	  .err = EINVAL, .state = CF_IS(IBV_QPS_##from),		\
	  .after = step_again }
#define EXACT(t, to)							\
	{ "ibv_modify_qp", REQUIRED, #t " to " #to, step, STEP(to, 0, 0), \
	  CF_RESET, .type = IBV_QPT_##t, .state = CF_IS(IBV_QPS_##to) }

/* What UC and RC need alike */
#define CONNECTED(t)							\
	EXACT(t, INIT), EXACT(t, RTR), EXACT(t, RTS),			\
	LESS(t, RESET, INIT, PKEY_INDEX), LESS(t, RESET, INIT, PORT),	\
	LESS(t, RESET, INIT, ACCESS_FLAGS), LESS(t, INIT, RTR, AV),	\
	LESS(t, INIT, RTR, PATH_MTU), LESS(t, INIT, RTR, DEST_QPN),	\
	LESS(t, INIT, RTR, RQ_PSN)

static const struct cf_row steps[] = {
	EXACT(UD, INIT), EXACT(UD, RTR), EXACT(UD, RTS),
	LESS(UD, RESET, INIT, PKEY_INDEX), LESS(UD, RESET, INIT, PORT),
	LESS(UD, RESET, INIT, QKEY), LESS(UD, RTR, RTS, SQ_PSN),
	MORE(UD, RESET, INIT, ACCESS_FLAGS), MORE(UD, INIT, RTR, AV),
	MORE(UD, RTR, RTS, TIMEOUT),
	CONNECTED(UC), LESS(UC, RTR, RTS, SQ_PSN),
	MORE(UC, RESET, INIT, QKEY), MORE(UC, INIT, RTR, MIN_RNR_TIMER),
	MORE(UC, RTR, RTS, RETRY_CNT),
	CONNECTED(RC), LESS(RC, INIT, RTR, MAX_DEST_RD_ATOMIC),
	LESS(RC, INIT, RTR, MIN_RNR_TIMER), LESS(RC, RTR, RTS, SQ_PSN),
	LESS(RC, RTR, RTS, MAX_QP_RD_ATOMIC), LESS(RC, RTR, RTS, RETRY_CNT),
	LESS(RC, RTR, RTS, RNR_RETRY), LESS(RC, RTR, RTS, TIMEOUT),
	MORE(RC, RESET, INIT, QKEY), MORE(RC, INIT, RTR, SQ_PSN),
	MORE(RC, RTR, RTS, DEST_QPN),
	{ "ibv_modify_qp", "not all devices support resizing QPs",
	  "IBV_QP_CAP without IBV_DEVICE_RESIZE_MAX_WR", step,
	  STEP(INIT, 0, IBV_QP_CAP), CF_RESET, .err = EINVAL,
	  .state = CF_IS(IBV_QPS_RESET), .after = step_again },
	{ "ibv_modify_qp", "not all devices support alternate paths",
	  "IBV_QP_ALT_PATH without IBV_DEVICE_AUTO_PATH_MIG", step,
	  STEP(RTR, 0, IBV_QP_ALT_PATH), CF_RESET, .err = EINVAL,
	  .state = CF_IS(IBV_QPS_INIT), .after = step_again },
	{ "ibv_modify_qp", "set rate_limit", "IBV_QP_RATE_LIMIT", step,
	  STEP(RTS, 0, IBV_QP_RATE_LIMIT), CF_RESET, .err = EOPNOTSUPP,
	  .state = CF_IS(IBV_QPS_RTR), .after = step_again,
	  .via = CF_LACKING },
};

CF_TABLE(50, "Attributes of a transition", steps);

/* Values out of range */

#define VALUE(fn, to, what)						\
	static why_t fn(struct cf *t)					\
	{								\
		struct ibv_qp_attr attr;				\
		int mask;						\
									\
		TRY(vt_bring(t->p, IBV_QPS_##to - 1));			\
		attr = vt_attr_to(t->p, IBV_QPS_##to, &mask);		\
		attr.what;						\
		return modify(t, &attr, mask);				\
	}

VALUE(port_0, INIT, port_num = 0)
VALUE(port_2, INIT, port_num = 2)
VALUE(pkey_far, INIT, pkey_index = 0x7fff)
VALUE(pkey_next, INIT, pkey_index = t->dev->port.pkey_tbl_len)
VALUE(mtu_0, RTR, path_mtu = 0)
VALUE(mtu_6, RTR, path_mtu = 6)
VALUE(rnr_31, RTR, min_rnr_timer = 31)
VALUE(rnr_32, RTR, min_rnr_timer = 32)
VALUE(dest_rd_far, RTR, max_dest_rd_atomic =
      MIN(255, t->dev->attr.max_qp_rd_atom + 1))
VALUE(dest_rd_max, RTR, max_dest_rd_atomic =
      MIN(255, t->dev->attr.max_qp_rd_atom))
VALUE(no_grh, RTR, ah_attr.is_global = 0)
VALUE(ah_port_2, RTR, ah_attr.port_num = 2)
VALUE(sgid_far, RTR, ah_attr.grh.sgid_index =
      MIN(255, t->dev->port.gid_tbl_len))
VALUE(sgid_empty, RTR, ah_attr.grh.sgid_index =
      MIN(255, t->dev->port.gid_tbl_len - 1))
VALUE(timeout_0, RTS, timeout = 0)
VALUE(timeout_31, RTS, timeout = 31)
VALUE(timeout_32, RTS, timeout = 32)
VALUE(retry_7, RTS, retry_cnt = 7)
VALUE(retry_8, RTS, retry_cnt = 8)
VALUE(rnr_retry_7, RTS, rnr_retry = 7)
VALUE(rnr_retry_8, RTS, rnr_retry = 8)
VALUE(rd_far, RTS, max_rd_atomic =
      MIN(255, t->dev->attr.max_qp_init_rd_atom + 1))
VALUE(rd_max, RTS, max_rd_atomic =
      MIN(255, t->dev->attr.max_qp_init_rd_atom))

#undef VALUE

/* In RTS: what may be set there, and what not */

static why_t rts_mask(struct cf *t)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_RTS,
		.min_rnr_timer = 20, .qp_access_flags = IBV_ACCESS_REMOTE_READ,
		.qkey = 0x1234,
	};

	return modify(t, &attr, t->row->arg);
}

static why_t migrate(struct cf *t)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .path_mig_state = t->row->arg,
	};

	return modify(t, &attr, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE);
}

static why_t wrong_current(struct cf *t)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQD,
	};

	return modify(t, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE);
}

static why_t no_state(struct cf *t)
{
	struct ibv_qp_attr attr = { .qp_state = 99 };

	return modify(t, &attr, IBV_QP_STATE);
}

static why_t query(struct cf *t, struct ibv_qp_attr *attr,
		   struct ibv_qp_init_attr *init)
{
	memset(attr, 0xee, sizeof(*attr));
	t->err = ibv_query_qp(t->p->a.qp, attr, (1 << 21) - 1, init);
	return NULL;
}

static why_t has_rnr(struct cf *t)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	TRY(query(t, &attr, &init));
	CHECK(attr.min_rnr_timer == 20, "min_rnr_timer %u",
	      attr.min_rnr_timer);
	return vt_ping(t->p);
}

static why_t has_access(struct cf *t)
{
	struct ibv_send_wr wr = {
		.wr_id = 7, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = t->sge, .num_sge = 1,
	};

	t->sge[0] = vt_sge(&t->p->b.buf, 0, 8);
	vt_aim(&t->p->b, &t->p->a, &wr);
	TRY(vt_post_send(&t->p->b, &wr));
	return vt_poll_status(t->p->b.scq, 7, IBV_WC_REM_INV_REQ_ERR,
			      "B's WRITE");
}

static why_t has_qkey(struct cf *t)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	TRY(query(t, &attr, &init));
	CHECK(attr.qkey == 0x1234, "qkey %#x", attr.qkey);
	return NULL;
}

/* Nothing changes if it fails: neither the good attribute nor the state */
static why_t half_bad(struct cf *t)
{
	struct ibv_qp_attr attr;
	int mask;

	TRY(vt_bring(t->p, IBV_QPS_RTR));
	attr = vt_attr_to(t->p, IBV_QPS_RTS, &mask);
	attr.retry_cnt = 3;
	attr.timeout = 32;
	return modify(t, &attr, mask);
}

static why_t unchanged(struct cf *t)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int was = t->err;

	TRY(query(t, &attr, &init));
	CHECK(attr.retry_cnt != 3, "retry_cnt was modified");
	t->err = was;
	return vt_go(t->p, IBV_QPS_RTS);
}

/* SQD */

static why_t to_sqd(struct cf *t)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD,
				    .en_sqd_async_notify = t->row->arg };

	return modify(t, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
}

static why_t no_drained(struct cf *t)
{
	return vt_no_event(t->dev, 300);
}

static why_t in_sqd(struct cf *t)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .timeout = 20,
				    .retry_cnt = 3, .rnr_retry = 2,
				    .en_sqd_async_notify = 1 };

	TRY(modify(t, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	TRY(vt_event(t->dev, IBV_EVENT_SQ_DRAINED, t->p->a.qp, 5000));
	return modify(t, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
		      IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY);
}

static why_t sqd_values(struct cf *t)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	TRY(query(t, &attr, &init));
	CHECK(attr.timeout == 20 && attr.retry_cnt == 3 && attr.rnr_retry == 2,
	      "timeout %u retry_cnt %u rnr_retry %u", attr.timeout,
	      attr.retry_cnt, attr.rnr_retry);
	CHECK(!attr.sq_draining, "sq_draining of a drained QP");
	TRY(vt_ep_state(&t->p->a, IBV_QPS_RTS));
	return vt_ping(t->p);
}

/* ibv_query_qp(3) */

static why_t query_rts(struct cf *t)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;
	const struct vt_conf *c = &t->p->conf;

	TRY(query(t, &a, &init));
	CHECK(a.qp_state == IBV_QPS_RTS, "qp_state %d", a.qp_state);
	CHECK(a.port_num == VT_PORT && a.pkey_index == 0,
	      "port_num %u pkey_index %u", a.port_num, a.pkey_index);
	CHECK(a.sq_psn == t->p->a.psn, "sq_psn %#x", a.sq_psn);
	CHECK(a.path_mig_state == IBV_MIG_MIGRATED, "path_mig_state %d",
	      a.path_mig_state);
	if (c->type == IBV_QPT_UD) {
		CHECK(a.qkey == VT_QKEY, "qkey %#x", a.qkey);
		return NULL;
	}
	CHECK(a.path_mtu == c->mtu, "path_mtu %d", a.path_mtu);
	CHECK(a.dest_qp_num == t->p->b.qp->qp_num, "dest_qp_num %u",
	      a.dest_qp_num);
	CHECK(a.rq_psn == t->p->b.psn, "rq_psn %#x", a.rq_psn);
	CHECK((a.qp_access_flags & ~IBV_ACCESS_LOCAL_WRITE) ==
	      (unsigned int)(c->qp_access & ~IBV_ACCESS_LOCAL_WRITE),
	      "qp_access_flags %#x", a.qp_access_flags);
	CHECK(a.ah_attr.is_global &&
	      !memcmp(&a.ah_attr.grh.dgid, &t->p->b.dev->gid, 16) &&
	      a.ah_attr.grh.sgid_index == t->dev->gid_index, "ah_attr");
	if (c->type == IBV_QPT_UC)
		return NULL;
	CHECK(a.timeout == c->timeout && a.retry_cnt == c->retry &&
	      a.rnr_retry == c->rnr_retry && a.min_rnr_timer == c->min_rnr &&
	      a.max_rd_atomic == c->rd && a.max_dest_rd_atomic == c->dest_rd,
	      "timeout %u retry_cnt %u rnr_retry %u min_rnr_timer %u max_rd_atomic %u max_dest_rd_atomic %u",
	      a.timeout, a.retry_cnt, a.rnr_retry, a.min_rnr_timer,
	      a.max_rd_atomic, a.max_dest_rd_atomic);
	return NULL;
}

static why_t query_init(struct cf *t)
{
	struct ibv_qp_init_attr i;
	struct ibv_qp_attr a;
	const struct vt_ep *ep = &t->p->a;

	TRY(query(t, &a, &i));
	CHECK(i.send_cq == ep->scq && i.recv_cq == ep->rcq && !i.srq,
	      "other queues");
	CHECK(i.qp_type == IBV_QPT_RC && i.sq_sig_all == 1, "type %d sig %d",
	      i.qp_type, i.sq_sig_all);
	CHECK(!memcmp(&i.cap, &ep->cap, sizeof(i.cap)), "init_attr.cap");
	CHECK(!memcmp(&a.cap, &ep->cap, sizeof(a.cap)), "attr.cap");
	return NULL;
}

static void sig_all(struct vt_conf *c)
{
	c->sig_all = 1;
}

#define OUT(name_, fn, from)						\
	{ "ibv_modify_qp", "none is modified if a value is invalid", name_, \
	  fn, .stage = CF_RESET, .err = EINVAL,				\
	  .state = CF_IS(IBV_QPS_##from) }
#define IN(name_, fn, to)						\
	{ "ibv_modify_qp", "IBTA 11.2.5.2: the range", name_, fn,	\
	  .stage = CF_RESET, .state = CF_IS(IBV_QPS_##to) }

static const struct cf_row values[] = {
	OUT("port_num 0", port_0, RESET), OUT("port_num 2", port_2, RESET),
	OUT("pkey_index 0x7fff", pkey_far, RESET),
	OUT("pkey_index pkey_tbl_len", pkey_next, RESET),
	OUT("path_mtu 0", mtu_0, INIT), OUT("path_mtu 6", mtu_6, INIT),
	IN("min_rnr_timer 31", rnr_31, RTR),
	OUT("min_rnr_timer 32", rnr_32, INIT),
	IN("max_dest_rd_atomic max_qp_rd_atom", dest_rd_max, RTR),
	OUT("max_dest_rd_atomic over max_qp_rd_atom", dest_rd_far, INIT),
	{ "ibv_modify_qp", "with IBV_QPF_GRH_REQUIRED is_global must be 1",
	  "is_global 0", no_grh, .stage = CF_RESET, .err = EINVAL,
	  .state = CF_IS(IBV_QPS_INIT) },
	OUT("ah_attr.port_num 2", ah_port_2, INIT),
	{ "ibv_modify_qp", "none is modified if a value is invalid",
	  "sgid_index out of the table", sgid_far, .stage = CF_RESET,
	  .err = EINVAL, .or_err = ENODATA, .state = CF_IS(IBV_QPS_INIT) },
	{ "ibv_modify_qp", "none is modified if a value is invalid",
	  "sgid_index of an empty entry", sgid_empty, .stage = CF_RESET,
	  .err = EINVAL, .or_err = ENODATA, .state = CF_IS(IBV_QPS_INIT) },
	IN("timeout 0", timeout_0, RTS), IN("timeout 31", timeout_31, RTS),
	OUT("timeout 32", timeout_32, RTR),
	IN("retry_cnt 7", retry_7, RTS), OUT("retry_cnt 8", retry_8, RTR),
	IN("rnr_retry 7", rnr_retry_7, RTS),
	OUT("rnr_retry 8", rnr_retry_8, RTR),
	IN("max_rd_atomic max_qp_init_rd_atom", rd_max, RTS),
	OUT("max_rd_atomic over max_qp_init_rd_atom", rd_far, RTR),
	{ "ibv_modify_qp", "none is modified, including the QP state",
	  "a good retry_cnt with a bad timeout", half_bad, .stage = CF_RESET,
	  .err = EINVAL, .state = CF_IS(IBV_QPS_RTR), .after = unchanged },
	{ "ibv_modify_qp", "IBV_QP_STATE: move the QP to this state",
	  "no such state",
	  no_state, .err = EINVAL, .state = CF_IS(IBV_QPS_RTS) },

	{ "ibv_modify_qp", "IBV_QP_CUR_STATE: assume this is the state",
	  "cur_qp_state is right", rts_mask, IBV_QP_STATE | IBV_QP_CUR_STATE,
	  .state = CF_IS(IBV_QPS_RTS) },
	{ "ibv_modify_qp", "IBV_QP_CUR_STATE: assume this is the state",
	  "cur_qp_state is wrong", wrong_current, .err = EINVAL,
	  .state = CF_IS(IBV_QPS_RTS) },
	{ "ibv_modify_qp", "IBV_QP_MIN_RNR_TIMER: set min_rnr_timer",
	  "min_rnr_timer in RTS", rts_mask, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER,
	  .state = CF_IS(IBV_QPS_RTS), .after = has_rnr },
	{ "ibv_modify_qp", "IBV_QP_ACCESS_FLAGS: set qp_access_flags",
	  "qp_access_flags in RTS", rts_mask, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS,
	  .state = CF_IS(IBV_QPS_RTS), .after = has_access },
	{ "ibv_modify_qp", "IBV_QP_QKEY: set qkey", "qkey of UD in RTS",
	  rts_mask, IBV_QP_STATE | IBV_QP_QKEY, .type = IBV_QPT_UD,
	  .state = CF_IS(IBV_QPS_RTS), .after = has_qkey },
	{ "ibv_modify_qp", "valid if the HCA supports APM",
	  "IBV_QP_PATH_MIG_STATE to IBV_MIG_REARM", migrate, IBV_MIG_REARM,
	  .err = EINVAL, .state = CF_IS(IBV_QPS_RTS) },
	{ "ibv_modify_qp", "valid if the HCA supports APM",
	  "IBV_QP_PATH_MIG_STATE to IBV_MIG_ARMED", migrate, IBV_MIG_ARMED,
	  .err = EINVAL, .state = CF_IS(IBV_QPS_RTS) },
	{ "ibv_modify_qp", "the one path is the one in force",
	  "IBV_QP_PATH_MIG_STATE to IBV_MIG_MIGRATED", migrate,
	  IBV_MIG_MIGRATED, .state = CF_IS(IBV_QPS_RTS) },
	{ "ibv_modify_qp", "IBTA 10.3.1.4: PSNs are not for RTS",
	  "IBV_QP_SQ_PSN in RTS", rts_mask, IBV_QP_STATE | IBV_QP_SQ_PSN,
	  .err = EINVAL, .state = CF_IS(IBV_QPS_RTS) },
	{ "ibv_modify_qp", "IBV_QP_EN_SQD_ASYNC_NOTIFY", "SQD with notification",
	  to_sqd, 1, .event = CF_IS(IBV_EVENT_SQ_DRAINED),
	  .state = CF_IS(IBV_QPS_SQD) },
	{ "ibv_modify_qp", "IBV_QP_EN_SQD_ASYNC_NOTIFY",
	  "SQD without notification", to_sqd, 0, .state = CF_IS(IBV_QPS_SQD),
	  .after = no_drained },
	{ "ibv_modify_qp", "IBTA 10.3.1.5: attributes of a drained QP",
	  "timeout, retry_cnt, rnr_retry in SQD", in_sqd,
	  .state = CF_IS(IBV_QPS_SQD), .after = sqd_values },

	{ "ibv_query_qp", "attributes set by ibv_modify_qp()", "RC in RTS",
	  query_rts, .type = IBV_QPT_RC },
	{ "ibv_query_qp", "attributes set by ibv_modify_qp()", "UC in RTS",
	  query_rts, .type = IBV_QPT_UC },
	{ "ibv_query_qp", "attributes set by ibv_modify_qp()", "UD in RTS",
	  query_rts, .type = IBV_QPT_UD },
	{ "ibv_query_qp", "init_attr", "queues, type, capabilities",
	  query_init, .prep = sig_all },
};

CF_TABLE(60, "Values of attributes, queries of them", values);
