# COMM_EST is raised in RTS as well
# file: transport.c
/^static void establish/,/^}/s/qp->state != IB_QPS_RTR || qp->comm_est/qp->comm_est/
