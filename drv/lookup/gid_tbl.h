/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The device's GID table, a copy of the RDMA core's. */
#ifndef SROCE_LOOKUP_GID_TBL_H
#define SROCE_LOOKUP_GID_TBL_H

#include <rdma/ib_verbs.h>

struct sroce_dev;

int sroce_gid_tbl_add(const struct ib_gid_attr *attr, void **context);
int sroce_gid_tbl_del(const struct ib_gid_attr *attr, void **context);
bool sroce_gid_tbl_has(struct sroce_dev *dev, const union ib_gid *gid,
		       const struct net_device *ndev);
bool sroce_gid_tbl_has_vlan(struct sroce_dev *dev, int ifindex);
u16 sroce_gid_tbl_vlan(struct sroce_dev *dev, const union ib_gid *gid,
		       const struct net_device *ndev);
bool sroce_gid_tbl_is_multicast(const union ib_gid *gid);

#endif /* SROCE_LOOKUP_GID_TBL_H */
