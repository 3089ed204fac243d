/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* All of the protocol core, for tests. */
#ifndef UNIT_CORE_H
#define UNIT_CORE_H

#include "drv/core/counter.h"
#include "drv/core/env.h"
#include "drv/core/mem/mem_ops.h"
#include "drv/core/mem/mr.h"
#include "drv/core/mem/ring.h"
#include "drv/core/mem/sge.h"
#include "drv/core/mem/wqe.h"
#include "drv/core/mem/wr.h"
#include "drv/core/qp.h"
#include "drv/core/rc/answer.h"
#include "drv/core/rc/cc.h"
#include "drv/core/rc/comp.h"
#include "drv/core/rc/cwnd.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/ofo.h"
#include "drv/core/rc/read_retry.h"
#include "drv/core/rc/read_split.h"
#include "drv/core/rc/req.h"
#include "drv/core/rc/req_pkt.h"
#include "drv/core/rc/reset.h"
#include "drv/core/rc/resp.h"
#include "drv/core/rc/resp_res.h"
#include "drv/core/rc/resp_tx.h"
#include "drv/core/rc/retrans.h"
#include "drv/core/rc/rtt.h"
#include "drv/core/rc/sq_sched.h"
#include "drv/core/state.h"
#include "drv/core/trace.h"
#include "drv/core/transport.h"
#include "drv/core/tx/lbpkt.h"
#include "drv/core/tx/segs.h"
#include "drv/core/tx/txbuf.h"
#include "drv/core/wire/credit.h"
#include "drv/core/wire/icrc.h"
#include "drv/core/wire/opcode.h"
#include "drv/core/wire/pkt.h"
#include "drv/core/wire/psn.h"
#include "drv/core/wire/train_icrc.h"
#include "drv/core/wire/wire.h"

/* crc.c: what sroce_crc32() of the tests is made of */
u32 crc32_by_tables(u32 crc, const void *data, u32 len);

#endif /* UNIT_CORE_H */
