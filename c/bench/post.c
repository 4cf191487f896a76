/* post ARM PRODUCERS EVENTS: what an event from another thread costs until its handler has run.
 *
 *   post            uv_batch_post()
 *   mutex+uv_async  a list under a mutex, and uv_async_send() for each event: the usual way
 *   uv_queue_work   one request of libuv's threadpool for each event: they come from the pool, not from PRODUCERS
 *
 * Each producer has a ring of messages, and uses one again when its handler has run: as fast as they can, with at most
 * PRODUCERS x 4096 on their way. The handler adds the numbers up, so that a lost event shows. Time is from the start of
 * the producers to the last handler. */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "bench.h"
#include "uv_batch.h"

enum { max_producers = 64, ring = 4096 };

/* Of the same size and layout in both arms with producers: two lines of the cache. */
typedef struct message_s message_t;
struct message_s {
  union {
    uv_batch_event_t event;
    message_t* next;
  } as;
  uint32_t number;
  atomic_int taken;
};

typedef struct {
  uv_work_t work;
  uint64_t number;
} work_t;

static uv_loop_t loop;
static uint64_t wanted, done, sum, wakes;
static uint64_t started_at, ended_at;
static uint64_t each;
static uv_thread_t threads[max_producers];
static message_t* messages[max_producers];
static uv_barrier_t go;

static void handle(uint64_t number) {
  sum += number;
  if (++done == wanted) ended_at = uv_hrtime();
}

static void handle_message(message_t* message) {
  uint64_t number = message->number;
  atomic_store_explicit(&message->taken, 0, memory_order_release);
  handle(number);
}

/* The producer's next message, when it is free. */
static message_t* next_message(message_t* mine, uint64_t i) {
  message_t* message = &mine[i % ring];
  while (atomic_load_explicit(&message->taken, memory_order_acquire)) sched_yield();
  atomic_store_explicit(&message->taken, 1, memory_order_relaxed);
  message->number = (uint32_t)i;
  return message;
}

/* ---- ours */

static uv_batch_t batch;
static uv_batch_handler_t handler;

static int on_event(uv_batch_handler_t* from, uv_batch_event_t* event) {
  (void)from;
  (void)event;
  return 0;
}

/* The event is ours again: only now the producer may use it. */
static void on_over(uv_batch_t* from, uv_batch_event_t* event, int status) {
  (void)from;
  MUST(status);
  handle_message((message_t*)event);
  if (done == wanted) MUST(uv_batch_unref(&batch));
}

static void post_all(void* argument) {
  message_t* mine = argument;
  uv_barrier_wait(&go);
  for (uint64_t i = 0; i < each; i++) {
    message_t* message = next_message(mine, i);
    MUST(uv_batch_post(&batch, &message->as.event));
  }
}

static void set_up_post(void) {
  MUST(uv_batch_init(&loop, &batch, NULL));
  MUST(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, on_event));
  MUST(uv_batch_ref(&batch));
}

static void close_post(void) {
  uv_batch_stats_t stats;
  MUST(uv_batch_stats(&batch, &stats));
  wakes = stats.wakes;
  MUST(uv_batch_close(&batch, 0, NULL));
}

/* ---- a list under a mutex */

static uv_mutex_t mutex;
static uv_async_t async;
static message_t* first;
static message_t** last = &first;

static void on_async(uv_async_t* from) {
  wakes++;
  uv_mutex_lock(&mutex);
  message_t* message = first;
  first = NULL;
  last = &first;
  uv_mutex_unlock(&mutex);
  while (message != NULL) {
    message_t* next = message->as.next;
    handle_message(message);
    message = next;
  }
  if (done == wanted) uv_close((uv_handle_t*)from, NULL);
}

static void list_all(void* argument) {
  message_t* mine = argument;
  uv_barrier_wait(&go);
  for (uint64_t i = 0; i < each; i++) {
    message_t* message = next_message(mine, i);
    message->as.next = NULL;
    uv_mutex_lock(&mutex);
    *last = message;
    last = &message->as.next;
    uv_mutex_unlock(&mutex);
    uv_async_send(&async);
  }
}

static void set_up_list(void) {
  MUST(uv_mutex_init(&mutex));
  MUST(uv_async_init(&loop, &async, on_async));
}

/* ---- libuv's threadpool */

static uint64_t queued;

static void in_pool(uv_work_t* work) {
  (void)work;
}

static void after_work(uv_work_t* work, int status);

static void queue_work(work_t* work) {
  work->number = queued++;
  MUST(uv_queue_work(&loop, &work->work, in_pool, after_work));
}

static void after_work(uv_work_t* done_work, int status) {
  work_t* work = (work_t*)done_work;
  MUST(status);
  handle(work->number);
  if (queued < wanted) queue_work(work);
}

int main(int argc, char** argv) {
  if (argc != 4) bench_die("usage: post post|mutex+uv_async|uv_queue_work PRODUCERS EVENTS");
  bool ours = strcmp(argv[1], "post") == 0;
  bool pool = strcmp(argv[1], "uv_queue_work") == 0;
  uint64_t producers = bench_count(argv[2]);
  if (producers > max_producers) bench_die("at most 64 producers");
  each = bench_count(argv[3]) / producers;
  wanted = each * producers;
  MUST(uv_loop_init(&loop));
  work_t* works = pool ? calloc(producers * ring, sizeof(work_t)) : NULL;
  for (uint64_t p = 0; p < producers && !pool; p++) {
    messages[p] = aligned_alloc(64, ring * sizeof(message_t));
    memset(messages[p], 0, ring * sizeof(message_t));
    for (int i = 0; ours && i < ring; i++) {
      uv_batch_event_init(&messages[p][i].as.event, UV_BATCH_NETWORK, NULL);
      messages[p][i].as.event.callback = on_over;
    }
  }
  if (ours) set_up_post();
  else if (!pool) set_up_list();
  if (pool) {
    started_at = uv_hrtime();
    for (uint64_t i = 0; i < producers * ring && i < wanted; i++) queue_work(&works[i]);
  } else {
    MUST(uv_barrier_init(&go, (unsigned int)producers + 1));
    for (uint64_t p = 0; p < producers; p++) {
      MUST(uv_thread_create(&threads[p], ours ? post_all : list_all, messages[p]));
    }
    uv_barrier_wait(&go);
    started_at = uv_hrtime();
  }
  MUST(uv_run(&loop, UV_RUN_DEFAULT));
  for (uint64_t p = 0; !pool && p < producers; p++) uv_thread_join(&threads[p]);
  if (ours) close_post();
  MUST(uv_run(&loop, UV_RUN_DEFAULT));
  MUST(uv_loop_close(&loop));
  uint64_t right = pool ? wanted * (wanted - 1) / 2 : producers * (each * (each - 1) / 2);
  if (done != wanted || sum != right) bench_die("an event was lost or came twice");
  printf("{\"ns_per_event\":%.3f,\"wakes_per_event\":%.9f}\n", (double)(ended_at - started_at) / (double)wanted,
         (double)wakes / (double)wanted);
  return 0;
}
