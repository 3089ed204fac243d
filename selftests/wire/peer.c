// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The peer's end of the wire: a packet socket on a netdev without addresses,
 * so that no kernel answers for it.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "wire.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

uint64_t wt_now(void)
{
	struct timespec ts;

	/* the clock of packet timestamps */
	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

void wt_sleep(uint64_t us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/*
 * Packets that are sent from one CPU are received there in order, whatever
 * else the machine does.
 */
void wt_one_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Enter a namespace; "" is that where the program was started. */
why_t wt_netns(const char *name)
{
	static int home = -1;
	char path[128];
	int fd, ret;

	if (home < 0)
		home = open("/proc/self/ns/net", O_RDONLY);
	snprintf(path, sizeof(path), "/var/run/netns/%s", name);
	fd = name[0] ? open(path, O_RDONLY) : dup(home);
	ret = fd < 0 ? -1 : setns(fd, CLONE_NEWNET);
	if (fd >= 0)
		close(fd);
	CHECK(!ret, "can't enter namespace %s: %s", name, strerror(errno));
	return NULL;
}

why_t wt_mac_of(const char *netdev, uint8_t mac[6])
{
	struct ifreq req = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), ret;

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", netdev);
	ret = ioctl(fd, SIOCGIFHWADDR, &req);
	close(fd);
	CHECK(!ret, "no netdev %s: %s", netdev, strerror(errno));
	memcpy(mac, req.ifr_hwaddr.sa_data, 6);
	return NULL;
}

why_t wt_peer_open(struct wt_peer *p)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET };
	int on = 1, size = 4 << 20;

	TRY(wt_netns(p->netns));
	p->fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	CHECK(p->fd >= 0, "packet socket: %s", strerror(errno));
	p->ifindex = if_nametoindex(p->netdev);
	at.sll_protocol = htons(ETH_P_ALL);
	at.sll_ifindex = p->ifindex;
	CHECK(!bind(p->fd, (struct sockaddr *)&at, sizeof(at)),
	      "bind to %s: %s", p->netdev, strerror(errno));
	setsockopt(p->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	setsockopt(p->fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on));
	setsockopt(p->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	setsockopt(p->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return NULL;
}

why_t wt_peer_send(void *peer, const uint8_t *frame, size_t len)
{
	struct wt_peer *p = peer;

	CHECK(send(p->fd, frame, len, 0) == (ssize_t)len, "send of %zu: %s",
	      len, strerror(errno));
	return NULL;
}

static void read_control(struct msghdr *msg, struct wt_frame *f)
{
	struct tpacket_auxdata aux;
	struct timespec ts;
	struct cmsghdr *c;

	f->vlan = -1;
	f->no_sum = false;
	f->when = wt_now();
	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == SOL_PACKET &&
		    c->cmsg_type == PACKET_AUXDATA) {
			memcpy(&aux, CMSG_DATA(c), sizeof(aux));
			f->no_sum = aux.tp_status & TP_STATUS_CSUMNOTREADY;
			if (aux.tp_status & TP_STATUS_VLAN_VALID)
				f->vlan = aux.tp_vlan_tci;
		} else if (c->cmsg_level == SOL_SOCKET &&
			   c->cmsg_type == SCM_TIMESTAMPNS) {
			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
			f->when = ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
		}
	}
}

static bool read_frame(struct wt_peer *p, struct wt_frame *f)
{
	struct iovec iov = { f->raw, sizeof(f->raw) };
	char control[256];
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t len = recvmsg(p->fd, &msg, MSG_DONTWAIT);

	if (len < 0)
		return false;
	f->raw_len = len;
	read_control(&msg, f);
	return true;
}

/* The next RoCE frame within @us; whatever else there is on a wire is not. */
bool wt_peer_recv(struct wt_peer *p, struct wt_frame *f, uint64_t us)
{
	uint64_t end = wt_now() + us;
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };

	for (;;) {
		uint64_t now;

		while (read_frame(p, f)) {
			if (wt_frame_is_roce(f))
				return true;
		}
		now = wt_now();
		if (now >= end)
			return false;
		ppoll(&pfd, 1, &(struct timespec){ (end - now) / 1000000,
		      (end - now) % 1000000 * 1000 }, NULL);
	}
}
