// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: limit=450 A B --family 4 */
/*
 * What a user may have: a share of the memory and of a device's objects. It leaves enough
 * for others, and comes back with the objects.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "share.h"
#include "user.h"
#include "vt.h"

#define USER	USER_OUTER
#define OTHER	65532
/* Bytes of an entry of a CQ */
#define CQE	64
#define CQS	256

struct alone {
	why_t (*fn)(struct vt_dev *dev);
};

/* What one user may have */
static why_t alone(struct vt_pair *p, const void *arg)
{
	const struct alone *a = arg;

	(void)p;
	return user_run(USER, a->fn);
}

static struct ibv_cq *cqs[CQS], *filled[2][CQS];

/* CQs as long as they can be had. Return: how many */
static int fill_memory(struct vt_dev *dev, int entries, int most)
{
	int n;

	for (n = 0; n < most; n++) {
		cqs[n] = ibv_create_cq(dev->ctx, entries, NULL, NULL, 0);
		if (!cqs[n])
			break;
	}
	return n;
}

static uint64_t total_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

/* Another user's rings while this one has its share */
static why_t has_room(struct vt_dev *dev)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 1000, NULL, NULL, 0);

	CHECK(cq, "another user gets no CQ: %s", strerror(errno));
	CHECK(!ibv_destroy_cq(cq), "ibv_destroy_cq: %s", strerror(errno));
	return NULL;
}

static why_t share_of_memory(struct vt_dev *dev)
{
	int entries = 262143, max = total_memory() / 10 / CQE / entries;
	int i, n = fill_memory(dev, entries, MIN(max, CQS)), again;

	CHECK(n < MIN(max, CQS), "%d CQs are more than a share of the memory", n);
	CHECK(errno == ENOMEM, "CQ %d: %s", n, strerror(errno));
	for (i = 0; i < n; i++)
		CHECK(!ibv_destroy_cq(cqs[i]), "ibv_destroy_cq: %s", strerror(errno));
	again = fill_memory(dev, entries, MIN(max, CQS));
	CHECK(n && again == n, "%d CQs at first, then %d", n, again);
	return NULL;
}

/* Slots of a send queue are memory as well as its ring. */
static why_t share_of_slots(struct vt_dev *dev)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 32767, .max_recv_wr = 1, .max_send_sge = 16,
			 .max_recv_sge = 1 },
	};
	/* at least the ring and the scatter/gather lists of the slots */
	int max = total_memory() / 10 / (32768 * 16 * 16 * 2), n;

	for (n = 0; n < max && ibv_create_qp(dev->pd, &init); n++)
		;
	CHECK(n < max, "%d QPs of 32,767 entries are more than a share of the memory", n);
	CHECK(errno == ENOMEM && n, "QP %d: %s", n, strerror(errno));
	return NULL;
}

/* ---- memory of QPs ----------------------------------------------------------- */

#define QPS		500
/* Of the smallest rings */
#define RING_BYTES	4096

/* Bytes of rings that the user may still have, to 64 KiB */
static uint64_t left(struct vt_dev *dev)
{
	const int entries[] = { (16 << 20) / CQE - 1, (64 << 10) / CQE - 1 };
	uint64_t bytes = 0;
	int i, n[2];

	for (i = 0; i < 2; i++) {
		n[i] = fill_memory(dev, entries[i], CQS);
		bytes += n[i] * (entries[i] + 1ULL) * CQE;
		memcpy(filled[i], cqs, sizeof(cqs));
	}
	for (i = 0; i < 2; i++)
		while (n[i]--)
			ibv_destroy_cq(filled[i][n[i]]);
	/* that a ring is not mapped any more is found out once a second */
	vt_sleep_ms(2000);
	return bytes;
}

/* A QP that is connected to itself, with as many READs at a time as the device has */
static why_t busiest_qp(struct vt_dev *dev, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .cap = { 1, 1, 1, 1, 0 },
	};
	struct vt_conf conf = vt_conf(IBV_QPT_RC);
	struct vt_ep ep = {
		.dev = dev, .conf = &conf, .qp = ibv_create_qp(dev->pd, &init),
	};

	CHECK(ep.qp, "ibv_create_qp: %s", strerror(errno));
	conf.rd = dev->attr.max_qp_init_rd_atom;
	conf.dest_rd = dev->attr.max_qp_rd_atom;
	TRY(vt_ep_init(&ep));
	TRY(vt_ep_rtr(&ep, &ep));
	return vt_ep_rts(&ep);
}

