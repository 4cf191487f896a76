#include "compare.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "extrapolate.h"
#include "must.h"
#include "network.h"

static result_t results[most_arms][most_rounds];

static double bytes_of(const download_t* download) {
  return (double)download->clients * (double)download->downloads * (double)download->size;
}

/* A minute, and more for as many bytes as a very slow machine needs it for. */
static unsigned int longest_s(const download_t* download) {
  return 60 + (unsigned int)(bytes_of(download) / 50e6);
}

/* 0: it took too long. */
static int run_apart(const compare_t* compare, const arm_t* arm, const struct sockaddr_in* server, result_t* result) {
  int fds[2];
  int status;
  if (pipe(fds) != 0) FAIL("no pipe");
  pid_t pid = fork();
  if (pid < 0) FAIL("no process for the clients");
  if (pid == 0) {
    alarm(longest_s(&compare->download));
    network_pin(0);
    *result = download_run(&compare->download, arm, server);
    _exit(write(fds[1], result, sizeof(*result)) == (ssize_t)sizeof(*result) ? 0 : 1);
  }
  close(fds[1]);
  ssize_t got = read(fds[0], result, sizeof(*result));
  close(fds[0]);
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    fprintf(stderr, "streaming: %s took longer than %u s\n", arm->name, longest_s(&compare->download));
    return 0;
  }
  if (got != (ssize_t)sizeof(*result) || status != 0) FAIL("%s: the clients failed", arm->name);
  return 1;
}

/* Reports whether all arms were quick enough. */
static int run_round(const compare_t* compare, const struct sockaddr_in* server, size_t round) {
  for (size_t k = 0; compare->arms[k] != NULL; k++) {
    if (!run_apart(compare, compare->arms[k], server, &results[k][round])) return 0;
  }
  return 1;
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
  printf("%7s %-9s %-15s %6s %6s %9s %7s %8s %8s %8s %8s %8s %7s\n", "clients", "work", "arm", "MB/s", "gain",
         "CPU s/GB", "saving", "kernel", "us/read", "p50 ms", "p99 ms", "KB each", "raised");
}

static void print_row(const compare_t* compare, size_t k, size_t rounds) {
  const result_t* arm = results[k];
  const result_t* base = results[0];
#define MEDIAN(field) median(arm, NULL, rounds, offsetof(result_t, field))
#define RATIO(field) median(arm, base, rounds, offsetof(result_t, field))
  const download_t* download = &compare->download;
  printf("%7zu %-9s %-15s %6.0f %5.2fx %9.3f %6.2fx %8.3f %8.1f %8.1f %8.1f %8.0f %6.0f%%\n", download->clients,
         work_name(download->work), compare->arms[k]->name, MEDIAN(bytes_per_s) / 1e6, RATIO(bytes_per_s),
         MEDIAN(cpu_s_per_gb), 1 / RATIO(cpu_s_per_gb), MEDIAN(kernel_s_per_gb), MEDIAN(kernel_us_per_read),
         MEDIAN(late_p50), MEDIAN(late_p99), bytes_of(download) / MEDIAN(reads) / 1024, MEDIAN(raised) * 100);
  fflush(stdout);
}

/* `20.1 19.2 to 21.0`, each times `scale`. */
static void print_total(total_t total, double scale) {
  char interval[32] = "-";
  if (!isnan(total.low)) snprintf(interval, sizeof(interval), "%.2f to %.2f", total.low * scale, total.high * scale);
  printf(" %8.2f %-16s", total.total * scale, interval);
}

/* The rest takes no less than nothing, whatever the interval says. */
static total_t time_of_all(const compare_t* compare, const double* values, size_t rounds) {
  double taken = 0;
  total_t total = extrapolate(values, rounds, compare->whole);
  for (size_t i = 0; i < rounds; i++) taken += values[i];
  if (total.low < taken) total.low = taken;
  return total;
}

/* Minutes by the clock, of CPU, and of these in the kernel; then how many times sooner than the first arm, by the
 * geometric mean of the rounds. */
static void print_totals(const compare_t* compare, size_t k, size_t rounds) {
  double seconds[most_rounds] = {0}, cpu[most_rounds] = {0}, kernel[most_rounds] = {0}, sooner[most_rounds] = {0};
  double bytes = bytes_of(&compare->download);
  for (size_t i = 0; i < rounds; i++) {
    const result_t* result = &results[k][i];
    seconds[i] = bytes / result->bytes_per_s;
    cpu[i] = result->cpu_s_per_gb * bytes / 1e9;
    kernel[i] = result->kernel_s_per_gb * bytes / 1e9;
    sooner[i] = log(result->bytes_per_s / results[0][i].bytes_per_s);
  }
  printf("        %-15s", compare->arms[k]->name);
  print_total(time_of_all(compare, seconds, rounds), 1.0 / 60);
  print_total(time_of_all(compare, cpu, rounds), 1.0 / 60);
  print_total(time_of_all(compare, kernel, rounds), 1.0 / 60);
  total_t logs = extrapolate(sooner, rounds, compare->whole);
  double each = 1.0 / (double)compare->whole;
  print_total((total_t){exp(logs.total * each), exp(logs.low * each), exp(logs.high * each)}, 1);
  putchar('\n');
}

static void print_whole(const compare_t* compare, size_t rounds) {
  double whole = bytes_of(&compare->download) * (double)compare->whole;
  printf("\n        all of it, %.4g GB in each arm: minutes, by %zu of %zu rounds, with 95 %% intervals\n",
         whole / 1e9, rounds, compare->whole);
  printf("        %-15s %8s %-16s %8s %-16s %8s %-16s %8s\n", "arm", "minutes", "", "CPU", "", "kernel", "", "gain");
  for (size_t k = 0; compare->arms[k] != NULL; k++) print_totals(compare, k, rounds);
}

void compare_once(const compare_t* compare, const struct sockaddr_in* server) {
  result_t result;
  if (!run_apart(compare, compare->arms[0], server, &result)) exit(1);
  printf("{\"bytes_per_s\":%.0f,\"cpu_s\":%.4f,\"kernel_s\":%.4f,", result.bytes_per_s,
         result.cpu_s_per_gb, result.kernel_s_per_gb);
  printf("\"loop_p50_ms\":%.2f,\"loop_p99_ms\":%.2f,\"reads\":%.0f}\n", result.late_p50, result.late_p99, result.reads);
}

void compare_run(const compare_t* compare, const struct sockaddr_in* server) {
  size_t rounds = 0;
  fflush(stdout);
  while (rounds < compare->rounds && rounds < most_rounds && (rounds == 0 || (double)uv_hrtime() < compare->until)) {
    if (!run_round(compare, server, rounds)) break;
    rounds++;
  }
  if (rounds == 0) exit(1);
  for (size_t k = 0; compare->arms[k] != NULL; k++) print_row(compare, k, rounds);
  if (rounds < compare->rounds) printf("        (%zu of %zu rounds: the time was up)\n", rounds, compare->rounds);
  if (compare->whole > 0) print_whole(compare, rounds);
}
