// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 --seconds 5 --seed $family */
/* run: A B --family 4 --on-demand --seconds 3 */
/*
 * Verified traffic of random sizes in both directions on several QPs at once,
 * for --seconds; --seed repeats what was done (though not when).
 */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include "vt.h"

#define SLOTS	8
#define SLOT	40000U		/* bytes, twice the largest message */
#define MAX_LEN	20000U
#define SEEN	4096
#define TAG	16		/* of a message: which it is, how long */

/* One direction of one connection; a thread of its own drives it. */
struct flow {
	const char *name;
	enum ibv_qp_type type;
	struct vt_ep *from, *to;
	uint64_t seed, end;
	bool one_way;
	uint64_t sent, got, next, late;
	uint8_t seen[SEEN];	/* of the last messages: whether it has come */
	why_t why;
	pthread_t thread;
};

/* Either direction has a CQ of its own at each end: no CQ has two pollers. */
static const struct plan {
	enum ibv_qp_type type;
	bool one_way;
} plans[] = {
	{ IBV_QPT_RC, false }, { IBV_QPT_RC, false },
	{ IBV_QPT_UC, false }, { IBV_QPT_UC, true },
	{ IBV_QPT_UD, false }, { IBV_QPT_UD, true },
};

#define PAIRS	ARRAY_SIZE(plans)

static struct vt_pair pairs[PAIRS];
static struct flow flows[2 * PAIRS];

struct tag {
	uint64_t seq;
	uint32_t len;
	uint32_t pad;
};

/*
 * Each buffer has SLOTS slots to send from (or read into), and then SLOTS to
 * receive into, and then SLOTS that the peer writes to or reads from.
 */
static size_t send_slot(int i) { return (size_t)i * SLOT; }
static size_t recv_slot(int i) { return (size_t)(SLOTS + i) * SLOT; }
static size_t rdma_slot(int i) { return (size_t)(2 * SLOTS + i) * SLOT; }

static void make(uint8_t *at, uint64_t seq, uint32_t len, uint64_t seed)
{
	struct tag tag = { .seq = seq, .len = len };

	memcpy(at, &tag, TAG);
	vt_fill(at + TAG, len - TAG, seed ^ seq);
}

static why_t same(const uint8_t *at, uint64_t seq, uint32_t len, uint64_t seed)
{
	static __thread uint8_t want[MAX_LEN];

	make(want, seq, len, seed);
	CHECK(!memcmp(at, want, len), "message %llu of %u bytes is garbled",
	      (unsigned long long)seq, len);
	return NULL;
}

static why_t post_recv_slot(struct flow *f, int i)
{
	return vt_post_recv_at(f->to, i, recv_slot(i), SLOT);
}

/*
 * UC and UD may lose messages. A QP that also receives may send from several
 * CPUs, and so overtake itself in the network stack; only RC puts that right.
 * But nothing comes twice.
 */
static why_t note(struct flow *f, uint64_t seq)
{
	CHECK(f->type != IBV_QPT_RC || seq == f->next,
	      "message %llu instead of %llu", (unsigned long long)seq,
	      (unsigned long long)f->next);
	CHECK(!f->one_way || seq >= f->next, "message %llu after %llu",
	      (unsigned long long)seq, (unsigned long long)f->next - 1);
	CHECK(seq < f->sent && seq + SEEN > f->next, "message %llu at %llu",
	      (unsigned long long)seq, (unsigned long long)f->next);
	for (; f->next <= seq; f->next++)
		f->seen[f->next % SEEN] = 0;
	CHECK(!f->seen[seq % SEEN], "message %llu comes twice",
	      (unsigned long long)seq);
	f->seen[seq % SEEN] = 1;
	f->late += seq + 1 != f->next;
	f->got++;
	return NULL;
}

