/* The same through libuv's own calls, for Windows. -DUVB_FS_PORTABLE takes them elsewhere, to test them:
 * all but the lease of a file, which they do not wait for. */
#if defined(_WIN32) || defined(UVB_FS_PORTABLE)

#include "egress/fs_calls.h"

#ifndef S_IFMT
#define S_IFMT 0170000
#define S_IFREG 0100000
#define S_IFIFO 0010000
#endif

static int result_of(uv_fs_t* req) {
  int result = (int)req->result;
  uv_fs_req_cleanup(req);
  return result;
}

static int open_read(const char* path) {
  uv_fs_t req;
  uv_fs_open(NULL, &req, path, UV_FS_O_RDONLY | UV_FS_O_NOCTTY | UV_FS_O_NONBLOCK, 0, NULL);
  return result_of(&req);
}

static int open_append(const char* path, int create, int mode) {
  uv_fs_t req;
  int flags = UV_FS_O_WRONLY | UV_FS_O_APPEND | UV_FS_O_NOCTTY | UV_FS_O_NONBLOCK | (create ? UV_FS_O_CREAT : 0);
  uv_fs_open(NULL, &req, path, flags, mode, NULL);
  return result_of(&req);
}

static int stat_file(uv_file fd, uvb__fs_stat_t* stat) {
  uv_fs_t req;
  uv_fs_fstat(NULL, &req, fd, NULL);
  stat->size = req.statbuf.st_size;
  stat->is_regular = (req.statbuf.st_mode & S_IFMT) == S_IFREG;
  stat->is_fifo = (req.statbuf.st_mode & S_IFMT) == S_IFIFO;
  return result_of(&req);
}

static ssize_t read_file(uv_file fd, char* base, size_t len, int64_t offset) {
  uv_fs_t req;
  uv_buf_t buf = uv_buf_init(base, (unsigned int)len);
  ssize_t n;
  do {
    uv_fs_read(NULL, &req, fd, &buf, 1, offset, NULL);
    n = result_of(&req);
  } while (n == UV_EINTR);
  return n;
}

static ssize_t write_file(uv_file fd, uv_buf_t bufs[], unsigned int count) {
  uv_fs_t req;
  uv_fs_write(NULL, &req, fd, bufs, count, -1, NULL);
  return result_of(&req);
}

static int sync_file(uv_file fd) {
  uv_fs_t req;
  uv_fs_fdatasync(NULL, &req, fd, NULL);
  return result_of(&req);
}

static int close_file(uv_file fd) {
  uv_fs_t req;
  uv_fs_close(NULL, &req, fd, NULL);
  return result_of(&req);
}

uvb__fs_calls_t uvb__fs_calls = {open_read, open_append, stat_file, read_file, write_file, sync_file, close_file,
                                 uvb__fs_open_cached, uvb__fs_read_cached, uvb__fs_prefetch_path};

#endif
