# messages that are sent together all carry the immediate of the first
# file: rc/req.c
# SPDX-License-Identifier: GPL-2.0
/^static bool append_msg/,/^}/s/pkt->imm = wqe->imm;//
