# a READ is not counted in the MSN
# file: rc/resp.c
/^static void accept/,/^}/s/resp->msn = sroce_psn_add(resp->msn, 1);/if (!(flags \& SROCE_READING))\
			&/
