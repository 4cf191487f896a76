#include "ring_queue.h"

#include <stdlib.h>
#include <string.h>
#ifdef _MSC_VER
#include <windows.h>
#endif

enum { asleep = 0, awake = 1 };

int ring_queue_init(ring_queue_t* queue, size_t record_size, uint32_t capacity) {
  memset((void*)queue, 0, sizeof(*queue));
  queue->record_size = record_size;
  queue->capacity = capacity;
  while (capacity >> (queue->lap_shift + 1) > 0) queue->lap_shift++;
  queue->records = calloc(capacity, record_size);
  queue->published = calloc(capacity, sizeof(*queue->published));
  if (queue->records != NULL && queue->published != NULL) return 0;
  ring_queue_destroy(queue);
  return -1;
}

void ring_queue_destroy(ring_queue_t* queue) {
  free(queue->records);
  free((void*)queue->published);
}

/* Which lap a number is of, from 1: zeros mean that nothing has been published. A place is published in every lap, so
 * that two neighbours need to differ, and no more. */
static unsigned char lap(const ring_queue_t* queue, uint64_t number) {
  return (unsigned char)((number >> queue->lap_shift) + 1);
}

/* Only the one that turns asleep into awake wakes the reader: one wake for each change from idle to busy. */
static int has_to_wake(ring_queue_t* queue) {
  return atomic_load(&queue->wake) == asleep && atomic_exchange(&queue->wake, awake) == asleep;
}

static void copy(ring_queue_t* queue, uint64_t place, const unsigned char* records, size_t count) {
  size_t until_end = (size_t)(queue->capacity - place);
  size_t size = queue->record_size;
  size_t before = count < until_end ? count : until_end;
  memcpy(queue->records + place * size, records, before * size);
  if (before < count) memcpy(queue->records, records + before * size, (count - before) * size);
}

/* Another thread is posting. Cores that post in turns send each other the ring's memory for each record: the one that
 * came second lets the first have a run, for a microsecond or less. */
static void stand_back(void) {
  for (int i = 0; i < 16; i++) {
#if defined(_MSC_VER)
    YieldProcessor();
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#else
    break;
#endif
  }
}

int ring_queue_post(ring_queue_t* queue, const void* records, size_t count) {
  uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
  uint64_t number;
  for (;;) {
    if (tail & 1) return ring_closed;
    number = tail >> 1;
    /* Acquire: the reader is done with the places that it gave back. A tail that is older than this head gives a
     * number below 0, and then the exchange fails. */
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire);
    if ((int64_t)(number + count - head) > (int64_t)queue->capacity) return ring_full;
    uint64_t next = tail + 2 * (uint64_t)count;
    if (atomic_compare_exchange_weak(&queue->tail, &tail, next)) break;
    stand_back();
    tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
  }
  uint64_t mask = queue->capacity - 1;
  copy(queue, number & mask, records, count);
  /* The first one last: the reader stops before it, so it meets all of them or none. */
  for (size_t i = count; i > 0; i--) {
    uint64_t each = number + i - 1;
    atomic_store_explicit(&queue->published[each & mask], lap(queue, each), memory_order_release);
  }
  return has_to_wake(queue) ? ring_wakes : ring_taken;
}

int ring_queue_close(ring_queue_t* queue) {
  return (atomic_fetch_or(&queue->tail, 1) & 1) == 0 && has_to_wake(queue);
}

static uint64_t head_of(ring_queue_t* queue) {
  return atomic_load_explicit(&queue->head, memory_order_relaxed);
}

uint32_t ring_queue_ready(ring_queue_t* queue, uint32_t limit, uint32_t* first) {
  uint64_t head = head_of(queue);
  uint32_t place = (uint32_t)(head & (queue->capacity - 1));
  uint64_t until_end = queue->capacity - place;
  unsigned char current = lap(queue, head);
  uint32_t count = 0;
  if (limit > until_end) limit = (uint32_t)until_end;
  /* Acquire: what the posts wrote into the records. */
  while (count < limit && atomic_load_explicit(&queue->published[place + count], memory_order_acquire) == current) {
    count++;
  }
  *first = place;
  return count;
}

void ring_queue_free(ring_queue_t* queue, uint32_t count) {
  atomic_store_explicit(&queue->head, head_of(queue) + count, memory_order_release);
}

int ring_queue_sleep(ring_queue_t* queue) {
  uint64_t head = head_of(queue);
  uint32_t first;
  /* An exchange, as thread sanitizers do not know of fences. */
  atomic_exchange(&queue->wake, asleep);
  if (atomic_load(&queue->tail) == 2 * head) return ring_asleep;
  /* Where a post was quicker, it has woken the reader, which will look once more for nothing. */
  atomic_exchange(&queue->wake, awake);
  return ring_queue_finished(queue) || ring_queue_ready(queue, 1, &first) > 0 ? ring_more : ring_claimed;
}

int ring_queue_finished(ring_queue_t* queue) {
  return atomic_load(&queue->tail) == 2 * head_of(queue) + 1;
}
