// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requester: turns work requests into request packets (9.7.3, 9.8, 9.9).
 *
 * Progress of a message is a function of its PSNs alone: packet n of a work
 * request has PSN first_psn + n and offset n * mtu. Resending is therefore no
 * more than moving req.psn back.
 */

#include <linux/string.h>
#include "env.h"
#include "trace.h"

/* Most PSNs between una and psn, so that comparisons hold (9.7.1) */
#define PSN_SPAN_MAX (1 << 22)
/* PSNs that one message can't have, not even alone */
#define PSN_HALF (1 << 23)

static bool is_rc(const struct sroce_qp *qp)
{
	return qp->svc == SROCE_SVC_RC;
}

static u32 wqe_psns(const struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	if (wqe->msg >= SROCE_MSG_CMP_SWP || qp->svc == SROCE_SVC_UD)
		return 1;
	return sroce_psn_count(wqe->length, qp->mtu);
}

/* Request packets on their way, not counting the responses of READs */
static s32 in_flight(const struct sroce_qp *qp)
{
	return sroce_psn_diff(qp->req.psn, qp->req.una) - (s32)qp->req.read_psns;
}

static bool window_open(const struct sroce_qp *qp)
{
	return !is_rc(qp) || in_flight(qp) < SROCE_WINDOW;
}

/**
 * sroce_req_idle() - whether nothing is under way
 * @qp: the QP
 *
 * Return: true if no message is half sent or waits for its response.
 */
bool sroce_req_idle(const struct sroce_qp *qp)
{
	return qp->sq.cons == qp->sq.prod ||
	       !sroce_sq_wqe(&qp->sq, qp->sq.cons)->started;
}

static bool may_start(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	const struct sroce_req *req = &qp->req;
	u32 span = sroce_psn_diff(req->psn, req->una);

	if (!sroce_qp_may_start(qp))
		return false;
	if (!is_rc(qp))
		return true;
	if (wqe->flags & IB_SEND_FENCE && req->reads)
		return false;
	if (sroce_wqe_responds(wqe) && req->reads >= qp->attr.max_rd_atomic)
		return false;
	/* the longest go alone */
	return !span || span + wqe_psns(qp, wqe) < PSN_SPAN_MAX;
}

static void start(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	struct sroce_req *req = &qp->req;
	u32 n = wqe_psns(qp, wqe);

	wqe->started = true;
	wqe->first_psn = req->psn;
	wqe->last_psn = sroce_psn_add(req->psn, n - 1);
	req->ssn = sroce_psn_add(req->ssn, 1);
	if (is_rc(qp) && sroce_wqe_responds(wqe)) {
		req->reads++;
		req->read_psns += n - 1;
	}
}

/*
 * The work request before @wqe may have been sent without asking for an
 * acknowledge, because @wqe was to follow. Now it won't: ask by a duplicate.
 */
static void ask_late(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	u32 prev = (qp->req.next - 1) & qp->sq.mask;

	if (sroce_wqe_responds(sroce_sq_wqe(&qp->sq, prev)))
		return;
	sroce_req_seek(qp, sroce_psn_add(wqe->first_psn, -1));
	qp->req.unasked = SROCE_ACK_EVERY;
}

/* A work request that can't be executed: its turn comes after older ones. */
static void give_up(struct sroce_qp *qp, struct sroce_wqe *wqe,
		    enum ib_wc_status status)
{
	bool late = wqe->status == IB_WC_SUCCESS;

	wqe->status = status;
	if (qp->req.next == qp->sq.cons)
		sroce_sq_fail(qp, status);
	else if (late && wqe->started)
		ask_late(qp, wqe);
}

/* What would keep may_start() from ever saying yes */
static enum ib_wc_status check_possible(struct sroce_qp *qp,
					const struct sroce_wqe *wqe)
{
	if (!is_rc(qp))
		return IB_WC_SUCCESS;
	if (sroce_wqe_responds(wqe) && !qp->attr.max_rd_atomic)
		return IB_WC_LOC_QP_OP_ERR;
	if (wqe_psns(qp, wqe) >= PSN_HALF)
		return IB_WC_LOC_LEN_ERR;
	return IB_WC_SUCCESS;
}

