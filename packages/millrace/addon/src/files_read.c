/* Reads. What the page cache has is answered on the loop, within the budget of the turn, the rest by jobs. */
#include <stdlib.h>
#include <string.h>

#include "files.h"

/* So many are tried on the loop before the others are given to jobs. */
enum { sample = 2 };
/* Fewer than these are read as quickly as somebody else reads ahead of them. */
enum { least_to_prefetch = 4 };
/* What a job should read, so that its results are not long in coming. */
enum { job_bytes = 1 << 20 };

/* Nobody wants it any more. */
static void discard(files_t* files, uv_batch_file_t* file) {
  files_free_memory(files, file);
  files_close_fifo(file);
}

static void on_read(uv_batch_fs_t* req, uv_batch_file_t* first, size_t count) {
  batch_t* batch = req->data;
  files_t* files = batch->owner;
  size_t released = 0;
  files_enter(batch);
  for (size_t i = 0; i < count; i++) {
    if (files->recorded == files->records_size) {
      files_deliver(files, reading);
      files_release_memory(files, &first[released], i - released);
      released = i;
    }
    /* JavaScript may have ended the environment. */
    if (files->is_closing) {
      discard(files, &first[i]);
    } else {
      files_note(files, &first[i]);
    }
  }
  files_deliver(files, reading);
  files_release_memory(files, &first[released], count - released);
  files_leave(batch);
}

static void on_prefetch(uv_batch_fs_t* req, uv_batch_file_t* first, size_t count) {
  if (req->pending == 0) files_drop(req->data);
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
  files_add(files, batch);
  batch->req.data = batch;
  int status = uv_batch_fs_read(files->loop, &batch->req, batch->files, count, options, on_read);
  if (status != 0) files_drop(batch);
  return status;
}

/* One job that lets the disk begin with all of them. Without it they are read more slowly, that is all. */
static void prefetch(files_t* files, const batch_t* reads, size_t count, size_t bytes) {
  batch_t* batch = count < least_to_prefetch ? NULL : files_new_batch(prefetching, count, bytes);
  if (batch == NULL) return;
  char* to = files_paths_of(batch, count);
  for (size_t i = 0; i < count; i++) {
    size_t size = strlen(reads->files[i].path) + 1;
    batch->files[i].path = memcpy(to, reads->files[i].path, size);
    to += size;
  }
  uv_batch_fs_options_t options = files->options;
  options.max_jobs = 1;
  options.max_files = 65536;
  files_add(files, batch);
  batch->req.data = batch;
  int status = uv_batch_fs_prefetch(files->loop, &batch->req, batch->files, count, &options, on_prefetch);
  if (status != 0) files_drop(batch);
}

/* Gives to jobs what was not answered on the loop. */
static int start_reads(files_t* files, const uv_batch_file_t from[], size_t all, size_t bytes) {
  size_t count = 0;
  for (size_t i = 0; i < all; i++) count += from[i].result == UV_EAGAIN;
  if (count == 0) return 0;
  batch_t* batch = files_new_batch(reading, count, bytes);
  if (batch == NULL) return UV_ENOMEM;
  item_t* items = files_items_of(batch, count);
  char* to = files_paths_of(batch, count);
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

void files_renew_budget(uv_check_t* turn) {
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
  uv_check_start(&files->turn, files_renew_budget);
  files->counts[files_left] -= (uint32_t)count;
  int colds = 0, hits = 0;
  for (size_t i = 0; i < count; i++) {
    if (head[i].result == UV_EAGAIN) {
      files_free_memory(files, &head[i]);
      /* Without a system call it was not tried, or the system cannot tell. */
      colds += head[i].syscall != NULL;
      continue;
    }
    if (head[i].result > 0) {
      *room -= (uint32_t)head[i].result;
      hits++;
    }
    files->counts[count_on_loop] += head[i].result != UV_EFBIG;
    files_note(files, &head[i]);
  }
  if (colds + hits > 0) files->is_cold = colds > 0;
}

static napi_value too_short(napi_env env) {
  return millrace_throw(env, "MILLRACE_E_INVALID_ARGUMENT", "there are fewer paths, ids or records than files");
}

static void record_failure(files_t* files, int32_t id, int status) {
  files_record(files, id, status, is_large, NULL);
}

/* filesRead(handle, paths, length, ids, count) -> how many records are ready; or an error of libuv, and nothing was
 * begun. */
napi_value files_read(napi_env env, napi_callback_info info) {
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
    batch = files_new_batch(reading, tails, (size_t)(end - path));
    if (batch == NULL) return files_number(env, UV_ENOMEM);
    size_t rest = (size_t)(end - path);
    path = memcpy(files_paths_of(batch, tails), path, rest);
    if (!take_paths(batch->files, files_items_of(batch, tails), tails, (int32_t*)ids + heads, &path, path + rest)) {
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
  return files_number(env, (int32_t)ready);
}
