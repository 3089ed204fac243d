// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CRC-32. Up to 6.13 crc32_le() looks up tables, and the CPU's carry-less multiplication
 * is reached through the crypto API. Later kernels have it in crc32_le(), and nothing
 * better in the crypto API.
 */

#include <crypto/hash.h>
#include <linux/crc32.h>
#include "drv/core/env.h"
#include "drv/net/crc.h"

/* Shorter data is not worth the crypto API's call, which may save the FPU's registers. */
#define HASH_MIN	256
/* No more than this have implementations that look up tables, or call crc32_le(). */
#define PRIORITY_GENERIC	150

/* NULL if crc32_le() does it all */
static struct crypto_shash *hash;

static u32 crc_by_hash(u32 crc, const void *data, u32 len)
{
	u8 buf[sizeof(struct shash_desc) + sizeof(u32)]
		__aligned(__alignof__(struct shash_desc));
	struct shash_desc *desc = (struct shash_desc *)buf;
	u32 *state = shash_desc_ctx(desc);

	/* the state of "crc32" is the CRC and nothing else */
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
 *
 * Context: any but hard interrupts.
 */
u32 sroce_crc32(u32 crc, const void *data, u32 len)
{
	if (len < HASH_MIN || !hash)
		return crc32_le(crc, data, len);
	return crc_by_hash(crc, data, len);
}

static bool is_accelerated(struct crypto_shash *tfm)
{
	return crypto_shash_alg(tfm)->base.cra_priority > PRIORITY_GENERIC &&
	       crypto_shash_descsize(tfm) == sizeof(u32);
}

/* Whether the state of the chosen implementation is the CRC as crc32_le() has it */
static bool __init is_right(void)
{
	static const u8 data[HASH_MIN] __initconst = { 0x5a, 0xa5, [HASH_MIN - 1] = 1 };

	return crc_by_hash(~0U, data, sizeof(data)) == crc32_le(~0U, data, sizeof(data));
}

/**
 * sroce_crc_init() - find an accelerated CRC-32
 *
 * Without one, crc32_le() is used.
 */
void __init sroce_crc_init(void)
{
	struct crypto_shash *tfm = crypto_alloc_shash("crc32", 0, 0);

	if (IS_ERR(tfm))
		return;
	hash = tfm;
	if (!is_accelerated(tfm) || !is_right()) {
		hash = NULL;
		crypto_free_shash(tfm);
	}
	pr_debug("sroce: CRC by %s\n", hash ? crypto_shash_driver_name(hash) : "crc32_le");
}

/**
 * sroce_crc_exit() - undo sroce_crc_init()
 */
void sroce_crc_exit(void)
{
	if (hash)
		crypto_free_shash(hash);
}
