// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory of a file on FUSE whose daemon does not answer. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "never.h"

/* ---- the file system ------------------------------------------------------ */

struct never never;

static void reply(int fd, uint64_t unique, int err, const void *data, size_t len)
{
	char buf[512];
	struct fuse_out_header head = {
		.len = sizeof(head) + len, .error = err, .unique = unique,
	};

	memcpy(buf, &head, sizeof(head));
	memcpy(buf + sizeof(head), data, len);
	if (write(fd, buf, head.len) < 0)
		_exit(1);
}

static struct fuse_attr attr_of(bool dir)
{
	return (struct fuse_attr){
		.ino = dir ? 1 : 2, .mode = dir ? S_IFDIR | 0755 : S_IFREG | 0644,
		.nlink = 1, .size = dir ? 0 : NEVER_SIZE, .blksize = NEVER_PAGE,
	};
}

/* Everything is answered but what asks for a page. */
static void answer(int fd, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {
		.major = 7, .minor = 31, .max_background = 1000,
		.congestion_threshold = 1000, .max_write = NEVER_PAGE, .time_gran = 1,
	};
	struct fuse_entry_out entry = {
		.nodeid = 2, .entry_valid = 1000, .attr_valid = 1000,
		.attr = attr_of(false),
	};
	struct fuse_attr_out attr = {
		.attr_valid = 1000, .attr = attr_of(in->nodeid == 1),
	};
	struct fuse_open_out open = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		return reply(fd, in->unique, 0, &init, sizeof(init));
	case FUSE_LOOKUP:
		return reply(fd, in->unique, 0, &entry, sizeof(entry));
	case FUSE_GETATTR:
		return reply(fd, in->unique, 0, &attr, sizeof(attr));
	case FUSE_OPEN:
		return reply(fd, in->unique, 0, &open, sizeof(open));
	case FUSE_READ:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		return reply(fd, in->unique, -ENOSYS, NULL, 0);
	}
}

static void serve(int fd)
{
	static char buf[1 << 20];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (read(fd, buf, sizeof(buf)) >= 0)
			answer(fd, (void *)buf);
		else if (errno != EINTR && errno != EAGAIN && errno != ENOENT)
			_exit(0);
	}
}

/* Before a device is opened, as the daemon must not have it open. */
void never_up(void)
{
	char dir[] = "/tmp/stuck.XXXXXX", opts[80], path[64];
	int fd;

	if (system("modprobe -q fuse"))
		tap_note("modprobe fuse has failed");
	fd = open("/dev/fuse", O_RDWR);
	snprintf(opts, sizeof(opts), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (fd < 0 || !mkdtemp(dir) || mount("stuck", dir, "fuse", 0, opts))
		tap_bail("FUSE: %s", strerror(errno));
	never.daemon = fork();
	if (!never.daemon)
		serve(fd);
	close(fd);
	snprintf(path, sizeof(path), "%s/file", dir);
	fd = open(path, O_RDONLY);
	/* before Linux 6.2 a region that is only read pins as if it were written, and copies */
	never.mem = mmap(NULL, NEVER_SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd < 0 || never.mem == MAP_FAILED)
		tap_bail("%s: %s", path, strerror(errno));
	close(fd);
	umount2(dir, MNT_DETACH);
	rmdir(dir);
}

/* ---- QPs that want pages ---------------------------------------------------- */

struct vt_conf never_conf(void)
{
	struct vt_conf conf = vt_conf(IBV_QPT_RC);

	conf.buf = NEVER_PAGE;
	conf.send_wr = 1;
	conf.recv_wr = 1;
	conf.cqe = 1;
	return conf;
}

/* Write from memory at @at, which may not be there. */
why_t never_post(struct vt_ep *from, const struct vt_ep *to, const struct ibv_mr *mr,
		 const void *at)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)at, .length = 512, .lkey = mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)to->buf.data,
			     .rkey = to->buf.mr->rkey },
	};

	return vt_post_send(from, &wr);
}

/* All that waits for pages is told that there are none. */
void never_down(void)
{
	kill(never.daemon, SIGKILL);
	waitpid(never.daemon, NULL, 0);
}

/* ---- in time -------------------------------------------------------------- */

struct op {
	int (*fn)(void *arg);
	void *arg;
	int ret;
};

static void *op_run(void *arg)
{
	struct op *op = arg;

	op->ret = op->fn(op->arg);
	return NULL;
}

/* Stay as it is until a script ends this process, or the daemon, which it is told here. */
void never_hold(void)
{
	printf("%d %d\n", never.daemon, getpid());
	fflush(stdout);
	for (;;)
		pause();
}

/* Do what must not wait for a page. */
why_t never_soon(const char *what, int (*fn)(void *arg), void *arg)
{
	struct op op = { .fn = fn, .arg = arg };
	struct timespec end;
	pthread_t thread;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += NEVER_SOON / 1000;
	CHECK(!pthread_create(&thread, NULL, op_run, &op), "pthread_create");
	if (pthread_timedjoin_np(thread, NULL, &end)) {
		never_down();
		pthread_join(thread, NULL);
		return because("%s: not done after %d ms", what, NEVER_SOON);
	}
	CHECK(!op.ret, "%s: %s", what, strerror(op.ret));
	return NULL;
}

/* ---- other processes ------------------------------------------------------ */

/* Fork a process that waits until it is told, then opens the devices and does @fn. */
struct never_helper never_helper_up(int argc, char **argv, vt_case fn)
{
	struct never_helper h;
	int go[2], done[2];
	char text[200];
	struct vt_conf c;
	why_t why;

	if (pipe(go) || pipe(done))
		tap_bail("pipe");
	h = (struct never_helper){ .go = go[1], .done = done[0], .pid = fork() };
	if (h.pid) {
		close(go[0]);
		close(done[1]);
		return h;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(go[1]);
	if (read(go[0], text, 1) != 1)
		_exit(0);
	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	why = vt_attempt(&c, fn, &done[1], true);
	snprintf(text, sizeof(text), "%s", why ? why : "");
	_exit(write(done[1], text, strlen(text) + 1) < 0);
}

/* Have a helper do its part. @ms: how long it may take, its start included */
why_t never_helper_go(const struct never_helper *h, int ms)
{
	struct pollfd done = { .fd = h->done, .events = POLLIN };
	static char text[200];

	CHECK(write(h->go, "", 1) == 1, "write");
	CHECK(poll(&done, 1, ms) == 1 && read(h->done, text, sizeof(text)) > 0,
	      "another process does not get on");
	CHECK(!text[0], "another process: %s", text);
	return NULL;
}
