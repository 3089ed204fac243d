/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The queue pair, as the protocol sees it. */
#ifndef SROCE_QP_H
#define SROCE_QP_H

#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/mutex.h>
#include <linux/time64.h>
#include <net/dst_cache.h>
#include <rdma/ib_verbs.h>
#include "drv/core/counter.h"
#include "drv/core/wire/pkt.h"
#include "drv/core/wire/psn.h"
#include "drv/core/mem/wqe.h"

struct sroce_cq;
struct sroce_srq;
struct sroce_dev;
struct sroce_kqp;

/* Unacknowledged request packets per QP, at least and at most: window.c */
#define SROCE_CWND_MIN	1536U
#define SROCE_CWND_MAX	2048U
/* To a peer of which nothing is known yet, or that can't do so many in time */
#define SROCE_CWND_INIT	256U
#define SROCE_CWND_SLOW	16U
/* Packets sent again for a gap where gaps are dense, at least */
#define SROCE_RETRANS_BATCH_MIN	8U
/* Gaps count as no further from each other than so many packets. */
#define SROCE_GAP_DIST_MAX		1024
/* Request packets kept after a gap, per QP */
#define SROCE_OFO_MAX		SROCE_CWND_MAX
/* Responses taken in after a gap, in PSNs from the oldest missing one */
#define SROCE_READ_AHEAD	16384
/* Ask for an acknowledge this often, in parts of the window. */
#define SROCE_ACKS_PER_CWND	2
/* Packets sent in one go, before the other side gets the CPU. */
#define SROCE_TX_BUDGET		64
/* Likewise, payload bytes of packets that stay on this host */
#define SROCE_TX_BUDGET_BYTES	(512 * 1024U)
/* Reads and atomics a responder keeps for replay. */
#define SROCE_MAX_RD_ATOMIC	128

/**
 * struct sroce_av - where packets go
 * @sgid: our address; IPv4 mapped into IPv6
 * @dgid: the peer's
 * @v6: network type
 * @multicast: @dgid is a group
 * @tclass: DSCP and ECN
 * @hop_limit: TTL
 * @flow_label: of IPv6
 * @sport: UDP source port, the path's entropy
 * @ifindex: of the netdev that owns @sgid
 * @ip_id: next IPv4 identification
 * @resolved: @local was found out
 * @local: it leads to this host
 * @dst: the route
 */
struct sroce_av {
	union ib_gid		sgid;
	union ib_gid		dgid;
	bool			v6;
	bool			multicast;
	u8			tclass;
	u8			hop_limit;
	u32			flow_label;
	u16			sport;
	int			ifindex;
	u16			ip_id;
	bool			resolved;
	bool			local;
	struct dst_cache	dst;
};

/* So much later than asked for the acknowledge timer may fire, in ns */
#define SROCE_SLACK_MAX	(5ULL * NSEC_PER_MSEC)

/* What a peer does with the requests that follow a lost one */
enum sroce_gap_policy {
	SROCE_GAP_UNKNOWN,
	SROCE_GAP_KEEPS,	/* as we do: only what was lost is sent again */
	SROCE_GAP_DROPS,	/* all that followed is sent again */
};

/**
 * struct sroce_retrans - how a requester gets over a loss
 * @gap_policy: of the peer
 * @tried: the gap at req.acked is being repaired: once until there is progress
 * @rewound: by going back to @acked, because the peer reported a gap
 * @hold_new: nothing new until the peer shows its habit
 * @from: packets to send again, out of turn
 * @to: one past the last of them; equal to @from if there are none
 * @last: one past the packets sent again of late
 * @copies: of the packet at @acked, to be sent behind them
 * @gap_reported: the peer has reported the gap
 * @recover_psn: one past what was sent before the newest repair of a gap
 * @n: packets of the newest repair
 * @gap: the newest gap that was to be repaired
 * @gap_dist: mean of that of gaps from each other, in packets
 * @batch: packets to send again where gaps are dense
 * @tries_batch: just so many were sent now
 * @doubt: gaps that speak against @gap_policy
 * @probe_reads: responses asked for by the newest probe
 * @probe_end: one past the last of them
 * @probes: probes sent since there was progress
 * @probe_at: when the next is due, in ns of sroce_now(); 0 for never
 * @timer_psn: one past the newest packet when the timer was seen to
 * @ack_owed: and whether the peer had been asked for an answer then
 * @timer_backoff: the timer has fired so often without need, of late
 */
