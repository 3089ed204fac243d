// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the protocol core takes of this machine's real CPU: both ends, in one thread, by
 * packet and by message. Three runs of each case: all of it, without CRC, and without
 * copies; what these are less is what CRC and copies take.
 *
 * usage: core [-c TEXT]	a table in Markdown, of cases with TEXT in their name
 *	  core -T		test cases, as TAP: what is transferred, and that there are figures
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "core.h"
#include "tap.h"
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#define NS		1000000000ULL
#define BATCH_NS	(NS / 50)	/* of CPU time, for each batch, at least */
#define BATCHES		9		/* or BENCH_CORE_BATCHES; the best counts */

/* A case: messages of one kind, so many posted with a doorbell, so many under way */
struct work {
	const char	*name;
	u32		opcode;
	u32		len;
	enum ib_mtu	mtu;
	u32		list;
	u32		depth;
};

static const struct work works[] = {
	{ "WRITE of 64 KiB, MTU 1024", IB_WR_RDMA_WRITE, 65536, IB_MTU_1024, 1, 4 },
	{ "READ of 64 KiB, MTU 1024", IB_WR_RDMA_READ, 65536, IB_MTU_1024, 1, 4 },
	{ "SEND of 64 KiB, MTU 1024", IB_WR_SEND, 65536, IB_MTU_1024, 1, 4 },
	{ "WRITE of 64 KiB, MTU 4096", IB_WR_RDMA_WRITE, 65536, IB_MTU_4096, 1, 4 },
	{ "READ of 64 KiB, MTU 4096", IB_WR_RDMA_READ, 65536, IB_MTU_4096, 1, 4 },
	{ "SEND of 64 KiB, MTU 4096", IB_WR_SEND, 65536, IB_MTU_4096, 1, 4 },
	{ "WRITE of 64 B, one by one", IB_WR_RDMA_WRITE, 64, IB_MTU_1024, 1, 1 },
	{ "SEND of 64 B, one by one", IB_WR_SEND, 64, IB_MTU_1024, 1, 1 },
	{ "WRITE of 64 B, lists of 32", IB_WR_RDMA_WRITE, 64, IB_MTU_1024, 32, 64 },
	{ "SEND of 64 B, lists of 32", IB_WR_SEND, 64, IB_MTU_1024, 32, 64 },
};

/* What a message takes, in ns */
struct cost {
	double	all, crc, copies;
};

static u32 batches = BATCHES;

static u64 cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NS + ts.tv_nsec;
}

/* Cycles of the time stamp counter for each ns; 0 if there is none */
static double cycles_per_ns(void)
{
#ifdef __x86_64__
	u64 ns = sroce_now(), tsc = __rdtsc();

	while (sroce_now() - ns < BATCH_NS)
		;
	return (double)(__rdtsc() - tsc) / (sroce_now() - ns);
#else
	return 0;
#endif
}

/* Where message @i is, at both ends: one region after the other */
static u64 off_of(const struct work *wk, u32 i)
{
	return (u64)(i % wk->depth) * wk->len;
}

static struct ib_sge sge_of(const struct sroce_kqp *kqp, const struct work *wk, u32 i)
{
	return (struct ib_sge){
		.addr = kqp->mr.iova + off_of(wk, i), .length = wk->len, .lkey = kqp->mr.key,
	};
}

static void put_recv(struct sroce_kqp *kqp, const struct work *wk, u32 i)
{
	struct sroce_ring *r = &kqp->qp.rq.ring;
	struct sroce_abi_recv_wqe *raw = sroce_ring_slot(r, kqp->rq_prod);
	struct ib_sge sge = sge_of(kqp, wk, i);

	raw->wr_id = i;
	raw->dma.num_sge = 1;
	memcpy(raw->sge, &sge, sizeof(sge));
	kqp->rq_prod = (kqp->rq_prod + 1) & r->mask;
	smp_store_release(&r->buf->producer_index, kqp->rq_prod);
}

