# the address of a handle that is destroyed keeps its reference
# file: verbs/ah.c
# SPDX-License-Identifier: GPL-2.0
/^int sroce_ah_destroy/,/^}/s/^\tsroce_ah_put(ah);$//
