// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A stream of requests between two processes, verified at both ends.
 *
 * Request number i is a function of the step and its seed, so either end knows
 * what the other asks for and what must have become of it. Memory has four
 * areas of slots: what this end sends and the peer reads, what it receives
 * into, where its READs land, and what the peer writes to.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "stream.h"

enum area { SOURCE, RECEIVED, LANDED, WRITTEN, AREAS };

#define ADD_WORD	0	/* in the small buffer: targets of atomics */
#define SWAP_WORD	8
#define RESULTS		64
#define SMALL		(RESULTS + 8 * STREAM_SLOTS)

struct hello {
	uint32_t qpn, psn;
	union ibv_gid gid;
	uint64_t mem, small;
	uint32_t mem_rkey, small_rkey;
};

struct request {
	enum stream_op op;
	uint32_t len;
};

/* One direction. */
struct flow {
	uint64_t seed;
	uint64_t posted, done, bytes;
	uint64_t adds, swaps;		/* done */
	uint64_t swaps_posted;
	uint64_t next, seen;		/* of what was received */
};

struct stream {
	const struct step *step;
	int fd;
	struct vt_conf conf;
	struct vt_ep ep;
	struct vt_buf *mem;
	uint8_t *theirs;		/* the peer's source area */
	uint32_t stride, slots;
	struct hello peer;
	struct flow out, in;
	bool sender, told, heard, armed;
	struct report mine, other;
	uint64_t begin, last;
};

static uint32_t stride_of(const struct step *s)
{
	return (s->size + VT_GRH + 63) & ~63U;
}

uint32_t stream_slots(const struct step *s)
{
	uint32_t n = STREAM_AREA / stride_of(s);

	return n ? MIN(n, (uint32_t)STREAM_SLOTS) : 1;
}

size_t stream_room(const struct step *s)
{
	return (size_t)AREAS * stream_slots(s) * stride_of(s);
}

static size_t place(const struct stream *st, enum area area, uint64_t slot)
{
	return ((size_t)area * st->slots + slot) * st->stride;
}

/* Another slot in each round, so that no round writes what the last wrote. */
static uint64_t source_slot(const struct stream *st, uint64_t i)
{
	return (i + i / st->slots) % st->slots;
}

static struct request request_at(const struct stream *st, uint64_t seed,
				 uint64_t i)
{
	struct request r = { .op = st->step->op, .len = st->step->size };
	uint64_t dice = (seed + 1) * 0x9e3779b97f4a7c15ULL + i * 0xbf58476d1ce4e5b9ULL;

	if (r.op == STREAM_MIX) {
		r.op = vt_below(&dice, STREAM_MIX);
		r.len = vt_below(&dice, 3) ? vt_below(&dice, st->step->size + 1) :
					     vt_below(&dice, 200);
		r.len = MIN(r.len, st->step->size);
	}
	if (r.op == STREAM_FADD || r.op == STREAM_CSWAP)
		r.len = 8;
	return r;
}

static bool uses_receive(enum stream_op op)
{
	return op == STREAM_SEND || op == STREAM_SEND_IMM ||
	       op == STREAM_WRITE_IMM;
}

static bool writes(enum stream_op op)
{
	return op == STREAM_WRITE || op == STREAM_WRITE_IMM;
}

static bool reliable(const struct stream *st)
{
	return st->step->type == IBV_QPT_RC;
}

/* Requests */

