# READ responses that found no page count as received
# file: rc/comp.c
# SPDX-License-Identifier: GPL-2.0
/^static bool take_response/,/^}/{
	s/	ret = fault_in_response(qp, pkt, wqe);/	ret = 0;/
}
