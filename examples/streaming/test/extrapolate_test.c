/* Known totals, and how often the interval has the truth in it. */
#include "extrapolate.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void near(const char* what, double actual, double expected) {
  if (fabs(actual - expected) <= 1e-3 * fabs(expected)) return;
  fprintf(stderr, "%s: %g, expected %g\n", what, actual, expected);
  exit(1);
}

static double uniform(void) {
  static uint64_t x = 88172645463325252u;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return (double)(x >> 11) / 9007199254740992.0;
}

/* Nearly normal, of deviation 1. */
static double noise(void) {
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += uniform();
  return sum;
}

/* Of 4,000 cases of 40 rounds, the share whose total lies within the interval of the first ones. */
static double covered(size_t count) {
  enum { cases = 4000, whole = 40 };
  int within = 0;
  for (int i = 0; i < cases; i++) {
    double values[whole], truth = 0;
    for (size_t k = 0; k < whole; k++) truth += values[k] = 20 + noise();
    total_t found = extrapolate(values, count, whole);
    within += found.low <= truth && truth <= found.high;
  }
  return (double)within / cases;
}

int main(void) {
  const double values[] = {10, 12, 14};
  total_t some = extrapolate(values, 3, 12);
  near("total", some.total, 144);
  near("low", some.low, 144 - 4.303 * 2 * 12 * 0.5);
  near("high", some.high, 144 + 4.303 * 2 * 12 * 0.5);

  total_t all = extrapolate(values, 3, 3);
  near("low of all", all.low, 36);
  near("high of all", all.high, 36);

  total_t one = extrapolate(values, 1, 12);
  near("total of one", one.total, 120);
  if (!isnan(one.low) || !isnan(one.high)) return fprintf(stderr, "one round has an interval\n"), 1;

  /* 4,000 draws of 95 % have a standard error of 0.35 %. */
  for (size_t count = 2; count <= 35; count += 11) {
    double share = covered(count);
    if (share < 0.935 || share > 0.965) return fprintf(stderr, "%zu rounds: %g within\n", count, share), 1;
  }
  return 0;
}
