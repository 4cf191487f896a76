/* Events from other threads: none lost, each thread's in its order, and no more wakes than changes from idle to
 * busy. */
#include "common.h"
#include "engine.h"
#include "inbox.h"
#include "test.h"
#include "uv_batch.h"

enum { max_producers = 8, ring = 4096 };

typedef struct {
  uv_batch_event_t event;
  atomic_int free;
  int producer;
  uint64_t number;
} message_t;

typedef struct {
  uv_thread_t thread;
  message_t* messages;
  uint64_t count;
  uint64_t refused;
  int index;
} producer_t;

static uv_loop_t loop;
static uv_batch_t batch;
static producer_t producers[max_producers];
static uint64_t received[max_producers];
static uint64_t total, wanted;
static int threads;

static void give_back(uv_batch_t* from, uv_batch_event_t* event, int status) {
  message_t* message = (message_t*)event;
  (void)from;
  CHECK_EQ(status, 0);
  atomic_store_explicit(&message->free, 1, memory_order_release);
}

static int receive(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  message_t* message = (message_t*)event;
  (void)handler;
  CHECK_EQ(message->number, received[message->producer]);
  received[message->producer]++;
  if (++total == wanted) CHECK_EQ(uv_batch_unref(&batch), 0);
  return 0;
}

/* Posts its numbers in order; a refused or busy one is tried again. */
static void produce(void* argument) {
  producer_t* producer = argument;
  for (uint64_t i = 0; i < producer->count; i++) {
    message_t* message = &producer->messages[i % ring];
    while (!atomic_load_explicit(&message->free, memory_order_acquire)) uv_sleep(0);
    atomic_store_explicit(&message->free, 0, memory_order_relaxed);
    uv_batch_event_init(&message->event, UV_BATCH_ASYNC, NULL);
    message->event.callback = give_back;
    message->number = i;
    int status;
    while ((status = uv_batch_post(&batch, &message->event)) == UV_ENOBUFS) {
      producer->refused++;
      uv_sleep(0);
    }
    CHECK_EQ(status, 0);
  }
}

static uv_batch_handler_t handler;

static void start(const uv_batch_options_t* options) {
  total = wanted = 0;
  memset(received, 0, sizeof(received));
  CHECK_EQ(uv_loop_init(&loop), 0);
  CHECK_EQ(uv_batch_init(&loop, &batch, options), 0);
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_ASYNC, receive), 0);
}

static void start_producers(int count, uint64_t events) {
  threads = count;
  wanted = (uint64_t)count * events;
  CHECK_EQ(uv_batch_ref(&batch), 0);
  for (int i = 0; i < count; i++) {
    producers[i] = (producer_t){.index = i, .count = events};
    producers[i].messages = calloc(ring, sizeof(message_t));
    for (int m = 0; m < ring; m++) {
      producers[i].messages[m].producer = i;
      atomic_store(&producers[i].messages[m].free, 1);
    }
    CHECK_EQ(uv_thread_create(&producers[i].thread, produce, &producers[i]), 0);
  }
}

static void join_producers(void) {
  for (int i = 0; i < threads; i++) uv_thread_join(&producers[i].thread);
}

static void stop(void) {
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(uv_loop_close(&loop), 0);
  for (int i = 0; i < threads; i++) free(producers[i].messages);
  threads = 0;
}

static uint64_t hammer_events(void) {
  const char* text = getenv("HAMMER_EVENTS");
  return text == NULL ? 5000000 : strtoull(text, NULL, 10);
}

TEST(eight_threads_lose_nothing_and_keep_each_ones_order) {
  start(NULL);
  uint64_t each = hammer_events() / max_producers;
  start_producers(max_producers, each);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  join_producers();
  for (int i = 0; i < max_producers; i++) CHECK_EQ(received[i], each);
  uv_batch_stats_t stats;
  CHECK_EQ(uv_batch_stats(&batch, &stats), 0);
  CHECK_EQ(stats.posted, wanted);
  CHECK_EQ(stats.delivered, wanted);
  CHECK(stats.wakes <= stats.posted);
  stop();
}

