/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Trips into a QP: which CPU works for it, and when. */
#ifndef SROCE_TASK_TASK_H
#define SROCE_TASK_TASK_H

#include "drv/lookup/kqp.h"

/**
 * DOC: Which CPU works for a QP, and when
 *
 * A QP has one owner at a time: the CPU that holds its lock (struct sroce_qp.lock). A
 * trip is one visit of an owner: lock, work, unlock. Trips are made for a doorbell of a
 * process, a packet, a timer, pages that were faulted in, a verb, and by the tasklet of
 * the QP. The tasklet goes on where a trip was cut short, and starts the sends of a
 * kernel user.
 *
 * The owner may work for long if many packets are under way (sroce_kqp_is_busy()). A
 * doorbell and a packet from the network don't wait for such an owner. They leave a note.
 * The owner sees to it before it unlocks, or its tasklet does after. All others wait for
 * the lock, and so does a packet that finds the backlog full.
 *
 * ::
 *
 *                                                        +------------------------+
 *   doorbell --> to be held? --yes--> [coalesce.held]    | one trip:              |
 *      |  no                                             |  lock                  |
 *      v                                                 |  receive [backlog]     |
 *   owner is busy? --yes--> [db_pending]                 |  read the send ring:   |
 *      |  no                                             |   [db_pending]         |
 *      +------------------------------------------------>|   [coalesce.held]      |
 *                                                        |  transport             |
 *   packet --> steered? --yes--> other CPU               |  send: IP stack, or    |
 *      |  no                        |                    |   trip of another QP   |
 *      v                            v                    |  unlock                |
 *   owner is busy, [backlog] is not empty, or other      |  [deferred]: CQs,      |
 *   CPU is to go on [cpu]? --yes--> [backlog]            |   events               |
 *      |  no                                             |                        |
 *      +------------------------------------------------>|                        |
 *   loopback packet, multicast, timer, pages, verb ----->|                        |
 *   timer of [coalesce.held] --> [db_pending], tasklet ->|                        |
 *                                                        +------------------------+
 *                                                              | more to do, or a
 *                                                              v note was left
 *   [name]: a note, see below                           tasklet, on this CPU [cpu]
 *
 * The notes, all in struct sroce_task unless another place is given:
 *
 * ==================  ============================  ====================================
 * note                set by                        cleared by
 * ==================  ============================  ====================================
 * db_pending          a doorbell that finds a busy  the owner in its trip, before it
 *                     owner; the timer of held      reads the ring
 *                     doorbells
 * backlog             a packet that must not wait   the owner in its trip; a packet that
 *                     for the lock, or must follow  finds it full, and the ACK timer, at
 *                     others that did not           the start of theirs
 * coalesce.held       a doorbell that others are    a doorbell that is not held, the
 *                     likely to follow, see         timer, or a verb that changes the QP
 *                     drv/task/coalesce.c
 * cpu                 an owner that has unlocked    the tasklet, once it has the lock
 *                     the QP while there is more
 *                     to do, or who has freed what
 *                     a full transmit queue waits
 *                     for: the CPU on which the
 *                     tasklet is to go on
 * txq[].dropped       the owner that has sent what  the owner in its next trip, which
 * (struct sroce_kqp)  the IP stack has dropped      tells the transport
 * txq[].lb_stopped    a trip that has more          the owner that takes them from
 * (struct sroce_kqp)  loopback packets to send      the queue; it makes a trip
 *                     than the queue takes          more
 * db_cpu              the trip that takes in a      never: the next doorbell changes it
 *                     doorbell
 * txq[].sending       the owner, before it drops    the same CPU, with the lock held
 * (struct sroce_kqp)  the lock to send              again, when it has sent
 * deferred, events,   the transport and CQs, with   the owner, before it unlocks
 * srq_events          the lock held
 * (struct sroce_qp)
 * ==================  ============================  ====================================
 *
 * A trip on db_cpu sends what held doorbells have posted, but leaves coalesce.held as it
 * is: the timer makes one trip more.
 *
 * Why a packet may be left to another CPU (cpu, sending): packets of a queue must leave
 * in the order in which they were built. A CPU that has dropped the lock to send, or
 * whose tasklet is to go on, has packets that are older than any that could be built now.
 *
 * Steering, drv/task/steer.c, comes before all of this: it decides on which CPU a packet
 * of a virtual link is received. Its notes are per CPU, not per QP.
 */

void sroce_task_lock(struct sroce_qp *qp);
void sroce_task_unlock(struct sroce_qp *qp);
struct sroce_kqp *sroce_task_lock_query(struct sroce_qp *qp);
void sroce_task_unlock_query(struct sroce_qp *qp, struct sroce_kqp *kqp);
bool sroce_task_lock_doorbell(struct sroce_qp *qp);
bool sroce_task_unlock_run_once(struct sroce_qp *qp);
void sroce_task_unlock_run(struct sroce_qp *qp);
void sroce_task_unlock_verb(struct sroce_qp *qp);
bool sroce_task_lock_or_backlog(struct sroce_kqp *kqp, struct sk_buff *skb, u32 qpn, u32 n);
void sroce_task_send_held(struct sroce_qp *qp);
void sroce_task_init(struct sroce_qp *qp, struct sroce_kqp *kqp,
		     void (*backlog_rcv)(struct sroce_qp *qp, struct sk_buff *skb,
					 u32 qpn, u32 n));
void sroce_task_drop_queued(struct sroce_kqp *kqp);
void sroce_task_stop(struct sroce_kqp *kqp);

#endif /* SROCE_TASK_TASK_H */
