# of UC and UD, a packet that waits for pages is queued behind later ones
# file: rc/ofo.c
# SPDX-License-Identifier: GPL-2.0
/^int sroce_ofo_put(/,/^}/s/first ? queue : queue->prev/queue->prev/
