// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The device under test. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "wire.h"

static struct ibv_context *open_named(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	}
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

/* IPv4 addresses are GIDs as ::ffff:a.b.c.d */
static bool gid_is(const union ibv_gid *gid, const struct wt_net *net)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };

	if (net->family == 6)
		return !memcmp(gid->raw, net->dut.ip, 16);
	return !memcmp(gid->raw, v4, 12) &&
	       !memcmp(gid->raw + 12, net->dut.ip + 12, 4);
}

static why_t find_gid(struct wt_dut *d, struct wt_net *net, int table)
{
	struct ibv_gid_entry e;

	for (int i = 0; i < table; i++) {
		if (!ibv_query_gid_ex(d->ctx, 1, i, &e, 0) &&
		    e.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    gid_is(&e.gid, net)) {
			net->gid_index = i;
			return NULL;
		}
	}
	return because("%s has no GID for an address of the test", d->name);
}

/* rdma-core 44 has no names for these */
#define CAP_FLUSH_GLOBAL	(1ULL << 38)
#define CAP_ATOMIC_WRITE	(1ULL << 40)

static why_t abilities(struct wt_dut *d)
{
	struct ibv_device_attr_ex a = {};

	CHECK(!ibv_query_device_ex(d->ctx, NULL, &a), "can't query %s", d->name);
	d->flush = a.device_cap_flags_ex & CAP_FLUSH_GLOBAL;
	/* sroce has it on kernels that know no flag for it, too */
	d->atomic_write = !d->any || a.device_cap_flags_ex & CAP_ATOMIC_WRITE;
	d->atomic = a.orig_attr.atomic_cap != IBV_ATOMIC_NONE;
	d->srq = a.orig_attr.max_srq;
	d->mw = a.orig_attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW;
	return NULL;
}

why_t wt_dut_open(struct wt_dut *d)
{
	struct ibv_port_attr port;

	d->ctx = open_named(d->name);
	CHECK(d->ctx, "can't open %s: %s", d->name, strerror(errno));
	d->pd = ibv_alloc_pd(d->ctx);
	d->pd2 = ibv_alloc_pd(d->ctx);
	CHECK(d->pd && d->pd2 && !ibv_query_port(d->ctx, 1, &port),
	      "can't use %s: %s", d->name, strerror(errno));
	TRY(abilities(d));
	fcntl(d->ctx->async_fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < d->nnets; i++)
		TRY(find_gid(d, &d->nets[i], port.gid_tbl_len));
	return wt_counters_list(d);
}

void wt_dut_close(struct wt_dut *d)
{
	if (!d->any)
		close(d->nl);
	ibv_dealloc_pd(d->pd2);
	ibv_dealloc_pd(d->pd);
	ibv_close_device(d->ctx);
}
