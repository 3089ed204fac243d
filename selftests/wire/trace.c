// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What happened in a run, shown if it fails. */

#include <stdarg.h>
#include "wire.h"

static unsigned int since(const struct wt_run *r, uint64_t when)
{
	return when > r->start ? when - r->start : 0;
}

void wt_trace(struct wt_run *r, const char *fmt, ...)
{
	va_list ap;

	fprintf(r->trace, "%9u us   ", since(r, wt_now()));
	va_start(ap, fmt);
	vfprintf(r->trace, fmt, ap);
	va_end(ap);
	fputc('\n', r->trace);
}

static void show_ext(FILE *to, const struct wt_pkt *p)
{
	for (const char *e = p->ext; *e; e++) {
		switch (*e) {
		case 'D':
			fprintf(to, " qkey=%#x sqpn=%#x", p->qkey, p->sqpn);
			break;
		case 'F':
			fprintf(to, " feth=%#x", p->feth);
			break;
		case 'R':
			fprintf(to, " va=%#llx rkey=%#x dlen=%u",
				(unsigned long long)p->va, p->rkey, p->dlen);
			break;
		case 'T':
			fprintf(to, " va=%#llx rkey=%#x swap=%llu cmp=%llu",
				(unsigned long long)p->va, p->rkey,
				(unsigned long long)p->swap,
				(unsigned long long)p->cmp);
			break;
		case 'A':
			fprintf(to, " syn=%s:%u msn=%u",
				((const char *[]){ "ack", "rnr", "resv", "nak" })
				[p->syn >> 5 & 3], p->syn & 31, p->msn);
			break;
		case 'O':
			fprintf(to, " orig=%llu", (unsigned long long)p->orig);
			break;
		case 'I':
			fprintf(to, " imm=%#x", p->imm);
			break;
		case 'V':
			fprintf(to, " inv=%#x", p->inv);
			break;
		}
	}
}

/* @dir: '<' to the device, '>' from it */
void wt_trace_pkt(struct wt_run *r, char dir, uint64_t when,
		  const struct wt_pkt *p, const char *note)
{
	const struct wt_op *op = wt_op_by_code(p->op);

	fprintf(r->trace, "%9u us %c ", since(r, when), dir);
	if (op)
		fprintf(r->trace, "%s", op->name);
	else
		fprintf(r->trace, "op=%#x", p->op);
	fprintf(r->trace, " psn=%u%s", p->psn, p->ack ? " ack" : "");
	if (p->ext)
		show_ext(r->trace, p);
	if (p->len)
		fprintf(r->trace, " len=%u", p->len);
	fprintf(r->trace, "%s\n", note);
}
