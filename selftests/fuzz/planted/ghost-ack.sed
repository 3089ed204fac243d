# an ACK of the packet that is sent next is accepted
# file: rc/comp.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_comp_rx/,/^}/s/req->max_psn) >= 0/req->max_psn) > 0/
