/* Appends: the records of one path in one job, which opens, writes, syncs and closes. */
#include <string.h>

#include "files.h"

/* Every failed chunk has a record with its index; one with index -1 ends them, whose result is the descriptor of a FIFO
 * that was refused, or -1. */
static void on_append(uv_batch_fs_t* req, uv_batch_file_t* first, size_t count) {
  batch_t* batch = req->data;
  files_t* files = batch->owner;
  files_enter(batch);
  for (size_t i = 0; i < count; i++) {
    if (files->is_closing && i == 0) files_close_fifo(&first[0]);
    if (files->is_closing || first[i].result >= 0) continue;
    if (files->recorded == files->records_size) files_deliver(files, appending);
    files_record(files, batch->append_id, first[i].result, (int32_t)(intptr_t)first[i].data, first[i].syscall);
  }
  if (req->pending == 0 && !files->is_closing) {
    if (files->recorded == files->records_size) files_deliver(files, appending);
    /* One path has all entries in one callback. */
    files_record(files, batch->append_id, first->result == UV_ESPIPE ? first->fd : -1, -1, NULL);
  }
  files_deliver(files, appending);
  files_leave(batch);
}

static bool are_ascending(const uint32_t* ends, size_t count, size_t size) {
  for (size_t i = 1; i < count; i++) {
    if (ends[i - 1] > ends[i]) return false;
  }
  return count == 0 || ends[count - 1] <= size;
}

/* filesAppend(handle, path, bytes, ends, id, mode, durable) -> 0, or an error of libuv, and nothing was begun. The path
 * ends with a NUL; the records stand one behind the other, and ends, a Uint32Array, has where each ends. The caller keeps
 * the bytes until the end. */
napi_value files_append(napi_env env, napi_callback_info info) {
  napi_value argv[7];
  void *path, *base, *ends;
  size_t path_size, size, ends_size;
  int32_t id, mode;
  bool is_durable;
  if (!millrace_arguments(env, info, 7, argv, NULL)) return NULL;
  files_t* files = files_of(env, argv[0]);
  if (files == NULL || !millrace_bytes(env, argv[1], &path, &path_size) ||
      !millrace_bytes(env, argv[2], &base, &size) || !millrace_bytes(env, argv[3], &ends, &ends_size)) {
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
  batch_t* batch = files_new_batch(appending, count, path_size);
  if (batch == NULL) return files_number(env, UV_ENOMEM);
  char* copy = memcpy(files_paths_of(batch, count), path, path_size);
  for (size_t i = 0; i < count; i++) {
    uint32_t from = i == 0 ? 0 : end[i - 1];
    batch->files[i].path = copy;
    batch->files[i].fd = -1;
    batch->files[i].data = (void*)(intptr_t)i;
    /* Where all are empty there may be no memory. */
    batch->files[i].buf = uv_buf_init(size > 0 ? (char*)base + from : copy, end[i] - from);
  }
  files_add(files, batch);
  batch->append_id = id;
  batch->req.data = batch;
  uv_batch_fs_options_t options = files->options;
  options.mode = mode;
  options.max_jobs = 1;
  options.flags = UV_BATCH_FS_KEEP_FIFO | (is_durable ? UV_BATCH_FS_DATASYNC : 0);
  int status = uv_batch_fs_append(files->loop, &batch->req, batch->files, count, &options, on_append);
  if (status != 0) files_drop(batch);
  return files_number(env, status);
}
