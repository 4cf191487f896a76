#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "load.h"

enum { EXIT_GOOD, EXIT_FAULT, EXIT_USAGE, EXIT_CONNECT, EXIT_OUTPUT };

/* The code, or EXIT_OUTPUT when stdout could not be written: a report that nobody has is no report. */
static int written(int code) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  fprintf(stderr, "millrace-load: stdout cannot be written: %s\n", strerror(errno));
  return EXIT_OUTPUT;
}

int main(int argc, char **argv) {
  struct options options;
  char why[320];
  switch (options_parse(argc, argv, &options, why, sizeof why)) {
    case OPTIONS_HELP: options_help(stdout); return written(EXIT_GOOD);
    case OPTIONS_BAD: fprintf(stderr, "millrace-load: %s\n", why); return EXIT_USAGE;
    case OPTIONS_GOOD: break;
  }

  /* The first signal ends the run with a report; a second one, the process. */
  struct sigaction action = {.sa_handler = run_stop};
  action.sa_flags = (int)SA_RESETHAND;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);

  static struct run run;
  run_start(&run, &options);
  run_all(&run);
  if (run.failed) {
    fprintf(stderr, "millrace-load: %s\n", run.why);
    run_free(&run);
    return EXIT_CONNECT;
  }
  report_json(&run);
  const int code = report_faults(&run) ? EXIT_FAULT : EXIT_GOOD;
  run_free(&run);
  return written(code);
}
