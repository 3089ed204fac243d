// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory windows and fast regions: bind, register, invalidate, access rights */

#include <string.h>
#include "tests.h"
#include "xfer.h"

#define SIZE	65536
#define REMOTE	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
		 IB_ACCESS_REMOTE_ATOMIC)

/* B owns a window onto its memory; A uses it. */
struct win {
	struct xfers	t;
	struct sim_buf	*w;
};

static void win_init(struct win *x, enum sroce_mr_kind kind)
{
	xfers_init(&x->t, NULL, SIZE, 4096);
	x->t.b->mr.access |= IB_ACCESS_MW_BIND;
	x->w = sim_window_new(x->t.s, kind);
}

static void win_end(struct win *x)
{
	CHECK_EQ(atomic_read(&x->t.b->mr.windows), !!x->w->mr.parent);
	xfers_end(&x->t);
}

static struct sroce_bind bind_of(const struct win *x, u64 off, u64 len)
{
	return (struct sroce_bind){
		.addr = x->t.b->mr.iova + off, .length = len,
		.mr_key = x->t.b->mr.key, .key = x->w->mr.key,
		.new_key = x->w->mr.key + 1, .access = REMOTE,
	};
}

/* The newest completion of a send queue; there are @n of them. */
static enum ib_wc_status ended(const struct sroce_cq *cq, u32 n)
{
	CHECK_EQ(cq->n, n);
	return n ? cq->e[n - 1].status : IB_WC_SUCCESS;
}

static enum ib_wc_status post_bind(struct sroce_kqp *kqp,
				   const struct sroce_bind *b)
{
	struct sim_wr wr = {
		.opcode = IB_WR_BIND_MW, .flags = IB_SEND_SIGNALED, .bind = *b,
	};
	u32 n = kqp->scq.n;

	sim_post(kqp, &wr);
	sim_run(kqp->sim);
	if (ended(&kqp->scq, n + 1) == IB_WC_SUCCESS)
		CHECK_EQ(kqp->scq.e[n].opcode, IB_WC_BIND_MW);
	return kqp->scq.e[n].status;
}

static enum ib_wc_status post_inv(struct sroce_kqp *kqp, u32 key)
{
	struct sim_wr wr = {
		.opcode = IB_WR_LOCAL_INV, .flags = IB_SEND_SIGNALED, .ex = key,
	};
	u32 n = kqp->scq.n;

	sim_post(kqp, &wr);
	sim_run(kqp->sim);
	if (ended(&kqp->scq, n + 1) == IB_WC_SUCCESS)
		CHECK_EQ(kqp->scq.e[n].opcode, IB_WC_LOCAL_INV);
	return kqp->scq.e[n].status;
}

/* A message from A to an address in B under a key */
static enum ib_wc_status use(struct win *x, u32 opcode, u32 rkey, u64 va,
			     u32 len)
{
	struct sroce_kqp *a = &x->t.s->a;
	struct sim_wr wr = {
		.opcode = opcode, .flags = IB_SEND_SIGNALED, .num_sge = 1,
		.remote_addr = va, .rkey = rkey, .compare_add = 1,
	};
	u32 n = a->scq.n;

	wr.sge[0] = sim_sge(x->t.a, 0, len);
	sim_post(a, &wr);
	sim_run(x->t.s);
	return ended(&a->scq, n + 1);
}