/* As a thread that posts between any two steps of the loop sees it. */
TEST(what_the_loop_takes_in_never_counts_twice) {
  static uvb__inbox_t inbox;
  static uv_batch_event_t events[6];
  for (int i = 0; i < 6; i++) events[i].size = 10;
  uvb__inbox_init(&inbox, NULL);
  uvb__inbox_limit(&inbox, 4, 40);
  /* From here on it is awake, and nobody wakes it. */
  CHECK(uvb__inbox_take(&inbox) == NULL);
  CHECK_EQ(uvb__inbox_post(&inbox, &events[0]), 0);
  CHECK_EQ(uvb__inbox_post(&inbox, &events[1]), 0);
  CHECK(uvb__inbox_take(&inbox) == &events[1]);
  CHECK_EQ(uvb__inbox_at_most(&inbox), 2);
  CHECK_EQ(uvb__inbox_post(&inbox, &events[2]), 0);
  uvb__inbox_taken(&inbox, 2, 20);
  CHECK_EQ(uvb__inbox_post(&inbox, &events[3]), 0);
  CHECK_EQ(uvb__inbox_post(&inbox, &events[4]), UV_ENOBUFS);
  uvb__inbox_publish(&inbox, 2, 20);
  CHECK_EQ(uvb__inbox_post(&inbox, &events[4]), UV_ENOBUFS);
  CHECK_EQ(uvb__inbox_at_most(&inbox), 2);
  CHECK_EQ(uvb__inbox_bytes_at_most(&inbox), 20);
  uvb__inbox_publish(&inbox, 1, 10);
  CHECK_EQ(uvb__inbox_post(&inbox, &events[4]), 0);
  CHECK_EQ(uvb__inbox_post(&inbox, &events[5]), UV_ENOBUFS);
  CHECK(uvb__inbox_take(&inbox) == &events[4]);
}

TEST(a_full_queue_refuses_posts_and_goes_on_afterwards) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.max_queue = 16;
  options.max_batch = 8;
  start(&options);
  start_producers(4, 20000);
  /* Nothing is taken out until somebody has been refused. */
  uv_batch_stats_t stats;
  do {
    CHECK_EQ(uv_batch_stats(&batch, &stats), 0);
    uv_sleep(0);
  } while (stats.refused_overloaded == 0);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  join_producers();
  CHECK_EQ(total, wanted);
  uint64_t refused = 0;
  for (int i = 0; i < threads; i++) refused += producers[i].refused;
  CHECK_EQ(uv_batch_stats(&batch, &stats), 0);
  CHECK_EQ(stats.refused_overloaded, refused);
  stop();
}

static void post_one(message_t* message) {
  uv_batch_event_init(&message->event, UV_BATCH_ASYNC, NULL);
  CHECK_EQ(uv_batch_post(&batch, &message->event), 0);
}

TEST(posts_to_an_idle_loop_wake_it_once) {
  static message_t messages[100];
  start(NULL);
  for (uint64_t i = 0; i < 100; i++) {
    messages[i].number = i;
    post_one(&messages[i]);
  }
  uv_batch_ref(&batch);
  wanted = 100;
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_batch_stats_t stats;
  uv_batch_stats(&batch, &stats);
  CHECK_EQ(total, 100);
  CHECK_EQ(stats.wakes, 1);
  CHECK_EQ(stats.batches, 1);
  stop();
}

/* The loop is awake in a handler: what is posted there needs no wake, and is not left behind. */
static message_t inner[3];
static int posting(uv_batch_handler_t* from, uv_batch_event_t* event) {
  message_t* message = (message_t*)event;
  (void)from;
  if (message->number < 3) {
    inner[message->number].number = message->number + 1;
    post_one(&inner[message->number]);
  }
  if (++total == wanted) uv_batch_unref(&batch);
  return 0;
}

