// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Attributes of a device in sysfs: what tools identify it by, and its switches. */

#include <linux/device.h>
#include <linux/kstrtox.h>
#include "drv/dev/attr.h"
#include "drv/lookup/sdev.h"

static struct sroce_dev *sdev_of(struct device *device)
{
	return rdma_device_to_drv_device(device, struct sroce_dev, ibdev);
}

/* udev recognizes a RoCE device by this attribute. */
static ssize_t parent_show(struct device *device,
			   struct device_attribute *attr, char *buf)
{
	struct net_device *ndev = sroce_sdev_netdev(sdev_of(device));
	int ret;

	ret = sysfs_emit(buf, "%s\n", ndev ? ndev->name : "");
	dev_put(ndev);
	return ret;
}

static DEVICE_ATTR_RO(parent);

/* Shown by ibstat and ibv_devinfo */
static ssize_t hca_type_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "sroce\n");
}

static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *device,
			   struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%x\n", SROCE_HW_VERSION);
}

static DEVICE_ATTR_RO(hw_rev);

static ssize_t board_id_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "SROCE\n");
}

static DEVICE_ATTR_RO(board_id);

/**
 * struct switch_attr - an attribute that turns something on and off
 * @attr: the attribute
 * @offset: where the bool is in struct sroce_dev
 */
struct switch_attr {
	struct device_attribute	attr;
	size_t			offset;
};

static bool *switch_of(struct device *device, struct device_attribute *attr)
{
	struct switch_attr *sw = container_of(attr, struct switch_attr, attr);

	return (void *)sdev_of(device) + sw->offset;
}

static ssize_t switch_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(*switch_of(device, attr)));
}

static ssize_t switch_store(struct device *device, struct device_attribute *attr,
			    const char *buf, size_t count)
{
	bool val;
	int ret = kstrtobool(buf, &val);

	if (ret)
		return ret;
	WRITE_ONCE(*switch_of(device, attr), val);
	return count;
}

#define SWITCH_ATTR(name, member)						\
	static struct switch_attr switch_##name = {				\
		.attr = __ATTR(name, 0644, switch_show, switch_store),		\
		.offset = offsetof(struct sroce_dev, member),			\
	}

/* An ACK leaves with the answer of a process to the request, with QPs that are created */
SWITCH_ATTR(ack_with_answer, ack_with_answer);
/* QPs that are created react to losses, delays and CNPs */
SWITCH_ATTR(congestion_control, cc);
/* Paths that are set are ECN-capable, if their QP heeds CNPs */
SWITCH_ATTR(ecn, ecn);
/* Packets to this host bypass the IP stack, and so tcpdump */
SWITCH_ATTR(loopback, loopback);
/* Consecutive packets leave as trains, which the netdev or the IP stack segments */
SWITCH_ATTR(trains, trains);

static ssize_t tx_limit_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", sroce_sdev_tx_limit(sdev_of(device)));
}

/* Bytes of a QP in this host's qdiscs and drivers; 0: by the netdev and its line */
static ssize_t tx_limit_store(struct device *device, struct device_attribute *attr,
			      const char *buf, size_t count)
{
	u32 val;
	int ret = kstrtou32(buf, 0, &val);

	if (ret)
		return ret;
	WRITE_ONCE(sdev_of(device)->tx_limit, val);
	return count;
}

static DEVICE_ATTR_RW(tx_limit);

/**
 * sroce_attr_atomic_cap() - what the device says of its atomics
 * @dev: the device
 *
 * Return: IB_ATOMIC_HCA or IB_ATOMIC_GLOB.
 */
enum ib_atomic_cap sroce_attr_atomic_cap(struct sroce_dev *dev)
{
	return READ_ONCE(dev->global_atomics) ? IB_ATOMIC_GLOB : IB_ATOMIC_HCA;
}

static ssize_t global_atomics_show(struct device *device, struct device_attribute *attr,
				   char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(sdev_of(device)->global_atomics));
}

/* The RDMA core answers some queries by what it has read at registration. */
static ssize_t global_atomics_store(struct device *device, struct device_attribute *attr,
				    const char *buf, size_t count)
{
	struct sroce_dev *dev = sdev_of(device);
	bool val;
	int ret = kstrtobool(buf, &val);

	if (ret)
		return ret;
	WRITE_ONCE(dev->global_atomics, val);
	WRITE_ONCE(dev->ibdev.attrs.atomic_cap, sroce_attr_atomic_cap(dev));
	return count;
}

static DEVICE_ATTR_RW(global_atomics);

static struct attribute *attributes[] = {
	&switch_ack_with_answer.attr.attr,
	&dev_attr_board_id.attr,
	&switch_congestion_control.attr.attr,
	&switch_ecn.attr.attr,
	&dev_attr_global_atomics.attr,
	&dev_attr_hca_type.attr,
	&dev_attr_hw_rev.attr,
	&switch_loopback.attr.attr,
	&dev_attr_parent.attr,
	&switch_trains.attr.attr,
	&dev_attr_tx_limit.attr,
	NULL
};

const struct attribute_group sroce_attr_group = {
	.attrs = attributes,
};
