/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_TYPES_H
#define STUB_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16, __be16, __le16;
typedef uint32_t u32, __u32, __be32, __le32;
typedef unsigned long long u64, __u64, __be64, __le64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;
typedef struct { s64 counter; } atomic64_t;

#define __aligned_u64		__u64 __attribute__((aligned(8)))
#define __packed		__attribute__((packed))
#define ____cacheline_aligned	__attribute__((aligned(64)))
#define __force
#define __percpu
#define __rcu

#define DECLARE_FLEX_ARRAY(type, name)	\
	struct {			\
		struct { } __empty_##name;	\
		type name[];		\
	}

struct rcu_head {
	void *next;
};

#define cpu_to_le32(x)	htole32(x)
#define cpu_to_be32(x)	htobe32(x)
#define be32_to_cpu(x)	be32toh(x)
#include <endian.h>

#endif
