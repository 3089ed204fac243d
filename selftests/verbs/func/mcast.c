// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/* Multicast by the plain verbs (ibv_attach_mcast(3)); IPv4 or IPv6 as the rest. */

#include <arpa/inet.h>
#include <net/if.h>
#include <sys/utsname.h>
#include "vt.h"

#define MULTICAST_QPN	0xffffff
#define LEN		200
/* Sends that may leave as one train, and QPs that get each of them */
#define TRAIN		64
#define MEMBERS		40
/* Copies that are made of a train */
#define COPIES		2048

static why_t attach(struct vt_ep *ep, int n)
{
	union ibv_gid gid = vt_group(0, n);
	int err = ibv_attach_mcast(ep->qp, &gid, 0);

	CHECK(!err, "ibv_attach_mcast: %s", strerror(err));
	return NULL;
}

static why_t detach(struct vt_ep *ep, int n)
{
	union ibv_gid gid = vt_group(0, n);
	int err = ibv_detach_mcast(ep->qp, &gid, 0);

	CHECK(!err, "ibv_detach_mcast: %s", strerror(err));
	return NULL;
}

/* Send @num messages to group @n by one call */
static why_t send_many(struct vt_ep *ep, int n, int num)
{
	struct ibv_sge sge = vt_sge(&ep->buf, 0, LEN);
	union ibv_gid gid = vt_group(0, n);
	struct ibv_send_wr wr[TRAIN] = {};
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = VT_PORT,
		.grh = { .dgid = gid, .sgid_index = ep->dev->gid_index,
			 .hop_limit = 4 },
	};
	struct ibv_ah *ah = ibv_create_ah(ep->dev->pd, &attr);
	struct ibv_wc wc;
	int i;

	CHECK(ah, "ibv_create_ah of a group: %s", strerror(errno));
	for (i = 0; i < num; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = n, .opcode = IBV_WR_SEND, .sg_list = &sge,
			.num_sge = 1, .next = i + 1 < num ? &wr[i + 1] : NULL,
			.send_flags = i + 1 < num ? 0 : IBV_SEND_SIGNALED,
			.wr.ud = { .ah = ah, .remote_qpn = MULTICAST_QPN,
				   .remote_qkey = VT_QKEY },
		};
	TRY(vt_post_send(ep, wr));
	TRY(vt_poll_ok(ep->scq, &wc, n));
	CHECK(!ibv_destroy_ah(ah), "ibv_destroy_ah");
	return NULL;
}

static why_t send_to(struct vt_ep *ep, int n)
{
	return send_many(ep, n, 1);
}

static why_t gets(struct vt_ep *to, const struct vt_ep *from)
{
	struct ibv_wc wc;

	TRY(vt_poll_ok(to->rcq, &wc, 5));
	CHECK(wc.byte_len == VT_GRH + LEN, "%u bytes", wc.byte_len);
	CHECK(wc.src_qp == from->qp->qp_num, "from QP %u", wc.src_qp);
	CHECK(!memcmp(to->buf.data + VT_GRH, from->buf.data, LEN),
	      "arrives garbled");
	return NULL;
}

/* Only while attached, and only what the group is sent */
static why_t member(struct vt_pair *p, const void *arg)
{
	(void)arg;
	vt_fill(p->a.buf.data, LEN, 1);
	TRY(vt_post_recv_at(&p->b, 5, 0, 1024));
	TRY(attach(&p->b, 1));
	TRY(send_to(&p->a, 2));
	TRY(vt_quiet(p->b.rcq, VT_SHORT));
	TRY(send_to(&p->a, 1));
	TRY(gets(&p->b, &p->a));
	TRY(vt_post_recv_at(&p->b, 5, 0, 1024));
	TRY(detach(&p->b, 1));
	TRY(send_to(&p->a, 1));
	return vt_quiet(p->b.rcq, VT_SHORT);
}

/*
 * For RoCE a LID means nothing, but the kernel takes attachments with different ones for
 * different groups. Each is undone by itself, and then the QP can be destroyed.
 */
