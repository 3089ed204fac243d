/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A script, the device under test, the peer, and a run of the one on both. */
#ifndef WIRE_H
#define WIRE_H

#include <infiniband/verbs.h>
#include <stdio.h>
#include "frame.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define WT_WORDS	48
#define WT_NAME		48
#define WT_VARS		128
#define WT_QPS		4
#define WT_MRS		8
#define WT_NETS		4
#define WT_QUEUE	512
#define WT_SEEN		4096
#define WT_COUNTERS	128
#define WT_BUF		524288u		/* bytes of the device's memory */
#define WT_LONG		5000000ull	/* us to wait for what has to come */
#define WT_SOON		300000ull	/* us for what has come all but surely */
#define WT_SETTLE	3000ull		/* us of quiet that end a script */
#define WT_POLL		5000ull		/* us between two looks at what takes its time */
#define WT_MAYBE	20000ull	/* us for what may come, or not */
#define WT_SECTIONS	6
#define WT_NOTE		200

#define WT_SEED_DUT	1		/* the buffer as it is in the beginning */
#define WT_SEED_PEER	2		/* payload of the peer's packets */

/* ---- scripts -------------------------------------------------------------- */

/* A statement: words, of which those with '=' are arguments */
struct wt_stmt {
	int line;
	int n;
	char *word[WT_WORDS];
	bool used[WT_WORDS];
	char text[512];		/* cut into words */
	char shown[512];	/* as written */
};

/* One variant of a script, for one family */
struct wt_script {
	char name[128];
	char title[256];
	struct wt_stmt *stmts;
	int n;
};

struct wt_file {
	char name[64];
	char title[160];
	char fails[160];	/* how it has to fail; empty: not at all */
	int family;		/* 0: both */
	char needs[64];		/* of the device; empty: nothing */
	bool has_level;
	enum wt_level level;
	int nsections;		/* of the specification */
	char section[WT_SECTIONS][24];
	unsigned int checks;	/* bits: rules that this script is about */
	char **lines;
	int nlines;
	char **params;		/* "NAME=VALUE NAME=VALUE" of each variant */
	int nparams;
};

why_t wt_file_read(const char *path, struct wt_file *f);
void wt_file_free(struct wt_file *f);
why_t wt_script_make(const struct wt_file *f, int family, int variant,
		     struct wt_script *s);
void wt_script_free(struct wt_script *s);

/* ---- names and numbers ---------------------------------------------------- */

struct wt_vars {
	int n;
	char name[WT_VARS][WT_NAME];
	uint64_t value[WT_VARS];
};

why_t wt_set(struct wt_vars *v, const char *name, uint64_t value);
why_t wt_eval(const struct wt_vars *v, const char *text, uint64_t *to);

bool wt_flag(struct wt_stmt *s, const char *name);
const char *wt_text(struct wt_stmt *s, const char *name);
why_t wt_num(const struct wt_vars *v, struct wt_stmt *s, const char *name,
	     uint64_t *to, bool *found);
why_t wt_all_used(const struct wt_stmt *s);

/* ---- both ends ------------------------------------------------------------ */

struct wt_net {
	int family;
	int vlan;		/* -1: untagged */
	int gid_index;
	struct wt_addr dut, peer;
};

struct wt_dut {
	char name[64], netns[64], netdev[16];
	struct ibv_context *ctx;
	struct ibv_pd *pd, *pd2;
	struct wt_net nets[WT_NETS];
	int nnets;
	int nl;			/* netlink, for the counters */
	bool flush, atomic_write;	/* it can do that: so its kernel says */
	bool atomic, srq, mw;
	bool any;		/* not ours: by the specification, without counters */
	uint64_t patience;	/* us to wait for what has to come */
	uint32_t index;
	bool has_index;
	int ncounters;
	char counter[WT_COUNTERS][WT_NAME];
};

struct wt_peer {
	char netns[64], netdev[16];
	int fd;
	int ifindex;
};

why_t wt_netns(const char *name);
why_t wt_mac_of(const char *netdev, uint8_t mac[6]);
void wt_one_cpu(void);
uint64_t wt_now(void);
void wt_sleep(uint64_t us);

why_t wt_dut_open(struct wt_dut *d);
void wt_dut_close(struct wt_dut *d);
why_t wt_peer_open(struct wt_peer *p);
why_t wt_peer_send(void *peer, const uint8_t *frame, size_t len);
bool wt_peer_recv(struct wt_peer *p, struct wt_frame *f, uint64_t us);
why_t wt_counters_list(struct wt_dut *d);
why_t wt_counters_read(struct wt_dut *d, uint64_t *values);

