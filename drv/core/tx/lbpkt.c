// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Loopback packets: packets to a QP of this host. A large payload is not copied into the
 * packet: fragments refer to the sender's regions, from which the receiver copies.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/core/tx/lbpkt.h"

/**
 * sroce_lbpkt_new() - allocate a loopback packet
 * @qp: the sender, locked
 * @linear: the payload will be copied into the packet
 * @size: bytes to allocate for the payload or for fragments
 *
 * Return: the packet, without fragments; NULL without memory, which is counted.
 */
struct sroce_lbpkt *sroce_lbpkt_new(struct sroce_qp *qp, bool linear, size_t size)
{
	struct sroce_lbpkt *lbpkt = sroce_loopback_alloc(sizeof(*lbpkt) + size);

	if (!lbpkt) {
		sroce_count(qp, SROCE_CNT_TX_NO_MEM);
		return NULL;
	}
	lbpkt->linear = linear;
	lbpkt->refs = 0;
	lbpkt->n = 0;
	return lbpkt;
}

/**
 * sroce_lbpkt_add() - add a fragment of payload
 * @qp: the sender, locked
 * @lbpkt: the packet; it takes a reference to @mr
 * @mr: the region, or NULL if the key was wrong
 * @iova: first byte
 * @len: bytes
 *
 * A packet can't refer to a region on demand, whose pages may go, or to a window, which
 * may be unbound. A QP that uses either copies all its payload from then on.
 *
 * Return: 0, -EFAULT for a wrong key or range, -EXDEV if the packet has to be built again
 * with its payload copied.
 */
int sroce_lbpkt_add(struct sroce_qp *qp, struct sroce_lbpkt *lbpkt,
		    struct sroce_mr *mr, u64 iova, u32 len)
{
	if (!mr)
		return -EFAULT;
	sroce_mr_hold(mr);
	lbpkt->frag[lbpkt->n++] = (struct sroce_lbfrag){ mr, iova, len };
	if (!sroce_mr_covers(mr, iova, len))
		return -EFAULT;
	if (!mr->odp && !mr->parent)
		return 0;
	qp->lb_copy_only = true;
	return -EXDEV;
}

/**
 * sroce_lbpkt_add_sges() - add fragments for a part of a scatter/gather list
 * @qp: the sender, locked
 * @lbpkt: the packet, with space for as many fragments as the list has entries
 * @sge: the list, which covers the part
 * @off: offset of the part in the payload
 * @len: bytes of the part
 *
 * Return: as sroce_lbpkt_add().
 */
int sroce_lbpkt_add_sges(struct sroce_qp *qp, struct sroce_lbpkt *lbpkt,
			 const struct ib_sge *sge, u32 off, u32 len)
{
	int ret;

	for (; len; sge++) {
		u32 n;

		if (off >= sge->length) {
			off -= sge->length;
			continue;
		}
		n = min(len, sge->length - off);
		ret = sroce_lbpkt_add(qp, lbpkt,
				      sroce_mr_by_lkey(qp, qp->ibqp.pd, sge->lkey, 0),
				      sge->addr + off, n);
		if (ret)
			return ret;
		len -= n;
		off = 0;
	}
	return 0;
}

/**
 * sroce_lbpkt_copy() - copy a part of the payload
 * @lbpkt: the packet
 * @off: offset of the part in the payload
 * @to: destination
 * @len: bytes of the part
 */
void sroce_lbpkt_copy(const struct sroce_lbpkt *lbpkt, u32 off, u8 *to,
		      u32 len)
{
	const struct sroce_lbfrag *frag = lbpkt->frag;

	if (lbpkt->linear) {
		sroce_copy(to, lbpkt->data + off, len);
		return;
	}
	for (; len; frag++, off = 0) {
		u32 end;

		for (; off >= frag->len; frag++)
			off -= frag->len;
		end = min(frag->len, off + len);
		while (off < end) {
			u32 n = end - off;
			const void *from;

			from = sroce_mr_span(frag->mr, frag->iova + off, &n);
			sroce_copy(to, from, n);
			to += n;
			off += n;
			len -= n;
		}
	}
}

/**
 * sroce_lbpkt_free() - drop a reference to a loopback packet
 * @lbpkt: the packet; the last reference frees it and its references to regions
 */
void sroce_lbpkt_free(struct sroce_lbpkt *lbpkt)
{
	u32 i;

	if (lbpkt->refs) {
		lbpkt->refs--;
		return;
	}
	for (i = 0; i < lbpkt->n; i++)
		sroce_mr_put(lbpkt->frag[i].mr);
	sroce_loopback_release(lbpkt);
}
