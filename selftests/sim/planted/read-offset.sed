# a READ is resumed at an address that is one byte off
# file: rc/resp_tx.c
# SPDX-License-Identifier: GPL-2.0
/^static int send_read/,/^}/s/res->va + off,$/res->va + off - (off \&\& a != \&res->first),/
