#ifndef MILLRACE_CHECK_H
#define MILLRACE_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Counts what does not hold and goes on; main returns check_result(). */
static int check_failures;

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      check_failures++;                                                      \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                        \
  } while (0)

#define CHECK_EQUAL(actual, wanted)                                                        \
  do {                                                                                     \
    const double check_actual = (double)(actual);                                          \
    const double check_wanted = (double)(wanted);                                          \
    if (check_actual < check_wanted || check_actual > check_wanted) {                      \
      check_failures++;                                                                    \
      fprintf(stderr, "%s:%d: %s is %.17g, wanted %.17g\n", __FILE__, __LINE__, #actual,   \
              check_actual, check_wanted);                                                 \
    }                                                                                      \
  } while (0)

#define CHECK_NEAR(actual, wanted, tolerance)                                              \
  do {                                                                                     \
    const double check_actual = (double)(actual);                                          \
    const double check_wanted = (double)(wanted);                                          \
    if (!(fabs(check_actual - check_wanted) <= (tolerance))) {                             \
      check_failures++;                                                                    \
      fprintf(stderr, "%s:%d: %s is %.17g, wanted %.17g\n", __FILE__, __LINE__, #actual,   \
              check_actual, check_wanted);                                                 \
    }                                                                                      \
  } while (0)

static inline int check_result(void) { return check_failures == 0 ? 0 : 1; }

#endif
