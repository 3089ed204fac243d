// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the core asks for, and the two QPs with rings and memory. */

#include <stdlib.h>
#include <time.h>
#include <linux/slab.h>
#include "core.h"

/* Like pages of user memory, which hardly ever follow one another */
#define PAGE		4096U

/* Waits that were skipped */
static u64 skipped;

u64 sroce_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec + skipped;
}

void sroce_task_set_ack_timer(struct sroce_qp *qp, u64 when, u64 slack)
{
	qp->kqp->ack_when = when + slack;
}

bool sroce_cq_post(struct sroce_qp *qp, struct sroce_cq *cq, const struct sroce_cqe *cqe,
		   bool solicited, u32 deferred)
{
	(void)solicited;
	if (cqe->status != IB_WC_SUCCESS)
		sroce_count(qp, SROCE_CNT_WC_ERROR);
	cq->e[cq->n++ % CQES] = *cqe;
	qp->deferred |= deferred;
	return true;
}

struct sroce_mr *sroce_mr_find(struct sroce_qp *qp, u32 key)
{
	struct sroce_mr *mr = &qp->kqp->mr;

	if (mr->key != key)
		return NULL;
	mr->ref.refs++;
	return mr;
}

void sroce_mr_hold(struct sroce_mr *mr)
{
	mr->ref.refs++;
}

void sroce_mr_put(struct sroce_mr *mr)
{
	mr->ref.refs--;
}

struct sroce_mr *sroce_mr_enter(struct sroce_qp *qp, u32 key)
{
	return sroce_mr_find(qp, key);
}

void sroce_mr_leave(struct sroce_mr *mr)
{
	sroce_mr_put(mr);
}

bool sroce_srq_take_recv(struct sroce_qp *qp, struct sroce_rwqe *to)
{
	return sroce_wqe_fetch_recv(&qp->rq, to);
}

/* What one side asks the other doesn't answer. */
bool sroce_tx_fits(struct sroce_qp *qp, u32 len)
{
	(void)qp;
	(void)len;
	return false;
}

bool sroce_tx_join(struct sroce_qp *qp, u32 len)
{
	return sroce_tx_fits(qp, len);
}

void sroce_tx_idle(struct sroce_qp *qp)
{
	(void)qp;
}

/* There is always room: nothing is between the two. */
u32 sroce_tx_room(struct sroce_qp *qp, bool response)
{
	(void)qp;
	(void)response;
	return ~0U;
}

bool sroce_tx_wait_room(struct sroce_qp *qp, bool response)
{
	(void)qp;
	(void)response;
	return true;
}

bool sroce_tx_pending(struct sroce_qp *qp)
{
	(void)qp;
	return false;
}

bool sroce_loopback_usable(struct sroce_qp *qp)
{
	(void)qp;
	return false;
}

bool sroce_odp_used(const struct sroce_qp *qp)
{
	(void)qp;
	return false;
}

/* Packets behind one that was refused are not kept. */
void *sim_kmalloc(size_t len)
{
	(void)len;
	return NULL;
}

/* What RC QPs do not do that wait for no receive, and have no memory on demand */
#define NEVER(what, ...)	__attribute__((noreturn)) what(__VA_ARGS__) { abort(); }

void NEVER(sroce_task_set_rnr_timer, struct sroce_qp *, u64)
void NEVER(sroce_mr_drain, struct sroce_mr *)
bool NEVER(sroce_mr_is_committed, const struct sroce_mr *)
void NEVER(sroce_odp_leave, struct sroce_odp *)
void NEVER(*sroce_odp_span, struct sroce_odp *, u64, u32 *)
int NEVER(sroce_odp_enter, struct sroce_odp *, u64, u32, bool)
int NEVER(sroce_pager_fault_in, struct sroce_qp *, struct sroce_mr *, u64, u32, u32, bool)
struct sroce_ah *NEVER(sroce_ah_get, struct sroce_qp *, u32)
struct sroce_av *NEVER(sroce_ah_av, struct sroce_ah *)
void NEVER(sroce_ah_put, struct sroce_ah *)
int NEVER(sroce_raw_tx, struct sroce_qp *, const struct sroce_wqe *)
u32 NEVER(sroce_raw_max, struct sroce_qp *)
u32 NEVER(sroce_ud_max, struct sroce_qp *)
void NEVER(sroce_loopback_tx, struct sroce_qp *, struct sroce_lbpkt *)
struct sroce_lbpkt *NEVER(sroce_loopback_alloc, size_t)
void NEVER(sroce_loopback_release, struct sroce_lbpkt *)

static void *zeroed(size_t len)
{
	void *p = aligned_alloc(64, (len + 63) & ~63UL);

	memset(p, 0, len);
	return p;
}

static void ring_init(struct sroce_ring *r, u32 shift)
{
	r->buf = zeroed(sizeof(*r->buf) + ((size_t)SLOTS << shift));
	r->mask = SLOTS - 1;
	r->shift = shift;
}

static void mr_init(struct sroce_kqp *kqp, u32 key, u32 size)
{
	struct sroce_mr *mr = &kqp->mr;
	u32 i;

	kqp->mem = zeroed(size);
	mr->key = key;
	mr->iova = 0x10000000;
	mr->length = size;
	mr->access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
	mr->nr = (size + PAGE - 1) / PAGE;
	mr->ext = zeroed((mr->nr + 1) * sizeof(*mr->ext));
	for (i = 0; i < mr->nr; i++) {
		mr->ext[i].off = (u64)i * PAGE;
		mr->ext[i].addr = kqp->mem + (u64)i * PAGE;
	}
}

