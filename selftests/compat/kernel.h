/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What drv/compat/probes ask about, and no more, in each form that kernels have had. KERNEL_x
 * is the number of the form that probe x shall find; 0 is one that nobody knows.
 */
#ifndef SROCE_STUB_KERNEL_H
#define SROCE_STUB_KERNEL_H

typedef _Bool bool;
typedef unsigned char __u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned long size_t;
typedef struct { __u8 v; } dscp_t;

enum hrtimer_restart { HRTIMER_NORESTART };
enum dma_data_direction { DMA_NONE };
struct dma_buf;
struct dma_buf_attachment;
struct ib_cq;
struct ib_cq_init_attr;
struct ib_device;
struct ib_dmah;
struct ib_mr;
struct ib_pd;
struct ib_qp;
struct ib_udata;
struct ib_umem;
struct iosys_map;
struct mm_struct;
struct net;
struct page;
struct rdma_counter;
struct sg_table;
struct sock;
struct socket;
struct udp_tunnel_sock_cfg;
struct uverbs_attr_bundle;
struct vm_area_struct;

/* <linux/hrtimer.h> */
struct hrtimer {
#if KERNEL_hrtimer
	enum hrtimer_restart (*function)(struct hrtimer *timer);
#endif
};
#define CLOCK_MONOTONIC		1
#define HRTIMER_MODE_REL_SOFT	2
/* from 6.13 to 6.14 there were both */
void hrtimer_init(struct hrtimer *timer, int clock, int mode);
#if KERNEL_hrtimer == 1
void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *),
		   int clock, int mode);
#endif

/* <linux/workqueue.h> */
enum wq_flags {
	WQ_UNBOUND,
#if KERNEL_wq_percpu == 1
	WQ_PERCPU,
#elif KERNEL_wq_percpu == 0
#define WQ_PERCPU no_such_flag
#endif
};

/* <linux/module.h> */
#define str_1(x)	#x
#define str(x)		str_1(x)
#define MODULE_INFO(tag, info) static const char tag[] = info
#if KERNEL_import_ns == 1
#define MODULE_IMPORT_NS(ns) MODULE_INFO(import_ns, str(ns))
#elif KERNEL_import_ns == 2
#define MODULE_IMPORT_NS(ns) MODULE_INFO(import_ns, ns)
#endif

/* <linux/mm.h> */
long get_user_pages_remote(struct mm_struct *mm, unsigned long start, unsigned long n,
			   unsigned int flags, struct page **pages,
#if KERNEL_gup_remote == 1
			   struct vm_area_struct **vmas,
#elif KERNEL_gup_remote == 0
			   size_t size,
#endif
			   int *locked);

#if KERNEL_umem_force == 1
bool gup_must_unshare(unsigned int flags, struct page *page);
#elif KERNEL_umem_force == 2
bool gup_must_unshare(struct vm_area_struct *vma, unsigned int flags, struct page *page);
#elif KERNEL_umem_force == 0
bool gup_must_unshare(struct page *page);
#endif

/* <linux/dma-buf.h> */
#if KERNEL_dma_buf
int dma_buf_vmap(struct dma_buf *buf, struct iosys_map *map);
void dma_buf_vunmap(struct dma_buf *buf, struct iosys_map *map);
#endif
struct sg_table *dma_buf_map_attachment(struct dma_buf_attachment *attach,
					enum dma_data_direction dir);
#if KERNEL_dma_buf == 1
int dma_buf_vmap_unlocked(struct dma_buf *buf, struct iosys_map *map);
void dma_buf_vunmap_unlocked(struct dma_buf *buf, struct iosys_map *map);
struct sg_table *dma_buf_map_attachment_unlocked(struct dma_buf_attachment *attach,
						 enum dma_data_direction dir);
void dma_buf_unmap_attachment_unlocked(struct dma_buf_attachment *attach,
				       struct sg_table *table, enum dma_data_direction dir);
#endif

/* <net/flow.h> */
struct flowi4 {
#if KERNEL_flow_dscp == 1
	dscp_t flowi4_dscp;
#elif KERNEL_flow_dscp == 2
	__u8 flowi4_tos;
#else
	u32 flowi4_tos;
#endif
};

/* <net/net_namespace.h> */
#if KERNEL_net_passive == 1
static inline void net_passive_inc(struct net *net)
{
}
#elif KERNEL_net_passive == 0
int net_passive_inc(struct net *net, int by);
#endif