static void put_send(struct sroce_kqp *kqp, const struct work *wk, u32 i)
{
	struct sroce_ring *r = &kqp->qp.sq.ring;
	struct sroce_abi_send_wqe *raw = sroce_ring_slot(r, kqp->sq_prod);
	struct ib_sge sge = sge_of(kqp, wk, i);

	if (wk->opcode == IB_WR_SEND)
		put_recv(kqp->peer, wk, i);
	raw->wr.wr_id = i;
	raw->wr.opcode = wk->opcode;
	raw->wr.send_flags = IB_SEND_SIGNALED;
	raw->wr.rdma.remote_addr = kqp->peer->mr.iova + off_of(wk, i);
	raw->wr.rdma.rkey = kqp->peer->mr.key;
	raw->dma.num_sge = 1;
	memcpy(raw->payload, &sge, sizeof(sge));
	kqp->sq_prod = (kqp->sq_prod + 1) & r->mask;
	smp_store_release(&r->buf->producer_index, kqp->sq_prod);
}

static void doorbell(struct sroce_kqp *kqp)
{
	sroce_wqe_doorbell(&kqp->qp);
	end_run(kqp);
}

/* Transfer @n messages more, a multiple of @wk->list. Return: whether all came to their end. */
static bool transfer(struct sroce_kqp *a, const struct work *wk, u32 n)
{
	u32 posted = a->scq.n, end = posted + n, i;

	while (a->scq.n != end) {
		while (posted != end && posted + wk->list - a->scq.n <= wk->depth) {
			for (i = 0; i < wk->list; i++)
				put_send(a, wk, posted++);
			doorbell(a);
		}
		if (!ends_work(a) && !ends_skip_wait(a))
			return false;
	}
	/* what the peer has to say still */
	while (ends_work(a))
		;
	return a->qp.state == IB_QPS_RTS && a->peer->qp.state == IB_QPS_RTS;
}

static double batch_ns(struct sroce_kqp *ends, const struct work *wk)
{
	u64 began = cpu_ns(), took;
	u32 n = 0, step = 4 * wk->list;

	do {
		if (!transfer(ends, wk, step))
			tap_bail("%s: it does not come to its end", wk->name);
		n += step;
		took = cpu_ns() - began;
	} while (took < BATCH_NS);
	return (double)took / n;
}

static double best(struct sroce_kqp *ends, const struct work *wk)
{
	double ns = batch_ns(ends, wk), next;
	u32 i;

	for (i = 1; i < batches; i++) {
		next = batch_ns(ends, wk);
		if (next < ns)
			ns = next;
	}
	return ns;
}

/* What little there is to copy may take less than figures vary. */
static double less(double all, double rest)
{
	return rest < all ? all - rest : 0;
}

/* Without CRC both ends agree on it all the same; without copies memory is not looked at. */
static struct cost measure(struct sroce_kqp *ends, const struct work *wk)
{
	struct cost c;

	c.all = best(ends, wk);
	without_crc = true;
	c.crc = less(c.all, best(ends, wk));
	without_crc = false;
	without_copies = true;
	c.copies = less(c.all, best(ends, wk));
	without_copies = false;
	return c;
}

static u32 packets(const struct work *wk)
{
	return (wk->len + (128 << wk->mtu) - 1) / (128 << wk->mtu);
}

static void row(const struct work *wk, double cycles, const struct cost *c)
{
	double ns = c->all / packets(wk);

	printf("| %s | %u | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | ", wk->name, packets(wk),
	       ns, ns * cycles, c->all, c->all * cycles, c->crc, c->copies);
	if (wk->len >= 4096)
		printf("%.2f |\n", wk->len / c->all);
	else
		printf("- |\n");
}

static struct sroce_kqp ends[2];