static void qp_init(struct sroce_kqp *kqp, enum ib_mtu mtu, u32 nr)
{
	struct sroce_qp *qp = &kqp->qp;
	struct ib_qp_attr *attr = &qp->attr;

	qp->kqp = kqp;
	qp->counters = &kqp->counters;
	qp->type = IB_QPT_RC;
	qp->svc = SROCE_SVC_RC;
	qp->user = true;
	qp->cc = true;
	qp->qpn = 0x11 + nr;
	qp->ibqp.qp_num = qp->qpn;
	qp->scq = &kqp->scq;
	qp->rcq = &kqp->rcq;
	qp->mtu = 128 << mtu;
	attr->path_mtu = mtu;
	attr->dest_qp_num = 0x11 + !nr;
	attr->qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
	attr->max_rd_atomic = 16;
	attr->max_dest_rd_atomic = 16;
	attr->timeout = 14;
	attr->retry_cnt = 7;
	attr->rnr_retry = 7;
	qp->resp.nres = attr->max_dest_rd_atomic;
	qp->resp.res = zeroed(qp->resp.nres * sizeof(*qp->resp.res));
	qp->resp.replays.q = zeroed(SROCE_REPLAYS_MAX * sizeof(*qp->resp.replays.q));
	sroce_req_set_read_buf(&qp->req, zeroed(sizeof(*qp->req.read_buf)));
}

static void queues_init(struct sroce_qp *qp)
{
	struct sroce_sq *sq = &qp->sq;

	sq->mask = SLOTS - 1;
	sq->max_sge = 1;
	sq->max_inline = 48;
	sq->stride = 128;
	sq->slots = zeroed(SLOTS * sq->stride);
	ring_init(&sq->ring, 8);
	qp->rq.max_wr = SLOTS - 1;
	qp->rq.max_sge = 1;
	ring_init(&qp->rq.ring, 6);
}

static void av_init(struct sroce_av *av, u8 from, u8 to)
{
	av->hop_limit = 64;
	av->sport = 0xc000;
	memset(av->sgid.raw + 10, 0xff, 2);
	memset(av->dgid.raw + 10, 0xff, 2);
	av->sgid.raw[12] = 10;
	av->sgid.raw[15] = from;
	av->dgid.raw[12] = 10;
	av->dgid.raw[15] = to;
}

/* Two connected QPs, each with a region of @size bytes */
void ends_new(struct sroce_kqp *ends, enum ib_mtu mtu, u32 size)
{
	u32 i, s;

	memset(ends, 0, 2 * sizeof(*ends));
	for (i = 0; i < 2; i++) {
		struct sroce_qp *qp = &ends[i].qp;

		ends[i].peer = &ends[!i];
		qp_init(&ends[i], mtu, i);
		queues_init(qp);
		/* one number, so that either finds its own region by it */
		mr_init(&ends[i], KEY(0), size);
		av_init(&qp->av, i + 1, !i + 1);
		sroce_reset_qp(qp);
		sroce_reset_path(qp);
		for (s = IB_QPS_INIT; s <= IB_QPS_RTS; s++) {
			if (s == IB_QPS_RTS)
				sroce_reset_req_psn(qp, qp->attr.sq_psn);
			sroce_state_enter(qp, s - 1, s);
		}
	}
}

void ends_free(struct sroce_kqp *ends)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct sroce_qp *qp = &ends[i].qp;

		free(qp->sq.slots);
		free(qp->sq.ring.buf);
		free(qp->rq.ring.buf);
		free(qp->resp.res);
		free(qp->resp.replays.q);
		free(qp->req.read_buf);
		free(ends[i].mr.ext);
		free(ends[i].mem);
	}
}

/* What the module does between locking and unlocking a QP */
void end_run(struct sroce_kqp *kqp)
{
	kqp->more = sroce_transport_run(&kqp->qp);
	kqp->qp.deferred = 0;
	kqp->qp.events = 0;
}

/* Let one train arrive, or one QP send more. Return: false if there was nothing to do. */
bool ends_work(struct sroce_kqp *ends)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct train *t = train_take(&ends[i]);

		if (t) {
			train_receive(ends[i].peer, t);
			end_run(ends[i].peer);
			return true;
		}
	}
	for (i = 0; i < 2; i++) {
		if (ends[i].more) {
			end_run(&ends[i]);
			return true;
		}
	}
	return false;
}

/* Nothing else is left to do: the next timer fires at once. Return: false if none is set. */
bool ends_skip_wait(struct sroce_kqp *ends)
{
	struct sroce_kqp *kqp = &ends[0];
	u64 now = sroce_now();

	if (!kqp->ack_when || (ends[1].ack_when && ends[1].ack_when < kqp->ack_when))
		kqp = &ends[1];
	if (!kqp->ack_when)
		return false;
	if (kqp->ack_when > now)
		skipped += kqp->ack_when - now;
	kqp->ack_when = 0;
	sroce_retrans_timer(&kqp->qp);
	end_run(kqp);
	return true;
}
