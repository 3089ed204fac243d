// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Steering of received packets to other CPUs. On a virtual link the CPU that sends a
 * train also receives it, even if other CPUs are idle. Such trains are steered to another
 * CPU, so that the next train is built while the last one is received. Receive packet
 * steering does the same where it is set up, and so do NICs with several queues. ACKs of
 * trains are steered to the CPU that posts: it sends on, while the other one receives.
 *
 * The packets of a flow stay in order. While one of them waits for a CPU, those that
 * follow are queued for the same CPU. If the sender moves to that CPU, all of them move
 * to another one.
 */

#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/interrupt.h>
#include <linux/jhash.h>
#include <linux/moduleparam.h>
#include <linux/netdevice.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
#include <linux/udp.h>
#include "drv/core/wire/opcode.h"
#include "drv/core/wire/wire.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/qp_tbl.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"
#include "drv/net/bth.h"
#include "drv/task/coalesce.h"
#include "drv/task/steer.h"

/* Least work for which a train is steered, in bytes; less does not pay for the IPI */
#define WORK_MIN	(12 * 1024U)
/* Work per segment that does not depend on its length, in bytes */
#define SEGMENT_WORK	512U
/* A flow counts as steered for so long after a train was, in jiffies */
#define STEERED_TIME	2
/* Most datagrams and trains that wait for a CPU */
#define QUEUE_MAX	1024U
/* Datagrams and trains that a CPU receives in one call of its tasklet */
#define BATCH		16
/* How long an event of a CPU counts as recent, in jiffies; see struct steer_cpu */
#define RECENT		(HZ / 100 + 1)
/* Most CPUs that are examined to choose one */
#define CPUS_TRIED	8
/* Size of the table of flows */
#define FLOWS		256

static bool steer = true;
module_param(steer, bool, 0644);
MODULE_PARM_DESC(steer, "Have another CPU receive what comes by a virtual link");

/**
 * struct flow - packets with the same hash of UDP source port, netdev and namespace
 * @lock: held while one of them is queued for a CPU
 * @waiting: how many are queued for @cpu, or are being received there
 * @cpu: the CPU that receives them; valid if @waiting is not 0
 * @steered: when a train of at least WORK_MIN was steered last, in jiffies
 */
struct flow {
	spinlock_t	lock;
	atomic_t	waiting;
	int		cpu;
	unsigned long	steered;
};

/**
 * struct steer_cpu - steering state of a CPU
 * @queue: datagrams and trains that wait for the CPU
 * @tasklet: receives them
 * @csd: IPI that schedules @tasklet on the CPU
 * @yielded: the last call of @tasklet received nothing, to let NET_RX run first
 * @sent: when the CPU sent a train last, in jiffies
 * @doorbell: when a process rang a doorbell on the CPU last, in jiffies
 * @received: when @tasklet received a packet last, in jiffies
 */
struct steer_cpu {
	struct sk_buff_head	queue;
	struct tasklet_struct	tasklet;
	call_single_data_t	csd;
	bool			yielded;
	unsigned long		sent;
	unsigned long		doorbell;
	unsigned long		received;
};

/**
 * struct steer_cb - in skb->cb of a packet that waits for a CPU
 * @flow: flow of the packet
 * @sn: namespace in which it was received
 */
struct steer_cb {
	struct flow		*flow;
	struct sroce_snet	*sn;
};

/* Receives a steered packet; set by sroce_steer_init(), drv/rx/udp.c implements it */
static void (*receive)(struct sroce_snet *sn, struct sk_buff *skb);
static struct flow flows[FLOWS];
static DEFINE_PER_CPU(struct steer_cpu, steer_cpus);

static struct steer_cb *steer_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct steer_cb) > sizeof(skb->cb));
	return (struct steer_cb *)skb->cb;
}

/**
 * sroce_steer_note_tx() - note that this CPU sends a train
 *
 * Context: the caller is not migrated.
 */
void sroce_steer_note_tx(void)
{
	this_cpu_write(steer_cpus.sent, jiffies);
}

