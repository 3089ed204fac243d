// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Copies of payload by the faster of two means. memcpy() is hard to beat where a
 * CPU's string instructions are what they promise; an emulated CPU may promise
 * as much and move a byte at a time, and then words are an order of magnitude
 * faster. Which one it is gets measured once, when the module is loaded.
 */

#include <linux/jump_label.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "drv/compat/unaligned.h"
#include "drv/net/copy.h"
#include "drv/core/env.h"
#include "drv/net/calibrate.h"

#define TRY_LEN		1024

static DEFINE_STATIC_KEY_FALSE(by_words);

static void copy_word(u8 *to, const u8 *from)
{
	put_unaligned(get_unaligned((const u64 *)from), (u64 *)to);
}

static void copy_tail(u8 *to, const u8 *from, u32 len)
{
	for (; len >= 8; len -= 8, to += 8, from += 8)
		copy_word(to, from);
	for (; len; len--)
		*to++ = *from++;
}

static void copy_words(u8 *to, const u8 *from, u32 len)
{
	for (; len >= 64; len -= 64, to += 64, from += 64) {
		copy_word(to, from);
		copy_word(to + 8, from + 8);
		copy_word(to + 16, from + 16);
		copy_word(to + 24, from + 24);
		copy_word(to + 32, from + 32);
		copy_word(to + 40, from + 40);
		copy_word(to + 48, from + 48);
		copy_word(to + 56, from + 56);
	}
	copy_tail(to, from, len);
}

/**
 * sroce_copy() - memcpy() of payload
 * @to: where to
 * @from: where from; others may write there meanwhile
 * @len: how many bytes
 */
void sroce_copy(void *to, const void *from, u32 len)
{
	if (static_branch_unlikely(&by_words))
		copy_words(to, from, len);
	else
		memcpy(to, from, len);
}

/**
 * sroce_copy_init() - find the faster way
 */
void __init sroce_copy_init(void)
{
	u32 len = TRY_LEN;
	u64 words, bytes;
	u8 *data;

	if (!IS_ENABLED(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS))
		return;
	data = kzalloc(2 * TRY_LEN, GFP_KERNEL);
	if (!data)
		return;
	/* a length that the compiler knows would get another memcpy() */
	OPTIMIZER_HIDE_VAR(len);
	words = sroce_calibrate(copy_words(data, data + TRY_LEN, len));
	bytes = sroce_calibrate(memcpy(data, data + TRY_LEN, len));
	if (sroce_calibrate_won(words, bytes))
		static_branch_enable(&by_words);
	pr_debug("sroce: copies by %s\n",
		 static_key_enabled(&by_words) ? "words" : "memcpy()");
	kfree(data);
}
