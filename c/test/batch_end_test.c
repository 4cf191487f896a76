/* Every way in which an event can end: its callback runs once, with the status that says so, and the event is yours. */
#include "batch_fixture.h"

enum { N = UV_BATCH_NETWORK, W = UV_BATCH_WORK };

TEST(handled_it_is_completed) {
  reset();
  start();
  on('X', N);
  push_all(N, "abc");
  expect("");
  run();
  expect("Xa a:ok Xb b:ok Xc c:ok");
  stop();
  expect("");
}

TEST(a_failure_of_its_handler_is_its_status) {
  reset();
  options.error_cb = note_error;
  start();
  on('X', N);
  on('Y', N);
  fails_with['b'] = UV_EIO;
  push_all(N, "abc");
  run();
  expect("Xa Ya a:ok Xb !b b:failed Xc Yc c:ok");
  CHECK_EQ(last_status['b'], UV_EIO);
  CHECK_EQ(stats().errors, 1);
  CHECK_EQ(stats().delivered, 3);
  stop();
}

TEST(a_positive_return_value_is_no_failure) {
  reset();
  start();
  on('X', N);
  fails_with['a'] = 7;
  push_all(N, "a");
  run();
  expect("Xa a:ok");
  CHECK_EQ(stats().errors, 0);
  stop();
}

TEST(taken_back_it_is_cancelled_inside_the_call) {
  reset();
  start();
  on('X', N);
  push_all(N, "abc");
  CHECK_EQ(uv_batch_cancel(&batch, event_of['b']), 0);
  expect("b:cancelled");
  CHECK_EQ(stats().cancelled, 1);
  CHECK_EQ(stats().queued, 2);
  run();
  expect("Xa a:ok Xc c:ok");
  stop();
}

TEST(it_cannot_be_taken_back_from_another_queue) {
  static uv_batch_t other;
  reset();
  start();
  CHECK_EQ(uv_batch_init(&loop, &other, NULL), 0);
  on('X', N);
  push_all(N, "a");
  CHECK_EQ(uv_batch_cancel(&other, event_of['a']), UV_EINVAL);
  CHECK_EQ(uv_batch_close(&other, 0, NULL), 0);
  run();
  expect("Xa a:ok");
  stop();
}

TEST(the_close_delivers_what_is_queued_or_discards_it) {
  for (unsigned int flags = 0; flags <= UV_BATCH_DISCARD; flags++) {
    reset();
    start();
    on('X', N);
    push_all(N, "a");
    push_all(W, "b");
    push_all(UV_BATCH_SIGNAL, "c");
    CHECK_EQ(uv_batch_close(&batch, flags, note_closed), 0);
    expect(flags == 0 ? "c:unhandled Xa a:ok b:unhandled" : "c:cancelled a:cancelled b:cancelled");
    CHECK_EQ(closed, 0);
    CHECK_EQ(stats().refused_cancelled, flags == 0 ? 0 : 3);
    run();
    CHECK_EQ(closed, 1);
    stop();
  }
}

TEST(without_a_handler_it_is_unhandled) {
  reset();
  start();
  on('X', W);
  push_all(N, "a");
  run();
  expect("a:unhandled");
  CHECK_EQ(stats().unhandled, 1);
  CHECK_EQ(stats().delivered, 0);
  stop();
}

TEST(with_a_batch_callback_every_event_is_handled) {
  reset();
  options.batch_cb = note_batch;
  start();
  retain(W, UV_BATCH_RETAIN_FIRST);
  push_all(N, "a");
  push_all(W, "b");
  run();
  expect("turn(ab) a:ok b:ok");
  CHECK_EQ(stats().unhandled, 0);
  CHECK_EQ(stats().retained, 0);
  CHECK_EQ(stats().delivered, 2);
  stop();
}

