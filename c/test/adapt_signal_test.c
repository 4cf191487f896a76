#include <signal.h>
#include <unistd.h>

#include "adapt_fixture.h"
#include "failing_allocator.h"

static uv_batch_signal_t usr1;
static uv_batch_handler_t handler;
static uv_batch_event_t other;
static int events, counted, stopped;

static int on_event(uv_batch_handler_t* self, uv_batch_event_t* event) {
  (void)self;
  CHECK(event->data == &usr1);
  CHECK_EQ(event->type, usr1.event.type);
  events++;
  counted += (int)usr1.count;
  return 0;
}

static void on_stopped(uv_batch_signal_t* which) {
  CHECK(which == &usr1);
  stopped++;
}

static void send_signal(void) {
  CHECK_EQ(kill(getpid(), SIGUSR1), 0);
}

static void open_signal(uint32_t max_queue, uv_batch_policy_t policy, uv_batch_handler_cb cb) {
  events = counted = stopped = 0;
  memset(&usr1, 0, sizeof(usr1));
  memset(&handler, 0, sizeof(handler));
  open_queue(max_queue, policy);
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_SIGNAL, cb), 0);
  CHECK_EQ(uv_batch_signal_start(&batch, &usr1, SIGUSR1), 0);
}

static void close_signal(void) {
  if (stopped == 0) {
    CHECK_EQ(uv_batch_signal_stop(&usr1, on_stopped), 0);
    CHECK_EQ(stopped, 0);
    run_until(&stopped, 1);
  }
  close_queue();
  CHECK_EQ(stopped, 1);
}

TEST(signals_of_a_turn_are_one_event_that_counts_them) {
  open_signal(65536, UV_BATCH_POLICY_ADAPTIVE, on_event);
  for (int i = 0; i < 5; i++) send_signal();
  run_until(&counted, 5);
  CHECK_EQ(counted, 5);
  CHECK_EQ(events, 1);
  send_signal();
  run_until(&counted, 6);
  CHECK_EQ(events, 2);
  close_signal();
}

