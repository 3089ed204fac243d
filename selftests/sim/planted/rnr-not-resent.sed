# after an RNR wait nothing is sent
# file: rc/retrans.c
/^void sroce_repair_anew/,/^}/s/^\t\tsroce_repair_gap(qp);/\t\t;/
