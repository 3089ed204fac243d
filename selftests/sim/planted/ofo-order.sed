# kept packets are queued in the wrong order
# file: rc/ofo.c
# SPDX-License-Identifier: GPL-2.0
/^static void link_ofo/,/^}/s/list_add(&ofo->list, pos)/list_add_tail(\&ofo->list, pos)/
