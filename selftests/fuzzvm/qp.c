// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What is done to objects: connections, states, sizes, groups, events. */

#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "fz.h"

/* enum ib_qp_state and enum ib_qp_attr_mask, which uapi lacks */
enum { RESET, INIT, RTR, RTS, SQD, SQE, ERR };
enum {
	M_STATE = 1, M_ACCESS = 8, M_PKEY = 0x10, M_PORT = 0x20, M_QKEY = 0x40, M_AV = 0x80,
	M_MTU = 0x100, M_TIMEOUT = 0x200, M_RETRY = 0x400, M_RNR = 0x800, M_RQ_PSN = 0x1000,
	M_RD = 0x2000, M_RNR_TIMER = 0x8000, M_SQ_PSN = 0x10000, M_DEST_RD = 0x20000,
	M_DEST = 0x100000,
};

enum { QPT_RC = 2, QPT_UC, QPT_UD, QPT_RAW = 8 };

static int modify(struct fz_thread *t, struct fz_dev *d, const struct fz_obj *qp,
		  enum fz_call call, struct fz_cmd *cmd, uint32_t state, uint32_t mask)
{
	cmd->modify_qp.qp_handle = qp->handle;
	cmd->modify_qp.qp_state = state;
	cmd->modify_qp.attr_mask = mask | M_STATE;
	return fz_cmd(t, d, call, IB_USER_VERBS_CMD_MODIFY_QP, cmd, sizeof(cmd->modify_qp),
		      NULL, 0);
}

static int to_state(struct fz_thread *t, struct fz_dev *d, const struct fz_obj *qp,
		    uint32_t state)
{
	struct fz_cmd cmd = {};

	return modify(t, d, qp, FZ_TO_OTHER, &cmd, state, 0);
}

static int to_init(struct fz_thread *t, struct fz_dev *d, const struct fz_obj *qp)
{
	struct fz_cmd cmd = {};
	uint32_t mask = M_PKEY | M_PORT | (qp->type == QPT_UD ? M_QKEY : M_ACCESS);

	cmd.modify_qp.port_num = 1;
	cmd.modify_qp.qkey = QKEY;
	cmd.modify_qp.qp_access_flags = fz_one_in(t, 30) ? fz_below(t, 16) : 15;
	if (qp->type == QPT_RAW)
		mask = M_PORT;
	return modify(t, d, qp, FZ_TO_INIT, &cmd, INIT, mask);
}

/* GIDs of the same kind, so that there is a way from one to the other */
static bool find_way(struct fz_thread *t, const struct fz_dev *d, const struct fz_dev *to,
		     struct ib_uverbs_qp_dest *dest)
{
	int i, k, n, from = fz_below(t, GIDS);

	for (n = 0; n < GIDS; n++) {
		i = (from + n) % GIDS;
		if (i >= d->gids)
			continue;
		for (k = 0; k < to->gids; k++) {
			if (memcmp(d->gid[i].raw, to->gid[k].raw, 2))
				continue;
			memcpy(dest->dgid, to->gid[k].raw, 16);
			dest->sgid_index = d->gid[i].index;
			return true;
		}
	}
	return false;
}

static int to_rtr(struct fz_thread *t, struct fz_dev *d, const struct fz_obj *qp,
		  const struct fz_dev *to, const struct fz_obj *peer, uint32_t psn)
{
	struct fz_cmd cmd = {};
	struct ib_uverbs_modify_qp *m = &cmd.modify_qp;
	uint32_t mask = M_AV | M_MTU | M_DEST | M_RQ_PSN;

	if (!find_way(t, d, to, &m->dest))
		return ENOENT;
	m->dest.is_global = 1;
	m->dest.hop_limit = 64;
	m->dest.port_num = 1;
	m->path_mtu = 1 + fz_below(t, 3);
	m->dest_qp_num = peer->num;
	m->rq_psn = psn;
	m->max_dest_rd_atomic = 1 + fz_below(t, 16);
	m->min_rnr_timer = 1 + fz_below(t, 12);
	if (qp->type == QPT_RC)
		mask |= M_DEST_RD | M_RNR_TIMER;
	else if (qp->type != QPT_UC)
		mask = 0;
	return modify(t, d, qp, FZ_TO_RTR, &cmd, RTR, mask);
}

