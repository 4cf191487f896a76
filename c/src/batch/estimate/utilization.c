#include "batch/estimate/utilization.h"

#include <math.h>
#include <string.h>

static const double slice_ms = 25;

static int64_t slice_at(double time) {
  return (int64_t)floor(time / slice_ms);
}

static double* busy_of(uvb__utilization_t* window, int64_t slice) {
  return &window->busy[(slice % uvb__slices + uvb__slices) % uvb__slices];
}

static void advance(uvb__utilization_t* window, int64_t slice) {
  if (slice - window->newest >= uvb__slices) {
    memset(window->busy, 0, sizeof(window->busy));
  } else {
    for (int64_t i = window->newest + 1; i <= slice; i++) *busy_of(window, i) = 0;
  }
  if (slice > window->newest) window->newest = slice;
}

void uvb__utilization_init(uvb__utilization_t* window, double start) {
  memset(window, 0, sizeof(*window));
  window->start = start;
  window->newest = slice_at(start);
}

void uvb__utilization_observe(uvb__utilization_t* window, double from, double to, double busy) {
  if (to <= from) return;
  double share = fmin(1, busy / (to - from));
  int64_t last = slice_at(to);
  int64_t slice = slice_at(from);
  /* Of a span longer than the window only the end can still be seen. */
  if (slice < last - uvb__slices + 1) slice = last - uvb__slices + 1;
  advance(window, last);
  for (; slice <= last; slice++) {
    double begin = fmax(from, (double)slice * slice_ms);
    double end = fmin(to, (double)(slice + 1) * slice_ms);
    if (end > begin) *busy_of(window, slice) += (end - begin) * share;
  }
}

double uvb__utilization_read(uvb__utilization_t* window, double now) {
  int64_t current = slice_at(now);
  advance(window, current);
  double begin = fmax(window->start, (double)(current - uvb__slices + 1) * slice_ms);
  if (now <= begin) return 0;
  double busy = 0;
  for (int i = 0; i < uvb__slices; i++) busy += window->busy[i];
  return fmin(1, busy / (now - begin));
}
