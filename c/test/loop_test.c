/* A queue on a real loop: which phase its batches leave in, and what keeps the loop alive. */
#include "test.h"
#include "uv_batch.h"

static uv_loop_t loop;
static uv_batch_t batch;
static int handled, batches, closed;
static uv_batch_trigger_t last_trigger;

static int count_event(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  (void)handler, (void)event;
  handled++;
  return 0;
}

static void count_batch(uv_batch_t* from, const uv_batch_info_t* info) {
  (void)from;
  batches++;
  last_trigger = info->trigger;
}

static void count_closed(uv_batch_t* from, const uv_batch_stats_t* last) {
  (void)from, (void)last;
  closed++;
}

static uv_batch_handler_t handler;

static void start(uv_batch_options_t* options) {
  handled = batches = closed = 0;
  uv_batch_options_t defaults;
  if (options == NULL) {
    uv_batch_options_init(&defaults);
    options = &defaults;
  }
  options->batch_cb = count_batch;
  CHECK_EQ(uv_loop_init(&loop), 0);
  CHECK_EQ(uv_batch_init(&loop, &batch, options), 0);
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, count_event), 0);
}

static void stop(void) {
  CHECK_EQ(uv_batch_close(&batch, 0, count_closed), 0);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(closed, 1);
  CHECK_EQ(uv_loop_close(&loop), 0);
}

static uv_batch_event_t events[64];

static void push_some(int from, int count) {
  for (int i = from; i < from + count; i++) {
    uv_batch_event_init(&events[i], UV_BATCH_NETWORK, NULL);
    CHECK_EQ(uv_batch_push(&batch, &events[i]), 0);
  }
}

TEST(an_idle_loop_ends_at_once) {
  start(NULL);
  CHECK_EQ(uv_loop_alive(&loop), 0);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(uv_backend_timeout(&loop), 0);
  stop();
}

TEST(a_push_before_the_loop_leaves_in_its_first_turn_whatever_the_mode) {
  static const uv_run_mode modes[] = {UV_RUN_DEFAULT, UV_RUN_ONCE, UV_RUN_NOWAIT};
  for (int i = 0; i < 3; i++) {
    start(NULL);
    push_some(0, 5);
    CHECK(uv_loop_alive(&loop));
    CHECK_EQ(uv_run(&loop, modes[i]), 0);
    CHECK_EQ(handled, 5);
    CHECK_EQ(batches, 1);
    CHECK_EQ(last_trigger, UV_BATCH_TRIGGER_TURN);
    CHECK_EQ(uv_loop_alive(&loop), 0);
    stop();
  }
}

TEST(an_embedder_hears_that_the_poll_must_not_block) {
  start(NULL);
  push_some(0, 1);
  CHECK_EQ(uv_backend_timeout(&loop), 0);
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(handled, 1);
  stop();
}

/* Each phase of a turn in which somebody may push. A timer far away would let the poll block for an hour. */
static uv_timer_t far_away, near;
static uv_prepare_t prepare;
static uv_check_t check;
static uv_idle_t idle;
static int in_phase;

static void never(uv_timer_t* timer) {
  (void)timer;
  fputs("the poll has blocked\n", stderr);
  exit(1);
}

static void push_once(void) {
  if (in_phase++ == 0) push_some(0, 3);
}

static void in_timer(uv_timer_t* timer) {
  (void)timer;
  push_once();
}

static void nothing(uv_timer_t* timer) {
  (void)timer;
}

static void idly(uv_idle_t* handle) {
  (void)handle;
}

static void in_prepare(uv_prepare_t* handle) {
  (void)handle;
  push_once();
}

static void in_check(uv_check_t* handle) {
  (void)handle;
  push_once();
  uv_idle_stop(&idle);
}

static void in_close(uv_handle_t* handle) {
  (void)handle;
  push_once();
}

static void stop_when_handled(uv_idle_t* handle) {
  if (handled == 0) return;
  uv_close((uv_handle_t*)handle, NULL);
}

