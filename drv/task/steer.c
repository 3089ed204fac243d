// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * On a virtual link the CPU that sends a train is the one that receives it, and
 * both ends share it however many others there are. Such trains are relayed to
 * another CPU, so that one is built while the one before is taken in: what receive
 * packet steering does where it is set up, and NICs with several queues do by
 * themselves. Acknowledges of trains go back to the CPU that posts: it sends on, and
 * the other goes on receiving.
 *
 * The packets of a flow stay in order: while any of them waits, all that follow it
 * go to the same place; and should the sender come to that place, they all go on to
 * another.
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
#include "drv/dev.h"
#include "drv/core/wire/wire.h"

/*
 * Trains that are less work are not worth the call, in bytes; what each segment takes
 * besides its bytes is as much work as so many.
 */
#define WORTH		(12 * 1024U)
#define SEGMENT		512U
/* How long a flow counts as one whose trains are relayed, in jiffies */
#define WARM		2
/* Most datagrams and trains that wait for a CPU, and what it takes in at once */
#define QUEUE_MAX	1024U
#define BATCH		16
/* How long a CPU counts as one that sends, or has a process that does */
#define LATELY		(HZ / 100 + 1)
/* CPUs that are looked at */
#define TRIES		8
#define FLOWS		256

static bool steer = true;
module_param(steer, bool, 0644);
MODULE_PARM_DESC(steer, "Have another CPU receive what comes by a virtual link");

/**
 * struct flow - datagrams that have a hash in common
 * @lock: held while one is sent to @cpu
 * @waiting: how many of them are with another CPU
 * @cpu: which one
 * @relayed: when a train of its was worth it last, in jiffies
 */
struct flow {
	spinlock_t	lock;
	atomic_t	waiting;
	int		cpu;
	unsigned long	relayed;
};

/**
 * struct stop - where datagrams wait for a CPU
 * @queue: the datagrams
 * @tasklet: takes them in
 * @csd: calls the CPU
 * @gave_way: @tasklet took nothing in, for the sake of what the CPU has sent
 * @sent: when it sent a train last, in jiffies
 * @rang: when a process rang a doorbell on it last, in jiffies
 * @took: when it took something in last that waited here, in jiffies
 */
struct stop {
	struct sk_buff_head	queue;
	struct tasklet_struct	tasklet;
	call_single_data_t	csd;
	bool			gave_way;
	unsigned long		sent;
	unsigned long		rang;
	unsigned long		took;
};

/**
 * struct relay_cb - in skb->cb of what waits
 * @flow: what it is a part of
 * @sn: the namespace it came to
 */
struct relay_cb {
	struct flow		*flow;
	struct sroce_snet	*sn;
};

static struct flow flows[FLOWS];
static DEFINE_PER_CPU(struct stop, stops);

static struct relay_cb *relay_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct relay_cb) > sizeof(skb->cb));
	return (struct relay_cb *)skb->cb;
}

/**
 * sroce_steer_note_tx() - this CPU sends a train
 */
void sroce_steer_note_tx(void)
{
	this_cpu_write(stops.sent, jiffies);
}

/**
 * sroce_steer_note_doorbell() - a process rings a doorbell on this CPU
 */
void sroce_steer_note_doorbell(void)
{
	this_cpu_write(stops.rang, jiffies);
}

static bool lately(const unsigned long *when)
{
	return time_before(jiffies, READ_ONCE(*when) + LATELY);
}

static u32 work(const struct sk_buff *skb)
{
	return skb->len + skb_shinfo(skb)->gso_segs * SEGMENT;
}

/*
 * A real device has its own idea of which CPU receives. A real-time kernel does
 * not want softirqs raised by calls.
 */
static bool may_relay(const struct sk_buff *skb)
{
	return READ_ONCE(steer) && !skb->dev->dev.parent && !IS_ENABLED(CONFIG_PREEMPT_RT);
}

/* Of a message that makes two trains the short one would have the sender receive, too. */
static bool is_worth_it(const struct flow *flow, const struct sk_buff *skb)
{
	return lately(this_cpu_ptr(&stops.sent)) &&
	       (work(skb) >= WORTH || time_before(jiffies, READ_ONCE(flow->relayed) + WARM));
}

