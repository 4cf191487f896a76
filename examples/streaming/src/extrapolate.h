/* Total of a long case from some of its rounds, with a 95 % interval by Student's t. A round that was run is certain:
 * of n rounds of N the interval is t s N sqrt(1/n - 1/N) to either side of N times the mean, and nothing once all were
 * run. It takes rounds to be independent and alike; a machine that gets slower meanwhile is not in it. */
#ifndef EXTRAPOLATE_H
#define EXTRAPOLATE_H

#include <stddef.h>

typedef struct {
  double total, low, high; /* low and high are NAN for one round of several, which has no interval */
} total_t;

/* count: 1 to whole. */
total_t extrapolate(const double* values, size_t count, size_t whole);

#endif
