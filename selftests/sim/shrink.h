/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The least of a scenario that fails in the same way */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "world.h"

u32 shrink(struct scenario *sc, const struct outcome *out);

#endif /* SIM_SHRINK_H */
