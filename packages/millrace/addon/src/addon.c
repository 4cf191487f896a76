/* The addon: libuvbatch beside the libuv that runs in this process, for JavaScript. */
#include <stdio.h>

#include "addon.h"
#include "uv_batch.h"

/* What libuvbatch is written for, and the major version whose structs it was compiled with. Within one, libuv keeps
 * the layout of its structs. */
enum { least_uv = (1 << 16) | (44 << 8) };

static int uv_is_usable(unsigned int running) {
  return running >= least_uv && running >> 16 == UV_VERSION_HEX >> 16;
}

static int add_string(napi_env env, napi_value exports, const char* name, const char* text) {
  napi_value value;
  return millrace_ok(env, napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value)) &&
         millrace_ok(env, napi_set_named_property(env, exports, name, value));
}

NAPI_MODULE_INIT() {
  if (!uv_is_usable(uv_version())) {
    char message[160];
    snprintf(message, sizeof(message), "the libuv of this process is %s; the addon is built for %d.44 or a newer %d.x",
             uv_version_string(), UV_VERSION_MAJOR, UV_VERSION_MAJOR);
    return millrace_throw(env, "MILLRACE_E_NATIVE", message);
  }
  if (!add_string(env, exports, "version", uv_batch_version_string()) ||
      !add_string(env, exports, "uv", uv_version_string()) ||
      !add_string(env, exports, "package", MILLRACE_VERSION) ||
      !millrace_fanout_register(env, exports) || !millrace_files_register(env, exports) ||
      !millrace_file_calls_register(env, exports) || !millrace_enlarge_register(env, exports) ||
      !millrace_ring_register(env, exports) || !millrace_callbacks_register(env, exports)) {
    return NULL;
  }
  return exports;
}
