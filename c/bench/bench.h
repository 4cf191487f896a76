/* Code that the arms of the benchmarks share. Each program runs one arm once and prints one JSON object. */
#ifndef UVB_BENCH_H
#define UVB_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define MUST(call)                                                                          \
  do {                                                                                      \
    int must_status = (int)(call);                                                          \
    if (must_status < 0) {                                                                  \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, uv_strerror(must_status)); \
      exit(2);                                                                              \
    }                                                                                       \
  } while (0)

static inline void bench_die(const char* sentence) {
  fprintf(stderr, "%s\n", sentence);
  exit(2);
}

/* A whole number of at least 1. */
static inline uint64_t bench_count(const char* text) {
  char* end;
  uint64_t count = strtoull(text, &end, 10);
  if (*end != '\0' || count == 0) bench_die("a count must be a whole number of at least 1");
  return count;
}

#endif
