/* The ring without Node: threads post, the main thread reads. Nothing is lost, doubled or torn, and each thread's
 * records come in its order; a reader that sleeps is always woken. */
#include "ring_queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "test.h"

enum { max_threads = 8 };

typedef struct {
  uint32_t thread;
  uint32_t check;
  uint64_t number;
} record_t;

static ring_queue_t queue;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool woken;
static uint64_t each;
static size_t at_once;
static uint64_t received[max_threads];
static atomic_uint_fast64_t refused;
static uint64_t total, sleeps;
static pthread_t threads[max_threads];

static uint32_t check_of(uint32_t thread, uint64_t number) {
  return (uint32_t)((number * 0x9e3779b97f4a7c15u) >> 32) ^ thread;
}

static void wake(void) {
  pthread_mutex_lock(&mutex);
  woken = true;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
}

static void sleep_until_woken(void) {
  sleeps++;
  pthread_mutex_lock(&mutex);
  while (!woken) pthread_cond_wait(&condition, &mutex);
  woken = false;
  pthread_mutex_unlock(&mutex);
}

/* Tries again while the ring is full; how it ended. */
static int post(const record_t* records, size_t count) {
  for (;;) {
    int status = ring_queue_post(&queue, records, count);
    if (status == ring_wakes) wake();
    if (status != ring_full) return status;
    atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
    sched_yield();
  }
}

static void* produce(void* argument) {
  uint32_t thread = (uint32_t)(uintptr_t)argument;
  record_t records[16];
  for (uint64_t number = 0; number < each;) {
    size_t count = 0;
    for (; count < at_once && number < each; count++, number++) {
      records[count] = (record_t){thread, check_of(thread, number), number};
    }
    CHECK(post(records, count) >= 0);
  }
  return NULL;
}

static void start(uint32_t capacity, size_t count_at_once) {
  memset(received, 0, sizeof(received));
  total = sleeps = 0;
  atomic_store(&refused, 0);
  woken = false;
  at_once = count_at_once;
  CHECK_EQ(ring_queue_init(&queue, sizeof(record_t), capacity), 0);
}

static void start_threads(uint32_t count, uint64_t events) {
  each = events / count;
  for (uint32_t i = 0; i < count; i++) {
    CHECK_EQ(pthread_create(&threads[i], NULL, produce, (void*)(uintptr_t)i), 0);
  }
}