/**
 * sroce_steer_note_doorbell() - note that a process rings a doorbell on this CPU
 *
 * Context: process, may be preempted: the note is a hint.
 */
void sroce_steer_note_doorbell(void)
{
	this_cpu_write(steer_cpus.doorbell, jiffies);
}

static bool is_recent(const unsigned long *when)
{
	return time_before(jiffies, READ_ONCE(*when) + RECENT);
}

/* The work of receiving a packet, in bytes */
static u32 work(const struct sk_buff *skb)
{
	return skb->len + skb_shinfo(skb)->gso_segs * SEGMENT_WORK;
}

/*
 * Whether the interrupts of the device decide which CPU receives. None of its packets is steered,
 * so none has to follow steered ones that share a bucket of flows with it.
 */
static bool is_physical(const struct sk_buff *skb)
{
	return skb->dev->dev.parent;
}

/* On a real-time kernel softirqs should not be raised by IPIs. */
static bool may_steer(void)
{
	return READ_ONCE(steer) && !IS_ENABLED(CONFIG_PREEMPT_RT);
}

/*
 * Whether a train is enough work to be steered. A short one follows the long ones of its
 * flow: else the sender would receive the short rest of each message.
 */
static bool is_worthwhile(const struct flow *flow, const struct sk_buff *skb)
{
	return is_recent(this_cpu_ptr(&steer_cpus.sent)) &&
	       (work(skb) >= WORK_MIN ||
		time_before(jiffies, READ_ONCE(flow->steered) + STEERED_TIME));
}

/* Isolated CPUs receive nothing, as with receive packet steering. */
static bool may_receive(int cpu)
{
	return cpumask_test_cpu(cpu, housekeeping_cpumask(HK_TYPE_DOMAIN)) &&
	       cpumask_test_cpu(cpu, housekeeping_cpumask(HK_TYPE_WQ));
}

/*
 * Return: a CPU on which a process rings doorbells, or else the next one; -1 if there is
 * no other. Only active CPUs: one that is coming up or going down may have no ksoftirqd.
 * And only of this NUMA node: the payload is in this CPU's cache.
 */
static int choose_cpu(void)
{
	int self = smp_processor_id(), cpu = self, found = -1, i;

	for (i = 0; i < CPUS_TRIED; i++) {
		cpu = cpumask_next(cpu, cpu_active_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_active_mask);
		if (cpu == self)
			break;
		if (!may_receive(cpu) || cpu_to_node(cpu) != numa_node_id())
			continue;
		if (is_recent(per_cpu_ptr(&steer_cpus.doorbell, cpu)))
			return cpu;
		if (found < 0)
			found = cpu;
	}
	return found;
}

/* Whether a QP has so many packets unacknowledged that the next trip sends many as well */
static bool is_busy(const struct sroce_snet *sn, struct sroce_kqp *kqp)
{
	bool busy;

	if (!sroce_qp_tbl_get(kqp, sn))
		return false;
	busy = sroce_kqp_is_busy(kqp);
	sroce_qp_tbl_put(kqp);
	return busy;
}

/*
 * The CPU whose process posts the requests that an ACK is for, or -1. The CPU that
 * receives an ACK also sends the next requests. If this CPU, which receives trains, did
 * that as well, the other one would be idle, and packets that both send would be reordered.
 */
static int ack_cpu(const struct sroce_snet *sn, const struct sroce_bth *bth)
{
	struct sroce_kqp *kqp;
	int cpu;

	if (!is_recent(this_cpu_ptr(&steer_cpus.received)))
		return -1;
	kqp = sroce_qp_tbl_peek(be32_to_cpu(bth->qpn) & SROCE_QPN_MASK);
	if (!kqp)
		return -1;
	cpu = READ_ONCE(kqp->task.db_cpu) - 1;
	if (cpu < 0 || cpu == smp_processor_id() ||
	    !is_recent(per_cpu_ptr(&steer_cpus.doorbell, cpu)) ||
	    !cpumask_test_cpu(cpu, cpu_active_mask) || !may_receive(cpu) ||
	    sroce_coalesce_active(&kqp->task.coalesce) || !is_busy(sn, kqp))
		return -1;
	return cpu;
}

