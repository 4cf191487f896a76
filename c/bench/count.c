/* count ARM PRODUCERS EVENTS: the CPU that an event from another thread takes when its handler only adds a number up.
 *
 *   post            uv_batch_event_init(), uv_batch_post(), a handler for each event
 *   mutex+uv_async  a list under a mutex, taken whole, and uv_async_send() for each event
 *
 * Each event is used once, in memory that was touched before; the list has nodes of its own size, and neither arm a
 * bound. Time is that of all threads, from the start of the producers until they have ended and the last handler has run. */
#include <stdbool.h>
#include <time.h>

#include "bench.h"
#include "uv_batch.h"

enum { max_producers = 64 };

typedef struct {
  uv_batch_event_t event;
  uint64_t number;
} message_t;

typedef struct node_s node_t;
struct node_s {
  node_t* next;
  uint64_t number;
};

static uv_loop_t loop;
static uint64_t wanted, each, done, sum;
static uv_thread_t threads[max_producers];
static void* memory[max_producers];
static uv_barrier_t go;

static double cpu_ns(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

static void handle(uint64_t number) {
  sum += number;
  done++;
}

/* ---- ours */

static uv_batch_t batch;
static uv_batch_handler_t handler;

static int on_event(uv_batch_handler_t* from, uv_batch_event_t* event) {
  (void)from;
  handle(((message_t*)event)->number);
  if (done == wanted) MUST(uv_batch_close(&batch, 0, NULL));
  return 0;
}

static void post_all(void* argument) {
  message_t* mine = argument;
  uv_barrier_wait(&go);
  for (uint64_t i = 0; i < each; i++) {
    mine[i].number = i;
    uv_batch_event_init(&mine[i].event, UV_BATCH_NETWORK, NULL);
    MUST(uv_batch_post(&batch, &mine[i].event));
  }
}

static void set_up_post(void) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.max_queue = (uint32_t)wanted;
  MUST(uv_batch_init(&loop, &batch, &options));
  MUST(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, on_event));
  MUST(uv_batch_ref(&batch));
}

/* ---- a list under a mutex */

static uv_mutex_t mutex;
static uv_async_t async;
static node_t* first;
static node_t** last = &first;

static void on_async(uv_async_t* from) {
  uv_mutex_lock(&mutex);
  node_t* node = first;
  first = NULL;
  last = &first;
  uv_mutex_unlock(&mutex);
  for (; node != NULL; node = node->next) handle(node->number);
  if (done == wanted) uv_close((uv_handle_t*)from, NULL);
}

static void list_all(void* argument) {
  node_t* mine = argument;
  uv_barrier_wait(&go);
  for (uint64_t i = 0; i < each; i++) {
    mine[i] = (node_t){.number = i};
    uv_mutex_lock(&mutex);
    *last = &mine[i];
    last = &mine[i].next;
    uv_mutex_unlock(&mutex);
    uv_async_send(&async);
  }
}

static void set_up_list(void) {
  MUST(uv_mutex_init(&mutex));
  MUST(uv_async_init(&loop, &async, on_async));
}

int main(int argc, char** argv) {
  if (argc != 4) bench_die("usage: count post|mutex+uv_async PRODUCERS EVENTS");
  bool ours = strcmp(argv[1], "post") == 0;
  uint64_t producers = bench_count(argv[2]);
  if (producers > max_producers) bench_die("at most 64 producers");
  each = bench_count(argv[3]) / producers;
  wanted = each * producers;
  if (wanted == 0 || wanted > 10000000) bench_die("from 1 event for each producer to 10,000,000 in all");
  MUST(uv_loop_init(&loop));
  if (ours) set_up_post();
  else set_up_list();
  MUST(uv_barrier_init(&go, (unsigned int)producers + 1));
  for (uint64_t p = 0; p < producers; p++) {
    size_t size = (each * (ours ? sizeof(message_t) : sizeof(node_t)) + 63) / 64 * 64;
    memory[p] = aligned_alloc(64, size);
    if (memory[p] == NULL) bench_die("no memory for the events");
    /* Not zero, which a compiler may turn into memory that nobody has touched. */
    memset(memory[p], 1, size);
    MUST(uv_thread_create(&threads[p], ours ? post_all : list_all, memory[p]));
  }
  double started_at = cpu_ns();
  uv_barrier_wait(&go);
  MUST(uv_run(&loop, UV_RUN_DEFAULT));
  for (uint64_t p = 0; p < producers; p++) uv_thread_join(&threads[p]);
  double used = cpu_ns() - started_at;
  MUST(uv_loop_close(&loop));
  if (done != wanted || sum != producers * (each * (each - 1) / 2)) bench_die("an event was lost or came twice");
  for (uint64_t p = 0; p < producers; p++) free(memory[p]);
  printf("{\"cpu_ns_per_event\":%.3f}\n", used / (double)wanted);
  return 0;
}
