/* Programs on libuv end a loop by closing each handle that uv_walk() finds, the library's own among them: that ends a
 * queue, whatever state it is in. */
#include "common.h"
#include "failing_allocator.h"
#include "test.h"
#include "uv_batch.h"

enum { many = 32, posters = 4 };

static uv_loop_t loop;
static uv_batch_t batch;
static uv_batch_handler_t handler;
static uv_batch_event_t events[many];
static int over[many], statuses[many];
static int handled, walked, closed, finished;
static uv_batch_stats_t last;

static void is_over(uv_batch_t* from, uv_batch_event_t* event, int status) {
  CHECK(from == &batch);
  over[event - events]++;
  statuses[event - events] = status;
}

static int count_event(uv_batch_handler_t* self, uv_batch_event_t* event) {
  (void)self, (void)event;
  handled++;
  return 0;
}

static void count_closed(uv_handle_t* handle) {
  (void)handle;
  closed++;
}

static void count_finished(uv_batch_t* from, const uv_batch_stats_t* stats) {
  CHECK(from == &batch);
  last = *stats;
  finished++;
}

static void close_one(uv_handle_t* handle, void* data) {
  (void)data;
  if (uv_is_closing(handle)) return;
  walked++;
  uv_close(handle, count_closed);
}

static void close_all(void) {
  uv_walk(&loop, close_one, NULL);
}

static void reset(void) {
  failing_allocator_install();
  failing_allocator_after(-1);
  CHECK_EQ(failing_allocator_live(), 0);
  memset(over, 0, sizeof(over));
  memset(&batch, 0, sizeof(batch));
  memset(&handler, 0, sizeof(handler));
  handled = walked = closed = finished = 0;
  CHECK_EQ(uv_loop_init(&loop), 0);
}

static void start_with(const uv_batch_options_t* options) {
  reset();
  CHECK_EQ(uv_batch_init(&loop, &batch, options), 0);
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, count_event), 0);
}

static void start(void) {
  start_with(NULL);
}

static void start_held(void) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.policy = UV_BATCH_POLICY_FIXED;
  options.max_delay = 60000;
  start_with(&options);
}

static int push_one(int i, int type) {
  uv_batch_event_init(&events[i], type, NULL);
  events[i].callback = is_over;
  return uv_batch_push(&batch, &events[i]);
}

static void push_some(int from, int count) {
  for (int i = from; i < from + count; i++) CHECK_EQ(push_one(i, UV_BATCH_NETWORK), 0);
}

/* The loop has ended by itself, and the callbacks of `count` events have come, with this status. */
static void check_over(int count, int status) {
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  for (int i = 0; i < count; i++) {
    CHECK_EQ(over[i], 1);
    CHECK_EQ(statuses[i], status);
  }
  for (int i = count; i < many; i++) CHECK_EQ(over[i], 0);
}

static void check_gone(void) {
  CHECK_EQ(closed, walked);
  CHECK_EQ(uv_loop_close(&loop), 0);
  CHECK(uv_batch_is_closing(&batch));
  CHECK_EQ(push_one(many - 1, UV_BATCH_NETWORK), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_post(&batch, &events[many - 1]), UV_ESHUTDOWN);
  CHECK_EQ(over[many - 1], 0);
  CHECK_EQ(failing_allocator_live(), 0);
}

TEST(what_is_queued_is_cancelled_and_later_calls_are_refused) {
  start();
  push_some(0, 3);
  close_all();
  CHECK(walked > 0);
  uv_batch_options_t options;
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  CHECK(uv_batch_is_closing(&batch));
  CHECK_EQ(push_one(3, UV_BATCH_NETWORK), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_flush(&batch), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_process(&batch), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_set(&batch, &options), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_ref(&batch), UV_ESHUTDOWN);
  uv_batch_handler_t late = {0};
  CHECK_EQ(uv_batch_on(&batch, &late, UV_BATCH_NETWORK, count_event), UV_ESHUTDOWN);
  check_over(3, UV_ECANCELED);
  CHECK_EQ(handled, 0);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), UV_EALREADY);
  uv_batch_stats_t stats;
  CHECK_EQ(uv_batch_stats(&batch, &stats), UV_ESHUTDOWN);
  check_gone();
}

