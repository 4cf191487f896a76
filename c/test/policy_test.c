/* The policies are pure functions, and the comparison is told everything: what they are given, and what they answer. */
#include "policy.h"

#include "test.h"

static uv_batch_options_t options_with(double max_delay, double min_saving) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.max_delay = max_delay;
  options.min_saving = min_saving;
  return options;
}

static int near(double a, double b) {
  return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* ---- the hold */

TEST(fixed_does_not_look_at_the_signals) {
  static const uvb__signals_t signals[] = {{.rate = 1}, {.utilization = 1, .batch_cost = 1}, {.total = NAN}};
  uv_batch_options_t options = options_with(12.5, 0.005);
  options.policy = UV_BATCH_POLICY_FIXED;
  for (size_t i = 0; i < 3; i++) {
    uvb__decision_t decision = uvb__policy_hold(&signals[i], &options);
    CHECK(decision.hold == 12.5);
    CHECK_EQ(decision.why, uvb__holding);
  }
}

TEST(direct_and_a_delay_of_0_hold_nothing_and_say_why) {
  uvb__signals_t signals = {.rate = 100, .total = 100, .batch_cost = 10};
  uv_batch_options_t options = options_with(0, 0);
  for (int policy = 0; policy <= UV_BATCH_POLICY_DIRECT; policy++) {
    options.policy = (uv_batch_policy_t)policy;
    CHECK(uvb__policy_hold(&signals, &options).hold == 0);
    CHECK_EQ(uvb__policy_hold(&signals, &options).why, uvb__no_delay);
  }
  options.max_delay = 10;
  CHECK(uvb__policy_hold(&signals, &options).hold == 0);
}

TEST(adaptive_holds_as_long_as_the_law_of_lot_sizes_says) {
  static const double most = 1.7976931348623157e308;
  static const struct {
    double max_delay, min_saving, utilization, rate, total, batch_cost, hold_cost, hold;
    uvb__why_t why;
  } cases[] = {
      /* sqrt(1 * 1 * 0.2 / 0.005) - 1 */
      {100, 0.005, 0, 1, 1, 0.1, 0.1, 5.324555320336759, uvb__holding},
      {5, 0.005, 0, 1, 1, 0.1, 0.1, 5, uvb__holding}, /* never more than max_delay */
      /* Half as busy a loop pays a quarter of the price: sqrt(160) - 1. */
      {100, 0.005, 0.5, 1, 1, 0.1, 0.1, 11.649110640673518, uvb__holding},
      {100, 0.005, 1, 1, 1, 0.1, 0.1, 100, uvb__holding}, /* near saturation a ms costs nothing */
      {100, 0, 0, 1, 1, 0.1, 0.1, 100, uvb__holding},     /* a price of 0 */
      {0.1, 0, 0, 1, 1, 0.1, 0.1, 0, uvb__below_price},   /* the hold costs more than it saves */
      {100, 1, 0, 1, 1, 0.1, 0.1, 0, uvb__below_price},   /* the price is too high */
      /* Ten destinations share a hold: (sqrt(1 * (10 * 0.19 + 1 * 0.1) / 0.005) - 1) / 1. */
      {100, 0.005, 0, 1, 10, 0.19, 0.1, 19, uvb__holding},
      /* One event in 10 ms: a hold of 10 ms would bring one more, at 0.05 of a core. */
      {100, 0.005, 0, 0.1, 0.1, 0.1, 0.1, 0, uvb__below_price},
      {100, 0.005, 0, 0, 1, 0.1, 0.1, 0, uvb__nothing_to_save},
      {100, 0.005, 0, 1, 0, 0.1, 0.1, 0, uvb__nothing_to_save},
      {100, 0.005, 0, 1, 1, 0, 0.1, 0, uvb__nothing_to_save},
      {100, 0.005, 0, 1, 1, -1, 0.1, 0, uvb__nothing_to_save},
      {100, 0.005, 0, NAN, 1, 0.1, 0.1, 0, uvb__nothing_to_save},
      {100, 0.005, NAN, 1, 1, 0.1, 0.1, 0, uvb__below_price},
      {100, 0.005, 0, 1, 1, 0.1, NAN, 0, uvb__below_price},
      {100, 0.005, 0, most, most, most, most, 0, uvb__below_price},
      {100, 0.005, 0, 1e-300, 1e-300, 1e-300, 1e-300, 0, uvb__below_price},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    uvb__signals_t signals = {
        .utilization = cases[i].utilization,
        .rate = cases[i].rate,
        .total = cases[i].total,
        .batch_cost = cases[i].batch_cost,
        .hold_cost = cases[i].hold_cost,
    };
    uv_batch_options_t options = options_with(cases[i].max_delay, cases[i].min_saving);
    uvb__decision_t decision = uvb__policy_hold(&signals, &options);
    if (!near(decision.hold, cases[i].hold)) fprintf(stderr, "case %d: %.16g\n", (int)i, decision.hold);
    CHECK(near(decision.hold, cases[i].hold));
    CHECK_EQ(decision.why, cases[i].why);
  }
}

TEST(a_hold_is_the_best_one_from_the_slowest_to_the_fastest_streams) {
  for (double rate = 1e-3; rate <= 1e7; rate *= 10) {
    uvb__signals_t signals = {.rate = rate, .total = rate, .batch_cost = 0.5, .hold_cost = 0.01};
    uv_batch_options_t options = options_with(60000, 0.0001);
    double hold = uvb__policy_hold(&signals, &options).hold;
    CHECK(hold >= 0 && hold <= 60000);
    if (hold == 0) continue;
    for (double other = hold / 2; other <= hold * 2; other *= 1.1) {
      double cost = rate * 0.51 / (1 + rate * hold) + 0.0001 * hold;
      CHECK(cost <= (rate * 0.51 / (1 + rate * other) + 0.0001 * other) * (1 + 1e-12));
    }
  }
}

TEST(each_reason_has_its_words) {
  CHECK(uvb__why_words(uvb__holding) == NULL);
  CHECK(strcmp(uvb__why_words(uvb__no_delay), "no delay allowed") == 0);
  CHECK(strcmp(uvb__why_words(uvb__not_asked), "not asked yet") == 0);
  CHECK(strcmp(uvb__why_words(uvb__nothing_to_save), "nothing to save") == 0);
  CHECK(strcmp(uvb__why_words(uvb__below_price), "saving is below the price") == 0);
  CHECK(strcmp(uvb__why_words(uvb__comparing), "comparison window") == 0);
  CHECK(strcmp(uvb__why_words(uvb__no_saving), "no saving measured") == 0);
  CHECK(strcmp(uvb__why_words(uvb__slows_senders), "slows its senders down") == 0);
}

/* ---- the limit by time */

static uvb__time_limit_t limit;
static uv_batch_options_t limited;
static double at;

/* 5 ms for at most 1000 events. */
static void begin_limit(void) {
  uvb__time_limit_init(&limit);
  limited = options_with(0, 0.005);
  limited.max_batch = 1000;
  limited.max_batch_time = 5;
  at = 0;
}

/* The limit after a batch of so many events. */
static uint32_t after(uint32_t events, double ms) {
  if (uvb__time_limit_wants(&limit, events)) uvb__time_limit_sample(&limit, events, ms, at, &limited);
  return limit.events;
}

TEST(two_batches_in_a_row_that_take_too_long_set_a_limit) {
  begin_limit();
  CHECK_EQ(after(100, 5.01), 0);
  CHECK_EQ(after(100, 5), 0);
  CHECK_EQ(after(100, 1000), 0);
  CHECK_EQ(after(70, 10), 35);
  CHECK(near(limit.before, 10.0 / 70));
}

TEST(a_limit_is_rounded_down_and_at_least_one) {
  begin_limit();
  after(10, 7);
  CHECK_EQ(after(10, 7), 7);
  begin_limit();
  after(8, 41);
  CHECK_EQ(after(8, 41), 1);
}

TEST(small_batches_say_nothing_unless_they_meet_the_limit) {
  begin_limit();
  CHECK(!uvb__time_limit_wants(&limit, 7));
  CHECK(uvb__time_limit_wants(&limit, 8));
  after(8, 10);
  CHECK_EQ(after(8, 10), 4);
  CHECK(!uvb__time_limit_wants(&limit, 3));
  CHECK(uvb__time_limit_wants(&limit, 4));
  /* Large ones that are not cut neither. */
  CHECK_EQ(after(100, 1000), 4);
}

TEST(a_limit_follows_the_time_of_the_batches_that_meet_it) {
  begin_limit();
  after(100, 10);
  CHECK_EQ(after(100, 10), 50);
  CHECK_EQ(after(50, 5), 50);
  CHECK_EQ(after(50, 5.25), 47);
  CHECK_EQ(after(47, 2.5), 47);
  CHECK_EQ(after(47, 2.49), 94);
  CHECK_EQ(after(94, 1), 188);
  CHECK_EQ(after(188, 1), 376);
  CHECK_EQ(after(376, 1), 752);
  /* No limit at all rather than one of max_batch. */
  CHECK_EQ(after(752, 1), 0);
}

TEST(a_cut_that_makes_events_dearer_is_taken_back_for_a_while) {
  begin_limit();
  for (double backoff = 1000; backoff <= 4000; backoff *= 2) {
    CHECK_EQ(after(100, 10), 0);
    CHECK_EQ(after(100, 10), 50);
    CHECK_EQ(after(50, 5.5), 45);
    CHECK_EQ(after(45, 4.96), 0);
    CHECK(limit.off.until == at + backoff);
    at += backoff - 1;
    CHECK_EQ(after(100, 10), 0);
    CHECK_EQ(after(100, 10), 0);
    at += 1;
  }
  CHECK(limit.off.ms == 8000);
  after(100, 10);
  CHECK_EQ(after(100, 10), 50);
  for (int i = 0; i < 4; i++) {
    CHECK(limit.off.ms == 8000);
    CHECK_EQ(after(50, 5), 50);
  }
  CHECK(limit.off.ms == 1000);
}

/* ---- the comparison */

static uvb__comparison_t comparison;
static uvb__observed_t now;
static double max_delay;

static void begin_comparison(void) {
  uvb__comparison_init(&comparison);
  now = (uvb__observed_t){1000, 500, 0, 700, 0};
  max_delay = 5;
}

static uvb__why_t ask(void) {
  return uvb__comparison_ask(&comparison, &now, max_delay);
}

/* Lets this much pass, and asks. */
static uvb__why_t pass(double ms, double busy, double events) {
  now.ms += ms;
  now.busy += busy;
  now.left += events;
  now.pushed += events;
  return ask();
}

/* Reports whether the window holds; it settles while nothing leaves. */
static bool settle(void) {
  uvb__why_t why = ask();
  CHECK_EQ(ask(), why);
  CHECK(comparison.measured);
  return why == uvb__holding;
}

/* A window of 100 ms that is asked at its end; without holding 100 events cost 50 ms. */
static uvb__why_t window(double busy_held, double events_held) {
  bool holds = settle();
  return pass(100, holds ? busy_held : 50, holds ? events_held : 100);
}

TEST(four_windows_alternate_and_then_few_do_not_hold) {
  static const int plain[] = {0, 2, 8, 24, 56, 120, 248, 376};
  begin_comparison();
  for (int number = 0, i = 0; number <= 376; number++) {
    bool holds = i == 8 || number != plain[i];
    i += !holds;
    CHECK_EQ(ask(), holds ? uvb__holding : uvb__comparing);
    window(25, 100);
  }
}

TEST(a_window_takes_its_time_and_its_events) {
  begin_comparison();
  CHECK(!settle());
  CHECK_EQ(pass(49, 1, 8), uvb__comparing);
  CHECK_EQ(pass(1, 1, 0), uvb__holding);
  CHECK(settle());
  CHECK_EQ(pass(50, 1, 7), uvb__holding);
  CHECK_EQ(pass(0, 0, 1), uvb__comparing);
  /* Four delays if it holds, where those are longer. */
  max_delay = 50;
  CHECK(!settle());
  CHECK_EQ(pass(50, 1, 8), uvb__holding);
  CHECK(settle());
  CHECK_EQ(pass(199, 1, 32), uvb__holding);
  CHECK_EQ(pass(1, 1, 0), uvb__holding);
  CHECK_EQ(comparison.number, 4);
  /* And a second at most. */
  max_delay = 60000;
  CHECK(settle());
  CHECK_EQ(pass(999, 1, 200), uvb__holding);
  CHECK_EQ(comparison.number, 4);
  CHECK_EQ(pass(1, 1, 0), uvb__holding);
  CHECK_EQ(comparison.number, 5);
}

TEST(a_window_is_measured_once_batches_do_not_shrink_any_more) {
  begin_comparison();
  pass(0, 0, 70);
  CHECK_EQ(pass(1, 1, 62), uvb__comparing);
  CHECK(!comparison.measured);
  pass(1, 1, 55);
  CHECK(!comparison.measured);
  pass(1, 1, 50);
  CHECK(comparison.measured);
  CHECK(comparison.since.ms == 1003);
  CHECK(comparison.since.left == 237);
}

TEST(a_window_is_measured_from_the_ninth_asking_in_any_case) {
  begin_comparison();
  double size = 1024;
  for (int asking = 1; asking <= 8; asking++, size /= 2) {
    pass(1, 1, size);
    CHECK(!comparison.measured);
  }
  pass(1, 1, size);
  CHECK(comparison.measured);
}

TEST(saving_is_the_share_of_the_busy_time_of_an_event) {
  begin_comparison();
  CHECK(isnan(comparison.saving));
  window(30, 100);
  CHECK(isnan(comparison.saving));
  window(30, 120);
  CHECK(near(comparison.saving, 1 - 30.0 / 120 / (50.0 / 100)));
  CHECK(comparison.slowdown == 0);
  window(0, 0);
  /* Both sums were halved before the second window without holding was added; its events cost what they cost before. */
  CHECK(near(comparison.sums[false].ms, 150));
  CHECK(near(comparison.sums[true].ms, 50));
  CHECK(near(comparison.saving, 1 - 30.0 / 120 / (50.0 / 100)));
}

TEST(a_saving_that_is_too_small_switches_holding_off_once_each_kind_has_two_windows) {
  begin_comparison();
  window(49.5, 100);
  CHECK_EQ(window(49.5, 100), uvb__comparing);
  CHECK_EQ(window(49.5, 100), uvb__holding);
  CHECK_EQ(window(49.5, 100), uvb__no_saving);
  CHECK(near(comparison.saving, 0.01));
  CHECK_EQ(pass(999.99, 0, 0), uvb__no_saving);
  /* Then the trial begins anew. */
  CHECK_EQ(pass(0.02, 0, 0), uvb__comparing);
}

TEST(a_fall_of_the_rate_counts_against_the_saving) {
  /* 0.85 pushes a ms instead of 1, 0.039 more than one deviation: too little to be a closed loop. */
  static const struct {
    double saving;
    uvb__why_t why;
  } cases[] = {{0.05, uvb__no_saving}, {0.07, uvb__holding}};
  for (int i = 0; i < 2; i++) {
    begin_comparison();
    for (int number = 0; number < 3; number++) window((1 - cases[i].saving) * 42.5, 85);
    CHECK_EQ(window((1 - cases[i].saving) * 42.5, 85), cases[i].why);
    CHECK(near(comparison.saving, cases[i].saving));
    CHECK(comparison.slowdown == 0);
  }
}

TEST(a_rate_that_falls_while_holding_switches_it_off_at_once) {
  begin_comparison();
  window(0, 0);
  CHECK_EQ(window(5, 50), uvb__slows_senders);
  CHECK(near(comparison.slowdown, 0.5));
  CHECK_EQ(pass(500, 0, 0), uvb__slows_senders);
}

TEST(events_that_are_still_queued_at_the_end_of_a_window_are_no_fall) {
  begin_comparison();
  window(0, 0);
  CHECK(settle());
  now.pushed += 50;
  CHECK_EQ(pass(100, 5, 50), uvb__comparing);
  CHECK(comparison.slowdown == 0);
}

TEST(a_rate_that_falls_by_chance_does_not) {
  begin_comparison();
  window(0, 0);
  /* 100 and 55 events in 100 ms: less apart than 4 standard deviations. */
  CHECK_EQ(window(20, 55), uvb__comparing);
  CHECK(comparison.slowdown == 0);
}

TEST(the_trial_sees_a_closed_loop_before_its_window_ends) {
  begin_comparison();
  max_delay = 50;
  window(0, 0);
  CHECK(settle());
  CHECK_EQ(pass(49, 1, 0), uvb__holding);
  CHECK_EQ(pass(1, 1, 0), uvb__slows_senders);
  CHECK(comparison.slowdown == 1);
}

TEST(after_the_trial_a_window_is_judged_at_its_end_only) {
  begin_comparison();
  for (int number = 0; number < 4; number++) window(25, 100);
  max_delay = 50;
  CHECK(settle());
  CHECK_EQ(pass(199, 1, 8), uvb__holding);
  CHECK_EQ(pass(1, 1, 0), uvb__slows_senders);
}

TEST(a_loop_that_seems_idle_is_no_evidence) {
  begin_comparison();
  for (int i = 0; i < 40; i++) {
    uvb__why_t why = pass(100, 0, 100);
    CHECK(why == uvb__holding || why == uvb__comparing);
  }
  CHECK(comparison.number > 4);
  CHECK(isnan(comparison.saving));
}

TEST(back_off_grows_up_to_a_minute_and_returns_when_holding_pays) {
  static const double backoffs[] = {1000, 4000, 16000, 60000, 60000};
  begin_comparison();
  for (size_t i = 0; i < sizeof(backoffs) / sizeof(backoffs[0]); i++) {
    window(0, 0);
    CHECK_EQ(window(5, 50), uvb__slows_senders);
    CHECK(near(comparison.off.until, now.ms + backoffs[i]));
    now.ms = comparison.off.until;
  }
  for (int i = 0; i < 3; i++) {
    CHECK(comparison.off.ms == 60000);
    window(25, 100);
  }
  CHECK_EQ(window(25, 100), uvb__holding);
  CHECK(comparison.off.ms == 1000);
}

TEST(a_window_that_is_dropped_does_not_count_but_uses_its_number_up) {
  begin_comparison();
  CHECK_EQ(ask(), uvb__comparing);
  uvb__comparison_drop(&comparison);
  uvb__comparison_drop(&comparison);
  CHECK(settle());
  uvb__comparison_drop(&comparison);
  CHECK_EQ(ask(), uvb__comparing);
  CHECK_EQ(comparison.number, 2);
  CHECK_EQ(comparison.sums[false].windows, 0);
  CHECK_EQ(comparison.sums[true].windows, 0);
}

TEST(a_clock_that_goes_back_drops_the_window) {
  begin_comparison();
  CHECK(!settle());
  CHECK_EQ(pass(-900, 10, 100), uvb__holding);
  CHECK_EQ(comparison.sums[false].windows, 0);
  pass(0, 0, 100);
  CHECK_EQ(pass(49, 10, 100), uvb__holding);
  CHECK_EQ(pass(1, 10, 0), uvb__comparing);
  CHECK_EQ(comparison.sums[true].windows, 1);
}

TEST(what_is_given_is_judged_at_once) {
  begin_comparison();
  CHECK_EQ(uvb__comparison_judge(&comparison, 0.02, 0.05, 10), uvb__holding);
  CHECK_EQ(uvb__comparison_judge(&comparison, 0.0199, 0, 10), uvb__no_saving);
  CHECK_EQ(uvb__comparison_judge(&comparison, 1, 0, 1009), uvb__no_saving);
  CHECK_EQ(uvb__comparison_judge(&comparison, 1, 0.0501, 1010), uvb__slows_senders);
  CHECK(comparison.off.until == 3010);
  CHECK(comparison.off.ms == 8000);
}

TEST_MAIN
