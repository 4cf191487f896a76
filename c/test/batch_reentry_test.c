/* Calls of callbacks to their own queue while it runs them, and when they take effect. */
#include "batch_fixture.h"

enum { N = UV_BATCH_NETWORK, W = UV_BATCH_WORK, S = UV_BATCH_SIGNAL };

static void push_bc(void) {
  push_all(W, "b");
  push_all(S, "c");
  note("pushed ");
}

TEST(what_a_handler_pushes_leaves_in_the_next_batch_high_first) {
  reset();
  start();
  on('X', N);
  on('X' + 1, W);
  on('X' + 2, S);
  while_handled['a'] = push_bc;
  push_all(N, "ad");
  run();
  expect("Xa pushed a:ok Xd d:ok Zc c:ok Yb b:ok");
  CHECK_EQ(stats().batches, 2);
  stop();
}

static long endless_left;
static int pushed, seen_pushed, most_in_turn;

static void push_one_more(void) {
  pushed++;
  if (endless_left-- > 0) push_all(N, event_of['a'] == NULL ? "a" : "b");
}

static void another_turn(uv_check_t* check) {
  (void)check;
  if (pushed - seen_pushed > most_in_turn) most_in_turn = pushed - seen_pushed;
  seen_pushed = pushed;
}

TEST(handlers_that_keep_pushing_give_the_loop_back_after_eight_batches) {
  uv_check_t check;
  reset();
  start();
  on('X', N);
  while_handled['a'] = while_handled['b'] = push_one_more;
  endless_left = 30;
  pushed = seen_pushed = most_in_turn = 0;
  CHECK_EQ(uv_check_init(&loop, &check), 0);
  CHECK_EQ(uv_check_start(&check, another_turn), 0);
  uv_unref((uv_handle_t*)&check);
  push_all(N, "a");
  run();
  CHECK_EQ(most_in_turn, 8);
  CHECK_EQ(stats().batches, 31);
  CHECK_EQ(ends['a'] + ends['b'], 31);
  uv_close((uv_handle_t*)&check, NULL);
  stop();
}

TEST(a_dispatch_point_that_is_asked_for_hands_on_eight_batches_at_most) {
  reset();
  start();
  on('X', N);
  while_handled['a'] = while_handled['b'] = push_one_more;
  endless_left = 30;
  push_all(N, "a");
  CHECK_EQ(uv_batch_process(&batch), 0);
  CHECK_EQ(stats().batches, 8);
  CHECK_EQ(uv_batch_process(&batch), 0);
  CHECK_EQ(stats().batches, 16);
  run();
  CHECK_EQ(stats().batches, 31);
  stop();
}

static void cancel_all(void) {
  for (int name = 'a'; name <= 'd'; name++) {
    if (event_of[name] != NULL) note("%c%s ", name, uv_batch_cancel(&batch, event_of[name]) == 0 ? "+" : "-");
  }
}

static void push_d_and_cancel_all(void) {
  push_all(N, "d");
  cancel_all();
}

TEST(a_handler_can_cancel_what_is_queued_but_not_what_has_left) {
  reset();
  start();
  on('X', N);
  while_handled['a'] = push_d_and_cancel_all;
  push_all(N, "abc");
  run();
  expect("Xa a- b- c- d:cancelled d+ a:ok Xb b:ok Xc c:ok");
  stop();
}

static void flush_twice(void) {
  push_all(N, "c");
  CHECK_EQ(uv_batch_flush(&batch), 0);
  push_all(N, "d");
  CHECK_EQ(uv_batch_flush(&batch), 0);
  push_all(N, "e");
  note("flushed ");
}

TEST(a_flush_in_a_handler_cuts_now_and_leaves_after_the_batch) {
  reset();
  options.batch_cb = note_batch;
  start();
  on('X', N);
  while_handled['a'] = flush_twice;
  push_all(N, "ab");
  run();
  expect("turn(ab) Xa flushed a:ok Xb b:ok flush(c) Xc c:ok flush(d) Xd d:ok turn(e) Xe e:ok");
  stop();
}

