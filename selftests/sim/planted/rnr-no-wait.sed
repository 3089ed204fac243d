# new requests are sent during an RNR wait
# file: rc/req.c
# SPDX-License-Identifier: GPL-2.0
/^bool sroce_req_run/,/^}/s/ && !req->rnr_wait &&/ \&\&/
