// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The device's counters, by netlink as `rdma statistic` gets them: all in one
 * go and as they are now, whereas sysfs keeps a snapshot for a while.
 */

#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "wire.h"

#define ANSWER_MAX	16384

struct request {
	struct nlmsghdr h;
	struct nlattr dev;
	uint32_t dev_index;
	struct nlattr port;
	uint32_t port_index;
};

/* What is looked for in an answer, and found */
struct answer {
	struct wt_dut *d;
	uint64_t *values;
	bool adding;		/* the list of counters is yet to be made */
	uint32_t index;		/* of the device at hand */
	const char *name;	/* of the counter at hand */
};

static const void *payload(const struct nlattr *a)
{
	return (const uint8_t *)a + NLA_HDRLEN;
}

static void got_name(struct answer *ans, const struct nlattr *a)
{
	if (strcmp(payload(a), ans->d->name))
		return;
	ans->d->index = ans->index;
	ans->d->has_index = true;
}

static void got_value(struct answer *ans, const struct nlattr *a)
{
	struct wt_dut *d = ans->d;
	int i;

	for (i = 0; i < d->ncounters && strcmp(d->counter[i], ans->name); i++)
		;
	if (i == d->ncounters) {
		if (!ans->adding || i == WT_COUNTERS)
			return;
		snprintf(d->counter[d->ncounters++], WT_NAME, "%s", ans->name);
	}
	if (ans->values)
		memcpy(&ans->values[i], payload(a), sizeof(ans->values[i]));
}

static void walk(struct answer *ans, const uint8_t *p, size_t len)
{
	const struct nlattr *a = (const void *)p;

	for (; len >= NLA_HDRLEN && a->nla_len >= NLA_HDRLEN &&
	     a->nla_len <= len; a = (const void *)p) {
		size_t step = NLA_ALIGN(a->nla_len);

		switch (a->nla_type & NLA_TYPE_MASK) {
		case RDMA_NLDEV_ATTR_DEV_INDEX:
			memcpy(&ans->index, payload(a), sizeof(ans->index));
			break;
		case RDMA_NLDEV_ATTR_DEV_NAME:
			got_name(ans, a);
			break;
		case RDMA_NLDEV_ATTR_STAT_HWCOUNTERS:
		case RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY:
			walk(ans, payload(a), a->nla_len - NLA_HDRLEN);
			break;
		case RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME:
			ans->name = payload(a);
			break;
		case RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE:
			got_value(ans, a);
			break;
		}
		p += step;
		len -= step < len ? step : len;
	}
}

/* Ask, and walk all messages of the answer. */
static why_t ask(struct answer *ans, int cmd, bool dump)
{
	struct request req = {
		.h = { .nlmsg_len = dump ? NLMSG_HDRLEN : sizeof(req),
		       .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd),
		       .nlmsg_flags = NLM_F_REQUEST | (dump ? NLM_F_DUMP : 0) },
		.dev = { NLA_HDRLEN + 4, RDMA_NLDEV_ATTR_DEV_INDEX },
		.dev_index = ans->d->index,
		.port = { NLA_HDRLEN + 4, RDMA_NLDEV_ATTR_PORT_INDEX },
		.port_index = 1,
	};
	static uint8_t buf[ANSWER_MAX] __attribute__((aligned(8)));
	struct nlmsghdr *h;
	ssize_t len;

	CHECK(send(ans->d->nl, &req, req.h.nlmsg_len, 0) > 0, "netlink: %s",
	      strerror(errno));
	do {
		len = recv(ans->d->nl, buf, sizeof(buf), 0);
		CHECK(len > 0, "netlink: %s", strerror(errno));
		for (h = (void *)buf; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_type == NLMSG_DONE)
				return NULL;
			CHECK(h->nlmsg_type != NLMSG_ERROR,
			      "the kernel refuses to tell of %s", ans->d->name);
			walk(ans, NLMSG_DATA(h), NLMSG_PAYLOAD(h, 0));
		}
	} while (dump);
	return NULL;
}

why_t wt_counters_list(struct wt_dut *d)
{
	struct answer ans = { .d = d, .adding = true };

	if (d->any)
		return NULL;
	d->nl = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	CHECK(d->nl >= 0, "netlink: %s", strerror(errno));
	TRY(ask(&ans, RDMA_NLDEV_CMD_GET, true));
	CHECK(d->has_index, "netlink does not know %s", d->name);
	TRY(ask(&ans, RDMA_NLDEV_CMD_STAT_GET, false));
	CHECK(d->ncounters, "%s has no counters", d->name);
	return NULL;
}

why_t wt_counters_read(struct wt_dut *d, uint64_t *values)
{
	struct answer ans = { .d = d, .values = values };

	if (d->any)
		return NULL;
	return ask(&ans, RDMA_NLDEV_CMD_STAT_GET, false);
}