/* What a QP counts as is what the kernel keeps for it. */
static why_t share_of_qps(struct vt_dev *dev)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 1, NULL, NULL, 0);
	uint64_t before, charged;
	long kept;
	int i;

	CHECK(cq, "ibv_create_cq: %s", strerror(errno));
	before = left(dev);
	kept = vt_meminfo_kib("Slab");
	for (i = 0; i < QPS; i++)
		TRY(busiest_qp(dev, cq));
	kept = (vt_meminfo_kib("Slab") - kept) * 1024 / QPS;
	charged = (before - left(dev)) / QPS - 2 * RING_BYTES;
	CHECK(kept > 4096 && (uint64_t)kept < charged * 11 / 10,
	      "%llu bytes are charged, %ld are kept", (unsigned long long)charged, kept);
	return NULL;
}

static why_t share_of_ahs(struct vt_dev *dev)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = dev->gid, .sgid_index = dev->gid_index, .hop_limit = 64 },
	};
	int most = dev->attr.max_ah / 4, n;

	for (n = 0; n <= most && ibv_create_ah(dev->pd, &attr); n++)
		;
	CHECK(n <= most, "%d of %d address handles", n, dev->attr.max_ah);
	CHECK(errno == ENOMEM, "address handle %d: %s", n, strerror(errno));
	return NULL;
}

/* While one user has its share of memory, another gets rings. */
static why_t full_then_other(struct vt_dev *dev)
{
	fill_memory(dev, 262143, MIN((int)(total_memory() / 10 / CQE / 262143), CQS));
	fill_memory(dev, 1000, CQS);
	vt_sleep_ms(3000);
	return NULL;
}

static void *full_user(void *arg)
{
	(void)arg;
	user_run(USER, full_then_other);
	return NULL;
}

static why_t other_user(struct vt_pair *p, const void *arg)
{
	pthread_t thread;
	why_t why;

	(void)p;
	(void)arg;
	CHECK(!pthread_create(&thread, NULL, full_user, NULL), "pthread_create");
	vt_sleep_ms(1500);
	why = user_run(OTHER, has_room);
	pthread_join(thread, NULL);
	return why;
}

/* ---- rings that are mapped longer than they exist -------------------------- */

/* More than the driver looks at when memory is short */
#define MAPPINGS	600

static struct kept {
	void *at;
	size_t size;
} kept[MAPPINGS];

static bool is_kept(const void *at, int n)
{
	while (n--)
		if (kept[n].at == at)
			return true;
	return false;
}

/* Find the mapping of a ring that is not one of @n. */
static bool find_ring(struct kept *ring, int n)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	bool found = false;
	char line[512];

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "uverbs") || sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		*ring = (struct kept){ (void *)from, to - from };
		found = !is_kept(ring->at, n);
	}
	if (f)
		fclose(f);
	return found;
}

