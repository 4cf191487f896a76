/* A log collector: threads post lines, the loop gathers them and appends each gathering to a file in one job of the
 * threadpool, which opens, writes and syncs the file once. While one job is at work the next gathering grows.
 *
 *   collector FILE LINES THREADS     each thread posts LINES lines; every hundredth is an error, and HIGH
 *
 * At the end it reads the file back: every line must be there, and those of each thread and class in order. (A HIGH
 * line may overtake a NORMAL one of its own thread: order holds within a class.) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv_batch.h>

/* Lines that are posted and not in the file yet: beyond that a producer waits. */
enum { max_lines = 4096, max_text = 64, max_threads = 64, error_every = 100 };

typedef struct line_s {
  uv_batch_event_t event;
  struct line_s* next;
  char text[max_text];
} line_t;

static struct {
  const char* path;
  long lines; /* of each thread */
  long threads;
  uv_batch_t batch;
  uv_batch_handler_t handler;
  int type;
  uv_sem_t room; /* counts the lines that may still be posted */

  line_t* first; /* gathered for the next write */
  line_t** last;
  size_t gathered;
  line_t* writing; /* in the job that is under way */
  uv_batch_fs_t request;
  uv_batch_file_t entries[max_lines];

  long written;
  long writes;
  int error;
  uv_batch_stats_t stats; /* the queue's last */
} collector;

/* This program has promised a number of lines: without memory or threads it gives up. */
static void check(int status) {
  if (status == 0) return;
  fprintf(stderr, "collector: %s\n", uv_batch_strerror(status));
  exit(1);
}

/* ---- producers: threads of their own */

static void produce(void* data) {
  int thread = (int)(size_t)data;
  for (int number = 0; number < collector.lines; number++) {
    int is_error = number % error_every == 0;
    line_t* line = malloc(sizeof(*line));
    check(line == NULL ? UV_ENOMEM : 0);
    uv_batch_event_init(&line->event, collector.type, line);
    line->event.priority = is_error ? UV_BATCH_PRIORITY_HIGH : UV_BATCH_PRIORITY_NORMAL;
    snprintf(line->text, sizeof(line->text), "%s thread=%d line=%d\n", is_error ? "error" : "info", thread, number);
    line->event.size = strlen(line->text);
    uv_sem_wait(&collector.room);
    /* The semaphore is the bound, and the queue's is above it: no post is refused. */
    check(uv_batch_post(&collector.batch, &line->event));
  }
}

/* ---- the loop: one write at a time, so that the file has the order of the batches */

static void on_appended(uv_batch_fs_t* request, uv_batch_file_t* first, size_t count);

static void write_gathered(void) {
  if (collector.gathered == 0 || collector.request.pending > 0) return;
  uv_batch_fs_options_t options;
  uv_batch_fs_options_init(&options);
  options.flags = UV_BATCH_FS_DATASYNC;
  size_t count = 0;
  for (line_t* line = collector.first; line != NULL; line = line->next) {
    collector.entries[count++] = (uv_batch_file_t){
        .path = collector.path,
        .buf = uv_buf_init(line->text, (unsigned int)strlen(line->text)),
    };
  }
  collector.writing = collector.first;
  collector.first = NULL;
  collector.last = &collector.first;
  collector.gathered = 0;
  collector.writes++;
  check(uv_batch_fs_append(collector.batch.loop, &collector.request, collector.entries, count, &options, on_appended));
}

static void keep_stats(uv_batch_t* batch, const uv_batch_stats_t* stats) {
  (void)batch;
  collector.stats = *stats;
}

/* All entries are of one file, and so of one job: this comes once for each write. */
static void on_appended(uv_batch_fs_t* request, uv_batch_file_t* first, size_t count) {
  (void)request;
  for (size_t i = 0; i < count; i++) {
    line_t* line = collector.writing;
    collector.writing = line->next;
    if (first[i].result < 0) collector.error = (int)first[i].result;
    free(line);
    uv_sem_post(&collector.room);
  }
  collector.written += (long)count;
  if (collector.written == collector.lines * collector.threads) uv_batch_close(&collector.batch, 0, keep_stats);
  else write_gathered();
}