TEST(a_flush_from_outside_takes_effect_inside_the_call) {
  reset();
  options.policy = UV_BATCH_POLICY_FIXED;
  options.max_delay = 60000;
  options.max_batch = 2;
  start();
  on('X', N);
  push_all(N, "a");
  CHECK_EQ(uv_batch_process(&batch), 0);
  expect("");
  push_all(N, "b");
  CHECK_EQ(uv_batch_flush(&batch), 0);
  expect("Xa a:ok Xb b:ok");
  run();
  stop();
}

static void to_order_type(void) {
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  options.order = UV_BATCH_ORDER_TYPE;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
  options.order = UV_BATCH_ORDER_ARRIVAL;
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  CHECK_EQ(options.order, UV_BATCH_ORDER_TYPE);
  push_all(N, "c");
  push_all(UV_BATCH_STREAM, "d");
  push_all(N, "e");
}

static void push_fgh(void) {
  push_all(N, "f");
  push_all(UV_BATCH_STREAM, "g");
  push_all(N, "h");
}

TEST(a_switch_in_a_handler_hands_on_what_is_queued_under_the_old_options) {
  reset();
  options.batch_cb = note_batch;
  start();
  while_handled['a'] = to_order_type;
  while_handled['c'] = push_fgh;
  on('X', N);
  push_all(N, "ab");
  run();
  expect("turn(ab) Xa a:ok Xb b:ok flush(cde) Xc c:ok d:ok Xe e:ok turn(fhg) Xf f:ok Xh h:ok g:ok");
  stop();
}

static void set_twice(void) {
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  options.policy = UV_BATCH_POLICY_FIXED;
  options.max_delay = 10;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
  options.max_delay = 20;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
}

TEST(of_two_changes_in_a_handler_the_later_counts) {
  reset();
  start();
  on('X', N);
  while_handled['a'] = set_twice;
  push_all(N, "a");
  run();
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  CHECK_EQ(options.policy, UV_BATCH_POLICY_FIXED);
  CHECK(options.max_delay == 20);
  stop();
}

static void limit_to_one(void) {
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  options.max_batch = 1;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
  push_all(N, "cd");
}

TEST(other_options_count_from_the_next_batch_on) {
  reset();
  options.batch_cb = note_batch;
  start();
  while_handled['a'] = limit_to_one;
  on('X', N);
  push_all(N, "ab");
  run();
  expect("turn(ab) Xa a:ok Xb b:ok size(c) Xc c:ok size(d) Xd d:ok");
  stop();
}

/* ---- direct */

static void push_b(void) {
  push_all(N, "b");
  note("back ");
}

static void push_c(void) {
  push_all(N, "c");
}

TEST(under_direct_a_handler_that_pushes_is_interrupted) {
  reset();
  options.policy = UV_BATCH_POLICY_DIRECT;
  options.batch_cb = note_batch;
  start();
  on('X', N);
  on('Y', N);
  while_handled['b'] = push_c;
  push_all(N, "d");
  expect("size(d) Xd Yd d:ok");
  while_handled['a'] = NULL;
  off('Y');
  while_handled['a'] = push_b;
  push_all(N, "a");
  expect("size(a) Xa size(b) Xb size(c) Xc c:ok b:ok back a:ok");
  CHECK_EQ(uv_loop_alive(&loop), 0);
  stop();
}

static void close_now(void) {
  CHECK_EQ(uv_batch_close(&batch, 0, note_closed), 0);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), UV_EALREADY);
  CHECK_EQ(push(N, 'z'), UV_ESHUTDOWN);
  note("closed ");
}

static void discard_now(void) {
  CHECK_EQ(uv_batch_close(&batch, UV_BATCH_DISCARD, note_closed), 0);
  note("discarded ");
}