static int to_rts(struct fz_thread *t, struct fz_dev *d, const struct fz_obj *qp, uint32_t psn)
{
	struct fz_cmd cmd = {};
	struct ib_uverbs_modify_qp *m = &cmd.modify_qp;
	uint32_t mask = qp->type == QPT_RAW ? 0 : M_SQ_PSN;

	m->sq_psn = psn;
	m->timeout = 12 + fz_below(t, 4);
	m->retry_cnt = 3 + fz_below(t, 5);
	m->rnr_retry = fz_one_in(t, 4) ? fz_below(t, 8) : 7;
	m->max_rd_atomic = 1 + fz_below(t, 16);
	if (qp->type == QPT_RC)
		mask |= M_TIMEOUT | M_RETRY | M_RNR | M_RD;
	return modify(t, d, qp, FZ_TO_RTS, &cmd, RTS, mask);
}

/* Say what may be hit from the wire. Nobody minds a torn entry. */
static void publish(struct fz_thread *t, struct fz_dev *d, const struct fz_obj *qp, uint32_t psn)
{
	struct fz_obj *mr = fz_of_pd(t, d, T_MR, qp->pd);

	board->target[d->id][fz_below(t, TARGETS)] = (struct fz_target) {
		.qpn = qp->num, .psn = psn, .type = qp->type,
		.rkey = mr ? mr->rkey : 0, .addr = mr ? (uintptr_t)mr->at : 0,
	};
}

/* Connect two QPs of one type, from whatever state they are in. */
void fz_connect(struct fz_thread *t, struct fz_dev *d)
{
	struct fz_dev *to = &t->proc->dev[fz_one_in(t, 4) ? d->id : !d->id];
	struct fz_obj *a = fz_pick(t, d, T_QP), *b = NULL;
	uint32_t psn = fz_rand(t) & 0xffffff;
	int i;

	for (i = 0; i < OBJS && a; i++) {
		b = fz_pick(t, to, T_QP);
		if (b && b->type == a->type && (b != a || a->type >= QPT_UD) &&
		    (!b->rts || fz_one_in(t, 5)))
			break;
		b = NULL;
	}
	if (!a || !b || (a->rts && !fz_one_in(t, 8)))
		return;
	a->rts = false;
	b->rts = false;
	if (to_state(t, d, a, RESET) || to_state(t, to, b, RESET) ||
	    to_init(t, d, a) || (a != b && to_init(t, to, b)) ||
	    to_rtr(t, d, a, to, b, psn) || (a != b && to_rtr(t, to, b, d, a, psn)) ||
	    to_rts(t, d, a, psn) || (a != b && to_rts(t, to, b, psn)))
		return;
	a->peer = b;
	b->peer = a;
	a->life++;
	b->life++;
	a->to = to->id;
	b->to = d->id;
	a->rts = true;
	b->rts = true;
	if (!fz_one_in(t, 3))	/* these live longer */
		return;
	publish(t, d, a, psn);
	publish(t, to, b, psn);
}

void fz_modify_any(struct fz_thread *t, struct fz_dev *d)
{
	struct fz_obj *qp = fz_pick(t, d, T_QP);
	static const uint8_t states[] = { SQD, RTS, ERR, RESET, RTS };
	struct fz_cmd cmd = {};
	size_t i;

	if (!qp)
		return;
	if (!t->proc->wild) {
		if (fz_one_in(t, 4)) {
			qp->rts = false;
			to_state(t, d, qp, states[fz_below(t, 5)]);
		}
		return;
	}
	for (i = 0; i < sizeof(cmd.modify_qp); i++)
		cmd.raw[i] = fz_one_in(t, 4) ? fz_rand(t) : 1;
	modify(t, d, qp, FZ_TO_OTHER, &cmd, fz_below(t, 8),
	       fz_one_in(t, 2) ? fz_rand(t) & 0x1fffff : 0);
}

