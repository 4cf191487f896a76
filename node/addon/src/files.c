/* Files: what was asked for in one tick comes in one call. What the page cache has is answered in it, within a
 * budget for each turn of the loop; the rest goes to jobs of the threadpool, and each of them comes back in one
 * call. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "addon.h"
#include "uv_batch.h"

/* The settings of filesOpen(), by their places in its array. */
enum { on_loop_files, on_loop_bytes, region_bytes, warm_jobs, cold_jobs, max_files, relieve_ms, settings_count };

/* A result, as JavaScript gets it: four numbers in `records`. */
enum { record_id, record_result, record_at, record_syscall, record_fields };
/* `at` of bytes that are not in the slab but the next of the list of large ones. Files without bytes have no `at`, but
 * that of a FIFO is its descriptor. */
enum { is_large = -1 };

/* The most that one turn tries: they stand on the stack. So many are tried before the others are given to jobs. */
enum { most_on_loop = 64, sample = 2 };
/* Fewer than these are read as quickly as somebody else reads ahead of them. */
enum { least_to_prefetch = 4 };
/* The counts that JavaScript can look at. It may renew the budget, which is of one turn. */
enum { count_on_loop, count_jobs, files_left, bytes_left, counts_count };
enum { most_regions = 16, no_region = -1 };
/* Results of one job come together, so it should not be long in coming. */
enum { job_bytes = 1 << 20, least_files = 4 };

typedef struct batch_s batch_t;

/* Of the slab, which jobs read into: it is filled from its beginning, and empty again when nothing in it is used. */
typedef struct {
  size_t filled;
  uint32_t used;
} region_t;

/* What belongs to a file beside libuvbatch's own. */
typedef struct {
  int32_t id;
  int32_t region;
} item_t;

/* One backend of one environment. It is freed when the environment has ended and nothing is under way any more. */
typedef struct {
  napi_env env;
  uv_loop_t* loop;
  napi_async_cleanup_hook_handle hook;
  napi_async_context context;
  napi_ref resource, call, slab_ref, records_ref, large_ref, counts_ref;
  char* slab; /* on_loop_bytes for what the loop reads, then the regions */
  int32_t* records;
  size_t slab_size, records_size; /* of records: how many */
  size_t on_loop_filled, recorded, larges;
  uv_mutex_t mutex; /* of the regions */
  region_t regions[most_regions];
  int32_t region_count, current;
  size_t mean_bytes; /* of the files read last */
  int is_cold;       /* the files tried last were not in memory */
  int32_t settings[settings_count];
  uv_batch_fs_options_t options, on_loop_options;
  uint32_t* counts; /* shared with JavaScript */
  uv_check_t turn;        /* renews the budget; runs only when some of it is used */
  uv_timer_t slow;        /* runs only while something is under way */
  int open_handles;
  int is_closing;
  batch_t* first;
} files_t;

typedef enum { reading, prefetching, appending } kind_t;

/* What was given to jobs at a time. Items of reads, then paths, stand behind its files. */
struct batch_s {
  uv_batch_fs_t req;
  files_t* owner;
  batch_t* next;
  batch_t** link; /* what points to it */
  int32_t append_id;
  int32_t entered; /* callbacks of it and relievings: JavaScript in one may run the loop, and so others inside it */
  kind_t kind;
  uv_batch_file_t files[];
};

static batch_t* new_batch(kind_t kind, size_t count, size_t bytes) {
  const size_t each = sizeof(uv_batch_file_t) + sizeof(item_t);
  if (count > (SIZE_MAX - sizeof(batch_t) - bytes) / each) return NULL;
  batch_t* batch = malloc(sizeof(batch_t) + count * each + bytes);
  if (batch == NULL) return NULL;
  memset(batch, 0, sizeof(batch_t) + count * each);
  batch->kind = kind;
  return batch;
}

static item_t* items_of(batch_t* batch, size_t count) {
  return (item_t*)&batch->files[count];
}

static char* paths_of(batch_t* batch, size_t count) {
  return (char*)&items_of(batch, count)[count];
}

