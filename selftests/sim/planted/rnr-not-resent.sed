# after an RNR wait nothing is sent
# file: repair.c
/^void sroce_req_rnr_over/,/^}/s/sroce_repair_gap(qp);//
