// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A stream socket between two processes that test each other's RDMA. Its
 * address is a path (a Unix socket, which reaches across network namespaces
 * and suffers nothing that is done to packets) or HOST:PORT.
 */

#define _GNU_SOURCE
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "side.h"

struct where {
	struct sockaddr_storage addr;
	socklen_t len;
	int family;
};

static int unix_path(struct where *w, const char *path)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&w->addr;

	if (strlen(path) >= sizeof(un->sun_path))
		return -1;
	un->sun_family = AF_UNIX;
	strcpy(un->sun_path, path);
	w->family = AF_UNIX;
	w->len = sizeof(*un);
	return 0;
}

static int host_port(struct where *w, const char *addr)
{
	const char *colon = strrchr(addr, ':');
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *ai;
	char host[128];

	if (!colon)
		return -1;
	snprintf(host, sizeof(host), "%.*s", (int)(colon - addr), addr);
	if (getaddrinfo(host, colon + 1, &hints, &ai))
		return -1;
	memcpy(&w->addr, ai->ai_addr, ai->ai_addrlen);
	w->len = ai->ai_addrlen;
	w->family = ai->ai_family;
	freeaddrinfo(ai);
	return 0;
}

static int parse(struct where *w, const char *addr)
{
	memset(w, 0, sizeof(*w));
	return *addr == '/' ? unix_path(w, addr) : host_port(w, addr);
}

static void no_delay(int fd)
{
	int one = 1;

	/* not for Unix sockets, which don't need it */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

int side_listen(const char *addr)
{
	struct where w;
	int fd, one = 1;

	if (parse(&w, addr))
		return -1;
	if (w.family == AF_UNIX)
		unlink(addr);
	fd = socket(w.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!bind(fd, (struct sockaddr *)&w.addr, w.len) && !listen(fd, 1))
		return fd;
	close(fd);
	return -1;
}

int side_accept(int listener)
{
	int fd = -1;

	if (side_ready(listener, SIDE_WAIT))
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		no_delay(fd);
	return fd;
}

/* Connect as soon as the other end listens. */
int side_connect(const char *addr)
{
	uint64_t end = vt_now_us() + SIDE_WAIT * 1000ULL;
	struct where w;
	int fd;

	if (parse(&w, addr))
		return -1;
	do {
		fd = socket(w.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return -1;
		if (!connect(fd, (struct sockaddr *)&w.addr, w.len)) {
			no_delay(fd);
			return fd;
		}
		close(fd);
		vt_sleep_ms(20);
	} while (vt_now_us() < end);
	return -1;
}

/* Whether there is something to read, or the other end is gone. */
bool side_ready(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, ms) > 0;
}

why_t side_put(int fd, const void *data, size_t len)
{
	ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

	/* messages are far smaller than any socket buffer */
	CHECK(n == (ssize_t)len, "side channel: %s", strerror(errno));
	return NULL;
}

why_t side_get(int fd, void *data, size_t len, int ms)
{
	uint64_t end = vt_now_us() + ms * 1000ULL, now;
	uint8_t *at = data;
	ssize_t n;

	while (len) {
		now = vt_now_us();
		CHECK(now < end && side_ready(fd, (end - now) / 1000 + 1),
		      "nothing from the other end for %d ms", ms);
		n = recv(fd, at, len, 0);
		CHECK(n > 0, "the other end is gone");
		at += n;
		len -= n;
	}
	return NULL;
}

/* Tell the other end what it tells us. */
why_t side_swap(int fd, const void *mine, void *theirs, size_t len)
{
	TRY(side_put(fd, mine, len));
	return side_get(fd, theirs, len, SIDE_WAIT);
}
