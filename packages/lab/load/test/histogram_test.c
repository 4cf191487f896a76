#include "histogram.h"

#include "check.h"

static struct histogram histogram;

static void reset(void) { histogram = (struct histogram){0}; }

static void empty_is_zero(void) {
  reset();
  CHECK_EQUAL(histogram_percentile(&histogram, 0.5), 0);
  CHECK_EQUAL(histogram_mean(&histogram), 0);
}

static void small_values_are_exact(void) {
  reset();
  for (uint64_t us = 1; us <= 100; us++) histogram_add(&histogram, us);
  CHECK_EQUAL(histogram_percentile(&histogram, 0), 1);
  CHECK_EQUAL(histogram_percentile(&histogram, 0.5), 50);
  CHECK_EQUAL(histogram_percentile(&histogram, 0.99), 99);
  CHECK_EQUAL(histogram_percentile(&histogram, 1), 100);
  CHECK_EQUAL(histogram_mean(&histogram), 50.5);
}

static void every_value_is_known_to_one_percent(void) {
  for (uint64_t us = 1; us < 3600000000u; us = us + us / 7 + 1) {
    reset();
    histogram_add(&histogram, us);
    histogram_add(&histogram, us * 40); /* so that the first is not the maximum */
    CHECK_NEAR(histogram_percentile(&histogram, 0.5), us, (double)us * 0.01);
    CHECK_EQUAL(histogram_percentile(&histogram, 1), us * 40);
  }
}

static void cells_ascend_and_never_leave_the_table(void) {
  uint32_t before = 0;
  for (uint64_t us = 1; us < (uint64_t)1 << 60; us += us / 300 + 1) {
    const uint32_t cell = histogram_cell(us);
    if (cell < before || cell >= HISTOGRAM_CELLS) CHECK(false);
    before = cell;
  }
  CHECK_EQUAL(histogram_cell(UINT64_MAX), HISTOGRAM_CELLS - 1);
}

static void percentiles_of_a_known_mix(void) {
  reset();
  for (int i = 0; i < 990; i++) histogram_add(&histogram, 1000);
  for (int i = 0; i < 10; i++) histogram_add(&histogram, 500000);
  CHECK_NEAR(histogram_percentile(&histogram, 0.99), 1000, 10);
  CHECK_NEAR(histogram_percentile(&histogram, 0.991), 500000, 5000);
  CHECK_EQUAL(histogram.max, 500000);
}

static void merging_adds_up(void) {
  reset();
  static struct histogram other;
  histogram_add(&histogram, 10);
  histogram_add(&other, 30);
  histogram_add(&other, 20);
  histogram_merge(&histogram, &other);
  CHECK_EQUAL(histogram.count, 3);
  CHECK_EQUAL(histogram.max, 30);
  CHECK_EQUAL(histogram_percentile(&histogram, 0.5), 20);
  CHECK_EQUAL(histogram_mean(&histogram), 20);
}

int main(void) {
  empty_is_zero();
  small_values_are_exact();
  every_value_is_known_to_one_percent();
  cells_ascend_and_never_leave_the_table();
  percentiles_of_a_known_mix();
  merging_adds_up();
  return check_result();
}
