# a slot is read again after it was copied
# file: mem/wqe.c
# SPDX-License-Identifier: GPL-2.0
s/wqe->wr_id = p->wr.wr_id;/wqe->wr_id = READ_ONCE(slot->wr.wr_id);/