/* Memory of the slab for what the loop reads: JavaScript takes it before the loop reads again. */
static char* allocate_on_loop(uv_batch_file_t* file, size_t size, void* data) {
  files_t* files = data;
  if (size > (size_t)files->settings[on_loop_bytes] - files->on_loop_filled) return NULL;
  char* memory = files->slab + files->on_loop_filled;
  files->on_loop_filled += size;
  return memory;
}

/* A region with so much room; the mutex is held. */
static int32_t find_region(files_t* files, size_t size) {
  const size_t most = (size_t)files->settings[region_bytes];
  if (size > most) return no_region;
  if (size <= most - files->regions[files->current].filled) return files->current;
  for (int32_t i = 0; i < files->region_count; i++) {
    if (files->regions[i].used == 0) return files->current = i;
  }
  return no_region;
}

static char* start_of(const files_t* files, int32_t region) {
  return files->slab + files->settings[on_loop_bytes] + (size_t)region * (size_t)files->settings[region_bytes];
}

/* The same for jobs, on their threads. */
static char* allocate_in_job(uv_batch_file_t* file, size_t size, void* data) {
  files_t* files = data;
  item_t* item = file->data;
  char* memory = NULL;
  uv_mutex_lock(&files->mutex);
  int32_t found = find_region(files, size);
  if (found != no_region) {
    region_t* region = &files->regions[found];
    memory = start_of(files, found) + region->filled;
    region->filled += size;
    region->used++;
    item->region = found;
  }
  uv_mutex_unlock(&files->mutex);
  return memory;
}

/* JavaScript has taken the files' bytes. */
static void release_memory(files_t* files, const uv_batch_file_t from[], size_t count) {
  uv_mutex_lock(&files->mutex);
  for (size_t i = 0; i < count; i++) {
    const item_t* item = from[i].data;
    if (item->region == no_region) continue;
    region_t* region = &files->regions[item->region];
    if (--region->used == 0) region->filled = 0;
  }
  uv_mutex_unlock(&files->mutex);
}

static void relieve(uv_timer_t* timer);

static void add(files_t* files, batch_t* batch) {
  if (files->first == NULL) {
    uint64_t every = (uint64_t)files->settings[relieve_ms];
    uv_timer_start(&files->slow, relieve, every, every);
  } else {
    files->first->link = &batch->next;
  }
  batch->owner = files;
  batch->next = files->first;
  batch->link = &files->first;
  files->first = batch;
}

static void close_handles(files_t* files);

static void drop(batch_t* batch) {
  files_t* files = batch->owner;
  *batch->link = batch->next;
  if (batch->next != NULL) batch->next->link = batch->link;
  free(batch);
  if (files->first != NULL) return;
  uv_timer_stop(&files->slow);
  if (files->is_closing) close_handles(files);
}

static void leave(batch_t* batch) {
  if (--batch->entered == 0 && batch->req.pending == 0) drop(batch);
}

static void relieve(uv_timer_t* timer) {
  files_t* files = timer->data;
  batch_t* next;
  for (batch_t* batch = files->first; batch != NULL; batch = next) {
    batch->entered++;
    /* Of those that it could not move it tries again. */
    if (batch->kind == reading) (void)uv_batch_fs_relieve(&batch->req);
    next = batch->next;
    leave(batch);
  }
}

/* Calls JavaScript. What it throws is an uncaught exception, as in any callback of the loop. 0: it was not reached. */
static int call_with(files_t* files, size_t count) {
  napi_env env = files->env;
  napi_handle_scope scope;
  napi_value resource, call, argv[1];
  int reached = 0;
  if (files->is_closing || napi_open_handle_scope(env, &scope) != napi_ok) return 0;
  if (napi_get_reference_value(env, files->resource, &resource) == napi_ok &&
      napi_get_reference_value(env, files->call, &call) == napi_ok &&
      napi_create_uint32(env, (uint32_t)count, &argv[0]) == napi_ok) {
    reached = napi_make_callback(env, files->context, resource, call, 1, argv, NULL) == napi_ok;
    if (millrace_report(env)) reached = 1;
  }
  napi_close_handle_scope(env, scope);
  return reached;
}

