/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A fuzzer of the module from user space. It speaks to /dev/infiniband/uverbs* itself and
 * maps rings itself, so that no library stands between a mistake and the kernel.
 *
 * A process has one context of each of the two devices, tables of its objects, and threads
 * that do random things to them. Those of a tame process rarely make mistakes, so that
 * QPs get to work; those of a wild one make them all the time, and write to its rings.
 */
#ifndef FZ_H
#define FZ_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/ib_user_verbs.h>
#include "../../uapi/sroce_abi.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/*
 * What is counted, and what has to become of it in a run: OK: some succeed; BAD: some are
 * refused; NEVER: none succeeds.
 */
#define OK	1
#define BAD	2
#define NEVER	4

#define FZ_CALLS(X)							\
	X(OPEN, OK) X(QUERY_DEVICE, OK | BAD) X(QUERY_PORT, OK | BAD)	\
	X(ALLOC_PD, OK | BAD) X(DEALLOC_PD, OK | BAD) X(REG_MR, OK | BAD) \
	X(REREG_MR, OK | BAD) X(DEREG_MR, OK | BAD) X(ALLOC_MW, OK | BAD) \
	X(DEALLOC_MW, OK | BAD) X(CHANNEL, OK | BAD) X(CREATE_CQ, OK | BAD) \
	X(RESIZE_CQ, OK | BAD) X(DESTROY_CQ, OK | BAD) X(NOTIFY_CQ, OK | BAD) \
	X(POLL_CQ, BAD | NEVER) X(CREATE_QP, OK | BAD) X(QUERY_QP, OK | BAD) \
	X(TO_INIT, OK | BAD) X(TO_RTR, OK | BAD) X(TO_RTS, OK | BAD)	\
	X(TO_OTHER, OK | BAD) X(DESTROY_QP, OK | BAD) X(DOORBELL, OK | BAD) \
	X(POST_RECV, BAD | NEVER) X(POST_SRQ_RECV, BAD | NEVER)		\
	X(CREATE_AH, OK | BAD) X(DESTROY_AH, OK | BAD) X(ATTACH, OK | BAD) \
	X(DETACH, OK | BAD) X(CREATE_SRQ, OK | BAD) X(MODIFY_SRQ, OK | BAD) \
	X(QUERY_SRQ, OK | BAD) X(DESTROY_SRQ, OK | BAD) X(ADVISE_MR, OK | BAD) \
	X(IOCTL, OK | BAD) X(EX_WRITE, OK | BAD) X(MMAP, OK | BAD)	\
	X(EVENTS, OK | BAD) X(EVICT, OK)				\
	X(RC_SEND, OK | BAD) X(RC_WRITE, OK | BAD) X(RC_READ, OK | BAD)	\
	X(RC_ATOMIC, OK | BAD) X(BIND_MW, OK | BAD) X(LOCAL_INV, OK | BAD) \
	X(UC_SEND, OK | BAD) X(UC_WRITE, OK | BAD) X(UD_SEND, OK | BAD)	\
	X(RECV, OK | BAD)						\
	X(RAW_V4, OK) X(RAW_V6, OK) X(UDP_SEGMENT, OK) X(USER_UDP, BAD)

enum fz_call {
#define X(name, want) FZ_##name,
	FZ_CALLS(X)
#undef X
	FZ_NUM
};

/* Processes: tame, wild, forgers of packets */
#define SLOTS		8
#define THREADS		3
#define ERRNOS		136
#define TARGETS		32

/* What may be hit from the wire: a connected QP, as it was when it was connected */
struct fz_target {
	uint32_t	qpn, psn, rkey, type;
	uint64_t	addr;
};

/* A thread: the call that it is in, and since when; 0: none */
struct fz_watch {
	_Atomic uint64_t since;
	_Atomic int	 call, tid;
};

/* Shared by all processes */
struct fz_board {
	_Atomic uint64_t count[FZ_NUM][ERRNOS];	/* [0]: successes */
	struct fz_watch	 watch[SLOTS][THREADS];
	struct fz_target target[2][TARGETS];	/* on either device */
	_Atomic int	 stop;
	uint32_t	 slowness;		/* of the kernel: 1 for one of Debian's */
};

extern struct fz_board *board;

enum fz_table { T_PD, T_MR, T_MW, T_CHAN, T_CQ, T_QP, T_AH, T_SRQ, T_NUM };

enum fz_state { FREE, BUSY, LIVE };

struct fz_ring {
	struct sroce_abi_ring *buf;
	size_t		 size;
	uint32_t	 mask, shift;
};

/* An object. What other threads do to it meanwhile is a part of the test. */
struct fz_obj {
	_Atomic int	 state;
	uint32_t	 handle;
	uint32_t	 num;		/* QPN, of a MW that which bound it; number of the AH */
	uint32_t	 lkey, rkey, access;
	uint8_t		*at;		/* MR */
	size_t		 len;
	uint32_t	 type;		/* of QP, MW */
	uint32_t	 depth, sges;	/* of the SQ */
	int		 pd, scq, rcq, srq;	/* indices; -1: none */
	int		 fd;		/* completion channel */
	int		 to;		/* AH, connected QP: device of the peer */
	struct fz_obj	*peer;
	bool		 rts;
	uint8_t		 groups;	/* that a QP is attached to */
	uint64_t	 life;		/* how often it was connected */
	struct fz_ring	 ring[2];	/* SQ and RQ; the only one of others is [0] */
	pthread_mutex_t	 lock;		/* of whoever uses a ring as a provider does */
};

