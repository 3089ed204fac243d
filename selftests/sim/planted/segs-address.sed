# messages that are sent together all go to the address of the first
# file: rc/req.c
# SPDX-License-Identifier: GPL-2.0
/^static bool put_like/,/^}/s/pkt->va = wqe->remote_addr;//
