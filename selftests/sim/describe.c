// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A scenario in words */

#include <stdio.h>
#include "scenario.h"

#define SC_NAME(id, name, what) #name,
#define SC_WHAT(id, name, what) what,

const char *const sc_class_name[SC_CLASS_NUM] = { SC_CLASSES(SC_NAME) };
const char *const sc_class_what[SC_CLASS_NUM] = { SC_CLASSES(SC_WHAT) };

const char *sc_op_name(u32 opcode)
{
	static const char *const names[] = {
		[IB_WR_SEND] = "SEND", [IB_WR_SEND_WITH_IMM] = "SEND_IMM",
		[IB_WR_SEND_WITH_INV] = "SEND_INV",
		[IB_WR_RDMA_WRITE] = "WRITE",
		[IB_WR_RDMA_WRITE_WITH_IMM] = "WRITE_IMM",
		[IB_WR_RDMA_READ] = "READ",
		[IB_WR_ATOMIC_CMP_AND_SWP] = "CMP_SWP",
		[IB_WR_ATOMIC_FETCH_AND_ADD] = "FETCH_ADD",
		[SROCE_WR_FLUSH] = "FLUSH",
		[SROCE_WR_ATOMIC_WRITE] = "ATOMIC_WRITE",
		[IB_WR_BIND_MW] = "BIND_MW", [IB_WR_LOCAL_INV] = "LOCAL_INV",
	};

	return names[opcode];
}

const char *sc_bad_name(u32 bad)
{
	static const char *const names[SC_BADS] = {
		"", "unknown rkey", "out of range", "no right", "unaligned",
		"bad lkey", "bad lkey at the end", "bad opcode",
		"too many SGEs", "inline too long", "atomic of other than 8",
		"receive too short", "receive with a bad lkey",
		"window out of range",
		"longer than the MTU", "bad AH", "bad Q_Key",
	};

	return names[bad];
}

const char *sc_status_name(u32 status)
{
	static const char *const names[] = {
		"success", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR",
		"LOC_PROT_ERR", "WR_FLUSH_ERR", "MW_BIND_ERR", "BAD_RESP_ERR",
		"LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR",
		"REM_OP_ERR", "RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR",
		"LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR",
	};

	return status < ARRAY_SIZE(names) ? names[status] : "?";
}

static void print_op(const struct sc_op *op, u32 host, u32 i, bool ud)
{
	printf("  host %u op %2u: at %llu us %s %u bytes", host, i,
	       op->when / SC_US, sc_op_name(op->opcode), op->len);
	if (op->flags & IB_SEND_INLINE)
		printf(" inline");
	else if (op->nsge != 1)
		printf(" %u SGEs", op->nsge);
	if (op->via)
		printf(" by a window");
	if (op->whole)
		printf(" and all there is");
	if (op->inv)
		printf(" of that window");
	if (op->deep)
		printf(" of zeros");
	if (op->flags & IB_SEND_FENCE)
		printf(" fence");
	if (op->flags & IB_SEND_SOLICITED)
		printf(" solicited");
	if (!(op->flags & IB_SEND_SIGNALED))
		printf(" unsignaled");
	if (ud)
		printf(" to host %u", op->dest);
	if (sc_is_atomic(op->opcode))
		printf(" word %u", op->word);
	if (op->of >= 0)
		printf(" %s op %d", sc_is_write(op->opcode) ?
		       "over what is read by" : "of what was written by",
		       op->of);
	if (op->bad)
		printf(", %s", sc_bad_name(op->bad));
	printf("\n");
}

static void print_host(const struct scenario *sc, u32 nr)
{
	const struct sc_host *h = &sc->host[nr];
	u32 i;

	if (h->recv_late || h->recv_gap)
		printf("  host %u: receives posted from %llu us on, every %llu us\n",
		       nr, h->recv_late / SC_US, h->recv_gap / SC_US);
	if (h->rts_late)
		printf("  host %u: RTR until %llu us\n", nr,
		       h->rts_late / SC_US);
	if (h->no_access)
		printf("  host %u: no remote access\n", nr);
	for (i = 0; i < h->nops; i++)
		if (!h->op[i].skip)
			print_op(&h->op[i], nr, i, sc->cfg.type == IB_QPT_UD);
}

static void print_faults(const struct sc_faults *f)
{
	u32 i;

	printf("  faults of 10000: drop %u (in rows of %u), twice %u, late %u (up to %llu us), corrupt %u, cut %u, tx fails %u; sides %u, queue %u\n",
	       f->drop, f->burst, f->dup, f->late, f->late_max / SC_US,
	       f->corrupt, f->cut, f->tx_fail, f->dirs, f->queue);
	if (f->one >= 0)
		printf("  packet %d is lost\n", f->one);
	for (i = 0; i < 2; i++)
		if (f->blackout_len[i])
			printf("  dark from %llu us for %llu us\n",
			       f->blackout_from[i] / SC_US, f->blackout_len[i] / SC_US);
}