struct sroce_retrans {
	enum sroce_gap_policy	gap_policy;
	bool			tried;
	bool			rewound;
	bool			hold_new;
	u32			from;
	u32			to;
	u32			last;
	u32			copies;
	bool			gap_reported;
	u32			recover_psn;
	u32			n;
	u32			gap;
	s32			gap_dist;
	u32			batch;
	bool			tries_batch;
	u32			doubt;
	u32			probe_reads;
	u32			probe_end;
	u32			probes;
	u64			probe_at;
	u32			timer_psn;
	bool			ack_owed;
	u32			timer_backoff;
};

/* Responses to @wqe from @psn to before @end, asked for again at @when; 0: some came */
struct sroce_read_range {
	struct sroce_wqe *wqe;
	u32	psn;
	u32	end;
	u64	when;
};

/* Most ranges of responses that are asked for again at a time */
#define SROCE_READ_RANGES_MAX	64

/**
 * struct sroce_read_retry - responses that a requester has asked for again
 * @high: one past the newest response that has come or was asked for
 * @full: there was no room to ask for all of them
 * @n: how many ranges are under way
 * @range: these, in the order in which they were asked for
 */
struct sroce_read_retry {
	u32			high;
	bool			full;
	u32			n;
	struct sroce_read_range	range[SROCE_READ_RANGES_MAX];
};

/**
 * struct sroce_rtt - what the requester has learned about the path
 * @cwnd: request packets that may be unacknowledged
 * @sampling: a sample is being taken
 * @retrans: by a packet that was sent again: no measure of the window
 * @psn: of the packet whose acknowledge ends the sample
 * @acked: req.acked when it was sent
 * @start: when it was sent, in ns
 * @first: when the first packet of all was
 * @srtt: round trip time, in ns, as in RFC 6298
 * @rttvar: its mean deviation
 * @min_rtt: the shortest of late
 * @min_rtt_at: when that was
 * @assume_lost: repairs yet that are thought to be needed, though they come soon
 */
struct sroce_rtt {
	u32	cwnd;
	bool	sampling;
	bool	retrans;
	u32	psn;
	u32	acked;
	u64	start;
	u64	first;
	u64	srtt;
	u64	rttvar;
	u64	min_rtt;
	u64	min_rtt_at;
	u32	assume_lost;
};

/**
 * struct sroce_req - requester, for RC and UC (9.7.3)
 * @psn: of the next packet to send
 * @max_psn: one past the newest PSN ever sent
 * @acked: the responder has executed all requests before this PSN
 * @una: oldest PSN of a work request that is not complete: @acked, or the next
 *	response that is missing
 * @next_idx: work request that @psn belongs to, or the first not started
 * @acked_idx: the first work request that has a PSN from @acked on
 * @reads: READs and atomics started and not completed
 * @read_psns: PSNs of READs from @acked on, beyond one each
 * @since_ackreq: packets sent since the last that asked for an acknowledge
 * @retries: timeouts left before IB_WC_RETRY_EXC_ERR
 * @excused: timeouts since the last that counts, which are this host's fault
 * @rnr_retries: RNR NAKs left before IB_WC_RNR_RETRY_EXC_ERR
 * @rnr_wait: nothing may be sent until the RNR timer fires
 * @deadline: when @una counts as lost, in ns of sroce_now(); 0 for never
 * @ssn: send sequence number of the newest message
 * @lsn_valid: the peer counts its receive work requests: @lsn holds
 * @lsn: newest SSN that the peer has a receive work request for
 * @credit_probe: a message beyond @lsn is on trial
 * @credit_probe_psn: PSN of its first packet; no other follows before its acknowledge
 * @pending_err: enum ib_wc_status of a request that has failed, or 0
 * @pending_err_psn: a PSN of it; the error waits for its turn, and nothing follows
 * @retrans: getting over losses
 * @read_retry: getting over losses of responses
 * @rtt: the path
 * @paging: the payload of the next packet is not in memory yet
 * @resp_dropped: a response was dropped as what it goes to is not in memory...
 * @resp_dropped_end: ...and those before this PSN are to be asked for again
 * @deferred: responses that are kept until it is
 * @n_deferred: how many, at most as many as sroce_resp.store_max
 * @resp_bitmap: responses from @una on that have come, by the low bits of the PSN
 */
