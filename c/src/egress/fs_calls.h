/* What a file job asks of the system, from the threadpool. Each call retries EINTR and returns UV_E codes. Tests put
 * calls of theirs in between: that is how they count syncs, and make reads short, disks fail and files grow. */
#ifndef UVB_FS_CALLS_H
#define UVB_FS_CALLS_H

#include <uv.h>

typedef struct {
  uint64_t size;
  int is_regular;
} uvb__fs_stat_t;

typedef struct {
  /* Neither open waits for the other end of a FIFO. */
  int (*open_read)(const char* path);
  int (*open_append)(const char* path, int create, int mode);
  int (*stat)(uv_file fd, uvb__fs_stat_t* stat);
  /* At `offset`, or at the current position when it is negative. At most 1 GiB. */
  ssize_t (*read)(uv_file fd, char* base, size_t len, int64_t offset);
  /* At most UVB__FS_BUFS buffers of 1 GiB together. */
  ssize_t (*write)(uv_file fd, uv_buf_t bufs[], unsigned int count);
  int (*sync)(uv_file fd);
  int (*close)(uv_file fd);
} uvb__fs_calls_t;

/* IOV_MAX of Linux, macOS and the BSDs. */
#define UVB__FS_BUFS 1024
/* macOS refuses 2 GiB in one call, and Linux cuts it. */
#define UVB__FS_BYTES ((size_t)1 << 30)

extern uvb__fs_calls_t uvb__fs_calls;

#endif
