/* app.c */
#define _GNU_SOURCE
#include <bson/bson.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const char *agent_fields, *agent_path = "/run/oid/agent.sock";

/* Returns a connection to which a line was written, or -1 with errno. It does not wait. */
static int agent_connect(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	char line[1001], text[25];
	bson_oid_t id;
	bson_oid_init(&id, NULL);
	bson_oid_to_string(&id, text);
	int n = snprintf(line, sizeof line, "oid1 %s %s\n", text, agent_fields);
	snprintf(to.sun_path, sizeof to.sun_path, "%s", agent_path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0 &&
	    send(fd, line, n, MSG_NOSIGNAL) == n && fcntl(fd, F_SETFL, 0) == 0)
		return fd;
	int failed = errno;
	if (fd >= 0)
		close(fd);
	errno = failed;
	return -1;
}

static void *agent_run(void *connected)
{
	int fd = (int)(intptr_t)connected;
	long pause = 1;
	char said[4096] = "";
	for (;; fd = -1) {
		char answer[4096] = "", rest[4096];
		if (fd < 0 && (fd = agent_connect()) < 0)
			snprintf(answer, sizeof answer, "%s", strerror(errno));
		else if (recv(fd, answer, sizeof answer - 1, 0) <= 0)
			strcpy(answer, "no answer");
		int ok = strncmp(answer, "ok", 2) == 0;
		while (ok && recv(fd, rest, sizeof rest, 0) > 0)
			; /* until the agent ends */
		if (fd >= 0)
			close(fd);
		answer[strcspn(answer, "\n")] = 0;
		if (!ok && strcmp(answer, said) != 0)
			fprintf(stderr, "%s: %s\n", agent_path, answer);
		strcpy(said, answer);
		pause = ok ? 1 : strncmp(answer, "error", 5) == 0 ? 3600 : pause < 30 ? 2 * pause : 60;
		struct timespec now, sleep;
		clock_gettime(CLOCK_REALTIME, &now);
		long ms = pause * (500 + now.tv_nsec / 1000 % 1000);
		sleep = (struct timespec){ms / 1000, ms % 1000 * 1000000};
		nanosleep(&sleep, NULL);
	}
	return NULL;
}

/* Tells the agent of this host about this process. Never waits. A fork calls it again. */
static void tell_agent(const char *fields)
{
	sigset_t all, before;
	pthread_t thread;
	agent_fields = fields;
	int fd = agent_connect();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the signals are for the service's threads */
	int failed = pthread_create(&thread, NULL, agent_run, (void *)(intptr_t)fd);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		fprintf(stderr, "%s: %s\n", agent_path, strerror(failed));
	else
		pthread_detach(thread);
}

int main(void)
{
	tell_agent("name=shop addr=10.0.0.7:8080");
	for (;; sleep(1)) {
		char text[25];
		bson_oid_t id;
		bson_oid_init(&id, NULL);
		bson_oid_to_string(&id, text);
		puts(text);
		fflush(stdout);
	}
}