static void bounds(enum sroce_mr_kind kind, bool zero)
{
	struct sroce_bind b;
	struct win x;
	u64 va;

	t_where("kind %d, zero based %d", kind, zero);
	win_init(&x, kind);
	b = bind_of(&x, 5000, 3000);
	if (zero)
		b.access |= IB_ZERO_BASED;
	va = zero ? 0 : b.addr;
	sim_fill(x.t.a, 0, 3000, 7);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	CHECK_EQ(x.w->mr.key, b.new_key);
	CHECK_EQ(use(&x, IB_WR_RDMA_WRITE, b.new_key, va, 3000), IB_WC_SUCCESS);
	CHECK(sim_filled(x.t.b, 5000, 3000, 7));
	CHECK_EQ(*sim_byte(x.t.b, 4999), 0);
	CHECK_EQ(*sim_byte(x.t.b, 8000), 0);
	CHECK_EQ(use(&x, IB_WR_RDMA_READ, b.new_key, va + 2000, 1000),
		 IB_WC_SUCCESS);
	/* the region has the byte, the window has not */
	CHECK_EQ(use(&x, IB_WR_RDMA_WRITE, b.new_key, va + 1, 3000),
		 IB_WC_REM_ACCESS_ERR);
	CHECK(x.t.s->b.events & BIT(IB_EVENT_QP_ACCESS_ERR));
	win_end(&x);

	win_init(&x, kind);
	b = bind_of(&x, 5000, 3000);
	if (zero)
		b.access |= IB_ZERO_BASED;
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	CHECK_EQ(use(&x, IB_WR_RDMA_READ, b.new_key, va - 1, 8),
		 IB_WC_REM_ACCESS_ERR);
	win_end(&x);
}

static void zero_based_type_1(void)
{
	struct sroce_bind b;
	struct win x;

	t_case("mem_ops: a window of type 1 can't be zero based");
	win_init(&x, SROCE_MW_1);
	b = bind_of(&x, 5000, 3000);
	b.access |= IB_ZERO_BASED;
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_MW_BIND_ERR);
	win_end(&x);
}

static void rights(void)
{
	static const u32 ops[] = {
		IB_WR_RDMA_WRITE, IB_WR_RDMA_READ, IB_WR_ATOMIC_FETCH_AND_ADD,
	};
	static const int need[] = {
		IB_ACCESS_REMOTE_WRITE, IB_ACCESS_REMOTE_READ,
		IB_ACCESS_REMOTE_ATOMIC,
	};
	u32 i, has;

	t_case("mem_ops: a window's access rights are its own, not its region's");
	for (has = 0; has < 8; has++) {
		for (i = 0; i < ARRAY_SIZE(ops); i++) {
			struct sroce_bind b;
			struct win x;

			t_where("rights %#x, opcode %u", has << 1, ops[i]);
			win_init(&x, SROCE_MW_2);
			b = bind_of(&x, 8, 64);
			b.access = has << 1;
			CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
			CHECK_EQ(use(&x, ops[i], b.new_key, b.addr, 8),
				 b.access & need[i] ? IB_WC_SUCCESS :
						      IB_WC_REM_ACCESS_ERR);
			win_end(&x);
		}
	}
}

enum spoilt {
	OLD_KEY, MR_KEY, NO_BIND_RIGHT, NO_LOCAL_WRITE, BEFORE, BEYOND, WRAPS,
	BIND_RIGHT, UNKNOWN_RIGHT, NO_BYTES, ONTO_WINDOW, ONTO_FAST, NO_WINDOW,
	SPOILT
};

static void spoil(struct win *x, struct sroce_bind *b, enum spoilt how)
{
	switch (how) {
	case OLD_KEY:
		b->key ^= 1;
		break;
	case MR_KEY:
		b->mr_key ^= 1;
		break;
	case NO_BIND_RIGHT:
		x->t.b->mr.access &= ~IB_ACCESS_MW_BIND;
		break;
	case NO_LOCAL_WRITE:
		x->t.b->mr.access &= ~IB_ACCESS_LOCAL_WRITE;
		break;
	case BEFORE:
		b->addr = x->t.b->mr.iova - 1;
		break;
	case BEYOND:
		b->length = SIZE + 1;
		break;
	case WRAPS:
		b->length = ~0ULL;
		break;
	case BIND_RIGHT:
		b->access |= IB_ACCESS_MW_BIND;
		break;
	case UNKNOWN_RIGHT:
		b->access |= 1 << 30;
		break;
	case NO_BYTES:
		b->length = 0;
		break;
	case ONTO_WINDOW:
		b->mr_key = b->key;
		break;
	case ONTO_FAST:
		x->t.b->mr.kind = SROCE_MR_FAST;
		break;
	default:
		b->key = x->t.b->mr.key;
	}
}

