#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

static void *held_or_exit(void *block, size_t count, size_t size) {
  if (block == NULL && count != 0) {
    fprintf(stderr, "out of memory: %zu items of %zu bytes could not be had\n", count, size);
    exit(3);
  }
  return block;
}

void *memory_new(size_t count, size_t size) {
  return held_or_exit(calloc(count, size), count, size);
}

void *memory_resize(void *block, size_t count, size_t size) {
  return held_or_exit(reallocarray(block, count, size), count, size);
}
