# kept packets are queued in the wrong order
# file: rc/ofo.c
# SPDX-License-Identifier: GPL-2.0
/^static bool insert/,/^}/s/if (diff > 0)/if (diff < 0)/
