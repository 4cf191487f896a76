/* Results, as JavaScript gets them: numbers that it shares, and a list of what was too large for the slab. */
#include <string.h>

#include "files.h"

/* Calls JavaScript. 0: it was not reached. */
static int call_with(files_t* files, size_t count) {
  napi_env env = files->env;
  napi_handle_scope scope;
  napi_value argv[1];
  int reached = 0;
  if (files->is_closing || napi_open_handle_scope(env, &scope) != napi_ok) return 0;
  if (napi_create_uint32(env, (uint32_t)count, &argv[0]) == napi_ok) {
    reached = millrace_callee_call(&files->callee, 1, argv);
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
void files_deliver(files_t* files, kind_t kind) {
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

void files_record(files_t* files, int32_t id, ssize_t result, int32_t at, const char* syscall) {
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

/* Notes the result of a read; memory that is not of the slab becomes JavaScript's, or is freed. */
void files_note(files_t* files, uv_batch_file_t* file) {
  const item_t* item = file->data;
  int32_t at = is_large;
  ssize_t result = file->result;
  if (result > 0) {
    files->mean_bytes = (files->mean_bytes * 7 + (size_t)result) / 8;
    if (files_is_in_slab(files, file->buf.base)) {
      at = (int32_t)(file->buf.base - files->slab);
    } else if (!add_large(files, file)) {
      result = UV_ENOMEM;
    }
  } else if (result == UV_ESPIPE) {
    at = file->fd;
  }
  files_record(files, item->id, result, at, file->syscall);
  files_free_memory(files, file);
}

void files_close_fifo(const uv_batch_file_t* file) {
  if (file->result == UV_ESPIPE && file->fd >= 0) close_descriptor(file->fd);
}
