#ifndef MILLRACE_CLOCK_H
#define MILLRACE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Monotonic time in microseconds. Costs about 25 ns (no system call on Linux). */
static inline uint64_t clock_us(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

#endif
