// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Work requests, their completions, and asynchronous events. */

#include <poll.h>
#include "vt.h"

why_t vt_post_send(struct vt_ep *ep, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int err = ibv_post_send(ep->qp, wr, &bad);

	CHECK(!err, "ibv_post_send: %s", strerror(err < 0 ? -err : err));
	return NULL;
}

why_t vt_post_recv(struct vt_ep *ep, uint64_t wr_id, struct ibv_sge *sge,
		   int num)
{
	struct ibv_recv_wr *bad = NULL;
	struct ibv_recv_wr wr = {
		.wr_id = wr_id,
		.sg_list = sge,
		.num_sge = num,
	};
	int err;

	if (ep->qp->srq)
		err = ibv_post_srq_recv(ep->qp->srq, &wr, &bad);
	else
		err = ibv_post_recv(ep->qp, &wr, &bad);
	CHECK(!err, "ibv_post_recv: %s", strerror(err < 0 ? -err : err));
	return NULL;
}

/* A receive into one piece of the endpoint's buffer. */
why_t vt_post_recv_at(struct vt_ep *ep, uint64_t wr_id, size_t off,
		      uint32_t len)
{
	struct ibv_sge sge = vt_sge(&ep->buf, off, len);

	return vt_post_recv(ep, wr_id, &sge, 1);
}

/* Address a work request to the peer's buffer or, on UD, to its QP. */
void vt_aim(const struct vt_ep *ep, const struct vt_ep *peer,
	    struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = (uintptr_t)peer->buf.data;
		wr->wr.atomic.rkey = peer->buf.mr->rkey;
		return;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		wr->wr.rdma.remote_addr = (uintptr_t)peer->buf.data;
		wr->wr.rdma.rkey = peer->buf.mr->rkey;
		return;
	default:
		break;
	}
	if (ep->conf->type == IBV_QPT_UD) {
		wr->wr.ud.ah = ep->ah;
		wr->wr.ud.remote_qpn = peer->qp->qp_num;
		wr->wr.ud.remote_qkey = VT_QKEY;
	}
}

static int poll_until(struct ibv_cq *cq, struct ibv_wc *wc, int ms)
{
	uint64_t start = vt_now_us();
	int n;

	memset(wc, 0, sizeof(*wc));
	do {
		n = ibv_poll_cq(cq, 1, wc);
		if (n)
			return n;
		vt_relax(start);
	} while (vt_now_us() < start + ms * 1000ULL);
	return 0;
}

/* What the devices say of a QP from which nothing comes, once: the QPs are there still. */
static void show_stuck(void)
{
	static bool shown;
	char line[1000];
	FILE *f;

	if (shown)
		return;
	shown = true;
	f = popen("rdma resource show qp -dd 2>&1 | head -n 40; cd /sys/class/infiniband && "
		  "grep -Hv '^0$' */ports/1/hw_counters/*", "r");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		tap_note("%s", line);
	}
	if (f)
		pclose(f);
}

why_t vt_poll(struct ibv_cq *cq, struct ibv_wc *wc, int ms)
{
	int n = poll_until(cq, wc, ms);

	if (!n && ms >= VT_LONG)
		show_stuck();
	CHECK(n >= 0, "ibv_poll_cq failed");
	CHECK(n, "no completion within %d ms", ms);
	return NULL;
}

why_t vt_poll_ok(struct ibv_cq *cq, struct ibv_wc *wc, uint64_t wr_id)
{
	TRY(vt_poll(cq, wc, VT_LONG));
	if (wc->status == IBV_WC_RETRY_EXC_ERR)
		show_stuck();
	CHECK(wc->status == IBV_WC_SUCCESS, "wr %llu completes with %s",
	      (unsigned long long)wr_id, ibv_wc_status_str(wc->status));
	CHECK(wc->wr_id == wr_id, "completion of wr %llu, not %llu",
	      (unsigned long long)wc->wr_id, (unsigned long long)wr_id);
	return NULL;
}

why_t vt_poll_status(struct ibv_cq *cq, uint64_t wr_id,
		     enum ibv_wc_status status, const char *who)
{
	struct ibv_wc wc;
	why_t why = vt_poll(cq, &wc, VT_LONG);