static const enum ibv_wr_opcode wr_opcodes[] = {
	[STREAM_WRITE] = IBV_WR_RDMA_WRITE,
	[STREAM_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
	[STREAM_READ] = IBV_WR_RDMA_READ,
	[STREAM_SEND] = IBV_WR_SEND,
	[STREAM_SEND_IMM] = IBV_WR_SEND_WITH_IMM,
	[STREAM_FADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	[STREAM_CSWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
};

static struct ibv_sge local_of(struct stream *st, const struct request *r,
			       uint64_t i)
{
	switch (r->op) {
	case STREAM_FADD:
	case STREAM_CSWAP:
		return vt_sge(&st->ep.buf, RESULTS + 8 * (i % STREAM_SLOTS), 8);
	case STREAM_READ:
		return vt_sge(st->mem, place(st, LANDED, i % st->slots), r->len);
	default:
		return vt_sge(st->mem, place(st, SOURCE, source_slot(st, i)),
			      r->len);
	}
}

static void aim(struct stream *st, const struct request *r, uint64_t i,
		struct ibv_send_wr *wr)
{
	switch (r->op) {
	case STREAM_FADD:
		wr->wr.atomic.remote_addr = st->peer.small + ADD_WORD;
		wr->wr.atomic.rkey = st->peer.small_rkey;
		wr->wr.atomic.compare_add = 1;
		return;
	case STREAM_CSWAP:
		wr->wr.atomic.remote_addr = st->peer.small + SWAP_WORD;
		wr->wr.atomic.rkey = st->peer.small_rkey;
		wr->wr.atomic.compare_add = st->out.swaps_posted++;
		wr->wr.atomic.swap = st->out.swaps_posted;
		return;
	case STREAM_READ:
		wr->wr.rdma.remote_addr = st->peer.mem +
			place(st, SOURCE, source_slot(st, i));
		wr->wr.rdma.rkey = st->peer.mem_rkey;
		return;
	case STREAM_WRITE:
	case STREAM_WRITE_IMM:
		wr->wr.rdma.remote_addr = st->peer.mem +
			place(st, WRITTEN, i % st->slots);
		wr->wr.rdma.rkey = st->peer.mem_rkey;
		return;
	default:
		break;
	}
	if (st->step->type == IBV_QPT_UD) {
		wr->wr.ud.ah = st->ep.ah;
		wr->wr.ud.remote_qpn = st->peer.qpn;
		wr->wr.ud.remote_qkey = VT_QKEY;
	}
}

static why_t post_one(struct stream *st)
{
	uint64_t i = st->out.posted;
	struct request r = request_at(st, st->out.seed, i);
	struct ibv_sge sge = local_of(st, &r, i);
	struct ibv_send_wr wr = {
		.wr_id = i,
		.opcode = wr_opcodes[r.op],
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(i),
		.sg_list = &sge, .num_sge = 1,
	};

	aim(st, &r, i, &wr);
	TRY(vt_post_send(&st->ep, &wr));
	st->out.posted++;
	return NULL;
}

/* Whether the time is over, or somebody outside says so. */
static bool is_over(const struct stream *st)
{
	const struct step *s = st->step;

	return (s->ms && vt_now_us() - st->begin >= s->ms * 1000ULL) ||
	       (*s->until && !access(s->until, F_OK));
}

/* Whether there is more to post, now or later. */
static bool more(const struct stream *st)
{
	return st->sender && st->out.posted < st->step->count && !is_over(st);
}

static why_t post_some(struct stream *st)
{
	while (more(st) && st->out.posted - st->out.done < st->step->depth)
		TRY(post_one(st));
	return NULL;
}

/* Compare, and have the final check expect what was found to be right. */
static why_t same(struct stream *st, size_t at, uint64_t slot, uint32_t len,
		  const char *what, uint64_t i)
{
	const uint8_t *want = st->theirs + slot * st->stride;
	const uint8_t *have = st->mem->data + at;
	uint32_t b;

	if (memcmp(have, want, len)) {
		for (b = 0; have[b] == want[b]; b++)
			;
		return because("%s %llu: byte %u of %u is %02x, not %02x",
			       what, (unsigned long long)i, b, len, have[b],
			       want[b]);
	}
	memcpy(st->mem->shadow + at, have, len);
	return NULL;
}

static why_t same_word(const struct stream *st, size_t off, uint64_t want,
		       const char *what)
{
	uint64_t have;

	memcpy(&have, st->ep.buf.data + off, sizeof(have));
	CHECK(have == want, "%s is %llu, not %llu", what,
	      (unsigned long long)have, (unsigned long long)want);
	return NULL;
}

static why_t finish_one(struct stream *st, const struct ibv_wc *wc)
{
	uint64_t i = st->out.done;
	struct request r = request_at(st, st->out.seed, i);

	CHECK(wc->status == IBV_WC_SUCCESS, "request %llu of %llu: %s, %llu ms after the last",
	      (unsigned long long)wc->wr_id, (unsigned long long)st->out.posted,
	      ibv_wc_status_str(wc->status),
	      (unsigned long long)(vt_now_us() - st->last) / 1000);
	CHECK(wc->wr_id == i && i < st->out.posted,
	      "completion of request %llu, not %llu",
	      (unsigned long long)wc->wr_id, (unsigned long long)i);
	st->out.done++;
	st->out.bytes += r.len;
	st->last = vt_now_us();
	switch (r.op) {
	case STREAM_READ:
		return same(st, place(st, LANDED, i % st->slots),
			    source_slot(st, i), r.len, "READ", i);
	case STREAM_FADD:
		return same_word(st, RESULTS + 8 * (i % STREAM_SLOTS),
				 st->out.adds++, "result of FETCH_ADD");
	case STREAM_CSWAP:
		return same_word(st, RESULTS + 8 * (i % STREAM_SLOTS),
				 st->out.swaps++, "result of CMP_SWP");
	default:
		return NULL;
	}
}

/* Receives */

static why_t give_receive(struct stream *st, uint64_t k)
{
	struct ibv_sge sge = vt_sge(st->mem, place(st, RECEIVED, k % st->slots),
				    st->stride);

	return vt_post_recv(&st->ep, k, &sge, 1);
}

/* Which request a receive belongs to: on RC the next that needs one. */
static why_t identify(struct stream *st, const struct ibv_wc *wc, uint64_t *i)
{
	struct flow *in = &st->in;

	if (!reliable(st)) {
		*i = ntohl(wc->imm_data);
		CHECK(*i < st->step->count && !(in->seen & 1ULL << *i),
		      "message %llu comes twice or was never sent",
		      (unsigned long long)*i);
		in->seen |= 1ULL << *i;
		return NULL;
	}
	while (!uses_receive(request_at(st, in->seed, in->next).op))
		in->next++;
	*i = in->next++;
	return NULL;
}

static why_t receive_one(struct stream *st, const struct ibv_wc *wc)
{
	uint32_t grh = st->step->type == IBV_QPT_UD ? VT_GRH : 0;
	bool imm = wc->wc_flags & IBV_WC_WITH_IMM;
	struct request r;
	uint64_t i = 0;

	CHECK(wc->status == IBV_WC_SUCCESS, "receive %llu: %s",
	      (unsigned long long)wc->wr_id, ibv_wc_status_str(wc->status));
	CHECK(wc->wr_id == st->in.done, "receive %llu instead of %llu",
	      (unsigned long long)wc->wr_id, (unsigned long long)st->in.done);
	TRY(identify(st, wc, &i));
	r = request_at(st, st->in.seed, i);
	CHECK(imm == (r.op != STREAM_SEND), "message %llu: immediate data %s",
	      (unsigned long long)i, imm ? "unasked" : "missing");
	CHECK(!imm || ntohl(wc->imm_data) == (uint32_t)i,
	      "message %llu: immediate data %u", (unsigned long long)i,
	      ntohl(wc->imm_data));
	CHECK(wc->byte_len == r.len + grh, "message %llu: %u bytes, not %u",
	      (unsigned long long)i, wc->byte_len, r.len + grh);
	CHECK(wc->opcode == (r.op == STREAM_WRITE_IMM ?
			     IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV),
	      "message %llu: opcode %d", (unsigned long long)i, wc->opcode);
	if (r.op != STREAM_WRITE_IMM)
		TRY(same(st, place(st, RECEIVED, wc->wr_id % st->slots) + grh,
			 source_slot(st, i), r.len, "message", i));
	st->in.done++;
	return reliable(st) ? give_receive(st, wc->wr_id + st->slots) : NULL;
}

/* Whether all has come that the peer says it has sent. */
static bool all_received(struct stream *st)
{
	struct flow *in = &st->in;

	if (!reliable(st))
		return st->in.done == st->other.posted;
	while (in->next < st->other.posted &&
	       !uses_receive(request_at(st, in->seed, in->next).op))
		in->next++;
	return in->next >= st->other.posted;
}

/* Both at once */

static why_t poll_both(struct stream *st, bool *busy)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(st->ep.scq, 1, &wc) == 1) {
		TRY(finish_one(st, &wc));
		TRY(post_some(st));
		*busy = true;
	}
	while (ibv_poll_cq(st->ep.rcq, 1, &wc) == 1) {
		TRY(receive_one(st, &wc));
		*busy = true;
	}
	return NULL;
}

/* Sleep until a completion or the peer has something to tell. */
static why_t doze(struct stream *st)
{
	struct pollfd pfd[2] = {
		{ .fd = st->ep.chan->fd, .events = POLLIN },
		{ .fd = st->heard ? -1 : st->fd, .events = POLLIN },
	};
	struct ibv_cq *cq;
	void *ctx;

	if (!st->armed) {
		CHECK(!ibv_req_notify_cq(st->ep.scq, 0) &&
		      !ibv_req_notify_cq(st->ep.rcq, 0), "can't arm the CQs");
		st->armed = true;	/* look once more before sleeping */
		return NULL;
	}
	poll(pfd, 2, 50);
	while (!ibv_get_cq_event(st->ep.chan, &cq, &ctx)) {
		ibv_ack_cq_events(cq, 1);
		st->armed = false;
	}
	return NULL;
}

static why_t tell(struct stream *st, why_t why)
{
	struct report *r = &st->mine;

	r->posted = st->out.posted;
	r->done = st->out.done;
	r->bytes = st->out.bytes;
	r->us = st->last - st->begin;
	r->failed = !!why;
	if (why)
		snprintf(r->why, sizeof(r->why), "%s", why);
	st->told = true;
	return side_put(st->fd, r, sizeof(*r));
}

static why_t hear(struct stream *st, int ms)
{
	TRY(side_get(st->fd, &st->other, sizeof(st->other), ms));
	st->heard = true;
	return NULL;
}

static why_t hangs(const struct stream *st)
{
	return because("hangs: %llu of %llu requests done, %llu messages received in %u ms",
		       (unsigned long long)st->out.done,
		       (unsigned long long)st->out.posted,
		       (unsigned long long)st->in.done, st->step->limit);
}

/* What an unreliable service has lost never comes. */
static bool lost(const struct stream *st, uint64_t heard_at)
{
	return !reliable(st) && vt_now_us() - heard_at > VT_SHORT * 1000ULL;
}

static why_t drive(struct stream *st)
{
	uint64_t end, heard_at = 0;
	bool busy;

	st->begin = st->last = vt_now_us();
	end = st->begin + st->step->limit * 1000ULL;
	TRY(post_some(st));
	for (;;) {
		busy = false;
		TRY(poll_both(st, &busy));
		if (!st->told && !more(st) && st->out.done == st->out.posted)
			TRY(tell(st, NULL));
		if (!st->heard && side_ready(st->fd, 0)) {
			TRY(hear(st, SIDE_WAIT));
			heard_at = vt_now_us();
			CHECK(!st->other.failed, "other end: %s", st->other.why);
		}
		if (st->told && st->heard &&
		    (all_received(st) || lost(st, heard_at)))
			return NULL;
		if (vt_now_us() > end)
			return hangs(st);
		if (!busy)
			TRY(doze(st));
	}
}

/* What memory has to look like after all that the peer did. */
static why_t verify(struct stream *st)
{
	uint64_t i, adds = 0, swaps = 0;

	for (i = 0; i < st->other.posted; i++) {
		struct request r = request_at(st, st->in.seed, i);

		adds += r.op == STREAM_FADD;
		swaps += r.op == STREAM_CSWAP;
		if (writes(r.op))
			memcpy(st->mem->shadow +
					place(st, WRITTEN, i % st->slots),
			       st->theirs + source_slot(st, i) * st->stride,
			       r.len);
	}
	/* headers, and parts of messages that never were completed */
	if (!reliable(st))
		memcpy(st->mem->shadow + place(st, RECEIVED, 0),
		       st->mem->data + place(st, RECEIVED, 0),
		       (size_t)st->slots * st->stride);
	TRY(same_word(st, ADD_WORD, adds, "sum of FETCH_ADDs"));
	TRY(same_word(st, SWAP_WORD, swaps, "outcome of CMP_SWPs"));
	CHECK(st->step->lossy || reliable(st) ||
	      st->in.done == st->other.posted, "%llu of %llu messages arrived",
	      (unsigned long long)st->in.done,
	      (unsigned long long)st->other.posted);
	CHECK(st->in.done || !st->other.posted || reliable(st),
	      "no message arrived");
	return vt_buf_check(st->mem);
}

/* Setup */

static void prepare_memory(struct stream *st)
{
	size_t area = (size_t)st->slots * st->stride;

	memset(st->mem->data, 0, st->mem->len);
	vt_fill(st->mem->data, area, st->out.seed);
	memcpy(st->mem->shadow, st->mem->data, st->mem->len);
	vt_fill(st->theirs, area, st->in.seed);
}

static void configure(struct stream *st)
{
	const struct step *s = st->step;

	st->conf = vt_conf(s->type);
	st->conf.mtu = s->mtu;
	st->conf.send_wr = st->conf.recv_wr = STREAM_SLOTS;
	st->conf.send_sge = st->conf.recv_sge = 1;
	st->conf.buf = SMALL;
	st->conf.timeout = s->timeout;
	st->conf.retry = s->retry;
	st->conf.rd = st->conf.dest_rd = 8;
}

static why_t hello(struct stream *st)
{
	struct hello mine = {
		.qpn = st->ep.qp->qp_num,
		.psn = st->ep.psn,
		.gid = st->ep.dev->gid,
		.mem = (uintptr_t)st->mem->data,
		.small = (uintptr_t)st->ep.buf.data,
		.mem_rkey = st->mem->mr->rkey,
		.small_rkey = st->ep.buf.mr->rkey,
	};

	return side_swap(st->fd, &mine, &st->peer, sizeof(mine));
}

static why_t connect_qp(struct stream *st)
{
	struct ibv_qp_attr attr;
	int mask, err;

	attr = vt_attr_rtr(&st->ep, st->peer.qpn, st->peer.psn, &st->peer.gid,
			   &mask);
	err = ibv_modify_qp(st->ep.qp, &attr, mask);
	CHECK(!err, "modify to RTR: %s", strerror(err));
	TRY(vt_ep_rts(&st->ep));
	return st->step->type == IBV_QPT_UD ?
		vt_ep_ah(&st->ep, &st->peer.gid) : NULL;
}

/* A QP that is ready, with receives, and a peer of which the same holds. */
static why_t set_up(struct stream *st)
{
	uint8_t ready = 1, theirs;
	uint32_t k;

	configure(st);
	st->theirs = malloc((size_t)st->slots * st->stride);
	CHECK(st->theirs, "out of memory");
	prepare_memory(st);
	TRY(vt_ep_open(&st->ep, &vt_devs[0], &st->conf));
	fcntl(st->ep.chan->fd, F_SETFL, O_NONBLOCK);
	TRY(hello(st));
	TRY(vt_ep_init(&st->ep));
	for (k = 0; k < st->slots; k++)
		TRY(give_receive(st, k));
	TRY(connect_qp(st));
	return side_swap(st->fd, &ready, &theirs, 1);
}

static why_t run(struct stream *st)
{
	why_t why = drive(st);

	if (why)
		why = strdupa(why);
	if (!st->told)
		TRY(tell(st, why ? why : "?"));
	if (!st->heard)
		TRY(hear(st, st->step->limit + SIDE_WAIT));
	if (!why && st->other.failed)
		why = because("other end: %s", st->other.why);
	if (!why)
		why = verify(st);
	/* what the stack holds is about to go */
	return why ? because("%s", why) : NULL;
}

static why_t tear_down(struct stream *st, why_t why)
{
	uint64_t begin = vt_now_us();
	why_t closing;

	if (why)
		why = strdupa(why);
	if (st->ep.qp && !ibv_destroy_qp(st->ep.qp))
		st->ep.qp = NULL;
	st->mine.closed_us = vt_now_us() - begin;
	closing = vt_ep_close(&st->ep);
	free(st->theirs);
	if (!why)
		why = closing;
	return why ? because("%s", why) : NULL;
}

/*
 * Run one step; both ends call this. The reports, with the reason if either
 * end is not content, are the same at both.
 */
void stream_run(const struct step *s, int fd, bool server, struct vt_buf *mem,
		struct report *mine, struct report *theirs)
{
	struct stream st = {
		.step = s, .fd = fd, .mem = mem,
		.stride = stride_of(s), .slots = stream_slots(s),
		.sender = s->dirs & (server ? STREAM_IN : STREAM_OUT),
		.out.seed = s->seed * 2 + server,
		.in.seed = s->seed * 2 + !server,
	};
	why_t why;

	why = set_up(&st);
	if (why)	/* the ends are out of step now, and for good */
		shutdown(fd, SHUT_RDWR);
	else
		why = run(&st);
	why = tear_down(&st, why);
	*mine = st.mine;
	mine->failed = !!why;
	snprintf(mine->why, sizeof(mine->why), "%s", why ? why : "");
	memset(theirs, 0, sizeof(*theirs));
	why = side_swap(fd, mine, theirs, sizeof(*mine));
	if (!why)
		return;
	theirs->failed = true;
	snprintf(theirs->why, sizeof(theirs->why), "%s", why);
}
