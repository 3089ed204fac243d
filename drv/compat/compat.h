/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Differences between kernels, found by probes at build time. */
#ifndef SROCE_COMPAT_H
#define SROCE_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <net/flow.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/udp_tunnel.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#ifndef CONFIG_64BIT
#error "sroce needs a 64-bit kernel: regions are used by their kernel address"
#endif

/*
 * Kernels before 6.2 have no access flags for FLUSH, so no region could allow it: without
 * SROCE_HAVE_FLUSH its opcode is a reserved one.
 */

#ifndef SROCE_HAVE_DST_FLOW_DSCP
static inline void sroce_flowi4_set_tos(struct flowi4 *fl, u8 tclass)
{
	fl->flowi4_tos = tclass & ~3;
}
#else
static inline void sroce_flowi4_set_tos(struct flowi4 *fl, u8 tclass)
{
	fl->flowi4_dscp = inet_dsfield_to_dscp(tclass);
}
#endif

static inline void sroce_hrtimer_setup(struct hrtimer *timer,
				       enum hrtimer_restart (*fn)(struct hrtimer *),
				       enum hrtimer_mode mode)
{
#ifdef SROCE_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = fn;
#endif
}

/* Mark a name as given by the user, so that udev does not change it. */
#ifndef SROCE_HAVE_MARK_NAME
#define ib_mark_name_assigned_by_user(ibdev) do { } while (0)
#endif

/* .create_cq has the whole attribute bundle as an argument since 6.11. */
#ifdef SROCE_HAVE_CREATE_CQ_ATTRS
#define sroce_cq_create_op sroce_cq_create_attrs
#else
#define sroce_cq_create_op sroce_cq_create
#endif

/* Where there is .create_user_cq, .create_cq makes CQs of the kernel only. */
#ifdef SROCE_HAVE_CREATE_USER_CQ
#define SROCE_CREATE_USER_CQ_OP .create_user_cq = sroce_cq_create_op,
#else
#define SROCE_CREATE_USER_CQ_OP
#endif

/* .counter_bind_qp and .counter_unbind_qp name the port in newer kernels. */
#ifdef SROCE_HAVE_COUNTER_PORT
#define sroce_counter_bind_op sroce_counter_bind_port
#define sroce_counter_unbind_op sroce_counter_unbind_port
#else
#define sroce_counter_bind_op sroce_stats_bind_qp
#define sroce_counter_unbind_op sroce_stats_unbind_qp
#endif

/* Resizing became an operation on CQs of user space only, and the number unsigned. */
#ifdef SROCE_HAVE_RESIZE_USER_CQ
#define sroce_resize_cq_op resize_user_cq
#define sroce_cqe_arg unsigned int
#else
#define sroce_resize_cq_op resize_cq
#define sroce_cqe_arg int
#endif

/*
 * .reg_user_mr and .reg_user_mr_dmabuf take a DMA handle, which is about steering of what
 * a device writes. It is of no use here: the CPU writes.
 */
#ifdef SROCE_HAVE_REG_DMAH
#define SROCE_REG_DMAH_ARG struct ib_dmah *unused_dmah,
#else
#define SROCE_REG_DMAH_ARG
#endif
#ifdef SROCE_HAVE_DMABUF_DMAH
#define SROCE_DMABUF_DMAH_ARG struct ib_dmah *unused_dmah,
#else
#define SROCE_DMABUF_DMAH_ARG
#endif

/* .reg_user_mr_dmabuf has the whole attribute bundle as an argument since 6.12. */
#if defined(SROCE_HAVE_DMABUF_ATTRS) || defined(SROCE_HAVE_DMABUF_DMAH)
#define sroce_dmabuf_arg uverbs_attr_bundle
#else
#define sroce_dmabuf_arg ib_udata
#endif

static inline struct ib_umem *sroce_umem_get(struct ib_device *ibdev, unsigned long start,
					     size_t length, int access)
{
#ifdef SROCE_HAVE_UMEM_GET_VA
	return ib_umem_get_va(ibdev, start, length, access);
#else
	return ib_umem_get(ibdev, start, length, access);
#endif
}

static inline void sroce_tunnel_sock_setup(struct net *net, struct socket *sock,
					   struct udp_tunnel_sock_cfg *cfg)
{
#ifdef SROCE_HAVE_TUNNEL_SETUP_SOCK
	setup_udp_tunnel_sock(net, sock->sk, cfg);
#else
	setup_udp_tunnel_sock(net, sock, cfg);
#endif
}

static inline void sroce_tunnel_sock_release(struct socket *sock)
{
#ifdef SROCE_HAVE_TUNNEL_RELEASE_SOCK
	udp_tunnel_sock_release(sock->sk);
#else
	udp_tunnel_sock_release(sock);
#endif
}

/* Since 6.2 there are other functions for callers without a dma-buf's reservation lock. */
#ifdef SROCE_HAVE_DMA_BUF_UNLOCKED
#define sroce_dma_buf_map	dma_buf_map_attachment_unlocked
#define sroce_dma_buf_unmap	dma_buf_unmap_attachment_unlocked
#define sroce_dma_buf_vmap	dma_buf_vmap_unlocked
#define sroce_dma_buf_vunmap	dma_buf_vunmap_unlocked
#else
#define sroce_dma_buf_map	dma_buf_map_attachment
#define sroce_dma_buf_unmap	dma_buf_unmap_attachment
#define sroce_dma_buf_vmap	dma_buf_vmap
#define sroce_dma_buf_vunmap	dma_buf_vunmap
#endif

/* WQ_PERCPU exists since 6.17; before, it was the default of a work queue. */
#ifndef SROCE_HAVE_WQ_PERCPU
#define WQ_PERCPU 0
#endif

/*
 * A kernel's socket has no reference to its namespace that keeps it from ending. Since 6.14
 * it keeps the memory of it, as do stable kernels that have net_passive_inc(). Before, a
 * socket that skbs may keep beyond that end has to belong to the one namespace that stays.
 */
static inline void sroce_sk_leave_net(struct sock *sk)
{
#ifndef SROCE_HAVE_NET_PASSIVE
	sock_net_set(sk, &init_net);
#endif
}

/* The argument of MODULE_IMPORT_NS() is a string since 6.13. */
#ifdef SROCE_HAVE_IMPORT_NS_WORD
#define SROCE_IMPORT_NS(ns) MODULE_IMPORT_NS(ns)
#else
#define SROCE_IMPORT_NS(ns) MODULE_IMPORT_NS(#ns)
#endif

/*
 * Before 6.5 get_user_pages_remote() had an argument for areas. @locked: 1; 0 afterwards if
 * the lock of @mm was dropped, as it is to wait for a page.
 */
static inline long sroce_gup_remote(struct mm_struct *mm, unsigned long start,
				    unsigned long n, unsigned int flags,
				    struct page **page, int *locked)
{
#ifdef SROCE_HAVE_GUP_VMAS
	return get_user_pages_remote(mm, start, n, flags, page, NULL, locked);
#else
	return get_user_pages_remote(mm, start, n, flags, page, locked);
#endif
}

/*
 * How ib_umem_get() gets pages. Before 6.2, and in RHEL 9, those of a region that may not be
 * written are made writable all the same, by force if the process may not write.
 */
static inline unsigned int sroce_umem_gup_flags(bool writable)
{
#ifdef SROCE_HAVE_UMEM_FORCE
	return writable ? FOLL_WRITE : FOLL_WRITE | FOLL_FORCE;
#else
	return writable ? FOLL_WRITE : 0;
#endif
}

#endif /* SROCE_COMPAT_H */
