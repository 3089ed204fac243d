/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which timeouts of the ACK timer are retries. */
#ifndef SROCE_CORE_RC_TIMEOUT_H
#define SROCE_CORE_RC_TIMEOUT_H

#include <linux/types.h>

struct sroce_qp;

bool sroce_timeout_counted(struct sroce_qp *qp, u64 now);

#endif /* SROCE_CORE_RC_TIMEOUT_H */
