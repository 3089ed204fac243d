# retries are never counted
# file: rc/timeout.c
# SPDX-License-Identifier: GPL-2.0
/^bool sroce_timeout_counted/,/^}/s/req->retries--;//
