# messages that are sent together all go to the address of the first
# file: rc/req.c
# SPDX-License-Identifier: GPL-2.0
/^static bool append_msg/,/^}/s/pkt->va = wqe->remote_addr;//
