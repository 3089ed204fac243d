/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Who works for a QP, on which CPU, and when. */
#ifndef SROCE_TASK_TASK_H
#define SROCE_TASK_TASK_H

#include "drv/lookup/kqp.h"

/**
 * DOC: Which CPU works for a QP, and when
 *
 * A QP has one owner at a time: the CPU that holds its lock (struct sroce_qp.lock). Five
 * things make a CPU want it: a doorbell of a process, a packet, a timer, pages that were
 * faulted in, and the tasklet that goes on where a trip was cut short. None of them
 * spins for an owner that works for long (sroce_kqp_is_busy()): each leaves a note, and
 * the owner sees to it before it unlocks, or its tasklet does after.
 *
 * ::
 *
 *   doorbell ----> held? --yes--> coalesce.held ---------+
 *      |  no                                             | timer, or a later doorbell
 *      v                                                 v
 *   locked by another? --yes--> db_pending ----> +---------------+
 *      |  no                                     |  one trip:    |--> txq[] -> IP stack
 *      +---------------------------------------->|  lock         |--> txq[] -> loopback
 *   packet --> steered? --yes--> other CPU       |  backlog      |--> deferred: CQs,
 *      |  no                        |            |  doorbells    |    events
 *      v                            v            |  transport    |
 *   locked by another, or another CPU is to      |  send         |
 *   go on (task.cpu)? --yes--> backlog --------->|  unlock       |
 *      |  no                                     |  deferred     |
 *      +---------------------------------------->+---------------+
 *   timer, pages ------------------------------->        | more, or a note was left
 *                                                        v meanwhile
 *                                               tasklet, on this CPU (task.cpu)
 *
 * The notes, all in struct sroce_task unless another place is given:
 *
 * =================  ============================  =====================================
 * note               set by                        cleared by
 * =================  ============================  =====================================
 * db_pending         a doorbell that finds the QP  the owner in its trip, before it reads
 *                    locked; the timer of what     the ring
 *                    is held
 * backlog            a packet that finds the QP    the owner in its trip
 *                    locked
 * coalesce.held      a doorbell in a stream, see   a doorbell that is sent, or the timer
 *                    drv/task/coalesce.c           of what is held
 * cpu                an owner that unlocks while   the tasklet, once it has the lock
 *                    there is more to do: the
 *                    tasklet goes on there
 * db_cpu             the trip that takes a         never: the next doorbell changes it
 *                    doorbell in
 * txq[].sending      the owner, before it drops    the same CPU, once it has the lock
 * (struct sroce_kqp) the lock to send              again
 * deferred           the protocol, under the lock  the owner, when it unlocks
 * (struct sroce_qp)
 * =================  ============================  =====================================
 *
 * Why a packet may be left to another CPU (cpu, sending): packets of a queue must leave
 * in the order in which they were built. A CPU that has dropped the lock to send, or
 * whose tasklet is to go on, has packets that are older than any that could be built now.
 *
 * Steering, drv/task/steer.c, comes before all of this: it decides on which CPU a packet
 * that came by a virtual link is received. Its notes are per CPU, not per QP.
 */

void sroce_task_lock(struct sroce_qp *qp);
void sroce_task_unlock(struct sroce_qp *qp);
bool sroce_task_lock_doorbell(struct sroce_qp *qp);
bool sroce_task_unlock_run_once(struct sroce_qp *qp);
void sroce_task_unlock_run(struct sroce_qp *qp);
void sroce_task_unlock_verb(struct sroce_qp *qp);
bool sroce_task_lock_or_backlog(struct sroce_kqp *kqp, struct sk_buff *skb, u32 qpn, u32 n);
void sroce_task_send_held(struct sroce_qp *qp);
void sroce_task_init(struct sroce_qp *qp, struct sroce_kqp *kqp,
		     void (*backlog_rcv)(struct sroce_qp *qp, struct sk_buff *skb, u32 qpn, u32 n));
void sroce_task_stop(struct sroce_kqp *kqp);

#endif /* SROCE_TASK_TASK_H */
