// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers that are not us.
 *
 * Both foreign responders drop what is early, with one NAK per gap, and serve requests
 * strictly in the order of their arrival. Ours serves repeats first; so a repeated request
 * that arrives while responses are left to send has to wait, and all behind it.
 *
 * rdma_rxe serves a repeated READ only if it begins no lower than the repeat of the same
 * READ that it served last. Strict hardware ends the connection when more READs, atomics
 * and FLUSHes are outstanding than it has resources for, and a repeat counts as another.
 *
 * A foreign requester keeps nothing of what it was told: after a NAK or a timeout it
 * sends everything from the newest ACK on again. It does not probe.
 */

#include <stdlib.h>
#include "drv/core/rc/resp_tx.h"
#include "foreign.h"

/* Longest time that strict hardware delays an ACK, in ns */
#define ACK_DELAY	20000
/* More than any number of probes that there may be */
#define PROBES_ALL	1000

/* The lowest address that rdma_rxe serves of one READ */
struct floor {
	bool	set;
	u32	first_psn;	/* of the READ */
	u64	va;
};

struct peer {
	struct foreign_rules	rules;
	struct sim_packet	*head, **tail;	/* requests that wait */
	u32			waiting;	/* how many, the one that was let go included */
	u32			reads;		/* those among them that take a resource */
	bool			let_go;		/* one is on its way to the responder */
	u32			psn;		/* expected after those that wait */
	u32			acked_msn;
	u64			ack_due;	/* 0: no ACK is delayed */
	struct floor		floor[SROCE_MAX_RD_ATOMIC];
};

struct foreign {
	struct peer	peer[SIM_KQPS];
};

static struct peer *peer_of(const struct sroce_kqp *kqp)
{
	struct foreign *f = kqp->sim->foreign;

	return &f->peer[kqp->nr];
}

static bool takes_resource(const struct sroce_pkt *pkt)
{
	return pkt->op->flags & SROCE_HAS_RESPONSE;
}

static bool is_busy(const struct sroce_resp *resp)
{
	return resp->fifo.n || resp->replays.n;
}

static u32 psns_of(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return pkt->op->flags & SROCE_READING ? sroce_psn_count(pkt->length, qp->mtu) : 1;
}

/* The one that a repeated READ is about, or NULL */
static const struct sroce_res *res_of(const struct sroce_resp *resp, u32 psn)
{
	u32 i;

	for (i = 1; i <= resp->nres; i++) {
		const struct sroce_res *res =
			&resp->res[(resp->head + resp->nres - i) % resp->nres];

		if (res->valid && sroce_psn_diff(psn, res->first_psn) >= 0 &&
		    sroce_psn_diff(psn, res->last_psn) <= 0)
			return res;
	}
	return NULL;
}

/* duplicate_request() of rdma_rxe, for READs */
static bool rxe_serves(struct peer *fp, const struct sroce_resp *resp,
		       const struct sroce_pkt *pkt)
{
	const struct sroce_res *res = res_of(resp, pkt->psn);
	struct floor *fl;

	if (!res || res->single)
		return true;
	fl = &fp->floor[res - resp->res];
	if (!fl->set || fl->first_psn != res->first_psn)
		*fl = (struct floor){ true, res->first_psn, res->va };
	if (pkt->va < fl->va || pkt->length > res->length ||
	    pkt->va + pkt->length > fl->va + res->length)
		return false;
	fl->va = pkt->va;
	return true;
}

/* As our responder refuses a request for good; the NAK has the PSN of the repeat. */
static void refuse(struct sroce_qp *qp, u32 psn)
{
	sroce_qp_event(qp, IB_EVENT_QP_REQ_ERR);
	sroce_resp_tx_nak(qp, SROCE_NAK_INV_REQ);
	qp->resp.aeth_psn = psn;
	qp->resp.closing = true;
}

static void keep(struct peer *fp, const struct sroce_qp *qp, const struct sim_packet *p,
		 const struct sroce_pkt *pkt)
{
	struct sim_packet *copy = sim_packet_copy(p);

	if (!fp->waiting)
		fp->psn = qp->resp.psn;
	if (pkt->psn == fp->psn)
		fp->psn = sroce_psn_add(fp->psn, psns_of(qp, pkt));
	copy->kept = true;
	copy->next = NULL;
	if (!fp->head)
		fp->tail = &fp->head;
	*fp->tail = copy;
	fp->tail = &copy->next;
	fp->waiting++;
	fp->reads += takes_resource(pkt);
}

/* More outstanding than there are resources; what is early is not executed at all */
static bool is_too_many(const struct peer *fp, const struct sroce_resp *resp,
			const struct sroce_pkt *pkt)
{
	u32 expected = fp->waiting ? fp->psn : resp->psn;

	return takes_resource(pkt) && sroce_psn_diff(pkt->psn, expected) <= 0 &&
	       resp->fifo.n + resp->replays.n + fp->reads >= resp->nres;
}