/* As with receive packet steering, isolated CPUs are left alone. */
static bool may_receive(int cpu)
{
	return cpumask_test_cpu(cpu, housekeeping_cpumask(HK_TYPE_DOMAIN)) &&
	       cpumask_test_cpu(cpu, housekeeping_cpumask(HK_TYPE_WQ));
}

/*
 * A CPU that works for RDMA anyhow, or else a neighbour; -1 if we are alone. One
 * that is on its way in or out has nobody who goes on when a softirq takes long.
 */
static int choose(void)
{
	int self = smp_processor_id(), cpu = self, found = -1, i;

	for (i = 0; i < TRIES; i++) {
		cpu = cpumask_next(cpu, cpu_active_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_active_mask);
		if (cpu == self)
			break;
		if (!may_receive(cpu))
			continue;
		if (lately(per_cpu_ptr(&stops.rang, cpu)))
			return cpu;
		if (found < 0)
			found = cpu;
	}
	return found;
}

/* Whether so much of a QP is under way that what follows is much as well */
static bool is_busy(struct sroce_kqp *kqp)
{
	bool busy;

	if (!refcount_inc_not_zero(&kqp->ref))
		return false;
	busy = sroce_task_is_busy(kqp->qp);
	sroce_qp_tbl_put(kqp);
	return busy;
}

/*
 * The CPU whose process posts what an acknowledge is for. Who receives that sends what
 * follows: were it this one, which receives what was sent before, the other would look on,
 * and what both send be received out of order.
 */
static int home_of(const struct sroce_bth *bth)
{
	struct sroce_kqp *kqp;
	int cpu;

	if (!lately(this_cpu_ptr(&stops.took)))
		return -1;
	kqp = xa_load(&sroce_qp_tbl, be32_to_cpu(bth->qpn) & SROCE_QPN_MASK);
	if (!kqp)
		return -1;
	cpu = READ_ONCE(kqp->db_cpu) - 1;
	if (cpu < 0 || cpu == smp_processor_id() || !lately(per_cpu_ptr(&stops.rang, cpu)) ||
	    !cpumask_test_cpu(cpu, cpu_active_mask) || !may_receive(cpu) ||
	    sroce_coalesce_active(&kqp->coalesce) || !is_busy(kqp))
		return -1;
	return cpu;
}

/* A READ that a train answers, by the CPU whose process posts it: that is to receive it. */
static bool is_long_read(const struct sroce_bth *bth, const struct sk_buff *skb)
{
	const struct sroce_reth *reth = (const struct sroce_reth *)(bth + 1);

	return skb_headlen(skb) >= sizeof(struct udphdr) + sizeof(*bth) + sizeof(*reth) &&
	       lately(this_cpu_ptr(&stops.rang)) && be32_to_cpu(reth->length) >= WORTH;
}

/* The CPU that a datagram is best received by, as far as its headers tell; -1: this one */
static int best_for(const struct flow *flow, const struct sk_buff *skb)
{
	const struct sroce_bth *bth;
	u32 flags;

	if (!may_relay(skb))
		return -1;
	if (skb_is_gso(skb))
		return is_worth_it(flow, skb) ? choose() : -1;
	bth = (const struct sroce_bth *)(skb->data + sizeof(struct udphdr));
	flags = sroce_opcodes[bth->opcode].flags;
	if (flags & SROCE_RESPONSE)
		return bth->opcode == SROCE_OP_ACK ? home_of(bth) : -1;
	return flags & SROCE_READING && is_long_read(bth, skb) ? choose() : -1;
}

/*
 * NULL for what is not relayed at all: without acknowledges there is no window
 * that keeps a sender from overrunning the queue.
 */
static struct flow *flow_of(const struct sroce_snet *sn, struct sk_buff *skb)
{
	const struct sroce_bth *bth;
	const struct udphdr *udp;
	u32 hash;

	if (!pskb_may_pull(skb, sizeof(*udp) + SROCE_BTH_LEN))
		return NULL;
	udp = (struct udphdr *)skb->data;
	bth = (struct sroce_bth *)(udp + 1);
	if (SROCE_SVC(bth->opcode) != SROCE_SVC_RC)
		return NULL;
	hash = jhash_2words((__force u32)udp->source, skb->dev->ifindex,
			    hash32_ptr(sn));
	return &flows[hash % FLOWS];
}

