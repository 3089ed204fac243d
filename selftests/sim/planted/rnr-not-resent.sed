# nothing is sent again after an RNR wait
# file: rc/retrans.c
/^void sroce_retrans_restart/,/^}/s/^\t\tsroce_retrans_gap(qp);/\t\t;/