/* The work request to send from, started; NULL if nothing may be sent now. */
static struct sroce_wqe *current_wqe(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_wqe *wqe;

	if (req->next == qp->sq.prod && !sroce_sq_fetch(qp))
		return NULL;
	wqe = sroce_sq_wqe(&qp->sq, req->next);
	/* In SQD it waits, whatever is wrong with it. */
	if (!wqe->started && !sroce_qp_may_start(qp))
		return NULL;
	if (!wqe->started && wqe->status == IB_WC_SUCCESS)
		wqe->status = check_possible(qp, wqe);
	if (wqe->status != IB_WC_SUCCESS) {
		give_up(qp, wqe, wqe->status);
		return NULL;
	}
	if (!wqe->started) {
		if (!may_start(qp, wqe))
			return NULL;
		start(qp, wqe);
	}
	return wqe;
}

/* Whether another packet would follow at once */
static bool more_to_send(struct sroce_qp *qp)
{
	const struct sroce_wqe *wqe;

	if (!window_open(qp))
		return false;
	if (qp->req.next == qp->sq.prod && !sroce_sq_fetch(qp))
		return false;
	wqe = sroce_sq_wqe(&qp->sq, qp->req.next);
	if (wqe->status != IB_WC_SUCCESS)
		return false;
	return wqe->started || may_start(qp, wqe);
}

static void fill_bth(struct sroce_qp *qp, struct sroce_pkt *pkt,
		     const struct sroce_wqe *wqe, bool last)
{
	pkt->op = &sroce_opcodes[pkt->opcode];
	pkt->pkey = SROCE_PKEY_FULL;
	pkt->migreq = qp->attr.path_mig_state == IB_MIG_MIGRATED;
	pkt->psn = qp->req.psn;
	pkt->solicited = last && wqe->flags & IB_SEND_SOLICITED &&
			 pkt->op->flags & SROCE_RECV;
	if (qp->svc == SROCE_SVC_UD) {
		pkt->qpn = wqe->remote_qpn;
		/* 10.2.5: a controlled Q_Key means "the QP's own" */
		pkt->qkey = (s32)wqe->remote_qkey < 0 ? qp->attr.qkey :
							wqe->remote_qkey;
		pkt->sqpn = qp->qpn;
	} else {
		pkt->qpn = qp->attr.dest_qp_num;
		pkt->va = wqe->remote_addr;
		pkt->rkey = wqe->rkey;
		pkt->swap_add = wqe->msg == SROCE_MSG_CMP_SWP ? wqe->swap :
								wqe->compare_add;
		pkt->compare = wqe->msg == SROCE_MSG_CMP_SWP ?
			       wqe->compare_add : 0;
	}
	pkt->imm = wqe->imm;
	pkt->inv_rkey = wqe->inv_rkey;
}

/* Advance over the packet just built; a READ takes all its PSNs at once. */
static void advance(struct sroce_qp *qp, const struct sroce_wqe *wqe, bool last)
{
	struct sroce_req *req = &qp->req;

	if (wqe->msg == SROCE_MSG_READ)
		req->psn = sroce_psn_add(wqe->last_psn, 1);
	else
		req->psn = sroce_psn_add(req->psn, 1);
	if (sroce_psn_diff(req->psn, req->max_psn) > 0)
		req->max_psn = req->psn;
	if (last)
		req->next = sroce_sq_next(&qp->sq, req->next);
}

/*
 * An acknowledge is asked for where the flow would otherwise stop, and now and
 * then within it; a READ or atomic answers for itself (9.7.5.1.2).
 */
static bool ask_for_ack(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	if (!is_rc(qp) || sroce_wqe_responds(wqe))
		return false;
	if (++qp->req.unasked < SROCE_ACK_EVERY && more_to_send(qp))
		return false;
	qp->req.unasked = 0;
	return true;
}

static void write_packet(struct sroce_qp *qp, struct sroce_wqe *wqe,
			 struct sroce_pkt *pkt, u8 *p)
{
	u32 pad = pkt->pad;

	memset(p + pkt->op->hdr_len + pkt->payload_len, 0, pad);
	sroce_pkt_build(pkt, p);
	trace_sroce_tx(qp, pkt);
	sroce_tx_commit(qp);
}

