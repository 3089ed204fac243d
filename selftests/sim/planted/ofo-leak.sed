# the reference to a kept packet is never dropped
# file: rc/ofo.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_ofo_free/,/^}/s/sroce_pkt_release(qp, &ofo->pkt);//
