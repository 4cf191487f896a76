/* Receivers of events: handlers of one event, of a group, and of a batch, and what they may do to each other. */
#include "batch_fixture.h"

enum { N = UV_BATCH_NETWORK, W = UV_BATCH_WORK, S = UV_BATCH_SIGNAL };

TEST(a_batch_callback_sees_the_whole_batch_before_any_handler) {
  reset();
  options.batch_cb = note_batch;
  start();
  on('X', N);
  on_group('G', W);
  push_all(W, "ab");
  push_all(N, "cd");
  push_all(S, "e");
  run();
  expect("turn(ecdab) e:ok Xc c:ok Xd d:ok G[ab] a:ok b:ok");
  stop();
}

TEST(handlers_of_a_type_run_in_the_order_of_their_registration) {
  reset();
  start();
  on('Z', N);
  on('A', N);
  on('M', W);
  push_all(N, "a");
  push_all(W, "b");
  run();
  expect("Za Aa a:ok Mb b:ok");
  stop();
}

TEST(a_group_handler_gets_all_events_of_its_type_at_the_place_of_the_first) {
  reset();
  start();
  on_group('G', UV_BATCH_STREAM);
  on('X', N);
  push_all(N, "a");
  push_all(UV_BATCH_STREAM, "b");
  push_all(N, "c");
  push_all(UV_BATCH_STREAM, "de");
  push_all(N, "f");
  run();
  expect("Xa a:ok G[bde] b:ok d:ok e:ok Xc c:ok Xf f:ok");
  stop();
}

static void group_of_work(void) { on_group('H', W); }
static void no_group_of_streams(void) { CHECK_EQ(uv_batch_off(&handlers['G']), 0); }

TEST(groups_of_several_types_stand_at_the_places_of_their_first_events) {
  reset();
  start();
  on('X', N);
  on_group('G', UV_BATCH_STREAM);
  on_group('K', UV_BATCH_TIMER);
  push_all(UV_BATCH_STREAM, "a");
  push_all(UV_BATCH_TIMER, "b");
  push_all(N, "c");
  push_all(UV_BATCH_STREAM, "d");
  push_all(UV_BATCH_TIMER, "e");
  push_all(UV_BATCH_STREAM, "f");
  run();
  expect("G[adf] a:ok d:ok f:ok K[be] b:ok e:ok Xc c:ok");
  stop();
}

TEST(group_handlers_that_come_or_go_within_a_batch) {
  reset();
  start();
  on('X', N);
  on_group('K', UV_BATCH_TIMER);
  on_group('G', UV_BATCH_STREAM);
  while_handled['b'] = group_of_work;
  while_handled['c'] = no_group_of_streams;
  push_all(UV_BATCH_TIMER, "a");
  push_all(N, "b");
  push_all(W, "x");
  push_all(N, "c");
  push_all(UV_BATCH_STREAM, "d");
  push_all(W, "y");
  push_all(UV_BATCH_STREAM, "e");
  run();
  expect("K[a] a:ok Xb b:ok Xc c:ok d:unhandled e:unhandled H[xy] x:ok y:ok");
  stop();
}

TEST(group_handlers_come_before_the_handlers_of_single_events) {
  reset();
  start();
  on('X', N);
  on_group('G', N);
  on('Y', N);
  on_group('H', N);
  push_all(N, "ab");
  run();
  expect("G[ab] H[ab] Xa Ya a:ok Xb Yb b:ok");
  stop();
}

TEST(a_group_handler_fails_single_events_of_its_group) {
  reset();
  options.error_cb = note_error;
  start();
  on_group('G', N);
  on('X', N);
  fails_with['b'] = UV_EPROTO;
  push_all(N, "abc");
  run();
  /* The handler of single events fails `b` as well, if it gets it. */
  expect("G[abc] Xa a:ok !b b:failed Xc c:ok");
  CHECK_EQ(last_status['b'], UV_EPROTO);
  CHECK_EQ(stats().errors, 1);
  stop();
}

static void fail_second(uv_batch_t* from, const uv_batch_info_t* info) {
  note_batch(from, info);
  CHECK_EQ(uv_batch_event_fail(info->first->next, UV_EPERM), 0);
  CHECK_EQ(uv_batch_event_fail(info->first->next, 0), UV_EINVAL);
  CHECK_EQ(uv_batch_event_fail(info->first->next, 1), UV_EINVAL);
}

