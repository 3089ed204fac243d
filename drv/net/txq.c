// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Back-pressure of this host: how many bytes of a QP are in its qdiscs and drivers, and
 * which queue of a netdev they take.
 *
 * Each transmit queue of a QP has a socket, to which its skbs are charged as those of a
 * UDP socket are: sk_wmem_alloc is what is under way. So the stack treats them as it
 * treats any other sender's. Segmentation in software passes the charge on to the
 * segments, which a private destructor would not survive; fq, netem and veth know how
 * to deal with it; and tunnels and bridges keep it up to the last queue of this host. Of a
 * train that drv/net/segment.c has segmented the first packet has all of the charge: what a
 * driver holds may exceed the limit by the rest of one train.
 *
 * The socket is never bound, hashed or seen by user space. It belongs to the kernel, not
 * to this module, and the last skb frees it. So nothing waits for skbs that a qdisc or a
 * driver keeps, however long: neither the QP's end nor that of the device, of its network
 * namespace or of the module.
 */

#include <linux/hash.h>
#include <linux/netdevice.h>
#include <linux/security.h>
#include <net/sch_generic.h>
#include <net/sock.h>
#include "drv/compat/compat.h"
#include "drv/core/env.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"
#include "drv/net/txq.h"

/* Bytes that a packet takes beside a payload of the path MTU; most have less */
#define PKT_OVERHEAD	48

/*
 * Bytes at which all has been freed, or is about to be: a CPU that frees an skb calls
 * .sk_write_space before it takes the last byte of that off.
 */
#define DRAINED		nr_cpu_ids
/* How long packets wait for those of another CPU after it has sent the last one, in jiffies */
#define ORDER_TIME	(HZ / 10)
/* How often they look whether that CPU has received its backlog meanwhile, in ns */
#define BACKLOG_POLL	(100 * NSEC_PER_USEC)

/* Most loopback packets in a queue, and bytes of them at which it is full: those of a trip */
#define LBPKTS_MAX	SROCE_TX_BUDGET
#define LB_BYTES_MAX	SROCE_TX_BUDGET_BYTES

/* Bytes that this host holds, given to the IP stack or not */
static u32 held(const struct sroce_txq *txq)
{
	return txq->sk ? txq->queued + sk_wmem_alloc_get(txq->sk) : 0;
}

/* Whether sk_write_space() will have the QP make a trip */
static bool is_stopped(const struct sroce_txq *txq)
{
	return READ_ONCE(txq->sk->sk_user_data);
}

/* Whether it is stopped as it is full, not only for the order of packets */
static bool is_full(const struct sroce_txq *txq)
{
	return is_stopped(txq) && txq->restart_at > DRAINED;
}

/*
 * .sk_write_space of the socket: an skb was freed. Restart the queue once half of it has
 * drained, or all if it was stopped for the order of packets. This is called wherever skbs
 * are freed, with any lock held, but not in a hard interrupt.
 */
static void write_space(struct sock *sk)
{
	struct sroce_txq *txq;

	/* pairs with the barrier in stop(): the charge was dropped before */
	smp_mb__after_atomic();
	if (likely(!READ_ONCE(sk->sk_user_data)))
		return;
	/* the QP may be going away */
	read_lock(&sk->sk_callback_lock);
	txq = READ_ONCE(sk->sk_user_data);
	if (txq && sk_wmem_alloc_get(sk) <= txq->restart_at &&
	    cmpxchg(&sk->sk_user_data, txq, NULL) == txq)
		txq->kqp->task.wake(txq->kqp);
	read_unlock(&sk->sk_callback_lock);
}

/* Stop a queue with @queued bytes. Return: false if what the stack held has drained meanwhile. */
static bool stop(struct sroce_txq *txq, u32 queued, u32 restart_at)
{
	struct sock *sk = txq->sk;

	txq->restart_at = restart_at;
	/* pairs with the read lock in write_space(): it sees @restart_at */
	smp_store_release(&sk->sk_user_data, txq);
	/* pairs with the barrier in write_space(): it sees the queue stopped, or this the room */
	smp_mb();
	return queued + sk_wmem_alloc_get(sk) > restart_at ||
	       cmpxchg(&sk->sk_user_data, txq, NULL) != txq;
}

