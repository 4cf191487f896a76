/* The policies are pure functions: what they are given, and what they answer. */
#include "policy.h"

#include "test.h"

static uv_batch_options_t options_with(double max_delay, uv_batch_hold_t hold) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.max_delay = max_delay;
  options.hold = hold;
  return options;
}

static int near(double a, double b) {
  return fabs(a - b) < 1e-9;
}

TEST(fixed_does_not_look_at_the_signals) {
  static const uvb__signals_t signals[] = {{0, 0, 0, 0}, {1, 1000, 0, 16}, {0.5, 0, 100, 16}};
  uv_batch_options_t options = options_with(12.5, UV_BATCH_HOLD_TUNED);
  for (size_t i = 0; i < 3; i++) {
    uvb__decision_t fixed = uvb__policy_fixed(&signals[i], &options, uvb__policy_initial, 5);
    CHECK(fixed.hold == 12.5);
    CHECK(fixed.state.off_until == uvb__policy_initial.off_until);
    CHECK(fixed.state.backoff == uvb__policy_initial.backoff);
  }
}

TEST(each_policy_has_its_function) {
  CHECK(uvb__policy_of(UV_BATCH_POLICY_ADAPTIVE) == uvb__policy_adaptive);
  CHECK(uvb__policy_of(UV_BATCH_POLICY_FIXED) == uvb__policy_fixed);
}

TEST(adaptive_holds_by_how_busy_the_loop_is_and_what_is_expected) {
  static const struct {
    double max_delay, utilization, rate, hold;
  } cases[] = {
      {0, 1, 1000, 0},         /* no delay allowed */
      {10, 0, 1000, 0},        /* time to spare */
      {10, 0.5999999, 1000, 0},
      {10, 0.6, 1000, 0},      /* the hold grows from nothing */
      {10, 0.75, 1000, 5},
      {10, 0.9, 1000, 10},
      {10, 1, 1000, 10},       /* never more than max_delay */
      {10, 1, 0.05, 10},       /* half an event expected: just enough */
      {10, 1, 0.0499999, 0},
      {10, 1, 0, 0},
      {60000, 0.675, 1, 15000},
      {0.001, 1, 500, 0.001},
      {0.001, 1, 499, 0},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    uvb__signals_t signals = {cases[i].utilization, cases[i].rate, 0, 0};
    uv_batch_options_t options = options_with(cases[i].max_delay, UV_BATCH_HOLD_TUNED);
    uvb__decision_t decision = uvb__policy_adaptive(&signals, &options, uvb__policy_initial, 0);
    if (!near(decision.hold, cases[i].hold)) fprintf(stderr, "case %d: %g\n", (int)i, decision.hold);
    CHECK(near(decision.hold, cases[i].hold));
  }
}

static const uvb__signals_t useless = {1, 1000, 0.4999, 16};
static const uvb__signals_t useful = {1, 1000, 0.5, 16};
static const uvb__signals_t unknown = {1, 1000, 0, 15};

TEST(holding_is_not_judged_before_sixteen_holds) {
  uv_batch_options_t options = options_with(10, UV_BATCH_HOLD_TUNED);
  uvb__decision_t decision = uvb__policy_adaptive(&unknown, &options, uvb__policy_initial, 100);
  CHECK(decision.hold == 10);
  CHECK(decision.state.off_until == 0);
}

TEST(holding_that_does_not_pay_is_off_for_twice_as_long_each_time_up_to_a_minute) {
  static const double backoffs[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000};
  uv_batch_options_t options = options_with(10, UV_BATCH_HOLD_TUNED);
  uvb__policy_state_t state = uvb__policy_initial;
  double now = 7;
  for (size_t i = 0; i < sizeof(backoffs) / sizeof(backoffs[0]); i++) {
    uvb__decision_t off = uvb__policy_adaptive(&useless, &options, state, now);
    CHECK(off.hold == 0);
    CHECK(off.state.off_until == now + backoffs[i]);
    state = off.state;
    /* Off it stays, and is not judged, until the very moment. */
    now += backoffs[i];
    uvb__decision_t still = uvb__policy_adaptive(&useless, &options, state, nextafter(now, 0));
    CHECK(still.hold == 0);
    CHECK(still.state.off_until == state.off_until);
    CHECK(still.state.backoff == state.backoff);
    CHECK(uvb__policy_adaptive(&unknown, &options, state, now).hold == 10);
  }
}

TEST(holding_that_pays_again_makes_the_next_back_off_short) {
  uv_batch_options_t options = options_with(10, UV_BATCH_HOLD_TUNED);
  uvb__policy_state_t state = uvb__policy_initial;
  for (int i = 0; i < 4; i++) state = uvb__policy_adaptive(&useless, &options, state, state.off_until).state;
  CHECK(state.backoff == 16000);
  uvb__decision_t decision = uvb__policy_adaptive(&useful, &options, state, state.off_until);
  CHECK(decision.hold == 10);
  CHECK(decision.state.backoff == 1000);
}

TEST(a_busy_loop_is_not_needed_for_holding_to_be_judged) {
  uv_batch_options_t options = options_with(10, UV_BATCH_HOLD_TUNED);
  uvb__signals_t idle = {0, 0, 0, 16};
  CHECK(uvb__policy_adaptive(&idle, &options, uvb__policy_initial, 50).state.off_until == 1050);
}

TEST(hold_always_is_never_switched_off) {
  uv_batch_options_t options = options_with(10, UV_BATCH_HOLD_ALWAYS);
  uvb__policy_state_t off = {1e9, 2000};
  uvb__decision_t decision = uvb__policy_adaptive(&useless, &options, off, 5);
  CHECK(decision.hold == 10);
  CHECK(decision.state.off_until == 1e9);
  CHECK(decision.state.backoff == 2000);
}

TEST_MAIN
