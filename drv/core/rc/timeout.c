// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Which timeouts of the ACK timer are retries, and which are excused. */

#include "drv/core/env.h"
#include "drv/core/rc/cc.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/timeout.h"

/* The interval of the ACK timer may be so many times what the user asked for (9.7.6.1.3). */
#define TIMEOUT_FACTOR	4
/* For so long after a timer was late timeouts may be this machine's fault, in ns */
#define LATE_MEMORY	(1ULL * NSEC_PER_SEC)

/*
 * Whether a timeout does not count against the peer, since the answer may be in a queue
 * here, or the request is.
 */
static bool is_fault_of_host(struct sroce_qp *qp, u64 now)
{
	const struct sroce_req *req = &qp->req;

	return (req->late_at && now - req->late_at < LATE_MEMORY) || sroce_tx_pending(qp);
}

/*
 * The peer's host may be as busy: for as many timeouts as count as many others do not. All
 * intervals together stay below TIMEOUT_FACTOR times what the user asked for, but for the
 * time in which this machine stood still.
 */
static bool excuse(struct sroce_qp *qp, bool host)
{
	struct sroce_req *req = &qp->req;
	u32 most = (TIMEOUT_FACTOR - 1) * (qp->attr.retry_cnt + 1) - 1;

	if (req->excused == most || (!host && req->excused + req->retries > qp->attr.retry_cnt))
		return false;
	req->excused++;
	sroce_count(qp, SROCE_CNT_TIMEOUT_EXCUSED);
	return true;
}

/**
 * sroce_timeout_counted() - no answer has come for as long as the ACK timeout
 * @qp: the QP, RC, locked
 * @now: the time, in ns
 *
 * Return: whether the QP goes on; false if its retries are used up (9.7.6.1.3), and it has
 * failed with IB_WC_RETRY_EXC_ERR.
 */
bool sroce_timeout_counted(struct sroce_qp *qp, u64 now)
{
	struct sroce_req *req = &qp->req;
	bool host = is_fault_of_host(qp, now), excused = excuse(qp, host);

	if (!host || !excused)
		sroce_cc_timeout(qp);
	if (excused)
		return true;
	sroce_count(qp, SROCE_CNT_TIMEOUT);
	if (!req->retries) {
		sroce_count(qp, SROCE_CNT_RETRY_EXC);
		sroce_sq_fail(qp, IB_WC_RETRY_EXC_ERR);
		return false;
	}
	req->retries--;
	return true;
}