static void close_descriptor(uv_file fd) {
  uv_fs_t close;
  uv_fs_close(NULL, &close, fd, NULL);
  uv_fs_req_cleanup(&close);
}

/* The descriptor of a FIFO that a record hands over, or -1. */
static uv_file fifo_of(const int32_t fields[], kind_t kind) {
  if (kind == reading) return fields[record_result] == UV_ESPIPE ? fields[record_at] : -1;
  return fields[record_at] == -1 ? fields[record_result] : -1;
}

/* Hands the records, all of one batch, to JavaScript. */
static void deliver(files_t* files, kind_t kind) {
  size_t count = files->recorded;
  files->recorded = files->larges = 0;
  if (count == 0 || call_with(files, count)) return;
  for (size_t i = 0; i < count; i++) {
    uv_file fd = fifo_of(&files->records[i * record_fields], kind);
    if (fd >= 0) close_descriptor(fd);
  }
}

static int32_t syscall_number(const char* name) {
  static const char* const names[] = {"open", "fstat", "read", "write", "fdatasync", "close"};
  for (int32_t i = 0; name != NULL && i < 6; i++) {
    if (strcmp(names[i], name) == 0) return i;
  }
  return -1;
}

static void record(files_t* files, int32_t id, ssize_t result, int32_t at, const char* syscall) {
  int32_t* fields = &files->records[files->recorded++ * record_fields];
  fields[record_id] = id;
  fields[record_result] = (int32_t)result;
  fields[record_at] = at;
  fields[record_syscall] = syscall_number(syscall);
}

static void free_large(napi_env env, void* base, void* hint) {
  uv_batch_free(base);
}

/* Appends a file's bytes to the list of large ones: the memory itself, or a copy where the runtime allows no other. 0:
 * there is no memory. */
static int add_large(files_t* files, uv_batch_file_t* file) {
  napi_env env = files->env;
  napi_handle_scope scope;
  napi_value list, buffer;
  size_t size = (size_t)file->result;
  void* copy;
  int added = 0;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return 0;
  if (napi_get_reference_value(env, files->large_ref, &list) == napi_ok) {
    napi_status status = napi_create_external_arraybuffer(env, file->buf.base, size, free_large, NULL, &buffer);
    if (status == napi_ok) {
      file->buf.base = NULL;
    } else {
      status = napi_create_arraybuffer(env, size, &copy, &buffer);
      if (status == napi_ok) memcpy(copy, file->buf.base, size);
    }
    added = status == napi_ok && napi_set_element(env, list, (uint32_t)files->larges, buffer) == napi_ok;
  }
  if (added) files->larges++;
  napi_close_handle_scope(env, scope);
  return added;
}

static int is_in_slab(const files_t* files, const char* memory) {
  return memory >= files->slab && memory < files->slab + files->slab_size;
}

static void free_memory(const files_t* files, uv_batch_file_t* file) {
  if (file->buf.base != NULL && !is_in_slab(files, file->buf.base)) uv_batch_free(file->buf.base);
  file->buf.base = NULL;
}

/* Notes the result of a read; memory that is not of the slab becomes JavaScript's, or is freed. */
static void note(files_t* files, uv_batch_file_t* file) {
  const item_t* item = file->data;
  int32_t at = is_large;
  ssize_t result = file->result;
  if (result > 0) {
    files->mean_bytes = (files->mean_bytes * 7 + (size_t)result) / 8;
    if (is_in_slab(files, file->buf.base)) {
      at = (int32_t)(file->buf.base - files->slab);
    } else if (!add_large(files, file)) {
      result = UV_ENOMEM;
    }
  } else if (result == UV_ESPIPE) {
    at = file->fd;
  }
  record(files, item->id, result, at, file->syscall);
  free_memory(files, file);
}

static void close_fifo(const uv_batch_file_t* file) {
  if (file->result == UV_ESPIPE && file->fd >= 0) close_descriptor(file->fd);
}

