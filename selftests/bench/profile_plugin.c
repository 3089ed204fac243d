// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A plugin of QEMU's that counts what a guest executes, by translation blocks.
 *
 * file=...,job=GLOB,out=DIR
 *
 * While there is a file that matches GLOB, executions are counted; when it goes,
 * they are written to DIR/NAME.blocks, where NAME follows the last dot of the file's
 * name: a line "address instructions executions..." for each block, executions by vCPU.
 */

#include <glob.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of qemu-plugin.h, which is not packaged everywhere, what is used here */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t id,
						      struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*cb)(unsigned int vcpu, void *arg),
					  int flags, void *arg);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);

#define EXPORT	__attribute__((visibility("default")))
#define BUCKETS	(1 << 18)
#define LOOK_US	10000
/* Executions of vCPUs beyond this are the last one's */
#define VCPUS	4

/**
 * struct block - a translation block
 * @addr: of its first instruction
 * @insns: how many it has
 * @runs: how often each vCPU has executed it while executions were counted
 * @next: in its bucket
 */
struct block {
	uint64_t	addr;
	uint64_t	insns;
	uint64_t	runs[VCPUS];
	struct block	*next;
};

static struct block *blocks[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool on;
static const char *job, *out;

static void executed(unsigned int vcpu, void *arg)
{
	struct block *b = arg;

	if (vcpu >= VCPUS)
		vcpu = VCPUS - 1;
	if (__atomic_load_n(&on, __ATOMIC_RELAXED))
		__atomic_fetch_add(&b->runs[vcpu], 1, __ATOMIC_RELAXED);
}

static struct block *block_of(uint64_t addr, uint64_t insns)
{
	size_t i = (addr ^ addr >> 18 ^ insns * 0x9e3779b1U) % BUCKETS;
	struct block *b;

	for (b = blocks[i]; b; b = b->next)
		if (b->addr == addr && b->insns == insns)
			return b;
	b = calloc(1, sizeof(*b));
	if (!b)
		abort();
	b->addr = addr;
	b->insns = insns;
	b->next = blocks[i];
	blocks[i] = b;
	return b;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct block *b;

	(void)id;
	pthread_mutex_lock(&lock);
	b = block_of(qemu_plugin_tb_vaddr(tb), qemu_plugin_tb_n_insns(tb));
	pthread_mutex_unlock(&lock);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, 0, b);
}

static bool was_executed(const struct block *b)
{
	int i;

	for (i = 0; i < VCPUS; i++)
		if (b->runs[i])
			return true;
	return false;
}

static void dump_block(FILE *f, const struct block *b)
{
	int i;

	fprintf(f, "%llx %llu", (unsigned long long)b->addr, (unsigned long long)b->insns);
	for (i = 0; i < VCPUS; i++)
		fprintf(f, " %llu", (unsigned long long)b->runs[i]);
	fputc('\n', f);
}

static void dump(FILE *f)
{
	struct block *b;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < BUCKETS; i++) {
		for (b = blocks[i]; b; b = b->next) {
			if (f && was_executed(b))
				dump_block(f, b);
			memset(b->runs, 0, sizeof(b->runs));
		}
	}
	pthread_mutex_unlock(&lock);
}

/* A reader finds all of it, or nothing. */
static void write_out(const char *name)
{
	char path[512], part[520];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.blocks", out, name);
	snprintf(part, sizeof(part), "%s.part", path);
	f = fopen(part, "w");
	if (!f)
		return perror(part);
	dump(f);
	if (!fclose(f))
		rename(part, path);
}

static void *look(void *arg)
{
	char name[128] = "";
	glob_t g;

	(void)arg;
	for (;; usleep(LOOK_US)) {
		bool there = !glob(job, 0, NULL, &g);

		if (there && !on)
			snprintf(name, sizeof(name), "%s",
				 strrchr(g.gl_pathv[0], '.') + 1);
		if (there)
			globfree(&g);
		if (there == on)
			continue;
		if (there)
			dump(NULL);
		__atomic_store_n(&on, there, __ATOMIC_RELAXED);
		if (!there)
			write_out(name);
	}
	return NULL;
}

EXPORT int qemu_plugin_version = 2;

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
			       char **argv)
{
	pthread_t looker;
	int i;

	(void)info;
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "job=", 4))
			job = strdup(argv[i] + 4);
		else if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
	}
	if (!job || !out || pthread_create(&looker, NULL, look, NULL))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
