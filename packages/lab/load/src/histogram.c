#include "histogram.h"

#include <math.h>

/* The middle of a cell; for the exact cells the value itself. */
static double cell_value(uint32_t cell) {
  if (cell < 2 * HISTOGRAM_CELLS_PER_OCTAVE) return (double)cell;
  const uint32_t shift = (cell >> HISTOGRAM_BITS) - 1;
  const uint64_t low = (uint64_t)(cell - (shift << HISTOGRAM_BITS)) << shift;
  return (double)low + ((double)((uint64_t)1 << shift) - 1) / 2;
}

void histogram_merge(struct histogram *into, const struct histogram *from) {
  into->count += from->count;
  into->sum += from->sum;
  if (from->max > into->max) into->max = from->max;
  for (uint32_t cell = 0; cell < HISTOGRAM_CELLS; cell++) into->cells[cell] += from->cells[cell];
}

double histogram_percentile(const struct histogram *histogram, double share) {
  if (histogram->count == 0) return 0;
  uint64_t rank = (uint64_t)ceil(share * (double)histogram->count);
  if (rank < 1) rank = 1;
  if (rank >= histogram->count) return (double)histogram->max;
  uint64_t seen = 0;
  for (uint32_t cell = 0; cell < HISTOGRAM_CELLS; cell++) {
    seen += histogram->cells[cell];
    if (seen >= rank) {
      const double value = cell_value(cell);
      return value < (double)histogram->max ? value : (double)histogram->max;
    }
  }
  return (double)histogram->max;
}

double histogram_mean(const struct histogram *histogram) {
  return histogram->count == 0 ? 0 : (double)histogram->sum / (double)histogram->count;
}
