# messages that leave together are all written where the first goes
# file: rc/req.c
# SPDX-License-Identifier: GPL-2.0
/^static bool put_like/,/^}/s/pkt->va = wqe->remote_addr;//
