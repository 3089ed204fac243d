# retries are never counted
# file: rc/retrans.c
# SPDX-License-Identifier: GPL-2.0
/^static void timeout/,/^}/s/req->retries--;//