TEST(posts_to_a_loop_that_is_awake_wake_nobody) {
  static message_t first;
  CHECK_EQ(uv_loop_init(&loop), 0);
  CHECK_EQ(uv_batch_init(&loop, &batch, NULL), 0);
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_ASYNC, posting), 0);
  total = 0;
  wanted = 4;
  uv_batch_ref(&batch);
  first.number = 0;
  post_one(&first);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_batch_stats_t stats;
  uv_batch_stats(&batch, &stats);
  CHECK_EQ(total, 4);
  CHECK_EQ(stats.wakes, 1);
  stop();
}

/* Whoever embeds the loop polls its descriptor between turns: after each turn a post must wake it again. */
TEST(after_a_turn_without_waiting_a_post_wakes_the_loop_again) {
  static message_t messages[3];
  start(NULL);
  wanted = 1000;
  uv_batch_ref(&batch);
  for (uint64_t i = 0; i < 3; i++) {
    messages[i].number = i;
    post_one(&messages[i]);
    while (total == i) uv_run(&loop, UV_RUN_NOWAIT);
    uv_run(&loop, UV_RUN_NOWAIT);
  }
  uv_batch_stats_t stats;
  uv_batch_stats(&batch, &stats);
  CHECK_EQ(stats.wakes, 3);
  stop();
}

TEST(after_a_dispatch_point_outside_a_turn_a_post_wakes_the_loop_again) {
  static message_t messages[2];
  start(NULL);
  messages[1].number = 1;
  post_one(&messages[0]);
  CHECK_EQ(uv_batch_process(&batch), 0);
  CHECK_EQ(total, 1);
  post_one(&messages[1]);
  uv_batch_stats_t stats;
  uv_batch_stats(&batch, &stats);
  CHECK_EQ(stats.wakes, 2);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  CHECK_EQ(total, 2);
  stop();
}

/* Threads go on posting while the queue closes: each event is either handled or refused. */
static atomic_int stopping;
static uint64_t taken[max_producers];
static int any_order(uv_batch_handler_t* from, uv_batch_event_t* event) {
  (void)from, (void)event;
  total++;
  return 0;
}

static void closed(uv_batch_t* from, const uv_batch_stats_t* last) {
  (void)from, (void)last;
  atomic_store(&stopping, 1);
}

static void free_message(uv_batch_t* from, uv_batch_event_t* event, int status) {
  (void)from, (void)status;
  free(event);
}

static void produce_freed(void* argument) {
  producer_t* producer = argument;
  for (;;) {
    message_t* message = calloc(1, sizeof(*message));
    uv_batch_event_init(&message->event, UV_BATCH_ASYNC, NULL);
    message->event.callback = free_message;
    int status = uv_batch_post(&batch, &message->event);
    if (status == 0) {
      taken[producer->index]++;
      continue;
    }
    free(message);
    if (status == UV_ESHUTDOWN) return;
    CHECK_EQ(status, UV_ENOBUFS);
    uv_sleep(0);
  }
}

static void close_soon(uv_timer_t* timer) {
  uv_close((uv_handle_t*)timer, NULL);
  CHECK_EQ(uv_batch_close(&batch, 0, closed), 0);
}

TEST(posts_during_a_close_are_handled_or_refused) {
  for (int round = 0; round < 20; round++) {
    uv_timer_t timer;
    CHECK_EQ(uv_loop_init(&loop), 0);
    CHECK_EQ(uv_batch_init(&loop, &batch, NULL), 0);
    CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_ASYNC, any_order), 0);
    total = 0;
    atomic_store(&stopping, 0);
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, close_soon, 2, 0);
    memset(taken, 0, sizeof(taken));
    for (int i = 0; i < 4; i++) {
      producers[i] = (producer_t){.index = i};
      CHECK_EQ(uv_thread_create(&producers[i].thread, produce_freed, &producers[i]), 0);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(atomic_load(&stopping));
    for (int i = 0; i < 4; i++) uv_thread_join(&producers[i].thread);
    CHECK_EQ(total, taken[0] + taken[1] + taken[2] + taken[3]);
    CHECK_EQ(uv_loop_close(&loop), 0);
  }
}

