// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a script has the device's user do: verbs. */

#include <endian.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "wire.h"

static const struct {
	const char *name;
	int bit;
} rights[] = {
	{ "none", 0 },
	{ "local", IBV_ACCESS_LOCAL_WRITE },
	{ "read", IBV_ACCESS_REMOTE_READ },
	{ "write", IBV_ACCESS_REMOTE_WRITE },
	{ "atomic", IBV_ACCESS_REMOTE_ATOMIC },
	/* rdma-core 44 has no names for these */
	{ "flush", 1 << 8 },
	{ "persistent", 1 << 9 },
	{ "bind", IBV_ACCESS_MW_BIND },
};

#define ALL_RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
		    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

static why_t access_of(struct wt_stmt *s, int *to)
{
	const char *text = wt_text(s, "access");
	char copy[64], *save, *word;
	size_t i;

	*to = ALL_RIGHTS;
	if (!text)
		return NULL;
	*to = 0;
	snprintf(copy, sizeof(copy), "%s", text);
	for (word = strtok_r(copy, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < ARRAY_SIZE(rights); i++) {
			if (!strcmp(rights[i].name, word))
				break;
		}
		CHECK(i < ARRAY_SIZE(rights), "no right is called %s", word);
		*to |= rights[i].bit;
	}
	return NULL;
}

/* ---- memory --------------------------------------------------------------- */

static why_t add_mr(struct wt_run *r, const char *name, struct ibv_pd *pd,
		    uint64_t off, uint64_t len, int access)
{
	struct wt_mr *mr = &r->mrs[r->nmrs];
	char var[WT_NAME];

	CHECK(r->nmrs < WT_MRS, "too many regions");
	CHECK(off <= WT_BUF && len <= WT_BUF - off, "outside the buffer");
	mr->mr = ibv_reg_mr(pd, r->buf + off, len, access);
	CHECK(mr->mr, "ibv_reg_mr: %s", strerror(errno));
	snprintf(mr->name, sizeof(mr->name), "%s", name);
	r->nmrs++;
	snprintf(var, sizeof(var), "%s.rkey", name);
	TRY(wt_set(&r->vars, var, mr->mr->rkey));
	snprintf(var, sizeof(var), "%s.lkey", name);
	TRY(wt_set(&r->vars, var, mr->mr->lkey));
	snprintf(var, sizeof(var), "%s.va", name);
	return wt_set(&r->vars, var, (uintptr_t)r->buf + off);
}

/* The buffer, filled, and a region of all of it with all rights */
why_t wt_open_memory(struct wt_run *r)
{
	r->buf = aligned_alloc(4096, WT_BUF);
	r->shadow = malloc(WT_BUF);
	CHECK(r->buf && r->shadow, "no memory");
	for (uint32_t i = 0; i < WT_BUF; i++)
		r->buf[i] = wt_pattern(WT_SEED_DUT, i);
	memcpy(r->shadow, r->buf, WT_BUF);
	TRY(add_mr(r, "buf", r->dut->pd, 0, WT_BUF, ALL_RIGHTS));
	TRY(wt_set(&r->vars, "va", (uintptr_t)r->buf));
	return wt_set(&r->vars, "rkey", r->mrs[0].mr->rkey);
}

/* mr NAME off= len= access= pd=2 */
why_t wt_do_mr(struct wt_run *r, struct wt_stmt *s)
{
	uint64_t off = 0, len = WT_BUF, pd = 1;
	int access;

	CHECK(s->n > 1, "a region needs a name");
	s->used[1] = true;
	TRY(wt_num(&r->vars, s, "off", &off, NULL));
	TRY(wt_num(&r->vars, s, "len", &len, NULL));
	TRY(wt_num(&r->vars, s, "pd", &pd, NULL));
	TRY(access_of(s, &access));
	return add_mr(r, s->word[1], pd == 2 ? r->dut->pd2 : r->dut->pd, off,
		      len, access);
}

