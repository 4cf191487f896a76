#include <string.h>

#include "egress/fs.h"
#include "egress/fs_calls.h"
#include "memory.h"

/* A file that does not tell its size is first read into this much: most of /proc fits. */
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

/* What was taken from a stream cannot be read again: so it is the result, even if the stream has no more for now. */
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

/* What is read into. */
typedef struct {
  char* base;
  size_t room;
  int is_given; /* by the caller's callback: not ours to free or enlarge */
} memory_t;

static int allocate(const uv_batch_fs_options_t* options, uv_batch_file_t* file, memory_t* memory) {
  char* given = options->alloc != NULL ? options->alloc(file, memory->room, options->alloc_data) : NULL;
  memory->is_given = given != NULL;
  memory->base = given != NULL ? given : uvb__malloc(memory->room);
  return memory->base != NULL;
}

static int enlarge(memory_t* memory, size_t total, size_t max) {
  size_t more = memory->room > max / 2 ? max + 1 : memory->room * 2;
  char* bigger = memory->is_given ? uvb__malloc(more) : uvb__realloc(memory->base, more);
  if (bigger == NULL) return 0;
  if (memory->is_given) memcpy(bigger, memory->base, total);
  *memory = (memory_t){bigger, more, 0};
  return 1;
}

/* Reads into memory that grows; `size` is what the file said, 0 when that means nothing. */
static ssize_t read_growing(source_t* source, memory_t* memory, size_t size, size_t max) {
  size_t total = 0;
  for (;;) {
    ssize_t n = read_some(source, memory->base + total, memory->room - total);
    if (is_end(source, n, total)) break;
    if (n < 0) return n;
    total += (size_t)n;
    if (total > max) return UV_EFBIG;
    /* There was room for more, and as much came as the file said: no need to ask again. */
    if (total == size) break;
    if (total == memory->room && !enlarge(memory, total, max)) return UV_ENOMEM;
  }
  return (ssize_t)total;
}

static ssize_t read_allocated(const uv_batch_fs_options_t* options, source_t* source, uv_batch_file_t* file,
                              const char** syscall) {
  const size_t max = (size_t)options->max_file_size;
  uvb__fs_stat_t stat;
  int status = uvb__fs_calls.stat(source->fd, &stat);
  if (status != 0) {
    *syscall = "fstat";
    return status;
  }
  if (stat.is_regular && stat.size > max) return UV_EFBIG;
  size_t size = stat.is_regular ? (size_t)stat.size : 0;
  /* One byte more than should come shows whether there is more. */
  memory_t memory = {NULL, size > 0 ? size + 1 : unknown_size, 0};
  if (!allocate(options, file, &memory)) return UV_ENOMEM;
  ssize_t total = read_growing(source, &memory, size, max);
  if (total <= 0 && !memory.is_given) {
    uvb__free(memory.base);
    return total;
  }
  if (!memory.is_given && memory.room > (size_t)total + 1) {
    char* fitting = uvb__realloc(memory.base, (size_t)total);
    if (fitting != NULL) memory.base = fitting;
  }
  file->buf = uv_buf_init(memory.base, total > 0 ? (unsigned int)total : 0);
  return total;
}

int uvb__fs_is_fifo(uv_file fd) {
  uvb__fs_stat_t stat;
  return uvb__fs_calls.stat(fd, &stat) == 0 && stat.is_fifo;
}

void uvb__fs_read(const uv_batch_fs_options_t* options, uv_batch_file_t* file) {
  source_t source = {file->fd, 0, file->path == NULL};
  const char* syscall = "read";
  file->syscall = NULL;
  if (file->buf.base == NULL) file->buf.len = 0;
  if (file->path != NULL) source.fd = uvb__fs_calls.open_read(file->path);
  if (source.fd < 0) {
    file->result = file->path == NULL ? UV_EBADF : source.fd;
    file->syscall = "open";
    return;
  }
  file->result = file->buf.base != NULL ? read_into(&source, file->buf)
                                        : read_allocated(options, &source, file, &syscall);
  if (file->result < 0) file->syscall = syscall;
  if (file->path == NULL) return;
  if (file->result == UV_ESPIPE && (options->flags & UV_BATCH_FS_KEEP_FIFO) != 0 && uvb__fs_is_fifo(source.fd)) {
    file->fd = source.fd;
  } else {
    uvb__fs_calls.close(source.fd);
  }
}

void uvb__fs_prefetch(uv_batch_file_t* file) {
  file->result = file->path == NULL ? UV_EINVAL : uvb__fs_calls.prefetch(file->path);
  file->syscall = NULL;
}
