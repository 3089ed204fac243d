// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * Raw packet QPs: A sends Ethernet frames, a packet socket at B's netdev sees
 * them. (Nothing is received without ibv_create_flow(), which the provider does
 * not have.)
 */

#include <net/if.h>
#include <netinet/in.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "vt.h"

#define PROTO	0x88b5		/* for experiments (IEEE 802) */
#define HEAD	14

struct raw {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct vt_buf buf;
	int sock;
	uint32_t mtu;
	uint8_t mac[2][6];
};

static why_t netdev_of(const struct vt_dev *dev, char *name, int size)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/parent",
		 dev->name);
	f = fopen(path, "r");
	CHECK(f && fgets(name, size, f), "%s: %s", path, strerror(errno));
	fclose(f);
	name[strcspn(name, "\n")] = 0;
	return NULL;
}

/* A packet socket on a device's netdev, its address and MTU */
static why_t tap(const struct vt_dev *dev, int *sock, uint8_t *mac,
		 uint32_t *mtu)
{
	struct timeval wait = { .tv_sec = VT_LONG / 1000 };
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_protocol = htons(PROTO),
	};
	struct ifreq req = {};
	int size = 8 << 20;

	vt_enter_netns(dev);
	TRY(netdev_of(dev, req.ifr_name, sizeof(req.ifr_name)));
	*sock = socket(AF_PACKET, SOCK_RAW, htons(PROTO));
	CHECK(*sock >= 0 && !ioctl(*sock, SIOCGIFHWADDR, &req), "%s: %s",
	      req.ifr_name, strerror(errno));
	memcpy(mac, req.ifr_hwaddr.sa_data, 6);
	CHECK(!ioctl(*sock, SIOCGIFMTU, &req), "%s: %s", req.ifr_name,
	      strerror(errno));
	*mtu = req.ifr_mtu;
	to.sll_ifindex = if_nametoindex(req.ifr_name);
	CHECK(!bind(*sock, (struct sockaddr *)&to, sizeof(to)) &&
	      !setsockopt(*sock, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) &&
	      !setsockopt(*sock, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)),
	      "%s: %s", req.ifr_name, strerror(errno));
	return NULL;
}

static why_t to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = VT_PORT };
	int err = ibv_modify_qp(qp, &attr, state == IBV_QPS_INIT ?
				IBV_QP_STATE | IBV_QP_PORT : IBV_QP_STATE);

	CHECK(!err, "to state %d: %s", state, strerror(err));
	return NULL;
}

static why_t raw_open(struct raw *r)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RAW_PACKET, .sq_sig_all = 1,
		.cap = {
			.max_send_wr = 64, .max_recv_wr = 4,
			.max_send_sge = 4, .max_recv_sge = 1,
			.max_inline_data = 256,
		},
	};
	int sock;

	memset(r, 0, sizeof(*r));
	TRY(tap(&vt_devs[0], &sock, r->mac[0], &r->mtu));
	close(sock);
	TRY(tap(&vt_devs[1], &r->sock, r->mac[1], &r->mtu));
	vt_enter_netns(&vt_devs[0]);
	r->cq = ibv_create_cq(vt_devs[0].ctx, 256, NULL, NULL, 0);
	init.send_cq = r->cq;
	init.recv_cq = r->cq;
	r->qp = r->cq ? ibv_create_qp(vt_devs[0].pd, &init) : NULL;
	CHECK(r->qp, "ibv_create_qp: %s", strerror(errno));
	TRY(vt_buf_open(&r->buf, vt_devs[0].pd, 65536, IBV_ACCESS_LOCAL_WRITE));
	TRY(to_state(r->qp, IBV_QPS_INIT));
	TRY(to_state(r->qp, IBV_QPS_RTR));
	return to_state(r->qp, IBV_QPS_RTS);
}

static why_t raw_close(struct raw *r)
{
	int err = ibv_destroy_qp(r->qp);

	CHECK(!err, "ibv_destroy_qp: %s", strerror(err));
	err = ibv_destroy_cq(r->cq);
	CHECK(!err, "ibv_destroy_cq: %s", strerror(err));
	vt_buf_close(&r->buf);
	close(r->sock);
	return NULL;
}

/* A frame of @len bytes in the buffer */
static void make(struct raw *r, uint32_t len, uint64_t seed)
{
	vt_fill(r->buf.data, len, seed);
	memcpy(r->buf.data, r->mac[1], 6);
	memcpy(r->buf.data + 6, r->mac[0], 6);
	r->buf.data[12] = PROTO >> 8;
	r->buf.data[13] = PROTO & 0xff;
}

static why_t post(struct raw *r, uint32_t len, int pieces, int flags)
{
	struct ibv_send_wr wr = {
		.wr_id = len, .opcode = IBV_WR_SEND, .num_sge = pieces,
		.send_flags = flags,
	}, *bad;
	struct ibv_sge sge[4];
	uint32_t off = 0, n;
	int i, err;

	for (i = 0; i < pieces; i++, off += n) {
		n = i == pieces - 1 ? len - off : len / pieces;
		sge[i] = vt_sge(&r->buf, off, n);
	}
	wr.sg_list = sge;
	err = ibv_post_send(r->qp, &wr, &bad);
	CHECK(!err, "ibv_post_send: %s", strerror(err));
	return NULL;
}