static void post(int type, int name) {
  uv_batch_event_t* event = make(type, name);
  event_of[name] = event;
  live_events++;
  CHECK_EQ(uv_batch_post(&batch, event), 0);
}

TEST(under_direct_a_close_by_the_handler_of_a_posted_event_loses_no_other) {
  for (int discard = 0; discard < 2; discard++) {
    reset();
    options.policy = UV_BATCH_POLICY_DIRECT;
    start();
    on('X', N);
    while_handled['a'] = discard ? discard_now : close_now;
    post(N, 'a');
    post(N, 'b');
    post(N, 'c');
    CHECK_EQ(uv_batch_ref(&batch), 0);
    run();
    expect(discard ? "Xa discarded a:ok b:cancelled c:cancelled" : "Xa closed a:ok Xb b:ok Xc c:ok");
    CHECK_EQ(closed, 1);
    stop();
  }
}

TEST(a_close_hands_on_or_discards_what_was_posted_whatever_the_policy) {
  for (int policy = UV_BATCH_POLICY_ADAPTIVE; policy <= UV_BATCH_POLICY_DIRECT; policy++) {
    for (unsigned int flags = 0; flags <= UV_BATCH_DISCARD; flags++) {
      reset();
      options.policy = (uv_batch_policy_t)policy;
      start();
      on('X', N);
      post(N, 'a');
      post(N, 'b');
      CHECK_EQ(uv_batch_close(&batch, flags, note_closed), 0);
      expect(flags == 0 ? "Xa a:ok Xb b:ok" : "a:cancelled b:cancelled");
      run();
      CHECK_EQ(closed, 1);
      stop();
    }
  }
}

static int chain_left;

static void post_next(void) {
  if (chain_left-- > 0) post(N, 'b' + chain_left);
}

TEST(under_direct_a_loop_that_posts_to_itself_does_not_go_to_sleep) {
  reset();
  options.policy = UV_BATCH_POLICY_DIRECT;
  start();
  on('X', N);
  chain_left = 12;
  for (int name = 'a'; name < 'p'; name++) while_handled[name] = post_next;
  CHECK_EQ(uv_batch_ref(&batch), 0);
  post(N, 'a');
  uv_run(&loop, UV_RUN_NOWAIT);
  while (ends['b'] == 0) {
    CHECK_EQ(uv_backend_timeout(&loop), 0);
    uv_run(&loop, UV_RUN_NOWAIT);
  }
  CHECK_EQ(stats().delivered, 13);
  stop();
}

/* ---- closing */

TEST(a_close_in_a_handler_waits_for_its_batch) {
  reset();
  options.batch_cb = note_batch;
  options.max_batch = 2;
  start();
  on('X', N);
  while_handled['a'] = close_now;
  push_all(N, "abcde");
  run();
  expect("size(ab) Xa closed a:ok Xb b:ok close(cd) Xc c:ok Xd d:ok close(e) Xe e:ok");
  CHECK_EQ(closed, 1);
  stop();
}

TEST(a_discard_in_a_handler_waits_for_its_batch) {
  reset();
  options.max_batch = 2;
  start();
  on('X', N);
  while_handled['a'] = discard_now;
  push_all(N, "abcde");
  run();
  expect("Xa discarded a:ok Xb b:ok c:cancelled d:cancelled e:cancelled");
  CHECK_EQ(closed, 1);
  stop();
}

/* ---- any two operations in every callback: each event that was taken ends once, and nothing is left */

enum { operations = 14 };

static int first_operation, second_operation, place, done;
static int expected_ends, seen_ends;

static void count_end(uv_batch_t* from, uv_batch_event_t* event, int status);

static void push_unnamed(int type) {
  uv_batch_event_t* event = malloc(sizeof(*event));
  CHECK(event != NULL);
  uv_batch_event_init(event, type, NULL);
  event->callback = count_end;
  expected_ends++;
  if (uv_batch_push(&batch, event) == 0) return;
  expected_ends--;
  free(event);
}

