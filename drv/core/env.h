/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions that the protocol core calls but does not implement. The rest of the module
 * implements them; the simulation, the fuzzers and the unit tests do so in user space. The
 * core calls them with the QP locked, except for sroce_crc32(), which also checks packets
 * whose QP is not known yet. None may sleep.
 */
#ifndef SROCE_ENV_H
#define SROCE_ENV_H

#include <linux/percpu.h>
#include <linux/string.h>
#include "drv/core/qp.h"

struct sroce_lbpkt;
struct sroce_mr;
struct sroce_odp;

/**
 * sroce_count() - increment a counter of the set that a QP counts in
 * @qp: the QP
 * @c: the counter
 */
static inline void sroce_count(struct sroce_qp *qp, enum sroce_counter c)
{
	this_cpu_inc(qp->counters->c[c]);
}

/* Likewise, by @n */
static inline void sroce_count_n(struct sroce_qp *qp, enum sroce_counter c, u32 n)
{
	this_cpu_add(qp->counters->c[c], n);
}

/**
 * struct sroce_cqe - a completion, before it is converted to the format of its CQ
 * @wr_id: ID of the work request
 * @status: how the work request ended
 * @opcode: what the work request did
 * @byte_len: bytes received, or sent
 * @imm: immediate data in network order, with IB_WC_WITH_IMM in @wc_flags
 * @inv_rkey: invalidated R_Key, with IB_WC_WITH_INVALIDATE in @wc_flags
 * @src_qp: UD: QP number of the sender
 * @wc_flags: enum ib_wc_flags
 * @pkey_index: GSI: index of the P_Key
 * @v6: with IB_WC_GRH: the network header is IPv6
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

/*
 * Post a completion. @defer is set in sroce_qp.deferred if the consumer must be notified,
 * SROCE_DEFER_OVERFLOW(@defer) if the CQ overflows. Return: false if the CQ has overflowed,
 * now or before.
 */
bool sroce_cq_post(struct sroce_qp *qp, struct sroce_cq *cq,
		   const struct sroce_cqe *cqe, bool solicited, u32 defer);

/*
 * Begin a packet of @len bytes from BTH on, without ICRC. Return: where BTH goes, or NULL
 * without memory or route. Requests stay in order, and so do responses; but a response may
 * overtake a request, and a request a response.
 */
void *sroce_tx_begin(struct sroce_qp *qp, struct sroce_av *av, u32 len,
		     bool response);
/*
 * Begin up to *@n packets of equal size that join the train queued last; *@n is set to how
 * many fit. They lie one after the other, each followed by its ICRC. NULL if none fits.
 */
void *sroce_tx_begin_segs(struct sroce_qp *qp, struct sroce_av *av, u32 len,
			  bool response, u32 *n);
/* Whether more requests can join the train queued last */
bool sroce_tx_can_append(struct sroce_qp *qp);
/* Whether a response of @len bytes, without ICRC, fits behind the train of requests queued last */
bool sroce_tx_fits(struct sroce_qp *qp, u32 len);
/*
 * Have one that fits leave there: the caller begins it next, as a request. False if it could
 * overtake a response, or had to wait. Responses that follow may overtake it.
 */
bool sroce_tx_join(struct sroce_qp *qp, u32 len);
/*
 * Add the ICRCs and queue the first @n of the packets begun. They leave when the QP is
 * unlocked.
 */
void sroce_tx_commit(struct sroce_qp *qp, u32 n);
/* Discard the packets begun. */
void sroce_tx_abort(struct sroce_qp *qp);
/* No request is to be sent: those that follow may be sent by another CPU. */
void sroce_tx_idle(struct sroce_qp *qp);
/* Packets that the transmit queue of requests or responses takes now */
u32 sroce_tx_room(struct sroce_qp *qp, bool response);
/*
 * There are more packets than fitted. Return: whether there is room now, for a trip that
 * follows at once. If not, sroce_transport_run() is called when there is.
 */
bool sroce_tx_wait_room(struct sroce_qp *qp, bool response);
/* Whether requests may not have left this host yet: they are in a queue of the QP or beyond */
bool sroce_tx_pending(struct sroce_qp *qp);

/*
 * Queue the payload of a work request as an Ethernet frame. Return: 0, -EMSGSIZE if it is too long,
 * or an error of sroce_wqe_gather().
 */
int sroce_raw_tx(struct sroce_qp *qp, const struct sroce_wqe *wqe);
/* Bytes of the longest frame that the netdev takes */
u32 sroce_raw_max(struct sroce_qp *qp);
/* Bytes of the longest datagram: the port's active MTU */
u32 sroce_ud_max(struct sroce_qp *qp);

