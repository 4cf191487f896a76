/*
 * Asks the C library to give back to the system what it has and nobody holds, and tells how many bytes are held. Node.js tells neither.
 *
 * The soak compiles it when it begins, for glibc alone. The functions of Node-API are declared here, as its ABI is fixed and Node.js does
 * not always come with its headers.
 */
#include <malloc.h>
#include <stddef.h>

typedef struct napi_env__* napi_env;
typedef struct napi_value__* napi_value;
typedef struct napi_callback_info__* napi_callback_info;
typedef napi_value (*napi_callback)(napi_env, napi_callback_info);

int napi_create_double(napi_env env, double value, napi_value* result);
int napi_create_function(napi_env env, const char* name, size_t length, napi_callback callback, void* data, napi_value* result);

/* In blocks of all its heaps, and in mappings of their own. */
static napi_value trim(napi_env env, napi_callback_info info) {
  (void) info;
  malloc_trim(0);
  struct mallinfo2 now = mallinfo2();
  napi_value held = NULL;
  napi_create_double(env, (double) now.uordblks + (double) now.hblkhd, &held);
  return held;
}

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  napi_value function = NULL;
  return napi_create_function(env, "trim", 4, trim, NULL, &function) == 0 ? function : exports;
}
