#include "extrapolate.h"

#include <math.h>

/* The 97.5 % quantile of Student's t, by degrees of freedom; beyond the table the last one, which is a little wide. */
static double student(size_t freedom) {
  static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                             2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                             2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  const size_t most = sizeof(t) / sizeof(*t);
  return t[(freedom < most ? freedom : most) - 1];
}

total_t extrapolate(const double* values, size_t count, size_t whole) {
  double mean = 0, squares = 0;
  for (size_t i = 0; i < count; i++) mean += values[i] / (double)count;
  double total = mean * (double)whole;
  if (count == whole) return (total_t){total, total, total};
  if (count == 1) return (total_t){total, NAN, NAN};
  for (size_t i = 0; i < count; i++) squares += (values[i] - mean) * (values[i] - mean);
  double deviation = sqrt(squares / (double)(count - 1));
  double error = student(count - 1) * deviation * (double)whole * sqrt(1 / (double)count - 1 / (double)whole);
  return (total_t){total, total - error, total + error};
}