/* Whether the QP's peer is on this host, and loopback packets can be sent to it */
bool sroce_loopback_usable(struct sroce_qp *qp);
/* Queue a loopback packet. It leaves when the QP is unlocked. */
void sroce_loopback_tx(struct sroce_qp *qp, struct sroce_lbpkt *lbpkt);
/* Allocate and free loopback packets. */
struct sroce_lbpkt *sroce_loopback_alloc(size_t size);
void sroce_loopback_release(struct sroce_lbpkt *lbpkt);

/* Update a CRC-32, least significant bit first. */
u32 sroce_crc32(u32 crc, const void *data, u32 len);

/* Copy payload; tests count the bytes. */
#ifdef __KERNEL__
static inline void sroce_copy(void *to, const void *from, u32 len)
{
	memcpy(to, from, len);
}
#else
void sroce_copy(void *to, const void *from, u32 len);
#endif

/* Copy @len payload bytes of a received packet, from @off on. */
int sroce_pkt_copy(const struct sroce_pkt *pkt, u32 off, void *to, u32 len);

/*
 * Keep the payload of a received packet until the release, beyond the trip. pkt->carrier
 * may be replaced. Return: false without memory, or if too much is kept for the QP's user.
 */
bool sroce_pkt_hold(struct sroce_qp *qp, struct sroce_pkt *pkt);
void sroce_pkt_release(struct sroce_qp *qp, const struct sroce_pkt *pkt);

/*
 * Look up the region or window at a key's index and take a reference. The caller checks
 * state, key and PD.
 */
struct sroce_mr *sroce_mr_find(struct sroce_qp *qp, u32 key);
void sroce_mr_hold(struct sroce_mr *mr);
void sroce_mr_put(struct sroce_mr *mr);
/*
 * The same for a user: a region or window that is SROCE_MR_VALID after sroce_mr_enter() may be
 * used until sroce_mr_leave(), in the same trip.
 */
struct sroce_mr *sroce_mr_enter(struct sroce_qp *qp, u32 key);
void sroce_mr_leave(struct sroce_mr *mr);
/*
 * Wait for the users of a window or fast region in SROCE_MR_BUSY; they leave at the end of
 * their trip.
 */
void sroce_mr_drain(struct sroce_mr *mr);
/*
 * Whether the system call that registers a region has succeeded. Until then it may have to be
 * undone, which must not fail.
 */
bool sroce_mr_is_committed(const struct sroce_mr *mr);

/*
 * Regions on demand (ODP). Enter: 0 if all pages of a range are present, and they stay
 * until leave; -EAGAIN if not. Span: see sroce_mr_span(); between enter and leave only.
 */
int sroce_odp_enter(struct sroce_odp *odp, u64 iova, u32 len, bool write);
void sroce_odp_leave(struct sroce_odp *odp);
void *sroce_odp_span(struct sroce_odp *odp, u64 iova, u32 *len);
/*
 * Request a page fault of the first @need bytes, and of the rest of @len bytes if possible.
 * Return: -EAGAIN: sroce_transport_faulted_in() is called afterwards; -EFAULT: the fault failed
 * before.
 */
int sroce_pager_fault_in(struct sroce_qp *qp, struct sroce_mr *mr, u64 iova, u32 need,
			 u32 len, bool write);
/* Whether the QP may use regions on demand at all */
bool sroce_odp_used(const struct sroce_qp *qp);

/* Look up an address handle of the QP's PD and take a reference. */
struct sroce_ah *sroce_ah_get(struct sroce_qp *qp, u32 ah_num);
struct sroce_av *sroce_ah_av(struct sroce_ah *ah);
void sroce_ah_put(struct sroce_ah *ah);

/* Take the next receive work request from the RQ or SRQ. False if there is none. */
bool sroce_srq_take_recv(struct sroce_qp *qp, struct sroce_rwqe *to);

/*
 * Monotonic time in ns, and two one-shot timers, which call sroce_retrans_timer() and
 * sroce_retrans_rnr_timer() with the QP locked. The ACK timer may fire up to @slack ns
 * late. It fires early if it was set to an earlier time before.
 */
u64 sroce_now(void);
void sroce_task_set_ack_timer(struct sroce_qp *qp, u64 when, u64 slack);
void sroce_task_set_rnr_timer(struct sroce_qp *qp, u64 delay);

/* Read-modify-write of 8 aligned bytes, atomic with respect to all other CPUs */
static inline u64 sroce_atomic_cmpxchg(u64 *p, u64 compare, u64 swap)
{
	return cmpxchg64(p, compare, swap);
}

static inline u64 sroce_atomic_add(u64 *p, u64 add)
{
	return atomic64_fetch_add(add, (atomic64_t *)p);
}

#endif /* SROCE_ENV_H */