/* <net/udp_tunnel.h> */
#if KERNEL_tunnel_setup == 1
void setup_udp_tunnel_sock(struct net *net, struct sock *sk, struct udp_tunnel_sock_cfg *cfg);
#elif KERNEL_tunnel_setup == 2
void setup_udp_tunnel_sock(struct net *net, struct socket *sock,
			   struct udp_tunnel_sock_cfg *cfg);
#else
void setup_udp_tunnel_sock(struct net *net, struct udp_tunnel_sock_cfg *cfg);
#endif
#if KERNEL_tunnel_release == 1
void udp_tunnel_sock_release(struct sock *sk);
#elif KERNEL_tunnel_release == 2
void udp_tunnel_sock_release(struct socket *sock);
#else
void udp_tunnel_sock_release(struct net *net);
#endif

/* <rdma/ib_umem.h> */
#if KERNEL_umem == 1
static inline struct ib_umem *ib_umem_get_va(struct ib_device *ibdev, unsigned long addr,
					     size_t size, int access)
{
	return 0;
}
#elif KERNEL_umem == 2
struct ib_umem *ib_umem_get(struct ib_device *ibdev, unsigned long addr, size_t size,
			    int access);
#else
struct ib_umem *ib_umem_get(struct ib_udata *udata, unsigned long addr, size_t size,
			    int access);
#endif

/* <rdma/ib_verbs.h> */
#if KERNEL_mark_name == 1
void ib_mark_name_assigned_by_user(struct ib_device *ibdev);
#elif KERNEL_mark_name == 0
void ib_mark_name_assigned_by_user(struct ib_device *ibdev, int by_user);
#endif

enum {
	IB_DEVICE_OTHER,
#if KERNEL_atomic_write == 1
	IB_DEVICE_ATOMIC_WRITE = 1 << 3,
#elif KERNEL_atomic_write == 0
#define IB_DEVICE_ATOMIC_WRITE no_such_flag
#endif
#if KERNEL_flush == 1
	IB_DEVICE_FLUSH_GLOBAL = 1 << 4,
	IB_ACCESS_FLUSH_GLOBAL = 1 << 5,
	IB_WR_FLUSH,
#elif KERNEL_flush == 0
	IB_WR_FLUSH,
#endif
};

struct ib_device_ops {
	int (*create_cq)(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
#if KERNEL_create_cq == 1
			 struct uverbs_attr_bundle *attrs);
#elif KERNEL_create_cq == 2
			 struct ib_udata *udata);
#else
			 struct ib_udata *udata, int flags);
#endif
#if KERNEL_create_user_cq == 1
	int (*create_user_cq)(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			      struct uverbs_attr_bundle *attrs);
#elif KERNEL_create_user_cq == 0
	int (*create_user_cq)(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			      struct ib_umem *umem);
#endif
#if KERNEL_resize_cq == 1
	int (*resize_user_cq)(struct ib_cq *cq, unsigned int n, struct ib_udata *udata);
#elif KERNEL_resize_cq == 2
	int (*resize_cq)(struct ib_cq *cq, int n, struct ib_udata *udata);
#else
	int (*resize_cq)(struct ib_cq *cq, unsigned int n, struct ib_udata *udata);
#endif
	struct ib_mr *(*reg_user_mr)(struct ib_pd *pd, u64 start, u64 length, u64 iova,
				     int access,
#if KERNEL_reg_user_mr == 1
				     struct ib_dmah *dmah,
#elif KERNEL_reg_user_mr == 0
				     int dmah,
#endif
				     struct ib_udata *udata);
	struct ib_mr *(*reg_user_mr_dmabuf)(struct ib_pd *pd, u64 offset, u64 length, u64 iova,
					    int fd, int access,
#if KERNEL_reg_dmabuf == 1
					    struct ib_dmah *dmah,
#endif
#if KERNEL_reg_dmabuf == 1 || KERNEL_reg_dmabuf == 2
					    struct uverbs_attr_bundle *attrs);
#elif KERNEL_reg_dmabuf == 3
					    struct ib_udata *udata);
#else
					    int flags, struct ib_udata *udata);
#endif
#if KERNEL_counter_bind == 1
	int (*counter_bind_qp)(struct rdma_counter *counter, struct ib_qp *qp, u32 port);
	int (*counter_unbind_qp)(struct ib_qp *qp, u32 port);
#else
	int (*counter_bind_qp)(struct rdma_counter *counter, struct ib_qp *qp);
#if KERNEL_counter_bind == 2
	int (*counter_unbind_qp)(struct ib_qp *qp);
#else
	int (*counter_unbind_qp)(struct ib_qp *qp, u32 port);
#endif
#endif
};

#endif /* SROCE_STUB_KERNEL_H */