#define OBJS	24
#define GIDS	8

struct fz_gid {
	int		 index;
	uint8_t		 raw[16];
};

struct fz_dev {
	int		 id, fd, async;
	struct fz_obj	 obj[T_NUM][OBJS];
	struct fz_gid	 gid[GIDS];
	int		 gids;
};

struct fz_proc {
	int		 slot;
	bool		 wild;
	uint8_t		*arena;		/* memory for regions */
	struct fz_dev	 dev[2];
	pthread_rwlock_t maps;		/* held for writing to unmap a ring */
	_Atomic int	 gone;		/* calls that found no device any more */
};

struct fz_thread {
	struct fz_proc	*proc;
	int		 id;
	uint64_t	 rnd;
	struct fz_watch	*watch;
};

#define ARENA	(2 << 20)
#define QKEY	0x1badcafe

/* rnd.c: random numbers, counts, the watch */
uint32_t fz_rand(struct fz_thread *t);
uint32_t fz_below(struct fz_thread *t, uint32_t n);
bool fz_one_in(struct fz_thread *t, uint32_t n);
bool fz_mistake(struct fz_thread *t);
uint64_t fz_odd(struct fz_thread *t);
uint64_t fz_mix(uint64_t a, uint64_t b);
uint64_t fz_now_ms(void);
void fz_count(enum fz_call call, int err);
void fz_begin(struct fz_thread *t, enum fz_call call);
int fz_end(struct fz_thread *t, enum fz_call call, int ret);

/* uv.c: commands */
struct fz_cmd {
	struct ib_uverbs_cmd_hdr hdr;
	union {
		uint64_t response;
		uint8_t raw[512];
		struct ib_uverbs_query_port query_port;
		struct ib_uverbs_reg_mr reg_mr;
		struct ib_uverbs_rereg_mr rereg_mr;
		struct ib_uverbs_alloc_mw alloc_mw;
		struct ib_uverbs_create_cq create_cq;
		struct ib_uverbs_resize_cq resize_cq;
		struct ib_uverbs_poll_cq poll_cq;
		struct ib_uverbs_req_notify_cq notify;
		struct ib_uverbs_destroy_cq destroy;	/* also of QPs and SRQs */
		struct ib_uverbs_create_qp create_qp;
		struct ib_uverbs_query_qp query_qp;
		struct ib_uverbs_modify_qp modify_qp;
		struct ib_uverbs_post_send post_send;
		struct ib_uverbs_post_recv post_recv;
		struct ib_uverbs_create_ah create_ah;
		struct ib_uverbs_attach_mcast mcast;
		struct ib_uverbs_create_srq create_srq;
		struct ib_uverbs_modify_srq modify_srq;
		struct ib_uverbs_query_srq query_srq;
		uint32_t handle;
	};
} __attribute__((packed, aligned(8)));

union fz_resp {
	uint32_t word[128];
	struct ib_uverbs_reg_mr_resp reg_mr;
	struct ib_uverbs_alloc_mw_resp alloc_mw;
	struct {
		struct ib_uverbs_create_cq_resp base;
		struct sroce_abi_create_cq_resp drv;
	} cq;
	struct {
		struct ib_uverbs_create_qp_resp base;
		struct sroce_abi_create_qp_resp drv;
	} qp;
	struct {
		uint32_t handle, max_wr, max_sge, num;
		struct sroce_abi_mmap mi;
	} srq;
};

int fz_cmd(struct fz_thread *t, struct fz_dev *d, enum fz_call call, uint32_t number,
	   struct fz_cmd *cmd, size_t in, union fz_resp *resp, size_t out);
void fz_ex_write(struct fz_thread *t, struct fz_dev *d);
void fz_ioctl(struct fz_thread *t, struct fz_dev *d);
void fz_advise(struct fz_thread *t, struct fz_dev *d);
bool fz_open(struct fz_thread *t, struct fz_dev *d);
void fz_gids(struct fz_dev *d);

/* obj.c: objects come and go */
struct fz_obj *fz_pick(struct fz_thread *t, struct fz_dev *d, enum fz_table table);
struct fz_obj *fz_of_pd(struct fz_thread *t, struct fz_dev *d, enum fz_table table, int pd);
uint32_t fz_handle(struct fz_thread *t, struct fz_dev *d, enum fz_table table);
bool fz_map(struct fz_thread *t, struct fz_dev *d, struct fz_ring *ring,
	    const struct sroce_abi_mmap *mi);
void fz_replace(struct fz_thread *t, struct fz_dev *d, struct fz_ring *ring,
		const struct sroce_abi_mmap *mi);
void fz_create(struct fz_thread *t, struct fz_dev *d, enum fz_table table);
void fz_destroy(struct fz_thread *t, struct fz_dev *d, enum fz_table table);

/* qp.c: what is done to objects */
void fz_connect(struct fz_thread *t, struct fz_dev *d);
void fz_modify_any(struct fz_thread *t, struct fz_dev *d);
void fz_act(struct fz_thread *t, struct fz_dev *d);

/* ring.c: rings, as a provider uses them, and as an enemy does */
void fz_traffic(struct fz_thread *t, struct fz_dev *d);
void fz_poll(struct fz_thread *t, struct fz_dev *d);
void fz_scribble(struct fz_thread *t, struct fz_dev *d);

/* wire.c */
void fz_forge(struct fz_thread *t, int from, bool user);

#endif