static struct wt_mr *mr_named(struct wt_run *r, const char *name)
{
	for (int i = 0; i < r->nmrs; i++) {
		if (r->mrs[i].mr && !strcmp(r->mrs[i].name, name))
			return &r->mrs[i];
	}
	return NULL;
}

/* dereg NAME */
why_t wt_do_dereg(struct wt_run *r, struct wt_stmt *s)
{
	struct wt_mr *mr;

	CHECK(s->n > 1, "which region?");
	s->used[1] = true;
	mr = mr_named(r, s->word[1]);
	CHECK(mr, "no region is called %s", s->word[1]);
	CHECK(!ibv_dereg_mr(mr->mr), "ibv_dereg_mr: %s", strerror(errno));
	mr->mr = NULL;
	return NULL;
}

/* mw NAME mr= off= len= access=: a window of type 1, bound to a part of a region */
why_t wt_do_mw(struct wt_run *r, struct wt_stmt *s)
{
	const char *of = wt_text(s, "mr");
	struct wt_mr *mr = mr_named(r, of ? of : "buf");
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED };
	uint64_t off = 0, len = 0;
	char var[WT_NAME];
	struct ibv_mw *mw;
	int access, ret;

	CHECK(s->n > 1 && mr && r->nmws < WT_MRS, "mw NAME mr=REGION");
	s->used[1] = true;
	TRY(wt_num(&r->vars, s, "off", &off, NULL));
	TRY(wt_num(&r->vars, s, "len", &len, NULL));
	TRY(access_of(s, &access));
	mw = ibv_alloc_mw(r->dut->pd, IBV_MW_TYPE_1);
	CHECK(mw, "ibv_alloc_mw: %s", strerror(errno));
	r->mws[r->nmws++] = mw;
	bind.bind_info = (struct ibv_mw_bind_info){
		.mr = mr->mr, .addr = (uintptr_t)r->buf + off, .length = len,
		.mw_access_flags = access,
	};
	ret = ibv_bind_mw(r->qp->qp, mw, &bind);
	CHECK(!ret, "ibv_bind_mw: %s", strerror(ret));
	TRY(wt_bound(r));
	snprintf(var, sizeof(var), "%s.rkey", s->word[1]);
	TRY(wt_set(&r->vars, var, mw->rkey));
	snprintf(var, sizeof(var), "%s.va", s->word[1]);
	return wt_set(&r->vars, var, bind.bind_info.addr);
}

static why_t sge_of(struct wt_run *r, struct wt_stmt *s, struct ibv_sge *sge)
{
	const char *name = wt_text(s, "mr");
	struct wt_mr *mr = mr_named(r, name ? name : "buf");
	uint64_t off = 0, len = 0, lkey;

	CHECK(mr, "no region is called %s", name);
	lkey = mr->mr->lkey;
	TRY(wt_num(&r->vars, s, "off", &off, NULL));
	TRY(wt_num(&r->vars, s, "len", &len, NULL));
	TRY(wt_num(&r->vars, s, "lkey", &lkey, NULL));
	sge->addr = (uintptr_t)r->buf + off;
	sge->length = len;
	sge->lkey = lkey;
	return NULL;
}

/* ---- queue pairs ---------------------------------------------------------- */

static const struct {
	const char *name;
	enum ibv_qp_state state;
} states[] = {
	{ "RESET", IBV_QPS_RESET }, { "INIT", IBV_QPS_INIT },
	{ "RTR", IBV_QPS_RTR }, { "RTS", IBV_QPS_RTS }, { "SQD", IBV_QPS_SQD },
	{ "SQE", IBV_QPS_SQE }, { "ERR", IBV_QPS_ERR },
};

static why_t state_of(const char *name, enum ibv_qp_state *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		if (!strcmp(states[i].name, name)) {
			*to = states[i].state;
			return NULL;
		}
	}
	return because("no state is called %s", name);
}

static why_t mtu_of(uint64_t bytes, enum ibv_mtu *to)
{
	for (*to = IBV_MTU_256; *to <= IBV_MTU_4096; ++*to) {
		if (128u << *to == bytes)
			return NULL;
	}
	return because("%u is no path MTU", (unsigned int)bytes);
}

