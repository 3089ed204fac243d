// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A packet under construction: where its payload comes from */

#include "tests.h"
#include "xfer.h"

static void inlined(void)
{
	u8 data[256];
	struct xfers t;
	u32 len, i;

	t_case("txbuf: inline data is taken when posted");
	for (len = 1; len <= 256; len += 15) {
		struct sim_wr wr;

		xfers_init(&t, NULL, 4096, 4096);
		wr = xfer_make(&t, IB_WR_SEND, len);
		for (i = 0; i < len; i++)
			data[i] = *sim_byte(t.a, t.x[0].off + i);
		wr.flags |= IB_SEND_INLINE;
		wr.data = data;
		wr.data_len = len;
		xfer_recv(&t, 0);
		sim_post(&t.s->a, &wr);
		sim_run(t.s);
		xfers_check(&t);
		xfers_end(&t);
	}
}

static void no_memory(void)
{
	struct xfers t;
	u32 i;

	t_case("txbuf: packets that can't be allocated count as lost and are sent again");
	xfers_init(&t, NULL, 65536, 4096);
	for (i = 0; i < 8; i++)
		xfer_put(&t, xfer_rc_ops[i], 3000);
	t.s->tx_fails = true;
	sim_doorbell(&t.s->a);
	CHECK_EQ(t.s->sent, 0);
	t.s->tx_fails = false;
	sim_run(t.s);
	xfers_check(&t);
	CHECK(sim_count(&t.s->a, SROCE_CNT_TX_NO_MEM) > 0);
	CHECK(sim_count(&t.s->a, SROCE_CNT_TIMEOUT) +
	      sim_count(&t.s->a, SROCE_CNT_PROBE) > 0);
	xfers_end(&t);
}

UNIT_TESTS(txbuf)
{
	inlined();
	no_memory();
}
