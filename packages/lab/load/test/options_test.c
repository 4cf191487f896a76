#include "options.h"

#include "check.h"

static struct options options;
static char why[320];

/* Parses up to eight words. */
static enum options_outcome parse(const char *a, const char *b, const char *c, const char *d,
                                  const char *e, const char *f) {
  const char *words[] = {"millrace-load", a, b, c, d, e, f};
  int count = 1;
  while (count < 7 && words[count] != NULL) count++;
  why[0] = '\0';
  return options_parse(count, (char **)words, &options, why, sizeof why);
}

static void says(const char *word) {
  if (strstr(why, word) == NULL) {
    fprintf(stderr, "\"%s\" does not say \"%s\"\n", why, word);
    check_failures++;
  }
}

static void refuses(const char *a, const char *b, const char *c, const char *d, const char *word) {
  CHECK(parse(a, b, c, d, NULL, NULL) == OPTIONS_BAD);
  says(word);
}

static void the_defaults_are_good(void) {
  CHECK(parse(NULL, NULL, NULL, NULL, NULL, NULL) == OPTIONS_GOOD);
  CHECK(strcmp(options.host, "127.0.0.1") == 0);
  CHECK(strcmp(options.path, "/") == 0);
  CHECK_EQUAL(options.connections, 100);
  CHECK_EQUAL(options.senders, 100);
  CHECK_EQUAL(options.payload, 100);
  CHECK_EQUAL(options.warmup, 2);
}

static void values_follow_or_are_joined(void) {
  CHECK(parse("--connections", "20", "--rooms=4", "--slow-readers=5", "--protocol", "chat") ==
        OPTIONS_GOOD);
  CHECK_EQUAL(options.connections, 20);
  CHECK_EQUAL(options.rooms, 4);
  CHECK_EQUAL(options.senders, 15);
  CHECK(strcmp(options.path, "/ws") == 0);
  CHECK(parse("--protocol=socket.io", NULL, NULL, NULL, NULL, NULL) == OPTIONS_GOOD);
  CHECK(strcmp(options.path, "/socket.io/") == 0);
  CHECK(parse("--mode", "open", "--rate", "12.5", "--no-acks", "--quiet") == OPTIONS_GOOD);
  CHECK_EQUAL(options.rate, 12.5);
  CHECK(options.no_acks);
  CHECK_EQUAL(options.progress, PROGRESS_NONE);
}

static void bad_values_are_named_with_what_is_allowed(void) {
  refuses("--payload", "12", NULL, NULL, "--payload 12: must be a whole number from 40 to 1048576");
  refuses("--connections", "1.5", NULL, NULL, "--connections 1.5: must be a whole number");
  refuses("--seconds", "x", NULL, NULL, "--seconds x: must be a number from 0.1 to 86400 s");
  refuses("--seconds", "nan", NULL, NULL, "--seconds nan");
  refuses("--mode", "fast", NULL, NULL, "--mode fast: must be one of closed|open");
  refuses("--speed", "1", NULL, NULL, "--speed: there is no such option");
  refuses("100", NULL, NULL, NULL, "100: every option begins with --");
  refuses("--rate", NULL, NULL, NULL, "--rate: needs a value");
  refuses("--no-acks=1", NULL, NULL, NULL, "--no-acks: takes no value");
}

static void what_does_not_fit_together_is_refused(void) {
  refuses("--rooms", "101", NULL, NULL, "--rooms 101: must be from 1 to");
  refuses("--senders", "101", NULL, NULL, "--senders 101: must be from 1 to 100");
  refuses("--slow-readers", "100", NULL, NULL, "--slow-readers 100: must be from 0 to 99");
  refuses("--mode", "open", NULL, NULL, "needs either --rate");
  refuses("--mode=open", "--rate=1", "--deliveries-rate=1", NULL, "not both");
  refuses("--mode=open", "--rate=1", "--inflight=2", NULL, "--inflight 2: belongs to");
  refuses("--rate=1", NULL, NULL, NULL, "--rate: belongs to --mode open");
  refuses("--users=blend", NULL, NULL, NULL, "--users: belongs to --mode open");
  refuses("--mode=open", "--rate=1", "--pattern=sustained", "--warmup=1", "--warmup 1: must be 0");
  refuses("--path=ws", NULL, NULL, NULL, "--path ws: must begin with /");
  refuses("--connections=60000", NULL, NULL, NULL, "use more rooms");
}

static void sustained_load_has_no_warm_up(void) {
  CHECK(parse("--mode=open", "--rate=1", "--pattern=sustained", NULL, NULL, NULL) == OPTIONS_GOOD);
  CHECK_EQUAL(options.warmup, 0);
}

static void only_this_machine_is_loaded(void) {
  static const char *const good[] = {"127.0.0.1", "127.8.9.10", "localhost", "::1", "[::1]"};
  static const char *const bad[] = {"10.0.0.1",         "0.0.0.0", "example.org", "128.0.0.1",
                                    "127.0.0.1.example", "::",      "",            "::ffff:127.0.0.1"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    CHECK(parse("--host", good[i], NULL, NULL, NULL, NULL) == OPTIONS_GOOD);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    refuses("--host", bad[i], NULL, NULL, "must be this machine");
  }
}

int main(void) {
  the_defaults_are_good();
  values_follow_or_are_joined();
  bad_values_are_named_with_what_is_allowed();
  what_does_not_fit_together_is_refused();
  sustained_load_has_no_warm_up();
  only_this_machine_is_loaded();
  return check_result();
}
