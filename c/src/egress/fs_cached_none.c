#if !defined(__linux__)
#include "egress/fs_calls.h"

int uvb__fs_open_cached(const char* path) {
  (void)path;
  return UV_ENOSYS;
}

ssize_t uvb__fs_read_cached(uv_file fd, char* base, size_t len) {
  (void)fd, (void)base, (void)len;
  return UV_ENOSYS;
}

int uvb__fs_prefetch_path(const char* path) {
  (void)path;
  return 0;
}

#endif