static void table(const char *only)
{
	double cycles = cycles_per_ns();
	u32 i;

	printf("CRC by %s; %.2f cycles of the time stamp counter are a ns.\n\n",
	       crc_name(), cycles);
	puts("| both ends together | packets | ns a packet | cycles a packet | ns a message |"
	     " cycles a message | of it CRC, ns | copies, ns | GB/s |\n"
	     "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
	for (i = 0; i < ARRAY_SIZE(works); i++) {
		struct cost c;

		if (!strstr(works[i].name, only))
			continue;
		ends_new(ends, works[i].mtu, works[i].len * works[i].depth);
		c = measure(ends, &works[i]);
		row(&works[i], cycles, &c);
		fflush(stdout);
		ends_free(ends);
	}
}

/* ---- tests ---------------------------------------------------------------- */

static u64 count(const struct sroce_kqp *kqp, enum sroce_counter c)
{
	return kqp->counters.c[c];
}

/* Why messages are not what they should be, or NULL */
static const char *moved(const struct work *wk)
{
	bool reads = wk->opcode == IB_WR_RDMA_READ;
	u32 i, len = wk->len * wk->depth, n = 4 * wk->depth, least = n * packets(wk);

	/* what is to be sent, at either end */
	for (i = 0; i < len; i++)
		ends[reads].mem[i] = i * 167 + (i >> 8) * 13 + 1;
	if (!transfer(ends, wk, n))
		return "not all work requests were completed";
	if (memcmp(ends[0].mem, ends[1].mem, len))
		return "the memory of both is not the same";
	if (wk->opcode == IB_WR_SEND && ends[1].rcq.n != n)
		return "a receive was not completed";
	if (count(&ends[reads], SROCE_CNT_TX_PACKETS) < least)
		return "there were fewer packets than there must be";
	for (i = 0; i < 2; i++)
		if (count(&ends[i], SROCE_CNT_RX_PACKETS) !=
		    count(&ends[!i], SROCE_CNT_TX_PACKETS))
			return "not all packets were received";
	for (i = 0; i < 2; i++)
		if (count(&ends[i], SROCE_CNT_RX_ICRC) || count(&ends[i], SROCE_CNT_WC_ERROR) ||
		    count(&ends[i], SROCE_CNT_RX_MALFORMED))
			return "an ICRC, a header or a completion was wrong";
	return NULL;
}

/* A bit that changes on the way is noticed, so the CRC is checked. */
static const char *refused(void)
{
	struct train *t;

	put_send(ends, &works[0], 0);
	doorbell(ends);
	t = train_take(ends);
	if (!t)
		return "nothing was sent";
	t->data[t->seg / 2] ^= 4;
	train_receive(&ends[1], t);
	return count(&ends[1], SROCE_CNT_RX_ICRC) == 1 ? NULL : "the packet was not dropped";
}

static void tests(void)
{
	u32 i;

	tap_report(crc_is_right() ? NULL : "it is not", "core: CRC-32 by %s is right", crc_name());
	for (i = 0; i < ARRAY_SIZE(works); i++) {
		ends_new(ends, works[i].mtu, works[i].len * works[i].depth);
		tap_report(moved(&works[i]), "core: %s arrives", works[i].name);
		tap_report(batch_ns(ends, &works[i]) > 0 ? NULL : "it takes no time",
			   "core: %s has a figure", works[i].name);
		ends_free(ends);
	}
	ends_new(ends, works[0].mtu, works[0].len * works[0].depth);
	tap_report(refused(), "core: a packet that has changed is refused");
	ends_free(ends);
}

int main(int argc, char **argv)
{
	const char *few = getenv("BENCH_CORE_BATCHES"), *only = "";
	int c;

	if (few)
		batches = atoi(few);
	while ((c = getopt(argc, argv, "Tc:")) != -1) {
		switch (c) {
		case 'T':
			tests();
			return tap_finish();
		case 'c':
			only = optarg;
			break;
		default:
			fputs("usage: core [-T] [-c TEXT]\n", stderr);
			return 2;
		}
	}
	table(only);
	return 0;
}
