/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All that the protocol asks of its surroundings. The module implements these
 * in drv/; simulation, fuzzing and unit tests implement them in user space.
 * Each is called with the QP locked and must not sleep.
 */
#ifndef SROCE_ENV_H
#define SROCE_ENV_H

#include <linux/percpu.h>
#include "drv/core/qp.h"
#include "drv/core/tx/txbuf.h"

/* Count a decision */
static inline void sroce_count(struct sroce_qp *qp, enum sroce_counter c)
{
	this_cpu_inc(qp->counters->c[c]);
}

/**
 * struct sroce_cqe - a completion, before it takes a CQ's shape
 * @wr_id: the work request's
 * @status: how it ended
 * @opcode: what it was
 * @byte_len: bytes received
 * @imm: immediate data as it was on the wire, if @wc_flags says so
 * @inv_rkey: R_Key invalidated, if @wc_flags says so
 * @src_qp: UD: who sent it
 * @wc_flags: enum ib_wc_flags
 * @pkey_index: GSI: index of the P_Key
 * @v6: kernel users: network header type
 * @vlan: kernel users: VLAN, 0xffff for none
 */
struct sroce_cqe {
	u64			wr_id;
	enum ib_wc_status	status;
	enum ib_wc_opcode	opcode;
	u32			byte_len;
	__be32			imm;
	u32			inv_rkey;
	u32			src_qp;
	int			wc_flags;
	u16			pkey_index;
	bool			v6;
	u16			vlan;
};

/* Post a completion; false if the CQ overflowed or had overflowed before. */
bool sroce_cq_post(struct sroce_qp *qp, struct sroce_cq *cq,
		   const struct sroce_cqe *cqe, bool solicited, u32 duty);

/*
 * A packet of @len bytes from BTH on, ICRC not counted; NULL if it can't be.
 * Responses and requests may overtake each other, but not their like.
 */
void *sroce_tx_begin(struct sroce_qp *qp, struct sroce_av *av, u32 len,
		     bool response);
/*
 * Likewise as many as *@n, which may become less, of equal size, their ICRCs between
 * them: they follow what was queued last to the same peer. NULL if none can.
 */
void *sroce_tx_begin_segs(struct sroce_qp *qp, struct sroce_av *av, u32 len,
			 bool response, u32 *n);
/* Whether requests that follow may leave together with what was queued last */
bool sroce_tx_can_append(struct sroce_qp *qp);
/*
 * Seal and queue it, or @n of them, which may be fewer than there is room for; they
 * leave when the QP is unlocked.
 */
void sroce_tx_commit(struct sroce_qp *qp, u32 n);
/* Forget it. */
void sroce_tx_abort(struct sroce_qp *qp);

/*
 * Queue the payload of a work request as an Ethernet frame: 0, or what
 * sroce_wqe_gather() said. The longest that the netdev takes.
 */
int sroce_raw_tx(struct sroce_qp *qp, const struct sroce_wqe *wqe);
u32 sroce_raw_max(struct sroce_qp *qp);

/* Whether the QP's peer can be reached without a wire */
bool sroce_loopback_usable(struct sroce_qp *qp);
/* Queue a parcel; like all else, it leaves when the QP is unlocked. */
void sroce_loopback_tx(struct sroce_qp *qp, struct sroce_lbpkt *lbpkt);
/* Memory of parcels; NULL if there is none */
struct sroce_lbpkt *sroce_loopback_alloc(size_t size);
void sroce_loopback_release(struct sroce_lbpkt *lbpkt);

/* memcpy() of payload */
void sroce_copy(void *to, const void *from, u32 len);

/* Payload bytes of a received packet */
int sroce_pkt_copy(const struct sroce_pkt *pkt, u32 off, void *to, u32 len);

/*
 * Where in a packet's payload to go on, for sroce_segs_rx_span(); in a run @off counts
 * headers and ICRCs as well, and @left bytes follow in the same packet.
 */
struct sroce_rx_cursor {
	const struct sroce_pkt	*pkt;
	u32			off;
	u32			left;
};

int sroce_segs_rx_span(void *span, u32 len, void *arg);

/*
 * Keep a received packet beyond its burst: its carrier, which may be replaced,
 * lives until the release. False without memory.
 */
bool sroce_pkt_hold(struct sroce_pkt *pkt);
void sroce_pkt_release(const struct sroce_pkt *pkt);

/*
 * The region or window that a key's index names, held until put, whether its key
 * works or not and whosever it is. Whoever sees it valid once it is held may use it
 * until the put.
 */
struct sroce_mr *sroce_mr_find(struct sroce_qp *qp, u32 key);
void sroce_mr_hold(struct sroce_mr *mr);
void sroce_mr_put(struct sroce_mr *mr);
/* Wait until only the caller holds a busy one: as long as a burst takes. */
void sroce_mr_drain(struct sroce_mr *mr);

/*
 * Pages that come on demand. Enter: 0 if all of a range is there, to stay until
 * leave; -EAGAIN if not. Want: -EAGAIN: the first @need bytes are brought, which
 * may sleep, and then sroce_transport_paged() is called; -EFAULT if they can't be. The
 * rest of @len bytes is brought as well if it can be. Used: there may be such
 * regions at all.
 */
int sroce_odp_enter(struct sroce_odp *odp, u64 iova, u32 len, bool write);
void sroce_odp_leave(struct sroce_odp *odp);
void *sroce_odp_span(struct sroce_odp *odp, u64 iova, u32 *len);
int sroce_pager_fault_in(struct sroce_qp *qp, struct sroce_mr *mr, u64 iova, u32 need,
		   u32 len, bool write);
bool sroce_odp_used(const struct sroce_qp *qp);

/* The address handle of a number, in the QP's PD, held until put. */
struct sroce_ah *sroce_ah_get(struct sroce_qp *qp, u32 ah_num);
struct sroce_av *sroce_ah_av(struct sroce_ah *ah);
void sroce_ah_put(struct sroce_ah *ah);

/* The next receive work request, from the RQ or the SRQ */
bool sroce_srq_take_recv(struct sroce_qp *qp, struct sroce_rwqe *to);

/*
 * Time in ns; two one-shot timers that call back with the QP locked. The first may
 * fire @slack late, or early if it was set for something else before.
 */
u64 sroce_now(void);
void sroce_task_set_ack_timer(struct sroce_qp *qp, u64 when, u64 slack);
void sroce_task_set_rnr_timer(struct sroce_qp *qp, u64 delay);

/* Atomic read-modify-write of 8 aligned bytes, against all other CPUs */
static inline u64 sroce_atomic_cmpxchg(u64 *p, u64 compare, u64 swap)
{
	return cmpxchg64(p, compare, swap);
}

static inline u64 sroce_atomic_add(u64 *p, u64 add)
{
	return atomic64_fetch_add(add, (atomic64_t *)p);
}

#endif /* SROCE_ENV_H */
