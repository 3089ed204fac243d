// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tables of objects, and how objects come and go. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "fz.h"

/* The threads of a tame process leave each other's QPs alone. */
static bool mine(const struct fz_thread *t, enum fz_table table, int i)
{
	return t->proc->wild || table != T_QP || i % 2 == t->id % 2;
}

/* An object that is there, or by mistake one that was. NULL if there is none. */
struct fz_obj *fz_pick(struct fz_thread *t, struct fz_dev *d, enum fz_table table)
{
	int i, k, from = fz_below(t, OBJS);
	bool any = t->proc->wild && fz_one_in(t, 20);

	for (k = 0; k < OBJS; k++) {
		i = (from + k) % OBJS;
		if ((any || d->obj[table][i].state == LIVE) && mine(t, table, i))
			return &d->obj[table][i];
	}
	return NULL;
}

/* The same, but of PD number @pd */
struct fz_obj *fz_of_pd(struct fz_thread *t, struct fz_dev *d, enum fz_table table, int pd)
{
	int i, k, from = fz_below(t, OBJS);

	for (k = 0; k < OBJS; k++) {
		i = (from + k) % OBJS;
		if (d->obj[table][i].state == LIVE && d->obj[table][i].pd == pd)
			return &d->obj[table][i];
	}
	return NULL;
}

static int index_of(struct fz_dev *d, enum fz_table table, const struct fz_obj *o)
{
	return o ? (int)(o - d->obj[table]) : -1;
}

/* Handles are small numbers of all kinds of objects. */
uint32_t fz_handle(struct fz_thread *t, struct fz_dev *d, enum fz_table table)
{
	struct fz_obj *o = fz_pick(t, d, table);

	return o && !fz_mistake(t) ? o->handle : fz_below(t, 40);
}

/* A place in the table that is now ours, or NULL */
static struct fz_obj *reserve(struct fz_thread *t, struct fz_dev *d, enum fz_table table)
{
	int i, k, from = fz_below(t, OBJS), is;

	for (k = 0; k < OBJS; k++) {
		i = (from + k) % OBJS;
		is = FREE;
		if (mine(t, table, i) &&
		    atomic_compare_exchange_strong(&d->obj[table][i].state, &is, BUSY)) {
			d->obj[table][i].rts = false;
			d->obj[table][i].peer = NULL;
			d->obj[table][i].access = 0;
			d->obj[table][i].groups = 0;
			return &d->obj[table][i];
		}
	}
	return NULL;
}

bool fz_map(struct fz_thread *t, struct fz_dev *d, struct fz_ring *ring,
	    const struct sroce_abi_mmap *mi)
{
	uint64_t off = mi->offset;
	size_t size = mi->size;
	void *at;

	if (fz_mistake(t)) {
		off = fz_one_in(t, 2) ? off + 4096 * (1 + fz_below(t, 3)) : fz_odd(t) & ~4095ULL;
		size = fz_one_in(t, 2) ? size : 1 + fz_below(t, 1 << 20);
	}
	fz_begin(t, FZ_MMAP);
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, off);
	if (fz_end(t, FZ_MMAP, at == MAP_FAILED ? -1 : 0))
		return false;
	ring->size = size;
	ring->mask = ((struct sroce_abi_ring *)at)->index_mask;
	ring->shift = ((struct sroce_abi_ring *)at)->log2_elem_size & 31;
	/* who asks for another ring may get a smaller one */
	if (sizeof(struct sroce_abi_ring) + ((ring->mask + 1ULL) << ring->shift) > size) {
		munmap(at, size);
		return false;
	}
	ring->buf = at;
	return true;
}

/* Forget a ring, and map another in its place if @mi is given. */
void fz_replace(struct fz_thread *t, struct fz_dev *d, struct fz_ring *ring,
		const struct sroce_abi_mmap *mi)
{
	struct fz_ring new = {};

	if (mi)
		fz_map(t, d, &new, mi);
	pthread_rwlock_wrlock(&t->proc->maps);
	if (ring->buf)
		munmap(ring->buf, ring->size);
	*ring = new;
	pthread_rwlock_unlock(&t->proc->maps);
}

