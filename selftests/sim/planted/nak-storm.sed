# each packet after a gap causes a NAK
# file: rc/resp.c
/^static void report_gap/,/^}/s/if (qp->resp.nak_sent ||/if (/
