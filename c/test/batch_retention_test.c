/* Handlers that come late, and what they and others do while they are given what was retained. */
#include "batch_fixture.h"

enum { N = UV_BATCH_NETWORK, W = UV_BATCH_WORK };

static void start_with(uv_batch_retain_t how, const char* names) {
  reset();
  options.error_cb = note_error;
  start();
  retain(N, how);
  push_all(N, names);
  run();
  expect("");
  CHECK_EQ(stats().retained, strlen(names));
}

TEST(first_gives_what_is_retained_to_all_handlers_of_that_moment_and_forgets_it) {
  start_with(UV_BATCH_RETAIN_FIRST, "ab");
  on('X', N);
  on('Y', N);
  expect("");
  run();
  expect("Xa Ya a:ok Xb Yb b:ok");
  on('Z', N);
  run();
  expect("");
  CHECK_EQ(stats().replayed, 4);
  CHECK_EQ(stats().retained, 0);
  stop();
}

TEST(each_gives_it_to_every_handler_that_comes_once) {
  start_with(UV_BATCH_RETAIN_EACH, "ab");
  on('X', N);
  run();
  expect("Xa Xb");
  on('Y', N);
  push_all(W, "w");
  run();
  expect("Ya Yb w:unhandled");
  off('X');
  on('X', N);
  run();
  expect("Xa Xb");
  CHECK_EQ(stats().retained, 2);
  stop();
  expect("a:ok b:ok");
  CHECK_EQ(last.expired, 0);
}

TEST(what_is_retained_comes_before_the_next_event_of_its_type) {
  start_with(UV_BATCH_RETAIN_FIRST, "ab");
  push_all(N, "c");
  on('X', N);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  expect("Xa a:ok Xb b:ok Xc c:ok");
  stop();
}

TEST(a_handler_that_is_gone_again_leaves_it_retained) {
  start_with(UV_BATCH_RETAIN_FIRST, "a");
  on('X', N);
  off('X');
  run();
  expect("");
  CHECK_EQ(stats().retained, 1);
  on('Y', N);
  run();
  expect("Ya a:ok");
  stop();
}

TEST(a_failure_costs_the_handlers_after_it) {
  start_with(UV_BATCH_RETAIN_FIRST, "ab");
  fails_with['a'] = UV_EIO;
  on('X', N);
  on('Y', N);
  run();
  expect("Xa !a a:failed Xb Yb b:ok");
  CHECK_EQ(last_status['a'], UV_EIO);
  stop();
}

TEST(a_failure_with_one_handler_stays_with_an_event_that_stays) {
  start_with(UV_BATCH_RETAIN_EACH, "a");
  fails_with['a'] = UV_EIO;
  on('X', N);
  run();
  expect("Xa !a");
  fails_with['a'] = 0;
  on('Y', N);
  run();
  expect("Ya");
  keeps['a'] = 1;
  stop();
  expect("a:failed");
  CHECK_EQ(last_status['a'], UV_EIO);
  CHECK_EQ(given_back['a']->status, UV_BATCH_STATUS_FAILED);
  free(given_back['a']);
}

TEST(a_group_handler_gets_them_one_by_one_and_each_failure_counts) {
  start_with(UV_BATCH_RETAIN_EACH, "ab");
  fails_with['a'] = UV_EIO;
  on_group('G', N);
  run();
  expect("G[a] !a G[b]");
  on_group('H', N);
  run();
  expect("H[a] !a H[b]");
  CHECK_EQ(stats().errors, 2);
  stop();
  expect("a:failed b:ok");
}

/* ---- what happens during a replay */

static void remove_x(void) { off('X'); }
static void remove_y(void) { off('Y'); }
static void add_y(void) {
  if (handlers['Y'].batch == NULL) on('Y', N);
}
static void cancel_a(void) { note("%s ", uv_batch_cancel(&batch, event_of['a']) == 0 ? "took" : "late"); }
static void cancel_b(void) { note("%s ", uv_batch_cancel(&batch, event_of['b']) == 0 ? "took" : "late"); }
static void retain_no_more(void) { retain(N, UV_BATCH_RETAIN_OFF); }
static void close_now(void) { CHECK_EQ(uv_batch_close(&batch, 0, note_closed), 0); }
static void push_c(void) { push_all(N, "c"); }

static void replay(uv_batch_retain_t how, void (*action)(void), const char* expected, const char* left) {
  start_with(how, "ab");
  on('X', N);
  if (action != add_y) on('Y', N);
  while_handled['a'] = action;
  run();
  while_handled['a'] = NULL;
  expect(expected);
  stop();
  expect(left);
}

