/* Lets examples/verify judge the ids of libbson: gcc libbson.c $(pkg-config --cflags --libs libbson-1.0) */
#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_ids(long n)
{
	bson_oid_t id;
	char text[25];
	for (; n > 0; n--) {
		bson_oid_init(&id, NULL);
		bson_oid_to_string(&id, text);
		puts(text);
	}
	fflush(stdout);
}

static void answer(const char *line, size_t length)
{
	bson_oid_t id;
	char text[25];
	if (!bson_oid_is_valid(line, length)) {
		puts("refused");
		return;
	}
	bson_oid_init_from_string(&id, line);
	bson_oid_to_string(&id, text);
	printf("%s %lld\n", text, (long long)bson_oid_get_time_t(&id));
}

int main(void)
{
	long n = atol(getenv("OID_VERIFY_IDS"));
	const char *test = getenv("OID_VERIFY");
	if (!strcmp(test, "decode")) {
		char *line = NULL;
		size_t size = 0;
		for (ssize_t length; (length = getline(&line, &size, stdin)) > 0;) {
			line[length - 1] = 0;
			answer(line, length - 1);
		}
		return 0;
	}
	print_ids(n);
	if (!strcmp(test, "resume")) {
		getchar();
		print_ids(n);
	}
	if (!strcmp(test, "fork")) {
		for (int i = 0; i < 2; i++) {
			if (fork() == 0) {
				puts("child");
				print_ids(n);
				_exit(0);
			}
			wait(NULL);
		}
		puts("parent");
		print_ids(n);
	}
	return 0;
}