	CHECK(!why, "%s: %s for wr %llu", who, why, (unsigned long long)wr_id);
	CHECK(wc.wr_id == wr_id, "%s: completion of wr %llu, not %llu", who,
	      (unsigned long long)wc.wr_id, (unsigned long long)wr_id);
	CHECK(wc.status == status, "%s: wr %llu completes with %s, not %s", who,
	      (unsigned long long)wr_id, ibv_wc_status_str(wc.status),
	      ibv_wc_status_str(status));
	return NULL;
}

why_t vt_quiet(struct ibv_cq *cq, int ms)
{
	struct ibv_wc wc;

	CHECK(!poll_until(cq, &wc, ms), "unexpected completion of wr %llu: %s",
	      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
	return NULL;
}

static void *event_element(const struct ibv_async_event *ev)
{
	switch (ev->event_type) {
	case IBV_EVENT_CQ_ERR:
		return ev->element.cq;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return ev->element.srq;
	default:
		return ev->element.qp;
	}
}

static bool next_event(struct vt_dev *dev, struct ibv_async_event *ev, int ms)
{
	struct pollfd pfd = { .fd = dev->ctx->async_fd, .events = POLLIN };

	if (poll(&pfd, 1, ms) <= 0 || ibv_get_async_event(dev->ctx, ev))
		return false;
	ibv_ack_async_event(ev);
	return true;
}

/* Wait for an event of an object; other events may come before it. */
why_t vt_event(struct vt_dev *dev, enum ibv_event_type type, void *element,
	       int ms)
{
	uint64_t end = vt_now_us() + ms * 1000ULL;
	struct ibv_async_event ev;
	uint64_t now;

	for (now = vt_now_us(); now < end; now = vt_now_us()) {
		if (!next_event(dev, &ev, (end - now) / 1000 + 1))
			break;
		if (ev.event_type == type && event_element(&ev) == element)
			return NULL;
	}
	return because("no event '%s' within %d ms",
		       ibv_event_type_str(type), ms);
}

why_t vt_no_event(struct vt_dev *dev, int ms)
{
	struct ibv_async_event ev;

	CHECK(!next_event(dev, &ev, ms), "unexpected event '%s'",
	      ibv_event_type_str(ev.event_type));
	return NULL;
}

void vt_drop_events(void)
{
	struct ibv_async_event ev;
	int i;

	for (i = 0; i < 2; i++)
		while (next_event(&vt_devs[i], &ev, 0))
			;
}

static why_t ping(struct vt_ep *from, struct vt_ep *to)
{
	uint32_t grh = from->conf->type == IBV_QPT_UD ? VT_GRH : 0;
	struct ibv_sge sge = vt_sge(&from->buf, 0, 100);
	struct ibv_send_wr wr = {
		.wr_id = 0x9191,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_wc wc;

	vt_fill(from->buf.data, 100, 5);
	memset(to->buf.data, 0, 100 + grh);
	TRY(vt_post_recv_at(to, 0x9292, 0, 100 + grh));
	vt_aim(from, to, &wr);
	TRY(vt_post_send(from, &wr));
	TRY(vt_poll_ok(from->scq, &wc, 0x9191));
	TRY(vt_poll_ok(to->rcq, &wc, 0x9292));
	CHECK(wc.byte_len == 100 + grh, "ping of 100 bytes arrives as %u",
	      wc.byte_len);
	CHECK(!memcmp(from->buf.data, to->buf.data + grh, 100),
	      "ping arrives garbled");
	return NULL;
}

/* A message each way: the pair works. Overwrites the buffers' beginning. */
why_t vt_ping(struct vt_pair *p)
{
	TRY(ping(&p->a, &p->b));
	return ping(&p->b, &p->a);
}

/* Post WRITEs of A's first @len bytes to B; their ids count from @from. */
why_t vt_post_writes(struct vt_pair *p, int from, int num, uint32_t len)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, len);
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge, .num_sge = 1 };

	vt_aim(&p->a, &p->b, &wr);
	for (; num--; from++) {
		wr.wr_id = from;
		TRY(vt_post_send(&p->a, &wr));
	}
	return NULL;
}

/* Take completion events until none comes for @ms, and say how many. */
int vt_take_cq_events(struct vt_ep *ep, int ms)
{
	struct pollfd pfd = { .fd = ep->chan->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *ctx;
	int n;

	for (n = 0; poll(&pfd, 1, ms) > 0; n++) {
		if (ibv_get_cq_event(ep->chan, &cq, &ctx))
			break;
		ibv_ack_cq_events(cq, 1);
	}
	return n;
}
