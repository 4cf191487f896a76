#ifndef MILLRACE_BYTES_H
#define MILLRACE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* A byte string that grows. Start it as {0}. */
struct bytes {
  uint8_t *data;
  size_t length;
  size_t room;
};

static inline void bytes_append(struct bytes *bytes, const uint8_t *data, size_t length) {
  if (length == 0) return;
  if (bytes->room - bytes->length < length) {
    bytes->room = (bytes->length + length) * 2;
    bytes->data = memory_resize(bytes->data, bytes->room, 1);
  }
  memcpy(bytes->data + bytes->length, data, length);
  bytes->length += length;
}

static inline void bytes_free(struct bytes *bytes) {
  free(bytes->data);
  *bytes = (struct bytes){0};
}

#endif