struct sroce_req {
	u32	psn;
	u32	max_psn;
	u32	acked;
	u32	una;
	u32	next_idx;
	u32	acked_idx;
	u32	reads;
	u32	read_psns;
	u32	since_ackreq;
	u8	retries;
	u8	excused;
	u8	rnr_retries;
	bool	rnr_wait;
	u64	deadline;
	u32	ssn;
	bool	lsn_valid;
	u32	lsn;
	bool	credit_probe;
	u32	credit_probe_psn;
	u8	pending_err;
	u32	pending_err_psn;
	bool	paging;
	bool	resp_dropped;
	u32	resp_dropped_end;
	struct list_head	deferred;
	u32	n_deferred;
	struct sroce_retrans	retrans;
	struct sroce_read_retry	read_retry;
	struct sroce_rtt	rtt;
	DECLARE_BITMAP(resp_bitmap, SROCE_READ_AHEAD);
};

/**
 * struct sroce_resp_range - responses of a READ or atomic that are to be sent
 * @psn: the next
 * @end: one past the last
 * @opened: one has been sent
 */
struct sroce_resp_range {
	u32	psn;
	u32	end;
	bool	opened;
};

/**
 * struct sroce_res - a READ, atomic or FLUSH that the responder can answer again
 * @valid: it holds one
 * @single: it is no READ: one packet answers it
 * @bare: and that returns nothing: a READ response without data
 * @queued: @first is to be sent
 * @first_psn: PSN of the request
 * @last_psn: PSN of its last response
 * @first: the first answer
 * @va: address at @first_psn
 * @rkey: its key
 * @length: bytes from @va on
 * @orig: value before an atomic
 * @msn: MSN of the responses
 */
struct sroce_res {
	bool	valid;
	bool	single;
	bool	bare;
	bool	queued;
	u32	first_psn;
	u32	last_psn;
	struct sroce_resp_range first;
	u64	va;
	u32	rkey;
	u32	length;
	u64	orig;
	u32	msn;
};

/**
 * struct sroce_fifo - entries of sroce_resp.res that wait for their turn
 * @n: how many
 * @idx: indices, oldest first
 */
struct sroce_fifo {
	u32	n;
	u8	idx[SROCE_MAX_RD_ATOMIC];
};

/* Most ranges of answers that wait to be sent again */
#define SROCE_REPLAYS_MAX	SROCE_MAX_RD_ATOMIC

/**
 * struct sroce_replays - what was asked for again, in this order
 * @n: how many
 * @q: of which entry of sroce_resp.res, and what of it
 */
struct sroce_replays {
	u32	n;
	struct {
		u8			idx;
		struct sroce_resp_range	answer;
	} q[SROCE_REPLAYS_MAX];
};

/**
 * struct sroce_resp - responder (9.7.4 and on)
 * @psn: expected PSN
 * @msn: messages completed
 * @msg: SROCE_SENDING or SROCE_WRITING in the middle of a message
 * @nak_sent: the gap at @psn has been reported
 * @nak_psn: what @psn was then
 * @have_wqe: @wqe holds a receive work request
 * @wqe: the receive work request of this message
 * @off: bytes of this message already placed
 * @va: where the rest of a WRITE goes
 * @rkey: its key
 * @remaining: bytes still to come of a WRITE
 * @length: bytes of the WRITE
 * @aeth: an ACK or NAK is to be sent, with @aeth_psn and @aeth_syndrome
 * @aeth_psn: its PSN
 * @aeth_syndrome: its syndrome
 * @closing: once all answers are sent the QP goes to the error state
 * @nres: entries of @res in use, as many as max_dest_rd_atomic
 * @head: next entry of @res to use
 * @fifo: entries to be answered for the first time
 * @replays: answers to be sent again; they go first
 * @res: READs and atomics for replay
 * @ofo_queue: requests that came after a gap, by PSN
 * @ofo_len: how many
 * @ofo_max: most of them
 * @paging: the request at @psn is in @ofo_queue and waits for pages
 * @paging_since: when that began, in ns
 * @ofo_dropped: there was no room for it, or one after it: to be asked for again
 * @tx_paging: the next answer waits for pages
 */
