// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: by answer.test.sh */
/*
 * usage: pingpong A B - two ends that answer each other, with ack_with_answer on. Both are in one
 * thread: an answer takes a system call, and no other process has to be woken. So it is in time
 * also where a busy machine wakes processes late.
 */

#include <inttypes.h>
#include "vt.h"

#define ROUNDS		3000
/* The machine may stand still in any of them. */
#define RUNS		6
#define LEAST		100
#define SIGNALED	16
#define RECEIVES	32
/* An ACK is held for so long. */
#define HELD_US		400

/* What a run has counted */
struct tally {
	uint64_t acks, joined, vain, trains;
};

static uint64_t counted(const struct vt_pair *p, const char *what)
{
	return vt_counted(p->a.dev, what) + vt_counted(p->b.dev, what);
}

static struct tally tally(const struct vt_pair *p)
{
	return (struct tally){
		.acks = counted(p, "tx_ack"),
		.joined = counted(p, "acks_with_answer"),
		.vain = counted(p, "acks_held_in_vain"),
		.trains = counted(p, "tx_trains"),
	};
}

static why_t send(struct vt_ep *from, struct vt_ep *to, unsigned int i, uint32_t len)
{
	struct ibv_sge sge = vt_sge(&from->buf, 0, len);
	struct ibv_send_wr wr = {
		.wr_id = i, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = i % SIGNALED ? 0 : IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc;

	TRY(vt_post_send(from, &wr));
	TRY(vt_poll_ok(to->rcq, &wc, 0));
	TRY(vt_post_recv_at(to, 0, len, len));
	return i && i % SIGNALED == 0 ? vt_poll_ok(from->scq, &wc, i - SIGNALED) : NULL;
}

/* More than one message may be under way, as far as the peer is told: its ACKs may wait. */
static why_t receives(struct vt_ep *ep, uint32_t len)
{
	int i;

	for (i = 0; i < RECEIVES; i++)
		TRY(vt_post_recv_at(ep, 0, len, len));
	return NULL;
}

/* What 3,000 round trips count, and how many of them were faster than an ACK is held for */
static why_t round_trips(struct vt_pair *p, unsigned int from, uint32_t len, struct tally *t,
			 unsigned int *fast)
{
	struct tally before = tally(p), after;
	uint64_t start;
	unsigned int i;

	*fast = 0;
	for (i = from; i < from + ROUNDS; i++) {
		start = vt_now_us();
		TRY(send(&p->a, &p->b, i, len));
		TRY(send(&p->b, &p->a, i, len));
		*fast += vt_now_us() - start < HELD_US;
	}
	after = tally(p);
	t->acks = after.acks - before.acks;
	t->joined = after.joined - before.joined;
	t->vain = after.vain - before.vain;
	t->trains = after.trains - before.trains;
	return NULL;
}

static why_t shares_trips(struct vt_pair *p, const void *arg)
{
	const uint32_t *len = arg;
	struct tally t;
	unsigned int i, fast;
	uint64_t joined = 0;

	TRY(receives(&p->a, *len));
	TRY(receives(&p->b, *len));
	for (i = 0; i < RUNS && joined <= LEAST; i++) {
		TRY(round_trips(p, i * ROUNDS, *len, &t, &fast));
		tap_note("%d round trips, %u fast: %" PRIu64 " ACKs and %" PRIu64
			 " with answers in %" PRIu64 " trains, %" PRIu64 " in vain",
			 ROUNDS, fast, t.acks, t.joined, t.trains, t.vain);
		CHECK(t.trains >= t.joined, "ACKs with answers are in no train");
		joined += t.joined;
	}
	CHECK(joined > LEAST, "%" PRIu64 " ACKs leave with answers", joined);
	return NULL;
}

int main(int argc, char **argv)
{
	static const uint32_t lens[] = { 8, 1024 };
	struct vt_conf conf;
	size_t i;

	vt_start(argc, argv);
	conf = vt_conf(IBV_QPT_RC);
	for (i = 0; i < ARRAY_SIZE(lens); i++)
		vt_runf(&conf, shares_trips, &lens[i], "ping-pong of %u bytes shares trips",
			lens[i]);
	return tap_finish();
}
