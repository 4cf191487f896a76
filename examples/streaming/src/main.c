#include <signal.h>
#include <string.h>

#include "compare.h"
#include "must.h"
#include "network.h"

static const char help[] =
    "streaming [OPTION VALUE]...\n"
    "\n"
    "Many clients download at once; how the size of their reads matters.\n"
    "\n"
    "  --scenario short    128 clients, 4 downloads of 5 MB each (this is the default)\n"
    "  --scenario long     100 clients, 4 downloads of 10 MB each\n"
    "  --scenario paper    100 clients, 100 downloads of 100 MB each: 1 TB in the first and in the last arm.\n"
    "                      A round is a download of each client. It runs 10 of the 100, or --rounds, begins\n"
    "                      none after 30 minutes, or --seconds, and extrapolates the rest\n"
    "  --sweep work        the first and the last arm by what the read callback does\n"
    "  --sweep clients     the same by the number of clients\n"
    "  --clients N, --downloads N, --size MB\n"
    "  --work WHAT         empty, sum, chunk or dispatch (the default): see README.md\n"
    "  --arms A,B,...      default, fixed-128k, fixed-256k, fixed-1m, large, large-no-raise\n"
    "  --rounds N          5\n"
    "  --seconds N         60: no round begins after that\n"
    "  --rtt MS            a long way between server and clients; needs root and Linux\n"
    "  --check             a small run of every arm and work: whether every byte arrives\n"
    "  --json              the first arm once, as one JSON object\n";

static compare_t compare;
static const char* sweep = "";
static double rtt, seconds = 60;
static int checking, json;

static double number(const char* option, const char* text, double least, double most) {
  char* end;
  double value = strtod(text, &end);
  if (end == text || *end != 0 || !(value >= least && value <= most)) {
    FAIL("%s takes a number from %g to %g, not %s", option, least, most, text);
  }
  return value;
}

static size_t whole(const char* option, const char* text, double most) {
  double value = number(option, text, 1, most);
  if (value != (double)(size_t)value) FAIL("%s takes a whole number, not %s", option, text);
  return (size_t)value;
}

static void choose_arms(char* names) {
  size_t count = 0;
  for (char* name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
    const arm_t* arm = arm_named(name);
    if (arm == NULL) FAIL("there is no arm %s (see --help)", name);
    if (count == most_arms) FAIL("at most %d arms", most_arms);
    compare.arms[count++] = arm;
  }
  compare.arms[count] = NULL;
  if (count == 0) FAIL("--arms takes names");
}

static work_t work_named(const char* name) {
  for (work_t work = 0; work < WORKS; work++) {
    if (strcmp(work_name(work), name) == 0) return work;
  }
  FAIL("there is no work %s (see --help)", name);
}

static void choose_scenario(const char* name) {
  work_t work = compare.download.work;
  compare.whole = 0;
  if (strcmp(name, "short") == 0) {
    compare.download = (download_t){128, 4, 5 << 20, work};
  } else if (strcmp(name, "long") == 0) {
    compare.download = (download_t){100, 4, 10 << 20, work};
  } else if (strcmp(name, "paper") == 0) {
    compare.download = (download_t){100, 1, 100 * 1000 * 1000, work};
    compare.whole = 100;
    compare.rounds = 10;
    seconds = 1800;
  } else {
    FAIL("there is no scenario %s (see --help)", name);
  }
}

static void choose_sweep(const char* name) {
  if (strcmp(name, "work") != 0 && strcmp(name, "clients") != 0) FAIL("there is no sweep %s (see --help)", name);
  sweep = name;
}

static size_t megabytes(const char* option, const char* text) {
  return (size_t)(number(option, text, 0.001, 1000) * (1 << 20));
}

static void take_option(const char* option, char* value) {
  if (strcmp(option, "--scenario") == 0) choose_scenario(value);
  else if (strcmp(option, "--clients") == 0) compare.download.clients = whole(option, value, 10000);
  else if (strcmp(option, "--downloads") == 0) compare.download.downloads = whole(option, value, 1e6);
  else if (strcmp(option, "--size") == 0) compare.download.size = megabytes(option, value);
  else if (strcmp(option, "--work") == 0) compare.download.work = work_named(value);
  else if (strcmp(option, "--arms") == 0) choose_arms(value);
  else if (strcmp(option, "--rounds") == 0) compare.rounds = whole(option, value, most_rounds);
  else if (strcmp(option, "--seconds") == 0) seconds = number(option, value, 1, 3600);
  else if (strcmp(option, "--rtt") == 0) rtt = number(option, value, 0, 2000);
  else if (strcmp(option, "--sweep") == 0) choose_sweep(value);
  else FAIL("there is no option %s (see --help)", option);
}

static void take_options(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      fputs(help, stdout);
      exit(0);
    }
    if (strcmp(argv[i], "--check") == 0) {
      checking = 1;
    } else if (strcmp(argv[i], "--json") == 0) {
      json = 1;
    } else if (i + 1 < argc) {
      take_option(argv[i], argv[i + 1]);
      i++;
    } else {
      FAIL("%s: what? (see --help)", argv[i]);
    }
  }
}

/* Of a sweep's three or more arms only two would be looked at. */
static void keep_first_and_last_arm(void) {
  size_t count = 0;
  while (compare.arms[count] != NULL) count++;
  if (count < 3) return;
  compare.arms[1] = compare.arms[count - 1];
  compare.arms[2] = NULL;
}

/* Each row of a sweep has its share of the time. */
static void run(const struct sockaddr_in* server, double share) {
  compare.until = (double)uv_hrtime() + seconds * 1e9 * share;
  compare_run(&compare, server);
}

static void check(void) {
  struct sockaddr_in server;
  compare.download = (download_t){2, 2, (1 << 20) + 13, WORK_EMPTY};
  compare.rounds = 1;
  for (size_t i = 0; i <= most_arms; i++) compare.arms[i] = arm_number(i);
  server = network_start(rtt, compare.download.size);
  compare_heading();
  for (; compare.download.work < WORKS; compare.download.work++) run(&server, 1);
  puts("every byte arrived");
}

int main(int argc, char** argv) {
  char usual[] = "default,fixed-128k,fixed-256k,fixed-1m,large-no-raise,large";
  signal(SIGPIPE, SIG_IGN);
  choose_arms(usual);
  compare.rounds = 5;
  compare.download.work = WORK_DISPATCH;
  choose_scenario("short");
  take_options(argc, argv);
  if (compare.whole > 0 && *sweep != 0) FAIL("--scenario paper takes no --sweep: its rounds are parts of one case");
  if (checking) {
    check();
    return 0;
  }
  struct sockaddr_in server = network_start(rtt, compare.download.size);
  if (json) {
    compare_once(&compare, &server);
    return 0;
  }
  compare_heading();
  if (strcmp(sweep, "work") == 0) {
    keep_first_and_last_arm();
    for (work_t work = 0; work < WORKS; work++) {
      compare.download.work = work;
      run(&server, 1.0 / WORKS);
    }
  } else if (strcmp(sweep, "clients") == 0) {
    static const size_t counts[] = {1, 8, 32, 128, 512};
    size_t total = compare.download.clients * compare.download.downloads;
    keep_first_and_last_arm();
    for (size_t i = 0; i < 5; i++) {
      compare.download.clients = counts[i];
      compare.download.downloads = (total + counts[i] - 1) / counts[i];
      run(&server, 0.2);
    }
  } else {
    if (compare.whole > 0) keep_first_and_last_arm();
    run(&server, 1);
  }
  return 0;
}