static void query_qp(struct fz_thread *t, struct fz_dev *d)
{
	union fz_resp resp;
	struct fz_cmd cmd = {};

	cmd.query_qp.qp_handle = fz_handle(t, d, T_QP);
	cmd.query_qp.attr_mask = 0x1fffff;
	fz_cmd(t, d, FZ_QUERY_QP, IB_USER_VERBS_CMD_QUERY_QP, &cmd, sizeof(cmd.query_qp), &resp,
	       sizeof(struct ib_uverbs_query_qp_resp));
}

/* Memory, rights or PD of a region change while it is used. */
static void rereg_mr(struct fz_thread *t, struct fz_dev *d)
{
	struct fz_obj *mr = fz_pick(t, d, T_MR), *pd = fz_pick(t, d, T_PD);
	union fz_resp resp = {};
	struct fz_cmd cmd = {};
	uint32_t flags = 1 + fz_below(t, 7);
	size_t len;

	if (!mr || !pd)
		return;
	len = mr->len >= 65536 ? mr->len / 2 : mr->len;
	cmd.rereg_mr.mr_handle = mr->handle;
	cmd.rereg_mr.flags = flags;
	cmd.rereg_mr.pd_handle = pd->handle;
	cmd.rereg_mr.access_flags = 0x1f | (fz_one_in(t, 3) << 6);
	cmd.rereg_mr.start = (uintptr_t)mr->at;
	cmd.rereg_mr.hca_va = cmd.rereg_mr.start;
	cmd.rereg_mr.length = len;
	if (fz_cmd(t, d, FZ_REREG_MR, IB_USER_VERBS_CMD_REREG_MR, &cmd, sizeof(cmd.rereg_mr),
		   &resp, 8))
		return;
	mr->lkey = resp.word[0];
	mr->rkey = resp.word[1];
	mr->len = flags & 1 ? len : mr->len;
	mr->pd = flags & 2 ? pd - d->obj[T_PD] : mr->pd;
}

/*
 * A provider holds its lock while it asks for another ring, as it may not post or poll
 * meanwhile; in a wild process it does.
 */
static void resize(struct fz_thread *t, struct fz_dev *d, enum fz_table table)
{
	struct sroce_abi_mmap mi = {};
	struct fz_obj *o = fz_pick(t, d, table);
	union fz_resp resp = {};
	struct fz_cmd cmd = {};
	int err;

	if (!o || pthread_mutex_trylock(&o->lock))
		return;
	if (table == T_CQ) {
		cmd.resize_cq.cq_handle = o->handle;
		cmd.resize_cq.cqe = 1 + fz_below(t, 1200);
		if (cmd.resize_cq.cqe < 200 && !fz_one_in(t, 4))
			cmd.resize_cq.cqe += 200;	/* or it would overflow soon */
		err = fz_cmd(t, d, FZ_RESIZE_CQ, IB_USER_VERBS_CMD_RESIZE_CQ, &cmd,
			     sizeof(cmd.resize_cq), &resp, 24);
		memcpy(&mi, &resp.word[2], sizeof(mi));
	} else {
		struct sroce_abi_modify_srq drv = { .mmap_info_addr = (uintptr_t)&mi };

		cmd.modify_srq.srq_handle = o->handle;
		cmd.modify_srq.attr_mask = 1 + fz_below(t, 3);
		cmd.modify_srq.max_wr = 1 + fz_below(t, 300);
		cmd.modify_srq.srq_limit = fz_below(t, 60);
		memcpy(cmd.modify_srq.driver_data, &drv, sizeof(drv));
		err = fz_cmd(t, d, FZ_MODIFY_SRQ, IB_USER_VERBS_CMD_MODIFY_SRQ, &cmd,
			     sizeof(cmd.modify_srq) + sizeof(drv), NULL, 0);
	}
	if (!err && mi.size)
		fz_replace(t, d, &o->ring[0], &mi);
	pthread_mutex_unlock(&o->lock);
}