/*
 * Packets of a QP that may be on their way through this host: two equal trains. Two
 * packets are needed to keep a slow line busy.
 */
static u32 most_packets(struct sroce_qp *qp)
{
	struct sroce_txq_limit *limit = &qp->kqp->limit;
	u32 bytes = sroce_sdev_tx_limit(qp->dev);

	if (likely(limit->bytes == bytes && limit->mtu == qp->mtu))
		return limit->packets;
	limit->bytes = bytes;
	limit->mtu = qp->mtu;
	limit->packets = max(bytes / 2 / (qp->mtu + PKT_OVERHEAD), 1U) * 2;
	return limit->packets;
}

static u32 room(struct sroce_qp *qp, const struct sroce_txq *txq)
{
	u32 most = most_packets(qp), bytes = held(txq), n;

	if (!bytes)
		return most;
	n = DIV_ROUND_CLOSEST(bytes, qp->mtu + PKT_OVERHEAD);
	return most > n ? most - n : 0;
}

/*
 * Loopback packets that a queue takes now. While one CPU delivers packets, or waits for the lock
 * of the receiver, others may build more, as fast as a process posts. What is being delivered
 * does not count. The bytes may be exceeded by those of one trip.
 */
static u32 loopback_room(const struct sroce_txq *txq)
{
	if (txq->lb_bytes >= LB_BYTES_MAX)
		return 0;
	return LBPKTS_MAX - min_t(u32, txq->n_lbpkts, LBPKTS_MAX);
}

/* Stop a queue of loopback packets. Whoever delivers those that are there makes a trip more. */
static void stop_loopback(struct sroce_qp *qp, struct sroce_txq *txq)
{
	if (!txq->lb_stopped)
		sroce_count(qp, SROCE_CNT_TX_STOPPED);
	txq->lb_stopped = true;
}

static bool is_idle(struct sroce_qp *qp)
{
	const struct sroce_txq *txq = qp->kqp->txq;

	return !held(&txq[SROCE_TXQ_REQUESTS]) && !held(&txq[SROCE_TXQ_RESPONSES]) &&
	       (qp->svc != SROCE_SVC_RC || qp->req.una == qp->req.max_psn);
}

/*
 * Follow the process that posts to another CPU, as TCP does, while there is nothing that
 * new packets could overtake.
 */
static void follow_poster(struct sroce_qp *qp)
{
	struct sroce_kqp *kqp = qp->kqp;
	u32 cpu = READ_ONCE(kqp->task.post_cpu);

	if (unlikely(cpu != kqp->tx_cpu && cpu && is_idle(qp)))
		kqp->tx_cpu = cpu;
}

/**
 * sroce_tx_idle() - choose who sends, in a trip that has no request to send
 * @qp: the QP, locked
 *
 * Such a trip, as of an ACK, may be the only one that finds nothing under way.
 */
void sroce_tx_idle(struct sroce_qp *qp)
{
	if (READ_ONCE(sroce_kqp_txq(qp->kqp, false)->sk))
		follow_poster(qp);
}

/**
 * sroce_tx_room() - packets that a transmit queue takes now
 * @qp: the QP, locked
 * @response: the queue of responses, not that of requests
 *
 * Return: number of packets of the path MTU; 0 if the queue is full or stopped.
 */
u32 sroce_tx_room(struct sroce_qp *qp, bool response)
{
	struct sroce_txq *txq = sroce_kqp_txq(qp->kqp, response);

	/* pairs with the release in open_one() */
	if (!READ_ONCE(txq->sk))
		return U32_MAX;
	if (!response)
		follow_poster(qp);
	return is_full(txq) ? 0 : min(room(qp, txq), loopback_room(txq));
}

