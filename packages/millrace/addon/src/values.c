/* Between JavaScript and C. */
#include "addon.h"

#include <stdint.h>

napi_value millrace_throw(napi_env env, const char* code, const char* message) {
  napi_throw_error(env, code, message);
  return NULL;
}

int millrace_ok(napi_env env, napi_status status) {
  const napi_extended_error_info* info = NULL;
  bool pending = false;
  if (status == napi_ok) return 1;
  /* The first failure is the one that explains. */
  napi_get_last_error_info(env, &info);
  const char* message = info != NULL && info->error_message != NULL ? info->error_message : "a call of Node-API failed";
  if (napi_is_exception_pending(env, &pending) == napi_ok && !pending) millrace_throw(env, "MILLRACE_E_NATIVE", message);
  return 0;
}

int millrace_report(napi_env env) {
  napi_value error;
  bool pending = false;
  if (napi_is_exception_pending(env, &pending) != napi_ok || !pending) return 0;
  if (napi_get_and_clear_last_exception(env, &error) == napi_ok) napi_fatal_exception(env, error);
  return 1;
}

uv_loop_t* millrace_loop(napi_env env) {
  uv_loop_t* loop = NULL;
  return millrace_ok(env, napi_get_uv_event_loop(env, &loop)) ? loop : NULL;
}

int millrace_arguments(napi_env env, napi_callback_info info, size_t count, napi_value argv[], void** data) {
  size_t given = count;
  if (!millrace_ok(env, napi_get_cb_info(env, info, &given, argv, NULL, data))) return 0;
  if (given >= count) return 1;
  napi_throw_type_error(env, "MILLRACE_E_INVALID_ARGUMENT", "an argument is missing");
  return 0;
}

static size_t element_size(napi_typedarray_type type) {
  switch (type) {
    case napi_int16_array:
    case napi_uint16_array:
      return 2;
    case napi_int32_array:
    case napi_uint32_array:
    case napi_float32_array:
      return 4;
    case napi_float64_array:
    case napi_bigint64_array:
    case napi_biguint64_array:
      return 8;
    default:
      return 1;
  }
}

int millrace_bytes(napi_env env, napi_value value, void** base, size_t* bytes) {
  bool is = false;
  if (!millrace_ok(env, napi_is_typedarray(env, value, &is))) return 0;
  if (is) {
    napi_typedarray_type type;
    size_t length = 0;
    if (!millrace_ok(env, napi_get_typedarray_info(env, value, &type, &length, base, NULL, NULL))) return 0;
    *bytes = length * element_size(type);
    return 1;
  }
  if (!millrace_ok(env, napi_is_dataview(env, value, &is))) return 0;
  if (is) return millrace_ok(env, napi_get_dataview_info(env, value, bytes, base, NULL, NULL));
  napi_throw_type_error(env, "MILLRACE_E_INVALID_ARGUMENT", "an argument is not a typed array");
  return 0;
}

int millrace_words(napi_env env, napi_value value, void** base, size_t* bytes) {
  if (!millrace_bytes(env, value, base, bytes)) return 0;
  if ((uintptr_t)*base % sizeof(int32_t) == 0) return 1;
  napi_throw_type_error(env, "MILLRACE_E_INVALID_ARGUMENT",
                        "an argument begins within a word: an Int32Array or Uint32Array is wanted");
  return 0;
}

int millrace_export(napi_env env, napi_value exports, const char* name, napi_callback call, void* data) {
  napi_value function;
  return millrace_ok(env, napi_create_function(env, name, NAPI_AUTO_LENGTH, call, data, &function)) &&
         millrace_ok(env, napi_set_named_property(env, exports, name, function));
}