TEST(retained_it_expires_at_its_age) {
  reset();
  start();
  uv_batch_type_options_t of_type;
  CHECK_EQ(uv_batch_get_type(&batch, N, &of_type), 0);
  of_type.retain = UV_BATCH_RETAIN_FIRST;
  of_type.retain_max_age = 1;
  CHECK_EQ(uv_batch_set_type(&batch, N, &of_type), 0);
  push_all(N, "ab");
  CHECK_EQ(uv_batch_ref(&batch), 0);
  while (ends['b'] == 0) uv_run(&loop, UV_RUN_ONCE);
  expect("a:expired b:expired");
  CHECK_EQ(stats().expired, 2);
  CHECK_EQ(stats().held, 2);
  CHECK_EQ(stats().retained, 0);
  stop();
}

TEST(retained_it_expires_with_the_end_of_retention_or_the_close) {
  for (int close = 0; close < 2; close++) {
    reset();
    start();
    retain(N, UV_BATCH_RETAIN_EACH);
    push_all(N, "ab");
    run();
    expect("");
    CHECK_EQ(event_of['a']->status, UV_BATCH_STATUS_RETAINED);
    keeps['a'] = keeps['b'] = 1;
    if (close) CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
    else retain(N, UV_BATCH_RETAIN_OFF);
    expect("a:cancelled b:cancelled");
    CHECK_EQ(given_back['a']->status, UV_BATCH_STATUS_EXPIRED);
    CHECK_EQ(stats().expired, 2);
    free(given_back['a']);
    free(given_back['b']);
    stop();
  }
}

TEST(retained_it_can_be_cancelled) {
  reset();
  start();
  retain(N, UV_BATCH_RETAIN_FIRST);
  push_all(N, "ab");
  run();
  CHECK_EQ(uv_batch_cancel(&batch, event_of['a']), 0);
  expect("a:cancelled");
  CHECK_EQ(stats().retained, 1);
  CHECK_EQ(stats().cancelled, 1);
  on('X', N);
  run();
  expect("Xb b:ok");
  stop();
}

TEST(without_room_to_be_retained_it_ends_so) {
  reset();
  start();
  uv_batch_type_options_t of_type;
  CHECK_EQ(uv_batch_get_type(&batch, N, &of_type), 0);
  of_type.retain = UV_BATCH_RETAIN_FIRST;
  of_type.retain_max = 2;
  CHECK_EQ(uv_batch_set_type(&batch, N, &of_type), 0);
  push_all(N, "abc");
  run();
  expect("c:noroom");
  CHECK_EQ(stats().refused_retention, 1);
  stop();
  expect("a:cancelled b:cancelled");
}

TEST(bytes_bound_what_is_retained_too) {
  reset();
  start();
  uv_batch_type_options_t of_type;
  CHECK_EQ(uv_batch_get_type(&batch, N, &of_type), 0);
  of_type.retain = UV_BATCH_RETAIN_FIRST;
  of_type.retain_max_bytes = 10;
  CHECK_EQ(uv_batch_set_type(&batch, N, &of_type), 0);
  static const uint64_t sizes[] = {11, 4, 7, 6, 1, 0};
  for (int i = 0; i < 6; i++) {
    event_of['a' + i] = make(N, 'a' + i);
    event_of['a' + i]->size = sizes[i];
    live_events++;
    CHECK_EQ(uv_batch_push(&batch, event_of['a' + i]), 0);
  }
  run();
  expect("a:noroom c:noroom e:noroom");
  CHECK_EQ(stats().retained_bytes, 10);
  CHECK_EQ(uv_batch_cancel(&batch, event_of['b']), 0);
  CHECK_EQ(stats().retained_bytes, 6);
  stop();
  expect("b:cancelled d:cancelled f:cancelled");
}

static void cut_short(void) {
  note("(%c) ", 'a');
}

