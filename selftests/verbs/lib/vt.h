/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the verbs tests share: devices, guarded buffers, endpoints. */
#ifndef VT_H
#define VT_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>
#include "tap.h"
#include "why.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)				\
	({					\
		__typeof__(a) a_ = (a);		\
		__typeof__(b) b_ = (b);		\
						\
		a_ < b_ ? a_ : b_;		\
	})

/* Rows of a table for getopt_long() */
#define VT_OPTION(name, key)	{ name, required_argument, NULL, key }
#define VT_FLAG(name, key)	{ name, no_argument, NULL, key }

#define VT_GUARD	4096	/* bytes watched on either side of a buffer */
#define VT_GRH		40	/* bytes in front of every UD message */
#define VT_QKEY		0x11223344
#define VT_PORT		1
#define VT_LONG		vt_long_ms()	/* to wait for what has to come: 20 s, or longer */
#define VT_SHORT	300	/* ms to wait for what must not come */

#define VT_ALL_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* time.c */
uint64_t vt_now_us(void);
void vt_sleep_ms(int ms);
void vt_relax(uint64_t since);
int vt_slowness(void);
int vt_long_ms(void);

/* shell.c */
why_t vt_run_cmd(const char *fmt, ...);

/* cpu.c */
void vt_run_on(int cpu);

/* mem.c */
long vt_meminfo_kib(const char *name);
long vt_free_kib(void);
why_t vt_userfault(int *fd, void *at, size_t len, int flags, uint64_t mode);

/* dev.c */
struct ifreq;

struct vt_opts {
	const char *dev[2];	/* NAME or NAME@NETNS */
	int family;		/* 4 or 6 */
	int seconds;
	uint64_t seed;
	bool huge;
	bool hostile;
	bool on_demand;		/* memory that comes and goes */
	bool matrix;		/* conform: print Markdown, not TAP */
	const char *only;	/* run only cases with this in their name */
};

struct vt_dev {
	char name[64];
	char netns[64];
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	int gid_index;
	union ibv_gid gid;
};

extern struct vt_opts vt_opts;
extern struct vt_dev vt_devs[2];

void vt_args(int argc, char **argv);
void vt_dev_open(struct vt_dev *dev, const char *spec);
void vt_open(void);
void vt_start(int argc, char **argv);
void vt_enter_netns(const struct vt_dev *dev);
why_t vt_netdev(const struct vt_dev *dev, struct ifreq *ifr);
bool vt_wanted(const char *name);
union ibv_gid vt_group(int net, int n);
uint64_t vt_counted(const struct vt_dev *dev, const char *what);
enum ibv_mtu vt_max_mtu(void);
static inline uint32_t vt_mtu_bytes(enum ibv_mtu mtu)
{
	return 128U << mtu;
}

/* buf.c */
struct vt_buf {
	uint8_t *map;
	size_t map_len;
	uint8_t *data;
	size_t len;
	uint8_t *shadow;	/* what data should hold */
	struct ibv_mr *mr;
	pthread_t evictor;		/* takes the pages away, if they come on demand */
	volatile bool evicts;
};

uint64_t vt_rand(uint64_t *state);
uint32_t vt_below(uint64_t *state, uint32_t n);
void vt_fill(void *to, size_t len, uint64_t seed);
why_t vt_buf_open(struct vt_buf *b, struct ibv_pd *pd, size_t len, int access);
void vt_buf_close(struct vt_buf *b);
void vt_buf_fill(struct vt_buf *b, uint64_t seed);
why_t vt_buf_guards(const struct vt_buf *b);
why_t vt_buf_check(const struct vt_buf *b);
why_t vt_buf_wait(const struct vt_buf *b, int ms);
struct ibv_sge vt_sge(const struct vt_buf *b, size_t off, uint32_t len);
int vt_rereg(struct ibv_mr *mr, uint32_t flags, void *addr, size_t len,
	     struct ibv_pd *pd, int access);
int vt_advise_list(struct ibv_pd *pd, uint32_t advice, uint32_t flags,
		   const struct ibv_sge *sge, uint16_t n);
int vt_advise(struct ibv_pd *pd, uint32_t advice, uint32_t flags, const void *at,
	      uint32_t len, uint32_t lkey);

/* ep.c */
struct vt_conf {
	enum ibv_qp_type type;
	enum ibv_mtu mtu;
	uint32_t send_wr, recv_wr, send_sge, recv_sge, inline_data;
	int cqe;
	int sig_all;
	bool extended;		/* QP with the ibv_wr_* interface */
	size_t buf;
	int mr_access;
	int qp_access;
	uint8_t timeout, retry, rnr_retry, min_rnr, rd, dest_rd;
	struct ibv_srq *srq[2];
};

