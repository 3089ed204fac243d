// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: functions of <linux/dma-buf.h> for callers without the reservation lock
 * form 1 SROCE_HAVE_DMA_BUF_UNLOCKED: are those with _unlocked in their names
 * form 2: are those without it
 */
#if SROCE_FORM == 1
SAME_TYPE(&dma_buf_vmap_unlocked, int (*)(struct dma_buf *, struct iosys_map *));
SAME_TYPE(&dma_buf_vunmap_unlocked, void (*)(struct dma_buf *, struct iosys_map *));
SAME_TYPE(&dma_buf_map_attachment_unlocked,
	  struct sg_table *(*)(struct dma_buf_attachment *, enum dma_data_direction));
SAME_TYPE(&dma_buf_unmap_attachment_unlocked,
	  void (*)(struct dma_buf_attachment *, struct sg_table *,
		   enum dma_data_direction));
#elif SROCE_FORM == 2
ABSENT_FUNCTION(dma_buf_vmap_unlocked);
/* later releases of 6.1 have dma_buf_map_attachment_unlocked(), but exporters lock there */
SAME_TYPE(&dma_buf_vmap, int (*)(struct dma_buf *, struct iosys_map *));
SAME_TYPE(&dma_buf_vunmap, void (*)(struct dma_buf *, struct iosys_map *));
SAME_TYPE(&dma_buf_map_attachment,
	  struct sg_table *(*)(struct dma_buf_attachment *, enum dma_data_direction));
#endif