TEST(a_turn_is_enough_in_each_mode) {
  static const uv_run_mode modes[] = {UV_RUN_ONCE, UV_RUN_NOWAIT};
  for (int i = 0; i < 2; i++) {
    start();
    push_some(0, 3);
    close_all();
    uv_run(&loop, modes[i]);
    for (int j = 0; j < 3; j++) CHECK_EQ(over[j], 1);
    check_over(3, UV_ECANCELED);
    check_gone();
  }
}

TEST(an_idle_queue_is_over_at_the_next_call) {
  for (int i = 0; i < 3; i++) {
    start();
    close_all();
    check_over(0, 0);
    if (i == 1) CHECK_EQ(uv_loop_close(&loop), 0);
    if (i == 2) CHECK_EQ(uv_batch_close(&batch, 0, count_finished), 0);
    CHECK_EQ(push_one(0, UV_BATCH_NETWORK), UV_ESHUTDOWN);
    CHECK_EQ(finished, i == 2);
    if (i == 1) CHECK_EQ(uv_loop_init(&loop), 0);
    check_gone();
  }
}

TEST(a_close_before_the_walk_delivers) {
  start();
  push_some(0, 3);
  CHECK_EQ(uv_batch_close(&batch, 0, count_finished), 0);
  close_all();
  CHECK_EQ(walked, 0);
  check_over(3, 0);
  CHECK_EQ(handled, 3);
  CHECK_EQ(finished, 1);
  check_gone();
}

TEST(a_close_after_the_walk_delivers_or_discards_as_it_says) {
  for (unsigned int flags = 0; flags <= UV_BATCH_DISCARD; flags++) {
    start();
    push_some(0, 3);
    close_all();
    CHECK_EQ(uv_batch_close(&batch, flags, count_finished), 0);
    CHECK_EQ(finished, 0);
    check_over(3, flags == 0 ? 0 : UV_ECANCELED);
    CHECK_EQ(handled, flags == 0 ? 3 : 0);
    CHECK_EQ(finished, 1);
    CHECK_EQ(last.pushed, 3);
    CHECK_EQ(last.refused_cancelled, flags == 0 ? 0 : 3);
    CHECK_EQ(last.queued, 0);
    check_gone();
  }
}

/* The loop may even be closed by then; nothing that the library does needs it. */
TEST(a_close_long_after_the_walk_ends_what_libuv_told_nobody_about) {
  for (int loop_is_closed = 0; loop_is_closed < 2; loop_is_closed++) {
    for (unsigned int flags = 0; flags <= UV_BATCH_DISCARD; flags++) {
      start();
      uv_batch_event_init(&events[0], UV_BATCH_NETWORK, NULL);
      events[0].callback = is_over;
      CHECK_EQ(uv_batch_post(&batch, &events[0]), 0);
      close_all();
      CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
      CHECK_EQ(over[0], 0);
      if (loop_is_closed) {
        CHECK_EQ(uv_loop_close(&loop), 0);
        memset(&loop, 0xa5, sizeof(loop));
      }
      CHECK_EQ(uv_batch_close(&batch, flags, count_finished), 0);
      CHECK_EQ(finished, 1);
      CHECK_EQ(over[0], 1);
      CHECK_EQ(statuses[0], flags == 0 ? 0 : UV_ECANCELED);
      if (loop_is_closed) CHECK_EQ(uv_loop_init(&loop), 0);
      check_gone();
    }
  }
}

TEST(what_is_held_is_cancelled) {
  start_held();
  push_some(0, 3);
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(over[0], 0);
  close_all();
  check_over(3, UV_ECANCELED);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), UV_EALREADY);
  check_gone();
}

