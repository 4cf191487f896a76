#ifndef MILLRACE_HISTOGRAM_H
#define MILLRACE_HISTOGRAM_H

#include <stdint.h>

/*
 * A log-linear histogram of microseconds: 128 cells per power of two, so a value is known to
 * within 0.8 %; below 128 µs exactly. Fixed memory (32 KB), an add costs a few nanoseconds.
 */
enum {
  HISTOGRAM_BITS = 7,
  HISTOGRAM_CELLS_PER_OCTAVE = 1 << HISTOGRAM_BITS,
  HISTOGRAM_OCTAVES = 31, /* up to 2^37 µs: 38 hours; anything longer is put there */
  HISTOGRAM_CELLS = HISTOGRAM_CELLS_PER_OCTAVE * HISTOGRAM_OCTAVES,
};

struct histogram {
  uint64_t count;
  uint64_t sum;
  uint64_t max;
  uint64_t cells[HISTOGRAM_CELLS];
};

static inline uint32_t histogram_cell(uint64_t us) {
  if (us < HISTOGRAM_CELLS_PER_OCTAVE) return (uint32_t)us;
  const uint32_t shift = 63u - (uint32_t)__builtin_clzll(us) - HISTOGRAM_BITS;
  const uint32_t cell = (shift << HISTOGRAM_BITS) + (uint32_t)(us >> shift);
  return cell < HISTOGRAM_CELLS ? cell : HISTOGRAM_CELLS - 1;
}

static inline void histogram_add(struct histogram *histogram, uint64_t us) {
  histogram->count++;
  histogram->sum += us;
  if (us > histogram->max) histogram->max = us;
  histogram->cells[histogram_cell(us)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from);

/* The value in µs below or at which `share` (0..1) of the values lie; 0 when there is none. */
double histogram_percentile(const struct histogram *histogram, double share);

/* Exact, in µs; 0 when there is no value. */
double histogram_mean(const struct histogram *histogram);

#endif