/* Create and destroy a CQ, the ring of which is moved to where the provider won't unmap it. */
static bool keep_ring(struct vt_dev *dev, int entries, int n)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, entries, NULL, NULL, 0);
	struct kept ring;
	void *to;

	if (!cq || !find_ring(&ring, n))
		return false;
	to = mmap(NULL, ring.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ring.at = mremap(ring.at, ring.size, ring.size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	kept[n] = ring;
	return !ibv_destroy_cq(cq) && ring.at != MAP_FAILED;
}

static why_t share_of_mappings(struct vt_dev *dev)
{
	int max = total_memory() / 10 / CQE / 262143, n, i;

	max = MIN(max, CQS);
	for (n = 0; n < max && keep_ring(dev, 262143, n); n++)
		;
	CHECK(n && n < max, "%d rings are mapped, more than a share of the memory: %s", n,
	      strerror(errno));
	CHECK(errno == ENOMEM, "ring %d: %s", n, strerror(errno));
	for (i = 0; i < n; i++)
		CHECK(!munmap(kept[i].at, kept[i].size), "munmap: %s", strerror(errno));
	CHECK(fill_memory(dev, 262143, n) == n, "not as many CQs once they are unmapped");
	return NULL;
}

static int mappings_made[2];

static why_t keep_many(struct vt_dev *dev)
{
	int n;

	for (n = 0; n < MAPPINGS && keep_ring(dev, 1, n); n++)
		;
	CHECK(write(mappings_made[1], &n, sizeof(n)) == sizeof(n), "write");
	CHECK(n == MAPPINGS, "ring %d: %s", n, strerror(errno));
	pause();
	return NULL;
}

static void *other_mapper(void *arg)
{
	(void)arg;
	user_run(OTHER, keep_many);
	return NULL;
}

/* A share is soon free again however many rings others keep mapped. */
static why_t others_mappings(struct vt_pair *p, const void *arg)
{
	pthread_t thread;
	why_t why = NULL;
	int n = 0, i;

	(void)p;
	(void)arg;
	CHECK(!pipe(mappings_made), "pipe");
	CHECK(!pthread_create(&thread, NULL, other_mapper, NULL), "pthread_create");
	CHECK(read(mappings_made[0], &n, sizeof(n)) == sizeof(n) && n == MAPPINGS,
	      "the other user has %d mappings", n);
	/* the driver finds everything once a second, too */
	for (i = 0; i < 3 && !why; i++)
		why = user_run(USER, share_of_mappings);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	return why;
}

/* ---- pages on demand -------------------------------------------------------- */

#define SPARSE	4096UL
#define STRIDE	(256UL << 10)

static int have_page(struct vt_dev *dev, uint8_t *at, uint32_t lkey)
{
	return vt_advise(dev->pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH,
			 IB_UVERBS_ADVISE_MR_FLAG_FLUSH, at, 8, lkey);
}

/* A page here and there of memory that is all zero: it takes entries, and no pages. */
static int have_present(struct vt_dev *dev, uint8_t *mem, uint32_t lkey)
{
	unsigned long i;
	int ret = 0;

	for (i = 0; i < SPARSE && !ret; i++)
		ret = have_page(dev, mem + i * STRIDE, lkey);
	return ret;
}

static why_t share_of_entries(struct vt_dev *dev)
{
	uint8_t *mem = mmap(NULL, SPARSE * STRIDE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(dev->pd, mem, SPARSE * STRIDE, IBV_ACCESS_ON_DEMAND);
	int ret, n;

	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	ret = have_present(dev, mem, mr->lkey);
	CHECK(!ret, "ibv_advise_mr: %s", strerror(ret));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	mr = ibv_reg_mr(dev->pd, mem, SPARSE * STRIDE, IBV_ACCESS_ON_DEMAND);
	n = fill_memory(dev, 262143, CQS);
	fill_memory(dev, 1000, CQS);
	ret = have_present(dev, mem, mr->lkey);
	CHECK(ret == ENOMEM, "beyond the share of memory, ibv_advise_mr: %s", strerror(ret));
	CHECK(n && !ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	return NULL;
}

/* Pages that are far apart take more nodes. */
#define APARTS	100
#define FIRST	(4UL << 30)
#define APART	(1UL << 40)

/* Return: how many pages can be present that have so many bytes from one to the next */
static int have_apart(struct vt_dev *dev, unsigned long apart)
{
	struct ibv_mr *mr = ibv_reg_mr(dev->pd, (void *)FIRST, APARTS * apart,
				       IBV_ACCESS_ON_DEMAND);
	uint8_t *at;
	int i, n;

	for (n = 0; mr && n < APARTS; n++) {
		at = mmap((uint8_t *)FIRST + n * apart, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (at == MAP_FAILED)
			return -1;
		if (have_page(dev, at, mr->lkey))
			break;
	}
	if (!mr || ibv_dereg_mr(mr))
		return -1;
	for (i = 0; i <= n && i < APARTS; i++)
		munmap((uint8_t *)FIRST + i * apart, 4096);
	return n;
}

/* Its ring is found to be unmapped once a second. */
static why_t destroy_spare(struct ibv_cq *spare)
{
	CHECK(!ibv_destroy_cq(spare), "ibv_destroy_cq: %s", strerror(errno));
	vt_sleep_ms(2000);
	return NULL;
}

static why_t share_of_nodes(struct vt_dev *dev)
{
	struct ibv_cq *spare = ibv_create_cq(dev->ctx, 500, NULL, NULL, 0);
	int near, far;

	CHECK(spare, "ibv_create_cq: %s", strerror(errno));
	fill_memory(dev, 262143, CQS);
	fill_memory(dev, 1000, CQS);
	fill_memory(dev, 1, CQS);
	TRY(destroy_spare(spare));
	near = have_apart(dev, STRIDE);
	far = have_apart(dev, APART);
	CHECK(far > 0 && near > 3 * far && near < APARTS,
	      "%d pages that are near, %d that are far apart", near, far);
	return NULL;
}

/* Each makes the way of its pages out of memory longer, for whoever needs memory. */
static why_t share_of_regions(struct vt_dev *dev)
{
	void *mem = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = NULL;
	int n;

	for (n = 0; n < 10000; n++) {
		mr = ibv_reg_mr(dev->pd, mem, 4096, IBV_ACCESS_ON_DEMAND);
		if (!mr)
			break;
	}
	CHECK(!mr && errno == ENOMEM && n == 4096, "%d regions on demand of one page: %s", n,
	      mr ? "no limit" : strerror(errno));
	return NULL;
}

/* ---- memory of other drivers -------------------------------------------------- */

#define SHARED_SIZE	(1UL << 20)

/* Its tables have an entry for each page. */
static int make_odd(size_t size)
{
	(void)size;
	return share_odd(ODDBUF_DYNAMIC);
}

static const struct exporter odd = { "oddbuf", make_odd };
static struct share shared;

/* The exporter makes a table for each region, which is as long as the memory is. */
static why_t share_of_tables(struct vt_dev *dev)
{
	struct share_mr mr = { .fd = shared.fd, .length = 4096, .access = IBV_ACCESS_LOCAL_WRITE };
	struct ibv_cq *spare = ibv_create_cq(dev->ctx, 16383, NULL, NULL, 0);
	int most = 16384 * CQE / (shared.size / 4096 * 32), n, err = 0;

	CHECK(spare, "ibv_create_cq: %s", strerror(errno));
	fill_memory(dev, 262143, CQS);
	fill_memory(dev, 8191, CQS);
	TRY(destroy_spare(spare));
	for (n = 0; n < 4 * most && !err; n++) {
		struct share_mr next = mr;

		err = share_reg(&next, dev->pd);
	}
	CHECK(err == ENOMEM, "%d registrations: %s", n, strerror(err));
	CHECK(n >= most / 2, "only %d registrations", n);
	return NULL;
}

static why_t tables(struct vt_pair *p, const void *arg)
{
	why_t why;

	(void)p;
	TRY(share_open(&shared, arg, SHARED_SIZE));
	why = user_run(USER, share_of_tables);
	share_close(&shared);
	return why;
}

/* ---- multicast groups --------------------------------------------------------- */

static struct ibv_qp *ud_qp(struct vt_dev *dev, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	return ibv_create_qp(dev->pd, &init);
}

static union ibv_gid group_gid(int n)
{
	return vt_group(n / 200, n % 200);
}

static why_t attach(struct ibv_qp *qp, int n, int want)
{
	union ibv_gid gid = group_gid(n);
	int err = ibv_attach_mcast(qp, &gid, 0);

	CHECK(err == want, "ibv_attach_mcast to group %d: %s", n, strerror(err));
	return NULL;
}

static why_t share_of_group(struct vt_dev *dev)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 1, NULL, NULL, 0);
	int most = dev->attr.max_mcast_qp_attach / 4, n;
	struct ibv_qp *qp;

	for (n = 0; n <= most; n++) {
		qp = ud_qp(dev, cq);
		CHECK(qp, "ibv_create_qp: %s", strerror(errno));
		TRY(attach(qp, 1, n < most ? 0 : ENOMEM));
	}
	return NULL;
}

/* The RDMA core keeps what it tells apart by the LID, though there are none here. */
static why_t attachments(struct vt_pair *p, const void *arg)
{
	struct ibv_qp *qp = ud_qp(p->a.dev, p->a.scq);
	union ibv_gid gid = vt_group(0, 1);
	int n, err = 0;

	(void)arg;
	CHECK(qp, "ibv_create_qp: %s", strerror(errno));
	for (n = 0; n < 1000 && !err; n++)
		err = ibv_attach_mcast(qp, &gid, n);
	CHECK(err == ENOMEM, "attached %d times: %s", n, strerror(err));
	for (n = n - 2; n >= 0; n--)
		CHECK(!ibv_detach_mcast(qp, &gid, n), "detached: %s", strerror(errno));
	CHECK(!ibv_destroy_qp(qp), "ibv_destroy_qp: %s", strerror(errno));
	return NULL;
}

/* Groups that two users are in, until both leave */
#define SHARED	3

static why_t in_groups(struct vt_dev *dev)
{
	struct ibv_qp *qp = ud_qp(dev, ibv_create_cq(dev->ctx, 1, NULL, NULL, 0));
	int i;

	CHECK(qp, "ibv_create_qp: %s", strerror(errno));
	for (i = 0; i < SHARED; i++)
		TRY(attach(qp, i, 0));
	vt_sleep_ms(8000);
	return NULL;
}

static void *groups_of_other(void *arg)
{
	(void)arg;
	user_run(OTHER, in_groups);
	return NULL;
}

/* A group counts for who is in it, not only for who was first. */
static why_t share_of_groups(struct vt_dev *dev)
{
	struct ibv_qp *qp = ud_qp(dev, ibv_create_cq(dev->ctx, 1, NULL, NULL, 0));
	int most = dev->attr.max_mcast_grp / 4, i;

	CHECK(qp, "ibv_create_qp: %s", strerror(errno));
	for (i = 0; i < most; i++)
		TRY(attach(qp, i, 0));
	return attach(qp, most, ENOMEM);
}

static why_t groups(struct vt_pair *p, const void *arg)
{
	pthread_t thread;
	why_t why;

	(void)p;
	(void)arg;
	CHECK(!pthread_create(&thread, NULL, groups_of_other, NULL), "pthread_create");
	vt_sleep_ms(1500);
	why = user_run(USER, share_of_groups);
	pthread_join(thread, NULL);
	return why;
}

/* ---- one user has all of its share, another goes on ----------------------------- */

/* What the first user's process says, and waits for, with its share full */
static int full[2], go[2];

static why_t while_full(void)
{
	char c;

	CHECK(write(full[1], "", 1) == 1 && read(go[0], &c, 1) == 1, "pipe");
	return NULL;
}

struct beside {
	why_t (*fill)(struct vt_dev *dev);	/* calls while_full() */
	why_t (*other)(struct vt_dev *dev);
	uid_t filler, uid;			/* who calls them */
};

static void *fill_fn(void *arg)
{
	const struct beside *b = arg;
	why_t why = user_run(b->filler, b->fill);

	/* in any case, so that nobody waits for it */
	if (write(full[1], "", 1) != 1)
		why = why ?: "pipe";
	return why ? strdup(why) : NULL;
}

static why_t beside(struct vt_pair *p, const void *arg)
{
	const struct beside *b = arg;
	pthread_t thread;
	why_t why;
	void *ret;
	char c;

	(void)p;
	CHECK(!pipe(full) && !pipe(go), "pipe");
	CHECK(!pthread_create(&thread, NULL, fill_fn, (void *)b), "pthread_create");
	CHECK(read(full[0], &c, 1) == 1, "pipe");
	why = user_run(b->uid, b->other);
	CHECK(write(go[1], "", 1) == 1, "pipe");
	pthread_join(thread, &ret);
	close(full[0]);
	close(full[1]);
	close(go[0]);
	close(go[1]);
	CHECK(!ret, "the user with its share: %s", (const char *)ret);
	CHECK(!why, "beside it: %s", why);
	return NULL;
}

/* Regions and windows have keys of one table. */
static why_t all_windows(struct vt_dev *dev)
{
	int most = dev->attr.max_mw / 4, n;
	struct ibv_mw *mw, *last = NULL;
	static char mem[64];

	for (n = 0; n <= most; n++) {
		mw = ibv_alloc_mw(dev->pd, n % 2 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
		if (!mw)
			break;
		last = mw;
	}
	CHECK(n == most, "%d of %d windows: %s", n, dev->attr.max_mw, strerror(errno));
	CHECK(errno == ENOMEM, "window %d: %s", n, strerror(errno));
	CHECK(!ibv_reg_mr(dev->pd, mem, sizeof(mem), 0) && errno == ENOMEM,
	      "a region beyond it: %s", strerror(errno));
	TRY(while_full());
	CHECK(!ibv_dealloc_mw(last), "ibv_dealloc_mw");
	CHECK(ibv_reg_mr(dev->pd, mem, sizeof(mem), 0), "a region instead of a window: %s",
	      strerror(errno));
	return NULL;
}

static why_t a_window(struct vt_dev *dev)
{
	static char mem[64];
	struct ibv_mw *mw = ibv_alloc_mw(dev->pd, IBV_MW_TYPE_1);
	struct ibv_mr *mr = ibv_reg_mr(dev->pd, mem, sizeof(mem), 0);

	CHECK(mw && mr, "a window or region: %s", strerror(errno));
	CHECK(!ibv_dealloc_mw(mw) && !ibv_dereg_mr(mr), "dealloc");
	return NULL;
}

/* net.ipv4.igmp_max_memberships, 20, is for sockets. */
static why_t all_groups(struct vt_dev *dev)
{
	struct ibv_qp *qp = ud_qp(dev, ibv_create_cq(dev->ctx, 1, NULL, NULL, 0));
	int most = dev->attr.max_mcast_grp / 4, i;
	union ibv_gid gid = vt_group(0, 0);

	CHECK(qp, "ibv_create_qp: %s", strerror(errno));
	for (i = 0; i < most; i++)
		TRY(attach(qp, i, 0));
	TRY(attach(qp, most, ENOMEM));
	TRY(while_full());
	CHECK(!ibv_detach_mcast(qp, &gid, 0), "ibv_detach_mcast");
	return attach(qp, most, 0);
}

/* A group that is new, and one that the first user is in */
static why_t a_group(struct vt_dev *dev)
{
	struct ibv_qp *qp = ud_qp(dev, ibv_create_cq(dev->ctx, 1, NULL, NULL, 0));

	CHECK(qp, "ibv_create_qp: %s", strerror(errno));
	TRY(attach(qp, dev->attr.max_mcast_grp / 4 + 1, 0));
	return attach(qp, 1, 0);
}

static why_t no_group(struct vt_dev *dev)
{
	struct ibv_qp *qp = ud_qp(dev, ibv_create_cq(dev->ctx, 1, NULL, NULL, 0));

	CHECK(qp, "ibv_create_qp: %s", strerror(errno));
	return attach(qp, dev->attr.max_mcast_grp / 4 + 1, ENOMEM);
}

/* Attach @qp to groups from @first on. Return: how many there were until it was refused */
static int attach_all(struct ibv_qp *qp, int first, int most)
{
	union ibv_gid gid;
	int n;

	for (n = 0; n < most; n++) {
		gid = group_gid(first + n);
		errno = ibv_attach_mcast(qp, &gid, 0);
		if (errno)
			break;
	}
	return n;
}

/* Each user takes a part of what is left, as long as there are more. */
static why_t group_share(struct vt_dev *dev)
{
	struct ibv_qp *qp = ud_qp(dev, ibv_create_cq(dev->ctx, 1, NULL, NULL, 0));
	int most = dev->attr.max_mcast_grp, n;

	CHECK(qp, "ibv_create_qp: %s", strerror(errno));
	n = attach_all(qp, (getuid() - OTHER) * most, most + 1);
	CHECK(errno == ENOMEM && n > 100, "group %d: %s", n, strerror(errno));
	return while_full();
}

static void *group_share_fn(void *arg)
{
	why_t why = user_run(*(uid_t *)arg, group_share);

	if (write(full[1], "", 1) != 1)
		why = why ?: "pipe";
	return why ? strdup(why) : NULL;
}

static why_t fill_device(pthread_t *threads, uid_t *uids, size_t n)
{
	size_t i;
	char c;

	for (i = 0; i < n; i++) {
		CHECK(!pthread_create(&threads[i], NULL, group_share_fn, &uids[i]),
		      "pthread_create");
		CHECK(read(full[0], &c, 1) == 1, "pipe");
	}
	return NULL;
}

/* A privileged process has more than users have left to each other. */
static why_t reserve(struct vt_pair *p)
{
	struct ibv_qp *qp = ud_qp(p->a.dev, p->a.scq);
	int most = p->a.dev->attr.max_mcast_grp, n;

	CHECK(qp, "ibv_create_qp: %s", strerror(errno));
	n = attach_all(qp, 0, most);
	CHECK(n > most / 8, "root has %d groups", n);
	while (n--) {
		union ibv_gid gid = group_gid(n);

		CHECK(!ibv_detach_mcast(qp, &gid, 0), "ibv_detach_mcast");
	}
	CHECK(!ibv_destroy_qp(qp), "ibv_destroy_qp: %s", strerror(errno));
	return NULL;
}

static why_t device_groups(struct vt_pair *p, const void *arg)
{
	uid_t uids[] = { OTHER, OTHER + 1, OTHER + 2, OTHER + 3, OTHER + 4, OTHER + 5 };
	pthread_t threads[ARRAY_SIZE(uids)];
	why_t why;
	void *ret;
	size_t i;

	(void)arg;
	CHECK(!pipe(full) && !pipe(go), "pipe");
	TRY(fill_device(threads, uids, ARRAY_SIZE(uids)));
	why = reserve(p);
	CHECK(write(go[1], "      ", ARRAY_SIZE(uids)) == ARRAY_SIZE(uids), "pipe");
	for (i = 0; i < ARRAY_SIZE(uids); i++) {
		pthread_join(threads[i], &ret);
		CHECK(!ret, "user %d: %s", uids[i], (const char *)ret);
	}
	return why;
}

/* A CQ of the largest size is no danger to a small host; ofi_rxm needs half of it and one. */
static why_t largest(struct vt_pair *p, const void *arg)
{
	const struct ibv_device_attr *a = &p->a.dev->attr;

	(void)arg;
	/* an object of each kind takes some hundred bytes, a QP some thousand */
	CHECK(a->max_qp <= 1 << 16 && a->max_cq <= 1 << 17 && a->max_ah <= 1 << 17 &&
	      a->max_pd <= 1 << 16 && a->max_srq <= 1 << 16 && a->max_mr <= 1 << 19,
	      "limits that no host can reach: max_qp %d max_cq %d max_ah %d max_mr %d",
	      a->max_qp, a->max_cq, a->max_ah, a->max_mr);
	CHECK((uint64_t)a->max_cqe * CQE <= 32 << 20, "a CQ of max_cqe %d has %llu MiB",
	      a->max_cqe, (unsigned long long)a->max_cqe * CQE >> 20);
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_conf c;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	vt_run_idle("limits: the largest CQ", &c, largest, NULL);
	vt_run_idle("limits: memory of rings", &c, alone, &(struct alone){ share_of_memory });
	vt_run_idle("limits: memory of slots", &c, alone, &(struct alone){ share_of_slots });
	if (vt_slowness() > 1)
		tap_skip("sanitizers take memory, too", "limits: memory of QPs");
	else
		vt_run_idle("limits: memory of QPs", &c, alone, &(struct alone){ share_of_qps });
	vt_run_idle("limits: another user has its own share", &c, other_user, NULL);
	/* 32,768 of them take a sanitizer three minutes */
	if (vt_slowness() > 1)
		tap_skip("too slow with sanitizers", "limits: address handles");
	else
		vt_run_idle("limits: address handles", &c, alone, &(struct alone){ share_of_ahs });
	vt_run_idle("limits: rings that stay mapped", &c, alone,
		    &(struct alone){ share_of_mappings });
	vt_run_idle("limits: rings that stay mapped beside another user's", &c, others_mappings,
		    NULL);
	vt_run_idle("limits: entries of pages on demand", &c, alone,
		    &(struct alone){ share_of_entries });
	vt_run_idle("limits: pages on demand that are far apart", &c, alone,
		    &(struct alone){ share_of_nodes });
	vt_run_idle("limits: regions on demand", &c, alone, &(struct alone){ share_of_regions });
	if (access("/dev/oddbuf", F_OK))
		tap_skip("no /dev/oddbuf", "limits: registrations of one dma-buf");
	else
		vt_run_idle("limits: registrations of one dma-buf", &c, tables, &odd);
	vt_run_idle("limits: places in a multicast group", &c, alone,
		    &(struct alone){ share_of_group });
	vt_run_idle("limits: attachments of a QP to one group", &c, attachments, NULL);
	vt_run_idle("limits: multicast groups that others are in, too", &c, groups, NULL);
	/* 131,072 of them take a sanitizer, which keeps a trace of each allocation, half an hour */
	if (vt_slowness() > 1)
		tap_skip("too slow with sanitizers", "limits: windows, and another user's");
	else
		vt_run_idle("limits: windows, and another user's", &c, beside,
			    &(struct beside){ all_windows, a_window, USER, OTHER });
	vt_run_idle("limits: multicast groups, and another user's", &c, beside,
		    &(struct beside){ all_groups, a_group, USER, OTHER });
	vt_run_idle("limits: a user namespace has the share of who made it", &c, beside,
		    &(struct beside){ all_groups, no_group, USER_INNER, USER });
	vt_run_idle("limits: multicast groups of six users, and of root", &c, device_groups, NULL);
	return tap_finish();
}