/* Nobody wants it any more. */
static void discard(files_t* files, uv_batch_file_t* file) {
  free_memory(files, file);
  close_fifo(file);
}

static void on_read(uv_batch_fs_t* req, uv_batch_file_t* first, size_t count) {
  batch_t* batch = req->data;
  files_t* files = batch->owner;
  size_t released = 0;
  batch->entered++;
  for (size_t i = 0; i < count; i++) {
    if (files->recorded == files->records_size) {
      deliver(files, reading);
      release_memory(files, &first[released], i - released);
      released = i;
    }
    /* JavaScript may have ended the environment. */
    if (files->is_closing) {
      discard(files, &first[i]);
    } else {
      note(files, &first[i]);
    }
  }
  deliver(files, reading);
  release_memory(files, &first[released], count - released);
  leave(batch);
}

static void on_prefetch(uv_batch_fs_t* req, uv_batch_file_t* first, size_t count) {
  if (req->pending == 0) drop(req->data);
}

static uint32_t files_in_job(const files_t* files) {
  size_t fitting = job_bytes / (files->mean_bytes + 1);
  size_t most = (size_t)files->settings[max_files];
  if (fitting > most) fitting = most;
  return (uint32_t)(fitting < least_files ? least_files : fitting);
}

/* 0, or the batch is gone. */
static int read_in_jobs(files_t* files, batch_t* batch, size_t count) {
  uv_batch_fs_options_t* options = &files->options;
  options->max_jobs = (uint32_t)files->settings[files->is_cold ? cold_jobs : warm_jobs];
  options->max_files = files_in_job(files);
  size_t jobs = (count + options->max_files - 1) / options->max_files;
  if (jobs < options->max_jobs) jobs = count < options->max_jobs ? count : options->max_jobs;
  files->counts[count_jobs] += (uint32_t)jobs;
  add(files, batch);
  batch->req.data = batch;
  int status = uv_batch_fs_read(files->loop, &batch->req, batch->files, count, options, on_read);
  if (status != 0) drop(batch);
  return status;
}

/* One job that lets the disk begin with all of them. Without it they are read more slowly, that is all. */
static void prefetch(files_t* files, const batch_t* reads, size_t count, size_t bytes) {
  batch_t* batch = count < least_to_prefetch ? NULL : new_batch(prefetching, count, bytes);
  if (batch == NULL) return;
  char* to = paths_of(batch, count);
  for (size_t i = 0; i < count; i++) {
    size_t size = strlen(reads->files[i].path) + 1;
    batch->files[i].path = memcpy(to, reads->files[i].path, size);
    to += size;
  }
  uv_batch_fs_options_t options = files->options;
  options.max_jobs = 1;
  options.max_files = 65536;
  add(files, batch);
  batch->req.data = batch;
  if (uv_batch_fs_prefetch(files->loop, &batch->req, batch->files, count, &options, on_prefetch) != 0) drop(batch);
}

/* Gives to jobs what was not answered on the loop. */
static int start_reads(files_t* files, const uv_batch_file_t from[], size_t all, size_t bytes) {
  size_t count = 0;
  for (size_t i = 0; i < all; i++) count += from[i].result == UV_EAGAIN;
  if (count == 0) return 0;
  batch_t* batch = new_batch(reading, count, bytes);
  if (batch == NULL) return UV_ENOMEM;
  item_t* items = items_of(batch, count);
  char* to = paths_of(batch, count);
  count = 0;
  for (size_t i = 0; i < all; i++) {
    if (from[i].result != UV_EAGAIN) continue;
    size_t size = strlen(from[i].path) + 1;
    items[count] = (item_t){((const item_t*)from[i].data)->id, no_region};
    batch->files[count].path = memcpy(to, from[i].path, size);
    batch->files[count].fd = -1;
    batch->files[count].data = &items[count];
    count++;
    to += size;
  }
  if (files->is_cold) prefetch(files, batch, count, bytes);
  return read_in_jobs(files, batch, count);
}

