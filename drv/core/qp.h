/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The queue pair (QP), as the protocol core sees it: requester and responder state, the
 * work queues, the path. All state of a QP is protected by its lock. What belongs to the
 * kernel, such as timers and transmit queues, is in struct sroce_kqp, which the core never
 * looks into.
 */
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
#include "drv/core/mem/wr.h"
#include "drv/core/rc/cwnd.h"

struct sroce_cq;
struct sroce_mr;
struct sroce_srq;
struct sroce_dev;
struct sroce_kqp;

/* Least packets to retransmit per gap where gaps are dense */
#define SROCE_RETRANS_BATCH_MIN	8U
/* Upper bound of a distance between gaps that is averaged, in packets */
#define SROCE_GAP_DIST_MAX		1024
/* Request packets queued behind a gap, per QP */
#define SROCE_OFO_MAX		SROCE_CWND_MAX
/* Responses accepted behind a gap, in PSNs from the oldest missing one */
#define SROCE_READ_AHEAD	16384
/* Packets sent per trip, before the other side gets the CPU */
#define SROCE_TX_BUDGET		64
/* Payload bytes of loopback packets and raw frames sent per trip */
#define SROCE_TX_BUDGET_BYTES	(512 * 1024U)
/* READs and atomics that a responder keeps for replay */
#define SROCE_MAX_RD_ATOMIC	128

/**
 * struct sroce_av - address vector: where packets go
 * @sgid: own address; IPv4 is mapped into IPv6
 * @dgid: address of the peer
 * @v6: the network type is IPv6
 * @multicast: @dgid is a group
 * @tclass: traffic class: DSCP and ECN
 * @priority: priority of the packets in this host, as skb->priority
 * @hop_limit: TTL
 * @flow_label: IPv6 flow label
 * @sport: UDP source port, derived from the flow for ECMP
 * @ifindex: index of the netdev that owns @sgid
 * @ip_id: next IPv4 identification
 * @resolved: a route was looked up, so @loopback is valid
 * @loopback: the route leads to this host
 * @local_at: when that was last looked up, in jiffies
 * @dst: cached route
 */
struct sroce_av {
	union ib_gid		sgid;
	union ib_gid		dgid;
	bool			v6;
	bool			multicast;
	u8			tclass;
	u8			hop_limit;
	u32			priority;
	u32			flow_label;
	u16			sport;
	int			ifindex;
	u16			ip_id;
	bool			resolved;
	bool			loopback;
	unsigned long		local_at;
	struct dst_cache	dst;
};

/* Samples of a round trip that are taken at once on a long path */
#define SROCE_RTT_MARKS	16

/* Upper bound of the ACK timer's slack, in ns */
#define SROCE_SLACK_MAX	(5ULL * NSEC_PER_MSEC)

/**
 * enum sroce_gap_policy - what a responder does with requests behind a gap
 * @SROCE_GAP_UNKNOWN: not known yet
 * @SROCE_GAP_KEEPS: it keeps them, as sroce does: only lost packets are retransmitted
 * @SROCE_GAP_DROPS: it drops them: all packets from the gap on are retransmitted
 */
enum sroce_gap_policy {
	SROCE_GAP_UNKNOWN,
	SROCE_GAP_KEEPS,
	SROCE_GAP_DROPS,
};

/* Most packets that are sent again while none is acknowledged, besides those of timeouts */
#define SROCE_RESENDS_MAX	(2U * SROCE_CWND_MAX)