static void refused(void)
{
	struct sroce_bind b;
	struct win x;
	int how, kind;

	t_case("mem_ops: forbidden binds complete with an error");
	for (kind = SROCE_MW_1; kind <= SROCE_MW_2; kind++) {
		for (how = 0; how < SPOILT; how++) {
			/* this unbinds a window of type 1 */
			if (kind == SROCE_MW_1 && how == NO_BYTES)
				continue;
			t_where("kind %d, %d", kind, how);
			win_init(&x, kind);
			b = bind_of(&x, 0, SIZE);
			spoil(&x, &b, how);
			CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_MW_BIND_ERR);
			CHECK_EQ(x.w->mr.state, SROCE_MR_FREE);
			CHECK_EQ(x.t.s->b.qp.state, IB_QPS_ERR);
			CHECK_EQ(sim_count(&x.t.s->b, SROCE_CNT_MEM_OP_ERROR),
				 1);
			win_end(&x);
		}
	}
}

static void binds_again(void)
{
	struct sroce_bind b;
	struct win x;
	u32 old;

	t_case("mem_ops: a type 1 window is bound again, and unbound by a length of 0");
	win_init(&x, SROCE_MW_1);
	b = bind_of(&x, 0, 64);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	old = b.new_key;
	b = bind_of(&x, 64, 64);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	CHECK_EQ(atomic_read(&x.t.b->mr.windows), 1);
	CHECK_EQ(use(&x, IB_WR_RDMA_WRITE, b.new_key, b.addr, 64),
		 IB_WC_SUCCESS);
	old = b.new_key;
	b = bind_of(&x, 64, 0);
	b.mr_key = 0;
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	CHECK_EQ(x.w->mr.state, SROCE_MR_FREE);
	CHECK_EQ(use(&x, IB_WR_RDMA_WRITE, old, x.t.b->mr.iova + 64, 64),
		 IB_WC_REM_ACCESS_ERR);
	win_end(&x);

	t_case("mem_ops: the key from before the newest bind is invalid");
	win_init(&x, SROCE_MW_1);
	b = bind_of(&x, 0, 64);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	old = b.new_key;
	b = bind_of(&x, 0, 64);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	CHECK_EQ(use(&x, IB_WR_RDMA_WRITE, old, b.addr, 64),
		 IB_WC_REM_ACCESS_ERR);
	win_end(&x);

	t_case("mem_ops: a type 2 window is bound again only after invalidation");
	win_init(&x, SROCE_MW_2);
	b = bind_of(&x, 0, 64);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	CHECK_EQ(post_inv(&x.t.s->b, b.new_key), IB_WC_SUCCESS);
	CHECK_EQ(atomic_read(&x.t.b->mr.windows), 0);
	b = bind_of(&x, 64, 64);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	b = bind_of(&x, 0, 64);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_MW_BIND_ERR);
	CHECK_EQ(x.w->mr.base, x.t.b->mr.iova + 64);
	win_end(&x);
}

/* A loopback packet can't refer to a window: that may end before the data is copied. */
static void read_on_host(void)
{
	struct sroce_bind b;
	struct win x;

	t_case("mem_ops: loopback copies what is read by a window");
	win_init(&x, SROCE_MW_2);
	x.t.s->loopback = true;
	b = bind_of(&x, 0, SIZE);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	CHECK_EQ(use(&x, IB_WR_RDMA_READ, b.new_key, b.addr, 32768), IB_WC_SUCCESS);
	/* each response has its payload in it, and a loopback packet all the same names its QP */
	CHECK_EQ(sim_count(&x.t.s->a, SROCE_CNT_LOOPBACK_PACKETS), 1);
	CHECK_EQ(sim_count(&x.t.s->b, SROCE_CNT_LOOPBACK_PACKETS), 32);
	CHECK_EQ(sim_count(&x.t.s->b, SROCE_CNT_TX_PACKETS), 0);
	CHECK_EQ(post_inv(&x.t.s->b, b.new_key), IB_WC_SUCCESS);
	win_end(&x);
}

