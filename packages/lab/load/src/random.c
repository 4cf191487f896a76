#include "random.h"

#include <math.h>

static uint64_t rotate_left(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

void random_seed(struct random *random, uint64_t seed) {
  /* splitmix64 spreads a small seed over the whole state, which must not be all zero. */
  for (int i = 0; i < 4; i++) {
    seed += 0x9e3779b97f4a7c15u;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    random->s[i] = z ^ (z >> 31);
  }
}

uint64_t random_next(struct random *random) {
  uint64_t *s = random->s;
  const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
  const uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate_left(s[3], 45);
  return result;
}

double random_unit(struct random *random) {
  return (double)(random_next(random) >> 11) * 0x1.0p-53;
}

uint32_t random_below(struct random *random, uint32_t n) {
  return (uint32_t)(((random_next(random) >> 32) * n) >> 32);
}

double random_exponential(struct random *random) { return -log1p(-random_unit(random)); }