/* ---- a run ---------------------------------------------------------------- */

/* A request that the device has sent: what comes again has to be the same */
struct wt_seen {
	uint32_t psn;
	uint8_t op;
	uint32_t hash;
	uint64_t va;		/* READ */
	uint32_t rkey, dlen;
};

struct wt_qp {
	char name[16];
	struct ibv_qp *qp;
	struct ibv_cq *scq, *rcq;
	struct ibv_comp_channel *schan, *rchan;
	struct ibv_srq *srq;
	struct ibv_ah *ah;		/* of the peer, or of a group */
	bool in_group;			/* sends to that, and may have joined it */
	bool attached;
	struct wt_addr group;
	struct ibv_qp_attr attr;	/* as asked for */
	enum ibv_qp_type type;
	uint32_t mtu;
	uint32_t peer_qpn;
	const struct wt_net *net;
	struct wt_seen *seen;
	int nseen;
	struct ibv_send_wr *chain[16];
	int nchain;
};

struct wt_mr {
	char name[16];
	struct ibv_mr *mr;
};

struct wt_run {
	struct ibv_mw *mws[WT_MRS];
	int nmws;
	struct wt_dut *dut;
	struct wt_peer *peer;
	int family;
	struct wt_vars vars;
	struct wt_qp qps[WT_QPS], *qp;
	int nqps;
	struct wt_mr mrs[WT_MRS];
	int nmrs;
	uint8_t *buf, *shadow;
	struct wt_craft last;		/* what the peer sent last */
	uint64_t mark;
	bool late;			/* failed as something came after its time */
	struct wt_frame *frame;		/* the one being looked at */
	bool frame_again;
	bool frame_held;		/* it is yet to be looked at again */
	unsigned int soft;		/* bits: rules that are only noted */
	char note[WT_RULES][WT_NOTE];	/* which were broken, and how */
	uint64_t before[WT_COUNTERS];
	const char *want[WT_COUNTERS];	/* expression, NULL: none may be */
	uint64_t frames, acks, again;	/* of the device's, seen */
	FILE *trace;
	uint64_t start;
};

why_t wt_run(struct wt_run *r, const struct wt_script *s);

/* act.c */
why_t wt_do_qp(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_use(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_attach(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_modify(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_mr(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_mw(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_dereg(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_recv(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_post(struct wt_run *r, struct wt_stmt *s);
why_t wt_open_memory(struct wt_run *r);
why_t wt_close_all(struct wt_run *r);

/* send.c */
why_t wt_do_send(struct wt_run *r, struct wt_stmt *s);

/* trace.c */
void wt_trace(struct wt_run *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void wt_trace_pkt(struct wt_run *r, char dir, uint64_t when,
		  const struct wt_pkt *p, const char *note);

/* record.c */
why_t wt_note(struct wt_run *r, enum wt_rule rule, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool wt_soft(const struct wt_run *r, enum wt_rule rule);
why_t wt_record_open(const char *path);
void wt_record(const struct wt_run *r, const struct wt_script *s,
	       const char *result, const char *why);
void wt_record_skip(const char *name, const char *why);
why_t wt_list(int n, char **paths);

/* expect.c: packets */
why_t wt_do_expect(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_maybe(struct wt_run *r, struct wt_stmt *s);
why_t wt_in_range(const struct wt_vars *v, const char *text, uint64_t is,
		  bool *ok);
why_t wt_do_quiet(struct wt_run *r, struct wt_stmt *s);
why_t wt_no_frames(struct wt_run *r, uint64_t us);
why_t wt_syndrome(const struct wt_vars *v, const char *text, uint8_t *value,
		  uint8_t *mask);
why_t wt_in_time(struct wt_run *r, struct wt_stmt *s, uint64_t when);

/* check.c: all other expectations */
why_t wt_do_wc(struct wt_run *r, struct wt_stmt *s);
why_t wt_bound(struct wt_run *r);
why_t wt_do_nowc(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_arm(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_comp(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_nocomp(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_event(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_state(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_mem(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_grh(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_fill(struct wt_run *r, struct wt_stmt *s);
why_t wt_do_count(struct wt_run *r, struct wt_stmt *s);
why_t wt_no_leftovers(struct wt_run *r);
why_t wt_check_counters(struct wt_run *r);

/* the byte number @at of a pattern */
static inline uint8_t wt_pattern(uint32_t seed, uint32_t at)
{
	uint32_t x = (at + 1) * 2654435761u ^ seed * 0x9e3779b1u;

	x ^= x >> 15;
	x *= 0x85ebca6bu;
	return x >> 24;
}

#endif
