# a slot is read again after it was copied
# file: wqe.c
s/wqe->wr_id = raw.wr_id;/wqe->wr_id = ((const struct sroce_abi_send_wqe *)slot)->wr_id;/
