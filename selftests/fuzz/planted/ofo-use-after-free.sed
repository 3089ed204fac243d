# a kept packet is freed before it is executed
# file: rc/resp.c
/^static void catch_up/,/^}/{
	/sroce_ofo_free(ofo);/d
	s/request(qp, &ofo->pkt);/sroce_ofo_free(ofo);\
		&/
}