static void retain_streams(void) {
  uv_batch_type_options_t type;
  CHECK_EQ(uv_batch_get_type(&batch, UV_BATCH_STREAM, &type), 0);
  type.retain = UV_BATCH_RETAIN_FIRST;
  CHECK_EQ(uv_batch_set_type(&batch, UV_BATCH_STREAM, &type), 0);
}

TEST(what_is_retained_ends_with_what_is_queued) {
  start();
  retain_streams();
  CHECK_EQ(push_one(0, UV_BATCH_STREAM), 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(events[0].status, UV_BATCH_STATUS_RETAINED);
  push_some(1, 1);
  close_all();
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(over[0], 1);
  CHECK_EQ(over[1], 1);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), UV_EALREADY);
  check_gone();
}

TEST(what_is_retained_alone_ends_at_the_next_call) {
  for (int by_push = 0; by_push < 2; by_push++) {
    start();
    retain_streams();
    CHECK_EQ(push_one(0, UV_BATCH_STREAM), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    close_all();
    CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
    if (by_push) CHECK_EQ(push_one(1, UV_BATCH_STREAM), UV_ESHUTDOWN);
    else CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
    CHECK_EQ(over[0], 1);
    check_gone();
  }
}

/* ---- inside callbacks */

static int walks_at;

static int walk_in_handler(uv_batch_handler_t* self, uv_batch_event_t* event) {
  (void)self;
  handled++;
  if (event == &events[walks_at]) close_all();
  return 0;
}

TEST(a_handler_that_walks_sees_its_batch_to_the_end) {
  static const uv_batch_policy_t policies[] = {UV_BATCH_POLICY_ADAPTIVE, UV_BATCH_POLICY_FIXED,
                                               UV_BATCH_POLICY_DIRECT};
  for (int i = 0; i < 3; i++) {
    uv_batch_options_t options;
    uv_batch_options_init(&options);
    options.policy = policies[i];
    options.max_delay = i == 1 ? 1 : 0;
    options.max_batch = 4;
    start_with(&options);
    handler.data = NULL;
    CHECK_EQ(uv_batch_off(&handler), 0);
    CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, walk_in_handler), 0);
    walks_at = 1;
    int pushed = 0;
    for (; pushed < 6; pushed++) {
      if (push_one(pushed, UV_BATCH_NETWORK) != 0) break;
    }
    CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
    /* Without batching the walk comes inside the second push, and the third is refused. */
    CHECK_EQ(pushed, policies[i] == UV_BATCH_POLICY_DIRECT ? 2 : 6);
    CHECK(handled >= (pushed == 2 ? 2 : 4));
    for (int j = 0; j < pushed; j++) CHECK_EQ(over[j], 1);
    CHECK_EQ(uv_batch_close(&batch, 0, NULL), UV_EALREADY);
    check_gone();
  }
}

static void walk_when_over(uv_batch_t* from, uv_batch_event_t* event, int status) {
  is_over(from, event, status);
  close_all();
}

TEST(a_walk_in_an_events_callback_cancels_the_batches_after_it) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.max_batch = 2;
  start_with(&options);
  push_some(0, 20);
  events[0].callback = walk_when_over;
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  for (int i = 0; i < 20; i++) CHECK_EQ(over[i], 1);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), UV_EALREADY);
  check_gone();
}

static void walk_at_flush(uv_batch_t* from, uv_batch_event_t* event, int status) {
  is_over(from, event, status);
  close_all();
}

TEST(a_walk_during_a_flush_lets_the_flush_finish) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.max_batch = 2;
  start_with(&options);
  push_some(0, 6);
  events[1].callback = walk_at_flush;
  CHECK_EQ(uv_batch_flush(&batch), 0);
  check_over(6, 0);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), UV_EALREADY);
  check_gone();
}

