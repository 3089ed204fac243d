// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The two devices under test and the command line that names them. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <getopt.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "vt.h"

struct vt_opts vt_opts = { .family = 4, .seconds = 5, .seed = 1 };
struct vt_dev vt_devs[2];

static const struct option options[] = {
	VT_OPTION("family", 'f'), VT_OPTION("seconds", 's'),
	VT_OPTION("seed", 'r'), VT_OPTION("only", 'o'), VT_FLAG("huge", 'H'),
	VT_FLAG("hostile", 'X'), VT_FLAG("on-demand", 'O'),
	VT_FLAG("matrix", 'm'),
	{ }
};

static void __attribute__((noreturn)) usage(const char *prog)
{
	fprintf(stderr,
		"usage: %s DEV[@NETNS] DEV[@NETNS] [--family 4|6]\n"
		"	[--seconds N] [--seed N] [--only TEXT] [--huge] [--hostile]\n"
		"	[--on-demand] [-m]\n",
		prog);
	exit(2);
}

static void __attribute__((noreturn)) bail(const char *what, const char *name)
{
	tap_bail("%s %s: %s", what, name, strerror(errno));
}

void vt_args(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "m", options, NULL)) != -1) {
		switch (c) {
		case 'f':
			vt_opts.family = atoi(optarg);
			break;
		case 's':
			vt_opts.seconds = atoi(optarg);
			break;
		case 'r':
			vt_opts.seed = strtoull(optarg, NULL, 0);
			break;
		case 'o':
			vt_opts.only = optarg;
			break;
		case 'H':
			vt_opts.huge = true;
			break;
		case 'X':
			vt_opts.hostile = true;
			break;
		case 'O':
			vt_opts.on_demand = true;
			break;
		case 'm':
			vt_opts.matrix = true;
			break;
		default:
			usage(argv[0]);
		}
	}
	if (argc - optind != 2 || (vt_opts.family != 4 && vt_opts.family != 6))
		usage(argv[0]);
	vt_opts.dev[0] = argv[optind];
	vt_opts.dev[1] = argv[optind + 1];
	/* a hung case must not hang its caller: die with a status instead */
	alarm(1200 + vt_opts.seconds);
}

bool vt_wanted(const char *name)
{
	return !vt_opts.only || strstr(name, vt_opts.only);
}

/*
 * Devices are visible in all namespaces, but the provider resolves Ethernet
 * addresses for address handles with the routes of the calling thread.
 */
void vt_enter_netns(const struct vt_dev *dev)
{
	char path[128];
	int fd;

	if (!dev->netns[0])
		return;
	snprintf(path, sizeof(path), "/var/run/netns/%s", dev->netns);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		bail("can't enter namespace", dev->netns);
	close(fd);
}

/* Enter the namespace of a device's netdev. @ifr: set to its name and MTU */
why_t vt_netdev(const struct vt_dev *dev, struct ifreq *ifr)
{
	struct ibv_gid_entry e;
	int fd, err;

	CHECK(!ibv_query_gid_ex(dev->ctx, VT_PORT, dev->gid_index, &e, 0),
	      "ibv_query_gid_ex");
	CHECK(e.ndev_ifindex, "GID without a netdev");
	vt_enter_netns(dev);
	memset(ifr, 0, sizeof(*ifr));
	CHECK(if_indextoname(e.ndev_ifindex, ifr->ifr_name), "netdev %u of the GID: %s",
	      e.ndev_ifindex, strerror(errno));
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	err = ioctl(fd, SIOCGIFMTU, ifr);
	close(fd);
	CHECK(!err, "SIOCGIFMTU: %s", strerror(errno));
	return NULL;
}

static struct ibv_context *open_named(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	}
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

static bool is_v4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

static bool is_link_local(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

/* The first RoCEv2 GID of the family; a routable one if there is any. */
static int find_gid(struct vt_dev *dev)
{
	struct ibv_gid_entry e;
	int i, found = -1;

	for (i = 0; i < dev->port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(dev->ctx, VT_PORT, i, &e, 0) ||
		    e.gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    is_v4(&e.gid) != (vt_opts.family == 4))
			continue;
		if (found >= 0 && is_link_local(&e.gid))
			continue;
		found = i;
		dev->gid = e.gid;
		if (!is_link_local(&e.gid))
			break;
	}
	return found;
}

/* Open @spec, a NAME or NAME@NETNS, and stay in that namespace. */
void vt_dev_open(struct vt_dev *dev, const char *spec)
{
	const char *at = strchrnul(spec, '@');

	snprintf(dev->name, sizeof(dev->name), "%.*s", (int)(at - spec), spec);
	if (*at)
		snprintf(dev->netns, sizeof(dev->netns), "%s", at + 1);

	vt_enter_netns(dev);
	dev->ctx = open_named(dev->name);
	if (!dev->ctx)
		bail("can't open", dev->name);
	dev->pd = ibv_alloc_pd(dev->ctx);
	if (!dev->pd || ibv_query_device(dev->ctx, &dev->attr) ||
	    ibv_query_port(dev->ctx, VT_PORT, &dev->port))
		bail("can't query", dev->name);
	dev->gid_index = find_gid(dev);
	if (dev->gid_index < 0) {
		errno = EADDRNOTAVAIL;
		bail("no RoCEv2 GID of the family on", dev->name);
	}
	fcntl(dev->ctx->async_fd, F_SETFL, O_NONBLOCK);
}

void vt_open(void)
{
	vt_dev_open(&vt_devs[0], vt_opts.dev[0]);
	vt_dev_open(&vt_devs[1], vt_opts.dev[1]);
}

void vt_start(int argc, char **argv)
{
	vt_args(argc, argv);
	vt_open();
}

/* The largest path MTU that both ports can take. */
enum ibv_mtu vt_max_mtu(void)
{
	return MIN(vt_devs[0].port.active_mtu, vt_devs[1].port.active_mtu);
}

/* Multicast group @n of network @net, of the family that is tested */
union ibv_gid vt_group(int net, int n)
{
	union ibv_gid gid = {};
	char text[64];

	snprintf(text, sizeof(text), vt_opts.family == 4 ?
		 "::ffff:239.7.%d.%d" : "ff15::7:%d:%d", net, n);
	inet_pton(AF_INET6, text, gid.raw);
	return gid;
}

/* What the driver has counted so far; all ones if it has no such counter */
uint64_t vt_counted(const struct vt_dev *dev, const char *what)
{
	unsigned long long val = 0;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/%s", dev->name,
		 what);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &val) != 1)
		val = ~0ULL;
	if (f)
		fclose(f);
	return val;
}