TEST(each_status_can_be_read_in_the_callback) {
  static const struct {
    int name;
    uv_batch_status_t status;
  } over[] = {
      {'a', UV_BATCH_STATUS_COMPLETED}, {'b', UV_BATCH_STATUS_FAILED}, {'c', UV_BATCH_STATUS_CANCELLED},
      {'d', UV_BATCH_STATUS_UNHANDLED}, {'e', UV_BATCH_STATUS_CANCELLED},
  };
  reset();
  start();
  on('X', N);
  fails_with['b'] = -1;
  for (size_t i = 0; i < sizeof(over) / sizeof(over[0]); i++) keeps[over[i].name] = 1;
  push_all(N, "abc");
  push_all(W, "d");
  CHECK_EQ(event_of['a']->status, UV_BATCH_STATUS_QUEUED);
  CHECK_EQ(uv_batch_cancel(&batch, event_of['c']), 0);
  while_handled['a'] = cut_short;
  run();
  expect("c:cancelled Xa (a) a:ok Xb b:failed d:unhandled");
  push_all(N, "e");
  CHECK_EQ(uv_batch_close(&batch, UV_BATCH_DISCARD, NULL), 0);
  for (size_t i = 0; i < sizeof(over) / sizeof(over[0]); i++) {
    CHECK_EQ(ends[over[i].name], 1);
    CHECK_EQ(given_back[over[i].name]->status, over[i].status);
    free(given_back[over[i].name]);
  }
  stop();
}

/* ---- what is done with it then */

static int again;

static void push_a_again(void) {
  if (again-- == 0) return;
  CHECK_EQ(uv_batch_push(&batch, event_of['a']), 0);
}

static void over_and_again(uv_batch_t* from, uv_batch_event_t* event, int status) {
  (void)from;
  note("%c:%s ", name_of(event), word_of(status));
  push_a_again();
}

TEST(its_callback_can_push_it_again_whatever_the_policy) {
  for (int policy = UV_BATCH_POLICY_ADAPTIVE; policy <= UV_BATCH_POLICY_DIRECT; policy++) {
    uv_batch_event_t event;
    reset();
    options.policy = (uv_batch_policy_t)policy;
    options.max_delay = 0;
    start();
    on('X', N);
    again = 3;
    event_of['a'] = &event;
    uv_batch_event_init(&event, N, (void*)(intptr_t)'a');
    event.callback = over_and_again;
    CHECK_EQ(uv_batch_push(&batch, &event), 0);
    run();
    expect("Xa a:ok Xa a:ok Xa a:ok Xa a:ok");
    CHECK_EQ(stats().batches, 4);
    event_of['a'] = NULL;
    stop();
  }
}

TEST(cancelled_it_can_be_pushed_again_inside_the_cancel) {
  uv_batch_event_t event;
  reset();
  start();
  on('X', N);
  again = 1;
  event_of['a'] = &event;
  uv_batch_event_init(&event, N, (void*)(intptr_t)'a');
  event.callback = over_and_again;
  CHECK_EQ(uv_batch_push(&batch, &event), 0);
  CHECK_EQ(uv_batch_cancel(&batch, &event), 0);
  expect("a:cancelled");
  CHECK_EQ(event.status, UV_BATCH_STATUS_QUEUED);
  run();
  expect("Xa a:ok");
  stop();
}

TEST(an_event_without_a_callback_just_ends) {
  uv_batch_event_t events[3];
  reset();
  start();
  on('X', N);
  for (int i = 0; i < 3; i++) {
    uv_batch_event_init(&events[i], i == 2 ? W : N, (void*)(intptr_t)('a' + i));
    CHECK_EQ(uv_batch_push(&batch, &events[i]), 0);
  }
  CHECK_EQ(uv_batch_cancel(&batch, &events[1]), 0);
  run();
  expect("Xa");
  CHECK_EQ(events[0].status, UV_BATCH_STATUS_COMPLETED);
  CHECK_EQ(events[1].status, UV_BATCH_STATUS_CANCELLED);
  CHECK_EQ(events[2].status, UV_BATCH_STATUS_UNHANDLED);
  CHECK_EQ(uv_batch_cancel(&batch, &events[0]), UV_EALREADY);
  stop();
}

TEST_MAIN
