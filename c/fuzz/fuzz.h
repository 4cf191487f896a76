/* Code that the fuzz targets share: bytes as numbers, and a check that says what does not hold. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#define HOLDS(condition, what)                                                     \
  do {                                                                             \
    if (!(condition)) {                                                            \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, what);     \
      abort();                                                                     \
    }                                                                              \
  } while (0)

/* Bytes that run out become zeros: every input says something. */
typedef struct {
  const uint8_t* at;
  size_t left;
} fuzz_bytes_t;

static inline unsigned fuzz_byte(fuzz_bytes_t* bytes) {
  if (bytes->left == 0) return 0;
  bytes->left--;
  return *bytes->at++;
}

static inline unsigned fuzz_below(fuzz_bytes_t* bytes, unsigned limit) {
  return fuzz_byte(bytes) % limit;
}

#endif
