# a packet may end within its headers
# file: wire/pkt.c
# SPDX-License-Identifier: GPL-2.0
/^int sroce_pkt_parse/,/^}/{
	s/if (len < pkt->op->hdr_len + pkt->pad + SROCE_ICRC_LEN ||/if (len < pkt->pad + SROCE_ICRC_LEN ||/
	s/hdr_len < pkt->op->hdr_len)/!hdr_len)/
}
