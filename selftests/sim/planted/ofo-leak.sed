# the reference to a kept packet is never dropped
# file: rc/ofo.c
/^void sroce_ofo_free/,/^}/s/sroce_pkt_release(&ofo->pkt);//
