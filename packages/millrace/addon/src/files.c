/* The backend of files: it opens, and ends with its environment. */
#include <stdlib.h>
#include <string.h>

#include "files.h"

files_t* files_of(napi_env env, napi_value handle) {
  void* files = NULL;
  if (!millrace_ok(env, napi_get_value_external(env, handle, &files))) return NULL;
  if (!((files_t*)files)->is_closing) return files;
  millrace_throw(env, "MILLRACE_E_NATIVE", "the environment is ending");
  return NULL;
}

napi_value files_number(napi_env env, int32_t value) {
  napi_value result;
  return millrace_ok(env, napi_create_int32(env, value, &result)) ? result : NULL;
}

static void on_closed(uv_handle_t* handle) {
  files_t* files = handle->data;
  if (--files->open_handles > 0) return;
  napi_async_cleanup_hook_handle hook = files->hook;
  uv_mutex_destroy(&files->mutex);
  free(files);
  if (hook != NULL) napi_remove_async_cleanup_hook(hook);
}

void files_close_handles(files_t* files) {
  uv_close((uv_handle_t*)&files->turn, on_closed);
  uv_close((uv_handle_t*)&files->slow, on_closed);
}

static void delete_reference(napi_env env, napi_ref* reference) {
  if (*reference != NULL) napi_delete_reference(env, *reference);
  *reference = NULL;
}

static void release_values(files_t* files) {
  delete_reference(files->env, &files->slab_ref);
  delete_reference(files->env, &files->records_ref);
  delete_reference(files->env, &files->large_ref);
  delete_reference(files->env, &files->counts_ref);
  millrace_callee_close(&files->callee);
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
  if (files->first == NULL) files_close_handles(files);
}

static int keep(napi_env env, napi_value value, napi_ref* reference) {
  return millrace_ok(env, napi_create_reference(env, value, 1, reference));
}

static int keep_values(files_t* files, napi_value argv[]) {
  napi_env env = files->env;
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
         millrace_callee_open(env, &files->callee, argv[5], "millrace.files");
}

static int is_within(int32_t value, int32_t least, int32_t most) {
  return value >= least && value <= most;
}

static int settings_are_valid(files_t* files) {
  const int32_t* settings = files->settings;
  if (!is_within(settings[on_loop_files], 0, most_on_loop) || !is_within(settings[on_loop_bytes], 1, 1 << 30) ||
      !is_within(settings[on_loop_file_bytes], 1, 1 << 30) ||
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
  files->on_loop_options.max_file_size = (uint64_t)files->settings[on_loop_file_bytes];
  files->options.alloc = files_allocate_in_job;
  files->on_loop_options.alloc = files_allocate_on_loop;
  files->mean_bytes = 4096;
  /* None of these fails. */
  uv_check_init(files->loop, &files->turn);
  uv_timer_init(files->loop, &files->slow);
  uv_unref((uv_handle_t*)&files->turn);
  uv_unref((uv_handle_t*)&files->slow);
  files->turn.data = files->slow.data = files;
  files->open_handles = 2;
  files_renew_budget(&files->turn);
  return handle;
failed:
  release_values(files);
  free(files);
  return NULL;
}

int millrace_files_register(napi_env env, napi_value exports) {
  return millrace_export(env, exports, "filesOpen", open_files, NULL) &&
         millrace_export(env, exports, "filesRead", files_read, NULL) &&
         millrace_export(env, exports, "filesAppend", files_append, NULL);
}
