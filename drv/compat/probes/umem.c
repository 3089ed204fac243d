// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: pinning of user memory by <rdma/ib_umem.h>
 * form 1 SROCE_HAVE_UMEM_GET_VA: is ib_umem_get_va()
 * form 2: is ib_umem_get()
 */
#if SROCE_FORM == 1
SAME_TYPE(&ib_umem_get_va,
	  struct ib_umem *(*)(struct ib_device *, unsigned long, size_t, int));
#elif SROCE_FORM == 2
ABSENT_FUNCTION(ib_umem_get_va);
SAME_TYPE(&ib_umem_get,
	  struct ib_umem *(*)(struct ib_device *, unsigned long, size_t, int));
#endif