/* A request arrives. Return: whether the responder gets it now. */
static bool serves(struct peer *fp, struct sroce_qp *qp, const struct sim_packet *p,
		   const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	bool again = sroce_psn_diff(pkt->psn, resp->psn) < 0;

	if (resp->closing)
		return false;
	if (p->kept) {
		fp->let_go = false;
		fp->waiting--;
		fp->reads -= takes_resource(pkt);
	} else {
		if (fp->rules.resp == FOREIGN_RESP_STRICT && is_too_many(fp, resp, pkt)) {
			refuse(qp, pkt->psn);
			return false;
		}
		if (fp->waiting || (again && is_busy(resp))) {
			keep(fp, qp, p, pkt);
			return false;
		}
	}
	return fp->rules.resp != FOREIGN_RESP_RXE || !again ||
	       !(pkt->op->flags & SROCE_READING) || rxe_serves(fp, resp, pkt);
}

/* Nothing that was learned of the peer counts. */
static void forget_peer(struct sroce_req *req)
{
	req->retrans.gap_policy = SROCE_GAP_DROPS;
	req->retrans.doubt = 0;
	req->retrans.probes = PROBES_ALL;
}

static bool arrives(struct sim *s, struct sroce_kqp *kqp, const struct sim_packet *p,
		    const struct sroce_pkt *pkt)
{
	struct peer *fp = peer_of(kqp);
	struct sroce_qp *qp = &kqp->qp;

	(void)s;
	if (fp->rules.back_n)
		forget_peer(&qp->req);
	if (!fp->rules.resp || pkt->op->flags & SROCE_RESPONSE || !sroce_qp_may_receive(qp))
		return true;
	return serves(fp, qp, p, pkt);
}

/* An ACK that nobody has asked for, after some messages or some time */
static void acknowledge(struct peer *fp, struct sroce_qp *qp, u64 now)
{
	struct sroce_resp *resp = &qp->resp;
	u32 n = sroce_psn_diff(resp->msn, fp->acked_msn);

	if (!n || resp->closing) {
		fp->ack_due = 0;
		return;
	}
	if (!resp->aeth && n < fp->rules.ack_every && (!fp->ack_due || now < fp->ack_due)) {
		if (!fp->ack_due)
			fp->ack_due = now + ACK_DELAY;
		return;
	}
	if (!resp->aeth)
		sroce_resp_tx_ack(qp, sroce_psn_add(resp->psn, -1));
	fp->acked_msn = resp->msn;
	fp->ack_due = 0;
}

static void before_run(struct sim *s, struct sroce_kqp *kqp)
{
	struct peer *fp = peer_of(kqp);

	if (fp->rules.back_n)
		forget_peer(&kqp->qp.req);
	if (fp->rules.resp == FOREIGN_RESP_STRICT && sroce_qp_may_receive(&kqp->qp))
		acknowledge(fp, &kqp->qp, s->now);
}

/* What waits goes to the responder, one by one, each when all before was answered. */
static void after_run(struct sim *s, struct sroce_kqp *kqp)
{
	struct peer *fp = peer_of(kqp);
	struct sim_packet *p = fp->head;

	if (!sroce_qp_may_receive(&kqp->qp))
		return;
	if (fp->ack_due && (!kqp->task_when || kqp->task_when > fp->ack_due))
		kqp->task_when = fp->ack_due;
	if (!p || fp->let_go || is_busy(&kqp->qp.resp))
		return;
	fp->head = p->next;
	fp->let_go = true;
	p->when = s->now;
	sim_wire_put(s, p);
}

/**
 * foreign_set() - make something of a QP foreign
 * @kqp: the QP, RC, before it is used
 * @rules: what
 */
void foreign_set(struct sroce_kqp *kqp, const struct foreign_rules *rules)
{
	struct sim *s = kqp->sim;
	struct peer *fp;

	if (!s->foreign)
		s->foreign = calloc(1, sizeof(struct foreign));
	s->arrives = arrives;
	s->before_run = before_run;
	s->after_run = after_run;
	fp = peer_of(kqp);
	fp->rules = *rules;
	fp->acked_msn = kqp->qp.resp.msn;
	if (rules->resp)
		kqp->qp.resp.ofo_max = 0;
}

/**
 * foreign_waiting() - requests that a foreign responder has not looked at yet
 * @kqp: the QP
 */
u32 foreign_waiting(const struct sroce_kqp *kqp)
{
	return kqp->sim->foreign ? peer_of(kqp)->waiting : 0;
}

/**
 * foreign_end() - free what foreign peers have kept
 * @s: the simulation, before sim_end()
 */
void foreign_end(struct sim *s)
{
	struct foreign *f = s->foreign;
	struct sim_packet *p;
	u32 i;

	for (i = 0; f && i < s->kqps; i++)
		while ((p = f->peer[i].head)) {
			f->peer[i].head = p->next;
			sim_packet_free(p);
		}
	free(f);
	s->foreign = NULL;
}