static void join_threads(uint32_t count) {
  for (uint32_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

/* Reads one batch of at most `limit`; returns its size. */
static uint32_t read_batch(uint32_t limit) {
  uint32_t first;
  uint32_t count = ring_queue_ready(&queue, limit, &first);
  CHECK(count <= limit && first + count <= queue.capacity);
  const record_t* records = (const record_t*)(void*)queue.records + first;
  for (uint32_t i = 0; i < count; i++) {
    CHECK(records[i].thread < max_threads);
    CHECK_EQ(records[i].number, received[records[i].thread]);
    CHECK_EQ(records[i].check, check_of(records[i].thread, records[i].number));
    received[records[i].thread]++;
  }
  if (count > 0) ring_queue_free(&queue, count);
  total += count;
  return count;
}

/* When there is nothing to read. */
static void rest(void) {
  int state = ring_queue_sleep(&queue);
  if (state == ring_asleep) sleep_until_woken();
  else if (state == ring_claimed) sched_yield();
}

static void read_until(uint64_t wanted, uint32_t limit) {
  while (total < wanted) {
    if (read_batch(limit) == 0) rest();
  }
}

static uint64_t hammer_events(void) {
  const char* text = getenv("HAMMER_EVENTS");
  return text == NULL ? 4000000 : strtoull(text, NULL, 10);
}

static void hammer(uint32_t count, uint32_t capacity, uint32_t limit, size_t count_at_once, uint64_t events) {
  start(capacity, count_at_once);
  start_threads(count, events);
  read_until(each * count, limit);
  join_threads(count);
  for (uint32_t i = 0; i < count; i++) CHECK_EQ(received[i], each);
  CHECK_EQ(read_batch(limit), 0);
  ring_queue_destroy(&queue);
}

TEST(eight_threads_lose_nothing_and_keep_each_ones_order) {
  hammer(8, 1024, 256, 1, hammer_events());
}

TEST(records_posted_together_arrive_together_with_eight_threads) {
  hammer(8, 1024, 1024, 13, hammer_events());
}

TEST(a_ring_of_one_place_works) {
  hammer(2, 1, 1, 1, 20000);
}

TEST(a_ring_that_is_always_full_refuses_and_loses_nothing) {
  start(8, 3);
  start_threads(4, 40000);
  while (atomic_load(&refused) == 0) sched_yield();
  read_until(40000, 2);
  join_threads(4);
  CHECK_EQ(total, 40000);
  ring_queue_destroy(&queue);
}

/* Waits for each record before the next one: the reader sleeps nearly every time. */
static atomic_uint_fast64_t answered;

static void* ask(void* argument) {
  for (uint64_t number = 0; number < each; number++) {
    record_t record = {0, check_of(0, number), number};
    CHECK(post(&record, 1) >= 0);
    while (atomic_load(&answered) <= number) sched_yield();
  }
  return argument;
}

TEST(a_reader_that_sleeps_is_woken_for_every_record) {
  start(4, 1);
  each = 20000;
  atomic_store(&answered, 0);
  CHECK_EQ(pthread_create(&threads[0], NULL, ask, NULL), 0);
  while (total < each) {
    if (read_batch(4) > 0) atomic_store(&answered, total);
    else rest();
  }
  join_threads(1);
  CHECK(sleeps > 0);
  ring_queue_destroy(&queue);
}

static record_t numbered(uint64_t number) {
  return (record_t){0, check_of(0, number), number};
}

TEST(one_wake_for_each_change_from_idle_to_busy) {
  start(8, 1);
  record_t records[] = {numbered(0), numbered(1), numbered(2), numbered(3)};
  CHECK_EQ(ring_queue_post(&queue, &records[0], 1), ring_wakes);
  CHECK_EQ(ring_queue_post(&queue, &records[1], 1), ring_taken);
  CHECK_EQ(read_batch(8), 2);
  /* It has not gone to sleep, and does not when there is something. */
  CHECK_EQ(ring_queue_post(&queue, &records[2], 1), ring_taken);
  CHECK_EQ(ring_queue_sleep(&queue), ring_more);
  CHECK_EQ(read_batch(8), 1);
  CHECK_EQ(ring_queue_sleep(&queue), ring_asleep);
  CHECK_EQ(ring_queue_post(&queue, &records[3], 1), ring_wakes);
  CHECK_EQ(read_batch(8), 1);
  ring_queue_destroy(&queue);
}

TEST(the_reader_does_not_sleep_while_a_post_is_in_the_middle) {
  start(8, 1);
  record_t records[] = {numbered(1), numbered(0)};
  /* A thread that has claimed place 0, saw the reader awake, and was stopped there. */
  atomic_store(&queue.wake, 1);
  atomic_store(&queue.tail, 2);
  CHECK_EQ(ring_queue_sleep(&queue), ring_claimed);
  CHECK_EQ(ring_queue_post(&queue, &records[0], 1), ring_taken);
  CHECK_EQ(read_batch(8), 0);
  CHECK_EQ(ring_queue_sleep(&queue), ring_claimed);
  CHECK_EQ(ring_queue_close(&queue), 0);
  CHECK_EQ(ring_queue_sleep(&queue), ring_claimed);
  CHECK_EQ(ring_queue_finished(&queue), 0);
  /* It goes on. */
  memcpy(queue.records, &records[1], sizeof(record_t));
  atomic_store(&queue.published[0], 1);
  CHECK_EQ(ring_queue_sleep(&queue), ring_more);
  CHECK_EQ(read_batch(8), 2);
  CHECK_EQ(ring_queue_finished(&queue), 1);
  ring_queue_destroy(&queue);
}

TEST(places_are_free_only_when_they_are_given_back) {
  uint32_t first;
  start(4, 1);
  record_t records[5];
  for (uint64_t i = 0; i < 5; i++) records[i] = numbered(i);
  CHECK_EQ(ring_queue_post(&queue, records, 5), ring_full);
  CHECK_EQ(ring_queue_post(&queue, records, 4), ring_wakes);
  CHECK_EQ(ring_queue_post(&queue, &records[4], 1), ring_full);
  CHECK_EQ(ring_queue_ready(&queue, 4, &first), 4);
  CHECK_EQ(ring_queue_post(&queue, &records[4], 1), ring_full);
  CHECK_EQ(read_batch(2), 2);
  CHECK_EQ(ring_queue_post(&queue, &records[4], 1), ring_taken);
  /* A batch ends where the memory ends. */
  CHECK_EQ(read_batch(4), 2);
  CHECK_EQ(read_batch(4), 1);
  ring_queue_destroy(&queue);
}

TEST(records_posted_together_go_over_the_end_of_the_memory) {
  start(8, 1);
  record_t records[12];
  for (uint64_t i = 0; i < 12; i++) records[i] = numbered(i);
  CHECK_EQ(ring_queue_post(&queue, records, 5), ring_wakes);
  CHECK_EQ(read_batch(8), 5);
  CHECK_EQ(ring_queue_post(&queue, records + 5, 7), ring_taken);
  CHECK_EQ(read_batch(8), 3);
  CHECK_EQ(read_batch(8), 4);
  ring_queue_destroy(&queue);
}

TEST(laps_go_over_what_a_byte_holds) {
  start(2, 1);
  for (uint64_t i = 0; i < 2 * 600; i++) {
    record_t record = numbered(i);
    CHECK_EQ(read_batch(2), 0);
    CHECK(ring_queue_post(&queue, &record, 1) >= 0);
    CHECK_EQ(read_batch(2), 1);
  }
  ring_queue_destroy(&queue);
}

TEST(a_closed_ring_refuses_and_is_finished_when_it_is_empty) {
  start(4, 1);
  record_t record = numbered(0);
  CHECK_EQ(ring_queue_finished(&queue), 0);
  CHECK_EQ(ring_queue_post(&queue, &record, 1), ring_wakes);
  CHECK_EQ(ring_queue_close(&queue), 0); /* somebody has woken the reader */
  CHECK_EQ(ring_queue_post(&queue, &record, 1), ring_closed);
  CHECK_EQ(ring_queue_finished(&queue), 0);
  CHECK_EQ(read_batch(4), 1);
  CHECK_EQ(ring_queue_finished(&queue), 1);
  CHECK_EQ(ring_queue_sleep(&queue), ring_more);
  ring_queue_destroy(&queue);
}

TEST(closing_wakes_a_reader_that_sleeps_and_only_once) {
  start(4, 1);
  CHECK_EQ(ring_queue_sleep(&queue), ring_asleep);
  CHECK_EQ(ring_queue_close(&queue), 1);
  CHECK_EQ(ring_queue_close(&queue), 0);
  CHECK_EQ(ring_queue_finished(&queue), 1);
  ring_queue_destroy(&queue);
}

/* What was taken before the ring closed is counted by who posted it, and must all arrive. */
static atomic_uint_fast64_t taken;

static void* produce_until_closed(void* argument) {
  uint32_t thread = (uint32_t)(uintptr_t)argument;
  for (uint64_t number = 0;; number++) {
    record_t record = {thread, check_of(thread, number), number};
    if (post(&record, 1) == ring_closed) return NULL;
    atomic_fetch_add(&taken, 1);
  }
}

TEST(closing_among_posts_loses_nothing_that_was_taken) {
  for (int round = 0; round < 50; round++) {
    start(64, 1);
    atomic_store(&taken, 0);
    for (uint32_t i = 0; i < 4; i++) {
      CHECK_EQ(pthread_create(&threads[i], NULL, produce_until_closed, (void*)(uintptr_t)i), 0);
    }
    while (total < 2000) {
      if (read_batch(16) == 0) rest();
    }
    if (ring_queue_close(&queue)) wake();
    while (!ring_queue_finished(&queue)) {
      if (read_batch(16) == 0) rest();
    }
    join_threads(4);
    CHECK_EQ(total, atomic_load(&taken));
    ring_queue_destroy(&queue);
  }
}

TEST_MAIN
