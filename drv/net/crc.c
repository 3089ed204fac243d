// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CRC-32 by the fastest means this kernel has. Up to 6.13 crc32_le() looks up
 * tables, while the carry-less multiplication of the CPU stands behind the
 * crypto API, whose calls cost something: which one is better from which length
 * on is measured once, when the module is loaded.
 */

#include <crypto/hash.h>
#include <linux/crc32.h>
#include <linux/slab.h>
#include "drv/net/crc.h"
#include "drv/core/wire/icrc.h"
#include "drv/net/calibrate.h"

#define TRY_MIN		128
#define TRY_MAX		4096
#define NEVER		U32_MAX

/* NULL if the tables do it all */
static struct crypto_shash *hash;
static u32 hash_from = NEVER;

static u32 by_hash(u32 crc, const void *data, u32 len)
{
	u8 buf[sizeof(struct shash_desc) + sizeof(u32)]
		__aligned(__alignof__(struct shash_desc));
	struct shash_desc *desc = (struct shash_desc *)buf;
	u32 *state = shash_desc_ctx(desc);

	/* "crc32" keeps nothing else, and takes it in and gives it out as is */
	desc->tfm = hash;
	*state = crc;
	crypto_shash_update(desc, data, len);
	return *state;
}

/**
 * sroce_crc32() - go on with a CRC-32, least significant bit first
 * @crc: the CRC so far
 * @data: bytes
 * @len: how many
 */
u32 sroce_crc32(u32 crc, const void *data, u32 len)
{
	if (len < hash_from)
		return crc32_le(crc, data, len);
	return by_hash(crc, data, len);
}

/* Without a use for the result, crc32_le() is left out. */
static void __init by_table(u32 crc, const void *data, u32 len)
{
	static u32 sink __initdata;

	WRITE_ONCE(sink, crc32_le(crc, data, len));
}

/*
 * The shortest length at which the hash saves a quarter: what comes to it first
 * in an interrupt has to save the registers of the FPU as well.
 */
static u32 __init measure(const u8 *data)
{
	u32 len;

	if (by_hash(~0U, data, TRY_MAX) != crc32_le(~0U, data, TRY_MAX))
		return NEVER;
	for (len = TRY_MIN; len <= TRY_MAX; len *= 2) {
		u64 ns = sroce_calibrate(by_hash(~0U, data, len));

		if (sroce_calibrate_won(ns, sroce_calibrate(by_table(~0U, data, len))))
			return len;
	}
	return NEVER;
}

/**
 * sroce_crc_init() - find the fastest way
 */
void __init sroce_crc_init(void)
{
	u8 *data = kmalloc(TRY_MAX, GFP_KERNEL);

	if (!data)
		return;
	memset(data, 0x5a, TRY_MAX);
	hash = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(hash))
		hash = NULL;
	else if (crypto_shash_descsize(hash) == sizeof(u32))
		hash_from = measure(data);
	pr_debug("sroce: CRC by %s from %u bytes on\n",
		 hash ? crypto_shash_driver_name(hash) : "table", hash_from);
	kfree(data);
}

/**
 * sroce_crc_exit() - undo sroce_crc_init()
 */
void sroce_crc_exit(void)
{
	if (hash)
		crypto_free_shash(hash);
}
