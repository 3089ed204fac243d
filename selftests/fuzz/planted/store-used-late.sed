# a kept packet is let go before it is executed
# file: rc/resp.c
/^static void catch_up/,/^}/{
	/sroce_store_free(kept);/d
	s/request(qp, &kept->pkt);/sroce_store_free(kept);\
		&/
}
