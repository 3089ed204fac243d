# an ACK is held until there is an answer, however long that takes
# file: rc/answer.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_answer_timer/,/^}/s/now - an->asked >= SROCE_RTT_HOLD_MIN/false/
