# the solicited event is lost
# file: rc/resp.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_resp_complete/,/^}/s/pkt->solicited || status/status/
