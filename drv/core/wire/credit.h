/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * End-to-end credits: the number of receive work requests of a responder, encoded in five
 * bits of the AETH (9.7.7.2, table 49). The codes stand for powers of two and one and a
 * half times powers of two.
 */
#ifndef SROCE_CREDIT_H
#define SROCE_CREDIT_H

#include "drv/core/wire/wire.h"

#define SROCE_CREDIT_CODES SROCE_AETH_NO_CREDITS

/**
 * sroce_credit_decode() - convert a credit code into a number
 * @code: less than SROCE_CREDIT_CODES
 *
 * Return: receive work requests.
 */
static inline u32 sroce_credit_decode(u8 code)
{
	if (code < 2)
		return code;
	return code & 1 ? 3U << (code - 3) / 2 : 1U << code / 2;
}

/**
 * sroce_credit_encode() - convert a number into a credit code
 * @n: receive work requests
 *
 * Return: the largest code that stands for at most @n.
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
