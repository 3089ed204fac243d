/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory windows: an endpoint binds, its peer uses. */
#ifndef WIN_H
#define WIN_H

#include "vt.h"

/**
 * struct win - a window and its key of now
 * @mw: as the library has it
 * @rkey: of the last bind that was posted; mw->rkey is that of the last that succeeded
 */
struct win {
	struct ibv_mw	*mw;
	uint32_t	rkey;
};

why_t win_open(struct win *w, struct ibv_pd *pd, enum ibv_mw_type type);
why_t win_end(struct win *w, why_t why);
why_t win_close(struct win *w);
why_t win_post_bind(struct vt_ep *ep, struct win *w, size_t off, size_t len, int access);
why_t win_bind(struct vt_ep *ep, struct win *w, size_t off, size_t len, int access);
why_t win_open_bound(struct vt_ep *ep, struct win *w, int access);
why_t win_bind_1(struct vt_ep *ep, struct win *w, const struct vt_buf *buf, size_t off,
		 size_t len, int access);
why_t win_use(struct vt_ep *ep, enum ibv_wr_opcode opcode, uint64_t addr, uint32_t rkey,
	      uint32_t len, enum ibv_wc_status status);
why_t win_write(struct vt_pair *p, const struct win *w, size_t off, uint32_t len,
		enum ibv_wc_status status);
why_t win_invalidate(struct vt_ep *ep, enum ibv_wr_opcode opcode, uint32_t rkey,
		     enum ibv_wc_status status);

#endif
