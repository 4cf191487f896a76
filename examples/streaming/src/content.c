#include "content.h"

#include <string.h>

#include "must.h"

char* content_make(size_t size) {
  uint64_t x = 0x9e3779b97f4a7c15u;
  char* content = malloc(size + 8);
  if (content == NULL) FAIL("no memory for %zu bytes", size);
  for (size_t i = 0; i < size; i += 8) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    memcpy(content + i, &x, 8);
  }
  return content;
}

void checksum_init(checksum_t* sum) {
  memset(sum, 0, sizeof(*sum));
}

/* Four words at a time, so that checking costs less than reading. */
static void add_block(checksum_t* sum, const char* bytes) {
  uint64_t words[4];
  memcpy(words, bytes, sizeof(words));
  for (int i = 0; i < 4; i++) sum->lanes[i] = (sum->lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15u;
}

void checksum_add(checksum_t* sum, const char* bytes, size_t count) {
  const size_t block = sizeof(sum->held);
  if (sum->count > 0) {
    size_t missing = block - sum->count;
    size_t taken = count < missing ? count : missing;
    memcpy(sum->held + sum->count, bytes, taken);
    sum->count += taken;
    bytes += taken;
    count -= taken;
    if (sum->count < block) return;
    add_block(sum, sum->held);
    sum->count = 0;
  }
  for (; count >= block; bytes += block, count -= block) add_block(sum, bytes);
  memcpy(sum->held, bytes, count);
  sum->count = count;
}

uint64_t checksum_end(checksum_t* sum) {
  memset(sum->held + sum->count, 0, sizeof(sum->held) - sum->count);
  add_block(sum, sum->held);
  return sum->lanes[0] ^ (sum->lanes[1] >> 1) ^ (sum->lanes[2] >> 2) ^ (sum->lanes[3] >> 3);
}
