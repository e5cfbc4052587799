/*
 * A library to preload into a server whose clock is to be wrong: every clock that
 * tells the time of day is off by as many seconds as the environment variable
 * OID_CLOCK_OFFSET says. It allocates nothing and asks the kernel itself, so it
 * cannot wait for itself.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void)
{
	const char *text = getenv("OID_CLOCK_OFFSET");
	return text ? strtol(text, 0, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
	int result = syscall(SYS_clock_gettime, clock, at);
	if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		at->tv_sec += offset();
	return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
	struct timespec precise;
	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &precise) != 0)
		return -1;
	at->tv_sec = precise.tv_sec;
	at->tv_usec = precise.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *at)
{
	struct timespec precise;
	if (clock_gettime(CLOCK_REALTIME, &precise) != 0)
		return -1;
	if (at)
		*at = precise.tv_sec;
	return precise.tv_sec;
}
