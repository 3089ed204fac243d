# a READ with a missing response completes
# file: rc/comp.c
# SPDX-License-Identifier: GPL-2.0
/^static u32 answered_end/,/^}/s/while (psn != end && test_bit(psn % SROCE_READ_AHEAD, req->read_buf->bitmap)) {/while (psn != end \&\& (psn != req->una || test_bit(psn % SROCE_READ_AHEAD, req->read_buf->bitmap))) {/