static const struct wt_net *net_of(struct wt_run *r, bool vlan)
{
	for (int i = 0; i < r->dut->nnets; i++) {
		const struct wt_net *net = &r->dut->nets[i];

		if (net->family == r->family && (net->vlan >= 0) == vlan)
			return net;
	}
	return NULL;
}

static void gid_of(const struct wt_net *net, const struct wt_addr *to,
		   union ibv_gid *gid)
{
	memcpy(gid->raw, to->ip, 16);
	if (net->family == 4)
		gid->raw[10] = gid->raw[11] = 0xff;
}

/* 239.7.8.9 or ff15::7:809, and the MAC address that belongs to it */
static void set_group(struct wt_qp *qp)
{
	static const uint8_t mac4[6] = { 0x01, 0x00, 0x5e, 7, 8, 9 };
	static const uint8_t mac6[6] = { 0x33, 0x33, 0, 7, 8, 9 };
	static const uint8_t low[3] = { 7, 8, 9 };
	uint8_t *ip = qp->group.ip;

	memcpy(ip + 13, low, sizeof(low));
	if (qp->net->family == 4) {
		ip[12] = 239;
	} else {
		ip[0] = 0xff;
		ip[1] = 0x15;
	}
	memcpy(qp->group.mac, qp->net->family == 4 ? mac4 : mac6, 6);
}

static void address(const struct wt_qp *qp, struct ibv_ah_attr *ah)
{
	memset(ah, 0, sizeof(*ah));
	ah->is_global = 1;
	ah->port_num = 1;
	gid_of(qp->net, qp->in_group ? &qp->group : &qp->net->peer,
	       &ah->grh.dgid);
	ah->grh.sgid_index = qp->net->gid_index;
	ah->grh.hop_limit = 64;
}

/* Attributes as a script gives them; those it doesn't stay as they are. */
static why_t attributes(struct wt_run *r, struct wt_qp *qp, struct wt_stmt *s)
{
	struct ibv_qp_attr *a = &qp->attr;
	struct {
		const char *name;
		uint8_t *to;
	} small[] = {
		{ "timeout", &a->timeout }, { "retry", &a->retry_cnt },
		{ "rnr", &a->rnr_retry }, { "min_rnr", &a->min_rnr_timer },
		{ "rd", &a->max_rd_atomic },
		{ "dest_rd", &a->max_dest_rd_atomic },
	};
	struct {
		const char *name;
		uint32_t *to;
	} big[] = {
		{ "rq", &a->rq_psn }, { "sq", &a->sq_psn }, { "qkey", &a->qkey },
		{ "dqpn", &a->dest_qp_num },
	};
	uint64_t v;

	for (size_t i = 0; i < ARRAY_SIZE(small); i++) {
		v = *small[i].to;
		TRY(wt_num(&r->vars, s, small[i].name, &v, NULL));
		*small[i].to = v;
	}
	for (size_t i = 0; i < ARRAY_SIZE(big); i++) {
		v = *big[i].to;
		TRY(wt_num(&r->vars, s, big[i].name, &v, NULL));
		*big[i].to = v;
	}
	a->en_sqd_async_notify = wt_flag(s, "notify");
	return NULL;
}

static int mask_to(const struct wt_qp *qp, enum ibv_qp_state to,
		   enum ibv_qp_state from)
{
	int mask = IBV_QP_STATE;
	bool rc = qp->type == IBV_QPT_RC, ud = qp->type == IBV_QPT_UD;

	if (to == IBV_QPS_INIT)
		return mask | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	if (to == IBV_QPS_RTR && !ud)
		return mask | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		       IBV_QP_RQ_PSN |
		       (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER :
			     0);
	if (to == IBV_QPS_RTS && from == IBV_QPS_RTR)
		return mask | IBV_QP_SQ_PSN |
		       (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0);
	if (to == IBV_QPS_SQD)
		return mask | IBV_QP_EN_SQD_ASYNC_NOTIFY;
	return mask;
}

