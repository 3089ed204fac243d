// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Commands to the uverbs device, right ones and spoiled ones. */

#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include "fz.h"

/* Addresses at which nothing can be written */
static uint64_t bad_address(struct fz_thread *t)
{
	static const uint64_t bad[] = {
		0, 8, 0xffff888000000000ULL, 0x7ffffffff000ULL, ~0ULL, 0x800000000000ULL,
	};

	return bad[fz_below(t, ARRAY_SIZE(bad))];
}

/* Spoil a command. Where the response goes is only ever made wrong, not random. */
static void spoil(struct fz_thread *t, struct fz_cmd *cmd, size_t in, size_t out)
{
	size_t from = out ? 8 : 0, at;
	uint64_t odd = fz_odd(t);

	switch (fz_below(t, 12)) {
	case 0:
		if (out)
			cmd->response = bad_address(t);
		break;
	case 1:
		cmd->hdr.out_words = fz_below(t, out / 4 + 1);
		break;
	case 2:
		cmd->hdr.in_words = fz_below(t, 128);
		break;
	case 3:
		cmd->hdr.command |= 1U << fz_below(t, 32);
		break;
	default:
		if (in <= from)
			break;
		at = from + fz_below(t, in - from);
		if (fz_one_in(t, 4))
			cmd->raw[at] = odd;
		else
			memcpy(&cmd->raw[at & ~3UL], &odd, 4);
		break;
	}
}

/*
 * fz_cmd() - write a command; @in and @out: bytes behind the header, and of the response,
 * with the driver's parts. Return: 0 or an errno.
 */
int fz_cmd(struct fz_thread *t, struct fz_dev *d, enum fz_call call, uint32_t number,
	   struct fz_cmd *cmd, size_t in, union fz_resp *resp, size_t out)
{
	ssize_t ret, len;

	in = (in + 3) & ~3UL;
	cmd->hdr.command = number;
	cmd->hdr.in_words = (sizeof(cmd->hdr) + in) / 4;
	cmd->hdr.out_words = out / 4;
	if (out)
		cmd->response = (uintptr_t)resp;
	if (fz_mistake(t))
		spoil(t, cmd, in, out);
	len = cmd->hdr.in_words * 4;
	fz_begin(t, call);
	ret = write(d->fd, cmd, len);
	return fz_end(t, call, ret == len ? 0 : -1);
}

/* A command in the extended format: query_device, or in a wild process any. */
void fz_ex_write(struct fz_thread *t, struct fz_dev *d)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		uint32_t in[60];
	} cmd = {};
	union fz_resp resp;
	size_t i;

	cmd.hdr.command = IB_USER_VERBS_EX_CMD_QUERY_DEVICE | 0x80000000U;
	cmd.hdr.in_words = 1;
	cmd.hdr.out_words = 32;
	cmd.ex.response = (uintptr_t)&resp;
	if (t->proc->wild && fz_one_in(t, 2)) {
		cmd.hdr.command = fz_below(t, 64) | 0x80000000U;
		cmd.hdr.in_words = fz_below(t, 28);
		cmd.ex.provider_in_words = fz_one_in(t, 4) ? fz_rand(t) : 0;
		cmd.ex.provider_out_words = fz_one_in(t, 4) ? fz_below(t, 64) : 0;
		for (i = 0; i < ARRAY_SIZE(cmd.in); i++)
			cmd.in[i] = fz_one_in(t, 3) ? fz_odd(t) : fz_below(t, 6);
	} else if (fz_one_in(t, 4)) {
		cmd.in[fz_below(t, 2)] = 1 + fz_below(t, 100);
	}
	fz_begin(t, FZ_EX_WRITE);
	fz_end(t, FZ_EX_WRITE, write(d->fd, &cmd, sizeof(cmd.hdr) + sizeof(cmd.ex) +
			     (cmd.hdr.in_words + cmd.ex.provider_in_words) * 8UL) < 0 ? -1 : 0);
}

struct request {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr[6];
};

static void add_attr(struct request *r, int id, int len, uint64_t data)
{
	r->attr[r->hdr.num_attrs++] = (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data,
	};
}

static void do_ioctl(struct fz_thread *t, struct fz_dev *d, enum fz_call call, struct request *r)
{
	struct ib_uverbs_attr *a = &r->attr[fz_below(t, ARRAY_SIZE(r->attr))];

	r->hdr.length = sizeof(r->hdr) + r->hdr.num_attrs * sizeof(*r->attr);
	r->hdr.driver_id = RDMA_DRIVER_RXE;
	if (fz_mistake(t)) {
		switch (fz_below(t, 6)) {
		case 0:
			r->hdr.method_id = fz_below(t, 12);
			break;
		case 1:
			r->hdr.object_id = fz_below(t, 20);
			break;
		case 2:
			a->attr_id = fz_below(t, 8) | (fz_one_in(t, 3) << 12);
			break;
		case 3:
			a->len = fz_below(t, 40);
			break;
		case 4:
			a->data = fz_one_in(t, 2) ? bad_address(t) : fz_below(t, 64);
			break;
		default:
			r->hdr.num_attrs = fz_below(t, 7);
			break;
		}
	}
	fz_begin(t, call);
	fz_end(t, call, ioctl(d->fd, RDMA_VERBS_IOCTL, r));
}

