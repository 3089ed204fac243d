# a kept packet is let go before it is executed
# file: rc/resp.c
/^static void catch_up/,/^}/{
	/sroce_ofo_free(ofo);/d
	s/rx_request(qp, &ofo->pkt);/sroce_ofo_free(ofo);\
		&/
}