static why_t step_to(struct wt_qp *qp, enum ibv_qp_state to)
{
	enum ibv_qp_state from = qp->attr.qp_state;
	int mask = mask_to(qp, to, from);
	int ret;

	qp->attr.qp_state = to;
	address(qp, &qp->attr.ah_attr);
	ret = ibv_modify_qp(qp->qp, &qp->attr, mask);
	CHECK(!ret, "modify to state %d: %s", to, strerror(ret));
	return NULL;
}

static why_t bring_up(struct wt_qp *qp, enum ibv_qp_state to)
{
	static const enum ibv_qp_state way[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
	};

	for (size_t i = 0; i < ARRAY_SIZE(way) && qp->attr.qp_state != to; i++)
		TRY(step_to(qp, way[i]));
	return NULL;
}

static why_t make_cq(struct wt_run *r, int cqe, struct ibv_cq **cq,
		     struct ibv_comp_channel **chan)
{
	*chan = ibv_create_comp_channel(r->dut->ctx);
	CHECK(*chan, "ibv_create_comp_channel: %s", strerror(errno));
	fcntl((*chan)->fd, F_SETFL, O_NONBLOCK);
	*cq = ibv_create_cq(r->dut->ctx, cqe, NULL, *chan, 0);
	CHECK(*cq, "ibv_create_cq: %s", strerror(errno));
	return NULL;
}

static why_t create(struct wt_run *r, struct wt_qp *qp, struct wt_stmt *s)
{
	uint64_t scqe = 128, rcqe = 128, max_recv = 64;
	struct ibv_qp_init_attr init = {
		.qp_type = qp->type,
		.sq_sig_all = 0,
		.cap = { .max_send_wr = 64, .max_send_sge = 2,
			 .max_recv_sge = 2, .max_inline_data = 64 },
	};
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 64, .max_sge = 2 } };

	TRY(wt_num(&r->vars, s, "scqe", &scqe, NULL));
	TRY(wt_num(&r->vars, s, "rcqe", &rcqe, NULL));
	TRY(wt_num(&r->vars, s, "max_recv", &max_recv, NULL));
	init.cap.max_recv_wr = max_recv;
	TRY(make_cq(r, scqe, &qp->scq, &qp->schan));
	TRY(make_cq(r, rcqe, &qp->rcq, &qp->rchan));
	if (wt_flag(s, "srq")) {
		qp->srq = ibv_create_srq(r->dut->pd, &srq);
		CHECK(qp->srq, "ibv_create_srq: %s", strerror(errno));
	}
	init.send_cq = qp->scq;
	init.recv_cq = qp->rcq;
	init.srq = qp->srq;
	qp->qp = ibv_create_qp(r->dut->pd, &init);
	CHECK(qp->qp, "ibv_create_qp: %s", strerror(errno));
	return NULL;
}

static void defaults(struct wt_run *r, struct wt_qp *qp)
{
	qp->peer_qpn = 0x100 + r->nqps;
	qp->attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RESET,
		.port_num = 1,
		.dest_qp_num = qp->peer_qpn,
		.rq_psn = 1000,
		.sq_psn = 2000,
		/*
		 * Neither timeouts nor probes: nothing comes by itself. Others than
		 * sroce count NAKs of a gap as retries, as they should.
		 */
		.timeout = 0,
		.retry_cnt = r->dut->any ? 7 : 0,
		.rnr_retry = 7,
		.min_rnr_timer = 1,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.qkey = 0x11223344,
	};
}

static why_t set_names(struct wt_run *r)
{
	struct wt_vars *v = &r->vars;
	char name[WT_NAME];

	snprintf(name, sizeof(name), "%s.qpn", r->qp->name);
	TRY(wt_set(v, name, r->qp->qp->qp_num));
	TRY(wt_set(v, "qpn", r->qp->qp->qp_num));
	TRY(wt_set(v, "peer", r->qp->peer_qpn));
	TRY(wt_set(v, "rq", r->qp->attr.rq_psn));
	TRY(wt_set(v, "sq", r->qp->attr.sq_psn));
	TRY(wt_set(v, "qkey", r->qp->attr.qkey));
	return wt_set(v, "mtu", r->qp->mtu);
}

