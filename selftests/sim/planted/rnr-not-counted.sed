# RNR retries are never counted
# file: rc/comp.c
# SPDX-License-Identifier: GPL-2.0
/^static void rnr_nak/,/^}/s/req->rnr_retries--;//
