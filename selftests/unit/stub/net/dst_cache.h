/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_NET_DST_CACHE_H
#define STUB_NET_DST_CACHE_H

struct dst_cache { int unused; };

#endif