static int create_mr(struct fz_thread *t, struct fz_dev *d, struct fz_obj *o,
		     struct fz_cmd *cmd, union fz_resp *resp)
{
	struct fz_obj *pd = fz_pick(t, d, T_PD);
	size_t off = fz_below(t, ARENA - 65536) & (t->proc->wild ? ~0UL : ~7UL);
	int err;

	o->at = t->proc->arena + off;
	o->len = 32768 + fz_below(t, ARENA - off < 262144 ? ARENA - off - 32768 : 229376);
	o->access = fz_one_in(t, t->proc->wild ? 4 : 20) ? fz_rand(t) & 0x7f : 0x1f;
	if (fz_one_in(t, 3))
		o->access |= IB_UVERBS_ACCESS_ON_DEMAND;
	o->pd = index_of(d, T_PD, pd);
	cmd->reg_mr.start = (uintptr_t)o->at;
	cmd->reg_mr.hca_va = cmd->reg_mr.start;
	cmd->reg_mr.length = o->len;
	cmd->reg_mr.pd_handle = pd ? pd->handle : 0;
	cmd->reg_mr.access_flags = o->access;
	err = fz_cmd(t, d, FZ_REG_MR, IB_USER_VERBS_CMD_REG_MR, cmd, sizeof(cmd->reg_mr),
		     resp, 12);
	o->lkey = resp->reg_mr.lkey;
	o->rkey = resp->reg_mr.rkey;
	return err;
}

static int create_mw(struct fz_thread *t, struct fz_dev *d, struct fz_obj *o,
		     struct fz_cmd *cmd, union fz_resp *resp)
{
	struct fz_obj *pd = fz_pick(t, d, T_PD);
	int err;

	o->pd = index_of(d, T_PD, pd);
	o->type = 1 + fz_one_in(t, 2);
	cmd->alloc_mw.pd_handle = pd ? pd->handle : 0;
	cmd->alloc_mw.mw_type = o->type;
	err = fz_cmd(t, d, FZ_ALLOC_MW, IB_USER_VERBS_CMD_ALLOC_MW, cmd, sizeof(cmd->alloc_mw),
		     resp, 8);
	o->rkey = resp->alloc_mw.rkey;
	return err;
}

static int create_cq(struct fz_thread *t, struct fz_dev *d, struct fz_obj *o,
		     struct fz_cmd *cmd, union fz_resp *resp)
{
	struct fz_obj *chan = fz_one_in(t, 2) ? fz_pick(t, d, T_CHAN) : NULL;
	int err;

	cmd->create_cq.cqe = 16 + fz_below(t, 1000);
	cmd->create_cq.comp_channel = chan ? chan->fd : -1;
	err = fz_cmd(t, d, FZ_CREATE_CQ, IB_USER_VERBS_CMD_CREATE_CQ, cmd,
		     sizeof(cmd->create_cq), resp, sizeof(resp->cq));
	if (!err)
		fz_map(t, d, &o->ring[0], &resp->cq.drv.mi);
	return err;
}

static int create_qp(struct fz_thread *t, struct fz_dev *d, struct fz_obj *o,
		     struct fz_cmd *cmd, union fz_resp *resp)
{
	static const uint8_t types[] = { 2, 2, 2, 2, 3, 4, 4, 8 };
	struct fz_obj *pd = fz_pick(t, d, T_PD);
	struct fz_obj *scq = fz_pick(t, d, T_CQ), *rcq = fz_pick(t, d, T_CQ);
	struct fz_obj *srq = pd && fz_one_in(t, 3) ?
			     fz_of_pd(t, d, T_SRQ, index_of(d, T_PD, pd)) : NULL;
	int err;