static why_t arrives(struct raw *r, uint32_t len)
{
	static uint8_t got[65536];
	ssize_t n = recv(r->sock, got, sizeof(got), 0);

	CHECK(n >= 0, "frame of %u bytes: %s", len, strerror(errno));
	CHECK(n == len, "frame of %zd bytes, not %u", n, len);
	CHECK(!memcmp(got, r->buf.data, len), "another frame of %u bytes", len);
	return NULL;
}

static why_t frames(void)
{
	static const struct {
		uint32_t len;	/* 0: as long as may be */
		int pieces, flags;
	} f[] = {
		{ 60, 1, 0 }, { 60, 1, IBV_SEND_INLINE }, { 61, 3, 0 },
		{ 256, 4, IBV_SEND_INLINE }, { 1000, 4, 0 }, { 0, 1, 0 },
		{ HEAD, 1, 0 },
	};
	struct ibv_wc wc;
	struct raw r;
	size_t i;

	TRY(raw_open(&r));
	for (i = 0; i < ARRAY_SIZE(f); i++) {
		uint32_t len = f[i].len ? f[i].len : r.mtu + HEAD;

		make(&r, len, i);
		TRY(post(&r, len, f[i].pieces, f[i].flags));
		TRY(vt_poll_ok(r.cq, &wc, len));
		CHECK(wc.opcode == IBV_WC_SEND, "opcode %d", wc.opcode);
		TRY(arrives(&r, len));
	}
	return raw_close(&r);
}

/*
 * In order, and each once. What is sent on two CPUs waits in two backlogs, and may leave
 * them in any order.
 */
static why_t stream(void)
{
	struct ibv_wc wc;
	struct raw r;
	int i, k;

	vt_run_on(0);
	TRY(raw_open(&r));
	for (i = 0; i < 1000; i += 50) {
		for (k = 0; k < 50; k++) {
			make(&r, 500, i + k);
			TRY(post(&r, 500, 1, 0));
			TRY(vt_poll_ok(r.cq, &wc, 500));
		}
		for (k = 0; k < 50; k++) {
			make(&r, 500, i + k);
			TRY(arrives(&r, 500));
		}
	}
	return raw_close(&r);
}

static why_t refused(uint32_t len, bool bad_key, enum ibv_wc_status status)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct raw r;

	TRY(raw_open(&r));
	if (!len)
		len = r.mtu + HEAD + 1;
	make(&r, len, 1);
	r.buf.mr->lkey ^= bad_key;
	TRY(post(&r, len, 1, 0));
	r.buf.mr->lkey ^= bad_key;
	TRY(vt_poll_status(r.cq, len, status, "the frame"));
	CHECK(!ibv_query_qp(r.qp, &attr, IBV_QP_STATE, &init) &&
	      attr.qp_state == IBV_QPS_ERR, "state %d", attr.qp_state);
	CHECK(recv(r.sock, &attr, sizeof(attr), MSG_DONTWAIT) < 0,
	      "sent all the same");
	return raw_close(&r);
}

/* With a VLAN header, which the tap has elsewhere, it may have these bytes more, and no others. */
static why_t tagged(void)
{
	struct ibv_wc wc;
	struct raw r;

	TRY(raw_open(&r));
	make(&r, r.mtu + HEAD + 5, 1);
	memcpy(r.buf.data + 12, "\x81\x00\x00\x07", 4);
	TRY(post(&r, r.mtu + HEAD + 4, 1, 0));
	TRY(vt_poll_ok(r.cq, &wc, r.mtu + HEAD + 4));
	TRY(post(&r, r.mtu + HEAD + 5, 1, 0));
	TRY(vt_poll_status(r.cq, r.mtu + HEAD + 5, IBV_WC_LOC_LEN_ERR, "the frame"));
	return raw_close(&r);
}

static why_t ordinary_user(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_qp *qp;
	int err;

	init.send_cq = ibv_create_cq(vt_devs[0].ctx, 1, NULL, NULL, 0);
	init.recv_cq = init.send_cq;
	CHECK(init.send_cq && !seteuid(65534), "%s", strerror(errno));
	qp = ibv_create_qp(vt_devs[0].pd, &init);
	err = errno;
	CHECK(!seteuid(0), "root again: %s", strerror(errno));
	CHECK(!qp && err == EPERM, "%s", qp ? "he gets one" : strerror(err));
	CHECK(!ibv_destroy_cq(init.send_cq), "ibv_destroy_cq: %s",
	      strerror(errno));
	return NULL;
}

int main(int argc, char **argv)
{
	vt_start(argc, argv);
	tap_report(frames(), "raw packet QP: frames of all sizes");
	tap_report(stream(), "raw packet QP: a thousand frames");
	tap_report(refused(HEAD - 1, false, IBV_WC_LOC_LEN_ERR),
		   "raw packet QP: less than a header");
	tap_report(refused(0, false, IBV_WC_LOC_LEN_ERR),
		   "raw packet QP: more than the netdev takes");
	tap_report(tagged(), "raw packet QP: a VLAN header is beyond the MTU");
	tap_report(refused(100, true, IBV_WC_LOC_PROT_ERR),
		   "raw packet QP: a key that isn't one");
	tap_report(ordinary_user(), "raw packet QP: not for an ordinary user");
	return tap_finish();
}
