#if defined(__linux__)

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dispatch/sentinel.h"

uv_file uvb__sentinel_open(uv_file* other) {
  const uint64_t most = UINT64_MAX - 1;
  int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  *other = -1;
  if (fd < 0) return uv_translate_sys_error(errno);
  if (write(fd, &most, sizeof(most)) == (ssize_t)sizeof(most)) return fd;
  close(fd);
  return UV_EIO;
}

void uvb__sentinel_close(uv_file fd) {
  close(fd);
}

#endif