static why_t type_of(struct wt_stmt *s, enum ibv_qp_type *to)
{
	*to = IBV_QPT_RC;
	if (wt_flag(s, "UC"))
		*to = IBV_QPT_UC;
	else if (wt_flag(s, "UD"))
		*to = IBV_QPT_UD;
	else
		wt_flag(s, "RC");
	return NULL;
}

static why_t make_ah(struct wt_run *r, struct wt_qp *qp)
{
	struct ibv_ah_attr attr;

	address(qp, &attr);
	qp->ah = ibv_create_ah(r->dut->pd, &attr);
	CHECK(qp->ah, "ibv_create_ah: %s", strerror(errno));
	return NULL;
}

/* qp [RC|UC|UD] [name=] [srq] [vlan] [group] [mtu=] [state=] [access=] attributes... */
why_t wt_do_qp(struct wt_run *r, struct wt_stmt *s)
{
	struct wt_qp *qp = &r->qps[r->nqps];
	const char *name = wt_text(s, "name"), *state = wt_text(s, "state");
	enum ibv_qp_state to = IBV_QPS_RTS;
	uint64_t mtu = 256;
	int access;

	CHECK(r->nqps < WT_QPS, "too many QPs");
	defaults(r, qp);
	snprintf(qp->name, sizeof(qp->name), "%s", name ? name : "qp");
	TRY(type_of(s, &qp->type));
	TRY(access_of(s, &access));
	TRY(wt_num(&r->vars, s, "mtu", &mtu, NULL));
	TRY(attributes(r, qp, s));
	qp->mtu = mtu;
	TRY(mtu_of(mtu, &qp->attr.path_mtu));
	qp->attr.qp_access_flags = access;
	if (state)
		TRY(state_of(state, &to));
	qp->net = net_of(r, wt_flag(s, "vlan"));
	CHECK(qp->net, "there is no such network");
	qp->in_group = wt_flag(s, "group");
	set_group(qp);
	qp->seen = calloc(WT_SEEN, sizeof(*qp->seen));
	r->nqps++;
	r->qp = qp;
	TRY(create(r, qp, s));
	TRY(bring_up(qp, to));
	if (qp->type == IBV_QPT_UD)
		TRY(make_ah(r, qp));
	return set_names(r);
}

/* attach: datagrams to the group are for this QP, too */
why_t wt_do_attach(struct wt_run *r, struct wt_stmt *s)
{
	union ibv_gid gid;
	int ret;

	(void)s;
	gid_of(r->qp->net, &r->qp->group, &gid);
	ret = ibv_attach_mcast(r->qp->qp, &gid, 0);
	CHECK(!ret, "ibv_attach_mcast: %s", strerror(ret));
	r->qp->attached = true;
	return NULL;
}

/* use NAME: what follows is about another QP */
why_t wt_do_use(struct wt_run *r, struct wt_stmt *s)
{
	CHECK(s->n > 1, "which QP?");
	s->used[1] = true;
	for (int i = 0; i < r->nqps; i++) {
		if (!strcmp(r->qps[i].name, s->word[1])) {
			r->qp = &r->qps[i];
			return set_names(r);
		}
	}
	return because("no QP is called %s", s->word[1]);
}

/* modify STATE [notify] [attributes...] */
why_t wt_do_modify(struct wt_run *r, struct wt_stmt *s)
{
	enum ibv_qp_state to = IBV_QPS_ERR;
	struct ibv_qp_attr now;
	struct ibv_qp_init_attr init;

	CHECK(s->n > 1, "to which state?");
	s->used[1] = true;
	TRY(state_of(s->word[1], &to));
	TRY(attributes(r, r->qp, s));
	CHECK(!ibv_query_qp(r->qp->qp, &now, IBV_QP_STATE, &init),
	      "ibv_query_qp: %s", strerror(errno));
	r->qp->attr.qp_state = now.qp_state;
	TRY(step_to(r->qp, to));
	if (to == IBV_QPS_RESET) {
		/* what a QP that retries has sent again until now */
		if (r->qp->attr.retry_cnt)
			TRY(wt_no_frames(r, WT_POLL));
		r->qp->nseen = 0;
	}
	return set_names(r);
}