struct sroce_resp {
	u32			psn;
	u32			msn;
	u32			msg;
	bool			nak_sent;
	u32			nak_psn;
	bool			have_wqe;
	struct sroce_rwqe	wqe;
	u32			off;
	u64			va;
	u32			rkey;
	u32			remaining;
	u32			length;
	bool			aeth;
	u32			aeth_psn;
	u8			aeth_syndrome;
	bool			closing;
	u32			nres;
	u32			head;
	struct sroce_fifo	fifo;
	struct sroce_replays	replays;
	struct sroce_res	*res;
	struct list_head	ofo_queue;
	u32			ofo_len;
	u32			ofo_max;
	bool			paging;
	bool			ofo_dropped;
	u64			paging_since;
	bool			tx_paging;
};

/* What is left to do once the QP's lock is released, struct sroce_qp.duty */
#define SROCE_DEFER_SCQ		BIT(0)	/* wake the send CQ's consumer */
#define SROCE_DEFER_RCQ		BIT(1)	/* wake the receive CQ's consumer */
#define SROCE_DEFER_OVERFLOW(duty)	((duty) << 2)	/* tell the owner of its loss */
#define SROCE_DEFER_SEND_NOW		BIT(4)	/* at once, without what may follow */

/**
 * struct sroce_qp - a queue pair
 * @ibqp: the core's view
 * @dev: its device
 * @counters: the device's, per CPU
 * @lock: owns all that follows, from one burst to the next
 * @mutex: serializes modify and destroy
 * @type: QP type
 * @svc: transport service
 * @user: its rings are user space's
 * @sig_all: each send work request makes a completion
 * @state: see sroce_qp_may_*()
 * @attr: attributes as set, for query
 * @qpn: number
 * @mtu: path MTU in bytes
 * @av: path to the peer, for RC and UC
 * @scq: send CQ
 * @rcq: receive CQ
 * @srq: shared receive queue or NULL
 * @sq: send queue
 * @rq: receive queue, unused with an SRQ
 * @req: requester
 * @resp: responder
 * @drained: SQD reached with nothing outstanding
 * @lb_copy_only: it has met a region whose pages come on demand: parcels refer to none
 * @has_mw: it has bound windows of type 2, which end with it
 * @comm_est: IB_EVENT_COMM_EST was raised
 * @last_wqe: IB_EVENT_QP_LAST_WQE_REACHED was raised
 * @last_mr: the region or window that this burst used last, held, or NULL
 * @trip_bytes: payload bytes of parcels in this burst
 * @deferred: SROCE_DUTY_*
 * @events: BIT(enum ib_event_type) to dispatch after the lock
 * @srq_events: the same for @srq
 * @kqp: timers, transmit queue: all that belongs to the surroundings
 */
struct sroce_qp {
	struct ib_qp		ibqp;
	struct sroce_dev	*dev;
	struct sroce_counters __percpu *counters;
	spinlock_t		lock;
	struct mutex		mutex;

	enum ib_qp_type		type;
	u8			svc;
	bool			user;
	bool			sig_all;
	enum ib_qp_state	state;
	struct ib_qp_attr	attr;
	u32			qpn;
	u32			mtu;
	struct sroce_av		av;

	struct sroce_cq		*scq;
	struct sroce_cq		*rcq;
	struct sroce_srq	*srq;
	struct sroce_sq		sq;
	struct sroce_rq		rq;

	struct sroce_req	req ____cacheline_aligned;
	struct sroce_resp	resp ____cacheline_aligned;

	bool			drained;
	bool			lb_copy_only;
	bool			has_mw;
	bool			comm_est;
	bool			last_wqe;
	struct sroce_mr		*last_mr;
	u32			trip_bytes;
	u32			deferred;
	u32			events;
	u32			srq_events;
	struct sroce_kqp	*kqp;
};

/* All of these are called with the QP locked. */

/* state.c */
void sroce_reset_qp(struct sroce_qp *qp);
void sroce_reset_sq(struct sroce_qp *qp);
bool sroce_state_transition_ok(struct sroce_qp *qp, const struct ib_qp_attr *attr,
			    int mask, enum ib_qp_state from,
			    enum ib_qp_state to);