/*
 * Whether a READ is long, and posted by a process on this CPU. Another CPU should send the
 * trains of its response, so that this one receives them.
 */
static bool is_long_read(const struct sk_buff *skb)
{
	const struct sroce_reth *reth;
	struct sroce_reth buf;

	if (!is_recent(this_cpu_ptr(&steer_cpus.doorbell)))
		return false;
	reth = skb_header_pointer(skb, sizeof(struct udphdr) + SROCE_BTH_LEN, sizeof(buf), &buf);
	return reth && be32_to_cpu(reth->length) >= WORK_MIN;
}

/* Whether a train is one of ACKs that came one by one, see drv/rx/gro.c */
static bool are_acks(const struct sk_buff *skb, const struct sroce_bth *bth)
{
	return bth->opcode == SROCE_OP_ACK && skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST;
}

/* The CPU to receive a packet on a virtual link, by its headers and its flow; -1: this one */
static int wanted_cpu(const struct sroce_snet *sn, const struct flow *flow,
		      const struct sk_buff *skb, const struct sroce_bth *bth)
{
	u32 flags = sroce_opcodes[bth->opcode].flags;

	if (skb_is_gso(skb) && !are_acks(skb, bth))
		return is_worthwhile(flow, skb) ? choose_cpu() : -1;
	if (flags & SROCE_RESPONSE)
		return bth->opcode == SROCE_OP_ACK ? ack_cpu(sn, bth) : -1;
	return flags & SROCE_READING && is_long_read(skb) ? choose_cpu() : -1;
}

/* The best CPU to receive a packet; -1: this one */
static int best_cpu(const struct sroce_snet *sn, const struct flow *flow,
		    const struct sk_buff *skb, const struct sroce_bth *bth)
{
	int cpu = may_steer() ? wanted_cpu(sn, flow, skb, bth) : -1;

	return cpu >= 0 && sroce_sdev_is_virtual(skb->dev) ? cpu : -1;
}

/*
 * The flow of a packet, or NULL if the packet is not steered. Only RC is: without ACKs
 * there is no cwnd that keeps the sender from overrunning the queue. @bth: of the packet,
 * or NULL if it has none
 */
static struct flow *find_flow(const struct sroce_snet *sn, const struct sk_buff *skb,
			      const struct sroce_bth *bth)
{
	const struct udphdr *udp = (const struct udphdr *)skb->data;
	u32 hash;

	if (!bth || SROCE_SVC(bth->opcode) != SROCE_SVC_RC)
		return NULL;
	hash = jhash_2words((__force u32)udp->source, skb->dev->ifindex,
			    hash32_ptr(sn));
	return &flows[hash % FLOWS];
}

/* Schedule the tasklet of a CPU; here if it has gone offline. */
static void kick(struct steer_cpu *sc, int cpu)
{
	/*
	 * If the IPI of a packet that has left the queue is still under way, there is no other:
	 * its tasklet must see this packet, even if it does not take the lock of the queue
	 * because it yields. Pairs with tasklet_schedule() in csd_fn().
	 */
	smp_mb();
	if (cpu == smp_processor_id() ||
	    smp_call_function_single_async(cpu, &sc->csd) == -ENXIO)
		tasklet_schedule(&sc->tasklet);
}

/* Queue a packet for a CPU. A CPU whose queue is not empty has been kicked already. */
static void enqueue(int cpu, struct sk_buff *skb)
{
	struct steer_cpu *sc = per_cpu_ptr(&steer_cpus, cpu);
	bool first;

	spin_lock(&sc->queue.lock);
	first = skb_queue_empty(&sc->queue);
	__skb_queue_tail(&sc->queue, skb);
	/* one IPI at a time: the csd is busy until it has arrived */
	if (first)
		kick(sc, cpu);
	spin_unlock(&sc->queue.lock);
}

static bool has_space(int cpu, u32 n)
{
	return skb_queue_len_lockless(&per_cpu_ptr(&steer_cpus, cpu)->queue) + n <=
	       QUEUE_MAX;
}