/* The paths of `count` files from `*path` on, each ended by a NUL before `end`. */
static int take_paths(uv_batch_file_t into[], item_t items[], size_t count, const int32_t ids[], const char** path,
                      const char* end) {
  for (size_t i = 0; i < count; i++) {
    const char* nul = *path < end ? memchr(*path, 0, (size_t)(end - *path)) : NULL;
    if (nul == NULL) return 0;
    items[i] = (item_t){ids[i], no_region};
    into[i] = (uv_batch_file_t){.path = *path, .fd = -1, .data = &items[i], .result = UV_EAGAIN};
    *path = nul + 1;
  }
  return 1;
}

static void renew_budget(uv_check_t* turn) {
  files_t* files = turn->data;
  files->counts[files_left] = (uint32_t)files->settings[on_loop_files];
  files->counts[bytes_left] = (uint32_t)files->settings[on_loop_bytes];
  uv_check_stop(turn);
}

/* Answers what the page cache has, and notes it. */
static void read_on_loop(files_t* files, uv_batch_file_t head[], size_t count) {
  uv_batch_fs_options_t* options = &files->on_loop_options;
  uint32_t* room = &files->counts[bytes_left];
  options->max_cached = *room;
  if (count == 0 || *room == 0 || uv_batch_fs_read_cached(head, count, options) < 0) return;
  uv_check_start(&files->turn, renew_budget);
  files->counts[files_left] -= (uint32_t)count;
  int colds = 0, hits = 0;
  for (size_t i = 0; i < count; i++) {
    if (head[i].result == UV_EAGAIN) {
      free_memory(files, &head[i]);
      /* Without a system call it was not tried, or the system cannot tell. */
      colds += head[i].syscall != NULL;
      continue;
    }
    if (head[i].result > 0) {
      *room -= (uint32_t)head[i].result;
      hits++;
    }
    files->counts[count_on_loop]++;
    note(files, &head[i]);
  }
  if (colds + hits > 0) files->is_cold = colds > 0;
}

static files_t* files_of(napi_env env, napi_value handle) {
  void* files = NULL;
  if (!millrace_ok(env, napi_get_value_external(env, handle, &files))) return NULL;
  if (!((files_t*)files)->is_closing) return files;
  millrace_throw(env, "MILLRACE_E_NATIVE", "the environment is ending");
  return NULL;
}

static napi_value number(napi_env env, int32_t value) {
  napi_value result;
  return millrace_ok(env, napi_create_int32(env, value, &result)) ? result : NULL;
}

static napi_value too_short(napi_env env) {
  return millrace_throw(env, "MILLRACE_E_INVALID_ARGUMENT", "there are fewer paths, ids or records than files");
}

static void record_failure(files_t* files, int32_t id, int status) {
  record(files, id, status, is_large, NULL);
}

/* filesRead(handle, paths, length, ids, count) -> how many records are ready; or an error of libuv, and nothing was
 * begun. */
