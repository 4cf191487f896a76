/* idle_wake ARM TIMES: how long one event of another thread takes to its handler when the loop is asleep.
 *
 *   post            uv_batch_post()
 *   mutex+uv_async  a list under a mutex, and uv_async_send()
 *
 * The loop does nothing else. The other thread waits for the answer, and a moment more so that the loop is asleep
 * again. */
#include <stdatomic.h>
#include <stdbool.h>

#include "bench.h"
#include "uv_batch.h"

static uv_loop_t loop;
static bool ours;
static uint64_t times;
static double* took;
static atomic_uint_fast64_t sent_at;
static atomic_uint_fast64_t answered;

static uv_batch_t batch;
static uv_batch_handler_t handler;
static uv_batch_event_t event;
static uv_mutex_t mutex;
static uv_async_t async;
static int waiting;

static void arrived(void) {
  uint64_t done = atomic_load(&answered);
  took[done] = (double)(uv_hrtime() - atomic_load(&sent_at));
  atomic_store(&answered, done + 1);
}

static int on_event(uv_batch_handler_t* from, uv_batch_event_t* got) {
  (void)from, (void)got;
  return 0;
}

/* From here on the other thread may post the event again. */
static void on_over(uv_batch_t* from, uv_batch_event_t* got, int status) {
  (void)got;
  MUST(status);
  arrived();
  if (atomic_load(&answered) == times) MUST(uv_batch_close(from, 0, NULL));
}

static void on_async(uv_async_t* from) {
  uv_mutex_lock(&mutex);
  int count = waiting;
  waiting = 0;
  uv_mutex_unlock(&mutex);
  if (count == 0) return;
  arrived();
  if (atomic_load(&answered) == times) uv_close((uv_handle_t*)from, NULL);
}

static void send_all(void* argument) {
  (void)argument;
  for (uint64_t i = 0; i < times; i++) {
    uv_sleep(1);
    atomic_store(&sent_at, uv_hrtime());
    if (ours) {
      MUST(uv_batch_post(&batch, &event));
    } else {
      uv_mutex_lock(&mutex);
      waiting++;
      uv_mutex_unlock(&mutex);
      uv_async_send(&async);
    }
    while (atomic_load(&answered) == i) uv_sleep(0);
  }
}

static int by_size(const void* a, const void* b) {
  double difference = *(const double*)a - *(const double*)b;
  return difference < 0 ? -1 : difference > 0;
}

int main(int argc, char** argv) {
  uv_thread_t thread;
  if (argc != 3) bench_die("usage: idle_wake post|mutex+uv_async TIMES");
  ours = strcmp(argv[1], "post") == 0;
  times = bench_count(argv[2]);
  took = calloc(times, sizeof(*took));
  MUST(uv_loop_init(&loop));
  if (ours) {
    MUST(uv_batch_init(&loop, &batch, NULL));
    MUST(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, on_event));
    MUST(uv_batch_ref(&batch));
    uv_batch_event_init(&event, UV_BATCH_NETWORK, NULL);
    event.callback = on_over;
  } else {
    MUST(uv_mutex_init(&mutex));
    MUST(uv_async_init(&loop, &async, on_async));
  }
  MUST(uv_thread_create(&thread, send_all, NULL));
  MUST(uv_run(&loop, UV_RUN_DEFAULT));
  uv_thread_join(&thread);
  MUST(uv_loop_close(&loop));
  qsort(took, times, sizeof(*took), by_size);
  printf("{\"ns_per_event\":%.0f}\n", took[times / 2]);
  return 0;
}