void sroce_state_start_req(struct sroce_qp *qp);
void sroce_state_start_resp(struct sroce_qp *qp);

/* flush.c */
void sroce_flush_qp_error(struct sroce_qp *qp);
void sroce_flush_qp_fatal(struct sroce_qp *qp, enum ib_event_type event);
void sroce_sq_fail(struct sroce_qp *qp, enum ib_wc_status status);
void sroce_sq_complete(struct sroce_qp *qp, enum ib_wc_status status);
void sroce_flush_sq(struct sroce_qp *qp);
void sroce_flush_rq(struct sroce_qp *qp);

/* req.c */
bool sroce_req_run(struct sroce_qp *qp, u32 budget);
void sroce_reset_req_psn(struct sroce_qp *qp, u32 psn);
u32 sroce_req_pkt_psn_after(struct sroce_qp *qp, u32 psn);
void sroce_req_pkt_resend_read(struct sroce_qp *qp, struct sroce_wqe *wqe,
			   u32 from, u32 end);
void sroce_reset_req(struct sroce_qp *qp);
void sroce_req_paged(struct sroce_qp *qp);

/* turn.c */
bool sroce_sq_sched_idle(const struct sroce_qp *qp);
struct sroce_wqe *sroce_sq_sched_wqe(struct sroce_qp *qp, u32 from, u32 psn);
void sroce_sq_sched_seek(struct sroce_qp *qp, u32 psn);
bool sroce_sq_sched_blocked(const struct sroce_req *req, u32 psn);
void sroce_sq_sched_give_up(struct sroce_qp *qp, struct sroce_wqe *wqe,
			enum ib_wc_status status);
struct sroce_wqe *sroce_sq_sched_peek(struct sroce_qp *qp);
struct sroce_wqe *sroce_sq_sched_next(struct sroce_qp *qp, struct sroce_wqe *next);

/* repair.c */
void sroce_retrans_gap(struct sroce_qp *qp);
void sroce_retrans_passed(struct sroce_qp *qp);
void sroce_retrans_took(struct sroce_qp *qp, u64 ns);
void sroce_retrans_spurious(struct sroce_qp *qp);
void sroce_retrans_restart(struct sroce_qp *qp);
void sroce_retrans_acked(struct sroce_qp *qp, bool gap);
void sroce_read_retry_until(struct sroce_qp *qp, u32 end);
bool sroce_read_retry_missing(const struct sroce_req *req, u32 psn);
void sroce_read_retry_postpone(struct sroce_qp *qp, u32 psn);
void sroce_read_retry_dropped(struct sroce_qp *qp, u32 end);
void sroce_read_retry_received(struct sroce_qp *qp, u32 psn, u32 end);
void sroce_read_retry_trim(struct sroce_qp *qp);
void sroce_read_retry_oldest(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 n);
void sroce_retrans_progress(struct sroce_qp *qp);
void sroce_retrans_alive(struct sroce_qp *qp);
void sroce_retrans_set_timer(struct sroce_qp *qp);
void sroce_retrans_timer(struct sroce_qp *qp);
void sroce_retrans_rnr_timer(struct sroce_qp *qp);

/* window.c */
u64 sroce_cwnd_ack_timeout(const struct sroce_qp *qp);
void sroce_cwnd_sent(struct sroce_qp *qp, u32 psn, bool asks);
void sroce_cwnd_acked(struct sroce_qp *qp);
void sroce_cwnd_heard(struct sroce_qp *qp);
void sroce_cwnd_probed(struct sroce_qp *qp);
void sroce_cwnd_timeout(struct sroce_qp *qp);
void sroce_cwnd_retransmitted(struct sroce_qp *qp);
void sroce_cwnd_read_retried(struct sroce_qp *qp, u64 ns);
u64 sroce_cwnd_rto(const struct sroce_qp *qp, u64 timeout);

/* comp.c */
void sroce_comp_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt);
bool sroce_comp_rx_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_comp_settle(struct sroce_qp *qp);
void sroce_comp_paged(struct sroce_qp *qp);

