/* Declarations that the files of the addon share. Each feature is one file, or several with a common prefix: it
 * registers its functions, and keeps its own data per environment (the main thread, each worker) in a struct that it
 * passes to them and frees in a cleanup hook. */
#ifndef MILLRACE_ADDON_H
#define MILLRACE_ADDON_H

#include <node_api.h>
#include <stddef.h>
#include <uv.h>

/* 1, or 0 after a JavaScript exception has been made pending: the caller returns at once. */
int millrace_ok(napi_env env, napi_status status);
#define CHECK(call)                            \
  do {                                         \
    if (!millrace_ok(env, (call))) return NULL; \
  } while (0)

/* Throws an Error with a `code`; always NULL, for a callback to return. */
napi_value millrace_throw(napi_env env, const char* code, const char* message);

/* Makes an exception that a callback of the loop has left pending an uncaught one, as Node.js does: 1, or 0 when there is
 * none. */
int millrace_report(napi_env env);

/* A JavaScript function that the loop calls. All zero until it is open. */
typedef struct {
  napi_env env;
  napi_ref function;
  napi_async_context context;
} millrace_callee_t;

/* Binds a user's function to the current async context. Since Node.js 24 an async context of Node-API does not carry the stores of
 * AsyncLocalStorage. Returns the function itself where Node.js cannot bind, as before 20.16. */
napi_value millrace_callee_bind(napi_env env, napi_value function);
/* `name`: for async_hooks. 0 with an exception pending; it is to be closed all the same. */
int millrace_callee_open(napi_env env, millrace_callee_t* callee, napi_value function, const char* name);
/* Calls it, with the arguments in a handle scope of the caller. What it throws is an uncaught exception. 0: it was not reached. */
int millrace_callee_call(const millrace_callee_t* callee, size_t count, const napi_value argv[]);
void millrace_callee_close(millrace_callee_t* callee);

/* The loop of the environment; NULL with an exception pending. */
uv_loop_t* millrace_loop(napi_env env);

/* Takes the arguments of a call, of which there must be at least `count`: 0 with an exception pending. */
int millrace_arguments(napi_env env, napi_callback_info info, size_t count, napi_value argv[], void** data);

/* The memory of a typed array or a DataView, and its length in bytes: 0 with an exception pending. */
int millrace_bytes(napi_env env, napi_value value, void** base, size_t* bytes);
/* The same of memory that is used as 32-bit numbers: refused when it is not aligned for them. */
int millrace_words(napi_env env, napi_value value, void** base, size_t* bytes);

/* Adds a function to the exports: 0 with an exception pending. */
int millrace_export(napi_env env, napi_value exports, const char* name, napi_callback call, void* data);

/* Each 0 with an exception pending. */
int millrace_callbacks_register(napi_env env, napi_value exports);
int millrace_fanout_register(napi_env env, napi_value exports);
int millrace_files_register(napi_env env, napi_value exports);
int millrace_file_calls_register(napi_env env, napi_value exports);
int millrace_enlarge_register(napi_env env, napi_value exports);
int millrace_ring_register(napi_env env, napi_value exports);

#endif