void fz_ioctl(struct fz_thread *t, struct fz_dev *d)
{
	struct request r = { .hdr.object_id = UVERBS_OBJECT_MR,
			     .hdr.method_id = UVERBS_METHOD_QUERY_MR };
	uint64_t out[4];

	add_attr(&r, UVERBS_ATTR_QUERY_MR_HANDLE, 0, fz_handle(t, d, T_MR));
	add_attr(&r, UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4, (uintptr_t)&out[0]);
	add_attr(&r, UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4, (uintptr_t)&out[1]);
	add_attr(&r, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8, (uintptr_t)&out[2]);
	if (fz_one_in(t, 2))
		add_attr(&r, UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8, (uintptr_t)&out[3]);
	do_ioctl(t, d, FZ_IOCTL, &r);
}

/* Ask for pages of a region that is on demand, or in vain for those of one that is not. */
void fz_advise(struct fz_thread *t, struct fz_dev *d)
{
	struct request r = { .hdr.object_id = UVERBS_OBJECT_MR,
			     .hdr.method_id = UVERBS_METHOD_ADVISE_MR };
	struct fz_obj *mr = fz_pick(t, d, T_MR);
	struct ib_uverbs_sge sge = {};
	size_t off;

	if (!mr || !mr->len)
		return;
	off = fz_below(t, mr->len);
	sge.addr = (uintptr_t)mr->at + off;
	sge.length = fz_below(t, mr->len - off + 1 + fz_one_in(t, 9));
	sge.lkey = mr->lkey;
	add_attr(&r, UVERBS_ATTR_ADVISE_MR_PD_HANDLE, 0, d->obj[T_PD][mr->pd].handle);
	add_attr(&r, UVERBS_ATTR_ADVISE_MR_ADVICE, 8, fz_below(t, 3));
	add_attr(&r, UVERBS_ATTR_ADVISE_MR_FLAGS, 4, fz_one_in(t, 2));
	add_attr(&r, UVERBS_ATTR_ADVISE_MR_SGE_LIST, sizeof(sge), (uintptr_t)&sge);
	do_ioctl(t, d, FZ_ADVISE_MR, &r);
}

static bool read_line(char *to, size_t size, const char *fmt, int dev, int n)
{
	char path[128];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), fmt, dev, n);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	len = read(fd, to, size - 1);
	close(fd);
	to[len < 0 ? 0 : len] = 0;
	return len > 0;
}

/* The RoCEv2 GIDs of a device, as far as they are among the first */
void fz_gids(struct fz_dev *d)
{
	unsigned int w[8];
	char line[64];
	int i, k, n = 0;

	for (i = 0; i < 16 && n < GIDS; i++) {
		if (!read_line(line, sizeof(line),
			       "/sys/class/infiniband/sroce%d/ports/1/gid_attrs/types/%d",
			       d->id, i) ||
		    !strstr(line, "v2") ||
		    !read_line(line, sizeof(line),
			       "/sys/class/infiniband/sroce%d/ports/1/gids/%d", d->id, i) ||
		    sscanf(line, "%x:%x:%x:%x:%x:%x:%x:%x", &w[0], &w[1], &w[2], &w[3],
			   &w[4], &w[5], &w[6], &w[7]) != 8)
			continue;
		d->gid[n].index = i;
		for (k = 0; k < 16; k++)
			d->gid[n].raw[k] = w[k / 2] >> (k & 1 ? 0 : 8);
		n++;
	}
	d->gids = n;
}

/* Which uverbs device is sroceN? */
static int open_uverbs(int id)
{
	char line[64], want[16];
	int i;

	snprintf(want, sizeof(want), "sroce%d\n", id);
	for (i = 0; i < 32; i++) {
		if (!read_line(line, sizeof(line),
			       "/sys/class/infiniband_verbs/uverbs%d/ibdev", i, 0) ||
		    strcmp(line, want))
			continue;
		snprintf(line, sizeof(line), "/dev/infiniband/uverbs%d", i);
		return open(line, O_RDWR | O_CLOEXEC);
	}
	errno = ENOENT;
	return -1;
}

bool fz_open(struct fz_thread *t, struct fz_dev *d)
{
	union fz_resp resp = {};
	struct fz_cmd cmd = {};
	int err;

	fz_begin(t, FZ_OPEN);
	d->fd = open_uverbs(d->id);
	if (d->fd < 0) {
		fz_end(t, FZ_OPEN, -1);
		return false;
	}
	do {
		err = fz_cmd(t, d, FZ_OPEN, IB_USER_VERBS_CMD_GET_CONTEXT, &cmd, 8, &resp, 8);
	} while (err && err != EIO && err != ENODEV && fz_below(t, 50));
	d->async = resp.word[0];
	if (!err)
		fcntl(d->async, F_SETFL, O_NONBLOCK);
	fz_gids(d);
	return !err;
}