/**
 * struct sroce_retrans - loss recovery of a requester, see rc/retrans.c
 * @gap_policy: what the peer does with packets behind a gap
 * @tried: the gap at req.acked has been handled; no second time until there is progress
 * @rewound: it was handled by going back to req.acked
 * @hold_new: send nothing new until an answer shows @gap_policy
 * @from: first PSN to retransmit, out of turn
 * @to: one past the last PSN to retransmit; equal to @from if there is none
 * @last: one past the newest PSN of the last retransmission, or req.acked if that is later
 * @copies: copies of the packet at req.acked to send after the packets up to @to
 * @gap_reported: the retransmission fills a gap that the peer has reported or implied
 * @sent_once: the retransmission is one packet that the network has lost, sent once
 * @recover_psn: one past the packets sent before the newest gap was filled; an ACK below
 *	it shows that another of them was lost
 * @left_psn: one past the packets that have left the network, arrived or lost, though they
 *	may not be acknowledged
 * @left_read_psns: PSNs from sroce_req.acked to @left_psn that only READ responses have
 * @cut_psn: one past the packets sent before the window was decreased for a loss, where
 *	the round trip is long, else those acknowledged then; that others before it are lost
 *	is no news
 * @gaps: gaps before @cut_psn so far
 * @back_psn: on a long path all up to this PSN is sent again, since there were many
 * @back_at: since when, in ns of sroce_now()
 * @n: packets of the newest retransmission, 0 once all were acknowledged
 * @gap: PSN of the newest gap
 * @gap_dist: moving average of the distance between gaps, in packets
 * @batch: packets to retransmit per gap where gaps are dense
 * @tries_batch: the newest retransmission had @batch packets; its round trip adapts @batch
 * @doubt: gaps that may contradict @gap_policy
 * @allowed: packets that may be sent again before more are acknowledged
 * @probe_reads: responses requested by the newest probe
 * @probe_end: one past the last of these responses
 * @probes: probes sent since there was progress
 * @probe_at: when the next probe is due, in ns of sroce_now(); 0 for never
 * @patient: @probe_at leaves time for an ACK that is held
 * @postponed: a timer was late, so a probe waits until what has come was received
 * @timer_psn: req.max_psn when the ACK timer was last set
 * @ack_owed: an ACK had been requested when the ACK timer was last set
 * @timer_backoff: how often the ACK timer has fired before anything was due, since the
 *	last gap or probe; it makes the timer's slack longer
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
	bool			sent_once;
	u32			recover_psn;
	u32			left_psn;
	u32			left_read_psns;
	u32			cut_psn;
	u32			gaps;
	u32			back_psn;
	u64			back_at;
	u32			n;
	u32			gap;
	s32			gap_dist;
	u32			batch;
	bool			tries_batch;
	u32			doubt;
	u32			allowed;
	u32			probe_reads;
	u32			probe_end;
	u32			probes;
	u64			probe_at;
	bool			patient;
	bool			postponed;
	u32			timer_psn;
	bool			ack_owed;
	u32			timer_backoff;
};

/**
 * struct sroce_read_range - responses that were requested again
 * @wqe: the READ or atomic
 * @psn: PSN of the first response that is missing
 * @end: one past the PSN of the last
 * @when: when they were requested, in ns of sroce_now()
 * @answered: the first has come
 * @sent: one past the requests that were sent before
 */
struct sroce_read_range {
	struct sroce_wqe *wqe;
	u32	psn;
	u32	end;
	u64	when;
	bool	answered;
	u32	sent;
};

/* Most ranges of responses that are requested again at a time */
#define SROCE_READ_RANGES_MAX	48
/* Most requests for such ranges while no response comes, besides those of probes */
#define SROCE_READ_REPEATS_MAX	(2U * SROCE_READ_RANGES_MAX)

/**
 * struct sroce_read_retry - recovery of lost responses, see rc/read_retry.c
 * @high: one past the newest response that has come or was requested again
 * @refused: PSN of the newest RNR NAK
 * @full: not all that are missing are in @range
 * @allowed: requests that may be repeated before more responses come
 * @selective: the peer serves repeated READs in any order, beside others
 * @interleaved: the newest response was the last of a range, though older requests are
 *	being answered
 * @resume: PSN of the next response to those
 * @gap: PSN of the newest gap in the responses
 * @gap_dist: moving average of the distance between gaps, in PSNs
 * @cut: the gap for which the window was decreased last: its first PSN
 * @cut_end: one past its last PSN
 * @cut_lost: responses of it that have not come twice; 0 once all have, or for no such gap
 * @n: entries in @range
 * @range: the ranges that were requested again, oldest request first; see
 *	struct sroce_read_buf
 */
