# the reference to an address handle is not dropped
# file: rc/flush.c
/^void sroce_sq_complete/,/^}/s/sroce_ah_put(wqe->ah);/;/
