#if !defined(_WIN32) && !defined(UVB_FS_PORTABLE)
#define _FILE_OFFSET_BITS 64

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "egress/fs_calls.h"

_Static_assert(sizeof(uv_buf_t) == sizeof(struct iovec), "libuv's buffers are the system's");
_Static_assert(offsetof(uv_buf_t, base) == offsetof(struct iovec, iov_base), "and so are their members");
_Static_assert(offsetof(uv_buf_t, len) == offsetof(struct iovec, iov_len), "both of them");

static int code(void) {
  return uv_translate_sys_error(errno);
}

static int open_retrying(const char* path, int flags, int mode) {
  int fd;
  do fd = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
  while (fd < 0 && errno == EINTR);
  return fd < 0 ? code() : fd;
}

static int open_path(const char* path, int flags, int mode) {
  struct stat found;
  int fd = open_retrying(path, flags | O_NONBLOCK, mode);
  /* Somebody holds a lease on the file and has to give it back first: that takes a while, but it ends. */
  if (fd == UV_EAGAIN && stat(path, &found) == 0 && S_ISREG(found.st_mode)) fd = open_retrying(path, flags, mode);
  return fd;
}

static int open_read(const char* path) {
  return open_path(path, O_RDONLY, 0);
}

static int open_append(const char* path, int create, int mode) {
  struct stat found;
  int fd = open_path(path, O_WRONLY | O_APPEND | (create ? O_CREAT : 0), mode);
  /* A terminal that is full for now is waited for, as any file is. Only a FIFO may never get a reader. */
  if (fd >= 0 && fstat(fd, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISFIFO(found.st_mode)) {
    (void)fcntl(fd, F_SETFL, O_APPEND);
  }
  return fd;
}

static int stat_file(uv_file fd, uvb__fs_stat_t* stat) {
  struct stat found;
  if (fstat(fd, &found) != 0) return code();
  stat->size = (uint64_t)found.st_size;
  stat->is_regular = S_ISREG(found.st_mode);
  stat->is_fifo = S_ISFIFO(found.st_mode);
  return 0;
}

static ssize_t read_file(uv_file fd, char* base, size_t len, int64_t offset) {
  ssize_t n;
  do n = offset < 0 ? read(fd, base, len) : pread(fd, base, len, (off_t)offset);
  while (n < 0 && errno == EINTR);
  return n < 0 ? code() : n;
}

static ssize_t write_file(uv_file fd, uv_buf_t bufs[], unsigned int count) {
  ssize_t n;
  do n = writev(fd, (const struct iovec*)bufs, (int)count);
  while (n < 0 && errno == EINTR);
  return n < 0 ? code() : n;
}

static int sync_file(uv_file fd) {
  int status;
#if defined(__APPLE__)
  /* fsync() there leaves the data in the disk's cache; not every file system can do better. */
  do status = fcntl(fd, F_FULLFSYNC);
  while (status < 0 && errno == EINTR);
  if (status >= 0) return 0;
  do status = fsync(fd);
  while (status < 0 && errno == EINTR);
#else
  do status = fdatasync(fd);
  while (status < 0 && errno == EINTR);
#endif
  return status < 0 ? code() : 0;
}

/* Interrupted or not, the descriptor is gone: a second close could hit somebody else's. */
static int close_file(uv_file fd) {
  return close(fd) == 0 || errno == EINTR || errno == EINPROGRESS ? 0 : code();
}

uvb__fs_calls_t uvb__fs_calls = {open_read, open_append, stat_file, read_file, write_file, sync_file, close_file,
                                 uvb__fs_open_cached, uvb__fs_read_cached, uvb__fs_prefetch_path};

#endif
