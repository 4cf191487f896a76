#include "egress/fs.h"
#include "egress/fs_calls.h"
#include "memory.h"

/* What a file that does not tell its size is first read into: the most of /proc fits. */
enum { unknown_size = 4096 };

typedef struct {
  uv_file fd;
  int64_t offset; /* negative: where the descriptor stands */
  int may_stream; /* a descriptor that cannot seek is read as it stands */
} source_t;

static ssize_t read_some(source_t* source, char* base, size_t len) {
  if (len > UVB__FS_BYTES) len = UVB__FS_BYTES;
  ssize_t n = uvb__fs_calls.read(source->fd, base, len, source->offset);
  if (n == UV_ESPIPE && source->may_stream && source->offset == 0) {
    source->offset = -1;
    n = uvb__fs_calls.read(source->fd, base, len, source->offset);
  }
  if (n > 0 && source->offset >= 0) source->offset += n;
  return n;
}

/* What has been taken from a stream cannot be read again: it is the result when the stream has no more for now. */
static int is_end(const source_t* source, ssize_t n, size_t total) {
  return n == 0 || (n == UV_EAGAIN && source->offset < 0 && total > 0);
}

static ssize_t read_into(source_t* source, uv_buf_t buf) {
  size_t total = 0;
  while (total < buf.len) {
    ssize_t n = read_some(source, buf.base + total, buf.len - total);
    if (is_end(source, n, total)) break;
    if (n < 0) return n;
    total += (size_t)n;
  }
  return (ssize_t)total;
}

/* Reads into `*base`, which has `room` bytes and grows; `size` is what the file said, 0 when that means nothing. */
static ssize_t read_growing(source_t* source, char** base, size_t* room, size_t size, size_t max) {
  size_t total = 0;
  for (;;) {
    ssize_t n = read_some(source, *base + total, *room - total);
    if (is_end(source, n, total)) break;
    if (n < 0) return n;
    total += (size_t)n;
    if (total > max) return UV_EFBIG;
    /* There was room for more, and the file told the same size: no need to ask again. */
    if (total == size) break;
    if (total == *room) {
      size_t more = *room > max / 2 ? max + 1 : *room * 2;
      char* bigger = uvb__realloc(*base, more);
      if (bigger == NULL) return UV_ENOMEM;
      *base = bigger;
      *room = more;
    }
  }
  return (ssize_t)total;
}

static ssize_t read_allocated(source_t* source, size_t max, uv_buf_t* buf) {
  uvb__fs_stat_t stat;
  int status = uvb__fs_calls.stat(source->fd, &stat);
  if (status != 0) return status;
  if (stat.is_regular && stat.size > max) return UV_EFBIG;
  size_t size = stat.is_regular ? (size_t)stat.size : 0;
  /* One byte more than should come shows whether there is more. */
  size_t room = size > 0 ? size + 1 : unknown_size;
  char* base = uvb__malloc(room);
  if (base == NULL) return UV_ENOMEM;
  ssize_t total = read_growing(source, &base, &room, size, max);
  if (total <= 0) {
    uvb__free(base);
    return total;
  }
  if (room > (size_t)total + 1) {
    char* fitting = uvb__realloc(base, (size_t)total);
    if (fitting != NULL) base = fitting;
  }
  *buf = uv_buf_init(base, (unsigned int)total);
  return total;
}

void uvb__fs_read(const uv_batch_fs_options_t* options, uv_batch_file_t* file) {
  source_t source = {file->fd, 0, file->path == NULL};
  if (file->buf.base == NULL) file->buf.len = 0;
  if (file->path != NULL) source.fd = uvb__fs_calls.open_read(file->path);
  if (source.fd < 0) {
    file->result = file->path == NULL ? UV_EBADF : source.fd;
    return;
  }
  file->result = file->buf.base != NULL ? read_into(&source, file->buf)
                                        : read_allocated(&source, (size_t)options->max_file_size, &file->buf);
  if (file->path != NULL) uvb__fs_calls.close(source.fd);
}
