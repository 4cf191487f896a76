#if defined(__linux__)
#define _FILE_OFFSET_BITS 64

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "egress/fs_calls.h"

/* Older headers lack them, and the kernel may have them all the same. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008
#endif
enum { resolve_cached = 0x20 };

struct open_how {
  uint64_t flags, mode, resolve;
};

static int code(void) {
  return uv_translate_sys_error(errno);
}

int uvb__fs_open_cached(const char* path) {
  struct open_how how = {O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0, resolve_cached};
#if defined(O_LARGEFILE)
  how.flags |= O_LARGEFILE;
#endif
  long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
  return fd < 0 ? code() : (int)fd;
}

ssize_t uvb__fs_read_cached(uv_file fd, char* base, size_t len) {
#if defined(SYS_preadv2)
  struct iovec buf = {base, len};
  long n = syscall(SYS_preadv2, fd, &buf, 1L, 0L, 0L, RWF_NOWAIT);
  return n < 0 ? code() : n;
#else
  (void)fd, (void)base, (void)len;
  return UV_ENOSYS;
#endif
}

int uvb__fs_prefetch_path(const char* path) {
  struct stat found;
  if (stat(path, &found) != 0) return code();
  if (!S_ISREG(found.st_mode)) return UV_EINVAL;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return code();
  int status = posix_fadvise(fd, 0, UVB__FS_PREFETCH, POSIX_FADV_WILLNEED);
  close(fd);
  return status == 0 ? 0 : uv_translate_sys_error(status);
}

#endif
