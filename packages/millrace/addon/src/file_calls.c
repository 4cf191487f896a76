/*
 * System calls on files that do not wait: stat, open, read and close, for JavaScript to make on its loop. Each of them does now what the
 * call of its name does, or refuses and has changed nothing; then Node.js makes it on its threadpool.
 *
 * - A path is looked up with RESOLVE_CACHED: no directory is read from a disk, no server is asked. O_PATH finds the file without opening it.
 * - Only regular files on local file systems are touched any further, since opening or closing a file of a network may wait. Which mounts
 *   are local is asked of JavaScript, once for each: only /proc/self/mountinfo tells the type of one whose server does not answer.
 * - A file is opened with O_NONBLOCK: a FIFO may have taken its place meanwhile, which JavaScript will see by its Stats.
 * - RWF_NOWAIT reads what is in the page cache. A part of what was asked for is no answer, and does not move the descriptor.
 * - The last close of a file that has been deleted frees its blocks, which may take long: it is refused.
 *
 * The mounts belong to one environment, and only its thread comes here.
 */
#define _FILE_OFFSET_BITS 64
#include <stdlib.h>
#include <string.h>

#include "addon.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#endif

/* Results that are neither descriptors nor bytes; `unknown` - ID is of a mount about which JavaScript has not been asked. */
enum { refused = -1, unknown = -2 };
enum { longest_path = 4096 };
/* As many are remembered, the latest. */
enum { most_mounts = 64 };

typedef struct {
  int32_t id;
  bool is_local;
} mount_t;

typedef struct {
  mount_t mounts[most_mounts];
  uint32_t noted; /* so far */
} calls_t;

static mount_t* find_mount(calls_t* calls, int32_t id) {
  uint32_t count = calls->noted < most_mounts ? calls->noted : most_mounts;
  for (uint32_t i = 0; i < count; i++) {
    if (calls->mounts[i].id == id) return &calls->mounts[i];
  }
  return NULL;
}

static void note_mount(calls_t* calls, int32_t id, bool is_local) {
  mount_t* mount = find_mount(calls, id);
  if (mount == NULL) mount = &calls->mounts[calls->noted++ % most_mounts];
  *mount = (mount_t){id, is_local};
}

#if defined(__linux__) && defined(STATX_TYPE) && defined(SYS_preadv2)
/* Older headers lack them, and the kernel may have them all the same. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008
#endif
enum { resolve_cached = 0x20, statx_mount_id = 0x1000, mount_id_at = 0x90 };

/* A regular file and its mount, as the system knows them without asking a server: 0, or `refused`. */
static int32_t find(int fd, struct statx* found, int32_t* mount_id) {
  uint64_t id;
  unsigned int mask = STATX_TYPE | STATX_NLINK | statx_mount_id;
  if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, found) != 0) return refused;
  if (!S_ISREG(found->stx_mode) || (found->stx_mask & mask) != mask) return refused;
  memcpy(&id, (const char*)found + mount_id_at, sizeof(id));
  *mount_id = (int32_t)id;
  return id < INT32_MAX ? 0 : refused;
}

/* 0: a regular file on a local mount that has not been deleted. */
static int32_t check(calls_t* calls, int fd) {
  struct statx found;
  int32_t id;
  if (find(fd, &found, &id) != 0 || found.stx_nlink == 0) return refused;
  const mount_t* mount = find_mount(calls, id);
  if (mount == NULL) return unknown - id;
  return mount->is_local ? 0 : refused;
}

static int open_cached(const char* path, uint64_t flags) {
  /* The system's struct open_how, which not every header has: flags, mode, resolve. */
  uint64_t how[3] = {flags | O_CLOEXEC, 0, resolve_cached};
  return (int)syscall(SYS_openat2, AT_FDCWD, path, how, sizeof(how));
}

/* Reports whether there is openat2 with RESOLVE_CACHED, and nothing that forbids it. */
static bool can_look(void) {
  int fd = open_cached(".", O_PATH);
  if (fd >= 0) close(fd);
  return fd >= 0 || (errno != ENOSYS && errno != EINVAL && errno != EPERM);
}

/* The descriptor if it is one of a file that can be answered for; it is closed if not. */
static int32_t keep(calls_t* calls, int fd) {
  int32_t status = fd < 0 ? refused : check(calls, fd);
  if (status == 0) return fd;
  if (fd >= 0) close(fd);
  return status;
}

