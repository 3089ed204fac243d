// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 */
/*
 * PSNs of a QP are for who has it: `rdma resource`, which any user may call, shows how far they
 * have come, and not where they are.
 */

#include "vt.h"

#define WRITES	5

static char shown[16384];

/* All that `rdma resource` knows of a QP */
static why_t show(const struct vt_ep *ep)
{
	char cmd[100];
	size_t n;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "rdma -j resource show qp link %s/%d lqpn %u -dd",
		 ibv_get_device_name(ep->dev->ctx->device), VT_PORT, ep->qp->qp_num);
	f = popen(cmd, "r");
	CHECK(f, "%s: %s", cmd, strerror(errno));
	n = fread(shown, 1, sizeof(shown) - 1, f);
	shown[n] = '\0';
	CHECK(!pclose(f) && strstr(shown, "lqpn"), "%s: '%s'", cmd, shown);
	return NULL;
}

/* A number that it shows under a name. Some versions of rdma leave out the prefix. */
static why_t show_value(const struct vt_ep *ep, const char *name, uint32_t *to)
{
	char quoted[32];
	const char *at;

	TRY(show(ep));
	snprintf(quoted, sizeof(quoted), "%s\":", name);
	at = strstr(shown, quoted);
	CHECK(at, "no %s: %s", name, shown);
	*to = strtoul(at + strlen(quoted), NULL, 0);
	return NULL;
}

static why_t not_zero(const struct vt_ep *ep, const char *name)
{
	uint32_t n;

	TRY(show_value(ep, name, &n));
	CHECK(n, "%s is 0", name);
	return NULL;
}

static why_t is_not_shown(uint32_t psn, const char *whose)
{
	const char *p;
	char *end;

	CHECK(psn > 4096, "%s PSN, %u, may be any number", whose, psn);
	for (p = strpbrk(shown, "0123456789"); p; p = strpbrk(end, "0123456789"))
		CHECK(strtoul(p, &end, 0) != psn, "%s PSN, %#x, is shown: %s", whose, psn, shown);
	return NULL;
}

static why_t query(struct vt_ep *ep, int mask, struct ibv_qp_attr *attr)
{
	struct ibv_qp_init_attr init;
	int err = ibv_query_qp(ep->qp, attr, mask, &init);

	CHECK(!err, "ibv_query_qp: %s", strerror(err));
	return NULL;
}

static why_t hidden(struct vt_pair *p, const void *arg)
{
	struct ibv_qp_attr attr;

	(void)arg;
	TRY(vt_ping(p));
	TRY(not_zero(&p->a, "sq_psns"));
	TRY(not_zero(&p->a, "rq_psns"));
	TRY(query(&p->a, IBV_QP_SQ_PSN | IBV_QP_RQ_PSN, &attr));
	TRY(is_not_shown(attr.sq_psn, "the requester's"));
	TRY(is_not_shown(attr.rq_psn, "the responder's"));
	return NULL;
}

/*
 * While there is no PSN, the numbers that they are counted from would be seen: the second shown
 * less the first would be the PSN.
 */
static why_t no_base(struct vt_pair *p, const void *arg)
{
	uint32_t sq[2], rq[2];

	(void)arg;
	TRY(vt_go(p, IBV_QPS_RESET));
	for (int life = 0; life < 2; life++) {
		TRY(vt_go(p, IBV_QPS_INIT));
		TRY(show_value(&p->a, "rq_psns", &rq[0]));
		TRY(vt_go(p, IBV_QPS_RTR));
		TRY(show_value(&p->a, "sq_psns", &sq[0]));
		TRY(show_value(&p->a, "rq_psns", &rq[1]));
		TRY(vt_go(p, IBV_QPS_RTS));
		TRY(show_value(&p->a, "sq_psns", &sq[1]));
		CHECK(((rq[1] - rq[0]) & 0xffffff) != p->b.psn, "RQ: %u, then %u", rq[0], rq[1]);
		CHECK(((sq[1] - sq[0]) & 0xffffff) != p->a.psn, "SQ: %u, then %u", sq[0], sq[1]);
		CHECK(((sq[1] - rq[1]) & 0xffffff) != ((p->a.psn - p->b.psn) & 0xffffff),
		      "both are counted from one number: %u, %u", sq[1], rq[1]);
		TRY(vt_go(p, IBV_QPS_RESET));
	}
	return NULL;
}

static why_t asked_for(struct vt_pair *p, const void *arg)
{
	struct ibv_qp_attr attr;

	(void)arg;
	TRY(query(&p->a, IBV_QP_SQ_PSN, &attr));
	CHECK(attr.sq_psn == p->a.psn, "%#x, not %#x", attr.sq_psn, p->a.psn);
	TRY(query(&p->a, IBV_QP_RQ_PSN, &attr));
	CHECK(attr.rq_psn == p->b.psn, "%#x, not %#x", attr.rq_psn, p->b.psn);
	TRY(query(&p->a, IBV_QP_STATE, &attr));
	CHECK(!attr.sq_psn && !attr.rq_psn, "not asked for: %#x, %#x", attr.sq_psn, attr.rq_psn);
	return NULL;
}

static why_t progress(struct vt_pair *p, const void *arg)
{
	uint32_t before[2], after[2];
	struct ibv_wc wc;

	(void)arg;
	TRY(show_value(&p->a, "sq_psns", &before[0]));
	TRY(show_value(&p->b, "rq_psns", &before[1]));
	TRY(vt_post_writes(p, 0, WRITES, 1));
	for (int i = 0; i < WRITES; i++)
		TRY(vt_poll_ok(p->a.scq, &wc, i));
	TRY(show_value(&p->a, "sq_psns", &after[0]));
	TRY(show_value(&p->b, "rq_psns", &after[1]));
	for (int i = 0; i < 2; i++)
		CHECK(((after[i] - before[i]) & 0xffffff) == WRITES,
		      "%s: %u, then %u", i ? "received" : "sent", before[i], after[i]);
	return NULL;
}

static const struct vt_test tests[] = {
	{ "`rdma resource` shows none of a QP's", hidden, NULL },
	{ "nor what it counts them from", no_base, NULL },
	{ "who has the QP gets them, if asked for", asked_for, NULL },
	{ "how far they have come is shown", progress, NULL },
};

int main(int argc, char **argv)
{
	return vt_main(argc, argv, 4096, tests, ARRAY_SIZE(tests));
}