static int once;
static void remove_x_once(void) {
  if (once++ == 0) remove_x();
}
static void remove_y_once(void) {
  if (once++ == 0) remove_y();
}
static void push_c_once(void) {
  if (once++ == 0) push_c();
}
static void close_once(void) {
  if (once++ == 0) close_now();
}

TEST(a_replay_bears_what_its_handlers_do) {
  once = 0;
  replay(UV_BATCH_RETAIN_FIRST, remove_x_once, "Xa Ya a:ok Yb b:ok", "");
  once = 0;
  replay(UV_BATCH_RETAIN_EACH, remove_x_once, "Xa Ya Yb", "a:ok b:ok");
  once = 0;
  replay(UV_BATCH_RETAIN_FIRST, remove_y_once, "Xa a:ok Xb b:ok", "");
  once = 0;
  replay(UV_BATCH_RETAIN_EACH, remove_y_once, "Xa Xb", "a:ok b:ok");
  replay(UV_BATCH_RETAIN_FIRST, add_y, "Xa a:ok Xb b:ok", "");
  replay(UV_BATCH_RETAIN_EACH, add_y, "Xa Xb Ya Yb", "a:ok b:ok");
  replay(UV_BATCH_RETAIN_FIRST, cancel_a, "Xa late Ya late a:ok Xb Yb b:ok", "");
  replay(UV_BATCH_RETAIN_EACH, cancel_a, "Xa a:cancelled took Xb Yb", "b:ok");
  replay(UV_BATCH_RETAIN_FIRST, retain_no_more, "Xa b:cancelled Ya a:ok", "");
  replay(UV_BATCH_RETAIN_EACH, retain_no_more, "Xa a:ok b:cancelled", "");
  once = 0;
  replay(UV_BATCH_RETAIN_FIRST, push_c_once, "Xa Ya a:ok Xb Yb b:ok Xc Yc c:ok", "");
  once = 0;
  replay(UV_BATCH_RETAIN_EACH, push_c_once, "Xa Ya Xb Yb Xc Yc c:ok", "a:ok b:ok");
  once = 0;
  replay(UV_BATCH_RETAIN_FIRST, close_once, "Xa Ya a:ok Xb Yb b:ok", "");
  once = 0;
  replay(UV_BATCH_RETAIN_EACH, close_once, "Xa Ya Xb Yb a:ok b:ok", "");
}

TEST(a_handler_can_cancel_the_event_that_would_come_next) {
  once = 0;
  start_with(UV_BATCH_RETAIN_EACH, "abc");
  on('X', N);
  while_handled['a'] = cancel_b;
  run();
  expect("Xa b:cancelled took Xc");
  stop();
  start_with(UV_BATCH_RETAIN_FIRST, "abc");
  on('X', N);
  while_handled['a'] = cancel_b;
  run();
  expect("Xa b:cancelled took a:ok Xc c:ok");
  stop();
}

static void cancel_in_group(uv_batch_handler_t* handler, uv_batch_event_t* first, size_t count) {
  (void)handler;
  CHECK_EQ(count, 1);
  CHECK_EQ(uv_batch_event_fail(first, -4), 0);
  CHECK_EQ(uv_batch_cancel(&batch, first), 0);
}

TEST(a_group_handler_can_cancel_the_retained_event_it_is_given) {
  start_with(UV_BATCH_RETAIN_EACH, "ab");
  CHECK_EQ(uv_batch_on_group(&batch, &handlers['G'], N, cancel_in_group), 0);
  run();
  expect("a:cancelled b:cancelled");
  CHECK_EQ(stats().errors, 0);
  stop();
}

static void cancel_failed(uv_batch_t* from, uv_batch_event_t* event, int status) {
  note_error(from, event, status);
  CHECK_EQ(uv_batch_cancel(from, event), 0);
}

TEST(an_error_callback_can_cancel_a_retained_event) {
  start_with(UV_BATCH_RETAIN_EACH, "ab");
  options.error_cb = cancel_failed;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
  fails_with['a'] = fails_with['b'] = -9;
  on('X', N);
  on('Y', N);
  run();
  expect("Xa !a a:cancelled Xb !b b:cancelled");
  stop();
}

