#include "egress/fs.h"
#include "egress/fs_calls.h"
#include "memory.h"
#include "platform/atomic.h"

/* A failed attempt costs up to half of what a job does for the file. Each one in a row doubles how many files are
 * then passed over, up to 2^most_misses; one that succeeds ends it. */
enum { most_misses = 8 };
static atomic_uint misses;
static atomic_uint passed_over; /* still to be */
static atomic_int is_missing;   /* the kernel lacks it, or a sandbox forbids it: for good */

static int is_worth_it(void) {
  unsigned int left = atomic_load_explicit(&passed_over, memory_order_relaxed);
  if (atomic_load_explicit(&is_missing, memory_order_relaxed)) return 0;
  if (left == 0) return 1;
  /* Other threads do the same, so one file more or less may be tried. */
  atomic_store_explicit(&passed_over, left - 1, memory_order_relaxed);
  return 0;
}

static void note_hit(void) {
  if (atomic_load_explicit(&misses, memory_order_relaxed) != 0) {
    atomic_store_explicit(&misses, 0, memory_order_relaxed);
  }
}

static void note_miss(ssize_t status) {
  unsigned int before = atomic_load_explicit(&misses, memory_order_relaxed);
  if (status == UV_ENOSYS) atomic_store_explicit(&is_missing, 1, memory_order_relaxed);
  if (before < most_misses) atomic_store_explicit(&misses, before + 1, memory_order_relaxed);
  atomic_store_explicit(&passed_over, before == 0 ? 0 : 1u << before, memory_order_relaxed);
}

void uvb__fs_cached_reset(void) {
  atomic_store(&misses, 0);
  atomic_store(&passed_over, 0);
  atomic_store(&is_missing, 0);
}

/* Reads what the file has, or as much as the caller's buffer takes. */
static ssize_t read_len(const uv_batch_fs_options_t* options, uv_batch_file_t* file, uv_file fd, size_t size) {
  uv_buf_t buf = file->buf;
  size_t wanted = buf.base != NULL && buf.len < size ? buf.len : size;
  /* One byte more shows that it has grown. */
  size_t room = buf.base != NULL ? wanted : size + 1;
  char* given = buf.base == NULL && options->alloc != NULL ? options->alloc(file, room, options->alloc_data) : buf.base;
  char* base = given != NULL ? given : uvb__malloc(room);
  if (base == NULL) return UV_EAGAIN;
  ssize_t n = uvb__fs_calls.read_cached(fd, base, room);
  if (buf.base == NULL) file->buf = uv_buf_init(base, n > 0 ? (unsigned int)n : 0);
  if (n == (ssize_t)wanted) {
    note_hit();
    return n;
  }
  if (given == NULL) {
    uvb__free(base);
    file->buf = buf;
  }
  /* More or fewer: it is changing, or some of it is on the disk only. */
  note_miss(n);
  if (n == UV_EAGAIN || (n >= 0 && n < (ssize_t)wanted)) file->syscall = "read";
  return UV_EAGAIN;
}

/* `keeps` is set when the descriptor is to stay open. */
static ssize_t read_open(const uv_batch_fs_options_t* options, uv_batch_file_t* file, uv_file fd, size_t room,
                         int* keeps) {
  uvb__fs_stat_t stat;
  if (uvb__fs_calls.stat(fd, &stat) != 0) return UV_EAGAIN;
  if (stat.is_fifo && file->path != NULL) {
    *keeps = (options->flags & UV_BATCH_FS_KEEP_FIFO) != 0;
    return UV_ESPIPE;
  }
  if (!stat.is_regular || stat.size == 0) return UV_EAGAIN;
  if (file->buf.base == NULL && stat.size > options->max_file_size) return UV_EFBIG;
  if (file->buf.base != NULL && file->buf.len == 0) return 0;
  uint64_t wanted = file->buf.base != NULL && file->buf.len < stat.size ? file->buf.len : stat.size;
  return wanted > room ? UV_EAGAIN : read_len(options, file, fd, (size_t)stat.size);
}

static ssize_t read_file(const uv_batch_fs_options_t* options, uv_batch_file_t* file, size_t room) {
  int keeps = 0;
  if (file->buf.base == NULL) file->buf.len = 0;
  if (!is_worth_it()) return UV_EAGAIN;
  if (file->path == NULL) return file->fd < 0 ? UV_EBADF : read_open(options, file, file->fd, room, &keeps);
  uv_file fd = uvb__fs_calls.open_cached(file->path);
  if (fd == UV_ENOENT || fd == UV_EAGAIN) file->syscall = "open";
  if (fd == UV_ENOENT) return fd;
  if (fd < 0) {
    note_miss(fd);
    return UV_EAGAIN;
  }
  ssize_t result = read_open(options, file, fd, room, &keeps);
  if (keeps) {
    file->fd = fd;
  } else {
    uvb__fs_calls.close(fd);
  }
  return result;
}

int uv_batch_fs_read_cached(uv_batch_file_t files[], size_t count, const uv_batch_fs_options_t* options) {
  uv_batch_fs_options_t defaults;
  int results = 0;
  uv_batch_fs_options_init(&defaults);
  if (options == NULL) options = &defaults;
  if (files == NULL || count == 0 || count > INT32_MAX || !uvb__fs_options_are_valid(options)) return UV_EINVAL;
  size_t room = (size_t)options->max_cached;
  for (size_t i = 0; i < count; i++) {
    files[i].syscall = NULL;
    files[i].result = read_file(options, &files[i], room);
    if (files[i].result > 0) room -= (size_t)files[i].result;
    if (files[i].result != UV_EAGAIN) results++;
  }
  return results;
}
