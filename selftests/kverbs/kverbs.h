/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A consumer of the kernel's verbs that knows what they have to answer. Each
 * case makes what it needs; all of it is given back when the case has ended.
 */
#ifndef KVERBS_H
#define KVERBS_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

/* An emulated CPU with all checkers on takes its time. */
#define KV_WAIT_MS	20000
/* Long enough for an event that must not come to have come by then */
#define KV_QUIET_MS	60
#define KV_ALL_RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/**
 * struct kv_undo - how to release something
 * @fn: does it
 * @arg: what it is
 */
struct kv_undo {
	void (*fn)(void *arg);
	void *arg;
};

/**
 * struct kv - a run of all cases
 * @dev: the two devices, perhaps the same
 * @undo: what the case in progress has made, given back from the end
 * @undos: how many
 * @mem: the same for memory, released last: the device may write to it until then
 * @mems: how many
 * @arg: of the case in progress
 * @why: why it failed or was skipped
 */
struct kv {
	struct ib_device	*dev[2];
	struct kv_undo		undo[64];
	u32			undos;
	struct kv_undo		mem[64];
	u32			mems;
	int			arg;
	char			why[256];
};

/**
 * struct kv_qp - a QP and all it stands on
 * @dev: its device
 * @pd: its protection domain
 * @scq: where its sends complete
 * @rcq: where its receives complete
 * @qp: the QP
 * @gid: of its port
 * @gid_index: of that
 * @events: asynchronous events, a bit for each
 * @event_is_atomic: one was reported where its handler may not sleep
 */
struct kv_qp {
	struct ib_device	*dev;
	struct ib_pd		*pd;
	struct ib_cq		*scq;
	struct ib_cq		*rcq;
	struct ib_qp		*qp;
	union ib_gid		gid;
	u8			gid_index;
	unsigned long		events;
	bool			event_is_atomic;
};

/**
 * struct kv_opts - how a QP differs from the usual: RC, 64 work requests each way
 * @type: its type, 0 for RC
 * @wr: work requests each way, 0 for 64
 * @rdma_ctxs: contexts of rdma_rw it is to have
 * @pd: its protection domain, NULL for one of its own
 * @pd_flags: of the one of its own
 * @cq: where all of it completes, NULL for CQs of its own, to be polled
 * @srq: its shared receives
 * @rnr_retry: how often it is put off
 */
struct kv_opts {
	enum ib_qp_type	type;
	u32		wr;
	u32		rdma_ctxs;
	struct ib_pd	*pd;
	int		pd_flags;
	struct ib_cq	*cq;
	struct ib_srq	*srq;
	u8		rnr_retry;
};

/**
 * struct kv_target - a region, and the peer that uses it
 * @a: the peer's QP, on the first device
 * @b: the QP of the region's owner, connected to @a
 * @mr: the region, of the same protection domain as @b
 * @sgt: its memory
 */
struct kv_target {
	struct kv_qp	*a;
	struct kv_qp	*b;
	struct ib_mr	*mr;
	struct sg_table	*sgt;
};

/**
 * struct kv_case - one behaviour
 * @name: what is so
 * @run: finds out; 0, KV_SKIP, or an error with a reason in kv->why
 * @arg: for @run, in kv->arg
 */
struct kv_case {
	const char	*name;
	int		(*run)(struct kv *kv);
	int		arg;
};

#define KV_SKIP	1

/* The cases of t_NAME.c; they run without being named anywhere else. */
#define KV_CASES(name)							\
	extern const struct kv_case kv_##name##_cases[];		\
	const struct kv_case kv_##name##_cases[]

#define KV_FAIL(kv, fmt, ...) ({					\
	snprintf((kv)->why, sizeof((kv)->why), "%s:%d: " fmt,		\
		 __func__, __LINE__, ##__VA_ARGS__);			\
	-EINVAL; })

#define KV_SKIP_IF(kv, cond, fmt, ...) do {				\
	if (cond) {							\
		snprintf((kv)->why, sizeof((kv)->why), fmt, ##__VA_ARGS__); \
		return KV_SKIP;						\
	}								\
} while (0)

/* End the case unless a condition holds. */
#define KV_EXPECT(kv, cond, fmt, ...) do {				\
	if (!(cond))							\
		return KV_FAIL(kv, "not " #cond ": " fmt, ##__VA_ARGS__); \
} while (0)

/* End the case unless two numbers are equal. */
#define KV_IS(kv, expr, want) do {					\
	long long kv_is = (long long)(expr), kv_want = (long long)(want); \
	if (kv_is != kv_want)						\
		return KV_FAIL(kv, #expr " is %lld, not %lld", kv_is,	\
			       kv_want);				\
} while (0)

