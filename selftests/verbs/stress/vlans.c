// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: by links.test.sh */
/*
 * Datagrams of one QP, each by another VLAN than the one before. The netdevs of VLANs have the
 * link-local address of the netdev below, so only the index of the source GID tells them apart.
 *
 * usage: vlans A B: netdevs of two VLANs are on A's, and on B's
 */

#include "vt.h"

#define VLANS	2
#define SENDS	32
#define LEN	200

/* The link-local GID of @dev, and the @index that it has for each VLAN */
static why_t find_gids(struct vt_dev *dev, union ibv_gid *gid, uint32_t *index)
{
	struct ibv_gid_entry e;
	int n = -1;

	for (int i = 0; i < dev->port.gid_tbl_len && n < VLANS; i++) {
		if (ibv_query_gid_ex(dev->ctx, VT_PORT, i, &e, 0) || e.gid.raw[0] != 0xfe)
			continue;
		*gid = e.gid;
		/* the first is that of the netdev itself */
		if (n >= 0)
			index[n] = i;
		n++;
	}
	CHECK(n == VLANS, "%d VLANs have a link-local GID", n);
	return NULL;
}

static struct ibv_ah *path(struct vt_ep *ep, const union ibv_gid *to, uint32_t from)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = VT_PORT,
		/* one flow, so that all have the same source port */
		.grh = { .dgid = *to, .sgid_index = from, .flow_label = 7, .hop_limit = 4 },
	};

	return ibv_create_ah(ep->dev->pd, &attr);
}

static why_t in_turn(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, LEN);
	struct ibv_send_wr wr[SENDS] = {};
	union ibv_gid from, to;
	uint32_t index[VLANS];
	struct ibv_ah *ah[VLANS];
	struct ibv_wc wc;

	(void)arg;
	TRY(find_gids(p->b.dev, &to, index));
	TRY(find_gids(p->a.dev, &from, index));
	for (int i = 0; i < VLANS; i++) {
		ah[i] = path(&p->a, &to, index[i]);
		CHECK(ah[i], "ibv_create_ah: %s", strerror(errno));
	}
	for (int i = 0; i < SENDS; i++) {
		TRY(vt_post_recv_at(&p->b, 5, 0, 1024));
		wr[i] = (struct ibv_send_wr){
			.wr_id = 1, .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
			.next = i + 1 < SENDS ? &wr[i + 1] : NULL,
			.send_flags = i + 1 < SENDS ? 0 : IBV_SEND_SIGNALED,
			.wr.ud = { .ah = ah[i % VLANS], .remote_qpn = p->b.qp->qp_num,
				   .remote_qkey = VT_QKEY },
		};
	}
	TRY(vt_post_send(&p->a, wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	for (int i = 0; i < SENDS; i++)
		TRY(vt_poll_ok(p->b.rcq, &wc, 5));
	for (int i = 0; i < VLANS; i++)
		CHECK(!ibv_destroy_ah(ah[i]), "ibv_destroy_ah");
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_conf conf;

	vt_start(argc, argv);
	conf = vt_conf(IBV_QPT_UD);
	conf.send_wr = SENDS;
	conf.recv_wr = SENDS;
	vt_run("vlans: datagrams by two VLANs in turn arrive", &conf, in_turn, NULL);
	return tap_finish();
}