static void print_fates(const struct scenario *sc)
{
	u32 i;

	for (i = 0; i < sc->nfates; i++)
		if (!sc->fate[i].skip)
			printf("  packet %u: %c %llu\n", sc->fate[i].nr,
			       sc->fate[i].what, sc->fate[i].arg);
}

static void print_foreign(const struct scenario *sc)
{
	static const char *const resps[FOREIGN_RESPS] = { "our", "rdma_rxe's", "a strict" };
	u32 i;

	for (i = 0; i < 2; i++) {
		const struct foreign_rules *f = &sc->foreign[i];

		if (sc_is_foreign(sc, i))
			printf("  side %u has %s responder, an ACK for %u messages%s\n", i,
			       resps[f->resp], f->ack_every,
			       f->back_n ? ", and sends all again from the newest ACK on" : "");
	}
}

/**
 * scenario_print() - what is to happen
 * @sc: the scenario
 */
void scenario_print(const struct scenario *sc)
{
	static const char *const kinds[ACT_KINDS] = {
		"local memory deregistered", "target deregistered",
		"receive memory deregistered", "to ERR", "to SQD and RTS",
		"to SQD with notice, and RTS", "to RESET", "destroyed",
	};
	const struct sim_cfg *c = &sc->cfg;
	u32 i;

	printf("seed %llu (%s): %s, MTU %u, PSN %#x, timeout %u, retry %u, rnr_retry %u, rnr_timer %u, rd_atomic %u/%u, %u slots, IPv%c\n",
	       sc->seed, sc_class_name[sc->class],
	       c->type == IB_QPT_RC ? "RC" : c->type == IB_QPT_UC ? "UC" : "UD",
	       sc_mtu(sc), c->psn, c->timeout, c->retry_cnt, c->rnr_retry,
	       c->min_rnr_timer, c->rd_atomic, c->dest_rd_atomic, c->slots,
	       c->v6 ? '6' : '4');
	printf("  %u pair(s)%s%s, latency %llu ns + %llu, %u ns per KB, kick %llu ns, doorbell each %u, pieces of %u%s%s\n",
	       sc->pairs, sc->srq ? " with SRQs" : "",
	       sc->loopback ? " on one host" : "", sc->latency, sc->jitter,
	       sc->ns_per_kb, sc->task_delay_max, sc->batch, sc->chunk,
	       sc->backn[0] ? ", side 0 goes back N" : "",
	       sc->backn[1] ? ", side 1 goes back N" : "");
	if (sc->prior_events || sc->sig_all || sc->ofo_max || sc->srq_limit)
		printf("  RESET after %u events, %s signaled, %u kept after a gap, SRQ limit %u\n",
		       sc->prior_events, sc->sig_all ? "all" : "some", sc->ofo_max,
		       sc->srq_limit);
	if (sc->gap_policy[0] || sc->gap_policy[1] || sc->short_recv)
		printf("  take the other for %u and %u, receives lack %u bytes\n",
		       sc->gap_policy[0], sc->gap_policy[1], sc->short_recv);
	print_foreign(sc);
	if (sc->mark || sc->cc_off)
		printf("  %u packets of 10000 are marked; sides without congestion control: %u\n",
		       sc->mark, sc->cc_off);
	if (sc->answers || sc->ack_off)
		printf("  sides that are taken to answer soon: %u, that never hold an ACK: %u\n",
		       sc->answers, sc->ack_off);
	if (sc->turn_delay)
		printf("  they answer each other within %llu us\n", sc->turn_delay / SC_US);
	if (sc->timer_late)
		printf("  ACK timers are %llu us late\n", sc->timer_late / SC_US);
	if (sc->page_delay)
		printf("  on demand: %x and %x, %s pages of %u come within %llu us, one goes in %u events\n",
		       sc->on_demand[0], sc->on_demand[1],
		       sc->page_few ? "just the" : "all", sc->page_size,
		       sc->page_delay / SC_US, sc->evict_every);
	printf("  %u receives in a ring, %u completions in a CQ, trains of %u\n",
	       c->rq_slots - 1, c->cqe, sc->train);
	if (sc->scripted)
		print_fates(sc);
	else
		print_faults(&sc->faults);
	for (i = 0; i < 2 * sc->pairs; i++)
		print_host(sc, i);
	for (i = 0; i < sc->nacts; i++)
		if (!sc->act[i].skip)
			printf("  host %u: at %llu us %s (%llu us)\n",
			       sc->act[i].host, sc->act[i].when / SC_US,
			       kinds[sc->act[i].kind], sc->act[i].len / SC_US);
}
