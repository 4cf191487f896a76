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
#include "platform/atomic.h"

/* Older headers lack them, and the kernel may have them all the same. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008
#endif
enum { resolve_cached = 0x20 };

/* The system's struct open_how, which not every header has. */
typedef struct {
  uint64_t flags, mode, resolve;
} how_t;

static int code(void) {
  return uv_translate_sys_error(errno);
}

/* Opening a file may ask a server (NFS, FUSE). Such a file system gives itself away by being unable to read without
 * waiting: then its device is noted, and nothing more on it is opened here. Of many, those found last are remembered. */
enum { most_devices = 16 };
static atomic_ullong devices[most_devices];
static atomic_uint devices_found;

/* What the system knows of it without asking a server; 0: nothing. */
static unsigned long long device_of(int fd) {
#if defined(STATX_TYPE)
  struct statx found;
  if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &found) != 0) return 0;
  return ((unsigned long long)found.stx_dev_major << 32 | found.stx_dev_minor) + 1;
#else
  (void)fd;
  return 0;
#endif
}

static int is_known(unsigned long long device) {
  for (size_t i = 0; i < most_devices; i++) {
    if (device != 0 && atomic_load_explicit(&devices[i], memory_order_relaxed) == device) return 1;
  }
  return 0;
}

static void learn(int fd) {
  unsigned long long device = device_of(fd);
  if (device == 0 || is_known(device)) return;
  atomic_store(&devices[atomic_fetch_add(&devices_found, 1) % most_devices], device);
}

static int open_resolved(const char* path, int flags) {
  how_t how = {(uint64_t)flags | O_CLOEXEC, 0, resolve_cached};
  long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
  return fd < 0 ? code() : (int)fd;
}

int uvb__fs_open_cached(const char* path) {
  int flags = O_RDONLY | O_NOCTTY | O_NONBLOCK;
#if defined(O_LARGEFILE)
  flags |= O_LARGEFILE;
#endif
  if (atomic_load_explicit(&devices_found, memory_order_relaxed) > 0) {
    /* A mere name: no file system is asked to open or close it. */
    int name = open_resolved(path, O_PATH);
    if (name < 0) return name;
    int avoided = is_known(device_of(name));
    close(name);
    if (avoided) return UV_ENOTSUP;
  }
  return open_resolved(path, flags);
}

ssize_t uvb__fs_read_cached(uv_file fd, char* base, size_t len) {
#if defined(SYS_preadv2)
  struct iovec buf = {base, len};
  long n = syscall(SYS_preadv2, fd, &buf, 1L, 0L, 0L, RWF_NOWAIT);
  if (n >= 0) return n;
  int status = code();
  if (status == UV_ENOTSUP) learn(fd);
  return status;
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
