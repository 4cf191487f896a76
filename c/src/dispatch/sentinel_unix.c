#if !defined(__linux__) && !defined(_WIN32)

#include <unistd.h>

#include "dispatch/sentinel.h"

/* A pipe that is full. */
uv_file uvb__sentinel_open(uv_file* other) {
  static const char filling[4096];
  uv_file ends[2];
  *other = -1;
  int status = uv_pipe(ends, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE);
  if (status != 0) return status;
  while (write(ends[1], filling, sizeof(filling)) > 0) continue;
  while (write(ends[1], filling, 1) > 0) continue;
  *other = ends[0];
  return ends[1];
}

void uvb__sentinel_close(uv_file fd) {
  close(fd);
}

#endif
