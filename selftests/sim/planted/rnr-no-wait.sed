# new requests are sent during an RNR wait
# file: rc/req.c
/^bool sroce_req_run/,/^}/s/ && !req->rnr_wait &&/ \&\&/
