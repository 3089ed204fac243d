# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The protocol core, drv/core, for programs in user space: CORE are its objects
# below $(OUT), CORE_FLAGS what its headers and sources need. The Makefile that
# includes this has the rule for $(OUT)/drv/core/%.o.

ROOT ?= ../..
CORE := $(patsubst %.c,$(OUT)/%.o,$(shell cd $(ROOT) && find drv/core -name '*.c' | sort))
CORE_HEADERS := -I$(ROOT)
# As in the kernel, unused parameters and mixed signs are accepted in the core.
CORE_FLAGS := -Wno-unused-parameter -Wno-sign-compare -DSROCE_HAVE_FLUSH
