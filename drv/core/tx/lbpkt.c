// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Loopback packets: a packet to a QP of this host, which names the memory that its
 * payload lies in instead of carrying it. The receiver copies from region to region.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/core/tx/lbpkt.h"

/**
 * sroce_lbpkt_new() - allocate a loopback packet
 * @qp: whose it is, locked
 * @linear: its payload is copied into it
 * @size: bytes behind struct sroce_lbpkt, for the payload or for fragments
 *
 * Return: the packet, without fragments, or NULL without memory; that is counted.
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
 * @qp: whose packet it is, locked
 * @lbpkt: the packet; it holds @mr from now on
 * @mr: the region, or NULL if the key was wrong
 * @iova: first byte
 * @len: bytes
 *
 * A packet can't refer to pages on demand, which come and go, nor to a window,
 * which may be unbound while its region stays. A QP that meets either copies
 * all its payload from then on.
 *
 * Return: 0, -EFAULT for a wrong key or range, -EXDEV if the packet has to be
 * built again with its payload copied.
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
 * sroce_lbpkt_add_sges() - add a part of the payload of a scatter/gather list
 * @qp: whose packet it is, locked
 * @lbpkt: the packet, with room for as many fragments as the list has entries
 * @sge: the list, which is long enough
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
		ret = sroce_lbpkt_add(qp, lbpkt, sroce_mr_local(qp, sge->lkey, 0),
				      sge->addr + off, n);
		if (ret)
			return ret;
		len -= n;
		off = 0;
	}
	return 0;
}

/**
 * sroce_lbpkt_copy() - copy payload out
 * @lbpkt: the packet
 * @off: first byte
 * @to: where to
 * @len: how many; the payload has them
 */
void sroce_lbpkt_copy(const struct sroce_lbpkt *lbpkt, u32 off, u8 *to,
		      u32 len)
{
	const struct sroce_lbfrag *pc = lbpkt->frag;

	if (lbpkt->linear) {
		sroce_copy(to, lbpkt->data + off, len);
		return;
	}
	for (; len; pc++, off = 0) {
		u32 end;

		for (; off >= pc->len; pc++)
			off -= pc->len;
		end = min(pc->len, off + len);
		while (off < end) {
			u32 n = end - off;
			const void *from;

			from = sroce_mr_span(pc->mr, pc->iova + off, &n);
			sroce_copy(to, from, n);
			to += n;
			off += n;
			len -= n;
		}
	}
}

/**
 * sroce_lbpkt_free() - drop a reference to a loopback packet
 * @lbpkt: the packet; without other references it lets go of its regions
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
