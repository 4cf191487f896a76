/* The life of a queue, and what its functions refuse. */
#include "batch_fixture.h"

enum { N = UV_BATCH_NETWORK, W = UV_BATCH_WORK };

TEST(null_is_refused_everywhere) {
  uv_batch_stats_t got;
  uv_batch_estimate_t estimate;
  uv_batch_event_t event;
  reset();
  start();
  uv_batch_event_init(&event, N, NULL);
  uv_batch_event_init(NULL, N, NULL);
  CHECK_EQ(uv_batch_init(NULL, &batch, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_init(&loop, NULL, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_push(NULL, &event), UV_EINVAL);
  CHECK_EQ(uv_batch_push(&batch, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_post(NULL, &event), UV_EINVAL);
  CHECK_EQ(uv_batch_post(&batch, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_cancel(NULL, &event), UV_EINVAL);
  CHECK_EQ(uv_batch_cancel(&batch, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_flush(NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_process(NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_close(NULL, 0, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_is_closing(NULL), 1);
  CHECK_EQ(uv_batch_ref(NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_unref(NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_stats(NULL, &got), UV_EINVAL);
  CHECK_EQ(uv_batch_stats(&batch, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_estimate(NULL, N, &estimate), UV_EINVAL);
  CHECK_EQ(uv_batch_estimate(&batch, N, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_replace_allocator(NULL, realloc, calloc, free), UV_EINVAL);
  CHECK_EQ(uv_batch_replace_allocator(malloc, NULL, calloc, free), UV_EINVAL);
  CHECK_EQ(uv_batch_replace_allocator(malloc, realloc, NULL, free), UV_EINVAL);
  CHECK_EQ(uv_batch_replace_allocator(malloc, realloc, calloc, NULL), UV_EINVAL);
  uv_batch_free(NULL);
  stop();
}

TEST(an_event_of_no_known_type_or_class_is_refused_and_left_alone) {
  static const int types[] = {0, -1, 11, INT32_MAX, INT32_MIN};
  static const int8_t priorities[] = {-2, 3, INT8_MAX, INT8_MIN};
  uv_batch_event_t event;
  reset();
  start();
  for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
    uv_batch_event_init(&event, types[i], NULL);
    CHECK_EQ(uv_batch_push(&batch, &event), UV_EINVAL);
    CHECK_EQ(uv_batch_post(&batch, &event), UV_EINVAL);
    CHECK_EQ(uv_batch_cancel(&batch, &event), UV_EALREADY);
    CHECK_EQ(event.status, UV_BATCH_STATUS_NEW);
  }
  for (size_t i = 0; i < sizeof(priorities) / sizeof(priorities[0]); i++) {
    uv_batch_event_init(&event, N, NULL);
    event.priority = priorities[i];
    CHECK_EQ(uv_batch_push(&batch, &event), UV_EINVAL);
    CHECK_EQ(uv_batch_post(&batch, &event), UV_EINVAL);
  }
  uv_batch_event_init(&event, N, NULL);
  event.status = 200;
  CHECK_EQ(uv_batch_push(&batch, &event), UV_EINVAL);
  CHECK_EQ(uv_batch_cancel(&batch, &event), UV_EALREADY);
  CHECK_EQ(stats().pushed, 0);
  stop();
}

TEST(the_class_of_the_event_comes_before_that_of_its_type) {
  reset();
  options.batch_cb = note_batch;
  start();
  for (int i = 0; i < 4; i++) {
    event_of['a' + i] = make(N, 'a' + i);
    event_of['a' + i]->priority = (int8_t)(UV_BATCH_PRIORITY_LOW - i);
    live_events++;
    CHECK_EQ(uv_batch_push(&batch, event_of['a' + i]), 0);
  }
  uv_batch_stats_t now = stats();
  CHECK_EQ(now.depth[UV_BATCH_PRIORITY_HIGH], 1);
  CHECK_EQ(now.depth[UV_BATCH_PRIORITY_NORMAL], 2);
  CHECK_EQ(now.depth[UV_BATCH_PRIORITY_LOW], 1);
  run();
  expect("turn(cbda) c:ok b:ok d:ok a:ok");
  stop();
}

/* ---- in use */

static void push_itself(void) {
  CHECK_EQ(uv_batch_push(&batch, event_of['a']), UV_EBUSY);
  CHECK_EQ(uv_batch_cancel(&batch, event_of['a']), UV_EALREADY);
  CHECK_EQ(uv_batch_push(&batch, event_of['b']), UV_EBUSY);
  CHECK_EQ(uv_batch_cancel(&batch, event_of['b']), UV_EALREADY);
}

TEST(an_event_is_in_use_until_its_callback) {
  reset();
  options.max_batch = 2;
  start();
  on('X', N);
  while_handled['a'] = push_itself;
  push_all(N, "ab");
  CHECK_EQ(uv_batch_push(&batch, event_of['a']), UV_EBUSY);
  CHECK_EQ(uv_batch_post(&batch, event_of['a']), UV_EBUSY);
  run();
  expect("Xa a:ok Xb b:ok");
  off('X');
  retain(N, UV_BATCH_RETAIN_FIRST);
  push_all(N, "c");
  run();
  CHECK_EQ(uv_batch_push(&batch, event_of['c']), UV_EBUSY);
  stop();
}

TEST(an_event_in_use_is_not_touched_by_a_queue_that_is_closed) {
  static uv_batch_t other;
  reset();
  start();
  on('X', N);
  memset(&other, 0, sizeof(other));
  CHECK_EQ(uv_batch_init(&loop, &other, NULL), 0);
  push_all(N, "ab");
  CHECK_EQ(uv_batch_close(&other, 0, NULL), 0);
  CHECK_EQ(uv_batch_push(&other, event_of['a']), UV_EBUSY);
  CHECK_EQ(uv_batch_cancel(&batch, event_of['b']), 0);
  run();
  expect("b:cancelled Xa a:ok");
  push_all(N, "c");
  CHECK_EQ(uv_batch_push(&other, event_of['c']), UV_EBUSY);
  CHECK_EQ(uv_batch_post(&other, event_of['c']), UV_EBUSY);
  CHECK_EQ(event_of['c']->status, UV_BATCH_STATUS_QUEUED);
  run();
  expect("Xc c:ok");
  stop();
}

/* ---- bounds */

TEST(events_and_bytes_are_bounded_exactly) {
  uv_batch_event_t events[6];
  static const uint64_t sizes[] = {UINT64_MAX, 101, 100, 1, 0, 0};
  static const int expected[] = {UV_ENOBUFS, UV_ENOBUFS, 0, UV_ENOBUFS, 0, UV_ENOBUFS};
  reset();
  options.max_queue = 2;
  options.max_queue_bytes = 100;
  start();
  for (int i = 0; i < 6; i++) {
    uv_batch_event_init(&events[i], N, NULL);
    events[i].size = sizes[i];
    CHECK_EQ(uv_batch_push(&batch, &events[i]), expected[i]);
    CHECK_EQ(events[i].status, expected[i] == 0 ? UV_BATCH_STATUS_QUEUED : UV_BATCH_STATUS_REFUSED);
  }
  CHECK_EQ(stats().bytes, 100);
  CHECK_EQ(stats().queued, 2);
  CHECK_EQ(stats().refused_overloaded, 4);
  CHECK_EQ(uv_batch_cancel(&batch, &events[2]), 0);
  CHECK_EQ(uv_batch_push(&batch, &events[3]), 0);
  CHECK_EQ(stats().bytes, 1);
  run();
  CHECK_EQ(stats().bytes, 0);
  CHECK_EQ(stats().unhandled, 2);
  stop();
}

TEST(a_turn_with_pushes_cancels_and_handlers_allocates_nothing) {
  for (int order = 0; order < 2; order++) {
    reset();
    options.order = (uv_batch_order_t)order;
    start();
    on('X', N);
    on_group('G', W);
    failing_allocator_after(1000);
    push_all(N, "abc");
    push_all(W, "defg");
    push_all(UV_BATCH_SIGNAL, "h");
    CHECK_EQ(uv_batch_cancel(&batch, event_of['f']), 0);
    run();
    expect("f:cancelled h:unhandled Xa a:ok Xb b:ok Xc c:ok G[deg] d:ok e:ok g:ok");
    CHECK_EQ(atomic_load(&failing_allocator_left), 1000);
    failing_allocator_after(-1);
    stop();
  }
}

/* ---- life */

TEST(any_memory_can_become_a_queue_and_keeps_its_data) {
  static const int fillings[] = {0, 0xff, 0xa5, 1};
  for (size_t i = 0; i < sizeof(fillings) / sizeof(fillings[0]); i++) {
    reset();
    memset((void*)&batch, fillings[i], sizeof(batch));
    batch.data = &options;
    start();
    CHECK(batch.data == &options);
    CHECK(batch.loop == &loop);
    on('X', N);
    push_all(N, "a");
    run();
    expect("Xa a:ok");
    stop();
  }
}

TEST(a_queue_in_use_cannot_be_started_again_until_it_is_closed) {
  reset();
  start();
  push_all(N, "a");
  CHECK_EQ(uv_batch_init(&loop, &batch, NULL), UV_EBUSY);
  CHECK_EQ(stats().queued, 1);
  CHECK_EQ(uv_batch_close(&batch, 0, note_closed), 0);
  CHECK_EQ(uv_batch_init(&loop, &batch, NULL), UV_EBUSY);
  run();
  CHECK_EQ(closed, 1);
  expect("a:unhandled");
  CHECK_EQ(uv_batch_init(&loop, &batch, NULL), 0);
  CHECK_EQ(stats().pushed, 0);
  on('X', N);
  push_all(N, "b");
  run();
  expect("Xb b:ok");
  closed = 0;
  stop();
}

static int restarted;

static void restart(uv_batch_t* from, const uv_batch_stats_t* counted) {
  CHECK_EQ(counted->pushed, 0);
  restarted++;
  CHECK_EQ(uv_batch_init(&loop, from, NULL), 0);
}

TEST(the_close_callback_can_start_the_queue_again) {
  reset();
  start();
  restarted = 0;
  CHECK_EQ(uv_batch_close(&batch, 0, restart), 0);
  run();
  CHECK_EQ(restarted, 1);
  push_all(N, "a");
  run();
  expect("a:unhandled");
  stop();
}

static void free_batch(uv_batch_t* from, const uv_batch_stats_t* counted) {
  free(from);
  CHECK_EQ(counted->pushed, 0);
  closed++;
}

TEST(the_close_callback_can_free_the_queue) {
  reset();
  uv_batch_t* mine = malloc(sizeof(*mine));
  CHECK(mine != NULL);
  start();
  CHECK_EQ(uv_batch_init(&loop, mine, NULL), 0);
  CHECK_EQ(uv_batch_close(mine, 0, free_batch), 0);
  run();
  CHECK_EQ(closed, 1);
  closed = 0;
  stop();
}

TEST(without_memory_no_queue_starts_and_nothing_is_left) {
  reset();
  CHECK_EQ(uv_loop_init(&loop), 0);
  long n = 0;
  for (;; n++) {
    failing_allocator_after(n);
    int status = uv_batch_init(&loop, &batch, &options);
    failing_allocator_after(-1);
    if (status == 0) break;
    CHECK_EQ(status, UV_ENOMEM);
    CHECK_EQ(failing_allocator_live(), 0);
    CHECK_EQ(uv_loop_alive(&loop), 0);
    CHECK_EQ(uv_batch_close(&batch, 0, note_closed), UV_EALREADY);
    CHECK_EQ(uv_batch_flush(&batch), UV_ESHUTDOWN);
  }
  CHECK(n >= 15);
  int type = UV_ENOMEM;
  for (n = 0; type < 0; n++) {
    CHECK_EQ(type, UV_ENOMEM);
    failing_allocator_after(n);
    type = uv_batch_type(&batch, "mine");
    failing_allocator_after(-1);
  }
  CHECK_EQ(type, 11);
  CHECK_EQ(n, 2);
  on('X', type);
  CHECK_EQ(push(type, 'a'), 0);
  run();
  expect("Xa a:ok");
  stop();
}

/* ---- after the close */

/* Every function, between the close and its callback, and after that. */
static void every_call(int over) {
  uv_batch_event_t event;
  uv_batch_options_t some;
  uv_batch_type_options_t of_type;
  uv_batch_estimate_t estimate;
  uv_batch_stats_t before, after;
  CHECK_EQ(uv_batch_stats(&batch, &before), over ? UV_ESHUTDOWN : 0);
  uv_batch_options_init(&some);
  for (int priority = -1; priority <= 2; priority++) {
    uv_batch_event_init(&event, N, NULL);
    event.priority = (int8_t)priority;
    CHECK_EQ(uv_batch_push(&batch, &event), UV_ESHUTDOWN);
    CHECK_EQ(event.status, UV_BATCH_STATUS_REFUSED);
  }
  CHECK_EQ(uv_batch_stats(&batch, &after), over ? UV_ESHUTDOWN : 0);
  if (!over) CHECK_EQ(after.refused_closed, before.refused_closed + 4);
  CHECK_EQ(uv_batch_cancel(&batch, &event), UV_EALREADY);
  CHECK_EQ(uv_batch_post(&batch, &event), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_set(&batch, &some), UV_ESHUTDOWN);
  some.policy = UV_BATCH_POLICY_FIXED;
  CHECK_EQ(uv_batch_set(&batch, &some), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_flush(&batch), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_process(&batch), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_ref(&batch), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_unref(&batch), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_on(&batch, &handlers['Z'], N, handle), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_close(&batch, 0, note_closed), UV_EALREADY);
  CHECK_EQ(uv_batch_close(&batch, UV_BATCH_DISCARD, note_closed), UV_EALREADY);
  CHECK_EQ(uv_batch_is_closing(&batch), 1);
  CHECK_EQ(uv_batch_estimate(&batch, 0, &estimate), over ? UV_ESHUTDOWN : 0);
  CHECK_EQ(uv_batch_get(&batch, &some), over ? UV_ESHUTDOWN : 0);
  CHECK_EQ(uv_batch_get_type(&batch, N, &of_type), over ? UV_ESHUTDOWN : 0);
  of_type = (uv_batch_type_options_t){1, 1, UV_BATCH_RETAIN_OFF, 1, 1, 1, NULL, {NULL}};
  CHECK_EQ(uv_batch_set_type(&batch, N, &of_type), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_off(&handlers['X']), over ? UV_EINVAL : 0);
}

TEST(after_the_close_every_call_says_so_before_its_callback_and_after) {
  for (int policy = UV_BATCH_POLICY_ADAPTIVE; policy <= UV_BATCH_POLICY_DIRECT; policy++) {
    reset();
    options.policy = (uv_batch_policy_t)policy;
    start();
    on('X', N);
    CHECK_EQ(uv_batch_is_closing(&batch), 0);
    CHECK_EQ(uv_batch_close(&batch, 0, note_closed), 0);
    every_call(0);
    run();
    CHECK_EQ(closed, 1);
    every_call(1);
    stop();
    expect("");
  }
}

TEST(only_known_flags_close_a_queue) {
  reset();
  start();
  CHECK_EQ(uv_batch_close(&batch, 2, note_closed), UV_EINVAL);
  CHECK_EQ(uv_batch_close(&batch, ~0u, note_closed), UV_EINVAL);
  CHECK_EQ(uv_batch_is_closing(&batch), 0);
  stop();
}

TEST(the_close_callback_gets_the_last_counters) {
  reset();
  start();
  on('X', N);
  push_all(N, "abc");
  run();
  push_all(N, "d");
  CHECK_EQ(uv_batch_close(&batch, UV_BATCH_DISCARD, note_closed), 0);
  CHECK_EQ(push(N, 'e'), UV_ESHUTDOWN);
  run();
  CHECK_EQ(last.pushed, 4);
  CHECK_EQ(last.delivered, 3);
  CHECK_EQ(last.batches, 1);
  CHECK_EQ(last.queued, 0);
  CHECK_EQ(last.refused_cancelled, 1);
  CHECK_EQ(last.refused_closed, 1);
  stop();
}

/* ---- two queues */

static uv_batch_t second;
static int second_handled;

static int handle_second(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  CHECK(handler->batch == &second);
  CHECK_EQ(event->type, N);
  second_handled++;
  return 0;
}

TEST(two_queues_on_a_loop_do_not_know_each_other) {
  uv_batch_event_t events[8];
  uv_batch_handler_t handler;
  uv_batch_stats_t of_second;
  reset();
  start();
  on('X', N);
  memset(&second, 0, sizeof(second));
  memset(&handler, 0, sizeof(handler));
  second_handled = 0;
  CHECK_EQ(uv_batch_init(&loop, &second, NULL), 0);
  CHECK_EQ(uv_batch_on(&second, &handler, N, handle_second), 0);
  for (int i = 0; i < 8; i++) {
    uv_batch_event_init(&events[i], N, NULL);
    CHECK_EQ(uv_batch_push(&second, &events[i]), 0);
  }
  push_all(N, "ab");
  CHECK_EQ(stats().queued, 2);
  run();
  expect("Xa a:ok Xb b:ok");
  CHECK_EQ(second_handled, 8);
  CHECK_EQ(uv_batch_close(&batch, 0, note_closed), 0);
  CHECK_EQ(uv_batch_push(&second, &events[0]), 0);
  run();
  CHECK_EQ(second_handled, 9);
  CHECK_EQ(uv_batch_stats(&second, &of_second), 0);
  CHECK_EQ(of_second.pushed, 9);
  CHECK_EQ(last.pushed, 2);
  CHECK_EQ(uv_batch_close(&second, 0, NULL), 0);
  stop();
}

/* ---- words */

TEST(each_code_of_the_library_has_a_text_of_its_own) {
  static const int codes[] = {0,          UV_EINVAL,    UV_ENOMEM,    UV_ENOBUFS, UV_ESHUTDOWN, UV_EBUSY, UV_EALREADY,
                              UV_ECANCELED, UV_ETIMEDOUT, UV_ENOENT, UV_EAGAIN,    UV_EFBIG};
  enum { count = sizeof(codes) / sizeof(codes[0]) };
  for (int i = 0; i < count; i++) {
    const char* text = uv_batch_strerror(codes[i]);
    CHECK(text != NULL && text[0] != '\0');
    if (codes[i] != 0) CHECK(strcmp(text, uv_strerror(codes[i])) != 0);
    for (int k = 0; k < i; k++) CHECK(strcmp(text, uv_batch_strerror(codes[k])) != 0);
  }
  CHECK(strcmp(uv_batch_strerror(UV_EIO), uv_strerror(UV_EIO)) == 0);
}

TEST(triggers_have_names) {
  static const char* const names[] = {"size", "threshold", "delay", "turn", "priority", "flush", "close"};
  for (int i = 0; i < UV_BATCH_TRIGGERS; i++) {
    CHECK(strcmp(uv_batch_trigger_name((uv_batch_trigger_t)i), names[i]) == 0);
  }
  CHECK(uv_batch_trigger_name((uv_batch_trigger_t)UV_BATCH_TRIGGERS) == NULL);
  CHECK(uv_batch_trigger_name((uv_batch_trigger_t)-1) == NULL);
}

TEST(the_version_is_that_of_the_header) {
  char text[32];
  snprintf(text, sizeof(text), "%d.%d.%d", UV_BATCH_VERSION_MAJOR, UV_BATCH_VERSION_MINOR, UV_BATCH_VERSION_PATCH);
  CHECK(strcmp(uv_batch_version_string(), text) == 0);
  CHECK_EQ(uv_batch_version(), UV_BATCH_VERSION_HEX);
}

TEST_MAIN