TEST(under_direct_a_push_in_a_replay_gives_the_rest_first) {
  reset();
  options.policy = UV_BATCH_POLICY_DIRECT;
  start();
  retain(N, UV_BATCH_RETAIN_FIRST);
  push_all(N, "ab");
  expect("");
  once = 0;
  while_handled['a'] = push_c_once;
  on('X', N);
  expect("");
  run();
  expect("Xa Xb b:ok Xc c:ok a:ok");
  stop();
}

static int retained_again;

static void over_and_pushed(uv_batch_t* from, uv_batch_event_t* event, int status) {
  note("%c:%s ", name_of(event), word_of(status));
  if (retained_again-- > 0) CHECK_EQ(uv_batch_push(from, event), 0);
}

TEST(an_event_that_was_cancelled_in_a_replay_can_be_retained_again) {
  uv_batch_event_t event;
  start_with(UV_BATCH_RETAIN_EACH, "");
  retained_again = 1;
  uv_batch_event_init(&event, N, (void*)(intptr_t)'a');
  event.callback = over_and_pushed;
  event_of['a'] = &event;
  CHECK_EQ(uv_batch_push(&batch, &event), 0);
  run();
  while_handled['a'] = cancel_a;
  on('X', N);
  run();
  expect("Xa a:cancelled took Xa late a:ok");
  stop();
}

TEST(what_a_type_may_keep_can_be_made_less_than_what_it_keeps) {
  uv_batch_type_options_t of_type;
  start_with(UV_BATCH_RETAIN_FIRST, "abc");
  CHECK_EQ(uv_batch_get_type(&batch, N, &of_type), 0);
  of_type.retain_max = 1;
  of_type.retain_max_bytes = 1;
  CHECK_EQ(uv_batch_set_type(&batch, N, &of_type), 0);
  CHECK_EQ(stats().retained, 3);
  push_all(N, "d");
  run();
  expect("d:noroom");
  on('X', N);
  run();
  expect("Xa a:ok Xb b:ok Xc c:ok");
  stop();
}

/* ---- all that was taken is accounted for */

static uint64_t accounted(const uv_batch_stats_t* now) {
  return now->queued + now->delivered + now->unhandled + now->held + now->refused_retention + now->refused_cancelled;
}

TEST(the_numbers_add_up) {
  static const int types[] = {N, W, UV_BATCH_SIGNAL, UV_BATCH_STREAM};
  uint64_t cancelled_queued = 0;
  uint32_t random = 12345;
  reset();
  options.max_queue = 20;
  start();
  on('X', N);
  retain(UV_BATCH_STREAM, UV_BATCH_RETAIN_FIRST);
  for (int i = 0; i < 5000; i++) {
    random = random * 1664525u + 1013904223u;
    int name = 'a' + (int)(random >> 24) % 26;
    uint32_t what = (random >> 16) % 16;
    if (event_of[name] == NULL) {
      int status = push(types[what % 4], name);
      CHECK(status == 0 || status == UV_ENOBUFS);
    } else if (what < 2) {
      int queued = event_of[name]->status == UV_BATCH_STATUS_QUEUED;
      CHECK_EQ(uv_batch_cancel(&batch, event_of[name]), 0);
      cancelled_queued += (uint64_t)queued;
    } else if (what == 3) {
      CHECK_EQ(uv_batch_flush(&batch), 0);
    } else if (what == 4) {
      uv_run(&loop, UV_RUN_NOWAIT);
    } else if (what == 5 && handlers['Y'].batch == NULL) {
      on('Y', UV_BATCH_STREAM);
    } else if (what == 6 && handlers['Y'].batch != NULL) {
      off('Y');
    }
    uv_batch_stats_t now = stats();
    CHECK_EQ(now.pushed, accounted(&now) + cancelled_queued);
    CHECK_EQ(now.queued, now.depth[0] + now.depth[1] + now.depth[2]);
    CHECK_EQ(now.batches, now.trigger[UV_BATCH_TRIGGER_SIZE] + now.trigger[UV_BATCH_TRIGGER_TURN] +
                              now.trigger[UV_BATCH_TRIGGER_FLUSH]);
    CHECK_EQ(live_events, now.queued + now.retained);
    story_length = 0;
  }
  CHECK(stats().refused_overloaded > 0 && stats().held > 0 && stats().replayed > 0 && cancelled_queued > 0);
  CHECK_EQ(uv_batch_close(&batch, UV_BATCH_DISCARD, note_closed), 0);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(last.queued, 0);
  CHECK_EQ(last.retained, 0);
  CHECK_EQ(last.pushed, accounted(&last) + cancelled_queued);
  stop();
}

TEST_MAIN
