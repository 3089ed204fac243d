# a slot is read again after it was copied
# file: mem/wqe.c
s/wqe->wr_id = p->wr.wr_id;/wqe->wr_id = READ_ONCE(slot->wr.wr_id);/