/* Move queued packets of a flow to @to; only those of @sn, unless it is NULL. */
static void dequeue_flow(struct steer_cpu *sc, const struct flow *flow,
			 const struct sroce_snet *sn, struct sk_buff_head *to)
{
	struct sk_buff *skb, *next;

	__skb_queue_head_init(to);
	spin_lock(&sc->queue.lock);
	skb_queue_walk_safe(&sc->queue, skb, next) {
		if (steer_cb(skb)->flow != flow || (sn && steer_cb(skb)->sn != sn))
			continue;
		__skb_unlink(skb, &sc->queue);
		__skb_queue_tail(to, skb);
	}
	spin_unlock(&sc->queue.lock);
}

/*
 * Move a flow to @cpu. Its sender has moved to this CPU, which also receives it: both
 * would stay here while any packet waits. The tasklet can't receive meanwhile, as this is
 * a softirq of the same CPU. (Exception: after the CPU went offline and came back, its
 * tasklet may still run on another one. Then one packet may be overtaken.)
 */
static void move_flow(struct flow *flow, int cpu)
{
	struct sk_buff_head list;
	struct sk_buff *skb;

	dequeue_flow(this_cpu_ptr(&steer_cpus), flow, NULL, &list);
	while ((skb = __skb_dequeue(&list)))
		enqueue(cpu, skb);
	flow->cpu = cpu;
}

/*
 * The CPU that receives the next packet of a flow, or -1 for this one. @flow: locked;
 * @best: the best CPU if no packet of the flow waits, or -1
 */
static int flow_cpu(struct flow *flow, int best)
{
	/* pairs with flow_done(): earlier packets have been received */
	if (!atomic_read_acquire(&flow->waiting))
		return best;
	if (flow->cpu == smp_processor_id() && best >= 0 &&
	    has_space(best, atomic_read(&flow->waiting) + 1))
		move_flow(flow, best);
	return flow->cpu;
}

/**
 * sroce_steer() - queue a datagram for another CPU, if that one should receive it
 * @sn: the namespace
 * @skb: the datagram or train, data at the UDP header
 *
 * Context: softirq, under RCU.
 *
 * Return: true if @skb was queued, or dropped because the queue is full; false if the
 * caller has to receive it.
 */
bool sroce_steer(struct sroce_snet *sn, struct sk_buff *skb)
{
	const struct sroce_bth *bth;
	struct sroce_bth buf;
	struct flow *flow;
	int best, cpu;

	if (is_physical(skb))
		return false;
	/* what is pulled is not contiguous with the rest any more */
	bth = sroce_skb_bth(skb, sizeof(struct udphdr), &buf);
	flow = find_flow(sn, skb, bth);
	if (!flow)
		return false;
	best = best_cpu(sn, flow, skb, bth);
	if (best < 0 && !atomic_read(&flow->waiting))
		return false;
	spin_lock(&flow->lock);
	cpu = flow_cpu(flow, best);
	if (cpu >= 0 && !has_space(cpu, 1)) {
		sroce_snet_count(sn, SROCE_CNT_STEER_FULL);
		kfree_skb(skb);
	} else if (cpu >= 0) {
		if (cpu != smp_processor_id())
			sroce_snet_count(sn, SROCE_CNT_STEERED);
		flow->cpu = cpu;
		if (skb_is_gso(skb) && work(skb) >= WORK_MIN)
			WRITE_ONCE(flow->steered, jiffies);
		atomic_inc(&flow->waiting);
		/* the route may be valid for this softirq only */
		skb_dst_drop(skb);
		dev_hold(skb->dev);
		steer_cb(skb)->flow = flow;
		steer_cb(skb)->sn = sn;
		enqueue(cpu, skb);
	}
	spin_unlock(&flow->lock);
	return cpu >= 0;
}

static void csd_fn(void *arg)
{
	struct steer_cpu *sc = arg;

	tasklet_schedule(&sc->tasklet);
}

/* A packet has been received; pairs with flow_cpu(). */
static void flow_done(struct flow *flow)
{
	atomic_dec_return_release(&flow->waiting);
}