/* The same window by way of another pair of QPs */
static void other_qp(enum sroce_mr_kind kind)
{
	struct sroce_kqp *a2;
	struct sroce_bind b;
	struct win x;
	struct sim_wr wr = { .opcode = IB_WR_RDMA_WRITE,
			     .flags = IB_SEND_SIGNALED, .num_sge = 1 };

	t_where("kind %d", kind);
	win_init(&x, kind);
	a2 = sim_pair(x.t.s, &x.t.s->cfg);
	b = bind_of(&x, 0, 64);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	wr.sge[0] = sim_sge(x.t.a, 0, 64);
	wr.remote_addr = b.addr;
	wr.rkey = b.new_key;
	sim_post(a2, &wr);
	sim_run(x.t.s);
	CHECK_EQ(ended(&a2->scq, 1), kind == SROCE_MW_1 ? IB_WC_SUCCESS :
							  IB_WC_REM_ACCESS_ERR);
	CHECK_EQ(use(&x, IB_WR_RDMA_WRITE, b.new_key, b.addr, 64),
		 IB_WC_SUCCESS);
	win_end(&x);
}

static void key_invalidations(void)
{
	struct sroce_kqp *a2;
	struct sroce_bind b;
	struct ib_sge sge;
	struct sim_wr wr = { .opcode = IB_WR_SEND_WITH_INV,
			     .flags = IB_SEND_SIGNALED };
	struct win x;

	t_case("mem_ops: a SEND invalidates a window and the receiver is told");
	win_init(&x, SROCE_MW_2);
	b = bind_of(&x, 0, 64);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	wr.ex = b.new_key;
	sge = sim_sge(x.t.b, 100, 100);
	sim_put_recv(&x.t.s->b, 5, &sge, 1);
	sim_post(&x.t.s->a, &wr);
	sim_run(x.t.s);
	CHECK_EQ(ended(&x.t.s->a.scq, 1), IB_WC_SUCCESS);
	CHECK_EQ(ended(&x.t.s->b.rcq, 1), IB_WC_SUCCESS);
	CHECK_EQ(x.t.s->b.rcq.e[0].inv_rkey, b.new_key);
	CHECK_EQ(x.w->mr.state, SROCE_MR_FREE);
	CHECK_EQ(use(&x, IB_WR_RDMA_WRITE, b.new_key, b.addr, 8),
		 IB_WC_REM_ACCESS_ERR);
	win_end(&x);

	t_case("mem_ops: a SEND that may not invalidate is refused");
	win_init(&x, SROCE_MW_2);
	wr.ex = x.t.b->mr.key;
	sim_put_recv(&x.t.s->b, 5, &sge, 1);
	sim_post(&x.t.s->a, &wr);
	sim_run(x.t.s);
	CHECK_EQ(ended(&x.t.s->a.scq, 1), IB_WC_REM_ACCESS_ERR);
	CHECK_EQ(ended(&x.t.s->b.rcq, 1), IB_WC_LOC_ACCESS_ERR);
	CHECK_EQ(x.t.b->mr.state, SROCE_MR_VALID);
	win_end(&x);

	t_case("mem_ops: only its QP may invalidate a window of type 2");
	win_init(&x, SROCE_MW_2);
	a2 = sim_pair(x.t.s, &x.t.s->cfg);
	b = bind_of(&x, 0, 64);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	CHECK_EQ(post_inv(a2, b.new_key), IB_WC_MW_BIND_ERR);
	CHECK_EQ(x.w->mr.state, SROCE_MR_VALID);
	win_end(&x);

	t_case("mem_ops: a QP that has invalidated its windows of type 2 has none to unbind");
	win_init(&x, SROCE_MW_2);
	b = bind_of(&x, 0, 64);
	CHECK_EQ(x.t.s->b.qp.windows, 0);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	CHECK_EQ(x.t.s->b.qp.windows, 1);
	CHECK_EQ(post_inv(&x.t.s->b, b.new_key), IB_WC_SUCCESS);
	CHECK_EQ(post_inv(&x.t.s->b, b.new_key), IB_WC_SUCCESS);
	CHECK_EQ(x.t.s->b.qp.windows, 0);
	win_end(&x);

	t_case("mem_ops: regions of processes and type 1 windows are not invalidated");
	win_init(&x, SROCE_MW_1);
	b = bind_of(&x, 0, 64);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	CHECK_EQ(post_inv(&x.t.s->b, b.new_key), IB_WC_MW_BIND_ERR);
	CHECK_EQ(post_inv(&x.t.s->a, x.t.a->mr.key), IB_WC_MW_BIND_ERR);
	win_end(&x);
}

