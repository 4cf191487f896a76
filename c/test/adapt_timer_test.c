#include "adapt_fixture.h"
#include "failing_allocator.h"

static uv_batch_timer_t timer;
static uv_batch_handler_t handler;
static uv_batch_event_t other;
static int events, counted, stopped, ticks;
static uv_timer_cb inner;

static int on_event(uv_batch_handler_t* self, uv_batch_event_t* event) {
  (void)self;
  CHECK(event->data == &timer);
  CHECK(timer.count > 0);
  events++;
  counted += (int)timer.count;
  return 0;
}

static void on_stopped(uv_batch_timer_t* which) {
  CHECK(which == &timer);
  stopped++;
}

/* Counts what libuv's timer does, so that the two can be compared. */
static void tick(uv_timer_t* handle) {
  ticks++;
  inner(handle);
}

static void open_timer(uint32_t max_queue, uv_batch_policy_t policy, uv_batch_handler_cb cb, uint64_t repeat) {
  events = counted = stopped = ticks = 0;
  memset(&timer, 0, sizeof(timer));
  memset(&handler, 0, sizeof(handler));
  open_queue(max_queue, policy);
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_TIMER, cb), 0);
  CHECK_EQ(uv_batch_timer_start(&batch, &timer, 1, repeat), 0);
  inner = timer.handle.timer_cb;
  timer.handle.timer_cb = tick;
}

static void close_timer(void) {
  if (stopped == 0) {
    CHECK_EQ(uv_batch_timer_stop(&timer, on_stopped), 0);
    CHECK_EQ(stopped, 0);
    run_until(&stopped, 1);
  }
  close_queue();
  CHECK_EQ(stopped, 1);
}

TEST(a_timer_that_does_not_repeat_is_one_event_and_keeps_the_loop_alive) {
  open_timer(65536, UV_BATCH_POLICY_ADAPTIVE, on_event, 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(events, 1);
  CHECK_EQ(counted, 1);
  CHECK_EQ(uv_batch_timer_start(&batch, &timer, 1, 0), UV_EBUSY);
  close_timer();
}

TEST(every_tick_is_in_one_count) {
  open_timer(65536, UV_BATCH_POLICY_ADAPTIVE, on_event, 1);
  run_until(&counted, 20);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  CHECK_EQ(counted, ticks);
  close_timer();
}

TEST(ticks_are_counted_while_the_event_is_held) {
  open_timer(65536, UV_BATCH_POLICY_FIXED, on_event, 1);
  while (ticks < 10) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  CHECK_EQ(counted, ticks);
  CHECK(events < 10);
  close_timer();
}

TEST(ticks_that_the_full_queue_refuses_are_not_lost) {
  open_timer(1, UV_BATCH_POLICY_FIXED, on_event, 1);
  uv_batch_event_init(&other, UV_BATCH_NETWORK, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  while (ticks < 5) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  while (ticks < 10) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  CHECK_EQ(counted, ticks);
  close_timer();
}

static int stop_in_handler(uv_batch_handler_t* self, uv_batch_event_t* event) {
  on_event(self, event);
  CHECK_EQ(uv_batch_timer_stop(&timer, on_stopped), 0);
  CHECK_EQ(uv_batch_timer_stop(&timer, on_stopped), UV_EALREADY);
  return 0;
}

TEST(stopped_by_its_handler_it_comes_no_more) {
  open_timer(65536, UV_BATCH_POLICY_ADAPTIVE, stop_in_handler, 1);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(events, 1);
  CHECK_EQ(stopped, 1);
  CHECK_EQ(uv_batch_timer_stop(&timer, on_stopped), UV_EINVAL);
  close_timer();
}

TEST(stopped_by_its_direct_handler_it_comes_no_more) {
  open_timer(65536, UV_BATCH_POLICY_DIRECT, stop_in_handler, 1);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(events, 1);
  close_timer();
}

TEST(a_stop_takes_back_what_has_not_left) {
  open_timer(65536, UV_BATCH_POLICY_FIXED, on_event, 1);
  while (timer.event.status != UV_BATCH_STATUS_QUEUED) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(uv_batch_timer_stop(&timer, on_stopped), 0);
  run_until(&stopped, 1);
  close_timer();
  CHECK_EQ(events, 0);
}

TEST(stopped_while_it_waits_for_room_it_comes_no_more) {
  open_timer(1, UV_BATCH_POLICY_FIXED, on_event, 1);
  uv_batch_event_init(&other, UV_BATCH_NETWORK, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  while (ticks < 3) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(uv_batch_timer_stop(&timer, on_stopped), 0);
  run_until(&stopped, 1);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  close_timer();
  CHECK_EQ(events, 0);
}

/* The struct is started again by the callback of its stop. */
static void start_again(uv_batch_timer_t* which) {
  stopped++;
  if (stopped < 3) CHECK_EQ(uv_batch_timer_start(&batch, which, 0, 0), 0);
}

static int stop_to_start(uv_batch_handler_t* self, uv_batch_event_t* event) {
  on_event(self, event);
  CHECK_EQ(uv_batch_timer_stop(&timer, start_again), 0);
  return 0;
}

TEST(its_stop_callback_can_start_it_again) {
  open_timer(65536, UV_BATCH_POLICY_ADAPTIVE, stop_to_start, 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(stopped, 3);
  CHECK_EQ(counted, 3);
  close_queue();
}

TEST(when_the_queue_is_over_it_ticks_in_vain) {
  open_timer(1, UV_BATCH_POLICY_FIXED, on_event, 1);
  uv_batch_event_init(&other, UV_BATCH_NETWORK, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  while (ticks < 3) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  while (ticks < 6) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(uv_batch_timer_start(&batch, &timer, 1, 1), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_timer_stop(&timer, on_stopped), 0);
  close_loop();
  CHECK_EQ(stopped, 1);
  CHECK_EQ(events, 0);
}

TEST(bad_input_is_refused) {
  uv_batch_timer_t second = {0};
  open_timer(65536, UV_BATCH_POLICY_ADAPTIVE, on_event, 1);
  CHECK_EQ(uv_batch_timer_start(NULL, &second, 1, 1), UV_EINVAL);
  CHECK_EQ(uv_batch_timer_start(&batch, NULL, 1, 1), UV_EINVAL);
  CHECK_EQ(uv_batch_timer_start(&batch, &timer, 1, 1), UV_EBUSY);
  CHECK_EQ(uv_batch_timer_stop(NULL, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_timer_stop(&second, NULL), UV_EINVAL);
  close_timer();
}

TEST(an_allocation_that_fails_is_reported_and_leaves_nothing_behind) {
  uv_batch_timer_t second = {0};
  failing_allocator_install();
  open_timer(65536, UV_BATCH_POLICY_ADAPTIVE, on_event, 1);
  failing_allocator_after(0);
  CHECK_EQ(uv_batch_timer_start(&batch, &second, 1, 1), UV_ENOMEM);
  CHECK_EQ(uv_batch_timer_stop(&second, NULL), UV_EINVAL);
  failing_allocator_after(0);
  run_until(&events, 5);
  failing_allocator_after(-1);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  CHECK_EQ(counted, ticks);
  close_timer();
  CHECK_EQ(failing_allocator_live(), 0);
}

TEST_MAIN
