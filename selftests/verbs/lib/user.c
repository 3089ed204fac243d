// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Processes of users without privileges */

#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "user.h"

/* Map user 1 of the user namespace of @pid to USER_INNER. Return: an exit status */
static int map_inner(pid_t pid, int made)
{
	char path[64], map[32], c;
	int fd, n;

	if (read(made, &c, 1) != 1)
		return 1;
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	n = snprintf(map, sizeof(map), "1 %u 1", USER_INNER);
	fd = open(path, O_WRONLY);
	return fd < 0 || write(fd, map, n) != n;
}

/* Become USER_INNER in a user namespace that USER_OUTER has made. Only root can map it. */
static bool enter_userns(void)
{
	pid_t self = getpid(), pid;
	int made[2], status = 1;

	if (pipe(made))
		return false;
	pid = fork();
	if (!pid) {
		close(made[1]);
		_exit(map_inner(self, made[0]));
	}
	return !setgid(USER_OUTER) && !setuid(USER_OUTER) && !unshare(CLONE_NEWUSER) &&
	       write(made[1], "", 1) == 1 && waitpid(pid, &status, 0) == pid && !status &&
	       !setuid(1);
}

static bool become(uid_t uid)
{
	return uid == USER_INNER ? enter_userns() : !setgid(uid) && !setuid(uid);
}

why_t user_run(uid_t uid, why_t (*fn)(struct vt_dev *dev))
{
	static __thread char text[200];
	int fds[2];
	ssize_t n;
	pid_t pid;

	CHECK(!pipe(fds), "pipe");
	pid = fork();
	if (!pid) {
		struct vt_dev dev = {};
		why_t why;

		vt_enter_netns(&vt_devs[0]);
		/* a change of the user forgets the signal */
		if (!become(uid) || prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(1);
		vt_dev_open(&dev, vt_devs[0].name);
		why = fn(&dev);
		snprintf(text, sizeof(text), "%s", why ? why : "");
		_exit(write(fds[1], text, strlen(text) + 1) < 0);
	}
	close(fds[1]);
	n = read(fds[0], text, sizeof(text));
	close(fds[0]);
	waitpid(pid, NULL, 0);
	CHECK(n > 0, "a process of user %d has died", uid);
	return text[0] ? text : NULL;
}
