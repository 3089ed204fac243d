// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A run as it happens, line by line */

#include <stdarg.h>
#include <stdio.h>
#include "world.h"

static void print_time(const struct world *w)
{
	printf("%10llu.%03llu ", w->s->now / SC_US, w->s->now % SC_US);
}

static void print_aeth(const struct sroce_pkt *pkt)
{
	u8 value = pkt->syndrome & SROCE_AETH_VALUE;

	switch (pkt->syndrome & SROCE_AETH_TYPE) {
	case SROCE_AETH_ACK:
		printf(" ack");
		if (value != SROCE_AETH_NO_CREDITS)
			printf(" credits %u", value);
		break;
	case SROCE_AETH_RNR:
		printf(" RNR %u", value);
		break;
	default:
		printf(" NAK %u", value);
	}
	printf(" msn %u", pkt->msn);
}

void trace_packet(const struct world *w, const struct sim_packet *p,
		  const char *fate)
{
	u32 len = p->len - p->l3_len - 8, from = 0;
	struct sroce_pkt pkt = {};

	if (!w->verbose)
		return;
	while (from < w->n && w->s->kqp[from] != p->from)
		from++;
	print_time(w);
	printf("#%-4u %u>", w->impair.nr - 1, from);
	if (sroce_pkt_parse(&pkt, sim_bth(p), len, len)) {
		printf(" malformed\n");
		return;
	}
	printf(" %-22s psn %#08x", pkt.op->name, pkt.psn);
	if (pkt.op->flags & SROCE_PAYLOAD)
		printf(" %u bytes", pkt.payload_len);
	if (pkt.op->flags & (SROCE_RETH | SROCE_ATMETH))
		printf(" va %#llx rkey %#x", pkt.va, pkt.rkey);
	if (pkt.op->flags & SROCE_RETH)
		printf(" len %u", pkt.length);
	if (pkt.op->flags & SROCE_AETH)
		print_aeth(&pkt);
	printf("%s, arrives %llu.%03llu %s\n", pkt.ackreq ? " ackreq" : "",
	       p->when / SC_US, p->when % SC_US, fate);
}

void trace_cqe(const struct world *w, const struct host_run *hr, bool send,
	       const struct sroce_cqe *cqe)
{
	if (!w->verbose)
		return;
	print_time(w);
	printf("      host %u: %s %llu complete: %s, %u bytes\n", hr->nr,
	       send ? "op" : "receive", cqe->wr_id,
	       sc_status_name(cqe->status), cqe->byte_len);
}

void trace_note(const struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (!w->verbose)
		return;
	print_time(w);
	printf("      ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}
