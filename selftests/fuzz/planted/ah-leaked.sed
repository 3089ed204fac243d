# an address handle is not let go
# file: rc/flush.c
/^void sroce_sq_complete/,/^}/s/sroce_ah_put(wqe->ah);/;/