struct sroce_read_retry {
	u32			high;
	u32			refused;
	bool			full;
	u32			allowed;
	bool			selective;
	bool			interleaved;
	u32			resume;
	u32			gap;
	s32			gap_dist;
	u32			cut;
	u32			cut_end;
	u32			cut_lost;
	u32			n;
	struct sroce_read_range	*range;
};

/**
 * struct sroce_read_buf - what only a requester needs that sends READs or atomics
 * @bitmap: responses from req.una on that have come, indexed by the PSN modulo its size
 * @range: for sroce_read_retry.range
 */
struct sroce_read_buf {
	DECLARE_BITMAP(bitmap, SROCE_READ_AHEAD);
	struct sroce_read_range	range[SROCE_READ_RANGES_MAX];
};

/**
 * struct sroce_rtt - round trip time of a requester, see rc/rtt.c
 * @sampling: a sample is being taken
 * @retrans: the sampled packet is a retransmission; such a sample may be spurious
 * @read: the sampled packet is a READ request, sent in turn
 * @lone: the sampled packet is all that was under way, and the peer may hold its ACK
 * @psn: PSN of the sampled packet
 * @peer_psn: PSN of the peer's next request then
 * @start: when it was sent, in ns of sroce_now()
 * @first: when the first packet of all was sent, in ns of sroce_now(); 0 for not yet
 * @srtt: smoothed round trip time, in ns, as in RFC 6298
 * @rttvar: its mean deviation, in ns
 * @assume_lost: for this many samples a retransmission counts as needed, even if the
 *	answer comes sooner than a round trip
 * @unsure: the shortest round trip is that from the first packet to an answer after a probe
 * @is_long: the path is long, without a queue
 * @trains: trains in which a window leaves, where the round trip is long, by the path or by
 *	its queue; 0 where it is not
 * @mark: samples besides, of packets that request an ACK, on a long path
 * @first_mark: the oldest of them
 * @marks: how many are being taken
 */
struct sroce_rtt {
	bool	sampling;
	bool	retrans;
	bool	read;
	bool	lone;
	u32	psn;
	u32	peer_psn;
	u64	start;
	u64	first;
	u64	srtt;
	u64	rttvar;
	u32	assume_lost;
	bool	unsure;
	bool	is_long;
	u32	trains;
	struct {
		u32	psn;
		u64	start;
	}	mark[SROCE_RTT_MARKS];
	u32	first_mark;
	u32	marks;
};

