// SPDX-License-Identifier: GPL-2.0
/*
 * "crc32" of the crypto API by carry-less multiplication, as the kernel has it on x86, but not
 * where the kernel is a process. No FPU registers have to be saved there.
 */

#include <linux/crc32.h>
#include <linux/module.h>
#include <asm/cpufeature.h>
#include <crypto/internal/hash.h>

/* what its mm_malloc.h needs is not to be had in a kernel */
#define _MM_MALLOC_H_INCLUDED
#include <immintrin.h>
#include "clmul.h"

/*
 * A CRC that begins with 0, unless a key says otherwise, and is not inverted. Keys and results are
 * little endian, as x86 is.
 */
static int crc_init_tfm(struct crypto_tfm *tfm)
{
	*(u32 *)crypto_tfm_ctx(tfm) = 0;
	return 0;
}

static int crc_setkey(struct crypto_shash *tfm, const u8 *key, unsigned int len)
{
	if (len != sizeof(u32))
		return -EINVAL;
	memcpy(crypto_shash_ctx(tfm), key, len);
	return 0;
}

static int crc_init(struct shash_desc *desc)
{
	*(u32 *)shash_desc_ctx(desc) = *(u32 *)crypto_shash_ctx(desc->tfm);
	return 0;
}

static u32 crc(u32 crc, const u8 *data, unsigned int len)
{
	unsigned int tail = len < CLMUL_BYTES ? len : len & 15;

	if (tail < len)
		crc = crc32_by_clmul(crc, data, len);
	return tail ? crc32_le(crc, data + len - tail, tail) : crc;
}

static int crc_update(struct shash_desc *desc, const u8 *data, unsigned int len)
{
	u32 *ctx = shash_desc_ctx(desc);

	*ctx = crc(*ctx, data, len);
	return 0;
}

static int crc_final(struct shash_desc *desc, u8 *out)
{
	memcpy(out, shash_desc_ctx(desc), sizeof(u32));
	return 0;
}

static struct shash_alg alg = {
	.setkey		= crc_setkey,
	.init		= crc_init,
	.update		= crc_update,
	.final		= crc_final,
	.descsize	= sizeof(u32),
	.digestsize	= sizeof(u32),
	.base		= {
		.cra_name		= "crc32",
		.cra_driver_name	= "crc32-clmul",
		.cra_priority		= 200,
		.cra_flags		= CRYPTO_ALG_OPTIONAL_KEY,
		.cra_blocksize		= 1,
		.cra_ctxsize		= sizeof(u32),
		.cra_module		= THIS_MODULE,
		.cra_init		= crc_init_tfm,
	},
};

/* At all lengths up to a packet's, beside the kernel's own */
static bool is_right(void)
{
	static u8 data[4400];
	unsigned int i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 167 + (i >> 8) * 13;
	for (i = 0; i < sizeof(data); i++)
		if (crc(~0U, data, i) != crc32_le(~0U, data, i))
			return false;
	return true;
}

static int __init clmul_init(void)
{
	if (!boot_cpu_has(X86_FEATURE_PCLMULQDQ) || !boot_cpu_has(X86_FEATURE_XMM4_1))
		return -ENODEV;
	if (!is_right()) {
		pr_err("crc32-clmul: wrong\n");
		return -EINVAL;
	}
	return crypto_register_shash(&alg);
}

static void __exit clmul_exit(void)
{
	crypto_unregister_shash(&alg);
}

module_init(clmul_init);
module_exit(clmul_exit);
MODULE_DESCRIPTION("CRC-32 by carry-less multiplication in User Mode Linux");
MODULE_LICENSE("GPL");
MODULE_ALIAS_CRYPTO("crc32");