TEST(a_batch_callback_fails_single_events_of_its_batch) {
  reset();
  options.batch_cb = fail_second;
  options.error_cb = note_error;
  start();
  on('X', N);
  push_all(N, "abc");
  run();
  expect("turn(abc) Xa a:ok !b b:failed Xc c:ok");
  CHECK_EQ(last_status['b'], UV_EPERM);
  CHECK_EQ(stats().errors, 1);
  stop();
}

static void fail_a(void) {
  CHECK_EQ(uv_batch_event_fail(event_of['a'], UV_EIO), 0);
}

TEST(a_handler_of_single_events_may_fail_its_event_in_the_same_way) {
  reset();
  options.error_cb = note_error;
  start();
  on('X', N);
  while_handled['a'] = fail_a;
  push_all(N, "a");
  run();
  expect("Xa !a a:failed");
  CHECK_EQ(stats().errors, 1);
  stop();
}

TEST(an_event_that_is_not_with_callbacks_cannot_be_failed) {
  uv_batch_event_t event;
  reset();
  start();
  uv_batch_event_init(&event, N, NULL);
  CHECK_EQ(uv_batch_event_fail(NULL, -1), UV_EINVAL);
  CHECK_EQ(uv_batch_event_fail(&event, -1), UV_EINVAL);
  CHECK_EQ(uv_batch_push(&batch, &event), 0);
  CHECK_EQ(uv_batch_event_fail(&event, -1), UV_EINVAL);
  run();
  CHECK_EQ(event.status, UV_BATCH_STATUS_UNHANDLED);
  CHECK_EQ(uv_batch_event_fail(&event, -1), UV_EINVAL);
  stop();
}

static void push_and_flush_and_fail(void) {
  push_all(N, "b");
  CHECK_EQ(uv_batch_flush(&batch), 0);
  uv_batch_event_fail(event_of['b'], UV_EIO);
}

TEST(failing_an_event_of_a_batch_that_has_still_to_leave_breaks_nothing) {
  for (uint32_t limit = 1; limit <= 2; limit++) {
    reset();
    options.max_batch = limit;
    start();
    on('X', N);
    while_handled['a'] = push_and_flush_and_fail;
    push_all(N, "a");
    run();
    CHECK_EQ(ends['a'], 1);
    CHECK_EQ(ends['b'], 1);
    CHECK_EQ(stats().trigger[UV_BATCH_TRIGGER_FLUSH], 1);
    stop();
  }
}

/* ---- registration */

TEST(a_handler_is_registered_once_until_it_is_removed) {
  reset();
  start();
  on('X', N);
  CHECK_EQ(uv_batch_on(&batch, &handlers['X'], N, handle), UV_EBUSY);
  CHECK_EQ(uv_batch_on_group(&batch, &handlers['X'], N, handle_group), UV_EBUSY);
  CHECK_EQ(uv_batch_on(&batch, &handlers['X'], W, handle), UV_EBUSY);
  CHECK(handlers['X'].batch == &batch);
  CHECK_EQ(handlers['X'].type, N);
  off('X');
  CHECK(handlers['X'].batch == NULL);
  CHECK_EQ(uv_batch_off(&handlers['X']), UV_EINVAL);
  on('X', W);
  push_all(N, "a");
  push_all(W, "b");
  run();
  expect("a:unhandled Xb b:ok");
  stop();
  CHECK(handlers['X'].batch == NULL);
  CHECK_EQ(uv_batch_off(&handlers['X']), UV_EINVAL);
}

