# PSNs are compared without the wrap
# file: wire/psn.h
# SPDX-License-Identifier: GPL-2.0
s/return (s32)((a - b) << 8) >> 8;/return (s32)(a - b);/