static napi_value read_files(napi_env env, napi_callback_info info) {
  napi_value argv[5];
  uv_batch_file_t head[most_on_loop];
  item_t items[most_on_loop];
  uint32_t length, count;
  void *paths, *ids;
  size_t paths_size, ids_size;
  if (!millrace_arguments(env, info, 5, argv, NULL)) return NULL;
  files_t* files = files_of(env, argv[0]);
  if (files == NULL || !millrace_bytes(env, argv[1], &paths, &paths_size) ||
      !millrace_words(env, argv[3], &ids, &ids_size)) {
    return NULL;
  }
  CHECK(napi_get_value_uint32(env, argv[2], &length));
  CHECK(napi_get_value_uint32(env, argv[4], &count));
  const char* path = paths;
  const char* end = path + length;
  if (length > paths_size || count > ids_size / sizeof(int32_t) || count > files->records_size) return too_short(env);
  size_t heads = files->counts[files_left] < most_on_loop ? files->counts[files_left] : most_on_loop;
  if (heads > count) heads = count;
  size_t tails = count - heads;
  size_t first = heads < sample ? heads : sample;
  if (!take_paths(head, items, heads, ids, &path, end)) return too_short(env);
  batch_t* batch = NULL;
  if (tails > 0) {
    batch = new_batch(reading, tails, (size_t)(end - path));
    if (batch == NULL) return number(env, UV_ENOMEM);
    size_t rest = (size_t)(end - path);
    path = memcpy(paths_of(batch, tails), path, rest);
    if (!take_paths(batch->files, items_of(batch, tails), tails, (int32_t*)ids + heads, &path, path + rest)) {
      free(batch);
      return too_short(env);
    }
  }
  files->recorded = files->on_loop_filled = files->larges = 0;
  read_on_loop(files, head, first);
  /* Before the rest, so that threads are at it while this one reads. */
  int status = 0;
  if (tails > 0) {
    if (files->is_cold) prefetch(files, batch, tails, length);
    status = read_in_jobs(files, batch, tails);
    for (size_t i = heads; status != 0 && i < count; i++) record_failure(files, ((int32_t*)ids)[i], status);
  }
  read_on_loop(files, head + first, heads - first);
  status = start_reads(files, head, heads, length);
  for (size_t i = 0; status != 0 && i < heads; i++) {
    if (head[i].result == UV_EAGAIN) record_failure(files, items[i].id, status);
  }
  size_t ready = files->recorded;
  files->recorded = files->larges = 0;
  return number(env, (int32_t)ready);
}

/* Every failed chunk has a record with its index; one with index -1 ends them, whose result is the descriptor of a FIFO
 * that was refused, or -1. */
static void on_append(uv_batch_fs_t* req, uv_batch_file_t* first, size_t count) {
  batch_t* batch = req->data;
  files_t* files = batch->owner;
  batch->entered++;
  for (size_t i = 0; i < count; i++) {
    if (files->is_closing && i == 0) close_fifo(&first[0]);
    if (files->is_closing || first[i].result >= 0) continue;
    if (files->recorded == files->records_size) deliver(files, appending);
    record(files, batch->append_id, first[i].result, (int32_t)(intptr_t)first[i].data, first[i].syscall);
  }
  if (req->pending == 0 && !files->is_closing) {
    if (files->recorded == files->records_size) deliver(files, appending);
    /* One path has all entries in one callback. */
    record(files, batch->append_id, first->result == UV_ESPIPE ? first->fd : -1, -1, NULL);
  }
  deliver(files, appending);
  leave(batch);
}

static bool are_ascending(const uint32_t* ends, size_t count, size_t size) {
  for (size_t i = 1; i < count; i++) {
    if (ends[i - 1] > ends[i]) return false;
  }
  return count == 0 || ends[count - 1] <= size;
}

/* filesAppend(handle, path, bytes, ends, id, mode, durable) -> 0, or an error of libuv, and nothing was begun. The path ends
 * with a NUL; the records stand one behind the other, and ends, a Uint32Array, has where each ends. Whoever calls keeps the bytes until
 * the end. One job opens, writes, syncs and closes. */