/**
 * sroce_tx_wait_room() - stop a transmit queue that had too little room
 * @qp: the QP, locked
 * @response: the queue of responses, not that of requests
 *
 * The tasklet makes a trip once half of the queue has drained, and of loopback packets all.
 *
 * Return: whether there is room now, so that the queue is not stopped.
 */
bool sroce_tx_wait_room(struct sroce_qp *qp, bool response)
{
	struct sroce_txq *txq = sroce_kqp_txq(qp->kqp, response);
	u32 half;

	if (!txq->sk)
		return true;
	if (is_full(txq))
		return false;
	if (!loopback_room(txq)) {
		stop_loopback(qp, txq);
		return false;
	}
	half = max(most_packets(qp) / 2 * (qp->mtu + PKT_OVERHEAD), DRAINED + 1);
	if (room(qp, txq) || !stop(txq, txq->queued, half))
		return true;
	sroce_count(qp, SROCE_CNT_TX_STOPPED);
	return false;
}

/*
 * Whether a packet comes to the IP stack of this host, or to a bridge, as soon as it is sent,
 * by way of the NET_RX softirq of the CPU that sends it
 */
static bool is_direct(const struct sk_buff *skb)
{
	struct net_device *dev;
	bool direct;

	rcu_read_lock();
	dev = READ_ONCE(skb_dst(skb)->dev);
	direct = !rcu_dereference(netdev_get_tx_queue(dev, 0)->qdisc)->enqueue &&
		 sroce_sdev_is_virtual(dev);
	rcu_read_unlock();
	return direct;
}

/*
 * Whether the other CPU has received what was in its backlog when the IP stack had dropped the
 * charge of all it has sent. The stack does that before the QP has a packet: a CPU that stands
 * still in between, as its host or an interrupt wants it, would be overtaken. Receive flow
 * steering asks the same before it moves a flow. Three things are not asked: queues of NAPI, as
 * a veth with GRO has; the way from a router on this host to the peer; a kernel without receive
 * packet steering.
 */
static bool backlog_is_received(struct sroce_txq *txq)
{
#ifdef CONFIG_RPS
	const struct softnet_data *sd = &per_cpu(softnet_data, txq->cpu);

	if (!txq->backlog_noted) {
		/* pairs with sock_wfree(): what has no charge was in a backlog before */
		smp_rmb();
		txq->backlog_tail = READ_ONCE(sd->input_queue_tail);
		txq->backlog_noted = true;
	}
	return (s32)(READ_ONCE(sd->input_queue_head) - txq->backlog_tail) >= 0;
#else
	return true;
#endif
}

/*
 * Whether packets of this CPU overtake none that another has sent: the other CPU's have left this
 * host, or the IP stack of this host has them. RC puts in order again what is overtaken in the IP
 * stack; for UC it would be lost.
 */
static bool is_in_order(struct sroce_txq *txq)
{
	if (likely(txq->cpu == smp_processor_id()) || !txq->sk)
		return true;
	return sk_wmem_alloc_get(txq->sk) <= DRAINED &&
	       (txq->kqp->qp->svc != SROCE_SVC_UC || backlog_is_received(txq));
}

/**
 * sroce_txq_is_overtaken() - whether a packet could overtake those that another CPU has sent
 * @txq: transmit queue of a locked QP
 * @skb: the packet, of this queue or another of the QP
 *
 * Context: softirq, or bottom halves disabled.
 */
bool sroce_txq_is_overtaken(struct sroce_txq *txq, const struct sk_buff *skb)
{
	if (is_in_order(txq) || time_after(jiffies, txq->given_at + ORDER_TIME))
		return false;
	/* datagrams and frames have no order */
	return txq->kqp->qp->svc != SROCE_SVC_UD && skb_dst(skb) && is_direct(skb);
}

/**
 * sroce_txq_is_given() - whether the IP stack was given all packets of a transmit queue
 * @txq: transmit queue of a locked QP
 */