static why_t two_lids(struct vt_pair *p, const void *arg)
{
	union ibv_gid gid = vt_group(0, 1);
	int err;

	(void)arg;
	TRY(vt_post_recv_at(&p->b, 5, 0, 1024));
	TRY(vt_post_recv_at(&p->b, 5, 0, 1024));
	TRY(attach(&p->b, 1));
	err = ibv_attach_mcast(p->b.qp, &gid, 5);
	CHECK(!err, "with another LID: %s", strerror(err));
	TRY(detach(&p->b, 1));
	TRY(send_to(&p->a, 1));
	TRY(gets(&p->b, &p->a));
	TRY(vt_quiet(p->b.rcq, VT_SHORT));
	err = ibv_detach_mcast(p->b.qp, &gid, 5);
	CHECK(!err, "detach with the other LID: %s", strerror(err));
	TRY(send_to(&p->a, 1));
	return vt_quiet(p->b.rcq, VT_SHORT);
}

/* Another QP of the sender's device gets it as well as the peer's. */
static why_t here_and_there(struct vt_pair *p, const void *arg)
{
	struct vt_ep c;

	(void)arg;
	TRY(vt_ep_open(&c, p->a.dev, &p->conf));
	TRY(vt_ep_init(&c));
	TRY(vt_ep_rtr(&c, &p->b));
	TRY(attach(&p->b, 3));
	TRY(attach(&c, 3));
	TRY(vt_post_recv_at(&p->b, 5, 0, 1024));
	TRY(vt_post_recv_at(&c, 5, 0, 1024));
	vt_fill(p->a.buf.data, LEN, 3);
	TRY(send_to(&p->a, 3));
	TRY(gets(&p->b, &p->a));
	TRY(gets(&c, &p->a));
	TRY(detach(&c, 3));
	TRY(vt_ep_close(&c));
	return detach(&p->b, 3);
}

/* Wait until as many copies have been made or dropped as there should be. */
static why_t copied(const struct vt_dev *dev, uint64_t made, uint64_t want)
{
	uint64_t until = vt_now_us() + VT_LONG * 1000;

	do {
		vt_sleep_ms(20);
		if (vt_counted(dev, "rx_multicast_pkts") +
		    vt_counted(dev, "rx_multicast_drops") - made == want)
			return NULL;
	} while (vt_now_us() < until);
	return because("%llu copies made or dropped, not %llu",
		       (unsigned long long)(vt_counted(dev, "rx_multicast_pkts") +
					    vt_counted(dev, "rx_multicast_drops") - made),
		       (unsigned long long)want);
}

/* A train to a large group must not take a CPU for long: the rest of it is dropped. */
static why_t flood(struct vt_pair *p, struct vt_ep *member)
{
	struct vt_dev *dev = p->b.dev;
	uint64_t pkts, drops, trains;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < MEMBERS; i++) {
		TRY(vt_ep_open(&member[i], dev, &p->conf));
		TRY(vt_ep_init(&member[i]));
		TRY(vt_ep_rtr(&member[i], &p->a));
		TRY(attach(&member[i], 6));
		TRY(vt_post_recv_at(&member[i], 5, 0, 1024));
		TRY(vt_post_recv_at(&member[i], 6, 0, 1024));
	}
	vt_sleep_ms(20);
	pkts = vt_counted(dev, "rx_multicast_pkts");
	drops = vt_counted(dev, "rx_multicast_drops");
	trains = vt_counted(dev, "rx_trains");
	CHECK(drops != ~0ULL, "no counter of copies that are not made");
	TRY(send_many(&p->a, 6, TRAIN));
	TRY(copied(dev, pkts + drops, TRAIN * MEMBERS));
	trains = vt_counted(dev, "rx_trains") - trains;
	pkts = vt_counted(dev, "rx_multicast_pkts") - pkts;
	tap_note("%llu copies of %llu trains", (unsigned long long)pkts,
		 (unsigned long long)trains);
	CHECK(trains, "no train");
	CHECK(pkts <= trains * COPIES, "%llu copies", (unsigned long long)pkts);
	/* each has got the first ones, and gets what follows */
	for (i = 0; i < MEMBERS; i++) {
		TRY(vt_poll_ok(member[i].rcq, &wc, 5));
		TRY(vt_poll_ok(member[i].rcq, &wc, 6));
		TRY(vt_post_recv_at(&member[i], 5, 0, 1024));
	}
	TRY(send_to(&p->a, 6));
	for (i = 0; i < MEMBERS; i++)
		TRY(vt_poll_ok(member[i].rcq, &wc, 5));
	return NULL;
}

