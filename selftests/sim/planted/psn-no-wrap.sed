# PSNs are compared without the wrap
# file: psn.h
s/return (s32)((a - b) << 8) >> 8;/return (s32)(a - b);/
