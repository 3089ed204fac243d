# an address handle is not let go
# file: flush.c
/^void sroce_sq_complete/,/^}/s/sroce_ah_put(wqe->ah);/;/