static void run_until_handled(void) {
  uv_timer_init(&loop, &far_away);
  uv_timer_start(&far_away, never, 3600 * 1000, 0);
  for (int turn = 0; turn < 20 && handled == 0; turn++) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(handled, 3);
  CHECK_EQ(batches, 1);
  uv_close((uv_handle_t*)&far_away, NULL);
}

TEST(a_push_from_a_timer_does_not_wait_for_other_events) {
  start(NULL);
  in_phase = 0;
  uv_timer_init(&loop, &near);
  uv_timer_start(&near, in_timer, 1, 0);
  run_until_handled();
  uv_close((uv_handle_t*)&near, NULL);
  stop();
}

TEST(a_push_from_a_later_prepare_callback_does_not_wait) {
  start(NULL);
  in_phase = 0;
  uv_prepare_init(&loop, &prepare);
  uv_prepare_start(&prepare, in_prepare);
  run_until_handled();
  uv_close((uv_handle_t*)&prepare, NULL);
  stop();
}

TEST(a_push_from_a_check_callback_does_not_wait) {
  start(NULL);
  in_phase = 0;
  /* Lets the first poll end, and no other. */
  uv_idle_init(&loop, &idle);
  uv_idle_start(&idle, idly);
  uv_check_init(&loop, &check);
  uv_check_start(&check, in_check);
  run_until_handled();
  uv_close((uv_handle_t*)&check, NULL);
  uv_close((uv_handle_t*)&idle, NULL);
  stop();
}

TEST(a_push_from_a_close_callback_does_not_wait) {
  start(NULL);
  in_phase = 0;
  uv_idle_init(&loop, &idle);
  uv_close((uv_handle_t*)&idle, in_close);
  run_until_handled();
  stop();
}

/* The loop's last handle fires in the phase after the check: the loop must not end with the events queued. */
TEST(a_loop_whose_last_timer_pushes_delivers_before_it_ends) {
  start(NULL);
  in_phase = 0;
  uv_timer_init(&loop, &near);
  uv_timer_start(&near, in_timer, 1, 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(handled, 3);
  uv_close((uv_handle_t*)&near, NULL);
  stop();
}

TEST(a_hold_keeps_the_loop_alive_until_it_ends) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.policy = UV_BATCH_POLICY_FIXED;
  options.max_delay = 5;
  start(&options);
  push_some(0, 2);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(handled, 2);
  CHECK_EQ(last_trigger, UV_BATCH_TRIGGER_DELAY);
  stop();
}

TEST(a_hold_whose_events_are_cancelled_lets_the_loop_end) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.policy = UV_BATCH_POLICY_FIXED;
  options.max_delay = 60000;
  start(&options);
  push_some(0, 1);
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK(uv_loop_alive(&loop));
  CHECK_EQ(uv_batch_cancel(&batch, &events[0]), 0);
  /* Not at once: what has kept it alive has to be closed. */
  CHECK_EQ(uv_run(&loop, UV_RUN_NOWAIT), 0);
  stop();
}

/* Puts one event into a hold of a minute. */
static void hold_one(void) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.policy = UV_BATCH_POLICY_FIXED;
  options.max_delay = 60000;
  options.threshold = 3;
  start(&options);
  push_some(0, 1);
  /* Once more: libuv takes in what keeps it alive. */
  for (int turn = 0; turn < 2; turn++) uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(batches, 0);
}

/* Reports whether a dispatch point is due at the end of this turn. */
static int is_due(void) {
  return uv_backend_timeout(&loop) == 0;
}

TEST(a_push_that_does_not_end_a_hold_lets_the_loop_sleep) {
  hold_one();
  CHECK(!is_due());
  push_some(1, 1);
  CHECK(!is_due());
  /* The threshold. */
  push_some(2, 1);
  CHECK(is_due());
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(last_trigger, UV_BATCH_TRIGGER_THRESHOLD);
  CHECK_EQ(handled, 3);
  stop();
}