/**
 * struct sroce_req - requester (9.7.3)
 * @psn: PSN of the next packet to send
 * @max_psn: one past the newest PSN ever sent
 * @acked: the responder has executed all requests before this PSN
 * @una: oldest PSN of a work request that is not complete: @acked, or the PSN of the next
 *	response that is missing
 * @next_idx: send queue index of the work request that @psn belongs to, or of the first
 *	that is not started
 * @acked_idx: send queue index of the first work request with a PSN at or after @acked
 * @reads: READ, atomic and FLUSH requests sent, without those before @una
 * @newest_resp: send queue index of the newest of their work requests; valid if there are any
 * @read_psns: PSNs at or after @acked that only READ responses have: all but one per request
 * @read_ahead: those of @read_psns at or after @psn, of requests that will be sent again
 * @reading: READ responses that were requested and have not come
 * @since_ackreq: packets sent since the last one that requested an ACK
 * @retries: timeouts left before IB_WC_RETRY_EXC_ERR
 * @excused: timeouts since the peer's last answer that don't count: every second one, and those
 *	while this machine stood still or had the request in a queue
 * @late_at: when a timer fired too late last, in ns of sroce_now(); 0 for never
 * @rnr_retries: RNR NAKs left before IB_WC_RNR_RETRY_EXC_ERR
 * @rnr_waits: waits for RNR since there was progress, up to a bound
 * @rnr_wait: nothing may be sent until the RNR timer fires
 * @deadline: when @una counts as lost, in ns of sroce_now(); 0 for never
 * @ssn: send sequence number (SSN) of the newest message
 * @lsn_valid: the peer sends credits, so @lsn is valid
 * @lsn: limit sequence number: newest SSN that the peer has a receive work request for
 * @credit_probe: a message beyond @lsn was sent (9.7.7.2.5); nothing follows its first
 *	packet until that is acknowledged
 * @credit_probe_psn: PSN of its first packet
 * @pending_err: enum ib_wc_status of a request that has failed, or 0; the error is
 *	reported when all older work requests have completed
 * @pending_err_psn: PSN of that request; nothing is sent from there on
 * @paging: sending waits for a fault request at @paging_psn
 * @paging_psn: PSN of the packet that waits
 * @resp_dropped: responses were dropped because the memory they go to is not present, or
 *	can't be requested as the payload of the request is not; they are after the fault
 * @resp_dropped_end: one past the last of them
 * @ofo_resps: responses kept until the memory they go to is faulted in
 * @n_ofo_resps: length of @ofo_resps, at most sroce_resp.ofo_max
 * @retrans: recovery of lost requests
 * @read_retry: recovery of lost responses
 * @rtt: round trip time
 * @cwnd: window of request packets
 * @read_cwnd: window of READ responses
 * @quota: request packets that may leave before the next ACK, or @pace_at
 * @pace_at: when more may leave, in ns of sroce_now(); 0 for not waiting
 * @idle_since: when the last request was acknowledged, or the last response to a READ came, in ns
 *	of sroce_now(); 0 if the windows were small then, or have been looked at since
 * @read_buf: memory for READs and atomics; NULL as long as max_rd_atomic was never set to
 *	more than 0, so that none can start
 */
struct sroce_req {
	u32	psn;
	u32	max_psn;
	u32	acked;
	u32	una;
	u32	next_idx;
	u32	acked_idx;
	u32	reads;
	u32	newest_resp;
	u32	read_psns;
	u32	read_ahead;
	u32	reading;
	u32	since_ackreq;
	u8	retries;
	u8	excused;
	u8	rnr_retries;
	u8	rnr_waits;
	bool	rnr_wait;
	u64	late_at;
	u64	deadline;
	u32	ssn;
	bool	lsn_valid;
	u32	lsn;
	bool	credit_probe;
	u32	credit_probe_psn;
	u8	pending_err;
	u32	pending_err_psn;
	bool	paging;
	u32	paging_psn;
	bool	resp_dropped;
	u32	resp_dropped_end;
	struct list_head	ofo_resps;
	u32	n_ofo_resps;
	struct sroce_retrans	retrans;
	struct sroce_read_retry	read_retry;
	struct sroce_rtt	rtt;
	struct sroce_cwnd	cwnd;
	struct sroce_cwnd	read_cwnd;
	u32			quota;
	u64			pace_at;
	u64			idle_since;
	struct sroce_read_buf	*read_buf;
};

/**
 * struct sroce_resp_range - responses to a READ or atomic that are to be sent
 * @psn: PSN of the next response
 * @end: one past the PSN of the last
 * @started: one has been sent, so the next is no "first" or "only" packet
 */
struct sroce_resp_range {
	u32	psn;
	u32	end;
	bool	started;
};

/**
 * struct sroce_res - responder resource: a READ, atomic or FLUSH kept for replay
 * @valid: the entry is in use
 * @single: one packet answers the request: it is no READ
 * @ack_only: that packet is a READ response without data, not an atomic ACK
 * @queued: the entry is in sroce_resp.fifo: @first is to be sent
 * @first_psn: PSN of the request
 * @last_psn: PSN of its last response
 * @first: the responses that were not sent for the first time yet
 * @va: address at @first_psn
 * @rkey: R_Key of @va
 * @length: bytes from @va on
 * @orig: value before an atomic
 * @msn: MSN of the responses
 */
