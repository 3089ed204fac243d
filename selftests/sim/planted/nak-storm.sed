# each packet after a gap causes a NAK
# file: rc/resp.c
# SPDX-License-Identifier: GPL-2.0
/^static void report_gap/,/^}/s/if (qp->resp.nak_sent ||/if (/