#define GROUPS	4

/* A QP that is in a group, or any. It is UD, as few are, and few groups are the right ones. */
static struct fz_obj *in_group(struct fz_thread *t, struct fz_dev *d)
{
	struct fz_obj *qp = d->obj[T_QP];
	int i;

	for (i = fz_one_in(t, 2) ? 0 : OBJS; i < OBJS; i++)
		if (qp[i].state == LIVE && qp[i].groups)
			return &qp[i];
	return fz_pick(t, d, T_QP);
}

static void group(struct fz_thread *t, struct fz_dev *d)
{
	bool in = fz_one_in(t, 2);
	struct fz_obj *qp = in ? fz_pick(t, d, T_QP) : in_group(t, d);
	int nr = fz_below(t, GROUPS), err;
	struct fz_cmd cmd = {};

	if (!qp)
		return;
	if (!in && qp->groups && fz_one_in(t, 2))
		nr = __builtin_ctz(qp->groups);
	cmd.mcast.gid[10] = 0xff;
	cmd.mcast.gid[11] = 0xff;
	cmd.mcast.gid[12] = fz_one_in(t, 10) ? 10 : 239;
	cmd.mcast.gid[15] = nr;
	cmd.mcast.qp_handle = qp->handle;
	err = fz_cmd(t, d, in ? FZ_ATTACH : FZ_DETACH,
		     in ? IB_USER_VERBS_CMD_ATTACH_MCAST : IB_USER_VERBS_CMD_DETACH_MCAST, &cmd,
		     sizeof(cmd.mcast), NULL, 0);
	if (!in)
		qp->groups &= ~(1 << nr);
	else if (!err && cmd.mcast.gid[12] == 239)
		qp->groups |= 1 << nr;
}

/* Calls that only take a handle, or not even that */
static void simple(struct fz_thread *t, struct fz_dev *d, int which)
{
	union fz_resp resp;
	struct fz_cmd cmd = {};

	switch (which) {
	case 0:
		fz_cmd(t, d, FZ_QUERY_DEVICE, IB_USER_VERBS_CMD_QUERY_DEVICE, &cmd, 8, &resp,
		       sizeof(struct ib_uverbs_query_device_resp));
		break;
	case 1:
		cmd.query_port.port_num = fz_one_in(t, 20) ? 2 : 1;
		fz_cmd(t, d, FZ_QUERY_PORT, IB_USER_VERBS_CMD_QUERY_PORT, &cmd,
		       sizeof(cmd.query_port), &resp, sizeof(struct ib_uverbs_query_port_resp));
		break;
	case 2:
		cmd.notify.cq_handle = fz_handle(t, d, T_CQ);
		cmd.notify.solicited_only = fz_below(t, 2);
		fz_cmd(t, d, FZ_NOTIFY_CQ, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, &cmd,
		       sizeof(cmd.notify), NULL, 0);
		break;
	case 3:
		cmd.query_srq.srq_handle = fz_handle(t, d, T_SRQ);
		fz_cmd(t, d, FZ_QUERY_SRQ, IB_USER_VERBS_CMD_QUERY_SRQ, &cmd,
		       sizeof(cmd.query_srq), &resp, 16);
		break;
	case 4:
		cmd.poll_cq.cq_handle = fz_handle(t, d, T_CQ);
		cmd.poll_cq.ne = 4;
		fz_cmd(t, d, FZ_POLL_CQ, IB_USER_VERBS_CMD_POLL_CQ, &cmd, sizeof(cmd.poll_cq),
		       &resp, 8 + 4 * sizeof(struct ib_uverbs_wc));
		break;
	default:
		cmd.post_recv.qp_handle = fz_handle(t, d, which == 5 ? T_QP : T_SRQ);
		cmd.post_recv.wr_count = 1;
		cmd.post_recv.wqe_size = sizeof(struct ib_uverbs_recv_wr);
		fz_cmd(t, d, which == 5 ? FZ_POST_RECV : FZ_POST_SRQ_RECV,
		       which == 5 ? IB_USER_VERBS_CMD_POST_RECV : IB_USER_VERBS_CMD_POST_SRQ_RECV,
		       &cmd, sizeof(cmd.post_recv) + sizeof(struct ib_uverbs_recv_wr), &resp, 4);
		break;
	}
}