static why_t large_group(struct vt_pair *p, const void *arg)
{
	struct vt_ep member[MEMBERS] = {};
	why_t why = flood(p, member), closing = NULL;
	int i;

	(void)arg;
	for (i = 0; i < MEMBERS && member[i].dev; i++) {
		if (member[i].qp)
			detach(&member[i], 6);
		closing = closing ?: vt_ep_close(&member[i]);
	}
	return why ?: closing;
}

/* Whether the kernel is one for real time: there each packet is an skb of its own. */
static bool realtime(void)
{
	struct utsname u;

	return !uname(&u) && strstr(u.version, "PREEMPT_RT");
}

/* With an MTU below 1280 a netdev has no IPv6, and forgets its addresses and groups. */
static why_t without_ipv6(const struct vt_dev *dev)
{
	char addr[INET6_ADDRSTRLEN];
	struct ifreq ifr;

	inet_ntop(AF_INET6, dev->gid.raw, addr, sizeof(addr));
	TRY(vt_netdev(dev, &ifr));
	TRY(vt_run_cmd("ip link set %s mtu 1200", ifr.ifr_name));
	TRY(vt_run_cmd("ip link set %s mtu %d", ifr.ifr_name, ifr.ifr_mtu));
	TRY(vt_run_cmd("ip addr add %s/64 dev %s nodad", addr, ifr.ifr_name));
	/* the device joins again a little later */
	vt_sleep_ms(500);
	return NULL;
}

static why_t joined_again(struct vt_pair *p, const void *arg)
{
	(void)arg;
	TRY(vt_post_recv_at(&p->b, 5, 0, 1024));
	TRY(attach(&p->b, 5));
	TRY(without_ipv6(p->b.dev));
	vt_fill(p->a.buf.data, LEN, 1);
	TRY(send_to(&p->a, 5));
	TRY(gets(&p->b, &p->a));
	return detach(&p->b, 5);
}

static why_t refused(struct vt_pair *p, const void *arg)
{
	union ibv_gid gid = vt_group(0, 4);

	(void)arg;
	CHECK(ibv_detach_mcast(p->b.qp, &gid, 0), "detached from no group");
	CHECK(ibv_attach_mcast(p->b.qp, &p->a.dev->gid, 0),
	      "attached to an address that is no group's");
	return NULL;
}

static why_t not_rc(struct vt_pair *p, const void *arg)
{
	union ibv_gid gid = vt_group(0, 4);

	(void)arg;
	CHECK(ibv_attach_mcast(p->b.qp, &gid, 0), "an RC QP in a group");
	return NULL;
}

int main(int argc, char **argv)
{
	const char *train = "UD multicast: a train to a large group";
	struct vt_conf c, rc;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_UD);
	rc = vt_conf(IBV_QPT_RC);
	vt_run("UD multicast: while attached", &c, member, NULL);
	vt_run("UD multicast: on this host and on others", &c, here_and_there,
	       NULL);
	vt_run("UD multicast: attached with two LIDs", &c, two_lids, NULL);
	if (realtime())
		tap_skip("no trains on a real-time kernel", "%s", train);
	else
		vt_run(train, &c, large_group, NULL);
	vt_run("UD multicast: what is refused", &c, refused, NULL);
	vt_run("RC multicast: none", &rc, not_rc, NULL);
	if (vt_opts.family == 6)
		vt_run("UD multicast: after IPv6 was off", &c, joined_again, NULL);
	return tap_finish();
}
