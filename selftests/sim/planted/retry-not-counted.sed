# retries are never counted
# file: rc/retrans.c
# SPDX-License-Identifier: GPL-2.0
/^static bool count_timeout/,/^}/s/req->retries--;//
