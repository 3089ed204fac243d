# a duplicate WRITE is executed again and overwrites newer data
# file: rc/resp.c
# SPDX-License-Identifier: GPL-2.0
/^static enum verdict duplicate/i\
static enum verdict check_rkey(struct sroce_qp *qp,\
			       const struct sroce_pkt *pkt,\
			       struct sroce_mr **mr);\
static enum verdict do_write(struct sroce_qp *qp, const struct sroce_pkt *pkt,\
			     struct sroce_mr *mr);
/^static enum verdict duplicate/,/^}/s/sroce_count(qp, SROCE_CNT_DUPLICATE);/&\
	struct sroce_mr *mr = NULL;\
	if (pkt->op->flags \& SROCE_WRITING \&\& pkt->op->flags \& SROCE_START \&\&\
	    !qp->resp.msg \&\& check_rkey(qp, pkt, \&mr) == PASS)\
		do_write(qp, pkt, mr);/