/* A descriptor that can only be looked at. */
static int32_t look(calls_t* calls, const char* path, bool follows) {
  return keep(calls, open_cached(path, O_PATH | (follows ? 0 : O_NOFOLLOW)));
}

static int32_t open_file(calls_t* calls, const char* path) {
  int32_t found = look(calls, path, true);
  if (found < 0) return found;
  /* Before the file is opened, which has to get the lowest number that is free, as everywhere. */
  close(found);
  int32_t fd = keep(calls, open_cached(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  if (fd < 0) return fd;
  if (fcntl(fd, F_SETFL, 0) == 0) return fd;
  close(fd);
  return refused;
}

/* From `position`, or where the descriptor stands if that is negative; a pipe has neither. */
static int32_t read_file(calls_t* calls, int fd, char* base, size_t len, int64_t position) {
  const int64_t from = position < 0 ? (int64_t)lseek(fd, 0, SEEK_CUR) : position;
  size_t total = 0;
  if (from < 0) return refused;
  /* Less than asked for may be up to the end of the file, or of what is in memory: the next read tells. */
  for (;;) {
    struct iovec rest = {base + total, len - total};
    uint64_t at = position < 0 ? UINT64_MAX : (uint64_t)from + total;
    long n = syscall(SYS_preadv2, fd, &rest, 1L, (unsigned long)at, (unsigned long)(at >> 32), RWF_NOWAIT);
    if (n < 0) break;
    total += (size_t)n;
    if (n == 0 || total == len) return (int32_t)total;
  }
  if (errno == EOPNOTSUPP) {
    /* The file system cannot do it, or is another than the one that had this ID. */
    struct statx found;
    int32_t id;
    if (find(fd, &found, &id) == 0) note_mount(calls, id, false);
  }
  if (position < 0 && total > 0) (void)lseek(fd, from, SEEK_SET);
  return refused;
}

static bool close_file(calls_t* calls, int fd) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY || check(calls, fd) != 0) return false;
  /* Interrupted or not, the descriptor is gone. */
  close(fd);
  return true;
}

static void drop(int fd) {
  close(fd);
}
#else
static bool can_look(void) {
  return false;
}

static int32_t check(calls_t* calls, int fd) {
  return refused;
}

static int32_t look(calls_t* calls, const char* path, bool follows) {
  return refused;
}

static int32_t open_file(calls_t* calls, const char* path) {
  return refused;
}

static int32_t read_file(calls_t* calls, int fd, char* base, size_t len, int64_t position) {
  return refused;
}

static bool close_file(calls_t* calls, int fd) {
  return false;
}

static void drop(int fd) {}
#endif

/* ---- what JavaScript calls */

static napi_value number(napi_env env, int32_t value) {
  napi_value result;
  return millrace_ok(env, napi_create_int32(env, value, &result)) ? result : NULL;
}

static napi_value truth(napi_env env, bool value) {
  napi_value result;
  return millrace_ok(env, napi_get_boolean(env, value, &result)) ? result : NULL;
}

/* A path as the system takes it: 1; 0 for one that it does not take, or with an exception pending. */
static int take_path(napi_env env, napi_value value, char path[longest_path]) {
  napi_valuetype type;
  size_t length = 0;
  if (!millrace_ok(env, napi_typeof(env, value, &type))) return 0;
  if (type == napi_string) {
    if (!millrace_ok(env, napi_get_value_string_utf8(env, value, path, longest_path, &length))) return 0;
    /* It was cut, or nearly: at the end of a character. */
    if (length > longest_path - 5) return 0;
  } else {
    void* bytes;
    if (!millrace_bytes(env, value, &bytes, &length) || length > longest_path - 5) return 0;
    memcpy(path, bytes, length);
    path[length] = '\0';
  }
  return strlen(path) == length;
}

/* fileCanLook(): whether this system can do it. */
static napi_value can_look_at(napi_env env, napi_callback_info info) {
  return truth(env, can_look());
}

/* fileLook(path, follows): a descriptor that is to be dropped, or a negative number. */
static napi_value look_at(napi_env env, napi_callback_info info) {
  calls_t* calls;
  napi_value argv[2];
  bool follows = true;
  char path[longest_path];
  if (!millrace_arguments(env, info, 2, argv, (void**)&calls)) return NULL;
  CHECK(napi_get_value_bool(env, argv[1], &follows));
  return number(env, take_path(env, argv[0], path) ? look(calls, path, follows) : refused);
}