bool sroce_txq_is_given(const struct sroce_txq *txq)
{
	return !txq->sending && skb_queue_empty(&txq->skbs) && list_empty(&txq->lbpkts);
}

/**
 * sroce_txq_must_wait() - whether packets would overtake those that another CPU has sent
 * @txq: transmit queue of a locked QP, not empty
 *
 * What a CPU sends on a virtual link waits for the NET_RX softirq of that CPU, which may be
 * late where processes compete for it. Then packets of RC and UC wait until the IP stack has
 * taken in all of that, and mostly leave from the CPU that has. Those of UC wait until the QP
 * has received it. Netdevs of hardware, those above them, and qdiscs keep the order of a queue.
 * What takes longer than ORDER_TIME waits in a queue beyond the link.
 *
 * Packets are built meanwhile as long as the queue has room.
 *
 * Context: softirq, or bottom halves disabled.
 */
bool sroce_txq_must_wait(struct sroce_txq *txq)
{
	const struct sk_buff *skb = skb_peek(&txq->skbs);

	if (!skb || !sroce_txq_is_overtaken(txq, skb))
		return false;
	if (is_stopped(txq))
		return true;
	if (!stop(txq, 0, DRAINED) && is_in_order(txq))
		return false;
	if (!txq->order_wait)
		sroce_count(txq->kqp->qp, SROCE_CNT_TX_ORDER_WAITS);
	txq->order_wait = true;
	return true;
}

/**
 * sroce_txq_wait_left() - how long packets wait for those of another CPU, at most
 * @txq: transmit queue of a locked QP, for which sroce_txq_must_wait() was true
 *
 * Return: time in ns from now on.
 */
u64 sroce_txq_wait_left(const struct sroce_txq *txq)
{
	long left = txq->given_at + ORDER_TIME + 1 - jiffies;

	/* nobody tells when a backlog is received; a full queue is stopped meanwhile */
	if (!is_stopped(txq) || sk_wmem_alloc_get(txq->sk) <= DRAINED)
		return BACKLOG_POLL;
	return jiffies_to_nsecs(max(left, 1L));
}

/**
 * sroce_tx_pending() - whether requests may not have left this host yet
 * @qp: the QP, locked
 *
 * A packet to another namespace of this host counts until the IP stack there receives it.
 *
 * Return: true also if a CPU is sending right now, or stands still meanwhile.
 */
bool sroce_tx_pending(struct sroce_qp *qp)
{
	const struct sroce_txq *txq = sroce_kqp_txq(qp->kqp, false);

	return txq->sending || !list_empty(&txq->lbpkts) || held(txq);
}

/**
 * sroce_txq_own() - charge an skb to its transmit queue, and choose the netdev's queue
 * @kqp: the QP, locked
 * @txq: the queue that the skb was in, and has left to be sent
 * @skb: the skb
 *
 * All packets of a QP take one queue of a netdev, whichever CPU sends them: that of the
 * CPU that posts, or for a QP that only responds, that of the CPU that responds first.
 * Without XPS the hash decides.
 */
void sroce_txq_own(struct sroce_kqp *kqp, struct sroce_txq *txq, struct sk_buff *skb)
{
	txq->queued -= skb->truesize;
	txq->cpu = smp_processor_id();
	txq->given_at = jiffies;
	txq->order_wait = false;
	txq->backlog_noted = false;
	if (unlikely(!kqp->tx_cpu))
		kqp->tx_cpu = smp_processor_id() + 1;
#ifdef CONFIG_XPS
	skb->sender_cpu = kqp->tx_cpu;
#endif
	if (unlikely(!txq->sk))
		return;
	/* numbers that follow each other are spread over the queues of a netdev */
	if (unlikely(!txq->sk->sk_txhash))
		txq->sk->sk_txhash = hash_32(kqp->qp->qpn, 32);
	skb_set_owner_w(skb, txq->sk);
}

/*
 * A socket without a struct socket: it has no inode, and costs little more than its
 * struct sock. Its owner in the eyes of security modules is the kernel, as it is for the
 * socket of the namespace.
 */
