/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Whole RoCEv2 frames, made without any of our code. */
#ifndef UNIT_VECTORS_H
#define UNIT_VECTORS_H

struct vector {
	unsigned int		l3_len;
	unsigned int		payload_len;
	unsigned int		len;
	const unsigned char	*frame;		/* from the network header on */
};

extern const struct vector vectors[];
extern const unsigned int vectors_nr;

#endif /* UNIT_VECTORS_H */
