/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One entry per file of tests, t_NAME.c */
#ifndef UNIT_TESTS_H
#define UNIT_TESTS_H

#include "check.h"

void test_opcode(void);
void test_pkt(void);
void test_mr(void);
void test_local(void);
void test_icrc(void);
void test_wqe(void);
void test_rc(void);
void test_loss(void);
void test_replay(void);
void test_peer(void);
void test_putoff(void);
void test_window(void);
void test_fails(void);
void test_credit(void);
void test_errors(void);
void test_hostile(void);
void test_state(void);
void test_dgram(void);
void test_parcel(void);
void test_paging(void);
void test_place(void);
void test_run(void);
void test_rare(void);

#endif /* UNIT_TESTS_H */
