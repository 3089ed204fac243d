# a request that was kept is never given back
# file: rc/ofo.c
/^void sroce_ofo_free/,/^}/s/sroce_pkt_release(&ofo->pkt);//
