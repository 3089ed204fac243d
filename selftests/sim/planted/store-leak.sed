# a request that was kept is never given back
# file: store.c
/^void sroce_store_free/,/^}/s/sroce_pkt_release(&kept->pkt);//