TEST(pushes_of_one_turn_have_one_time_during_a_hold_too) {
  hold_one();
  push_some(1, 1);
  uv_sleep(1);
  push_some(2, 1);
  CHECK(events[1].timestamp == events[2].timestamp);
  CHECK(events[1].timestamp > events[0].timestamp);
  stop();
}

TEST(a_hold_that_is_over_ends_in_the_middle_of_a_turn_when_asked) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.policy = UV_BATCH_POLICY_FIXED;
  options.max_delay = 5;
  for (;;) {
    start(&options);
    push_some(0, 1);
    CHECK_EQ(uv_batch_process(&batch), 0);
    if (handled == 0) break;
    /* It took more than 5 ms to get here. */
    stop();
  }
  push_some(1, 1);
  uv_sleep(6);
  CHECK_EQ(uv_batch_process(&batch), 0);
  CHECK_EQ(handled, 2);
  CHECK_EQ(last_trigger, UV_BATCH_TRIGGER_DELAY);
  stop();
}

TEST(a_high_event_ends_a_hold_in_its_turn) {
  hold_one();
  uv_batch_event_init(&events[1], UV_BATCH_SIGNAL, NULL);
  CHECK_EQ(uv_batch_push(&batch, &events[1]), 0);
  CHECK(is_due());
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(last_trigger, UV_BATCH_TRIGGER_PRIORITY);
  stop();
}

TEST(a_set_of_options_asks_again_about_a_held_batch) {
  hold_one();
  uv_batch_options_t options;
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  options.max_delay = 0;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
  CHECK(is_due());
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(last_trigger, UV_BATCH_TRIGGER_TURN);
  stop();
}

TEST(stats_say_what_the_policy_goes_by_and_why_it_does_not_hold) {
  uv_batch_options_t options;
  uv_batch_stats_t stats;
  uv_batch_options_init(&options);
  start(&options);
  CHECK_EQ(uv_batch_stats(&batch, &stats), 0);
  CHECK(strcmp(stats.policy.why, "no delay allowed") == 0);
  CHECK(stats.policy.total == 0);
  options.max_delay = 10;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
  CHECK_EQ(uv_batch_stats(&batch, &stats), 0);
  CHECK(strcmp(stats.policy.why, "not asked yet") == 0);
  push_some(0, 4);
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(uv_batch_stats(&batch, &stats), 0);
  /* Before the first batch nothing is known to cost anything; this was the first one. */
  CHECK(strcmp(stats.policy.why, "nothing to save") == 0);
  CHECK(stats.policy.hold == 0);
  CHECK(isnan(stats.policy.saving));
  CHECK(stats.policy.rate > 0);
  CHECK(stats.policy.total > 0);
  CHECK(stats.policy.batch_cost + stats.policy.event_cost > 0);
  CHECK(stats.policy.hold_cost > 0);
  options.policy = UV_BATCH_POLICY_FIXED;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
  push_some(4, 1);
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(uv_batch_stats(&batch, &stats), 0);
  CHECK(stats.policy.why == NULL);
  CHECK(stats.policy.hold == 10);
  stop();
}

TEST(batches_that_take_too_long_limit_the_next_ones) {
  uv_batch_options_t options;
  uv_batch_estimate_t estimate;
  uv_batch_stats_t stats;
  uv_batch_options_init(&options);
  options.max_batch_time = 1e-6;
  start(&options);
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(uv_batch_stats(&batch, &stats), 0);
    CHECK_EQ(stats.policy.limit, 0);
    push_some(0, 8);
    uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_EQ(batches, i + 1);
  }
  CHECK_EQ(uv_batch_stats(&batch, &stats), 0);
  CHECK_EQ(stats.policy.limit, 1);
  CHECK_EQ(uv_batch_estimate(&batch, UV_BATCH_NETWORK, &estimate), 0);
  CHECK_EQ(estimate.limit, 1);
  /* The loop gets its turn between them. */
  push_some(0, 3);
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(batches, 3);
  CHECK_EQ(last_trigger, UV_BATCH_TRIGGER_SIZE);
  CHECK_EQ(handled, 17);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(handled, 19);
  stop();
}

