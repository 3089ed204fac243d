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

	t_case("txbuf: packets that can't be allocated count as lost and are sent again");
	xfers_init(&t, NULL, 65536, 4096);
	xfers_put_each(&t, 3000);
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

static void max_payload(void)
{
	struct sim_cfg cfg = sim_default;
	struct sroce_pkt pkt = {};
	struct sim *s = sim_new(NULL);

	t_case("txbuf: only a loopback packet of RC may exceed the MTU");
	CHECK_EQ(sroce_txbuf_max_payload(&s->a.qp, &pkt), 1024);
	pkt.loopback = true;
	CHECK_EQ(sroce_txbuf_max_payload(&s->a.qp, &pkt), SROCE_LBPKT_MAX);
	/* a kernel user's fast region may change before the data is copied */
	s->a.qp.user = false;
	CHECK_EQ(sroce_txbuf_max_payload(&s->a.qp, &pkt), 1024);
	sim_end(s);
	cfg.type = IB_QPT_UC;
	s = sim_new(&cfg);
	CHECK_EQ(sroce_txbuf_max_payload(&s->a.qp, &pkt), 1024);
	sim_end(s);
}

/* Return: bytes that are copied for a WRITE of @len bytes */
static u64 copied(u32 len)
{
	struct xfers t;

	xfers_init(&t, NULL, len + 256, 4096);
	t.s->loopback = true;
	xfer_put(&t, IB_WR_RDMA_WRITE, len);
	sim_copied = 0;
	xfers_run_check(&t);
	xfers_end(&t);
	return sim_copied;
}

static void by_reference(void)
{
	t_case("txbuf: a loopback packet refers to its payload unless that is small");
	/* into the packet, and from there to where it goes */
	CHECK_EQ(copied(SROCE_LBPKT_COPY_MAX), 2 * SROCE_LBPKT_COPY_MAX);
	CHECK_EQ(copied(SROCE_LBPKT_COPY_MAX + 1), SROCE_LBPKT_COPY_MAX + 1);
	CHECK_EQ(copied(200000), 200000);
}

UNIT_TESTS(txbuf)
{
	max_payload();
	by_reference();
	inlined();
	no_memory();
}
