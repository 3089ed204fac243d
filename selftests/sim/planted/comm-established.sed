# COMM_EST is raised in RTS as well
# file: transport.c
# SPDX-License-Identifier: GPL-2.0
/^static void establish/,/^}/s/qp->state != IB_QPS_RTR || qp->comm_est/qp->comm_est/
