# RESET keeps the responder resources
# file: rc/reset.c
# SPDX-License-Identifier: GPL-2.0
/^static void reset_responder/,/^}/s/memset(res, 0, nres \* sizeof(\*res));/(void)nres;/