/* The lines are the library's until this batch is over: on_appended(), which frees them, comes later. */
static void on_lines(uv_batch_handler_t* handler, uv_batch_event_t* first, size_t count) {
  (void)handler;
  for (uv_batch_event_t* event = first; event != NULL; event = event->next) {
    line_t* line = event->data;
    line->next = NULL;
    *collector.last = line;
    collector.last = &line->next;
  }
  collector.gathered += count;
  write_gathered();
}

/* ---- reading the file back */

/* The number that comes after `number` in a class of a thread. */
static long following(long number, int is_error) {
  if (is_error) return number + error_every;
  return number % error_every == error_every - 1 ? number + 2 : number + 1;
}

/* Reads what this run has appended; returns how many lines are right, or -1. */
static long verify(long start) {
  static long expected[max_threads][2];
  char text[max_text];
  char kind[8];
  long right = 0, thread, number;
  FILE* file = fopen(collector.path, "r");
  if (file == NULL) return -1;
  for (thread = 0; thread < collector.threads; thread++) expected[thread][0] = 1;
  if (fseek(file, start, SEEK_SET) != 0) right = -1;
  while (right >= 0 && fgets(text, sizeof(text), file) != NULL) {
    int is_line = sscanf(text, "%7s thread=%ld line=%ld", kind, &thread, &number) == 3;
    int is_error = is_line && strcmp(kind, "error") == 0;
    if (!is_line || thread < 0 || thread >= collector.threads || number != expected[thread][is_error]) {
      fprintf(stderr, "collector: unexpected: %s", text);
      right = -1;
      break;
    }
    expected[thread][is_error] = following(number, is_error);
    right++;
  }
  fclose(file);
  return right;
}

static long size_of(const char* path) {
  FILE* file = fopen(path, "r");
  long size = 0;
  if (file == NULL) return 0;
  if (fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  fclose(file);
  return size;
}

/* ---- */

static void collect(uv_loop_t* loop) {
  uv_thread_t threads[max_threads];
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.max_queue = 2 * max_lines;
  check(uv_batch_init(loop, &collector.batch, &options));
  collector.type = uv_batch_type(&collector.batch, "line");
  check(collector.type < 0 ? collector.type : 0);
  check(uv_batch_on_group(&collector.batch, &collector.handler, collector.type, on_lines));
  /* The loop is to wait for posts: a queue alone does not keep it alive while nothing is queued. */
  check(uv_batch_ref(&collector.batch));
  check(uv_sem_init(&collector.room, max_lines));
  for (long i = 0; i < collector.threads; i++) check(uv_thread_create(&threads[i], produce, (void*)(size_t)i));
  uv_run(loop, UV_RUN_DEFAULT);
  for (long i = 0; i < collector.threads; i++) uv_thread_join(&threads[i]);
  uv_sem_destroy(&collector.room);
}

int main(int argc, char** argv) {
  collector.path = argc == 4 ? argv[1] : NULL;
  collector.lines = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
  collector.threads = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
  collector.last = &collector.first;
  if (collector.lines < 1 || collector.lines > 10000000 || collector.threads < 1 || collector.threads > max_threads) {
    fprintf(stderr, "usage: %s FILE LINES THREADS (10000000 lines of %d threads at most)\n", argv[0], max_threads);
    return 2;
  }
  uv_loop_t* loop = uv_default_loop();
  long before = size_of(collector.path);
  collect(loop);
  check(uv_loop_close(loop));
  if (collector.error != 0) {
    fprintf(stderr, "collector: %s: %s\n", collector.path, uv_strerror(collector.error));
    return 1;
  }

  const uv_batch_stats_t* stats = &collector.stats;
  printf("%llu lines, %llu batches, %ld writes, %llu wakes\n", (unsigned long long)stats->delivered,
         (unsigned long long)stats->batches, collector.writes, (unsigned long long)stats->wakes);
  long right = verify(before);
  if (right == collector.lines * collector.threads) return 0;
  fprintf(stderr, "collector: %ld lines of %ld are right\n", right, collector.lines * collector.threads);
  return 1;
}
