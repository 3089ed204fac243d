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
#define SROCE_PARCEL_MAX	(64 * 1024U)
/* Payloads up to this are copied: that is less than looking the region up. */
#define SROCE_PARCEL_COPIED	256U

/**
 * struct sroce_piece - a part of a payload where it lies
 * @mr: the region, held
 * @iova: first byte
 * @len: bytes
 */
struct sroce_piece {
	struct sroce_mr	*mr;
	u64		iova;
	u32		len;
};

/**
 * struct sroce_parcel - a packet that stays on this host
 * @list: for those who pass it on
 * @pkt: the packet; it may have as many PSNs as its payload needs
 * @size: bytes of memory that it has
 * @copied: the payload is in @data
 * @held: how many keep it besides who passes it on
 * @n: pieces, otherwise
 * @piece: where the payload is
 * @data: the payload
 */
struct sroce_parcel {
	struct list_head	list;
	struct sroce_pkt	pkt;
	size_t			size;
	bool			copied;
	u32			held;
	u32			n;
	union {
		DECLARE_FLEX_ARRAY(struct sroce_piece, piece);
		DECLARE_FLEX_ARRAY(u8, data);
	};
};

/**
 * struct sroce_room - one of the two
 * @bth: memory for the wire, from BTH on
 * @parcel: the parcel
 *
 * Both are NULL if there was no memory or route: the packet counts as sent, and
 * is healed like a loss on the wire.
 */
struct sroce_room {
	u8			*bth;
	struct sroce_parcel	*parcel;
};

u32 sroce_room_unit(const struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_room_empty(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      struct sroce_room *room);
int sroce_room_wqe(struct sroce_qp *qp, struct sroce_av *av,
		   const struct sroce_pkt *pkt, const struct sroce_wqe *wqe,
		   u32 off, struct sroce_room *room);
int sroce_room_remote(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      u32 rkey, u64 va, u32 left, struct sroce_room *room);
void sroce_room_seal(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		     struct sroce_room *room);

void sroce_parcel_copy(const struct sroce_parcel *parcel, u32 off, u8 *to,
		       u32 len);
void sroce_parcel_free(struct sroce_parcel *parcel);

#endif /* SROCE_ROOM_H */
