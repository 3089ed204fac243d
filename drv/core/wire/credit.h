/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * End-to-end credits: how many receive work requests a responder has, in the
 * five bits of an AETH (9.7.7.2, table 49). The codes are powers of two and,
 * between them, one and a half times those.
 */
#ifndef SROCE_CREDIT_H
#define SROCE_CREDIT_H

#include "drv/core/wire/wire.h"

#define SROCE_CREDIT_CODES SROCE_AETH_NO_CREDITS

/**
 * sroce_credit_decode() - receive work requests that a code stands for
 * @code: less than SROCE_CREDIT_CODES
 */
static inline u32 sroce_credit_decode(u8 code)
{
	if (code < 2)
		return code;
	return code & 1 ? 3U << (code - 3) / 2 : 1U << code / 2;
}

/**
 * sroce_credit_encode() - the code that promises the most, and not too much
 * @n: receive work requests
 */
static inline u8 sroce_credit_encode(u32 n)
{
	u8 code = 0;

	while (code + 1 < SROCE_CREDIT_CODES &&
	       sroce_credit_decode(code + 1) <= n)
		code++;
	return code;
}

#endif /* SROCE_CREDIT_H */
