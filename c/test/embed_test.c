/* A program with a loop of its own: it waits on libuv's descriptor for as long as libuv says, then runs one turn. */
#include <poll.h>

#include "test.h"
#include "uv_batch.h"

enum { rounds = 13 };

static uv_loop_t loop;
static uv_batch_t batch;
static uv_batch_handler_t handler;
static uv_batch_event_t events[rounds + 1];
static int handled;
static int posts; /* what a handler does: it posts the next event, or pushes it */

static void next(void) {
  uv_batch_event_t* event = &events[handled];
  uv_batch_event_init(event, UV_BATCH_NETWORK, NULL);
  CHECK_EQ(posts ? uv_batch_post(&batch, event) : uv_batch_push(&batch, event), 0);
}

static int go_on(uv_batch_handler_t* self, uv_batch_event_t* event) {
  (void)self, (void)event;
  if (++handled < rounds) next();
  return 0;
}

static void first(uv_timer_t* timer) {
  uv_close((uv_handle_t*)timer, NULL);
  next();
}

/* One turn of the program. It would never wake up if libuv gave it no time, and nothing came. */
static void turn(void) {
  int timeout = uv_backend_timeout(&loop);
  struct pollfd waits = {.fd = uv_backend_fd(&loop), .events = POLLIN};
  int ready = poll(&waits, 1, timeout < 0 ? 0 : timeout);
  if (timeout < 0 && ready == 0) {
    fprintf(stderr, "would sleep for ever after %d of %d\n", handled, rounds);
    exit(1);
  }
  uv_run(&loop, UV_RUN_NOWAIT);
}

static void embed(uv_batch_policy_t policy, double max_delay) {
  for (posts = 0; posts < 2; posts++) {
    for (int by_timer = 0; by_timer < 2; by_timer++) {
      uv_timer_t timer;
      uv_batch_options_t options;
      uv_batch_options_init(&options);
      options.policy = policy;
      options.max_delay = max_delay;
      handled = 0;
      memset(&handler, 0, sizeof(handler));
      CHECK_EQ(uv_loop_init(&loop), 0);
      CHECK_EQ(uv_batch_init(&loop, &batch, &options), 0);
      CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, go_on), 0);
      /* libuv registers its descriptors. */
      uv_run(&loop, UV_RUN_NOWAIT);
      if (by_timer) {
        CHECK_EQ(uv_timer_init(&loop, &timer), 0);
        CHECK_EQ(uv_timer_start(&timer, first, 2, 0), 0);
      } else {
        next();
      }
      CHECK_EQ(uv_batch_ref(&batch), 0);
      while (handled < rounds) turn();
      CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
      while (uv_loop_alive(&loop)) turn();
      CHECK_EQ(uv_loop_close(&loop), 0);
    }
  }
}

TEST(events_that_leave_at_the_end_of_the_turn_wait_for_no_other) { embed(UV_BATCH_POLICY_ADAPTIVE, 0); }
TEST(events_that_are_not_delayed_wait_for_no_other) { embed(UV_BATCH_POLICY_FIXED, 0); }
TEST(events_that_are_not_batched_wait_for_no_other) { embed(UV_BATCH_POLICY_DIRECT, 0); }
TEST(held_events_wait_for_the_end_of_the_hold) { embed(UV_BATCH_POLICY_FIXED, 2); }

TEST_MAIN