TEST(signals_that_the_full_queue_refuses_are_counted_in_the_next_event) {
  open_signal(1, UV_BATCH_POLICY_FIXED, on_event);
  uv_batch_event_init(&other, UV_BATCH_TIMER, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  for (int i = 0; i < 5; i++) {
    send_signal();
    uv_run(&loop, UV_RUN_ONCE);
  }
  CHECK_EQ(usr1.event.status, UV_BATCH_STATUS_REFUSED);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  send_signal();
  run_until(&counted, 6);
  CHECK_EQ(counted, 6);
  CHECK_EQ(events, 1);
  close_signal();
}

static int signal_again(uv_batch_handler_t* self, uv_batch_event_t* event) {
  on_event(self, event);
  if (events > 3) return 0;
  /* libuv calls back in a later turn: by then this event is over. */
  send_signal();
  send_signal();
  return 0;
}

TEST(signals_sent_while_the_handler_runs_are_counted_once) {
  open_signal(65536, UV_BATCH_POLICY_ADAPTIVE, signal_again);
  send_signal();
  run_until(&counted, 7);
  run_turns(5);
  CHECK_EQ(counted, 7);
  close_signal();
}

static int run_loop_inside(uv_batch_handler_t* self, uv_batch_event_t* event) {
  unsigned int before = usr1.count;
  on_event(self, event);
  if (events > 1) return 0;
  /* What the loop's callback does when it comes in the middle of a batch: as a nested loop of an embedder makes it. */
  usr1.handle.signal_cb(&usr1.handle, SIGUSR1);
  usr1.handle.signal_cb(&usr1.handle, SIGUSR1);
  CHECK_EQ(usr1.count, before);
  return 0;
}

TEST(a_signal_after_the_event_has_left_is_in_the_event_after) {
  open_signal(65536, UV_BATCH_POLICY_ADAPTIVE, run_loop_inside);
  send_signal();
  run_until(&events, 2);
  CHECK_EQ(counted, 3);
  close_signal();
}

static int stop_in_handler(uv_batch_handler_t* self, uv_batch_event_t* event) {
  int before = stopped;
  on_event(self, event);
  CHECK_EQ(uv_batch_signal_stop(&usr1, on_stopped), 0);
  CHECK_EQ(uv_batch_signal_stop(&usr1, on_stopped), UV_EALREADY);
  CHECK_EQ(stopped, before);
  return 0;
}

TEST(it_can_be_stopped_by_its_handler_and_started_again) {
  open_signal(65536, UV_BATCH_POLICY_ADAPTIVE, stop_in_handler);
  send_signal();
  run_until(&stopped, 1);
  CHECK_EQ(uv_batch_signal_stop(&usr1, on_stopped), UV_EINVAL);
  CHECK_EQ(uv_batch_signal_start(&batch, &usr1, SIGUSR1), 0);
  send_signal();
  run_until(&stopped, 2);
  CHECK_EQ(counted, 2);
  close_queue();
}

TEST(it_can_be_stopped_by_its_direct_handler) {
  open_signal(65536, UV_BATCH_POLICY_DIRECT, stop_in_handler);
  send_signal();
  run_until(&stopped, 1);
  close_signal();
}

TEST(a_stop_takes_back_what_has_not_left) {
  open_signal(65536, UV_BATCH_POLICY_FIXED, on_event);
  usr1.event.priority = UV_BATCH_PRIORITY_NORMAL;
  send_signal();
  run_turns(3);
  CHECK_EQ(usr1.event.status, UV_BATCH_STATUS_QUEUED);
  CHECK_EQ(uv_batch_signal_stop(&usr1, on_stopped), 0);
  CHECK_EQ(usr1.event.status, UV_BATCH_STATUS_CANCELLED);
  run_until(&stopped, 1);
  close_signal();
  CHECK_EQ(events, 0);
}

TEST(a_type_of_ones_own_is_kept) {
  int type;
  uv_batch_handler_t own = {0};
  open_signal(65536, UV_BATCH_POLICY_ADAPTIVE, on_event);
  type = uv_batch_type(&batch, "reload");
  CHECK(type > 0);
  CHECK_EQ(uv_batch_on(&batch, &own, type, on_event), 0);
  usr1.event.type = type;
  for (int i = 1; i <= 3; i++) {
    send_signal();
    run_until(&counted, i);
  }
  CHECK_EQ(events, 3);
  close_signal();
}

TEST(when_the_queue_closes_a_kept_count_is_given_up) {
  open_signal(1, UV_BATCH_POLICY_FIXED, on_event);
  uv_batch_event_init(&other, UV_BATCH_TIMER, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  send_signal();
  run_turns(2);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  run_turns(3);
  send_signal();
  run_turns(3);
  CHECK_EQ(uv_batch_signal_start(&batch, &usr1, SIGUSR1), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_signal_stop(&usr1, on_stopped), 0);
  close_loop();
  CHECK_EQ(stopped, 1);
  CHECK_EQ(events, 0);
}

TEST(bad_input_is_refused_and_leaves_nothing_behind) {
  uv_batch_signal_t wrong = {0};
  open_signal(65536, UV_BATCH_POLICY_ADAPTIVE, on_event);
  CHECK_EQ(uv_batch_signal_start(NULL, &wrong, SIGUSR1), UV_EINVAL);
  CHECK_EQ(uv_batch_signal_start(&batch, NULL, SIGUSR1), UV_EINVAL);
  CHECK_EQ(uv_batch_signal_start(&batch, &wrong, 0), UV_EINVAL);
  CHECK_EQ(uv_batch_signal_start(&batch, &wrong, -1), UV_EINVAL);
  CHECK_EQ(uv_batch_signal_start(&batch, &wrong, 100000), UV_EINVAL);
  CHECK_EQ(uv_batch_signal_start(&batch, &wrong, SIGKILL), UV_EINVAL);
  CHECK_EQ(uv_batch_signal_start(&batch, &usr1, SIGUSR1), UV_EBUSY);
  CHECK_EQ(uv_batch_signal_stop(NULL, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_signal_stop(&wrong, NULL), UV_EINVAL);
  close_signal();
}

TEST(an_allocation_that_fails_is_reported_and_leaves_nothing_behind) {
  int status = UV_ENOMEM;
  failing_allocator_install();
  open_signal(65536, UV_BATCH_POLICY_ADAPTIVE, on_event);
  uv_batch_signal_t second = {0};
  for (long n = 0; status != 0; n++) {
    CHECK(n < 10);
    failing_allocator_after(n);
    status = uv_batch_signal_start(&batch, &second, SIGUSR2);
    failing_allocator_after(-1);
    CHECK(status == 0 || status == UV_ENOMEM);
    if (status != 0) CHECK_EQ(uv_batch_signal_stop(&second, NULL), UV_EINVAL);
  }
  CHECK_EQ(uv_batch_signal_stop(&second, NULL), 0);
  close_signal();
  CHECK_EQ(failing_allocator_live(), 0);
}

TEST_MAIN
