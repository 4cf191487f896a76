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

/* ---- gain */

TEST(a_gain_is_the_mean_of_the_last_sixteen_holds) {
  uvb__gain_t gain = {.holds = 0};
  CHECK(uvb__gain_read(&gain) == 0);
  uvb__gain_record(&gain, 3);
  CHECK(uvb__gain_read(&gain) == 3);
  uvb__gain_record(&gain, -1);
  CHECK(uvb__gain_read(&gain) == 1);
  CHECK_EQ(gain.holds, 2);
  for (int i = 0; i < 16; i++) uvb__gain_record(&gain, i);
  CHECK_EQ(gain.holds, 16);
  CHECK_NEAR(uvb__gain_read(&gain), 7.5);
  uvb__gain_record(&gain, 32);
  CHECK_EQ(gain.holds, 16);
  CHECK_NEAR(uvb__gain_read(&gain), 9.5);
}

TEST(a_cleared_gain_starts_anew) {
  uvb__gain_t gain = {.holds = 0};
  for (int i = 0; i < 20; i++) uvb__gain_record(&gain, 100);
  uvb__gain_clear(&gain);
  CHECK_EQ(gain.holds, 0);
  CHECK(uvb__gain_read(&gain) == 0);
  uvb__gain_record(&gain, 4);
  CHECK(uvb__gain_read(&gain) == 4);
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
