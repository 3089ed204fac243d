// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Performance management (16.1): the port counters that sysfs shows in counters/, and
 * perfquery reads.
 */

#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include "drv/core/counter.h"
#include "drv/dev/pma.h"
#include "drv/dev/stats.h"
#include "drv/lookup/sdev.h"

/* Offset of the attribute in a MAD's data */
#define PMA_DATA	40

static u64 total(struct sroce_dev *dev, enum sroce_counter c)
{
	return sroce_stats_total(dev, c);
}

static u64 rcv_errors(struct sroce_dev *dev)
{
	return total(dev, SROCE_CNT_RX_MALFORMED) +
	       total(dev, SROCE_CNT_RX_BAD_OPCODE) +
	       total(dev, SROCE_CNT_RX_ICRC);
}

static u64 xmit_discards(struct sroce_dev *dev)
{
	return total(dev, SROCE_CNT_TX_NO_MEM) +
	       total(dev, SROCE_CNT_TX_NO_ROUTE) +
	       total(dev, SROCE_CNT_TX_DROPPED);
}

/* The counters without extended width stop at their maximum. */
static __be32 at_most32(u64 val)
{
	return cpu_to_be32(min_t(u64, val, U32_MAX));
}

static __be16 at_most16(u64 val)
{
	return cpu_to_be16(min_t(u64, val, U16_MAX));
}

/* Data is counted in units of four bytes. */
static u64 words(struct sroce_dev *dev, enum sroce_counter c)
{
	return total(dev, c) / 4;
}

static void put_info(void *to)
{
	struct ib_class_port_info *info = to;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
}

static void put_counters(struct sroce_dev *dev, void *to)
{
	struct ib_pma_portcounters *p = to;

	p->port_select = 1;
	p->port_rcv_errors = at_most16(rcv_errors(dev));
	p->port_xmit_discards = at_most16(xmit_discards(dev));
	p->port_xmit_data = at_most32(words(dev, SROCE_CNT_TX_BYTES));
	p->port_rcv_data = at_most32(words(dev, SROCE_CNT_RX_BYTES));
	p->port_xmit_packets = at_most32(total(dev, SROCE_CNT_TX_PACKETS));
	p->port_rcv_packets = at_most32(total(dev, SROCE_CNT_RX_PACKETS));
}

static void put_counters_ext(struct sroce_dev *dev, void *to)
{
	u64 tx_multi = total(dev, SROCE_CNT_TX_MULTICAST);
	u64 rx_multi = total(dev, SROCE_CNT_RX_MULTICAST);
	u64 tx = total(dev, SROCE_CNT_TX_PACKETS);
	u64 rx = total(dev, SROCE_CNT_RX_PACKETS);
	struct ib_pma_portcounters_ext *p = to;

	p->port_select = 1;
	p->port_xmit_data = cpu_to_be64(words(dev, SROCE_CNT_TX_BYTES));
	p->port_rcv_data = cpu_to_be64(words(dev, SROCE_CNT_RX_BYTES));
	p->port_xmit_packets = cpu_to_be64(tx);
	p->port_rcv_packets = cpu_to_be64(rx);
	p->port_unicast_xmit_packets = cpu_to_be64(tx - min(tx, tx_multi));
	p->port_unicast_rcv_packets = cpu_to_be64(rx - min(rx, rx_multi));
	p->port_multicast_xmit_packets = cpu_to_be64(tx_multi);
	p->port_multicast_rcv_packets = cpu_to_be64(rx_multi);
}

static bool put_attr(struct sroce_dev *dev, __be16 attr, void *to)
{
	switch (attr) {
	case IB_PMA_CLASS_PORT_INFO:
		put_info(to);
		return true;
	case IB_PMA_PORT_COUNTERS:
		put_counters(dev, to);
		return true;
	case IB_PMA_PORT_COUNTERS_EXT:
		put_counters_ext(dev, to);
		return true;
	default:
		return false;
	}
}

/**
 * sroce_pma_process_mad() - .process_mad: reply to Get and Set of performance management
 * @ibdev: the device
 * @flags: unused
 * @port: 1
 * @wc: unused
 * @grh: unused
 * @in: the request
 * @out: the reply
 * @out_size: unused: all MADs have the same size
 * @out_pkey: unused
 *
 * Return: IB_MAD_RESULT_SUCCESS, with IB_MAD_RESULT_REPLY if there is a reply; without,
 * the core passes the MAD to the agents.
 */
int sroce_pma_process_mad(struct ib_device *ibdev, int flags, u32 port,
			  const struct ib_wc *wc, const struct ib_grh *grh,
			  const struct ib_mad *in, struct ib_mad *out,
			  size_t *out_size, u16 *out_pkey)
{
	u8 method = in->mad_hdr.method;

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    (method != IB_MGMT_METHOD_GET && method != IB_MGMT_METHOD_SET))
		return IB_MAD_RESULT_SUCCESS;
	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	/* Set is not supported: counters can't be reset */
	if (method == IB_MGMT_METHOD_SET ||
	    !put_attr(to_sdev(ibdev), in->mad_hdr.attr_id,
		      out->data + PMA_DATA))
		out->mad_hdr.status =
			cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
