/* Windows: a write is with the kernel at once, and closing its handle cancels it in its own time. */
#if defined(_WIN32)

#include "dispatch/sentinel.h"

uv_file uvb__sentinel_open(uv_file* other) {
  *other = -1;
  return UV_ENOSYS;
}

void uvb__sentinel_close(uv_file fd) {
  (void)fd;
}

#endif
