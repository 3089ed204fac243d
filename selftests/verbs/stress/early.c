// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: by gro.test.sh */
/*
 * QPs of B that are connected to QPs of A which do not exist, and expect PSN 0: prints their
 * numbers, in one line, and waits to be killed. They are of a user without privileges, who
 * has opened the device once for each.
 */

#include <unistd.h>
#include "vt.h"

#define QPS	8
#define USER	65533

static why_t connect_to_nobody(struct vt_ep *ep)
{
	struct ibv_qp_attr attr;
	int mask, err;

	TRY(vt_ep_init(ep));
	attr = vt_attr_rtr(ep, 0x123456, 0, &vt_devs[0].gid, &mask);
	err = ibv_modify_qp(ep->qp, &attr, mask);
	CHECK(!err, "RTR: %s", strerror(err));
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_dev dev[QPS] = {};
	struct vt_conf conf;
	struct vt_ep ep[QPS];
	why_t why;
	int i;

	memset(ep, 0, sizeof(ep));
	vt_start(argc, argv);
	conf = vt_conf(IBV_QPT_RC);
	conf.buf = 4096;
	vt_enter_netns(&vt_devs[1]);
	if (setgid(USER) || setuid(USER))
		tap_bail("setuid: %s", strerror(errno));
	for (i = 0; i < QPS; i++) {
		vt_dev_open(&dev[i], vt_devs[1].name);
		why = vt_ep_open(&ep[i], &dev[i], &conf);
		if (!why)
			why = connect_to_nobody(&ep[i]);
		if (why)
			tap_bail("%s", why);
	}
	for (i = 0; i < QPS; i++)
		printf("%u ", ep[i].qp->qp_num);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