/* End the case if what it calls fails; the reason is in kv->why. */
#define KV_TRY(expr) do {						\
	int kv_ret = (expr);						\
									\
	if (kv_ret)							\
		return kv_ret;						\
} while (0)

/* Set a pointer, and end the case if it is NULL; the reason is in kv->why. */
#define KV_GET(p, expr) do {						\
	(p) = (expr);							\
	if (!(p))							\
		return -EINVAL;						\
} while (0)

/* main.c */
int kv_later(struct kv *kv, void (*fn)(void *arg), void *arg);
int kv_later_mem(struct kv *kv, void (*fn)(void *arg), void *arg);
bool kv_becomes(bool (*fn)(void *arg), void *arg);

/* end.c */
struct ib_pd *kv_pd(struct kv *kv, int side, int flags);
struct ib_cq *kv_cq(struct kv *kv, int side, u32 cqe, ib_comp_handler handler,
		    void *ctx);
struct ib_cq *kv_api_cq(struct kv *kv, int side, u32 cqe,
			enum ib_poll_context poll);
struct kv_qp *kv_qp(struct kv *kv, int side, const struct kv_opts *opts);
int kv_init(struct kv *kv, struct kv_qp *q);
int kv_rtr(struct kv *kv, struct kv_qp *q, const struct kv_qp *peer,
	   u8 rnr_retry);
int kv_connect(struct kv *kv, struct kv_qp *a, struct kv_qp *b);
int kv_pair(struct kv *kv, const struct kv_opts *opts, struct kv_qp **a,
	    struct kv_qp **b);
int kv_state(struct kv_qp *q);
int kv_to(struct kv_qp *q, enum ib_qp_state state);
int kv_wait(struct kv *kv, struct ib_cq *cq, struct ib_wc *wc);
int kv_event(struct kv *kv, struct kv_qp *q, enum ib_event_type event);
struct ib_send_wr kv_send_wr(struct ib_sge *sge);
int kv_post(struct kv *kv, struct kv_qp *q, const struct ib_send_wr *wr);
int kv_do(struct kv *kv, struct kv_qp *q, const struct ib_send_wr *wr);
int kv_rdma(struct kv *kv, struct kv_qp *q, enum ib_wr_opcode op, void *buf,
	    u32 len, u64 addr, u32 rkey);
int kv_recv(struct kv *kv, struct kv_qp *q, void *buf, u32 len);
int kv_post_recv(struct kv *kv, struct kv_qp *q, struct ib_cqe *cqe, void *buf,
		 u32 len);
int kv_post_send(struct kv *kv, struct kv_qp *q, struct ib_cqe *cqe, void *buf,
		 u32 len);
int kv_send(struct kv *kv, struct kv_qp *q, void *buf, u32 len);
int kv_send_sge(struct kv *kv, struct kv_qp *q, struct ib_sge sge);

/* memory.c */
void *kv_buf(struct kv *kv, u32 len);
struct sg_table *kv_pages(struct kv *kv, struct kv_qp *q, u32 pages, u32 skip,
			  u32 cut);
u32 kv_sg_len(const struct sg_table *sgt);
void kv_fill(void *buf, u32 len, u32 seed);
int kv_same(struct kv *kv, const void *buf, u32 len, u32 seed);
void kv_sg_fill(struct sg_table *sgt, u32 seed);
int kv_sg_same(struct kv *kv, struct sg_table *sgt, u32 seed);
int kv_sg_margins(struct kv *kv, struct sg_table *sgt);
struct ib_mr *kv_mr(struct kv *kv, struct kv_qp *q, enum ib_mr_type type,
		    u32 pages);
int kv_map(struct kv *kv, struct ib_mr *mr, struct sg_table *sgt, u32 page_size);
int kv_reg(struct kv *kv, struct kv_qp *q, struct ib_mr *mr, int access);
int kv_inval(struct kv *kv, struct kv_qp *q, u32 key);
int kv_mapped(struct kv *kv, struct kv_qp *q, u32 pages, u32 skip, u32 cut,
	      struct ib_mr **mr, struct sg_table **sgt);
int kv_region(struct kv *kv, struct kv_qp *q, u32 pages, u32 skip, u32 cut,
	      int access, struct ib_mr **mr, struct sg_table **sgt);
int kv_target(struct kv *kv, struct kv_target *t, u32 pages, u32 skip, u32 cut,
	      int access);
int kv_target_mapped(struct kv *kv, struct kv_target *t, u32 pages, u32 skip,
		     u32 cut);

/* live.c */
int kv_live_start(struct ib_device *dev);
void kv_live_removed(struct ib_device *dev);
void kv_live_stop(void);
int kv_live_say(char *buf, size_t len);

#endif /* KVERBS_H */