/* Whether packets that this CPU sent on a virtual link wait for NET_RX; they go first. */
static bool net_rx_pending(void)
{
	return local_softirq_pending() & BIT(NET_RX_SOFTIRQ);
}

static void tasklet_fn(struct tasklet_struct *t)
{
	struct steer_cpu *sc = from_tasklet(sc, t, tasklet);
	struct sk_buff *skb;
	int n = 0;

	/* not twice in a row: NET_RX may be pending all the time */
	sc->yielded = !sc->yielded && net_rx_pending();
	/* from before the dequeue: pairs with synchronize_net() in sroce_steer_flush() */
	rcu_read_lock();
	while (!sc->yielded && n++ < BATCH && (n == 1 || !net_rx_pending()) &&
	       (skb = skb_dequeue(&sc->queue))) {
		struct steer_cb cb = *steer_cb(skb);
		struct net_device *dev = skb->dev;

		receive(cb.sn, skb);
		dev_put(dev);
		flow_done(cb.flow);
	}
	rcu_read_unlock();
	if (n)
		this_cpu_write(steer_cpus.received, jiffies);
	/* enqueue() does not kick while the queue is not empty */
	if (!skb_queue_empty_lockless(&sc->queue))
		tasklet_schedule(&sc->tasklet);
}

static void purge_queue(struct steer_cpu *sc, struct flow *flow,
			const struct sroce_snet *sn)
{
	struct sk_buff_head gone;
	struct sk_buff *skb;

	if (skb_queue_empty_lockless(&sc->queue))
		return;
	dequeue_flow(sc, flow, sn, &gone);
	while ((skb = __skb_dequeue(&gone))) {
		dev_put(skb->dev);
		flow_done(flow);
		kfree_skb(skb);
	}
}

/* Drop packets of a namespace. The lock keeps other namespaces from moving the flow. */
static void purge_flow(struct flow *flow, const struct sroce_snet *sn)
{
	int cpu;

	/* the sockets are closed: the namespace adds no packets */
	if (!atomic_read(&flow->waiting))
		return;
	spin_lock_bh(&flow->lock);
	for_each_possible_cpu(cpu)
		purge_queue(per_cpu_ptr(&steer_cpus, cpu), flow, sn);
	spin_unlock_bh(&flow->lock);
}

/**
 * sroce_steer_flush() - drop queued packets, and wait for those being received
 * @sn: a namespace whose sockets are closed
 *
 * Context: process, may sleep.
 */
void sroce_steer_flush(const struct sroce_snet *sn)
{
	u32 i;

	/* wait until the last packet of the sockets is queued */
	synchronize_net();
	for (i = 0; i < FLOWS; i++)
		purge_flow(&flows[i], sn);
	synchronize_net();
}

/**
 * sroce_steer_init() - initialize flows and per-CPU queues, when the module is loaded
 * @rcv: receives a datagram or train, in softirq and under RCU
 */
void __init sroce_steer_init(void (*rcv)(struct sroce_snet *sn, struct sk_buff *skb))
{
	int cpu, i;

	receive = rcv;
	for (i = 0; i < FLOWS; i++) {
		spin_lock_init(&flows[i].lock);
		flows[i].steered = jiffies - STEERED_TIME;
	}
	for_each_possible_cpu(cpu) {
		struct steer_cpu *sc = per_cpu_ptr(&steer_cpus, cpu);

		skb_queue_head_init(&sc->queue);
		tasklet_setup(&sc->tasklet, tasklet_fn);
		INIT_CSD(&sc->csd, csd_fn, sc);
		sc->sent = jiffies - RECENT;
		sc->doorbell = jiffies - RECENT;
		sc->received = jiffies - RECENT;
	}
}

/**
 * sroce_steer_exit() - undo sroce_steer_init()
 *
 * Context: process, may sleep; all queues are empty.
 */
void sroce_steer_exit(void)
{
	int cpu;

	/* wait for IPIs under way: they arrive before the second call at the latest */
	kick_all_cpus_sync();
	kick_all_cpus_sync();
	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu_ptr(&steer_cpus, cpu)->tasklet);
}