static napi_value append_to_file(napi_env env, napi_callback_info info) {
  napi_value argv[7];
  void *path, *base, *ends;
  size_t path_size, size, ends_size;
  int32_t id, mode;
  bool is_durable;
  if (!millrace_arguments(env, info, 7, argv, NULL)) return NULL;
  files_t* files = files_of(env, argv[0]);
  if (files == NULL || !millrace_bytes(env, argv[1], &path, &path_size) || !millrace_bytes(env, argv[2], &base, &size) ||
      !millrace_bytes(env, argv[3], &ends, &ends_size)) {
    return NULL;
  }
  CHECK(napi_get_value_int32(env, argv[4], &id));
  CHECK(napi_get_value_int32(env, argv[5], &mode));
  CHECK(napi_get_value_bool(env, argv[6], &is_durable));
  const uint32_t* end = ends;
  size_t count = ends_size / sizeof(*end);
  if (memchr(path, 0, path_size) == NULL || count == 0 || !are_ascending(end, count, size)) {
    return millrace_throw(env, "MILLRACE_E_INVALID_ARGUMENT",
                          "the path has no NUL at its end, or there is no record, or one is not in the bytes");
  }
  batch_t* batch = new_batch(appending, count, path_size);
  if (batch == NULL) return number(env, UV_ENOMEM);
  char* copy = memcpy(paths_of(batch, count), path, path_size);
  for (size_t i = 0; i < count; i++) {
    uint32_t from = i == 0 ? 0 : end[i - 1];
    batch->files[i].path = copy;
    batch->files[i].fd = -1;
    batch->files[i].data = (void*)(intptr_t)i;
    /* Where all are empty there may be no memory. */
    batch->files[i].buf = uv_buf_init(size > 0 ? (char*)base + from : copy, end[i] - from);
  }
  add(files, batch);
  batch->append_id = id;
  batch->req.data = batch;
  uv_batch_fs_options_t options = files->options;
  options.mode = mode;
  options.max_jobs = 1;
  options.flags = UV_BATCH_FS_KEEP_FIFO | (is_durable ? UV_BATCH_FS_DATASYNC : 0);
  int status = uv_batch_fs_append(files->loop, &batch->req, batch->files, count, &options, on_append);
  if (status != 0) drop(batch);
  return number(env, status);
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t* handle) {
  files_t* files = handle->data;
  if (--files->open_handles > 0) return;
  napi_async_cleanup_hook_handle hook = files->hook;
  uv_mutex_destroy(&files->mutex);
  free(files);
  if (hook != NULL) napi_remove_async_cleanup_hook(hook);
}

static void close_handles(files_t* files) {
  uv_close((uv_handle_t*)&files->turn, on_closed);
  uv_close((uv_handle_t*)&files->slow, on_closed);
}

static void delete_reference(napi_env env, napi_ref* reference) {
  if (*reference != NULL) napi_delete_reference(env, *reference);
  *reference = NULL;
}

static void release_values(files_t* files) {
  delete_reference(files->env, &files->resource);
  delete_reference(files->env, &files->call);
  delete_reference(files->env, &files->slab_ref);
  delete_reference(files->env, &files->records_ref);
  delete_reference(files->env, &files->large_ref);
  delete_reference(files->env, &files->counts_ref);
  if (files->context != NULL) napi_async_destroy(files->env, files->context);
  files->context = NULL;
}

/* The environment ends. Node.js runs the loop until the hook is removed, and only then frees what JavaScript has:
 * the slab, and the chunks of appends, which the backend keeps. So a file under way is waited for, as it waits for
 * its own; an append is not cut short. */
static void end(napi_async_cleanup_hook_handle hook, void* data) {
  files_t* files = data;
  files->is_closing = 1;
  release_values(files);
  for (batch_t* batch = files->first; batch != NULL; batch = batch->next) {
    if (batch->kind != appending) (void)uv_batch_fs_cancel(&batch->req);
  }
  if (files->first == NULL) close_handles(files);
}

static int keep(napi_env env, napi_value value, napi_ref* reference) {
  return millrace_ok(env, napi_create_reference(env, value, 1, reference));
}

static int keep_values(files_t* files, napi_value argv[]) {
  napi_env env = files->env;
  napi_value name, resource;
  void* memory;
  size_t size;
  if (!millrace_words(env, argv[0], &memory, &size)) return 0;
  if (size != sizeof(files->settings)) {
    millrace_throw(env, "MILLRACE_E_INVALID_ARGUMENT", "there are not as many settings as there should be");
    return 0;
  }
  memcpy(files->settings, memory, size);
  if (!millrace_bytes(env, argv[1], (void**)&files->slab, &files->slab_size) ||
      !millrace_words(env, argv[2], (void**)&files->records, &size)) {
    return 0;
  }
  files->records_size = size / (record_fields * sizeof(int32_t));
  if (!millrace_words(env, argv[4], (void**)&files->counts, &size)) return 0;
  if (size < counts_count * sizeof(uint32_t)) {
    millrace_throw(env, "MILLRACE_E_INVALID_ARGUMENT", "there is no room for the counts");
    return 0;
  }
  return keep(env, argv[1], &files->slab_ref) && keep(env, argv[2], &files->records_ref) &&
         keep(env, argv[3], &files->large_ref) && keep(env, argv[4], &files->counts_ref) &&
         keep(env, argv[5], &files->call) &&
         millrace_ok(env, napi_create_object(env, &resource)) && keep(env, resource, &files->resource) &&
         millrace_ok(env, napi_create_string_utf8(env, "millrace.files", NAPI_AUTO_LENGTH, &name)) &&
         millrace_ok(env, napi_async_init(env, resource, name, &files->context));
}