TEST(a_post_of_something_wrong_is_refused) {
  uv_batch_event_t event;
  start(NULL);
  CHECK_EQ(uv_batch_post(NULL, &event), UV_EINVAL);
  CHECK_EQ(uv_batch_post(&batch, NULL), UV_EINVAL);
  uv_batch_event_init(&event, 0, NULL);
  CHECK_EQ(uv_batch_post(&batch, &event), UV_EINVAL);
  uv_batch_event_init(&event, 11, NULL);
  CHECK_EQ(uv_batch_post(&batch, &event), UV_EINVAL);
  CHECK_EQ(uv_batch_type(&batch, "own"), 11);
  CHECK_EQ(uv_batch_post(&batch, &event), 0);
  CHECK_EQ(uv_batch_post(&batch, &event), UV_EBUSY);
  CHECK_EQ(event.status, UV_BATCH_STATUS_POSTED);
  CHECK_EQ(uv_batch_cancel(&batch, &event), UV_EALREADY);
  stop();
  CHECK_EQ(event.status, UV_BATCH_STATUS_UNHANDLED);
  CHECK_EQ(uv_batch_post(&batch, &event), UV_ESHUTDOWN);
}

TEST(posted_bytes_are_bounded_as_pushed_ones_are) {
  static uv_batch_event_t bytes_count[4];
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.max_queue_bytes = 100;
  start(&options);
  for (int i = 0; i < 4; i++) uv_batch_event_init(&bytes_count[i], UV_BATCH_STREAM, NULL);
  bytes_count[0].size = 60;
  bytes_count[1].size = 41;
  bytes_count[2].size = UINT64_MAX;
  bytes_count[3].size = 40;
  CHECK_EQ(uv_batch_post(&batch, &bytes_count[0]), 0);
  CHECK_EQ(uv_batch_post(&batch, &bytes_count[1]), UV_ENOBUFS);
  CHECK_EQ(uv_batch_post(&batch, &bytes_count[2]), UV_ENOBUFS);
  CHECK_EQ(uv_batch_push(&batch, &bytes_count[1]), UV_ENOBUFS);
  CHECK_EQ(uv_batch_post(&batch, &bytes_count[3]), 0);
  CHECK_EQ(uv_batch_process(&batch), 0);
  CHECK_EQ(bytes_count[3].status, UV_BATCH_STATUS_UNHANDLED);
  bytes_count[0].size = 100;
  CHECK_EQ(uv_batch_post(&batch, &bytes_count[0]), 0);
  stop();
}

static void post_of(message_t* message, int type) {
  uv_batch_event_init(&message->event, type, NULL);
  CHECK_EQ(uv_batch_post(&batch, &message->event), 0);
}

TEST(a_post_that_does_not_end_a_hold_makes_no_dispatch_point) {
  static message_t messages[3];
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.policy = UV_BATCH_POLICY_FIXED;
  options.max_delay = 60000;
  for (int order = 0; order <= UV_BATCH_ORDER_TYPE; order++) {
    options.order = (uv_batch_order_t)order;
    start(&options);
    CHECK_EQ(uv_batch_ref(&batch), 0);
    post_of(&messages[0], UV_BATCH_NETWORK);
    for (int turn = 0; turn < 2; turn++) uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_EQ(messages[0].event.status, UV_BATCH_STATUS_QUEUED);
    post_of(&messages[1], UV_BATCH_NETWORK);
    uvb__take_in(batch.core_);
    CHECK_EQ(messages[1].event.status, UV_BATCH_STATUS_QUEUED);
    CHECK(uv_backend_timeout(&loop) != 0);
    post_of(&messages[2], UV_BATCH_SIGNAL);
    uvb__take_in(batch.core_);
    CHECK_EQ(uv_backend_timeout(&loop), 0);
    uv_run(&loop, UV_RUN_NOWAIT);
    for (int i = 0; i < 3; i++) CHECK_EQ(messages[i].event.status, UV_BATCH_STATUS_UNHANDLED);
    CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
    CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
    CHECK_EQ(uv_loop_close(&loop), 0);
  }
}

TEST_MAIN
