#include "compare.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"
#include "network.h"

enum { most_rounds = 100, longest_arm_s = 60 };

static result_t results[most_arms][most_rounds];

static result_t run_apart(const compare_t* compare, const arm_t* arm, const struct sockaddr_in* server) {
  result_t result;
  int fds[2];
  int status;
  if (pipe(fds) != 0) FAIL("no pipe");
  pid_t pid = fork();
  if (pid < 0) FAIL("no process for the clients");
  if (pid == 0) {
    alarm(longest_arm_s);
    network_pin(0);
    result = download_run(&compare->download, arm, server);
    _exit(write(fds[1], &result, sizeof(result)) == (ssize_t)sizeof(result) ? 0 : 1);
  }
  close(fds[1]);
  ssize_t got = read(fds[0], &result, sizeof(result));
  close(fds[0]);
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) FAIL("%s took longer than %d s", arm->name, longest_arm_s);
  if (got != (ssize_t)sizeof(result) || status != 0) FAIL("%s: the clients failed", arm->name);
  return result;
}

static int ascending(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The median over rounds of one field, or, with `base`, of its ratio to the first arm's in the same round. */
static double median(const result_t* arm, const result_t* base, size_t rounds, size_t offset) {
  double values[most_rounds];
  for (size_t i = 0; i < rounds; i++) {
    double value, other;
    memcpy(&value, (const char*)&arm[i] + offset, sizeof(value));
    values[i] = value;
    if (base == NULL) continue;
    memcpy(&other, (const char*)&base[i] + offset, sizeof(other));
    values[i] = value / other;
  }
  qsort(values, rounds, sizeof(*values), ascending);
  return rounds % 2 == 1 ? values[rounds / 2] : (values[rounds / 2 - 1] + values[rounds / 2]) / 2;
}

void compare_heading(void) {
  printf("%7s %-9s %-15s %7s %7s %9s %8s %8s %9s %7s %7s %6s\n", "clients", "work", "arm", "MB/s", "gain", "CPU s/GB",
         "saving", "p50 ms", "p99 ms", "reads", "KB each", "raised");
}

static void print_row(const compare_t* compare, size_t k, size_t rounds) {
  const result_t* arm = results[k];
  const result_t* base = results[0];
#define MEDIAN(field) median(arm, NULL, rounds, offsetof(result_t, field))
#define RATIO(field) median(arm, base, rounds, offsetof(result_t, field))
  const download_t* download = &compare->download;
  double bytes = (double)(download->clients * download->downloads * download->size);
  printf("%7zu %-9s %-15s %7.0f %6.2fx %9.3f %7.2fx %8.1f %9.1f %7.0f %7.0f %5.0f%%\n", download->clients,
         work_name(download->work), compare->arms[k]->name, MEDIAN(bytes_per_s) / 1e6, RATIO(bytes_per_s),
         MEDIAN(cpu_s_per_gb), 1 / RATIO(cpu_s_per_gb), MEDIAN(late_p50), MEDIAN(late_p99), MEDIAN(reads),
         bytes / MEDIAN(reads) / 1024, MEDIAN(raised) * 100);
  fflush(stdout);
}

void compare_once(const compare_t* compare, const struct sockaddr_in* server) {
  result_t result = run_apart(compare, compare->arms[0], server);
  printf("{\"bytes_per_s\":%.0f,\"cpu_s\":%.4f,\"loop_p99_ms\":%.2f,\"reads\":%.0f}\n", result.bytes_per_s,
         result.cpu_s_per_gb, result.late_p99, result.reads);
}

void compare_run(const compare_t* compare, const struct sockaddr_in* server) {
  size_t rounds = 0;
  fflush(stdout);
  while (rounds < compare->rounds && rounds < most_rounds && (rounds == 0 || (double)uv_hrtime() < compare->until)) {
    for (size_t k = 0; compare->arms[k] != NULL; k++) {
      results[k][rounds] = run_apart(compare, compare->arms[k], server);
    }
    rounds++;
  }
  for (size_t k = 0; compare->arms[k] != NULL; k++) print_row(compare, k, rounds);
  if (rounds < compare->rounds) printf("        (%zu of %zu rounds: the time was up)\n", rounds, compare->rounds);
}