static why_t take(struct flow *f, const struct ibv_wc *wc)
{
	uint32_t grh = f->type == IBV_QPT_UD ? VT_GRH : 0;
	const uint8_t *at = f->to->buf.data + recv_slot(wc->wr_id) + grh;
	struct tag tag;

	CHECK(!wc->status, "receive: %s", ibv_wc_status_str(wc->status));
	memcpy(&tag, at, TAG);
	CHECK(wc->byte_len == tag.len + grh && tag.len <= MAX_LEN,
	      "%u bytes for a message of %u", wc->byte_len, tag.len);
	TRY(note(f, tag.seq));
	TRY(same(at, tag.seq, tag.len, f->seed));
	return post_recv_slot(f, wc->wr_id);
}

static why_t take_all(struct flow *f)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(f->to->rcq, 1, &wc) == 1)
		TRY(take(f, &wc));
	return NULL;
}

static why_t send_one(struct flow *f, int slot, uint32_t len)
{
	struct ibv_sge sge = vt_sge(&f->from->buf, send_slot(slot), len);
	struct ibv_send_wr wr = { .wr_id = slot, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };

	make(f->from->buf.data + send_slot(slot), f->sent++, len, f->seed);
	vt_aim(f->from, f->to, &wr);
	return vt_post_send(f->from, &wr);
}

static why_t sends_done(struct flow *f, int num)
{
	struct ibv_wc wc;
	uint64_t end = vt_now_us() + VT_LONG * 1000ULL;

	while (num) {
		CHECK(vt_now_us() < end, "a send doesn't complete");
		TRY(take_all(f));
		if (ibv_poll_cq(f->from->scq, 1, &wc) != 1) {
			sched_yield();
			continue;
		}
		CHECK(!wc.status, "send: %s", ibv_wc_status_str(wc.status));
		num--;
	}
	return NULL;
}

static uint32_t any_len(struct flow *f, uint64_t *rnd)
{
	uint32_t max = MAX_LEN;

	if (f->type == IBV_QPT_UD)
		max = vt_mtu_bytes(f->from->conf->mtu);
	if (vt_below(rnd, 2))
		max = MIN(max, 200U);
	return TAG + vt_below(rnd, max - TAG + 1);
}

static why_t some_sends(struct flow *f, uint64_t *rnd)
{
	int i, n = 1 + vt_below(rnd, SLOTS);

	for (i = 0; i < n; i++)
		TRY(send_one(f, i, any_len(f, rnd)));
	return sends_done(f, n);
}

/* Write slots, read them back elsewhere, compare. */
static why_t write_read(struct flow *f, uint64_t *rnd)
{
	int i, n = 1 + vt_below(rnd, SLOTS / 2);
	uint8_t *mine = f->from->buf.data;
	uint64_t seed = *rnd;
	uint32_t len[SLOTS];
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };

	for (i = 0; i < n; i++) {
		size_t odd = vt_below(rnd, 64);

		len[i] = TAG + vt_below(rnd, MAX_LEN - TAG + 1);
		make(mine + send_slot(i), i, len[i], seed + i);
		wr.opcode = IBV_WR_RDMA_WRITE;
		sge = vt_sge(&f->from->buf, send_slot(i), len[i]);
		vt_aim(f->from, f->to, &wr);
		wr.wr.rdma.remote_addr += rdma_slot(i) + odd;
		TRY(vt_post_send(f->from, &wr));
		/* behind the write, so it sees what was written */
		wr.opcode = IBV_WR_RDMA_READ;
		sge = vt_sge(&f->from->buf, send_slot(SLOTS / 2 + i), len[i]);
		TRY(vt_post_send(f->from, &wr));
	}
	TRY(sends_done(f, 2 * n));
	for (i = 0; i < n; i++)
		TRY(same(mine + send_slot(SLOTS / 2 + i), i, len[i], seed + i));
	return NULL;
}

