/* Starts processes for the load tests of the agent. Argument: the path of the socket.
   A line "N 0" on standard input starts N processes. Each creates an ObjectId, sends it
   to the agent, writes "pid id answer" and waits to be killed. With "N MS" each reads no
   answer, writes "pid id end" with the end in milliseconds since 1970, and ends after 5 to
   MS milliseconds, whose logarithm is evenly distributed. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static void member(const char *path, double most) {
	unsigned char r[8];
	char id[32], line[64], answer[300], said[400];
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ssize_t n;
	strncpy(to.sun_path, path, sizeof to.sun_path - 1);
	if (getrandom(r, sizeof r, 0) != sizeof r || connect(s, (struct sockaddr *)&to, sizeof to) != 0) {
		perror("crowd");
		_exit(1);
	}
	snprintf(id, sizeof id, "%08x%02x%02x%02x%02x%02x%02x%02x%02x", (unsigned)time(NULL), r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]);
	n = snprintf(line, sizeof line, "oid1 %s name=crowd\n", id);
	if (write(s, line, n) == n && most > 0) {
		double life = 5 * pow(most / 5, r[0] / 255.0);
		struct timespec now, pause = {.tv_sec = life / 1000, .tv_nsec = fmod(life, 1000) * 1e6};
		clock_gettime(CLOCK_REALTIME, &now);
		n = snprintf(said, sizeof said, "%d %s %.0f\n", (int)getpid(), id, now.tv_sec * 1e3 + now.tv_nsec / 1e6 + life);
		if (write(1, said, n) == n)
			nanosleep(&pause, 0);
		_exit(0);
	}
	if (n <= 0 || (n = read(s, answer, sizeof answer - 1)) <= 0) {
		perror("crowd");
		_exit(1);
	}
	answer[n] = 0;
	n = snprintf(said, sizeof said, "%d %s %s", (int)getpid(), id, answer);
	if (write(1, said, n) != n)
		_exit(1);
	for (;;)
		pause();
}

int main(int argc, char **argv) {
	char line[32];
	signal(SIGCHLD, SIG_IGN);
	while (fgets(line, sizeof line, stdin)) {
		char *most;
		for (int i = strtol(line, &most, 10); i > 0; i--)
			if (fork() == 0)
				member(argv[1], atof(most));
	}
	kill(0, SIGKILL); /* its processes, which are its group */
	return 0;
}
