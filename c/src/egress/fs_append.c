#include "egress/fs.h"
#include "egress/fs_calls.h"

/* Where the writing of one file's entries has got to. */
typedef struct {
  uv_batch_file_t* files;
  size_t count;
  size_t at;   /* the entry */
  size_t sent; /* bytes of it that are written */
} progress_t;

static int is_bad(const uv_batch_file_t* file) {
  return file->buf.base == NULL && file->buf.len > 0;
}

static size_t length(const uv_batch_file_t* file) {
  return is_bad(file) ? 0 : file->buf.len;
}

/* The buffers of the next write. Entries that follow each other in memory share one. */
static unsigned int gather(const progress_t* progress, uv_buf_t bufs[]) {
  unsigned int used = 0;
  const char* end = NULL;
  size_t room = UVB__FS_BYTES;
  size_t sent = progress->sent;
  for (size_t i = progress->at; i < progress->count && used < UVB__FS_BUFS && room > 0; i++) {
    const uv_batch_file_t* file = &progress->files[i];
    size_t part = length(file) - sent;
    if (part > room) part = room;
    if (part > 0) {
      char* from = file->buf.base + sent;
      if (from == end) bufs[used - 1].len += part;
      else bufs[used++] = uv_buf_init(from, (unsigned int)part);
      end = from + part;
    }
    room -= part;
    sent = 0;
  }
  return used;
}

/* `bytes` more are written: what is complete has its result. */
static void advance(progress_t* progress, size_t bytes) {
  progress->sent += bytes;
  while (progress->at < progress->count) {
    uv_batch_file_t* file = &progress->files[progress->at];
    if (progress->sent < length(file)) break;
    progress->sent -= length(file);
    file->result = is_bad(file) ? UV_EINVAL : (ssize_t)file->buf.len;
    progress->at++;
  }
}

static void fail(uv_batch_file_t* files, size_t count, ssize_t status, const char* syscall) {
  for (size_t i = 0; i < count; i++) {
    files[i].result = status;
    files[i].syscall = syscall;
  }
}

/* Takes back the results of what was written. */
static void fail_written(uv_batch_file_t* files, size_t count, int status, const char* syscall) {
  for (size_t i = 0; i < count; i++) {
    if (files[i].result >= 0) fail(&files[i], 1, status, syscall);
  }
}

/* Returns how many entries were written: the first ones. */
static size_t write_all(uv_file fd, uv_batch_file_t* files, size_t count) {
  uv_buf_t bufs[UVB__FS_BUFS];
  progress_t progress = {files, count, 0, 0};
  advance(&progress, 0);
  while (progress.at < count) {
    ssize_t n = uvb__fs_calls.write(fd, bufs, gather(&progress, bufs));
    if (n <= 0) {
      /* A write that takes nothing would be repeated for ever. */
      fail(&files[progress.at], count - progress.at, n < 0 ? n : UV_EIO, "write");
      break;
    }
    advance(&progress, (size_t)n);
  }
  return progress.at;
}

void uvb__fs_append(const uv_batch_fs_options_t* options, uv_batch_file_t* files, size_t count) {
  const char* path = files->path;
  uv_file fd = files->fd;
  int status = 0;
  const char* syscall = NULL;
  for (size_t i = 0; i < count; i++) files[i].syscall = NULL;
  if (path != NULL) {
    fd = uvb__fs_calls.open_append(path, (options->flags & UV_BATCH_FS_NO_CREATE) == 0, options->mode);
  }
  if (fd < 0) {
    fail(files, count, path == NULL ? UV_EBADF : fd, "open");
    return;
  }
  if (path != NULL && (options->flags & UV_BATCH_FS_KEEP_FIFO) != 0 && uvb__fs_is_fifo(fd)) {
    fail(files, count, UV_ESPIPE, "open");
    files->fd = fd;
    return;
  }
  size_t written = write_all(fd, files, count);
  if (written > 0 && (options->flags & UV_BATCH_FS_DATASYNC) != 0) {
    status = uvb__fs_calls.sync(fd);
    syscall = "fdatasync";
  }
  if (path != NULL) {
    /* Network file systems may say only now that there was no room. */
    int closed = uvb__fs_calls.close(fd);
    if (status == 0) {
      status = closed;
      syscall = "close";
    }
  }
  if (status != 0) fail_written(files, written, status, syscall);
}