/* ---- work requests -------------------------------------------------------- */

/* recv id= off= len= [mr=] [lkey=] */
why_t wt_do_recv(struct wt_run *r, struct wt_stmt *s)
{
	struct ibv_sge sge;
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	uint64_t id = 0;
	int ret;

	TRY(wt_num(&r->vars, s, "id", &id, NULL));
	TRY(sge_of(r, s, &sge));
	wr.wr_id = id;
	wr.num_sge = sge.length ? 1 : 0;
	ret = r->qp->srq ? ibv_post_srq_recv(r->qp->srq, &wr, &bad) :
			   ibv_post_recv(r->qp->qp, &wr, &bad);
	CHECK(!ret, "post of a receive: %s", strerror(ret));
	return NULL;
}

static const struct {
	const char *name;
	enum ibv_wr_opcode op;
} wr_ops[] = {
	{ "SEND", IBV_WR_SEND }, { "SEND_IMM", IBV_WR_SEND_WITH_IMM },
	{ "SEND_INV", IBV_WR_SEND_WITH_INV },
	{ "WRITE", IBV_WR_RDMA_WRITE },
	{ "WRITE_IMM", IBV_WR_RDMA_WRITE_WITH_IMM },
	{ "READ", IBV_WR_RDMA_READ },
	{ "CMP_SWP", IBV_WR_ATOMIC_CMP_AND_SWP },
	{ "FETCH_ADD", IBV_WR_ATOMIC_FETCH_AND_ADD },
};

static why_t wr_flags(struct wt_stmt *s, struct ibv_send_wr *wr)
{
	if (!wt_flag(s, "nosig"))
		wr->send_flags |= IBV_SEND_SIGNALED;
	if (wt_flag(s, "fence"))
		wr->send_flags |= IBV_SEND_FENCE;
	if (wt_flag(s, "solicited"))
		wr->send_flags |= IBV_SEND_SOLICITED;
	if (wt_flag(s, "inline"))
		wr->send_flags |= IBV_SEND_INLINE;
	return NULL;
}

static why_t wr_remote(struct wt_run *r, struct wt_stmt *s,
		       struct ibv_send_wr *wr)
{
	uint64_t va = 0x10000, rkey = 0x1234, imm = 0, inv = 0, add = 0;
	uint64_t cmp = 0, swap = 0, qpn = r->qp->peer_qpn;
	uint64_t qkey = r->qp->attr.qkey;
	const struct {
		const char *name;
		uint64_t *to;
	} args[] = {
		{ "va", &va }, { "rkey", &rkey }, { "imm", &imm },
		{ "inv", &inv }, { "cmp", &cmp }, { "swap", &swap },
		{ "add", &add }, { "dqpn", &qpn }, { "qkey", &qkey },
	};

	for (size_t i = 0; i < ARRAY_SIZE(args); i++)
		TRY(wt_num(&r->vars, s, args[i].name, args[i].to, NULL));
	wr->imm_data = htonl(imm);
	if (wr->opcode == IBV_WR_SEND_WITH_INV)
		wr->invalidate_rkey = inv;
	if (r->qp->type == IBV_QPT_UD) {
		wr->wr.ud.ah = r->qp->ah;
		wr->wr.ud.remote_qpn = qpn;
		wr->wr.ud.remote_qkey = qkey;
	} else if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		   wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		bool swp = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;

		wr->wr.atomic.remote_addr = va;
		wr->wr.atomic.rkey = rkey;
		wr->wr.atomic.compare_add = swp ? cmp : add;
		wr->wr.atomic.swap = swap;
	} else {
		wr->wr.rdma.remote_addr = va;
		wr->wr.rdma.rkey = rkey;
	}
	return NULL;
}

