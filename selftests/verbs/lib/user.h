/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Processes of users without privileges */
#ifndef USER_H
#define USER_H

#include "vt.h"

#define USER_OUTER	65533
/* Whom only a user namespace of USER_OUTER has */
#define USER_INNER	65520

/* Call @fn in a process of a user without privileges. Return: what it says is wrong */
why_t user_run(uid_t uid, why_t (*fn)(struct vt_dev *dev));

#endif