static uv_timer_t timer;
static uv_prepare_t prepare;
static uv_check_t check;
static uv_idle_t idle;
static uv_async_t async;

static void push_and_walk(void) {
  push_some(0, 2);
  close_all();
  CHECK_EQ(push_one(2, UV_BATCH_NETWORK), UV_ESHUTDOWN);
}

static void in_timer(uv_timer_t* handle) { (void)handle; push_and_walk(); }
static void in_prepare(uv_prepare_t* handle) { (void)handle; push_and_walk(); }
static void in_check(uv_check_t* handle) { (void)handle; push_and_walk(); }
static void in_idle(uv_idle_t* handle) { (void)handle; push_and_walk(); }
static void idly(uv_idle_t* handle) { (void)handle; }
static void in_async(uv_async_t* handle) { (void)handle; push_and_walk(); }
static void in_close(uv_handle_t* handle) { (void)handle; push_and_walk(); }

TEST(a_walk_in_any_phase_of_the_loop_ends_the_queue) {
  for (int phase = 0; phase < 6; phase++) {
    for (int held = 0; held < 2; held++) {
      if (held) start_held();
      else start();
      uv_timer_init(&loop, &timer);
      uv_timer_start(&timer, in_timer, phase == 0 ? 1 : 3600 * 1000, 0);
      if (phase == 1) uv_prepare_init(&loop, &prepare), uv_prepare_start(&prepare, in_prepare);
      /* The idle handle keeps the poll from blocking. */
      if (phase == 2) uv_check_init(&loop, &check), uv_check_start(&check, in_check);
      if (phase == 2 || phase == 3) uv_idle_init(&loop, &idle), uv_idle_start(&idle, phase == 3 ? in_idle : idly);
      if (phase == 4) uv_async_init(&loop, &async, in_async), uv_async_send(&async);
      if (phase == 5) uv_idle_init(&loop, &idle), uv_close((uv_handle_t*)&idle, in_close);
      uv_run(&loop, UV_RUN_DEFAULT);
      closed = walked;
      check_over(2, UV_ECANCELED);
      CHECK_EQ(uv_batch_close(&batch, 0, NULL), UV_EALREADY);
      check_gone();
    }
  }
}

/* ---- some handles only, or twice */

static uv_handle_type only;

static void close_only(uv_handle_t* handle, void* data) {
  (void)data;
  if (handle->type != only || uv_is_closing(handle)) return;
  walked++;
  uv_close(handle, count_closed);
}

TEST(one_closed_handle_is_enough) {
  static const uv_handle_type types[] = {UV_CHECK, UV_ASYNC, UV_TIMER, UV_NAMED_PIPE};
  for (int i = 0; i < 4; i++) {
    only = types[i];
    start_held();
    push_some(0, 2);
    /* Without its check handle a queue would learn of it at the end of the hold. */
    if (only != UV_CHECK) uv_run(&loop, UV_RUN_NOWAIT);
    uv_walk(&loop, close_only, NULL);
    CHECK(walked > 0);
    check_over(2, UV_ECANCELED);
    CHECK_EQ(uv_batch_close(&batch, 0, NULL), UV_EALREADY);
    check_gone();
  }
}

TEST(walks_turn_after_turn_change_nothing) {
  start_held();
  push_some(0, 2);
  uv_run(&loop, UV_RUN_NOWAIT);
  do {
    close_all();
    uv_run(&loop, UV_RUN_NOWAIT);
  } while (uv_loop_close(&loop) == UV_EBUSY);
  CHECK_EQ(uv_loop_init(&loop), 0);
  check_over(2, UV_ECANCELED);
  check_gone();
}