static int is_within(int32_t value, int32_t least, int32_t most) {
  return value >= least && value <= most;
}

static int settings_are_valid(files_t* files) {
  const int32_t* settings = files->settings;
  if (!is_within(settings[on_loop_files], 0, most_on_loop) || !is_within(settings[on_loop_bytes], 1, 1 << 30) ||
      !is_within(settings[region_bytes], 1, 1 << 30) || !is_within(settings[warm_jobs], 1, 64) ||
      !is_within(settings[cold_jobs], 1, 64) || !is_within(settings[max_files], least_files, 65536) ||
      !is_within(settings[relieve_ms], 1, 1 << 30) || files->records_size < most_on_loop ||
      files->slab_size > INT32_MAX || files->slab_size < (size_t)settings[on_loop_bytes]) {
    return 0;
  }
  size_t regions = (files->slab_size - (size_t)settings[on_loop_bytes]) / (size_t)settings[region_bytes];
  files->region_count = (int32_t)(regions < most_regions ? regions : most_regions);
  return files->region_count > 0;
}

/* filesOpen(settings, slab, records, large, counts, call) -> handle. `call(count)` runs for results of jobs. */
static napi_value open_files(napi_env env, napi_callback_info info) {
  napi_value argv[6], handle;
  if (!millrace_arguments(env, info, 6, argv, NULL)) return NULL;
  files_t* files = calloc(1, sizeof(*files));
  if (files == NULL) return millrace_throw(env, "ENOMEM", "there is no memory for the backend of files");
  files->env = env;
  files->loop = millrace_loop(env);
  if (files->loop == NULL || !keep_values(files, argv)) goto failed;
  if (!settings_are_valid(files)) {
    millrace_throw(env, "MILLRACE_E_INVALID_ARGUMENT", "a setting is out of its range");
    goto failed;
  }
  if (uv_mutex_init(&files->mutex) != 0) {
    millrace_throw(env, "ENOMEM", "there is no mutex for the backend of files");
    goto failed;
  }
  if (!millrace_ok(env, napi_create_external(env, files, NULL, NULL, &handle)) ||
      !millrace_ok(env, napi_add_async_cleanup_hook(env, end, files, &files->hook))) {
    uv_mutex_destroy(&files->mutex);
    goto failed;
  }
  uv_batch_fs_options_init(&files->options);
  files->options.flags = UV_BATCH_FS_KEEP_FIFO;
  files->options.max_file_size = INT32_MAX;
  files->options.alloc_data = files;
  files->on_loop_options = files->options;
  files->options.alloc = allocate_in_job;
  files->on_loop_options.alloc = allocate_on_loop;
  files->mean_bytes = 4096;
  /* None of these fails. */
  uv_check_init(files->loop, &files->turn);
  uv_timer_init(files->loop, &files->slow);
  uv_unref((uv_handle_t*)&files->turn);
  uv_unref((uv_handle_t*)&files->slow);
  files->turn.data = files->slow.data = files;
  files->open_handles = 2;
  renew_budget(&files->turn);
  return handle;
failed:
  release_values(files);
  free(files);
  return NULL;
}

int millrace_files_register(napi_env env, napi_value exports) {
  return millrace_export(env, exports, "filesOpen", open_files, NULL) &&
         millrace_export(env, exports, "filesRead", read_files, NULL) &&
         millrace_export(env, exports, "filesAppend", append_to_file, NULL);
}
