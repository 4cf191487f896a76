#include "work.h"

#include "must.h"

const char* work_name(work_t work) {
  static const char* const names[WORKS] = {"empty", "sum", "chunk", "dispatch"};
  return names[work];
}

uv_buf_t work_alloc(work_t work, size_t size) {
  static char* shared;
  static size_t shared_size;
  if (work >= WORK_CHUNK) return uv_buf_init(malloc(size), (unsigned int)size);
  if (size > shared_size) {
    free(shared);
    shared = malloc(size);
    shared_size = size;
  }
  return uv_buf_init(shared, (unsigned int)size);
}

static void spend(uint64_t ns) {
  uint64_t end = uv_hrtime() + ns;
  while (uv_hrtime() < end) continue;
}

void work_do(work_t work, checksum_t* sum, const uv_buf_t* buf, size_t count) {
  if (work >= WORK_SUM) checksum_add(sum, buf->base, count);
  if (work >= WORK_CHUNK) free(buf->base);
  if (work == WORK_DISPATCH && count > 0) spend(10000);
}
