/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The BTH of a datagram that the stack has received. */
#ifndef SROCE_NET_BTH_H
#define SROCE_NET_BTH_H

#include <linux/skbuff.h>
#include "drv/core/wire/wire.h"

/**
 * sroce_skb_bth() - find the BTH of a datagram
 * @skb: the datagram
 * @off: where the BTH begins in it
 * @buf: space for a BTH that is not contiguous
 *
 * Drivers may leave it in the first fragment. It is read there: a call of skb_copy_bits() costs
 * about 100 instructions for each packet.
 *
 * Return: the BTH, or NULL if the datagram has none.
 */
static inline const struct sroce_bth *sroce_skb_bth(const struct sk_buff *skb, u32 off,
						    struct sroce_bth *buf)
{
	const skb_frag_t *frag = skb_shinfo(skb)->frags;
	u32 head = skb_headlen(skb);
	const u8 *data;

	if (off >= head && skb_shinfo(skb)->nr_frags &&
	    off - head + sizeof(*buf) <= skb_frag_size(frag)) {
		data = skb_frag_address_safe(frag);
		if (data)
			return (const void *)(data + (off - head));
	}
	return skb_header_pointer(skb, off, sizeof(*buf), buf);
}

/* Destination QPN, in network byte order */
static inline __be32 sroce_bth_qpn(const struct sroce_bth *bth)
{
	return bth->qpn & cpu_to_be32(SROCE_QPN_MASK);
}

#endif /* SROCE_NET_BTH_H */