static uv_batch_event_t* target; /* of a cancel */
static uv_batch_handler_t extra;

static int do_nothing(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  (void)handler, (void)event;
  return 0;
}

static void set_option(uv_batch_policy_t policy, uv_batch_order_t order, uint32_t max_batch) {
  uv_batch_options_t some;
  if (uv_batch_get(&batch, &some) != 0) return;
  some.policy = policy;
  some.order = order;
  some.max_batch = max_batch;
  uv_batch_set(&batch, &some);
}

static void operate(int operation) {
  switch (operation) {
    case 0: push_unnamed(N); break;
    case 1: push_unnamed(S); push_unnamed(W); break;
    case 2: if (target != NULL) uv_batch_cancel(&batch, target); break;
    case 3: uv_batch_flush(&batch); break;
    case 4: uv_batch_process(&batch); break;
    case 5: set_option(UV_BATCH_POLICY_FIXED, UV_BATCH_ORDER_TYPE, 2); break;
    case 6: set_option(UV_BATCH_POLICY_DIRECT, UV_BATCH_ORDER_ARRIVAL, 1024); break;
    case 7: set_option(UV_BATCH_POLICY_ADAPTIVE, UV_BATCH_ORDER_TYPE, 1024); break;
    case 8: uv_batch_close(&batch, 0, note_closed); break;
    case 9: uv_batch_close(&batch, UV_BATCH_DISCARD, note_closed); break;
    case 10:
      if (handlers['X'].batch != NULL) off('X');
      else uv_batch_on(&batch, &handlers['X'], N, handle);
      break;
    case 11:
      if (extra.batch != NULL) CHECK_EQ(uv_batch_off(&extra), 0);
      else uv_batch_on(&batch, &extra, W, do_nothing);
      break;
    case 12: {
      uv_batch_type_options_t of_type;
      if (uv_batch_get_type(&batch, W, &of_type) != 0) break;
      of_type.retain = of_type.retain == UV_BATCH_RETAIN_OFF ? UV_BATCH_RETAIN_EACH : UV_BATCH_RETAIN_OFF;
      of_type.max_batch = 1;
      uv_batch_set_type(&batch, W, &of_type);
      break;
    }
    default: {
      uv_batch_stats_t some;
      uv_batch_estimate_t estimate;
      int status = uv_batch_stats(&batch, &some);
      CHECK(status == 0 || (status == UV_ESHUTDOWN && uv_batch_is_closing(&batch)));
      CHECK_EQ(uv_batch_estimate(&batch, N, &estimate), status);
      uv_batch_type(&batch, "more");
    }
  }
}

static void at(int here) {
  if (here != place || done) return;
  done = 1;
  operate(first_operation);
  operate(second_operation);
}

static void count_end(uv_batch_t* from, uv_batch_event_t* event, int status) {
  CHECK(from == &batch);
  CHECK(event->status >= UV_BATCH_STATUS_COMPLETED);
  if (event == target) target = NULL;
  seen_ends++;
  at(status == 0 ? 0 : status == UV_ECANCELED ? 1 : 2);
  free(event);
}

static int matrix_handler(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  (void)handler;
  at(event->type == N ? 3 : 4);
  return event->type == N ? 0 : -1;
}

static void matrix_group(uv_batch_handler_t* handler, uv_batch_event_t* first, size_t count) {
  (void)handler;
  while (count-- > 0) {
    uv_batch_event_fail(first, -2);
    first = first->next;
  }
  at(5);
}

static void matrix_batch(uv_batch_t* from, const uv_batch_info_t* info) {
  CHECK(from == &batch && info->first != NULL);
  at(6);
}

static void matrix_error(uv_batch_t* from, uv_batch_event_t* event, int status) {
  CHECK(from == &batch && event != NULL && status < 0);
  at(7);
}

