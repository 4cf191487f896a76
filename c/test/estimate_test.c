/* The estimates are pure: spans of time and counts in, numbers out. */
#include <math.h>

#include "policy.h"
#include "test.h"

static int near(double a, double b) {
  return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

#define CHECK_NEAR(a, b)                                                       \
  do {                                                                         \
    if (!near(a, b)) fprintf(stderr, "%s is %.12g, not %.12g\n", #a, (double)(a), (double)(b)); \
    CHECK(near(a, b));                                                         \
  } while (0)

/* ---- rate */

static const double one_event = 0.00693147180559945309;

TEST(a_rate_halves_every_100_ms) {
  uvb__rate_t rate = {0, 0};
  CHECK(uvb__rate_read(&rate, 1000) == 0);
  uvb__rate_fold(&rate, 10, 50);
  CHECK_NEAR(uvb__rate_read(&rate, 50), 10 * one_event);
  CHECK_NEAR(uvb__rate_read(&rate, 150), 5 * one_event);
  CHECK_NEAR(uvb__rate_read(&rate, 350), 1.25 * one_event);
}

TEST(a_steady_stream_settles_at_its_rate) {
  uvb__rate_t rate = {0, 0};
  for (int i = 1; i <= 20000; i++) uvb__rate_fold(&rate, 2, i * 0.1);
  /* 2 events each 0.1 ms; what is folded late in its span counts a little too much. */
  CHECK(fabs(uvb__rate_read(&rate, 2000) - 20) < 0.02);
}

TEST(folding_twice_at_one_time_adds_up) {
  uvb__rate_t rate = {0, 0};
  uvb__rate_fold(&rate, 3, 10);
  uvb__rate_fold(&rate, 4, 10);
  uvb__rate_fold(&rate, 0, 10);
  CHECK_NEAR(uvb__rate_read(&rate, 10), 7 * one_event);
}

TEST(a_rate_of_long_ago_is_nothing_and_a_huge_count_is_a_number) {
  uvb__rate_t rate = {0, 0};
  uvb__rate_fold(&rate, UINT32_MAX, 0);
  CHECK_NEAR(uvb__rate_read(&rate, 0), 4294967295.0 * one_event);
  CHECK(uvb__rate_read(&rate, 1e15) == 0);
  uvb__rate_fold(&rate, 1, 1e15);
  CHECK_NEAR(uvb__rate_read(&rate, 1e15), one_event);
}

TEST(a_clock_that_goes_back_lets_a_rate_stand_still) {
  uvb__rate_t rate = {0, 0};
  uvb__rate_fold(&rate, 5, 100);
  CHECK_NEAR(uvb__rate_read(&rate, 20), 5 * one_event);
  uvb__rate_fold(&rate, 5, 20);
  CHECK_NEAR(uvb__rate_read(&rate, 120), 5 * one_event);
}

/* ---- costs */

static uvb__costs_t costs;

/* Batches that cost 2 ms each, and 0.25 ms for each event. */
static void sample(double types, double events, double now) {
  uvb__costs_sample(&costs, types, events, 2 * types + 0.25 * events, now);
}

TEST(before_the_first_batch_nothing_costs_anything) {
  uvb__costs_init(&costs);
  CHECK(costs.batch_cost == 0);
  CHECK(costs.event_cost == 0);
}

TEST(batches_of_different_sizes_tell_the_costs_apart) {
  uvb__costs_init(&costs);
  sample(1, 1, 0);
  sample(1, 10, 5);
  CHECK_NEAR(costs.batch_cost, 2);
  CHECK_NEAR(costs.event_cost, 0.25);
  sample(3, 40, 2000);
  CHECK_NEAR(costs.batch_cost, 2);
  CHECK_NEAR(costs.event_cost, 0.25);
}

TEST(what_cannot_be_told_apart_yet_is_taken_for_the_batchs) {
  uvb__costs_init(&costs);
  for (int i = 0; i < 5; i++) sample(1, 4, i);
  CHECK_NEAR(costs.batch_cost, 3);
  CHECK_NEAR(costs.event_cost, 0);
}

TEST(what_cannot_be_told_apart_any_more_is_shared_as_it_was_last) {
  uvb__costs_init(&costs);
  sample(1, 4, 0);
  sample(1, 12, 0);
  /* After a minute only batches of 8 are remembered: 2 of their 4 ms are the batch's. */
  for (int i = 0; i < 60; i++) sample(1, 8, i * 1000);
  CHECK(fabs(costs.batch_cost - 2) < 0.1);
  CHECK_NEAR(costs.batch_cost + 8 * costs.event_cost, 4);
}

TEST(costs_are_never_below_0) {
  uvb__costs_init(&costs);
  uvb__costs_sample(&costs, 1, 1, 0.1, 0);
  uvb__costs_sample(&costs, 1, 10, 2, 0);
  CHECK(costs.batch_cost == 0);
  CHECK_NEAR(costs.event_cost, (0.1 + 20) / 101);
  uvb__costs_init(&costs);
  uvb__costs_sample(&costs, 1, 1, 2, 0);
  uvb__costs_sample(&costs, 1, 10, 1, 0);
  CHECK(costs.event_cost == 0);
  CHECK_NEAR(costs.batch_cost, 1.5);
}

TEST(batches_that_cost_nothing_leave_no_cost) {
  uvb__costs_init(&costs);
  for (int i = 0; i < 5; i++) uvb__costs_sample(&costs, 1, 1 + i, 0, i);
  CHECK(costs.batch_cost == 0);
  CHECK(costs.event_cost == 0);
  CHECK(costs.share == 1);
}

TEST(old_batches_count_half_as_much_each_second) {
  uvb__costs_init(&costs);
  uvb__costs_sample(&costs, 1, 1, 1, 0);
  uvb__costs_sample(&costs, 1, 1, 2, 1000);
  CHECK_NEAR(costs.batch_cost, (0.5 * 1 + 2) / 1.5);
  /* A clock that goes back has stood still. */
  uvb__costs_sample(&costs, 1, 1, 5, 500);
  CHECK_NEAR(costs.batch_cost, (0.5 * 1 + 2 + 5) / 2.5);
  /* Samples of long ago count as nothing, and the sums stay numbers. */
  uvb__costs_sample(&costs, 1, 1, 7, 1e15);
  CHECK_NEAR(costs.batch_cost, 7);
}

/* ---- utilization */

static uvb__utilization_t window;

TEST(before_any_time_has_passed_a_loop_is_idle) {
  uvb__utilization_init(&window, 0);
  CHECK(uvb__utilization_read(&window, 0) == 0);
  uvb__utilization_init(&window, 123.4);
  CHECK(uvb__utilization_read(&window, 123.4) == 0);
  CHECK(uvb__utilization_read(&window, 100) == 0);
}

TEST(busy_time_is_divided_by_the_time_the_slices_have_lasted) {
  uvb__utilization_init(&window, 0);
  uvb__utilization_observe(&window, 0, 10, 10);
  CHECK_NEAR(uvb__utilization_read(&window, 10), 1);
  CHECK_NEAR(uvb__utilization_read(&window, 40), 0.25);
  /* From 250 on the first slice falls out, and its busy time with it. */
  CHECK_NEAR(uvb__utilization_read(&window, 249), 10 / 249.0);
  CHECK(uvb__utilization_read(&window, 250) == 0);
}

TEST(the_window_is_the_current_slice_and_the_nine_before) {
  uvb__utilization_init(&window, 0);
  for (int i = 0; i < 40; i++) {
    uvb__utilization_observe(&window, i * 25, i * 25 + 5, 5);
    uvb__utilization_observe(&window, i * 25 + 5, i * 25 + 25, 0);
  }
  /* At 1000 a slice begins: nine are full, with 5 ms each, and this one has lasted no time. */
  CHECK_NEAR(uvb__utilization_read(&window, 1000), 45 / 225.0);
  CHECK_NEAR(uvb__utilization_read(&window, 1024), 45 / 249.0);
}

TEST(a_span_is_spread_evenly_over_its_slices) {
  uvb__utilization_init(&window, 0);
  uvb__utilization_observe(&window, 0, 300, 150);
  /* 75 to 300 is what can be seen. */
  CHECK_NEAR(uvb__utilization_read(&window, 300), 0.5);
  CHECK_NEAR(uvb__utilization_read(&window, 400), 62.5 / 225);
}

TEST(of_a_span_longer_than_the_window_its_end_counts) {
  uvb__utilization_init(&window, 0);
  uvb__utilization_observe(&window, 0, 1e9, 1e9);
  CHECK_NEAR(uvb__utilization_read(&window, 1e9), 1);
  uvb__utilization_observe(&window, 1e9, 2e9, 0);
  CHECK(uvb__utilization_read(&window, 2e9) == 0);
}

TEST(a_span_is_never_busier_than_it_is_long) {
  uvb__utilization_init(&window, 0);
  uvb__utilization_observe(&window, 0, 100, 250);
  CHECK_NEAR(uvb__utilization_read(&window, 100), 1);
}

TEST(time_that_stands_still_changes_nothing) {
  uvb__utilization_init(&window, 0);
  uvb__utilization_observe(&window, 0, 50, 25);
  for (int i = 0; i < 5; i++) {
    uvb__utilization_observe(&window, 50, 50, 25);
    uvb__utilization_observe(&window, 50, 40, 25);
    CHECK_NEAR(uvb__utilization_read(&window, 50), 0.5);
  }
}

TEST(time_before_the_start_does_not_count) {
  uvb__utilization_init(&window, 1010);
  uvb__utilization_observe(&window, 1010, 1020, 10);
  CHECK_NEAR(uvb__utilization_read(&window, 1020), 1);
  CHECK_NEAR(uvb__utilization_read(&window, 1030), 0.5);
}

TEST(a_gap_longer_than_the_window_empties_it) {
  uvb__utilization_init(&window, 0);
  uvb__utilization_observe(&window, 0, 100, 100);
  CHECK(uvb__utilization_read(&window, 1e12) == 0);
  uvb__utilization_observe(&window, 1e12, 1e12 + 100, 100);
  /* The slices before 1e12 were idle, as far as anybody knows; the one that begins at 1e12 + 100 has lasted no time. */
  CHECK_NEAR(uvb__utilization_read(&window, 1e12 + 100), 100 / 225.0);
}

TEST_MAIN