static void no_lkey(void)
{
	struct sroce_bind b;
	struct sim_wr wr = { .opcode = IB_WR_SEND, .flags = IB_SEND_SIGNALED,
			     .num_sge = 1 };
	struct win x;

	t_case("mem_ops: a window's key is no L_Key");
	win_init(&x, SROCE_MW_1);
	b = bind_of(&x, 0, 64);
	CHECK_EQ(post_bind(&x.t.s->b, &b), IB_WC_SUCCESS);
	wr.sge[0] = (struct ib_sge){ b.addr, 8, b.new_key };
	sim_post(&x.t.s->b, &wr);
	sim_run(x.t.s);
	CHECK_EQ(ended(&x.t.s->b.scq, 2), IB_WC_LOC_PROT_ERR);
	win_end(&x);
}

static int lose_first(struct sim *s, struct sim_packet *p)
{
	u32 *left = s->arg;

	if (sim_is_response(p) || !*left)
		return 1;
	--*left;
	return 0;
}

/* An invalidation waits until nothing has to be sent again from the region. */
static void order(void)
{
	u32 lost = 3, i;
	struct sim_buf *f;
	struct xfers t;
	struct sim_wr inv = { .wr_id = 2, .opcode = IB_WR_LOCAL_INV,
			      .flags = IB_SEND_SIGNALED };

	t_case("mem_ops: work requests complete in order in spite of losses");
	xfers_init(&t, NULL, SIZE, 4096);
	f = t.a;
	f->mr.kind = SROCE_MR_FAST;
	inv.ex = f->mr.key;
	t.s->wire = lose_first;
	t.s->arg = &lost;
	xfer_put(&t, IB_WR_RDMA_WRITE, 9000);
	xfer_put(&t, IB_WR_SEND, 3000);
	sim_put_send(&t.s->a, &inv);
	/* flushed, or refused: its memory is invalid by then */
	xfer_put(&t, IB_WR_RDMA_WRITE, 100);
	xfers_run(&t);
	CHECK_EQ(t.s->a.scq.n, 4);
	for (i = 0; i < 3; i++)
		CHECK_EQ(t.s->a.scq.e[i].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->a.scq.e[2].opcode, IB_WC_LOCAL_INV);
	CHECK_EQ(t.s->a.scq.e[3].status, IB_WC_LOC_PROT_ERR);
	CHECK_EQ(f->mr.state, SROCE_MR_FREE);
	xfers_check_data(&t, 2);
	xfers_end(&t);
}