static void free_chain(struct wt_qp *qp)
{
	while (qp->nchain)
		free(qp->chain[--qp->nchain]);
}

static why_t post_chain(struct wt_qp *qp)
{
	struct ibv_send_wr *bad;
	int ret;

	for (int i = 1; i < qp->nchain; i++)
		qp->chain[i - 1]->next = qp->chain[i];
	ret = ibv_post_send(qp->qp, qp->chain[0], &bad);
	free_chain(qp);
	CHECK(!ret, "ibv_post_send: %s", strerror(ret));
	return NULL;
}

/* post OP [id=] off= len= va= rkey=... [more]: with more, the next goes along */
why_t wt_do_post(struct wt_run *r, struct wt_stmt *s)
{
	struct {
		struct ibv_send_wr wr;
		struct ibv_sge sge;
	} *w = calloc(1, sizeof(*w));
	struct wt_qp *qp = r->qp;
	uint64_t id = 0;
	size_t i;

	CHECK(qp->nchain < (int)ARRAY_SIZE(qp->chain), "too long a list");
	qp->chain[qp->nchain++] = &w->wr;
	CHECK(s->n > 1, "post what?");
	for (i = 0; i < ARRAY_SIZE(wr_ops) &&
	     strcmp(wr_ops[i].name, s->word[1]); i++)
		;
	CHECK(i < ARRAY_SIZE(wr_ops), "no work is called %s", s->word[1]);
	s->used[1] = true;
	w->wr.opcode = wr_ops[i].op;
	TRY(wt_num(&r->vars, s, "id", &id, NULL));
	w->wr.wr_id = id;
	TRY(sge_of(r, s, &w->sge));
	w->wr.sg_list = &w->sge;
	w->wr.num_sge = w->sge.length ? 1 : 0;
	TRY(wr_flags(s, &w->wr));
	TRY(wr_remote(r, s, &w->wr));
	return wt_flag(s, "more") ? NULL : post_chain(qp);
}

/* ---- the end -------------------------------------------------------------- */

static why_t close_qp(struct wt_qp *qp)
{
	union ibv_gid gid;
	int ret = 0;

	free_chain(qp);
	if (qp->attached) {
		gid_of(qp->net, &qp->group, &gid);
		ret |= ibv_detach_mcast(qp->qp, &gid, 0);
	}
	if (qp->ah)
		ret |= ibv_destroy_ah(qp->ah);
	if (qp->qp)
		ret |= ibv_destroy_qp(qp->qp);
	if (qp->srq)
		ret |= ibv_destroy_srq(qp->srq);
	if (qp->scq)
		ret |= ibv_destroy_cq(qp->scq);
	if (qp->rcq)
		ret |= ibv_destroy_cq(qp->rcq);
	if (qp->schan)
		ret |= ibv_destroy_comp_channel(qp->schan);
	if (qp->rchan)
		ret |= ibv_destroy_comp_channel(qp->rchan);
	free(qp->seen);
	CHECK(!ret, "destroying a QP: %s", strerror(ret));
	return NULL;
}

/* All of it, whatever fails. */
why_t wt_close_all(struct wt_run *r)
{
	why_t why = NULL, w;
	uint64_t from = wt_now(), took;

	for (int i = 0; i < r->nqps; i++) {
		w = close_qp(&r->qps[i]);
		why = why ? why : w;
	}
	took = wt_now() - from;
	while (r->nmws) {
		if (ibv_dealloc_mw(r->mws[--r->nmws]) && !why)
			why = because("ibv_dealloc_mw: %s", strerror(errno));
	}
	for (int i = 0; i < r->nmrs; i++) {
		if (r->mrs[i].mr && ibv_dereg_mr(r->mrs[i].mr) && !why)
			why = because("ibv_dereg_mr: %s", strerror(errno));
	}
	free(r->buf);
	free(r->shadow);
	if (!why && took > 1000000)
		why = wt_note(r, WT_RULE_DESTROY, "destroying the QPs took %u ms",
			      (unsigned int)(took / 1000));
	return why;
}
