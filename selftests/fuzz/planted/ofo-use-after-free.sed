# a kept packet is freed before it is executed
# file: rc/resp.c
# SPDX-License-Identifier: GPL-2.0
/^static void catch_up/,/^}/{
	/sroce_ofo_free(qp, ofo);/d
	s/rx_request(qp, &ofo->pkt);/sroce_ofo_free(qp, ofo);\
		&/
}