TEST(what_is_retained_keeps_no_loop_alive) {
  start(NULL);
  uv_batch_options_t options;
  uv_batch_get(&batch, &options);
  options.batch_cb = NULL;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
  uv_batch_type_options_t type;
  CHECK_EQ(uv_batch_get_type(&batch, UV_BATCH_STREAM, &type), 0);
  type.retain = UV_BATCH_RETAIN_FIRST;
  CHECK_EQ(uv_batch_set_type(&batch, UV_BATCH_STREAM, &type), 0);
  uv_batch_event_init(&events[0], UV_BATCH_STREAM, NULL);
  CHECK_EQ(uv_batch_push(&batch, &events[0]), 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(events[0].status, UV_BATCH_STATUS_RETAINED);
  CHECK_EQ(uv_loop_alive(&loop), 0);
  uv_batch_handler_t late = {0};
  CHECK_EQ(uv_batch_on(&batch, &late, UV_BATCH_STREAM, count_event), 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(handled, 1);
  CHECK_EQ(events[0].status, UV_BATCH_STATUS_COMPLETED);
  stop();
}

TEST(retained_events_expire_while_the_loop_runs) {
  start(NULL);
  uv_batch_options_t options;
  uv_batch_get(&batch, &options);
  options.batch_cb = NULL;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
  uv_batch_type_options_t type;
  uv_batch_get_type(&batch, UV_BATCH_STREAM, &type);
  type.retain = UV_BATCH_RETAIN_FIRST;
  type.retain_max_age = 3;
  CHECK_EQ(uv_batch_set_type(&batch, UV_BATCH_STREAM, &type), 0);
  uv_batch_event_init(&events[0], UV_BATCH_STREAM, NULL);
  CHECK_EQ(uv_batch_push(&batch, &events[0]), 0);
  uv_timer_init(&loop, &far_away);
  uv_timer_start(&far_away, never, 3600 * 1000, 0);
  while (events[0].status != UV_BATCH_STATUS_EXPIRED) uv_run(&loop, UV_RUN_ONCE);
  uv_close((uv_handle_t*)&far_away, NULL);
  stop();
}

TEST(a_queue_that_is_full_of_work_leaves_turns_to_others) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.max_batch = 1;
  start(&options);
  push_some(0, 20);
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(batches, 8);
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(batches, 16);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(handled, 20);
  stop();
}

TEST(closing_in_the_middle_of_a_run_ends_the_loop) {
  start(NULL);
  push_some(0, 4);
  uv_idle_init(&loop, &idle);
  uv_idle_start(&idle, stop_when_handled);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(handled, 4);
  stop();
}

TEST(a_busy_loop_shows_a_high_utilization_and_an_idle_one_a_low) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.max_delay = 1;
  start(&options);
  uv_batch_estimate_t estimate;
  CHECK_EQ(uv_batch_estimate(&batch, UV_BATCH_NETWORK, &estimate), 0);
  uv_timer_init(&loop, &far_away);
  uint64_t begin = uv_hrtime();
  /* Busy: the loop never waits. */
  while (uv_hrtime() - begin < 300 * 1000 * 1000u) uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(uv_batch_estimate(&batch, UV_BATCH_NETWORK, &estimate), 0);
  double busy = estimate.utilization;
  /* Idle: it waits for a timer, again where the machine has kept it waiting for its turn meanwhile. */
  do {
    uv_timer_start(&far_away, nothing, 400, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK_EQ(uv_batch_estimate(&batch, UV_BATCH_NETWORK, &estimate), 0);
  } while (estimate.utilization >= busy);
  uv_close((uv_handle_t*)&far_away, NULL);
  stop();
}

TEST_MAIN
