/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a packet is put together: in memory for the wire, or, if it stays on
 * this host, in a parcel, which says where the payload lies rather than hold it.
 */
#ifndef SROCE_ROOM_H
#define SROCE_ROOM_H

#include <linux/list.h>
#include "drv/core/wire/pkt.h"

struct sroce_av;
struct sroce_mr;
struct sroce_qp;
struct sroce_wqe;

/* Most payload bytes of a parcel; a multiple of each MTU */
#define SROCE_LBPKT_MAX	(64 * 1024U)
/* Payloads up to this are copied: that is less than looking the region up. */
#define SROCE_LBPKT_COPY_MAX	256U

/**
 * struct sroce_lbfrag - a part of a payload where it lies
 * @mr: the region, held
 * @iova: first byte
 * @len: bytes
 */
struct sroce_lbfrag {
	struct sroce_mr	*mr;
	u64		iova;
	u32		len;
};

/**
 * struct sroce_lbpkt - a packet that stays on this host
 * @list: for those who pass it on
 * @pkt: the packet; it may have as many PSNs as its payload needs
 * @size: bytes of memory that it has
 * @linear: the payload is in @data
 * @refs: how many keep it besides who passes it on
 * @n: pieces, otherwise
 * @frag: where the payload is
 * @data: the payload
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

/**
 * struct sroce_txbuf - one of the two
 * @bth: memory for the wire, from BTH on
 * @lbpkt: the parcel
 *
 * Both are NULL if there was no memory or route: the packet counts as sent, and
 * is healed like a loss on the wire.
 */
struct sroce_txbuf {
	u8			*bth;
	struct sroce_lbpkt	*lbpkt;
};

u32 sroce_txbuf_max_payload(const struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_txbuf_alloc(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      struct sroce_txbuf *room);
int sroce_txbuf_fill_wqe(struct sroce_qp *qp, struct sroce_av *av,
		   const struct sroce_pkt *pkt, const struct sroce_wqe *wqe,
		   u32 off, struct sroce_txbuf *room);
int sroce_txbuf_fill_remote(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      u32 rkey, u64 va, u32 left, struct sroce_txbuf *room);
void sroce_txbuf_commit(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		     struct sroce_txbuf *room);

void sroce_lbpkt_copy(const struct sroce_lbpkt *lbpkt, u32 off, u8 *to,
		       u32 len);
void sroce_lbpkt_free(struct sroce_lbpkt *lbpkt);

#endif /* SROCE_ROOM_H */
