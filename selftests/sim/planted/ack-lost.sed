# a duplicate request is not acknowledged again
# file: rc/resp.c
# SPDX-License-Identifier: GPL-2.0
/^static enum verdict duplicate/,/^}/s/^\telse$/\telse if (!pkt->ackreq)/
