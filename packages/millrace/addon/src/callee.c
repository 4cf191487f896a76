/* JavaScript functions that the loop calls. A call is a macrotask: ticks and promise jobs run when the function has returned, outside of any
 * call of Node-API. So what they throw is an uncaught exception as everywhere, with the place where it was thrown; napi_make_callback
 * would catch it, and lose that. */
#include "addon.h"

napi_value millrace_callee_bind(napi_env env, napi_value function) {
  napi_value global, process, get_builtin, name, hooks, storage, bind, bound, error;
  bool is_pending = false;
  if (napi_get_global(env, &global) == napi_ok && napi_get_named_property(env, global, "process", &process) == napi_ok &&
      napi_get_named_property(env, process, "getBuiltinModule", &get_builtin) == napi_ok &&
      napi_create_string_utf8(env, "node:async_hooks", NAPI_AUTO_LENGTH, &name) == napi_ok &&
      napi_call_function(env, process, get_builtin, 1, &name, &hooks) == napi_ok &&
      napi_get_named_property(env, hooks, "AsyncLocalStorage", &storage) == napi_ok &&
      napi_get_named_property(env, storage, "bind", &bind) == napi_ok &&
      napi_call_function(env, storage, bind, 1, &function, &bound) == napi_ok) {
    return bound;
  }
  if (napi_is_exception_pending(env, &is_pending) == napi_ok && is_pending) napi_get_and_clear_last_exception(env, &error);
  return function;
}

int millrace_callee_open(napi_env env, millrace_callee_t* callee, napi_value function, const char* name) {
  napi_value text;
  callee->env = env;
  return millrace_ok(env, napi_create_reference(env, function, 1, &callee->function)) &&
         millrace_ok(env, napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &text)) &&
         millrace_ok(env, napi_async_init(env, NULL, text, &callee->context));
}

int millrace_callee_call(const millrace_callee_t* callee, size_t count, const napi_value argv[]) {
  napi_env env = callee->env;
  napi_handle_scope scope;
  napi_callback_scope macrotask;
  napi_value global, function;
  int called = 0;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return 0;
  if (napi_get_global(env, &global) == napi_ok &&
      napi_get_reference_value(env, callee->function, &function) == napi_ok &&
      napi_open_callback_scope(env, NULL, callee->context, &macrotask) == napi_ok) {
    called = napi_call_function(env, global, function, count, argv, NULL) == napi_ok;
    if (millrace_report(env)) called = 1;
    napi_close_callback_scope(env, macrotask);
  }
  napi_close_handle_scope(env, scope);
  return called;
}

void millrace_callee_close(millrace_callee_t* callee) {
  if (callee->function != NULL) napi_delete_reference(callee->env, callee->function);
  if (callee->context != NULL) napi_async_destroy(callee->env, callee->context);
  callee->function = NULL;
  callee->context = NULL;
}
