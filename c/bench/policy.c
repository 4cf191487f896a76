/* policy WAY PER_SECOND WARMUP SECONDS FILE: a durable log. A thread posts records at random times; the handler of a
 * batch appends its records to the file with one write and one fdatasync, on the loop's thread.
 *
 *   direct       each record by itself
 *   end of turn  `adaptive` without a delay
 *   fixed MS     `fixed` with this max_delay
 *   adaptive MS  `adaptive` with this max_delay
 *
 * Latency is the time from when a record was due until it is on the disk. `cores` is the share of time in which the
 * loop was not idle in the poll, from the warm-up on. */
#include <math.h>
#include <stdbool.h>

#include "bench.h"
#include "uv_batch.h"

enum { record_size = 100 };

typedef struct {
  uv_batch_event_t event;
  double due; /* ms */
} record_t;

/* The loop, at one moment. */
typedef struct {
  double at; /* ms; 0: not yet */
  double idle;
} moment_t;

static uv_loop_t loop;
static uv_batch_t batch;
static uv_batch_handler_t handler;
static uv_file file;
static double per_second, begin, from, until, end;
static record_t* records;
static size_t room, count;
static uint64_t written;
static char* text;
static moment_t before, after;
static double* latencies;
static size_t measured;

static double now_ms(void) {
  return (double)uv_hrtime() / 1e6;
}

/* ---- the thread that posts */

static double chance(void) {
  static uint32_t state = 1;
  state += 0x6d2b79f5;
  uint32_t mixed = (state ^ (state >> 15)) * (state | 1);
  mixed ^= mixed + (mixed ^ (mixed >> 7)) * (mixed | 61);
  return (mixed ^ (mixed >> 14)) / 4294967296.0;
}

static void on_over(uv_batch_t* on, uv_batch_event_t* event, int status) {
  MUST(status);
  if (((record_t*)event)->due >= end) MUST(uv_batch_close(on, 0, NULL));
}

/* The last record is due after the end. */
static void post_all(void* argument) {
  (void)argument;
  uv_mutex_t mutex;
  uv_cond_t never;
  MUST(uv_mutex_init(&mutex));
  MUST(uv_cond_init(&never));
  uv_mutex_lock(&mutex);
  for (double due = begin; due < end;) {
    due -= log(1 - chance()) * 1000 / per_second;
    if (count == room) bench_die("more records than there is room for");
    record_t* record = &records[count++];
    for (double early = due - now_ms(); early > 0; early = due - now_ms()) {
      uv_cond_timedwait(&never, &mutex, (uint64_t)(early * 1e6) + 1);
    }
    record->due = due;
    uv_batch_event_init(&record->event, UV_BATCH_NETWORK, NULL);
    record->event.callback = on_over;
    MUST(uv_batch_post(&batch, &record->event));
  }
  uv_mutex_unlock(&mutex);
  uv_cond_destroy(&never);
  uv_mutex_destroy(&mutex);
}

/* ---- the loop */

static void watch(void) {
  double now = now_ms();
  moment_t moment = {now, (double)uv_metrics_idle_time(&loop) / 1e6};
  if (before.at == 0 && now >= from) before = moment;
  if (after.at == 0 && now >= until) after = moment;
}

static void append(uv_batch_handler_t* with, uv_batch_event_t* first, size_t events) {
  (void)with;
  uv_fs_t req;
  watch();
  char* at = text;
  for (uv_batch_event_t* event = first; event != NULL; event = event->next, at += record_size) {
    snprintf(at, record_size + 1, "%*zu\n", record_size - 1, (size_t)((record_t*)event - records));
  }
  uv_buf_t buf = uv_buf_init(text, (unsigned int)(events * record_size));
  if (uv_fs_write(NULL, &req, file, &buf, 1, -1, NULL) != (int)buf.len) bench_die("a write was cut");
  uv_fs_req_cleanup(&req);
  MUST(uv_fs_fdatasync(NULL, &req, file, NULL));
  uv_fs_req_cleanup(&req);
  written += events;
  double now = now_ms();
  for (uv_batch_event_t* event = first; event != NULL; event = event->next) {
    double due = ((record_t*)event)->due;
    if (due >= from && due < until) latencies[measured++] = now - due;
  }
}

