/*
 * Work on one file: it is read, appended to, prefetched, or read now if the system has it in memory. The
 * first three run on the threadpool, several at a time; the last one on any thread, which must not wait for a disk.
 *
 * An entry belongs to the one thread that works on it, and gets its result there. Shared are only the table of calls,
 * which nobody but tests changes, and what reads from memory have learnt: relaxed atomics, where a lost update costs an
 * attempt more or less. Every open path is closed here, except a FIFO that the caller asked to keep.
 *
 * An append writes the entries of one file in their order, and stops at the first write that fails: complete entries
 * have succeeded, all others get the error. A failed sync or close fails all of them, as nobody knows what arrived.
 */
#define _FILE_OFFSET_BITS 64
#include "fs.h"

#include <errno.h>
#include <string.h>

/* -DUVB_FS_PORTABLE takes libuv's calls everywhere, to test them: all but the lease of a file, which they do not wait
 * for. */
#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if !defined(UVB_FS_PORTABLE)
#define UVB_FS_NATIVE
#endif
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/uio.h>
#endif

#if defined(UVB_FS_NATIVE) || defined(__linux__)
static int code(void) {
  return uv_translate_sys_error(errno);
}
#endif

/* ---- calls of the system: libuv's own, but for those that cost most of a small file, or have to do more */

