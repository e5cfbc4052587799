/* app.c */
#include <bson/bson.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char *new_id(void)
{
	static char text[25];
	bson_oid_t id;
	bson_oid_init(&id, NULL);
	bson_oid_to_string(&id, text);
	return text;
}

int main(void)
{
	struct sockaddr_un to = {AF_UNIX, "/run/oid/agent.sock"};
	int agent = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(agent, (struct sockaddr *)&to, sizeof to) != 0)
		perror("agent");
	else
		dprintf(agent, "oid1 %s name=shop addr=10.0.0.7:8080\n", new_id());
	for (;; sleep(1)) {
		puts(new_id());
		fflush(stdout);
	}
}
