/* Keys: a newer event supersedes the queued one of its type and key, or is merged with it. */
#include "batch_fixture.h"

enum { N = UV_BATCH_NETWORK, S = UV_BATCH_STREAM };

static void start_with(uv_batch_merge_cb merge) {
  uv_batch_type_options_t of_type;
  options.batch_cb = NULL;
  options.error_cb = note_error;
  start();
  on('X', N);
  CHECK_EQ(uv_batch_get_type(&batch, N, &of_type), 0);
  CHECK(of_type.merge == NULL);
  of_type.merge = merge;
  CHECK_EQ(uv_batch_set_type(&batch, N, &of_type), 0);
}

TEST(an_event_that_is_superseded_is_given_back_inside_the_push) {
  reset();
  start_with(NULL);
  keys['a'] = keys['c'] = "k";
  push_all(N, "ab");
  expect("");
  push_all(N, "c");
  expect("a:superseded");
  CHECK_EQ(last_status['a'], UV_ECANCELED);
  run();
  expect("Xc c:ok Xb b:ok");
  CHECK_EQ(stats().superseded, 1);
  CHECK_EQ(stats().pushed, 3);
  CHECK_EQ(stats().cancelled, 0);
  stop();
}

TEST(keys_are_bytes) {
  static const struct {
    const char* bytes;
    uint32_t size;
  } different[] = {{"", 0}, {"\0", 1}, {"\0\0", 2}, {"a", 1}, {"a\0", 2}, {"ab", 2}, {"\xff", 1}};
  enum { count = sizeof(different) / sizeof(different[0]) };
  uv_batch_event_t events[count], again[count];
  reset();
  start_with(NULL);
  for (int i = 0; i < count; i++) {
    uv_batch_event_init(&events[i], S, NULL);
    events[i].key = different[i].bytes;
    events[i].key_size = different[i].size;
    CHECK_EQ(uv_batch_push(&batch, &events[i]), 0);
  }
  CHECK_EQ(stats().queued, count);
  for (int i = 0; i < count; i++) {
    uv_batch_event_init(&again[i], S, NULL);
    again[i].key = different[i].bytes;
    again[i].key_size = different[i].size;
    CHECK_EQ(uv_batch_push(&batch, &again[i]), 0);
    CHECK_EQ(events[i].status, UV_BATCH_STATUS_SUPERSEDED);
  }
  CHECK_EQ(stats().queued, count);
  CHECK_EQ(stats().superseded, count);
  run();
  stop();
}

enum { most_keys = 20000 };
static uv_batch_event_t first[most_keys], second[most_keys];
static uint32_t numbers[most_keys];

/* An event for each number of a step, with the number as its key. */
static void push_numbers(uv_batch_event_t* events, uint32_t count, uint32_t step, bool memory) {
  for (uint32_t i = 0; i < count; i += step) {
    numbers[i] = i;
    uv_batch_event_init(&events[i], S, NULL);
    events[i].key = &numbers[i];
    events[i].key_size = sizeof(numbers[i]);
    failing_allocator_after(memory ? -1 : 0);
    CHECK_EQ(uv_batch_push(&batch, &events[i]), 0);
  }
}

static void many_keys(uint32_t count, bool memory) {
  reset();
  options.max_batch = count / 3 + 1;
  start_with(NULL);
  push_numbers(first, count, 1, memory);
  push_numbers(second, count, 2, memory);
  for (uint32_t i = 0; i < count; i++) {
    CHECK_EQ(first[i].status, i % 2 == 0 ? UV_BATCH_STATUS_SUPERSEDED : UV_BATCH_STATUS_QUEUED);
  }
  CHECK_EQ(stats().queued, count);
  CHECK_EQ(stats().superseded, count / 2);
  /* Three batches leave, and all keys are free again. */
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(stats().queued, 0);
  push_numbers(first, count, 1, memory);
  CHECK_EQ(stats().superseded, count / 2);
  run();
  failing_allocator_after(-1);
  stop();
}

TEST(a_queue_holds_many_keys) {
  many_keys(most_keys, true);
}

TEST(keys_need_no_memory_to_be_told_apart) {
  many_keys(1000, false);
}

TEST(a_push_allocates_nothing_unless_there_are_many_keys) {
  reset();
  start_with(NULL);
  keys['a'] = keys['b'] = "k";
  push_all(N, "a");
  failing_allocator_after(0);
  push_all(N, "bcd");
  CHECK_EQ(atomic_load(&failing_allocator_left), 0);
  failing_allocator_after(-1);
  run();
  expect("a:superseded Xb b:ok Xc c:ok Xd d:ok");
  stop();
}

/* ---- callbacks of superseded events */

static void push_it_again(void) {
  CHECK_EQ(push(N, 'c'), 0);
}

static void cancel_the_newer(void) {
  CHECK_EQ(uv_batch_cancel(&batch, event_of['b']), 0);
}

static void flush_all(void) {
  CHECK_EQ(uv_batch_flush(&batch), 0);
}

static void close_all(void) {
  CHECK_EQ(uv_batch_close(&batch, 0, note_closed), 0);
}

static void supersede_then(void (*does)(void), const char* expected) {
  reset();
  start_with(NULL);
  keys['a'] = keys['b'] = keys['c'] = "k";
  push_all(N, "a");
  when_over['a'] = does;
  CHECK_EQ(push(N, 'b'), 0);
  run();
  expect(expected);
  stop();
}

TEST(the_callback_of_a_superseded_event_may_do_anything) {
  supersede_then(push_it_again, "a:superseded b:superseded Xc c:ok");
  supersede_then(cancel_the_newer, "a:superseded b:cancelled");
  supersede_then(flush_all, "a:superseded Xb b:ok");
  supersede_then(close_all, "a:superseded Xb b:ok");
}

