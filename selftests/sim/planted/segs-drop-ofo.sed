# packets kept after a gap are lost when segments fill the gap
# file: rc/resp.c
# SPDX-License-Identifier: GPL-2.0
/^bool sroce_resp_rx_segs/,/^}/s/resp->paging || resp->ofo_len ||/resp->paging ||/
