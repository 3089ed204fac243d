/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Address vectors: conversion of address attributes into a path. */
#ifndef SROCE_NET_AV_H
#define SROCE_NET_AV_H

#include <linux/types.h>

struct rdma_ah_attr;
struct sroce_av;
struct sroce_dev;

int sroce_av_from_attr(struct sroce_dev *dev, struct sroce_av *av,
		       const struct rdma_ah_attr *attr, u32 entropy);
void sroce_av_set_ect(struct sroce_dev *dev, struct sroce_av *av);

#endif /* SROCE_NET_AV_H */
