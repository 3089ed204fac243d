# one more READ, atomic or FLUSH is outstanding than the peer has agreed to
# file: rc/sq_sched.c
# SPDX-License-Identifier: GPL-2.0
/^static bool may_read/,/^}/s/>= qp->attr.max_rd_atomic/> qp->attr.max_rd_atomic/
