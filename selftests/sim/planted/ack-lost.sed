# a duplicate request is not acknowledged again
# file: rc/resp.c
/^static enum verdict duplicate/,/^}/s/^\telse$/\telse if (!pkt->ackreq)/
