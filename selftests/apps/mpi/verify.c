// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * MPI, with each byte that arrives compared: messages between pairs, all
 * ranks at once, collectives, and one-sided access; sizes from 0 to 4 MiB.
 *
 * usage: verify [largest message, in bytes]
 *
 * Each subject that held prints a line with its name; the first byte that is
 * not what it has to be ends the job.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const int sizes[] = {
	0, 1, 7, 8, 64, 1023, 4096, 4097, 8192, 32768, 65537, 262144, 1 << 20, 4 << 20,
};

#define NR_SIZES ((int)(sizeof(sizes) / sizeof(*sizes)))

static int rank, ranks, largest = 4 << 20;

/* A message is known by who sends it to whom, and by its number. */
static uint8_t byte_of(int from, int to, int number, int at)
{
	uint32_t x = at + 1;

	x = x * 2654435761u ^ (from * 0x9e3779b1u + to * 0x85ebca77u + number * 0xc2b2ae3du);
	return x >> 13;
}

static void fill(uint8_t *buf, int len, int from, int to, int number)
{
	int i;

	for (i = 0; i < len; i++)
		buf[i] = byte_of(from, to, number, i);
}

static void wrong(const char *what, int from, int number, long at)
{
	printf("wrong: %s, rank %d, from %d, number %d, at %ld\n", what, rank, from,
	       number, at);
	fflush(stdout);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void compare(const char *what, const uint8_t *buf, int len, int from, int to,
		    int number)
{
	int i;

	for (i = 0; i < len; i++)
		if (buf[i] != byte_of(from, to, number, i))
			wrong(what, from, number, i);
}

static uint8_t *buffer(size_t len)
{
	uint8_t *buf = malloc(len ? len : 1);

	if (!buf) {
		perror("malloc");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return buf;
}

static void receive(uint8_t *buf, int len, int from, int number)
{
	MPI_Status status;
	int got;

	MPI_Recv(buf, largest, MPI_BYTE, from, number, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &got);
	if (got != len)
		wrong("length", from, number, got);
	compare("message", buf, len, from, rank, number);
}

/* Ranks talk in pairs, the far half with the near one, one message at a time. */
static void pingpong(uint8_t *out, uint8_t *in, int len, int number)
{
	int half = ranks / 2, peer = rank < half ? rank + half : rank - half, i;

	for (i = 0; i < 4; i++) {
		fill(out, len, rank, peer, number + i);
		if (rank < half)
			MPI_Send(out, len, MPI_BYTE, peer, number + i, MPI_COMM_WORLD);
		receive(in, len, peer, number + i);
		if (rank >= half)
			MPI_Send(out, len, MPI_BYTE, peer, number + i, MPI_COMM_WORLD);
	}
}

/* Several messages at once from each rank to the next, whoever that is. */
static void ring(uint8_t *out, uint8_t *in, int len, int number)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, i;
	MPI_Request requests[8];
	MPI_Status statuses[8];

	fill(out, len, rank, next, number);
	for (i = 0; i < 4; i++)
		MPI_Irecv(in + (size_t)i * largest, len, MPI_BYTE, last, number,
			  MPI_COMM_WORLD, &requests[i]);
	for (i = 4; i < 8; i++)
		MPI_Isend(out, len, MPI_BYTE, next, number, MPI_COMM_WORLD, &requests[i]);
	MPI_Waitall(8, requests, statuses);
	for (i = 0; i < 4; i++)
		compare("ring", in + (size_t)i * largest, len, last, rank, number);
}

static void alltoall(uint8_t *out, uint8_t *in, int len, int number)
{
	int i, part = len / ranks;

	for (i = 0; i < ranks; i++)
		fill(out + (size_t)i * part, part, rank, i, number);
	MPI_Alltoall(out, part, MPI_BYTE, in, part, MPI_BYTE, MPI_COMM_WORLD);
	for (i = 0; i < ranks; i++)
		compare("alltoall", in + (size_t)i * part, part, i, rank, number);
}

static void allreduce(uint8_t *out, uint8_t *in, int len, int number)
{
	int64_t *mine = (int64_t *)out, *sum = (int64_t *)in;
	int i, n = len / 8;

	for (i = 0; i < n; i++)
		mine[i] = (int64_t)(rank + 1) * (i + number);
	MPI_Allreduce(mine, sum, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		if (sum[i] != (int64_t)ranks * (ranks + 1) / 2 * (i + number))
			wrong("allreduce", -1, number, i);
}

static void bcast(uint8_t *out, uint8_t *in, int len, int number)
{
	int root = number % ranks;

	if (rank == root)
		fill(in, len, root, root, number);
	MPI_Bcast(in, len, MPI_BYTE, root, MPI_COMM_WORLD);
	compare("bcast", in, len, root, root, number);
	(void)out;
}

/*
 * Each rank puts into the window of the next, and gets it back. Windows are multiples
 * of 64 bytes, as MPICH 4.0.2 mixes up those of one node if they are not, with or
 * without a network.
 */
static void onesided(uint8_t *out, uint8_t *in, int len, int number)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
	uint8_t *mem;
	MPI_Win win;

	MPI_Win_allocate((len + 63) & ~63, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	fill(out, len, rank, next, number);
	MPI_Win_fence(0, win);
	MPI_Put(out, len, MPI_BYTE, next, 0, len, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	compare("put", mem, len, last, rank, number);
	MPI_Get(in, len, MPI_BYTE, next, 0, len, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	compare("get", in, len, rank, next, number);
	MPI_Win_free(&win);
}

/* All ranks count in one word of rank 0, each time by one. */
static void counting(uint8_t *out, uint8_t *in, int len, int number)
{
	int64_t *word, one = 1, old, last = -1;
	const int times = 50;
	MPI_Win win;
	int i;

	MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &word, &win);
	*word = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (i = 0; i < times; i++) {
		MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, 0, MPI_SUM, win);
		MPI_Win_flush(0, win);
		if (old <= last || old >= (int64_t)times * ranks)
			wrong("fetch and add", 0, i, old);
		last = old;
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0 && *word != (int64_t)times * ranks)
		wrong("sum of fetch and add", 0, 0, *word);
	MPI_Win_free(&win);
	(void)out, (void)in, (void)len, (void)number;
}

static const struct {
	const char *name;
	void (*run)(uint8_t *out, uint8_t *in, int len, int number);
	int once;
} subjects[] = {
	{ "pingpong", pingpong, 0 },
	{ "ring", ring, 0 },
	{ "alltoall", alltoall, 0 },
	{ "allreduce", allreduce, 0 },
	{ "bcast", bcast, 0 },
	{ "onesided", onesided, 0 },
	{ "counting", counting, 1 },
};

int main(int argc, char **argv)
{
	unsigned int s;
	uint8_t *out, *in;
	int i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc > 1)
		largest = atoi(argv[1]);
	out = buffer(largest);
	in = buffer((size_t)largest * 4);
	for (s = 0; s < sizeof(subjects) / sizeof(*subjects); s++) {
		double start = MPI_Wtime();

		for (i = 0; i < (subjects[s].once ? 1 : NR_SIZES); i++)
			if (sizes[i] <= largest)
				subjects[s].run(out, in, sizes[i], 10 * i);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0)
			printf("holds: %s, %d ranks, %.1f s\n", subjects[s].name, ranks,
			       MPI_Wtime() - start);
		fflush(stdout);
	}
	free(in);
	free(out);
	MPI_Finalize();
	return 0;
}
