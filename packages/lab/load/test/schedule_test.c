#include "schedule.h"

#include "check.h"
#include "marker.h"

static struct options options_with(uint32_t pattern, uint32_t users, uint32_t spacing) {
  return (struct options){.connections = 50,
                          .senders = 50,
                          .rooms = 1,
                          .pattern = pattern,
                          .users = users,
                          .spacing = spacing,
                          .seconds = 10,
                          .warmup = 2,
                          .seed = 11};
}

struct tally {
  uint32_t total; /* after the warm-up */
  uint32_t by_sender[50];
  uint32_t by_second[12];
  double gaps; /* sum of squares of the gaps, relative to the mean gap */
};

/* Runs a schedule to its end. */
static struct tally play(const struct options *options, double rate) {
  struct tally tally = {0};
  static struct schedule schedule;
  schedule_start(&schedule, options, rate);
  double before = 0;
  for (double due; isfinite(due = schedule_due(&schedule)); before = due) {
    if (due < before || due >= 12) CHECK(false);
    const uint32_t sender = schedule_take(&schedule);
    if (sender >= 50) CHECK(false);
    tally.by_second[(int)due]++;
    tally.gaps += (due - before) * (due - before) * rate * rate;
    if (due < options->warmup) continue;
    tally.total++;
    tally.by_sender[sender]++;
  }
  return tally;
}

static void even_spacing_takes_turns(void) {
  const struct options options = options_with(PATTERN_STEADY, USERS_UNIFORM, SPACING_UNIFORM);
  const struct tally tally = play(&options, 100);
  CHECK_EQUAL(tally.total, 1000);
  for (int i = 0; i < 50; i++) CHECK_EQUAL(tally.by_sender[i], 20);
  for (int i = 0; i < 12; i++) CHECK_EQUAL(tally.by_second[i], 100);
}

static void poisson_gaps_vary_as_they_should(void) {
  const struct options options = options_with(PATTERN_STEADY, USERS_UNIFORM, SPACING_POISSON);
  const struct tally tally = play(&options, 5000);
  CHECK_NEAR(tally.total, 50000, 1000);
  /* The mean square of an exponential gap is twice the square of its mean; of an even one, once. */
  CHECK_NEAR(tally.gaps / 60000, 2, 0.15);
  for (int i = 0; i < 50; i++) CHECK_NEAR(tally.by_sender[i], 1000, 200);
}

static void casual_users_are_random_and_active_ones_regular_whatever_the_spacing(void) {
  const struct options casual = options_with(PATTERN_STEADY, USERS_CASUAL, SPACING_UNIFORM);
  CHECK_NEAR(play(&casual, 5000).gaps / 60000, 2, 0.15);
  const struct options active = options_with(PATTERN_STEADY, USERS_ACTIVE, SPACING_POISSON);
  CHECK_NEAR(play(&active, 5000).gaps / 60000, 1, 0.01);
}

static void a_fifth_of_a_blend_makes_four_fifths(void) {
  const struct options options = options_with(PATTERN_STEADY, USERS_BLEND, SPACING_POISSON);
  const struct tally tally = play(&options, 1000);
  uint32_t active = 0;
  double shares = 0;
  for (uint32_t i = 0; i < 50; i++) {
    if (i < 10) active += tally.by_sender[i];
    shares += schedule_share(&options, i);
  }
  CHECK_EQUAL(active, 8000);
  CHECK_NEAR(tally.total - active, 2000, 200);
  CHECK_NEAR(shares, 1, 1e-9);
  CHECK_NEAR(schedule_share(&options, 9), 0.08, 1e-9);
  CHECK_NEAR(schedule_share(&options, 10), 0.005, 1e-9);
  CHECK_EQUAL(schedule_share(&options, 50), 0);
}

static void spikes_keep_the_mean(void) {
  const struct options options = options_with(PATTERN_SPIKES, USERS_UNIFORM, SPACING_UNIFORM);
  const struct tally tally = play(&options, 900);
  CHECK_NEAR(tally.total, 9000, 1);
  static const uint32_t wanted[12] = {500, 500, 500, 500, 2500, 500, 500, 500, 500, 2500, 500, 500};
  for (int i = 0; i < 12; i++) CHECK_NEAR(tally.by_second[i], wanted[i], 1);
}

static void a_ramp_climbs_from_a_tenth(void) {
  const struct options options = options_with(PATTERN_RAMP, USERS_UNIFORM, SPACING_UNIFORM);
  const struct tally tally = play(&options, 1000);
  CHECK_NEAR(tally.total, 5500, 1);
  CHECK_NEAR(tally.by_second[0], 100, 1);
  CHECK_NEAR(tally.by_second[2], 145, 1);
  CHECK_NEAR(tally.by_second[11], 955, 1);
  const struct schedule_shape shape = {PATTERN_RAMP, 2, 10};
  CHECK_NEAR(schedule_shape_at(&shape, 2), 0.1, 1e-9);
  CHECK_NEAR(schedule_shape_at(&shape, 7), 0.55, 1e-9);
  CHECK_NEAR(schedule_shape_at(&shape, 12), 1, 1e-9);
}

static void advancing_crosses_several_stretches(void) {
  const struct schedule_shape shape = {PATTERN_SPIKES, 0, 100};
  CHECK_NEAR(schedule_shape_advance(&shape, 0, 5), 5, 1e-9);
  CHECK_NEAR(schedule_shape_advance(&shape, 0, 50), 50, 1e-9);
  CHECK_NEAR(schedule_shape_advance(&shape, 2, 25.0 / 9), 3, 1e-9);
  CHECK_NEAR(schedule_shape_advance(&shape, 1, 10.0 / 9), 2.2, 1e-9);
}

static void the_same_seed_gives_the_same_schedule(void) {
  const struct options options = options_with(PATTERN_RAMP, USERS_BLEND, SPACING_POISSON);
  const struct tally first = play(&options, 700);
  const struct tally again = play(&options, 700);
  CHECK(memcmp(&first, &again, sizeof first) == 0);
  struct options other = options;
  other.seed = 12;
  const struct tally different = play(&other, 700);
  CHECK(memcmp(&first, &different, sizeof first) != 0);
}

static void only_the_mixed_pattern_has_priorities(void) {
  struct random random;
  random_seed(&random, 3);
  struct options options = options_with(PATTERN_STEADY, USERS_UNIFORM, SPACING_UNIFORM);
  for (int i = 0; i < 100; i++) CHECK_EQUAL(schedule_priority(&options, &random), PRIORITY_NORMAL);
  options.pattern = PATTERN_MIXED;
  uint32_t drawn[PRIORITIES] = {0};
  for (int i = 0; i < 100000; i++) drawn[schedule_priority(&options, &random)]++;
  CHECK_NEAR(drawn[PRIORITY_HIGH], 5000, 500);
  CHECK_NEAR(drawn[PRIORITY_NORMAL], 80000, 1000);
  CHECK_NEAR(drawn[PRIORITY_LOW], 15000, 1000);
}

int main(void) {
  even_spacing_takes_turns();
  poisson_gaps_vary_as_they_should();
  casual_users_are_random_and_active_ones_regular_whatever_the_spacing();
  a_fifth_of_a_blend_makes_four_fifths();
  spikes_keep_the_mean();
  a_ramp_climbs_from_a_tenth();
  advancing_crosses_several_stretches();
  the_same_seed_gives_the_same_schedule();
  only_the_mixed_pattern_has_priorities();
  return check_result();
}