	o->pd = index_of(d, T_PD, pd);
	o->scq = index_of(d, T_CQ, scq);
	o->rcq = index_of(d, T_CQ, rcq);
	o->srq = index_of(d, T_SRQ, srq);
	o->type = types[fz_below(t, ARRAY_SIZE(types))];
	cmd->create_qp = (struct ib_uverbs_create_qp) {
		.pd_handle = pd ? pd->handle : 0, .qp_type = o->type,
		.send_cq_handle = scq ? scq->handle : 0,
		.recv_cq_handle = rcq ? rcq->handle : 0,
		.srq_handle = srq ? srq->handle : 0, .is_srq = !!srq,
		.max_send_wr = 4 + fz_below(t, 60), .max_recv_wr = 4 + fz_below(t, 60),
		.max_send_sge = 1 + fz_below(t, 4), .max_recv_sge = 1 + fz_below(t, 4),
		.max_inline_data = fz_below(t, 200), .sq_sig_all = fz_one_in(t, 2),
	};
	err = fz_cmd(t, d, FZ_CREATE_QP, IB_USER_VERBS_CMD_CREATE_QP, cmd,
		     sizeof(cmd->create_qp), resp, sizeof(resp->qp));
	if (err)
		return err;
	o->num = resp->qp.base.qpn;
	o->sges = resp->qp.base.max_send_sge;
	fz_map(t, d, &o->ring[0], &resp->qp.drv.sq_mi);
	if (!srq)
		fz_map(t, d, &o->ring[1], &resp->qp.drv.rq_mi);
	return 0;
}

static int create_ah(struct fz_thread *t, struct fz_dev *d, struct fz_obj *o,
		     struct fz_cmd *cmd, union fz_resp *resp)
{
	struct fz_dev *to = &t->proc->dev[fz_below(t, 2)];
	struct fz_obj *pd = fz_pick(t, d, T_PD);
	struct ib_uverbs_ah_attr *ah = &cmd->create_ah.attr;
	const struct fz_gid *gid;
	int err;

	o->pd = index_of(d, T_PD, pd);
	o->to = to->id;
	if (!d->gids || !to->gids)
		return ENOENT;
	gid = &to->gid[fz_below(t, to->gids)];
	cmd->create_ah.pd_handle = pd ? pd->handle : 0;
	memcpy(ah->grh.dgid, gid->raw, 16);
	ah->grh.sgid_index = d->gid[fz_below(t, d->gids)].index;
	ah->grh.hop_limit = 64;
	ah->is_global = 1;
	ah->port_num = 1;
	err = fz_cmd(t, d, FZ_CREATE_AH, IB_USER_VERBS_CMD_CREATE_AH, cmd,
		     sizeof(cmd->create_ah), resp, 12);
	o->num = resp->word[1];
	return err;
}

static int create_srq(struct fz_thread *t, struct fz_dev *d, struct fz_obj *o,
		      struct fz_cmd *cmd, union fz_resp *resp)
{
	struct fz_obj *pd = fz_pick(t, d, T_PD);
	int err;

	o->pd = index_of(d, T_PD, pd);
	cmd->create_srq.pd_handle = pd ? pd->handle : 0;
	cmd->create_srq.max_wr = 8 + fz_below(t, 200);
	cmd->create_srq.max_sge = 1 + fz_below(t, 4);
	err = fz_cmd(t, d, FZ_CREATE_SRQ, IB_USER_VERBS_CMD_CREATE_SRQ, cmd,
		     sizeof(cmd->create_srq), resp, 16 + sizeof(struct sroce_abi_create_srq_resp));
	if (!err)
		fz_map(t, d, &o->ring[0], &resp->srq.mi);
	return err;
}