/* Of the retained events: `target` is one. */
static int matrix_late(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  (void)handler, (void)event;
  at(8);
  return 0;
}

static void matrix_late_group(uv_batch_handler_t* handler, uv_batch_event_t* first, size_t count) {
  (void)handler;
  CHECK_EQ(count, 1);
  uv_batch_event_fail(first, -3);
  at(9);
}

static void run_case(uv_batch_policy_t policy, uv_batch_retain_t how) {
  uv_batch_handler_t one = {0}, two = {0}, group = {0}, late = {0}, late_group = {0};
  reset();
  memset(&extra, 0, sizeof(extra));
  done = expected_ends = seen_ends = 0;
  target = NULL;
  options.policy = policy;
  options.max_delay = 0;
  if (place == 6) options.batch_cb = matrix_batch;
  options.error_cb = matrix_error;
  start();
  int mine = uv_batch_type(&batch, "mine");
  CHECK_EQ(uv_batch_on(&batch, &one, N, matrix_handler), 0);
  CHECK_EQ(uv_batch_on(&batch, &two, W, matrix_handler), 0);
  CHECK_EQ(uv_batch_on_group(&batch, &group, S, matrix_group), 0);
  retain(mine, how);
  for (int i = 0; i < 3; i++) push_unnamed(mine);
  push_unnamed(UV_BATCH_TIMER);
  run();
  for (int i = 0; i < 3; i++) {
    push_unnamed(N);
    push_unnamed(W);
    push_unnamed(S);
  }
  /* Late handlers, and one more event, which may be cancelled in a replay. */
  target = malloc(sizeof(*target));
  CHECK(target != NULL);
  uv_batch_event_init(target, mine, NULL);
  target->callback = count_end;
  expected_ends++;
  if (uv_batch_push(&batch, target) != 0) {
    free(target);
    target = NULL;
    expected_ends--;
  }
  run();
  push_unnamed(N);
  push_unnamed(mine);
  uv_batch_on(&batch, &late, mine, matrix_late);
  uv_batch_on_group(&batch, &late_group, mine, matrix_late_group);
  run();
  push_unnamed(N);
  if (target != NULL && place == 1) uv_batch_cancel(&batch, target);
  /* A second close is refused, the first may have been asked for by a callback. */
  stop();
  CHECK_EQ(closed, 1);
  CHECK_EQ(seen_ends, expected_ends);
}

static void run_all_at(int here) {
  place = here;
  for (first_operation = 0; first_operation < operations; first_operation++) {
    for (second_operation = 0; second_operation < operations; second_operation++) {
      for (int policy = UV_BATCH_POLICY_ADAPTIVE; policy <= UV_BATCH_POLICY_DIRECT; policy++) {
        run_case((uv_batch_policy_t)policy, UV_BATCH_RETAIN_FIRST);
        run_case((uv_batch_policy_t)policy, UV_BATCH_RETAIN_EACH);
      }
    }
  }
}

TEST(any_two_operations_in_the_callback_of_a_completed_event) { run_all_at(0); }
TEST(any_two_operations_in_the_callback_of_a_cancelled_event) { run_all_at(1); }
TEST(any_two_operations_in_the_callback_of_an_unhandled_or_failed_event) { run_all_at(2); }
TEST(any_two_operations_in_a_handler) { run_all_at(3); }
TEST(any_two_operations_in_a_handler_that_fails) { run_all_at(4); }
TEST(any_two_operations_in_a_group_handler) { run_all_at(5); }
TEST(any_two_operations_in_a_batch_callback) { run_all_at(6); }
TEST(any_two_operations_in_an_error_callback) { run_all_at(7); }
TEST(any_two_operations_in_a_handler_that_is_given_what_was_retained) { run_all_at(8); }
TEST(any_two_operations_in_a_group_handler_that_is_given_what_was_retained) { run_all_at(9); }

TEST_MAIN