/* Channels and async files do not block. The lock keeps the file what it is. */
static void read_events(struct fz_thread *t, struct fz_dev *d)
{
	int n, err = 0, fd = d->async;
	struct fz_obj *chan;
	char buf[512];

	pthread_rwlock_rdlock(&t->proc->maps);
	chan = fz_pick(t, d, T_CHAN);
	if (chan && chan->state == LIVE && fz_one_in(t, 2))
		fd = chan->fd;
	for (n = 0; n < 8 && !err; n++) {
		fz_begin(t, FZ_EVENTS);
		err = fz_end(t, FZ_EVENTS, read(fd, buf, fz_one_in(t, 9) ? 3 : sizeof(buf)) < 0 ?
			     -1 : 0);
	}
	pthread_rwlock_unlock(&t->proc->maps);
}

/* Take pages away from regions, of which those on demand must find others. */
static void evict(struct fz_thread *t)
{
	size_t off = fz_below(t, ARENA / 4096) * 4096UL;
	size_t len = (1 + fz_below(t, 16)) * 4096UL;

	if (off + len > ARENA)
		len = ARENA - off;
	fz_begin(t, FZ_EVICT);
	fz_end(t, FZ_EVICT, madvise(t->proc->arena + off, len, MADV_DONTNEED));
}

/* How often each is done, by 100 in a tame and a wild process */
static const struct {
	uint8_t tame, wild;
} weights[] = {
	{ 23, 12 }, { 20, 8 }, { 10, 6 }, { 9, 16 }, { 6, 11 }, { 3, 10 }, { 4, 5 },
	{ 4, 4 }, { 1, 3 }, { 2, 4 }, { 4, 3 }, { 3, 3 }, { 3, 4 }, { 4, 6 }, { 2, 2 },
	{ 2, 3 },
};

static size_t pick_act(struct fz_thread *t)
{
	uint32_t w, n = fz_below(t, 100);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(weights) - 1; i++) {
		w = t->proc->wild ? weights[i].wild : weights[i].tame;
		if (n < w)
			break;
		n -= w;
	}
	return i;
}

/* One random act, in the order of weights[] */
void fz_act(struct fz_thread *t, struct fz_dev *d)
{
	switch (pick_act(t)) {
	case 0:
		fz_traffic(t, d);
		break;
	case 1:
		fz_poll(t, d);
		break;
	case 2:
		fz_connect(t, d);
		break;
	case 3:
		fz_create(t, d, fz_below(t, T_NUM));
		break;
	case 4:
		fz_create(t, d, T_QP);
		break;
	case 5:
		fz_destroy(t, d, fz_below(t, T_NUM));
		break;
	case 6:
		resize(t, d, T_CQ);
		break;
	case 7:
		resize(t, d, T_SRQ);
		break;
	case 8:
		rereg_mr(t, d);
		break;
	case 9:
		group(t, d);
		break;
	case 10:
		fz_advise(t, d);
		break;
	case 11:
		query_qp(t, d);
		break;
	case 12:
		fz_modify_any(t, d);
		break;
	case 13:
		simple(t, d, fz_below(t, 7));
		break;
	case 14:
		read_events(t, d);
		break;
	default:
		if (fz_one_in(t, 3))
			evict(t);
		else if (fz_one_in(t, 2))
			fz_ioctl(t, d);
		else
			fz_ex_write(t, d);
		break;
	}
	if (fz_one_in(t, 200))
		fz_gids(d);
}
