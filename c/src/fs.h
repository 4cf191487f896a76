/* Files: what a job does with them, and what that asks of the system. See fs.c and fs-file.c. */
#ifndef UVB_FS_H
#define UVB_FS_H

#include "common.h"

/* `options`; without them `usual`, which gets the defaults; NULL: they are not valid. */
const uv_batch_fs_options_t* uvb__fs_options(const uv_batch_fs_options_t* options, uv_batch_fs_options_t* usual);

/* These run on the threadpool and give each entry its result. */
void uvb__fs_read(const uv_batch_fs_options_t* options, uv_batch_file_t* file);
void uvb__fs_prefetch(uv_batch_file_t* file);
/* All entries are of one file. */
void uvb__fs_append(const uv_batch_fs_options_t* options, uv_batch_file_t* files, size_t count);
void uvb__fs_fail(uv_batch_file_t* files, size_t count, ssize_t status, const char* syscall);

/* Forgets what was learnt about reads from the page cache. For tests. */
void uvb__fs_cached_reset(void);

/* ---- calls of the system, from the threadpool. Each retries EINTR and returns UV_E codes. Tests put their own calls
 * in between: that is how they count syncs, and make reads short, disks fail and files grow. */

typedef struct {
  uint64_t size;
  int is_regular;
  int is_fifo;
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
  /* From the loop: UV_EAGAIN rather than wait for a disk. Bytes are a whole file only when they are as many as that
   * has. UV_ENOSYS: this never works here; other codes but UV_ENOENT: it does not work for this file, or not now. */
  int (*open_cached)(const char* path);
  ssize_t (*read_cached)(uv_file fd, char* base, size_t len);
  /* Begins to read the first bytes of a regular file, and does not open anything else. */
  int (*prefetch)(const char* path);
} uvb__fs_calls_t;

/* IOV_MAX of Linux, macOS and the BSDs. */
#define UVB__FS_BUFS 1024
/* macOS refuses 2 GiB in one call, and Linux cuts it. */
#define UVB__FS_BYTES ((size_t)1 << 30)

extern uvb__fs_calls_t uvb__fs_calls;

/* The calls that tests put their own in front of. */
int uvb__fs_open_cached(const char* path);
ssize_t uvb__fs_read_cached(uv_file fd, char* base, size_t len);

/* Bytes of a file that are prefetched: while these are read, the system reads on by itself. */
#define UVB__FS_PREFETCH (256 << 10)

#endif