/* ---- */

static double number_of(const char* argument) {
  char* rest;
  double number = strtod(argument, &rest);
  if (rest == argument || *rest != '\0' || !(number > 0 && number <= 1e6)) {
    bench_die("times and rates must be numbers above 0, at most 1000000");
  }
  return number;
}

static uv_batch_options_t options_of(const char* way) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.max_delay = 0;
  if (strcmp(way, "direct") == 0) {
    options.policy = UV_BATCH_POLICY_DIRECT;
  } else if (strncmp(way, "fixed ", 6) == 0) {
    options.policy = UV_BATCH_POLICY_FIXED;
    options.max_delay = number_of(way + 6);
  } else if (strncmp(way, "adaptive ", 9) == 0) {
    options.max_delay = number_of(way + 9);
  } else if (strcmp(way, "end of turn") != 0) {
    bench_die("a way is direct, end of turn, fixed MS or adaptive MS");
  }
  return options;
}

static int by_size(const void* a, const void* b) {
  double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

int main(int argc, char** argv) {
  if (argc != 6) bench_die("usage: policy WAY PER_SECOND WARMUP SECONDS FILE");
  uv_batch_options_t options = options_of(argv[1]);
  per_second = number_of(argv[2]);
  double warmup = number_of(argv[3]);
  double seconds = number_of(argv[4]);
  room = (size_t)(per_second * (warmup + seconds) * 1.5) + 1000;
  records = calloc(room, sizeof(*records));
  latencies = malloc(room * sizeof(*latencies));
  text = malloc((size_t)options.max_batch * record_size + 1);
  if (records == NULL || latencies == NULL || text == NULL) bench_die("no memory");
  uv_fs_t req;
  file = uv_fs_open(NULL, &req, argv[5], UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_TRUNC | UV_FS_O_APPEND, 0600, NULL);
  MUST(file);
  uv_fs_req_cleanup(&req);

  MUST(uv_loop_init(&loop));
  MUST(uv_loop_configure(&loop, UV_METRICS_IDLE_TIME));
  MUST(uv_batch_init(&loop, &batch, &options));
  MUST(uv_batch_on_group(&batch, &handler, UV_BATCH_NETWORK, append));
  MUST(uv_batch_ref(&batch));
  begin = now_ms();
  from = begin + warmup * 1000;
  until = from + seconds * 1000;
  end = until + 200;
  uv_thread_t thread;
  MUST(uv_thread_create(&thread, post_all, NULL));
  MUST(uv_run(&loop, UV_RUN_DEFAULT));
  uv_thread_join(&thread);
  MUST(uv_loop_close(&loop));

  MUST(uv_fs_fstat(NULL, &req, file, NULL));
  bool complete = written == count && req.statbuf.st_size == (uint64_t)count * record_size;
  uv_fs_req_cleanup(&req);
  MUST(uv_fs_close(NULL, &req, file, NULL));
  uv_fs_req_cleanup(&req);
  if (measured == 0) bench_die("no record was due in the time that is measured");
  qsort(latencies, measured, sizeof(*latencies), by_size);
  double cores = 1 - (after.idle - before.idle) / (after.at - before.at);
  printf("{\"complete\":%s,\"cores\":%.5f,\"busy_us_per_item\":%.3f,", complete ? "true" : "false", cores,
         cores * seconds * 1e6 / (double)measured);
  printf("\"msgs_per_s\":%.3f,\"p50_ms\":%.4f,\"p99_ms\":%.4f}\n", (double)measured / seconds,
         latencies[measured / 2], latencies[measured * 99 / 100]);
  free(text);
  free(latencies);
  free(records);
  return 0;
}
