/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Loopback packets, to QPs of this host. */
#ifndef SROCE_CORE_TX_LBPKT_H
#define SROCE_CORE_TX_LBPKT_H

#include <linux/list.h>
#include "drv/core/wire/pkt.h"

struct ib_sge;
struct sroce_mr;
struct sroce_qp;

/* Most payload bytes of a loopback packet; a multiple of each MTU */
#define SROCE_LBPKT_MAX	(64 * 1024U)
/* Payloads up to this are copied into the packet: cheaper than a reference to a region */
#define SROCE_LBPKT_COPY_MAX	256U

/**
 * struct sroce_lbfrag - fragment of a payload, in a region of the sender
 * @mr: the region, referenced
 * @iova: first byte
 * @len: bytes
 */
struct sroce_lbfrag {
	struct sroce_mr	*mr;
	u64		iova;
	u32		len;
};

/**
 * struct sroce_lbpkt - a packet to a QP of this host
 * @list: entry of a transmit queue
 * @pkt: the packet; it takes as many PSNs as its payload needs
 * @size: bytes allocated, for sroce_loopback_release()
 * @linear: the payload is in @data, otherwise in @frag
 * @refs: references besides the first, by sroce_pkt_hold()
 * @n: length of @frag
 * @frag: fragments of the payload
 * @data: payload
 */
struct sroce_lbpkt {
	struct list_head	list;
	struct sroce_pkt	pkt;
	size_t			size;
	bool			linear;
	u32			refs;
	u32			n;
	union {
		DECLARE_FLEX_ARRAY(struct sroce_lbfrag, frag);
		DECLARE_FLEX_ARRAY(u8, data);
	};
};

struct sroce_lbpkt *sroce_lbpkt_new(struct sroce_qp *qp, bool linear, size_t size);
int sroce_lbpkt_add(struct sroce_qp *qp, struct sroce_lbpkt *lbpkt, struct sroce_mr *mr,
		    u64 iova, u32 len);
int sroce_lbpkt_add_sges(struct sroce_qp *qp, struct sroce_lbpkt *lbpkt,
			 const struct ib_sge *sge, u32 off, u32 len);
void sroce_lbpkt_copy(const struct sroce_lbpkt *lbpkt, u32 off, u8 *to, u32 len);
void sroce_lbpkt_free(struct sroce_lbpkt *lbpkt);

#endif /* SROCE_CORE_TX_LBPKT_H */