void fz_create(struct fz_thread *t, struct fz_dev *d, enum fz_table table)
{
	struct fz_obj *o = reserve(t, d, table);
	union fz_resp resp = {};
	struct fz_cmd cmd = {};
	int err = EINVAL;

	if (!o)
		return;
	if (table == T_PD)
		err = fz_cmd(t, d, FZ_ALLOC_PD, IB_USER_VERBS_CMD_ALLOC_PD, &cmd, 8, &resp, 4);
	else if (table == T_CHAN)
		err = fz_cmd(t, d, FZ_CHANNEL, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &cmd, 8,
			     &resp, 4);
	else if (table == T_MR)
		err = create_mr(t, d, o, &cmd, &resp);
	else if (table == T_MW)
		err = create_mw(t, d, o, &cmd, &resp);
	else if (table == T_CQ)
		err = create_cq(t, d, o, &cmd, &resp);
	else if (table == T_QP)
		err = create_qp(t, d, o, &cmd, &resp);
	else if (table == T_AH)
		err = create_ah(t, d, o, &cmd, &resp);
	else if (table == T_SRQ)
		err = create_srq(t, d, o, &cmd, &resp);
	o->handle = resp.word[0];
	o->fd = resp.word[0];
	if (!err && table == T_CHAN)
		fcntl(o->fd, F_SETFL, O_NONBLOCK);
	o->state = err ? FREE : LIVE;
}

static const struct {
	enum fz_call call;
	uint32_t number;
	int out;	/* bytes of the response; -1: the handle comes first */
} ends[T_NUM] = {
	[T_PD] = { FZ_DEALLOC_PD, IB_USER_VERBS_CMD_DEALLOC_PD, -1 },
	[T_MR] = { FZ_DEREG_MR, IB_USER_VERBS_CMD_DEREG_MR, -1 },
	[T_MW] = { FZ_DEALLOC_MW, IB_USER_VERBS_CMD_DEALLOC_MW, -1 },
	[T_CQ] = { FZ_DESTROY_CQ, IB_USER_VERBS_CMD_DESTROY_CQ, 8 },
	[T_QP] = { FZ_DESTROY_QP, IB_USER_VERBS_CMD_DESTROY_QP, 4 },
	[T_AH] = { FZ_DESTROY_AH, IB_USER_VERBS_CMD_DESTROY_AH, -1 },
	[T_SRQ] = { FZ_DESTROY_SRQ, IB_USER_VERBS_CMD_DESTROY_SRQ, 4 },
};

static int destroy(struct fz_thread *t, struct fz_dev *d, enum fz_table table, uint32_t handle)
{
	union fz_resp resp = {};
	struct fz_cmd cmd = {};

	if (ends[table].out < 0) {
		cmd.handle = handle;
		return fz_cmd(t, d, ends[table].call, ends[table].number, &cmd, 4, NULL, 0);
	}
	cmd.destroy.cq_handle = handle;
	return fz_cmd(t, d, ends[table].call, ends[table].number, &cmd, sizeof(cmd.destroy),
		      &resp, ends[table].out);
}

/* What cannot be destroyed, as it is in use or is not there, may be forgotten. */
void fz_destroy(struct fz_thread *t, struct fz_dev *d, enum fz_table table)
{
	struct fz_obj *o = fz_pick(t, d, table);
	int is = LIVE, err;

	if (table != T_CHAN && fz_mistake(t)) {
		destroy(t, d, table, fz_handle(t, d, table));
		return;
	}
	if (!o || !atomic_compare_exchange_strong(&o->state, &is, BUSY))
		return;
	if (table == T_CHAN) {
		/* nobody may read from what takes its place */
		pthread_rwlock_wrlock(&t->proc->maps);
		err = close(o->fd);
		pthread_rwlock_unlock(&t->proc->maps);
	} else {
		err = destroy(t, d, table, o->handle);
	}
	if (err && !fz_one_in(t, 8)) {
		o->state = LIVE;
		return;
	}
	fz_replace(t, d, &o->ring[0], NULL);
	fz_replace(t, d, &o->ring[1], NULL);
	o->state = FREE;
}