/* Build and queue one packet of @wqe at req.psn. false: it can't be executed. */
static bool send_packet(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	u32 off = sroce_psn_diff(qp->req.psn, wqe->first_psn) * qp->mtu;
	bool again = sroce_psn_diff(qp->req.psn, qp->req.max_psn) < 0;
	bool responds = sroce_wqe_responds(wqe);
	struct sroce_pkt pkt = {};
	struct sroce_av *av;
	bool first, last;
	u8 *p;

	pkt.payload_len = responds ? 0 : min(qp->mtu, wqe->length - off);
	first = responds || !off;
	last = responds || off + pkt.payload_len == wqe->length;
	pkt.opcode = sroce_msg_opcode(qp->svc, wqe->msg, first, last);
	fill_bth(qp, &pkt, wqe, last);
	if (wqe->msg == SROCE_MSG_READ)
		pkt.va += off;
	pkt.length = wqe->length - off;
	pkt.pad = -pkt.payload_len & 3;

	av = qp->svc == SROCE_SVC_UD ? sroce_ah_av(wqe->ah) : &qp->av;
	p = sroce_tx_begin(qp, av, pkt.op->hdr_len + pkt.payload_len + pkt.pad);
	/* No packet: as good as lost on the wire, and healed the same way. */
	if (p && sroce_wqe_gather(qp, wqe, off, p + pkt.op->hdr_len,
				  pkt.payload_len)) {
		sroce_tx_abort(qp);
		return false;
	}
	if (again)
		sroce_count(qp, SROCE_CNT_RETRANSMIT);
	advance(qp, wqe, last);
	pkt.ackreq = ask_for_ack(qp, wqe);
	if (p)
		write_packet(qp, wqe, &pkt, p);
	/* UC and UD are done with a message once it is sent. */
	if (!is_rc(qp) && last)
		sroce_sq_complete(qp, IB_WC_SUCCESS);
	return true;
}

static u64 ack_timeout(const struct sroce_qp *qp)
{
	return qp->attr.timeout ? 4096ULL << qp->attr.timeout : 0;
}

/**
 * sroce_req_watch() - see to the acknowledge timer after @una or @psn moved
 * @qp: the QP
 *
 * The deadline belongs to the oldest packet: new work does not postpone it.
 */
void sroce_req_watch(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	u64 timeout = ack_timeout(qp);

	if (!timeout || req->rnr_wait || req->max_psn == req->una) {
		req->deadline = 0;
		return;
	}
	if (!req->deadline) {
		req->deadline = sroce_now() + timeout;
		sroce_timer_ack(qp, req->deadline);
	}
}

static void check_drained(struct sroce_qp *qp)
{
	if (qp->state != IB_QPS_SQD || qp->drained || !sroce_req_idle(qp))
		return;
	qp->drained = true;
	if (qp->attr.en_sqd_async_notify)
		sroce_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

/**
 * sroce_req_run() - send what may be sent
 * @qp: the QP
 * @budget: most packets to send
 *
 * Return: whether the budget ran out with more to send.
 */
bool sroce_req_run(struct sroce_qp *qp, u32 budget)
{
	while (budget && sroce_qp_may_send(qp) && !qp->req.rnr_wait &&
	       window_open(qp)) {
		struct sroce_wqe *wqe = current_wqe(qp);

		if (!wqe)
			break;
		if (!send_packet(qp, wqe))
			give_up(qp, wqe, IB_WC_LOC_PROT_ERR);
		budget--;
	}
	if (is_rc(qp) && sroce_qp_may_send(qp))
		sroce_req_watch(qp);
	check_drained(qp);
	return !budget;
}

/**
 * sroce_req_seek() - go back, or forward, to a PSN and send from there
 * @qp: the QP
 * @psn: between una and max_psn
 */
void sroce_req_seek(struct sroce_qp *qp, u32 psn)
{
	struct sroce_req *req = &qp->req;
	u32 i;

	req->psn = psn;
	for (i = qp->sq.cons; i != qp->sq.prod; i = sroce_sq_next(&qp->sq, i)) {
		const struct sroce_wqe *wqe = sroce_sq_wqe(&qp->sq, i);

		if (!wqe->started || sroce_psn_diff(psn, wqe->last_psn) <= 0)
			break;
	}
	req->next = i;
}

/**
 * sroce_req_timeout() - the acknowledge timer fired (9.7.6.1.3)
 * @qp: the QP
 */
void sroce_req_timeout(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	if (!req->deadline || !sroce_qp_may_send(qp))
		return;
	if (sroce_now() < req->deadline) {
		sroce_timer_ack(qp, req->deadline);
		return;
	}
	req->deadline = 0;
	sroce_count(qp, SROCE_CNT_TIMEOUT);
	if (!req->retries) {
		sroce_count(qp, SROCE_CNT_RETRY_EXC);
		sroce_sq_fail(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	req->retries--;
	req->rewound = true;
	req->unasked = SROCE_ACK_EVERY;
	sroce_req_seek(qp, req->una);
}

/**
 * sroce_req_rnr_over() - the RNR timer fired
 * @qp: the QP
 */
void sroce_req_rnr_over(struct sroce_qp *qp)
{
	qp->req.rnr_wait = false;
}
