# a QP in SQD starts new messages
# file: qp.h
# SPDX-License-Identifier: GPL-2.0
/^static inline bool sroce_qp_may_start/,/^}/s/return qp->state == IB_QPS_RTS;/return qp->state != IB_QPS_SQE;/