/* A CPU that has gone by now leaves its tasklets to others. */
static void call(struct stop *stop, int cpu)
{
	if (cpu == smp_processor_id() ||
	    smp_call_function_single_async(cpu, &stop->csd) == -ENXIO)
		tasklet_schedule(&stop->tasklet);
}

/* Who finds something waiting knows that the CPU was called. */
static void enqueue(int cpu, struct sk_buff *skb)
{
	struct stop *stop = per_cpu_ptr(&stops, cpu);
	bool first;

	spin_lock(&stop->queue.lock);
	first = skb_queue_empty(&stop->queue);
	__skb_queue_tail(&stop->queue, skb);
	/* one at a time: calls that meet are not told from each other */
	if (first)
		call(stop, cpu);
	spin_unlock(&stop->queue.lock);
}

static bool has_room(int cpu, u32 n)
{
	return skb_queue_len_lockless(&per_cpu_ptr(&stops, cpu)->queue) + n <=
	       QUEUE_MAX;
}

/* Take what waits at a stop of a flow, of one namespace or any. */
static void pick(struct stop *stop, const struct flow *flow,
		 const struct sroce_snet *sn, struct sk_buff_head *to)
{
	struct sk_buff *skb, *next;

	__skb_queue_head_init(to);
	spin_lock(&stop->queue.lock);
	skb_queue_walk_safe(&stop->queue, skb, next) {
		if (relay_cb(skb)->flow != flow || (sn && relay_cb(skb)->sn != sn))
			continue;
		__skb_unlink(skb, &stop->queue);
		__skb_queue_tail(to, skb);
	}
	spin_unlock(&stop->queue.lock);
}

/*
 * What sends a flow has come to the CPU that receives it, and there both would stay
 * for as long as anything waits. Nobody takes anything in here meanwhile: this is a
 * softirq of the same CPU. (Unless that has gone and come back, and another still has
 * its tasklet: then a packet may be overtaken, once.)
 */
static void move(struct flow *flow, int cpu)
{
	struct sk_buff_head list;
	struct sk_buff *skb;

	pick(this_cpu_ptr(&stops), flow, NULL, &list);
	while ((skb = __skb_dequeue(&list)))
		enqueue(cpu, skb);
	flow->cpu = cpu;
}

/*
 * Where a datagram goes, or -1 if it stays; its flow is locked. @best: where it would if
 * it were alone, or -1
 */
static int where_to(struct flow *flow, int best)
{
	/* pairs with the release: what was there before has been taken in */
	if (!atomic_read_acquire(&flow->waiting))
		return best;
	if (flow->cpu == smp_processor_id() && best >= 0 &&
	    has_room(best, atomic_read(&flow->waiting) + 1))
		move(flow, best);
	return flow->cpu;
}

/**
 * sroce_steer() - have another CPU take a datagram in, if that is better
 * @sn: the namespace
 * @skb: the datagram or train, data at the UDP header
 *
 * Runs in softirq, under RCU.
 *
 * Return: whether it is gone; if not, it's the caller's to take in.
 */
bool sroce_steer(struct sroce_snet *sn, struct sk_buff *skb)
{
	struct flow *flow = flow_of(sn, skb);
	int best, cpu;

	if (!flow)
		return false;
	best = best_for(flow, skb);
	if (best < 0 && !atomic_read(&flow->waiting))
		return false;
	spin_lock(&flow->lock);
	cpu = where_to(flow, best);
	if (cpu >= 0 && !has_room(cpu, 1)) {
		sroce_snet_count(sn, SROCE_CNT_STEER_FULL);
		kfree_skb(skb);
	} else if (cpu >= 0) {
		if (cpu != smp_processor_id())
			sroce_snet_count(sn, SROCE_CNT_STEERED);
		flow->cpu = cpu;
		if (skb_is_gso(skb) && work(skb) >= WORTH)
			WRITE_ONCE(flow->relayed, jiffies);
		atomic_inc(&flow->waiting);
		/* the route may be borrowed for as long as this softirq runs */
		skb_dst_drop(skb);
		dev_hold(skb->dev);
		relay_cb(skb)->flow = flow;
		relay_cb(skb)->sn = sn;
		enqueue(cpu, skb);
	}
	spin_unlock(&flow->lock);
	return cpu >= 0;
}