static int result_of(uv_fs_t* req) {
  int result = (int)req->result;
  uv_fs_req_cleanup(req);
  return result;
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

/* Interrupted or not, the descriptor is gone: a second close could hit somebody else's. */
static int close_file(uv_file fd) {
  uv_fs_t req;
  uv_fs_close(NULL, &req, fd, NULL);
  return result_of(&req);
}

#if defined(UVB_FS_NATIVE)
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

/* A terminal that is full for now is waited for, as any file is. Only a FIFO may never get a reader. */
static void let_wait(int fd) {
  struct stat found;
  if (fstat(fd, &found) != 0 || S_ISREG(found.st_mode) || S_ISFIFO(found.st_mode)) return;
  (void)fcntl(fd, F_SETFL, O_APPEND);
}

static int stat_file(uv_file fd, uvb__fs_stat_t* stat) {
  struct stat found;
  if (fstat(fd, &found) != 0) return code();
  *stat = (uvb__fs_stat_t){(uint64_t)found.st_size, S_ISREG(found.st_mode), S_ISFIFO(found.st_mode)};
  return 0;
}

static ssize_t read_file(uv_file fd, char* base, size_t len, int64_t offset) {
  ssize_t n;
  do n = offset < 0 ? read(fd, base, len) : pread(fd, base, len, (off_t)offset);
  while (n < 0 && errno == EINTR);
  return n < 0 ? code() : n;
}
#else
#ifndef S_IFMT
#define S_IFMT 0170000
#define S_IFREG 0100000
#define S_IFIFO 0010000
#endif

static int open_path(const char* path, int flags, int mode) {
  uv_fs_t req;
  uv_fs_open(NULL, &req, path, flags | UV_FS_O_NOCTTY | UV_FS_O_NONBLOCK, mode, NULL);
  return result_of(&req);
}

static void let_wait(int fd) {
  (void)fd;
}

static int stat_file(uv_file fd, uvb__fs_stat_t* stat) {
  uv_fs_t req;
  uv_fs_fstat(NULL, &req, fd, NULL);
  uint64_t kind = req.statbuf.st_mode & S_IFMT;
  *stat = (uvb__fs_stat_t){req.statbuf.st_size, kind == S_IFREG, kind == S_IFIFO};
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
#endif

static int open_read(const char* path) {
  return open_path(path, UV_FS_O_RDONLY, 0);
}

static int open_append(const char* path, int create, int mode) {
  int fd = open_path(path, UV_FS_O_WRONLY | UV_FS_O_APPEND | (create ? UV_FS_O_CREAT : 0), mode);
  if (fd >= 0) let_wait(fd);
  return fd;
}

/* ---- reads of what is in memory */

#if defined(__linux__)
/* Older headers lack them, and the kernel may have them all the same. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008
#endif
enum { resolve_cached = 0x20 };

/* Opening a file may ask a server (NFS, FUSE). Such a file system gives itself away by being unable to read without
 * waiting: then its device is noted, and nothing more on it is opened here. Of many, those found last are remembered. */
enum { most_devices = 16 };
static atomic_ullong devices[most_devices];
static atomic_uint devices_found;

/* The device of a file, as the system knows it without asking a server; 0: it does not. */
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
  /* The system's struct open_how, which not every header has: flags, mode, resolve. */
  uint64_t how[3] = {(uint64_t)flags | O_CLOEXEC, 0, resolve_cached};
  long fd = syscall(SYS_openat2, AT_FDCWD, path, how, sizeof(how));
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

static int prefetch_path(const char* path) {
  struct stat found;
  if (stat(path, &found) != 0) return code();
  if (!S_ISREG(found.st_mode)) return UV_EINVAL;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return code();
  int status = posix_fadvise(fd, 0, UVB__FS_PREFETCH, POSIX_FADV_WILLNEED);
  close(fd);
  return status == 0 ? 0 : uv_translate_sys_error(status);
}
#else
int uvb__fs_open_cached(const char* path) {
  (void)path;
  return UV_ENOSYS;
}

ssize_t uvb__fs_read_cached(uv_file fd, char* base, size_t len) {
  (void)fd, (void)base, (void)len;
  return UV_ENOSYS;
}

static int prefetch_path(const char* path) {
  (void)path;
  return 0;
}
#endif

uvb__fs_calls_t uvb__fs_calls = {open_read, open_append, stat_file, read_file, write_file, sync_file, close_file,
                                 uvb__fs_open_cached, uvb__fs_read_cached, prefetch_path};

/* ---- reading */

/* A file that does not tell its size is first read into this much: most of /proc fits. */
enum { unknown_size = 4096 };

typedef struct {
  uv_file fd;
  int64_t offset; /* negative: where the descriptor stands */
  int may_stream; /* a descriptor that cannot seek is read as it stands */
} source_t;

/* `base` has `total` bytes already. 0: there is no more. */
static ssize_t read_on(source_t* source, char* base, size_t total, size_t room) {
  size_t len = room - total < UVB__FS_BYTES ? room - total : UVB__FS_BYTES;
  ssize_t n = uvb__fs_calls.read(source->fd, base + total, len, source->offset);
  if (n == UV_ESPIPE && source->may_stream && source->offset == 0) {
    source->offset = -1;
    n = uvb__fs_calls.read(source->fd, base + total, len, source->offset);
  }
  if (n > 0 && source->offset >= 0) source->offset += n;
  /* Bytes taken from a stream cannot be read again: they are the result, even if the stream has no more for now. */
  return n == UV_EAGAIN && source->offset < 0 && total > 0 ? 0 : n;
}

static ssize_t read_into(source_t* source, uv_buf_t buf) {
  size_t total = 0;
  while (total < buf.len) {
    ssize_t n = read_on(source, buf.base, total, buf.len);
    if (n < 0) return n;
    if (n == 0) break;
    total += (size_t)n;
  }
  return (ssize_t)total;
}

typedef struct {
  char* base;
  size_t room;
  int is_given; /* by the caller's callback: not ours to free or enlarge */
} memory_t;

static int allocate(const uv_batch_fs_options_t* options, uv_batch_file_t* file, memory_t* memory) {
  if (options->alloc != NULL) memory->base = options->alloc(file, memory->room, options->alloc_data);
  memory->is_given = memory->base != NULL;
  if (!memory->is_given) memory->base = uvb__malloc(memory->room);
  return memory->base != NULL;
}

/* Reads into memory that grows; `size` is what the file said, 0 when that means nothing. */
static ssize_t read_growing(source_t* source, memory_t* memory, size_t size, size_t max) {
  size_t total = 0;
  for (;;) {
    ssize_t n = read_on(source, memory->base, total, memory->room);
    if (n < 0) return n;
    total += (size_t)n;
    if (total > max) return UV_EFBIG;
    /* There was room for more, and as much came as the file said: no need to ask again. */
    if (n == 0 || total == size) return (ssize_t)total;
    if (total < memory->room) continue;
    size_t more = memory->room > max / 2 ? max + 1 : memory->room * 2;
    char* bigger = memory->is_given ? uvb__malloc(more) : uvb__realloc(memory->base, more);
    if (bigger == NULL) return UV_ENOMEM;
    if (memory->is_given) memcpy(bigger, memory->base, total);
    *memory = (memory_t){bigger, more, 0};
  }
}

static ssize_t read_allocated(const uv_batch_fs_options_t* options, source_t* source, uv_batch_file_t* file) {
  const size_t max = (size_t)options->max_file_size;
  uvb__fs_stat_t stat;
  int status = uvb__fs_calls.stat(source->fd, &stat);
  if (status != 0) file->syscall = "fstat";
  if (status != 0) return status;
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

static int is_fifo(uv_file fd) {
  uvb__fs_stat_t stat;
  return uvb__fs_calls.stat(fd, &stat) == 0 && stat.is_fifo;
}

void uvb__fs_read(const uv_batch_fs_options_t* options, uv_batch_file_t* file) {
  source_t source = {file->fd, 0, file->path == NULL};
  file->syscall = NULL;
  if (file->buf.base == NULL) file->buf.len = 0;
  if (file->path != NULL) source.fd = uvb__fs_calls.open_read(file->path);
  if (source.fd < 0) {
    file->result = file->path == NULL ? UV_EBADF : source.fd;
    file->syscall = "open";
    return;
  }
  file->result = file->buf.base != NULL ? read_into(&source, file->buf) : read_allocated(options, &source, file);
  if (file->result < 0 && file->syscall == NULL) file->syscall = "read";
  if (file->path == NULL) return;
  bool keeps = file->result == UV_ESPIPE && (options->flags & UV_BATCH_FS_KEEP_FIFO) != 0 && is_fifo(source.fd);
  if (keeps) file->fd = source.fd;
  else uvb__fs_calls.close(source.fd);
}

void uvb__fs_prefetch(uv_batch_file_t* file) {
  file->result = file->path == NULL ? UV_EINVAL : uvb__fs_calls.prefetch(file->path);
  file->syscall = NULL;
}

/* ---- appending */

/* Progress of writing one file's entries. */
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

void uvb__fs_fail(uv_batch_file_t* files, size_t count, ssize_t status, const char* syscall) {
  for (size_t i = 0; i < count; i++) {
    files[i].result = status;
    files[i].syscall = syscall;
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
      uvb__fs_fail(&files[progress.at], count - progress.at, n < 0 ? n : UV_EIO, "write");
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
    uvb__fs_fail(files, count, path == NULL ? UV_EBADF : fd, "open");
    return;
  }
  if (path != NULL && (options->flags & UV_BATCH_FS_KEEP_FIFO) != 0 && is_fifo(fd)) {
    uvb__fs_fail(files, count, UV_ESPIPE, "open");
    files->fd = fd;
    return;
  }
  size_t written = write_all(fd, files, count);
  if (written > 0 && (options->flags & UV_BATCH_FS_DATASYNC) != 0) {
    status = uvb__fs_calls.sync(fd);
    syscall = "fdatasync";
  }
  /* Network file systems may say only now that there was no room. */
  int closed = path != NULL ? uvb__fs_calls.close(fd) : 0;
  if (status == 0 && closed != 0) {
    status = closed;
    syscall = "close";
  }
  for (size_t i = 0; status != 0 && i < written; i++) {
    if (files[i].result >= 0) uvb__fs_fail(&files[i], 1, status, syscall);
  }
}

/* ---- reading from memory: whether to try */

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

/* Reads what the file has, or as much as the caller's buffer takes, if that is within `room`. `keeps` is set when the
 * descriptor is to stay open. */
static ssize_t read_open(const uv_batch_fs_options_t* options, uv_batch_file_t* file, uv_file fd, size_t room,
                         int* keeps) {
  uv_buf_t buf = file->buf;
  uvb__fs_stat_t stat;
  if (uvb__fs_calls.stat(fd, &stat) != 0) return UV_EAGAIN;
  if (stat.is_fifo && file->path != NULL) {
    *keeps = (options->flags & UV_BATCH_FS_KEEP_FIFO) != 0;
    return UV_ESPIPE;
  }
  if (!stat.is_regular || stat.size == 0) return UV_EAGAIN;
  if (buf.base == NULL && stat.size > options->max_file_size) return UV_EFBIG;
  if (buf.base != NULL && buf.len == 0) return 0;
  uint64_t wanted = buf.base != NULL && buf.len < stat.size ? buf.len : stat.size;
  if (wanted > room) return UV_EAGAIN;
  /* One byte more shows that it has grown. */
  memory_t memory = {buf.base, (size_t)wanted + (buf.base == NULL), 1};
  if (buf.base == NULL && !allocate(options, file, &memory)) return UV_EAGAIN;
  ssize_t n = uvb__fs_calls.read_cached(fd, memory.base, memory.room);
  if (buf.base == NULL) file->buf = uv_buf_init(memory.base, n > 0 ? (unsigned int)n : 0);
  if (n == (ssize_t)wanted) {
    if (atomic_load_explicit(&misses, memory_order_relaxed) != 0) atomic_store(&misses, 0);
    return n;
  }
  if (!memory.is_given) {
    uvb__free(memory.base);
    file->buf = buf;
  }
  /* More or fewer: it is changing, or some of it is on the disk only. */
  note_miss(n);
  if (n == UV_EAGAIN || (n >= 0 && n < (ssize_t)wanted)) file->syscall = "read";
  return UV_EAGAIN;
}

static ssize_t try_cached(const uv_batch_fs_options_t* options, uv_batch_file_t* file, size_t room) {
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
  if (keeps) file->fd = fd;
  else uvb__fs_calls.close(fd);
  return result;
}

int uv_batch_fs_read_cached(uv_batch_file_t files[], size_t count, const uv_batch_fs_options_t* options) {
  uv_batch_fs_options_t usual;
  options = uvb__fs_options(options, &usual);
  if (files == NULL || count == 0 || count > INT32_MAX || options == NULL) return UV_EINVAL;
  int results = 0;
  size_t room = (size_t)options->max_cached;
  for (size_t i = 0; i < count; i++) {
    files[i].syscall = NULL;
    files[i].result = try_cached(options, &files[i], room);
    if (files[i].result > 0) room -= (size_t)files[i].result;
    if (files[i].result != UV_EAGAIN) results++;
  }
  return results;
}