/* Binds between messages, with losses: each is executed once, in order. */
static void between(void)
{
	struct rnd r = { 5 };
	u32 round, i;

	t_case("mem_ops: binds among messages, with losses");
	for (round = 0; round < 50; round++) {
		u32 lost = rnd_below(&r, 6);
		struct sroce_bind b;
		struct win x;

		win_init(&x, SROCE_MW_1);
		x.t.a->mr.access |= IB_ACCESS_MW_BIND;
		x.t.s->wire = lose_first;
		x.t.s->arg = &lost;
		b = bind_of(&x, 0, 64);
		b.mr_key = x.t.a->mr.key;
		for (i = 0; i < 12; i++) {
			u32 op = xfer_rc_ops[rnd_below(&r, ARRAY_SIZE(xfer_rc_ops))];
			struct sim_wr wr = { .opcode = IB_WR_BIND_MW };

			xfer_put(&x.t, op, 1 + rnd_below(&r, 4000));
			b.addr = x.t.a->mr.iova + i;
			wr.bind = b;
			sim_put_send(&x.t.s->a, &wr);
			b.key = b.new_key;
			b.new_key = (b.key & ~0xff) | ((b.key + 1) & 0xff);
		}
		sim_doorbell(&x.t.s->a);
		sim_run(x.t.s);
		xfers_check(&x.t);
		CHECK_EQ(sim_count(&x.t.s->a, SROCE_CNT_MW_BIND), 12);
		CHECK_EQ(x.w->mr.base, x.t.a->mr.iova + 11);
		xfers_end(&x.t);
	}
}

static enum ib_wc_status reg(struct xfers *t, u64 iova, u32 key)
{
	struct sroce_wqe wqe = {
		.msg = SROCE_MSG_REG_MR,
		.bind = { .addr = iova, .length = 4096, .new_key = key,
			  .access = IB_ACCESS_REMOTE_READ },
	};

	return sroce_mem_ops_run(&t->s->b.qp, &wqe);
}

/* Persistence can't be granted: no memory here survives a loss of power. */
static void fast_persistent(void)
{
	struct sroce_extent laid_down = {}, in_force = {};
	struct sroce_wqe wqe = {
		.msg = SROCE_MSG_REG_MR, .bind.length = 4096,
	};
	struct sim_buf *f;
	struct xfers t;

	t_case("mem_ops: a fast region allows FLUSH, but not to persistence");
	xfers_init(&t, NULL, SIZE, 4096);
	f = sim_window_new(t.s, SROCE_MR_FAST);
	f->mr.next = &laid_down;
	f->mr.ext = &in_force;
	f->mr.next_nr = 1;
	wqe.bind.new_key = f->mr.key;
	wqe.bind.access = SROCE_ACCESS_FLUSH_GLOBAL |
			  SROCE_ACCESS_FLUSH_PERSISTENT;
	CHECK_EQ(sroce_mem_ops_run(&t.s->b.qp, &wqe), IB_WC_MW_BIND_ERR);
	CHECK_EQ(f->mr.state, SROCE_MR_FREE);
	wqe.bind.access = SROCE_ACCESS_FLUSH_GLOBAL;
	CHECK_EQ(sroce_mem_ops_run(&t.s->b.qp, &wqe), IB_WC_SUCCESS);
	CHECK_EQ(f->mr.access, SROCE_ACCESS_FLUSH_GLOBAL);
	f->mr.ext = NULL;
	xfers_end(&t);
}

