/* push_drain ARM QUEUED ROUNDS: what an event costs on the loop's thread, from its push until its handler has run, when
 * QUEUED events are pushed in one turn. Types and classes are mixed: of ten events one is HIGH, one LOW.
 *
 *   push         uv_batch_push() of events that the caller owns
 *   sorted list  the shape that the paper on adaptive event batching in libuv shows: an allocation for each event,
 *                appended to a list, which is sorted by priority when it is flushed (a merge sort, the kindest choice),
 *                then walked */
#include <stdbool.h>

#include "bench.h"
#include "uv_batch.h"

typedef struct node_s node_t;
struct node_s {
  int type, priority, status;
  size_t data_size;
  uint64_t timestamp;
  void (*callback)(void* data);
  node_t* next;
  void* data;
};

static uv_loop_t loop;
static uint64_t sum, allocations;

static int type_of(uint64_t i) {
  if (i % 10 == 0) return UV_BATCH_SIGNAL;
  return i % 10 == 5 ? UV_BATCH_WORK : (i % 2 == 0 ? UV_BATCH_NETWORK : UV_BATCH_STREAM);
}

/* ---- ours */

static void* counted_malloc(size_t size) {
  allocations++;
  return malloc(size);
}

static void* counted_realloc(void* memory, size_t size) {
  allocations++;
  return realloc(memory, size);
}

static void* counted_calloc(size_t count, size_t size) {
  allocations++;
  return calloc(count, size);
}

static int on_event(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  (void)handler;
  sum += (uintptr_t)event->data;
  return 0;
}

static double push_and_drain(uint64_t count, uint64_t rounds) {
  uv_batch_t batch;
  uv_batch_handler_t handlers[4];
  static const int types[4] = {UV_BATCH_SIGNAL, UV_BATCH_NETWORK, UV_BATCH_STREAM, UV_BATCH_WORK};
  uv_batch_options_t options;
  MUST(uv_batch_replace_allocator(counted_malloc, counted_realloc, counted_calloc, free));
  uv_batch_options_init(&options);
  options.max_queue = (uint32_t)count;
  MUST(uv_batch_init(&loop, &batch, &options));
  for (int i = 0; i < 4; i++) MUST(uv_batch_on(&batch, &handlers[i], types[i], on_event));
  uv_batch_event_t* events = calloc(count, sizeof(*events));
  for (uint64_t i = 0; i < count; i++) uv_batch_event_init(&events[i], type_of(i), (void*)(uintptr_t)(i + 1));
  uint64_t start = 0, before = 0;
  for (uint64_t round = 0; round <= rounds; round++) {
    if (round == 1) {
      /* The first round warms up. */
      start = uv_hrtime();
      before = allocations;
      sum = 0;
    }
    uint64_t handled = 0;
    for (uint64_t i = 0; i < count; i++) MUST(uv_batch_push(&batch, &events[i]));
    /* A turn of the loop would cost both arms the same; what is left out here is that, and no more. */
    while (handled < count) {
      MUST(uv_batch_process(&batch));
      handled += 8 * 1024;
    }
  }
  double ns = (double)(uv_hrtime() - start);
  allocations -= before;
  MUST(uv_batch_close(&batch, 0, NULL));
  uv_run(&loop, UV_RUN_DEFAULT);
  free(events);
  return ns;
}

/* ---- the paper's shape */

static void add_up(void* data) {
  sum += (uintptr_t)data;
}

static node_t* sort(node_t* list) {
  if (list == NULL || list->next == NULL) return list;
  node_t* middle = list;
  for (node_t* end = list->next; end != NULL && end->next != NULL; end = end->next->next) middle = middle->next;
  node_t* b = middle->next;
  middle->next = NULL;
  node_t* a = sort(list);
  b = sort(b);
  node_t* first = NULL;
  node_t** at = &first;
  while (a != NULL && b != NULL) {
    node_t** least = b->priority < a->priority ? &b : &a;
    *at = *least;
    at = &(*least)->next;
    *least = (*least)->next;
  }
  *at = a != NULL ? a : b;
  return first;
}

static double list_and_sort(uint64_t count, uint64_t rounds) {
  uv_mutex_t mutex;
  MUST(uv_mutex_init(&mutex));
  uint64_t start = 0;
  for (uint64_t round = 0; round <= rounds; round++) {
    if (round == 1) {
      start = uv_hrtime();
      allocations = 0;
      sum = 0;
    }
    node_t* head = NULL;
    node_t** tail = &head;
    for (uint64_t i = 0; i < count; i++) {
      node_t* node = counted_malloc(sizeof(*node));
      int type = type_of(i);
      *node = (node_t){.type = type, .timestamp = uv_hrtime(), .callback = add_up, .data = (void*)(uintptr_t)(i + 1)};
      node->priority = type <= UV_BATCH_ASYNC ? 0 : type >= UV_BATCH_IDLE ? 2 : 1;
      uv_mutex_lock(&mutex);
      *tail = node;
      tail = &node->next;
      uv_mutex_unlock(&mutex);
    }
    head = sort(head);
    while (head != NULL) {
      node_t* node = head;
      head = node->next;
      node->status = 1;
      node->callback(node->data);
      free(node);
    }
  }
  uv_mutex_destroy(&mutex);
  return (double)(uv_hrtime() - start);
}

int main(int argc, char** argv) {
  if (argc != 4) bench_die("usage: push_drain 'push'|'sorted list' QUEUED ROUNDS");
  bool ours = strcmp(argv[1], "push") == 0;
  uint64_t count = bench_count(argv[2]), rounds = bench_count(argv[3]);
  MUST(uv_loop_init(&loop));
  double ns = ours ? push_and_drain(count, rounds) : list_and_sort(count, rounds);
  MUST(uv_loop_close(&loop));
  if (sum != rounds * (count * (count + 1) / 2)) bench_die("an event was lost or came twice");
  double events = (double)count * (double)rounds;
  printf("{\"ns_per_event\":%.3f,\"allocations_per_event\":%.6f}\n", ns / events, (double)allocations / events);
  return 0;
}