struct vt_ep {
	struct vt_dev *dev;
	const struct vt_conf *conf;
	struct ibv_comp_channel *chan;
	struct ibv_cq *scq, *rcq;
	struct ibv_qp *qp;
	struct ibv_qp_cap cap;
	struct ibv_ah *ah;
	struct vt_buf buf;
	uint32_t psn;
};

struct vt_pair {
	struct vt_conf conf;
	struct vt_ep a, b;
};

typedef why_t (*vt_case)(struct vt_pair *p, const void *arg);

/* A case, for vt_run_all() and vt_main() */
struct vt_test {
	const char *name;
	vt_case fn;
	const void *arg;
};

extern const char *const vt_state_names[];

struct vt_conf vt_conf(enum ibv_qp_type type);
const char *vt_type_name(enum ibv_qp_type type);
why_t vt_ep_open(struct vt_ep *ep, struct vt_dev *dev,
		 const struct vt_conf *conf);
why_t vt_ep_close(struct vt_ep *ep);
struct ibv_qp_attr vt_attr_init(const struct vt_ep *ep, int *mask);
struct ibv_qp_attr vt_attr_rtr(const struct vt_ep *ep, uint32_t qpn,
			       uint32_t psn, const union ibv_gid *gid, int *mask);
struct ibv_qp_attr vt_attr_rts(const struct vt_ep *ep, int *mask);
why_t vt_ep_init(struct vt_ep *ep);
why_t vt_ep_rtr(struct vt_ep *ep, const struct vt_ep *peer);
why_t vt_ep_rts(struct vt_ep *ep);
why_t vt_ep_ah(struct vt_ep *ep, const union ibv_gid *dgid);
why_t vt_ep_state(struct vt_ep *ep, enum ibv_qp_state to);
why_t vt_ep_is(struct vt_ep *ep, enum ibv_qp_state want);
struct ibv_qp_attr vt_attr_to(const struct vt_pair *p, enum ibv_qp_state to,
			      int *mask);
why_t vt_go(struct vt_pair *p, enum ibv_qp_state to);
why_t vt_bring(struct vt_pair *p, enum ibv_qp_state to);
why_t vt_connect(struct vt_pair *p);
why_t vt_pair_open(struct vt_pair *p, const struct vt_conf *conf);
why_t vt_pair_end(struct vt_pair *p, why_t why);
why_t vt_attempt(const struct vt_conf *conf, vt_case fn, const void *arg,
		 bool connect);
void vt_run(const char *name, const struct vt_conf *conf, vt_case fn,
	    const void *arg);
void vt_run_idle(const char *name, const struct vt_conf *conf, vt_case fn,
		 const void *arg);
void vt_runf(const struct vt_conf *conf, vt_case fn, const void *arg,
	     const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void vt_runf_idle(const struct vt_conf *conf, vt_case fn, const void *arg,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void vt_run_all(const struct vt_conf *conf, const struct vt_test *tests,
		size_t num);
int vt_main(int argc, char **argv, size_t buf, const struct vt_test *tests,
	    size_t num);

/* wr.c */
why_t vt_post_send(struct vt_ep *ep, struct ibv_send_wr *wr);
why_t vt_post_recv(struct vt_ep *ep, uint64_t wr_id, struct ibv_sge *sge,
		   int num);
why_t vt_post_recv_at(struct vt_ep *ep, uint64_t wr_id, size_t off,
		      uint32_t len);
why_t vt_post_writes(struct vt_pair *p, int from, int num, uint32_t len);
void vt_aim(const struct vt_ep *ep, const struct vt_ep *peer,
	    struct ibv_send_wr *wr);
why_t vt_poll(struct ibv_cq *cq, struct ibv_wc *wc, int ms);
why_t vt_poll_ok(struct ibv_cq *cq, struct ibv_wc *wc, uint64_t wr_id);
why_t vt_poll_status(struct ibv_cq *cq, uint64_t wr_id,
		     enum ibv_wc_status status, const char *who);
int vt_take_cq_events(struct vt_ep *ep, int ms);
why_t vt_quiet(struct ibv_cq *cq, int ms);
why_t vt_event(struct vt_dev *dev, enum ibv_event_type type, void *element,
	       int ms);
why_t vt_no_event(struct vt_dev *dev, int ms);
void vt_drop_events(void);
why_t vt_ping(struct vt_pair *p);

#endif