static void fast(void)
{
	static u8 page[4096];
	struct sroce_extent laid_down = { 0, page }, in_force = {};
	struct sim_buf *f;
	struct xfers t;

	t_case("mem_ops: a fast region works from its registration to its end");
	xfers_init(&t, NULL, SIZE, 4096);
	f = sim_window_new(t.s, SROCE_MR_FAST);
	CHECK_EQ(reg(&t, 4096, f->mr.key), IB_WC_MW_BIND_ERR);
	f->mr.next = &laid_down;
	f->mr.ext = &in_force;
	f->mr.next_nr = 1;
	CHECK_EQ(reg(&t, 4096, f->mr.key + 3), IB_WC_SUCCESS);
	CHECK(f->mr.ext == &in_force && in_force.addr == page);
	CHECK(!sroce_mr_by_rkey(&t.s->b.qp, f->mr.key - 3, 4096, 1, 0));
	/* a failed look-up holds no reference */
	CHECK_EQ(f->mr.ref.refs, 0);
	CHECK(!sroce_mr_by_rkey(&t.s->b.qp, f->mr.key, 4096, 4097, 0));
	CHECK(!sroce_mr_by_rkey(&t.s->b.qp, f->mr.key, 4096, 1,
			       IB_ACCESS_REMOTE_WRITE));
	CHECK(sroce_mr_by_rkey(&t.s->b.qp, f->mr.key, 4096, 4096,
			      IB_ACCESS_REMOTE_READ) == &f->mr);
	sroce_mr_put_last(&t.s->b.qp);
	/* in use, it can't be registered again */
	CHECK_EQ(reg(&t, 8192, f->mr.key), IB_WC_MW_BIND_ERR);
	CHECK_EQ(sroce_mem_ops_invalidate(&t.s->b.qp, f->mr.key, true), 0);
	CHECK_EQ(sroce_mem_ops_invalidate(&t.s->b.qp, f->mr.key, true), -EINVAL);
	/* the owner may invalidate it twice */
	CHECK_EQ(sroce_mem_ops_invalidate(&t.s->b.qp, f->mr.key, false), 0);
	CHECK(!sroce_mr_by_rkey(&t.s->b.qp, f->mr.key, 4096, 1, 0));
	sroce_mr_put_last(&t.s->b.qp);
	/* the same pages again: they were mapped once */
	CHECK_EQ(reg(&t, 8192, f->mr.key), IB_WC_SUCCESS);
	CHECK(f->mr.ext->addr == page && f->mr.next->addr == page);
	f->mr.access = IB_ACCESS_LOCAL_WRITE;
	CHECK_EQ(sroce_mem_ops_invalidate(&t.s->b.qp, f->mr.key, true), -EINVAL);
	f->mr.ext = NULL;
	xfers_end(&t);
}

/* A ring has no such READ: only kernel users post it, without one. */
static int with_inv(struct sim *s, struct sim_packet *p)
{
	struct sroce_sq *sq = &s->a.qp.sq;
	struct sroce_wqe *wqe = sroce_sq_wqe(sq, sq->cons);

	if (!sim_is_response(p)) {
		wqe->inv = true;
		wqe->inv_rkey = *(u32 *)s->arg;
	}
	return 1;
}

static void read_inv(void)
{
	struct sim_buf *f;
	struct xfers t;
	u32 key;

	t_case("mem_ops: READ with invalidate ends a local key on completion");
	xfers_init(&t, NULL, SIZE, 4096);
	f = sim_window_new(t.s, SROCE_MR_FAST);
	f->mr.state = SROCE_MR_VALID;
	key = f->mr.key;
	t.s->wire = with_inv;
	t.s->arg = &key;
	xfer_put(&t, IB_WR_RDMA_READ, 9000);
	xfers_run_check(&t);
	CHECK_EQ(f->mr.state, SROCE_MR_FREE);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_INVALIDATE), 1);
	/* an unknown key fails the READ */
	key ^= 1;
	xfer_put(&t, IB_WR_RDMA_READ, 100);
	xfers_run(&t);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_MW_BIND_ERR);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	xfers_end(&t);
}

UNIT_TESTS(mem_ops)
{
	read_on_host();
	t_case("mem_ops: a window covers its bytes and no others");
	bounds(SROCE_MW_1, false);
	bounds(SROCE_MW_2, false);
	bounds(SROCE_MW_2, true);
	zero_based_type_1();
	rights();
	refused();
	binds_again();
	t_case("mem_ops: type 1 is for all QPs, type 2 for the one that bound it");
	other_qp(SROCE_MW_1);
	other_qp(SROCE_MW_2);
	key_invalidations();
	no_lkey();
	order();
	between();
	fast();
	fast_persistent();
	read_inv();
}
