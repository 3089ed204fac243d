// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A A --family 4 */
/* Numbers of QPs can't be guessed from others, and are not used again at once. */

#include "vt.h"

#define QPS	64
/* With 24 random bits, 64 numbers are in one sixteenth of all once in 2^252 runs. */
#define SPREAD	0x100000

static uint32_t number(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(vt_devs[0].pd, &init);
	uint32_t qpn = qp ? qp->qp_num : 0;

	if (qp)
		ibv_destroy_qp(qp);
	return qpn;
}

static why_t spread(void)
{
	struct ibv_cq *cq = ibv_create_cq(vt_devs[0].ctx, 2, NULL, NULL, 0);
	uint32_t low = UINT32_MAX, high = 0, last = 0;

	CHECK(cq, "CQ: %s", strerror(errno));
	for (int i = 0; i < QPS; i++) {
		uint32_t n = number(cq);

		CHECK(n >= 16 && n < 0xffffff, "QP %d has number %#x", i, n);
		CHECK(n != last, "%#x is used again at once", n);
		low = MIN(low, n);
		if (n > high)
			high = n;
		last = n;
	}
	CHECK(high - low > SPREAD, "all numbers are from %#x to %#x", low, high);
	CHECK(!ibv_destroy_cq(cq), "CQ: %s", strerror(errno));
	return NULL;
}

int main(int argc, char **argv)
{
	vt_start(argc, argv);
	tap_report(spread(), "qpn: numbers of QPs are random");
	return tap_finish();
}