/* ---- merge */

static int adds_up(uv_batch_t* from, const uv_batch_event_t* older, uv_batch_event_t* newer) {
  CHECK(from == &batch);
  CHECK_EQ(older->status, UV_BATCH_STATUS_QUEUED);
  newer->size += older->size;
  return 1;
}

static int fails(uv_batch_t* from, const uv_batch_event_t* older, uv_batch_event_t* newer) {
  (void)from, (void)older;
  newer->data = NULL;
  newer->size = UINT64_MAX;
  return UV_EIO;
}

static int push_sized(int name, uint64_t size) {
  uv_batch_event_t* event = make(N, name);
  event->size = size;
  event_of[name] = event;
  live_events++;
  int status = uv_batch_push(&batch, event);
  if (status == 0) return 0;
  CHECK_EQ(event->size, size);
  CHECK_EQ(name_of(event), name);
  event_of[name] = NULL;
  live_events--;
  free(event);
  return status;
}

TEST(a_merge_writes_into_the_newer_event) {
  reset();
  options.max_queue_bytes = 10;
  start_with(adds_up);
  keys['a'] = keys['b'] = keys['c'] = "k";
  CHECK_EQ(push_sized('a', 3), 0);
  CHECK_EQ(push_sized('b', 4), 0);
  CHECK_EQ(stats().bytes, 7);
  /* 11 bytes together: refused, and both are as they were. */
  CHECK_EQ(push_sized('c', 4), UV_ENOBUFS);
  CHECK_EQ(stats().bytes, 7);
  CHECK_EQ(push_sized('c', 3), 0);
  CHECK_EQ(stats().bytes, 10);
  run();
  expect("a:superseded b:superseded Xc c:ok");
  CHECK_EQ(stats().superseded, 2);
  CHECK_EQ(stats().refused_overloaded, 1);
  stop();
}

TEST(when_a_merge_fails_both_events_stay_as_they_were) {
  reset();
  start_with(fails);
  keys['a'] = keys['b'] = "k";
  CHECK_EQ(push_sized('a', 3), 0);
  CHECK_EQ(push_sized('b', 4), 0);
  expect("!b");
  CHECK_EQ(stats().bytes, 7);
  CHECK_EQ(stats().errors, 1);
  run();
  expect("Xa a:ok Xb b:ok");
  stop();
}

static void (*in_merge)(void);
static uv_batch_event_t* merged;

static int calls(uv_batch_t* from, const uv_batch_event_t* older, uv_batch_event_t* newer) {
  (void)from, (void)older;
  void (*does)(void) = in_merge;
  in_merge = NULL;
  merged = newer;
  if (does != NULL) does();
  return 0;
}

static void push_the_same(void) {
  CHECK_EQ(uv_batch_push(&batch, merged), UV_EBUSY);
  CHECK_EQ(uv_batch_cancel(&batch, merged), UV_EALREADY);
}

static void make_it_direct(void) {
  set_policy(UV_BATCH_POLICY_DIRECT);
}

static void cancel_the_older(void) {
  CHECK_EQ(uv_batch_cancel(&batch, event_of['a']), 0);
}

static void merge_that(void (*does)(void), int status, const char* expected) {
  reset();
  start_with(calls);
  keys['a'] = keys['b'] = keys['c'] = "k";
  CHECK_EQ(push(N, 'a'), 0);
  in_merge = does;
  CHECK_EQ(push(N, 'b'), status);
  run();
  expect(expected);
  stop();
}

TEST(a_merge_may_call_the_queue_and_then_the_newer_event_is_queued_by_itself) {
  merge_that(NULL, 0, "a:superseded Xb b:ok");
  merge_that(push_the_same, 0, "a:superseded Xb b:ok");
  merge_that(flush_all, 0, "Xa a:ok Xb b:ok");
  merge_that(cancel_the_older, 0, "a:cancelled Xb b:ok");
  merge_that(close_all, UV_ESHUTDOWN, "Xa a:ok");
  merge_that(make_it_direct, 0, "Xa a:ok Xb b:ok");
  merge_that(push_it_again, 0, "a:superseded Xc c:ok Xb b:ok");
}

/* ---- posts */

static void post(int name) {
  uv_batch_event_t* event = make(N, name);
  event_of[name] = event;
  live_events++;
  CHECK_EQ(uv_batch_post(&batch, event), 0);
}

TEST(posts_of_one_key_supersede_each_other_in_their_order) {
  for (int order = 0; order <= UV_BATCH_ORDER_TYPE; order++) {
    reset();
    options.order = (uv_batch_order_t)order;
    options.max_queue = 5;
    start_with(NULL);
    CHECK_EQ(uv_batch_ref(&batch), 0);
    keys['a'] = keys['c'] = keys['e'] = "k";
    post('a');
    post('b');
    post('c');
    post('d');
    post('e');
    CHECK_EQ(uv_batch_flush(&batch), 0);
    expect("a:superseded c:superseded Xe e:ok Xb b:ok Xd d:ok");
    CHECK_EQ(stats().posted, 5);
    /* All room is there again. */
    post('a');
    post('b');
    post('c');
    post('d');
    post('e');
    CHECK_EQ(uv_batch_process(&batch), 0);
    expect("a:superseded c:superseded Xe e:ok Xb b:ok Xd d:ok");
    stop();
  }
}

TEST(a_superseded_post_that_closes_the_queue_loses_none_behind_it) {
  reset();
  start_with(NULL);
  keys['a'] = keys['b'] = "k";
  when_over['a'] = close_all;
  post('a');
  post('b');
  post('c');
  CHECK_EQ(uv_batch_flush(&batch), 0);
  run();
  expect("a:superseded Xb b:ok Xc c:ok");
  stop();
}

TEST_MAIN
