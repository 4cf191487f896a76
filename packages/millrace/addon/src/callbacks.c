/* Callbacks in the place of those of the threadpool: between two check phases and before the poll, so that what holds in each callback
 * of a file holds in them. An immediate that was set before has run, and one that is set in them runs before any timer.
 *
 * JavaScript counts what is due, in a number that it shares, and wakes when that was 0. Then the loop does not wait in its next poll. Its
 * check makes all that is due by then ready, and the prepare phase of the following turn calls JavaScript so many times: each call is a
 * macrotask, behind which ticks and promise jobs run. What becomes due meanwhile is of the next round. */
#include <stdlib.h>

#include "addon.h"

typedef struct {
  napi_env env;
  uv_loop_t* loop;
  napi_async_cleanup_hook_handle hook;
  millrace_callee_t callee;
  napi_ref due_ref;
  uint32_t* due;  /* shared with JavaScript */
  uint32_t ready; /* of these */
  uv_idle_t idle; /* runs while any is due: so the poll does not wait, and the process does not end */
  uv_check_t check;
  uv_prepare_t prepare;
  int open_handles;
  int is_closing;
} callbacks_t;

static void on_idle(uv_idle_t* idle) {
  (void)idle;
}

static void on_check(uv_check_t* check);

static void on_prepare(uv_prepare_t* prepare) {
  callbacks_t* callbacks = prepare->data;
  uint32_t ready = callbacks->ready;
  uv_prepare_stop(prepare);
  while (ready > 0 && !callbacks->is_closing && millrace_callee_call(&callbacks->callee, 0, NULL)) ready--;
  if (callbacks->is_closing) return;
  *callbacks->due -= callbacks->ready - ready;
  callbacks->ready = 0;
  if (*callbacks->due > 0 && ready == 0) uv_check_start(&callbacks->check, on_check);
  else uv_idle_stop(&callbacks->idle);
}

static void on_check(uv_check_t* check) {
  callbacks_t* callbacks = check->data;
  uv_check_stop(check);
  callbacks->ready = *callbacks->due;
  uv_prepare_start(&callbacks->prepare, on_prepare);
}

static void on_closed(uv_handle_t* handle) {
  callbacks_t* callbacks = handle->data;
  if (--callbacks->open_handles > 0) return;
  napi_async_cleanup_hook_handle hook = callbacks->hook;
  free(callbacks);
  if (hook != NULL) napi_remove_async_cleanup_hook(hook);
}

static void release_values(callbacks_t* callbacks) {
  if (callbacks->due_ref != NULL) napi_delete_reference(callbacks->env, callbacks->due_ref);
  millrace_callee_close(&callbacks->callee);
}

/* The environment ends. What is due is not called any more, as no callback is. */
static void end(napi_async_cleanup_hook_handle hook, void* data) {
  callbacks_t* callbacks = data;
  (void)hook;
  callbacks->is_closing = 1;
  release_values(callbacks);
  uv_close((uv_handle_t*)&callbacks->idle, on_closed);
  uv_close((uv_handle_t*)&callbacks->check, on_closed);
  uv_close((uv_handle_t*)&callbacks->prepare, on_closed);
}

static int keep_values(callbacks_t* callbacks, napi_value argv[]) {
  napi_env env = callbacks->env;
  size_t size;
  if (!millrace_words(env, argv[0], (void**)&callbacks->due, &size)) return 0;
  if (size != sizeof(*callbacks->due)) {
    millrace_throw(env, "MILLRACE_E_INVALID_ARGUMENT", "the number of what is due is not one number");
    return 0;
  }
  return millrace_ok(env, napi_create_reference(env, argv[0], 1, &callbacks->due_ref)) &&
         millrace_callee_open(env, &callbacks->callee, argv[1], "millrace.callbacks");
}

/* callbacksOpen(due, call) -> handle */
static napi_value open_callbacks(napi_env env, napi_callback_info info) {
  napi_value argv[2], handle;
  if (!millrace_arguments(env, info, 2, argv, NULL)) return NULL;
  callbacks_t* callbacks = calloc(1, sizeof(*callbacks));
  if (callbacks == NULL) return millrace_throw(env, "ENOMEM", "there is no memory for callbacks");
  callbacks->env = env;
  callbacks->loop = millrace_loop(env);
  if (callbacks->loop == NULL || !keep_values(callbacks, argv) ||
      !millrace_ok(env, napi_create_external(env, callbacks, NULL, NULL, &handle)) ||
      !millrace_ok(env, napi_add_async_cleanup_hook(env, end, callbacks, &callbacks->hook))) {
    release_values(callbacks);
    free(callbacks);
    return NULL;
  }
  /* None of these fails. */
  uv_idle_init(callbacks->loop, &callbacks->idle);
  uv_check_init(callbacks->loop, &callbacks->check);
  uv_prepare_init(callbacks->loop, &callbacks->prepare);
  callbacks->idle.data = callbacks->check.data = callbacks->prepare.data = callbacks;
  callbacks->open_handles = 3;
  return handle;
}

/* callbacksWake(handle) */
static napi_value wake(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  void* data = NULL;
  if (!millrace_arguments(env, info, 1, argv, NULL)) return NULL;
  CHECK(napi_get_value_external(env, argv[0], &data));
  callbacks_t* callbacks = data;
  if (callbacks->is_closing) return NULL;
  uv_idle_start(&callbacks->idle, on_idle);
  uv_check_start(&callbacks->check, on_check);
  return NULL;
}

int millrace_callbacks_register(napi_env env, napi_value exports) {
  return millrace_export(env, exports, "callbacksOpen", open_callbacks, NULL) &&
         millrace_export(env, exports, "callbacksWake", wake, NULL);
}
