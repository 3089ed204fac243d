# the reference to an address handle is not dropped
# file: rc/flush.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_sq_complete/,/^}/s/sroce_ah_put(wqe->ah);/;/
