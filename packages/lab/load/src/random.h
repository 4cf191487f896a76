#ifndef MILLRACE_RANDOM_H
#define MILLRACE_RANDOM_H

#include <stdint.h>

/* xoshiro256**: small, fast, and the same on every machine for the same seed. */
struct random {
  uint64_t s[4];
};

void random_seed(struct random *random, uint64_t seed);
uint64_t random_next(struct random *random);

/* Evenly from [0, 1). */
double random_unit(struct random *random);

/* Evenly from 0 to n - 1; n must not be 0. */
uint32_t random_below(struct random *random, uint32_t n);

/* Exponential with mean 1: the gap between events of a Poisson process of rate 1. */
double random_exponential(struct random *random);

#endif
