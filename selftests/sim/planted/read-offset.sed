# a READ is resumed one byte off
# file: answer.c
/^static int send_read/,/^}/s/res->va + off,$/res->va + off - (off \&\& a != \&res->first),/