/* fileOpen(path): a descriptor, or a negative number. */
static napi_value open_path(napi_env env, napi_callback_info info) {
  calls_t* calls;
  napi_value argv[1];
  char path[longest_path];
  if (!millrace_arguments(env, info, 1, argv, (void**)&calls)) return NULL;
  return number(env, take_path(env, argv[0], path) ? open_file(calls, path) : refused);
}

/* fileMount(id, isLocal): what JavaScript knows of a mount. */
static napi_value mount(napi_env env, napi_callback_info info) {
  calls_t* calls;
  napi_value argv[2];
  int32_t id;
  bool is_local;
  if (!millrace_arguments(env, info, 2, argv, (void**)&calls)) return NULL;
  CHECK(napi_get_value_int32(env, argv[0], &id));
  CHECK(napi_get_value_bool(env, argv[1], &is_local));
  note_mount(calls, id, is_local);
  return NULL;
}

/* fileCheck(fd): whether it is of a regular file on a local mount. */
static napi_value check_descriptor(napi_env env, napi_callback_info info) {
  calls_t* calls;
  napi_value argv[1];
  int32_t fd;
  if (!millrace_arguments(env, info, 1, argv, (void**)&calls)) return NULL;
  CHECK(napi_get_value_int32(env, argv[0], &fd));
  return truth(env, check(calls, fd) == 0);
}

/* fileRead(fd, buffer, offset, length, position): the bytes read, or a negative number. */
static napi_value read_descriptor(napi_env env, napi_callback_info info) {
  calls_t* calls;
  napi_value argv[5];
  int32_t fd;
  void* base;
  size_t size;
  int64_t numbers[3];
  if (!millrace_arguments(env, info, 5, argv, (void**)&calls)) return NULL;
  CHECK(napi_get_value_int32(env, argv[0], &fd));
  if (!millrace_bytes(env, argv[1], &base, &size)) return NULL;
  for (int i = 0; i < 3; i++) CHECK(napi_get_value_int64(env, argv[2 + i], &numbers[i]));
  const int64_t offset = numbers[0], length = numbers[1];
  const int64_t most = size < INT32_MAX ? (int64_t)size : INT32_MAX;
  if (offset < 0 || length <= 0 || length > most || offset > (int64_t)size - length) return number(env, refused);
  return number(env, read_file(calls, fd, (char*)base + offset, (size_t)length, numbers[2]));
}

/* fileClose(fd): whether it has been closed. */
static napi_value close_descriptor(napi_env env, napi_callback_info info) {
  calls_t* calls;
  napi_value argv[1];
  int32_t fd;
  if (!millrace_arguments(env, info, 1, argv, (void**)&calls)) return NULL;
  CHECK(napi_get_value_int32(env, argv[0], &fd));
  return truth(env, close_file(calls, fd));
}

/* fileDrop(fd): closes a descriptor that nobody else knows of. */
static napi_value drop_descriptor(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  int32_t fd;
  if (!millrace_arguments(env, info, 1, argv, NULL)) return NULL;
  CHECK(napi_get_value_int32(env, argv[0], &fd));
  drop(fd);
  return NULL;
}

int millrace_file_calls_register(napi_env env, napi_value exports) {
  calls_t* calls = calloc(1, sizeof(*calls));
  if (calls == NULL) {
    millrace_throw(env, "MILLRACE_E_NATIVE", "out of memory");
    return 0;
  }
  if (!millrace_ok(env, napi_add_env_cleanup_hook(env, free, calls))) {
    free(calls);
    return 0;
  }
  return millrace_export(env, exports, "fileCanLook", can_look_at, calls) &&
         millrace_export(env, exports, "fileLook", look_at, calls) &&
         millrace_export(env, exports, "fileOpen", open_path, calls) &&
         millrace_export(env, exports, "fileMount", mount, calls) &&
         millrace_export(env, exports, "fileCheck", check_descriptor, calls) &&
         millrace_export(env, exports, "fileRead", read_descriptor, calls) &&
         millrace_export(env, exports, "fileClose", close_descriptor, calls) &&
         millrace_export(env, exports, "fileDrop", drop_descriptor, calls);
}