struct sroce_res {
	bool	valid;
	bool	single;
	bool	ack_only;
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
 * struct sroce_fifo - responder resources that wait for their first answer
 * @n: how many
 * @idx: indices into sroce_resp.res, oldest first
 */
struct sroce_fifo {
	u32	n;
	u8	idx[SROCE_MAX_RD_ATOMIC];
};

/* Most ranges of responses that wait for replay */
#define SROCE_REPLAYS_MAX	SROCE_MAX_RD_ATOMIC

/**
 * struct sroce_replay - responses to send again
 * @idx: index into sroce_resp.res
 * @range: the responses of that entry
 */
struct sroce_replay {
	u8			idx;
	struct sroce_resp_range	range;
};

/**
 * struct sroce_replays - responses to send again, in the order of the requests
 * @n: entries in @q
 * @q: SROCE_REPLAYS_MAX entries; NULL as long as there were never any in sroce_resp.res
 */
struct sroce_replays {
	u32			n;
	struct sroce_replay	*q;
};

/**
 * struct sroce_resp_rate - rate of READ responses, see rc/resp_rate.c
 * @limited: there is a limit
 * @sent: responses sent without a break since @since
 * @since: when the first of them left, in ns of sroce_now()
 * @last: when the last of them left
 * @first: the limit when it was set first
 * @cwnd: the limit, in packets per ms
 * @tokens: responses that may be sent
 * @at: when @tokens were counted, in ns of sroce_now()
 * @go_on: when more may be sent, in ns of sroce_now(); 0 for not waiting
 */
struct sroce_resp_rate {
	bool			limited;
	u64			sent;
	u64			since;
	u64			last;
	u32			first;
	struct sroce_cwnd	cwnd;
	u32			tokens;
	u64			at;
	u64			go_on;
};

/**
 * struct sroce_answer - ACKs that leave with an answer, see rc/answer.c
 * @asked: when the newest request came that may be answered, in ns of sroce_now(); 0 if it
 *	was answered, or there is none
 * @came: when the newest request came that might have been answered, likewise
 * @acked: one past the newest PSN that an ACK was sent of
 * @limit: newest message that the peer has credits for, as an MSN
 * @streak: requests in a row that were answered soon, by a packet that an ACK can leave with,
 *	as far as it matters
 * @joined: ACKs in a row that have left with an answer
 * @doubled: how often the streak that is needed was doubled, as ACKs were held in vain
 * @held: the ACK that is queued waits for an answer
 * @timed: an ACK was held since the ACK timer has fired
 */
struct sroce_answer {
	u64	asked;
	u64	came;
	u32	acked;
	u32	limit;
	u32	streak;
	u8	joined;
	u8	doubled;
	bool	held;
	bool	timed;
};

/**
 * struct sroce_resp - responder (9.7.4 and following)
 * @psn: expected PSN
 * @msn: messages completed
 * @msg: SROCE_SENDING or SROCE_WRITING in the middle of a message, otherwise 0
 * @nak_sent: the gap at @psn has been reported, or the request refused with RNR
 * @nak_psn: @psn at that time
 * @have_wqe: @wqe holds a receive work request
 * @wqe: the receive work request of this message
 * @off: bytes of this SEND already placed, the GRH of a datagram included
 * @va: where the rest of a WRITE goes
 * @rkey: R_Key of @va
 * @remaining: bytes of the WRITE still to come
 * @length: bytes of the WRITE
 * @aeth: an ACK or NAK is to be sent, with @aeth_psn and @aeth_syndrome
 * @aeth_psn: its PSN
 * @aeth_syndrome: its syndrome
 * @answer: ACKs that leave with an answer
 * @closing: the QP goes to the error state once all answers are sent
 * @nres: length of @res: max_dest_rd_atomic
 * @head: index of the entry of @res to use next
 * @fifo: entries of @res to answer for the first time
 * @replays: responses to send again; they precede those of @fifo
 * @rate: rate of READ responses
 * @res: responder resources: a ring of READs, atomics and FLUSHes kept for replay
 * @ofo_queue: requests that wait for a gap to be filled, by PSN, or for a page fault;
 *	without RC in the order of arrival
 * @ofo_near: RC: the packet in @ofo_queue next to the newest arrival, or NULL
 * @ofo_len: length of @ofo_queue
 * @ofo_max: upper bound of @ofo_len
 * @ofo_read_psns: RC: responses to the READs in @ofo_queue
 * @ofo_duplicates: RC: requests of which the peer has asked for an ACK again, see
 *	sroce_ofo_duplicate()
 * @ofo_dup_psn: @psn at the last of them
 * @paging: the next request, at @psn, waits for a page fault
 * @ofo_dropped: requests were dropped that did not fit into @ofo_queue
 * @ofo_dropped_psn: the newest PSN of these; if it was not executed when the queue is empty, the
 *	peer is asked to retransmit them
 * @paging_since: when that request began to wait, in ns of sroce_now(); 0 if none does
 * @tx_paging: the next response waits for a page fault
 * @tx_paging_since: when it began to wait, in ns of sroce_now(); 0 if no response waits
 * @tx_paging_psn: PSN of the response that has waited since then
 * @tx_asked_at: when the peer last asked for it, or for what is before it
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
	struct sroce_answer	answer;
	bool			closing;
	u32			nres;
	u32			head;
	struct sroce_fifo	fifo;
	struct sroce_replays	replays;
	struct sroce_resp_rate	rate;
	struct sroce_res	*res;
	struct list_head	ofo_queue;
	struct list_head	*ofo_near;
	u32			ofo_len;
	u32			ofo_max;
	u64			ofo_read_psns;
	u8			ofo_duplicates;
	u32			ofo_dup_psn;
	bool			paging;
	bool			ofo_dropped;
	u32			ofo_dropped_psn;
	u64			paging_since;
	bool			tx_paging;
	u64			tx_paging_since;
	u32			tx_paging_psn;
	u64			tx_asked_at;
};

/* Work deferred until the QP's lock is released, struct sroce_qp.deferred */
#define SROCE_DEFER_SCQ		BIT(0)	/* notify the send CQ's consumer */
#define SROCE_DEFER_RCQ		BIT(1)	/* notify the receive CQ's consumer */
#define SROCE_DEFER_OVERFLOW(cq)	((cq) << 2)	/* raise IB_EVENT_CQ_ERR of that CQ */
#define SROCE_DEFER_SEND_NOW		BIT(4)	/* send without waiting for more packets */

/**
 * struct sroce_qp - a queue pair
 * @ibqp: the RDMA core's view
 * @dev: its device
 * @counters: the counter set that it counts in, per CPU: its device's, or the one that
 *	it is bound to
 * @lock: protects the members below; held for one trip at a time
 * @mutex: serializes modify and destroy
 * @type: QP type
 * @svc: transport service, SROCE_SVC_*
 * @user: the work queues are rings shared with user space
 * @sig_all: each send work request generates a completion
 * @state: QP state, see sroce_qp_may_*()
 * @attr: attributes as set, for query
 * @qpn: QP number
 * @mtu: path MTU in bytes
 * @av: path to the peer, for RC and UC
 * @scq: send CQ
 * @rcq: receive CQ
 * @srq: shared receive queue or NULL
 * @recv_pd: PD of the memory that receives refer to: that of @srq, or that of the QP
 * @sq: send queue
 * @rq: receive queue, unused with an SRQ
 * @req: requester
 * @resp: responder
 * @cc: congestion control is on: windows follow losses and delays, and CNPs are heeded
 * @ack_with_answer: the ACK of a request may wait for the answer
 * @cnp_due: a CNP is to be sent
 * @cnp_at: when that was so last, in ns of sroce_now(); 0 for never
 * @drained: SQD was reached and nothing is outstanding
 * @lb_copy_only: loopback packets carry their payload, because the QP has used a window or
 *	a region on demand, which they can't refer to
 * @windows: type 2 windows that the QP has bound and not invalidated; they are unbound when
 *	it is destroyed. Those that were freed meanwhile are still counted
 * @psn_base: random numbers, from which drv/dev/res.c counts the PSNs that it shows: of the send
 *	queue and of the receive queue. They are drawn when it leaves RESET
 * @comm_est: IB_EVENT_COMM_EST was raised
 * @last_wqe: IB_EVENT_QP_LAST_WQE_REACHED was raised
 * @last_mr: the region or window that this trip used last, referenced, or NULL
 * @trip_bytes: payload bytes of loopback packets and raw frames sent in this trip
 * @deferred: SROCE_DEFER_*
 * @events: BIT(enum ib_event_type) to raise once the lock is released
 * @srq_events: the same for @srq
 * @kqp: the kernel's part of the QP; NULL once the QP is destroyed
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
	struct ib_pd		*recv_pd;
	struct sroce_sq		sq;
	struct sroce_rq		rq;

	struct sroce_req	req ____cacheline_aligned;
	struct sroce_resp	resp ____cacheline_aligned;

	bool			cc;
	bool			ack_with_answer;
	bool			cnp_due;
	u64			cnp_at;
	bool			drained;
	bool			lb_copy_only;
	u32			windows;
	u32			psn_base[2];
	bool			comm_est;
	bool			last_wqe;
	struct sroce_mr		*last_mr;
	u32			trip_bytes;
	u32			deferred;
	u32			events;
	u32			srq_events;
	struct sroce_kqp	*kqp;
};

/**
 * sroce_sq_oldest() - the oldest send work request
 * @qp: the QP, locked
 *
 * Return: NULL if there is none, or if it is not started.
 */
static inline struct sroce_wqe *sroce_sq_oldest(struct sroce_qp *qp)
{
	struct sroce_wqe *wqe;

	if (qp->sq.cons == qp->sq.prod)
		return NULL;
	wqe = sroce_sq_wqe(&qp->sq, qp->sq.cons);
	return wqe->started ? wqe : NULL;
}

/* A moving average of distances between gaps, after another one of @dist packets */
static inline s32 sroce_gap_dist_add(s32 mean, s32 dist)
{
	return mean + (min(dist, SROCE_GAP_DIST_MAX) - mean) / 4;
}

/**
 * sroce_req_set_read_buf() - let a requester send READs and atomics
 * @req: the requester, of a locked or new QP; it has no such memory yet
 * @buf: the memory, zeroed; the QP's owner frees it with the QP
 */
static inline void sroce_req_set_read_buf(struct sroce_req *req, struct sroce_read_buf *buf)
{
	req->read_buf = buf;
	req->read_retry.range = buf->range;
}

static inline struct sroce_qp *to_sqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct sroce_qp, ibqp);
}

static inline bool sroce_is_rc(const struct sroce_qp *qp)
{
	return qp->svc == SROCE_SVC_RC;
}

/* Whether packets that start a new message may be sent */
static inline bool sroce_qp_may_start(const struct sroce_qp *qp)
{
	return qp->state == IB_QPS_RTS;
}

/* Whether packets of messages that were started may be sent */
static inline bool sroce_qp_may_send(const struct sroce_qp *qp)
{
	return qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD;
}

/* Whether packets are accepted at all */
static inline bool sroce_qp_may_receive(const struct sroce_qp *qp)
{
	return qp->state == IB_QPS_RTR || qp->state == IB_QPS_RTS ||
	       qp->state == IB_QPS_SQD || qp->state == IB_QPS_SQE;
}

/* Raise an event of the QP once its lock is released. */
static inline void sroce_qp_event(struct sroce_qp *qp, enum ib_event_type event)
{
	qp->events |= BIT(event);
}

#endif /* SROCE_QP_H */