static struct sock *sock_create_bare(struct sroce_snet *sn)
{
	struct sock *udp = sn->sk4->sk;
	struct sock *sk = sk_alloc(sn->net, PF_INET, GFP_KERNEL, udp->sk_prot_creator, 1);

	if (!sk)
		return NULL;
	sock_init_data(NULL, sk);
	sk->sk_type = SOCK_DGRAM;
	sk->sk_protocol = IPPROTO_UDP;
	security_sk_clone(udp, sk);
	return sk;
}

/*
 * A doorbell may make a trip into a QP in INIT meanwhile. It sends nothing, but asks for room
 * if it finds the socket.
 */
static int open_one(struct sroce_kqp *kqp, struct sroce_txq *txq)
{
	struct sock *sk = sock_create_bare(kqp->qp->dev->sn);

	if (!sk)
		return -ENOMEM;
	txq->kqp = kqp;
	txq->def_write_space = sk->sk_write_space;
	sk->sk_write_space = write_space;
	/* pairs with READ_ONCE() in sroce_tx_room(): who finds it finds all of it */
	smp_store_release(&txq->sk, sk);
	return 0;
}

/**
 * sroce_txq_open() - let the stack charge the packets of a QP to it
 * @qp: the QP, which sends nothing yet; it may have been opened before, in part or as a whole
 *
 * Packets leave without a charge, and transmit queues have no limit, before this has been
 * called.
 *
 * Context: process.
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_txq_open(struct sroce_qp *qp)
{
	struct sroce_kqp *kqp = qp->kqp;
	int i, ret;

	for (i = 0; i < SROCE_TXQS; i++) {
		struct sroce_txq *txq = &kqp->txq[i];

		if (txq->sk || (i == SROCE_TXQ_RESPONSES && !sroce_is_rc(qp)))
			continue;
		ret = open_one(kqp, txq);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * sroce_txq_purge() - drop packets that were not given to the IP stack yet, end a stop
 * @txq: transmit queue of a locked QP, or of one that nobody refers to any more
 */
void sroce_txq_purge(struct sroce_txq *txq)
{
	__skb_queue_purge(&txq->skbs);
	txq->queued = 0;
	txq->dropped = false;
	if (txq->sk)
		WRITE_ONCE(txq->sk->sk_user_data, NULL);
}

static void detach(struct sroce_txq *txq)
{
	struct sock *sk = txq->sk;

	write_lock_bh(&sk->sk_callback_lock);
	WRITE_ONCE(sk->sk_user_data, NULL);
	WRITE_ONCE(sk->sk_write_space, txq->def_write_space);
	write_unlock_bh(&sk->sk_callback_lock);
}

/*
 * The skbs that keep the socket may be in another namespace by now, where a filter asks
 * whose they are: veth and the like pass the owner on.
 */
static void release(struct sock *sk)
{
	sroce_sk_leave_net(sk);
	sock_put(sk);
}

/**
 * sroce_txq_stop() - forget the packets that this host still holds
 * @kqp: the QP, in RESET
 *
 * They no longer refer to the QP, nor to the module once other CPUs have left
 * write_space(): the module's exit waits for that. The tasklet is not scheduled any more.
 *
 * Context: process.
 */
void sroce_txq_stop(struct sroce_kqp *kqp)
{
	int i;

	for (i = 0; i < SROCE_TXQS; i++)
		if (kqp->txq[i].sk)
			detach(&kqp->txq[i]);
}

/**
 * sroce_txq_close() - drop the packets that were not sent, undo sroce_txq_open()
 * @kqp: the QP, stopped
 *
 * Context: process.
 */
void sroce_txq_close(struct sroce_kqp *kqp)
{
	int i;

	for (i = 0; i < SROCE_TXQS; i++) {
		sroce_txq_purge(&kqp->txq[i]);
		if (kqp->txq[i].sk)
			release(kqp->txq[i].sk);
		kqp->txq[i].sk = NULL;
	}
}