static void call_fn(void *arg)
{
	struct stop *stop = arg;

	tasklet_schedule(&stop->tasklet);
}

/* What came before is done with, and what comes now may go elsewhere. */
static void done(struct flow *flow)
{
	atomic_dec_return_release(&flow->waiting);
}

/* What this CPU has sent meanwhile is before what it, or another, sends next. */
static bool has_sent(void)
{
	return local_softirq_pending() & BIT(NET_RX_SOFTIRQ);
}

static void arrive(struct tasklet_struct *t)
{
	struct stop *stop = from_tasklet(stop, t, tasklet);
	struct sk_buff *skb;
	int n = 0;

	/* once: on a CPU that receives a lot that is pending all the time */
	stop->gave_way = !stop->gave_way && has_sent();
	/* of the queue, too: see sroce_steer_flush() */
	rcu_read_lock();
	while (!stop->gave_way && n++ < BATCH && (n == 1 || !has_sent()) &&
	       (skb = skb_dequeue(&stop->queue))) {
		struct relay_cb cb = *relay_cb(skb);
		struct net_device *dev = skb->dev;

		sroce_udp_input(cb.sn, skb);
		dev_put(dev);
		done(cb.flow);
	}
	rcu_read_unlock();
	if (n)
		this_cpu_write(stops.took, jiffies);
	/* nobody calls while something waits */
	if (!skb_queue_empty_lockless(&stop->queue))
		tasklet_schedule(&stop->tasklet);
}

static void forget_at(struct stop *stop, struct flow *flow,
		      const struct sroce_snet *sn)
{
	struct sk_buff_head gone;
	struct sk_buff *skb;

	if (skb_queue_empty_lockless(&stop->queue))
		return;
	pick(stop, flow, sn, &gone);
	while ((skb = __skb_dequeue(&gone))) {
		dev_put(skb->dev);
		done(flow);
		kfree_skb(skb);
	}
}

/* Its lock is held, or another namespace's packets might move it meanwhile. */
static void forget_flow(struct flow *flow, const struct sroce_snet *sn)
{
	int cpu;

	/* nothing more of this namespace comes */
	if (!atomic_read(&flow->waiting))
		return;
	spin_lock_bh(&flow->lock);
	for_each_possible_cpu(cpu)
		forget_at(per_cpu_ptr(&stops, cpu), flow, sn);
	spin_unlock_bh(&flow->lock);
}

/**
 * sroce_steer_flush() - drop what waits, and wait for what is being taken in
 * @sn: a namespace whose sockets are closed
 */
void sroce_steer_flush(const struct sroce_snet *sn)
{
	u32 i;

	/* the last that came by the sockets is in a queue by then */
	synchronize_net();
	for (i = 0; i < FLOWS; i++)
		forget_flow(&flows[i], sn);
	synchronize_net();
}

/**
 * sroce_steer_init() - prepare the places where datagrams wait
 */
void __init sroce_steer_init(void)
{
	int cpu, i;

	for (i = 0; i < FLOWS; i++) {
		spin_lock_init(&flows[i].lock);
		flows[i].relayed = jiffies - WARM;
	}
	for_each_possible_cpu(cpu) {
		struct stop *stop = per_cpu_ptr(&stops, cpu);

		skb_queue_head_init(&stop->queue);
		tasklet_setup(&stop->tasklet, arrive);
		INIT_CSD(&stop->csd, call_fn, stop);
		stop->sent = jiffies - LATELY;
		stop->rang = jiffies - LATELY;
		stop->took = jiffies - LATELY;
	}
}

/**
 * sroce_steer_exit() - undo sroce_steer_init(); nothing waits any more
 */
void sroce_steer_exit(void)
{
	int cpu;

	/* calls that are on their way arrive: before the second, if not the first */
	kick_all_cpus_sync();
	kick_all_cpus_sync();
	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu_ptr(&stops, cpu)->tasklet);
}
