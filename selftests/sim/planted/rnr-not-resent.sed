# nothing is sent again after an RNR wait
# file: rc/retrans.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_retrans_restart/,/^}/s/^\t\tretransmit(qp, false);/\t\t;/
