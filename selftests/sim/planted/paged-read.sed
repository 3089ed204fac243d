# responses that found no page count as taken in
# file: rc/comp.c
/^static bool take_response/,/^}/{
	s/	ret = fault_in_response(qp, pkt, wqe);/	ret = 0;/
}