TEST(the_struct_can_be_used_again) {
  for (int zeroed = 0; zeroed < 2; zeroed++) {
    start();
    uv_batch_event_init(&events[0], UV_BATCH_NETWORK, NULL);
    events[0].callback = is_over;
    if (!zeroed) CHECK_EQ(uv_batch_post(&batch, &events[0]), 0);
    close_all();
    CHECK_EQ(uv_batch_init(&loop, &batch, NULL), UV_EBUSY);
    CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
    CHECK_EQ(uv_loop_close(&loop), 0);
    if (zeroed) memset(&batch, 0xa5, sizeof(batch));
    CHECK_EQ(uv_loop_init(&loop), 0);
    CHECK_EQ(uv_batch_init(&loop, &batch, NULL), 0);
    CHECK_EQ(over[0], !zeroed);
    if (!zeroed) CHECK_EQ(statuses[0], UV_ECANCELED);
    push_some(1, 1);
    CHECK_EQ(uv_batch_close(&batch, 0, count_finished), 0);
    CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
    CHECK_EQ(finished, 1);
    CHECK_EQ(over[1], 1);
    check_gone();
  }
}

TEST(a_hold_without_a_descriptor_for_its_sentinel_is_a_hold) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.policy = UV_BATCH_POLICY_FIXED;
  options.max_delay = 1;
  start_with(&options);
  push_some(0, 2);
  failing_allocator_after(0);
  check_over(2, 0);
  failing_allocator_after(-1);
  CHECK_EQ(uv_batch_close(&batch, 0, count_finished), 0);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(finished, 1);
  closed = walked;
  check_gone();
}

/* ---- threads */

typedef struct {
  uv_thread_t thread;
  uv_batch_event_t* events;
  size_t count, taken;
} poster_t;

enum { each = 200000 };

static poster_t poster[posters];
static atomic_int ended;
static int walk_after;

static void posted_is_over(uv_batch_t* from, uv_batch_event_t* event, int status) {
  CHECK(from == &batch);
  CHECK(status == 0 || status == UV_ECANCELED);
  CHECK(event->data == NULL);
  event->data = event;
  if (++handled == walk_after) close_all();
}

static void post_until_refused(void* data) {
  poster_t* self = data;
  for (self->taken = 0; self->taken < self->count;) {
    uv_batch_event_t* event = &self->events[self->taken];
    uv_batch_event_init(event, UV_BATCH_ASYNC, NULL);
    event->callback = posted_is_over;
    int status = uv_batch_post(&batch, event);
    if (status == UV_ESHUTDOWN) break;
    if (status == 0) self->taken++;
    else uv_sleep(0);
  }
  atomic_fetch_add(&ended, 1);
}

static int ignore_event(uv_batch_handler_t* self, uv_batch_event_t* event) {
  (void)self, (void)event;
  return 0;
}

TEST(threads_that_post_to_a_queue_with_a_ref_are_refused_from_some_moment_on) {
  for (int round = 0; round < 20; round++) {
    start();
    ended = 0;
    walk_after = 1 + round * 37;
    CHECK_EQ(uv_batch_ref(&batch), 0);
    uv_batch_handler_t async_handler = {0};
    CHECK_EQ(uv_batch_on(&batch, &async_handler, UV_BATCH_ASYNC, ignore_event), 0);
    for (int i = 0; i < posters; i++) {
      poster[i].count = each;
      poster[i].events = calloc(each, sizeof(uv_batch_event_t));
      CHECK(poster[i].events != NULL);
      CHECK_EQ(uv_thread_create(&poster[i].thread, post_until_refused, &poster[i]), 0);
    }
    CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
    for (int i = 0; i < posters; i++) CHECK_EQ(uv_thread_join(&poster[i].thread), 0);
    CHECK_EQ(ended, posters);
    size_t taken = 0;
    for (int i = 0; i < posters; i++) {
      for (size_t j = 0; j < poster[i].taken; j++) CHECK(poster[i].events[j].data != NULL);
      taken += poster[i].taken;
      free(poster[i].events);
    }
    CHECK_EQ(handled, taken);
    check_gone();
  }
}

TEST_MAIN