static why_t drive(struct flow *f)
{
	uint64_t rnd = f->seed;
	int i;

	for (i = 0; i < SLOTS; i++)
		TRY(post_recv_slot(f, i));
	/* where all is slow a while may pass before something arrives */
	while (vt_now_us() < f->end ||
	       (!f->got && vt_now_us() < f->end + VT_LONG * 1000ULL)) {
		if (f->type == IBV_QPT_RC && vt_below(&rnd, 3) == 0)
			TRY(write_read(f, &rnd));
		else
			TRY(some_sends(f, &rnd));
	}
	for (i = 0; i < 100 && f->got < f->sent; i++) {
		vt_sleep_ms(f->type == IBV_QPT_RC ? 50 : 3);
		TRY(take_all(f));
	}
	CHECK(f->type != IBV_QPT_RC || f->got == f->sent, "%llu of %llu arrived",
	      (unsigned long long)f->got, (unsigned long long)f->sent);
	CHECK(f->got, "nothing arrived of %llu", (unsigned long long)f->sent);
	return NULL;
}

/* A sender that stays on its CPU and does nothing else keeps the order. */
static void stay(int n)
{
	vt_run_on(n % sysconf(_SC_NPROCESSORS_ONLN));
}

static void *thread(void *arg)
{
	struct flow *f = arg;
	why_t why;

	if (f->one_way)
		stay(f - flows);
	why = drive(f);
	/* reasons live in the thread that gave them */
	f->why = why ? strdup(why) : NULL;
	return NULL;
}

static void start(struct flow *f, struct vt_ep *from, struct vt_ep *to,
		  bool one_way, const char *name)
{
	f->name = name;
	f->type = from->conf->type;
	f->one_way = one_way;
	f->from = from;
	f->to = to;
	f->seed = vt_opts.seed * 1000 + (f - flows) + 1;
	f->end = vt_now_us() + vt_opts.seconds * 1000000ULL;
	if (pthread_create(&f->thread, NULL, thread, f))
		f->why = "pthread_create";
}

static why_t open_all(void)
{
	size_t i;

	for (i = 0; i < PAIRS; i++) {
		pairs[i].conf = vt_conf(plans[i].type);
		pairs[i].conf.buf = 3 * SLOTS * SLOT;
		TRY(vt_ep_open(&pairs[i].a, &vt_devs[0], &pairs[i].conf));
		TRY(vt_ep_open(&pairs[i].b, &vt_devs[1], &pairs[i].conf));
		TRY(vt_connect(&pairs[i]));
	}
	return NULL;
}

static void finish(struct flow *f)
{
	if (f->thread)
		pthread_join(f->thread, NULL);
	tap_note("%s %s: %llu sent, %llu lost, %llu late",
		 vt_type_name(f->type), f->name, (unsigned long long)f->sent,
		 (unsigned long long)(f->sent - f->got),
		 (unsigned long long)f->late);
	tap_report(f->why, "%s %s%s for %d s, seed %llu", vt_type_name(f->type),
		   f->name, f->one_way ? " only" : "", vt_opts.seconds,
		   (unsigned long long)vt_opts.seed);
}

int main(int argc, char **argv)
{
	why_t why;
	size_t i;

	vt_start(argc, argv);
	why = open_all();
	tap_report(why, "connect");
	if (why)
		return tap_finish();
	for (i = 0; i < PAIRS; i++) {
		start(&flows[2 * i], &pairs[i].a, &pairs[i].b,
		      plans[i].one_way, "A to B");
		if (!plans[i].one_way)
			start(&flows[2 * i + 1], &pairs[i].b, &pairs[i].a,
			      false, "B to A");
	}
	for (i = 0; i < 2 * PAIRS; i++)
		if (flows[i].name)
			finish(&flows[i]);
	for (i = 0; i < PAIRS; i++) {
		tap_report(vt_ep_close(&pairs[i].a), "guards and closing of A %zu",
			   i);
		tap_report(vt_ep_close(&pairs[i].b), "guards and closing of B %zu",
			   i);
	}
	return tap_finish();
}