TEST(what_cannot_be_registered_is_refused) {
  static const int unknown[] = {0, -1, 11, INT32_MAX, INT32_MIN};
  reset();
  start();
  CHECK_EQ(uv_batch_on(NULL, &handlers['X'], N, handle), UV_EINVAL);
  CHECK_EQ(uv_batch_on(&batch, NULL, N, handle), UV_EINVAL);
  CHECK_EQ(uv_batch_on(&batch, &handlers['X'], N, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_on_group(NULL, &handlers['X'], N, handle_group), UV_EINVAL);
  CHECK_EQ(uv_batch_on_group(&batch, NULL, N, handle_group), UV_EINVAL);
  CHECK_EQ(uv_batch_on_group(&batch, &handlers['X'], N, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_off(NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_off(&handlers['X']), UV_EINVAL);
  for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
    CHECK_EQ(uv_batch_on(&batch, &handlers['X'], unknown[i], handle), UV_EINVAL);
  }
  stop();
}

/* ---- handlers that change handlers */

static void remove_x(void) { off('X'); }
static void remove_y(void) { off('Y'); }
static void add_z(void) { on('Z', N); }
static void renew_x(void) {
  off('X');
  on('X', N);
}
static void replace_by_group(void) {
  off('X');
  on_group('X', N);
}

static int once;
static void remove_x_once(void) {
  if (once++ == 0) off('X');
}
static void remove_y_once(void) {
  if (once++ == 0) off('Y');
}
static void renew_x_once(void) {
  if (once++ == 0) renew_x();
}
static void add_z_once(void) {
  if (once++ == 0) add_z();
}
static void group_once(void) {
  if (once++ == 0) replace_by_group();
}

static void changes(void (*change)(void), const char* expected) {
  reset();
  start();
  once = 0;
  on('X', N);
  on('Y', N);
  while_handled['a'] = change;
  push_all(N, "ab");
  run();
  expect(expected);
  stop();
}

TEST(what_handlers_do_to_handlers_counts_at_once_but_for_new_ones) {
  changes(remove_x_once, "Xa Ya a:ok Yb b:ok");
  changes(remove_y_once, "Xa a:ok Xb b:ok");
  changes(add_z_once, "Xa Ya a:ok Xb Yb Zb b:ok");
  changes(renew_x_once, "Xa Ya a:ok Yb Xb b:ok");
  changes(group_once, "Xa Ya a:ok X[b] Yb b:ok");
}

static uv_batch_handler_t* own;

static int free_own(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  note("own%c ", name_of(event));
  CHECK_EQ(uv_batch_off(handler), 0);
  free(handler);
  return -1;
}

static void free_own_group(uv_batch_handler_t* handler, uv_batch_event_t* first, size_t count) {
  CHECK_EQ(count, 1);
  free_own(handler, first);
}

TEST(a_handler_may_free_itself) {
  for (int others = 0; others < 2; others++) {
    for (int group = 0; group < 2; group++) {
      reset();
      start();
      own = malloc(sizeof(*own));
      CHECK(own != NULL);
      memset(own, 0, sizeof(*own));
      if (group) CHECK_EQ(uv_batch_on_group(&batch, own, N, free_own_group), 0);
      else CHECK_EQ(uv_batch_on(&batch, own, N, free_own), 0);
      if (others) on('Y', N);
      push_all(N, "a");
      run();
      expect(group ? (others ? "owna Ya a:ok" : "owna a:ok") : "owna a:failed");
      stop();
    }
  }
}

TEST(a_handler_that_an_event_callback_removes_gets_no_more_events) {
  reset();
  start();
  on('X', N);
  when_over['a'] = remove_x;
  push_all(N, "ab");
  run();
  expect("Xa a:ok b:unhandled");
  stop();
}

static void remove_both(uv_batch_t* from, const uv_batch_info_t* info) {
  note_batch(from, info);
  remove_x();
  remove_y();
}

TEST(handlers_are_looked_up_when_an_events_turn_comes) {
  reset();
  options.batch_cb = remove_both;
  start();
  on('X', N);
  on_group('Y', N);
  push_all(N, "ab");
  run();
  expect("turn(ab) a:ok b:ok");
  stop();
}

static int lone_runs;
static int lone(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  (void)handler, (void)event;
  lone_runs++;
  return 0;
}

TEST(handlers_may_come_and_go_by_the_thousand) {
  static uv_batch_handler_t many[2000];
  reset();
  start();
  memset(many, 0, sizeof(many));
  lone_runs = 0;
  for (int i = 0; i < 2000; i++) CHECK_EQ(uv_batch_on(&batch, &many[i], N, lone), 0);
  for (int i = 0; i < 2000; i += 2) CHECK_EQ(uv_batch_off(&many[i]), 0);
  push_all(N, "a");
  run();
  CHECK_EQ(lone_runs, 1000);
  stop();
}

TEST_MAIN
