# a READ is resumed one byte off
# file: rc/resp_tx.c
/^static int send_read/,/^}/s/res->va + off,$/res->va + off - (off \&\& a != \&res->first),/