/* local.c */
enum ib_wc_status sroce_mem_ops_run(struct sroce_qp *qp,
				  const struct sroce_wqe *wqe);
int sroce_mem_ops_invalidate(struct sroce_qp *qp, u32 key, bool remote);
bool sroce_mr_claim(struct sroce_mr *mr, enum sroce_mr_state from);
void sroce_mr_release(struct sroce_mr *mr, enum sroce_mr_state to);
void sroce_mr_unbind(struct sroce_mr *mw);

/* resp.c, answer.c, store.c */
void sroce_resp_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt);
bool sroce_resp_rx_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_resp_paged(struct sroce_qp *qp);
void sroce_resp_complete(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			 enum ib_wc_status status);
bool sroce_resp_tx_run(struct sroce_qp *qp, u32 budget);
u32 sroce_resp_res_ack_psn(const struct sroce_qp *qp, u32 psn);
void sroce_resp_tx_ack(struct sroce_qp *qp, u32 psn);
void sroce_resp_tx_nak(struct sroce_qp *qp, enum sroce_nak code);
void sroce_resp_tx_rnr(struct sroce_qp *qp);
struct sroce_res *sroce_resp_res_resize(struct sroce_qp *qp, struct sroce_res *res,
				      u32 n);
bool sroce_resp_res_has_room(const struct sroce_qp *qp);
struct sroce_res *sroce_resp_res_new(struct sroce_qp *qp);
void sroce_resp_res_queue(struct sroce_qp *qp, struct sroce_res *res);
bool sroce_resp_res_replay(struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_resp_res_forget(struct sroce_qp *qp);
int sroce_ofo_put(struct sroce_qp *qp, const struct sroce_pkt *pkt, bool first);
struct sroce_ofo_pkt *sroce_ofo_take(struct sroce_qp *qp);
bool sroce_ofo_defer(struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_ofo_defer_again(struct sroce_qp *qp, struct sroce_ofo_pkt *ofo);
void sroce_ofo_free(struct sroce_ofo_pkt *ofo);
void sroce_ofo_purge(struct sroce_qp *qp);

/* rx.c */
void sroce_transport_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt);
bool sroce_transport_rx_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt);
bool sroce_transport_run(struct sroce_qp *qp);
void sroce_transport_paged(struct sroce_qp *qp);

int sroce_wqe_msg_of_wr(u8 svc, u32 opcode);

static inline struct sroce_wqe *sroce_sq_oldest(struct sroce_qp *qp)
{
	struct sroce_wqe *wqe;

	if (qp->sq.cons == qp->sq.prod)
		return NULL;
	wqe = sroce_sq_wqe(&qp->sq, qp->sq.cons);
	return wqe->started ? wqe : NULL;
}

/* Request packets on their way, not counting the responses of READs */
static inline s32 sroce_in_flight(const struct sroce_qp *qp)
{
	return sroce_psn_diff(qp->req.psn, qp->req.acked) -
	       (s32)qp->req.read_psns;
}

/* Request packets that may be under way */
static inline u32 sroce_cwnd(const struct sroce_qp *qp)
{
	return qp->req.rtt.cwnd ?: SROCE_CWND_INIT;
}

/* Request packets that may be sent before the peer answers */
static inline u32 sroce_cwnd_free(const struct sroce_qp *qp)
{
	return max((s32)sroce_cwnd(qp) - sroce_in_flight(qp), 0);
}

static inline bool sroce_is_rc(const struct sroce_qp *qp)
{
	return qp->svc == SROCE_SVC_RC;
}

/* Packets may be sent that start a new message */
static inline bool sroce_qp_may_start(const struct sroce_qp *qp)
{
	return qp->state == IB_QPS_RTS;
}

/* Packets of messages under way may be sent */
static inline bool sroce_qp_may_send(const struct sroce_qp *qp)
{
	return qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD;
}

static inline bool sroce_qp_may_receive(const struct sroce_qp *qp)
{
	return qp->state == IB_QPS_RTR || qp->state == IB_QPS_RTS ||
	       qp->state == IB_QPS_SQD || qp->state == IB_QPS_SQE;
}

static inline void sroce_qp_event(struct sroce_qp *qp, enum ib_event_type event)
{
	qp->events |= BIT(event);
}

#endif /* SROCE_QP_H */
