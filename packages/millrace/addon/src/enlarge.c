/* Reads of growing size for sockets of Node: uv_tcp_enable_largesocket() on handles that Node made, for which JavaScript
 * knows a descriptor and no address. A place, which is what JavaScript gets for a handle, is an index.
 *
 * Node frees a handle when it is closed. JavaScript says so before; the handles that are left when an environment ends,
 * Node has freed by the time of the cleanup hook, which therefore looks at none of them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "addon.h"
#include "common.h"
#include "uv_batch.h"

typedef struct {
  uv_tcp_t* tcp;
  uv_read_cb wrapper; /* the library's callback, once the handle has it */
  int32_t next_free;
} place_t;

typedef struct {
  uv_loop_t* loop;
  place_t** places; /* each with an address of its own, which is how a handle's owner is known */
  int32_t count;
  int32_t capacity;
  int32_t first_free; /* -1: none */
} enlarge_t;

enum { option_count = 8, stat_count = 9 };

/* An environment that ends has closed its handles before it forgets them, and another thread may have got a handle at the
 * same address by then. Whose it is, is looked at and changed under this. */
static uv_once_t once = UV_ONCE_INIT;
static uv_mutex_t owners;
static int ready;

static void make_owners(void) {
  ready = uv_mutex_init(&owners) == 0;
}

/* The garbage collector frees read buffers many at a time. glibc would give most of that back to the system, and each
 * page of the next buffers would be faulted in anew, for a quarter of the CPU time. Once a block of some size has been
 * freed, glibc keeps twice as much: mallopt(3), M_MMAP_THRESHOLD. Elsewhere this does nothing. */
static uv_once_t keep_once = UV_ONCE_INIT;

static void keep_freed_memory(void) {
  void* volatile block = malloc(16 << 20); /* volatile: or the compiler takes it out */
  free(block);
}

static int owns(const place_t* place) {
  return place->tcp != NULL && uvb__attached(place->tcp, UVB__ATTACH_OWNER) == place;
}

static void forget(const uv_tcp_t* tcp) {
  uvb__detach(tcp, UVB__ATTACH_OWNER);
  uvb__free(uvb__detach(tcp, UVB__ATTACH_LARGESOCKET));
}

static int32_t take_place(enlarge_t* data) {
  int32_t index = data->first_free;
  if (index >= 0) {
    data->first_free = data->places[index]->next_free;
    return index;
  }
  if (data->count == data->capacity) {
    int32_t capacity = data->capacity == 0 ? 64 : data->capacity * 2;
    place_t** places = realloc(data->places, (size_t)capacity * sizeof(*places));
    if (places == NULL) return -1;
    data->places = places;
    data->capacity = capacity;
  }
  place_t* place = calloc(1, sizeof(*place));
  if (place == NULL) return -1;
  data->places[data->count] = place;
  return data->count++;
}

static void give_back(enlarge_t* data, int32_t index) {
  place_t* place = data->places[index];
  memset(place, 0, sizeof(*place));
  place->next_free = data->first_free;
  data->first_free = index;
}

static int enable(place_t* place, uv_tcp_t* tcp, const uv_largesocket_options_t* options) {
  const place_t* before = uvb__attached(tcp, UVB__ATTACH_OWNER);
  if (before != NULL) {
    if (before->wrapper != NULL && ((uv_stream_t*)tcp)->read_cb == before->wrapper) return UV_EBUSY;
    /* Of a handle that has been freed. */
    forget(tcp);
  }
  int status = uvb__attach(tcp, UVB__ATTACH_OWNER, place);
  if (status != 0) return status;
  uv_read_cb read_cb = ((uv_stream_t*)tcp)->read_cb;
  status = uv_tcp_enable_largesocket(tcp, options);
  if (status != 0) {
    forget(tcp);
    return status;
  }
  place->tcp = tcp;
  if (((uv_stream_t*)tcp)->read_cb != read_cb) place->wrapper = ((uv_stream_t*)tcp)->read_cb;
  return 0;
}

/* A number below 0 asks for the system's. */
static void read_options(const double* given, uv_largesocket_options_t* options) {
  uv_largesocket_options_init(options);
  options->min_read = (size_t)given[0];
  options->max_read = (size_t)given[1];
  options->grow_after = (uint32_t)given[2];
  options->shrink_after = (uint32_t)given[3];
  options->raise_after = (uint32_t)given[4];
  if (given[5] >= 0) options->receive_buffer = (int)given[5];
  options->send_buffer = (int)given[6];
  options->max_turn = (size_t)given[7];
}

typedef struct {
  enlarge_t* data;
  const double* options;
  int32_t* places;
  const int32_t* wanted; /* by descriptor: which of the sockets, counted from 1 */
  int most;              /* the largest descriptor */
} search_t;

static void on_handle(uv_handle_t* handle, void* argument) {
  const search_t* search = argument;
  uv_largesocket_options_t options;
  uv_os_fd_t fd;
  if (handle->type != UV_TCP || uv_fileno(handle, &fd) != 0) return;
#ifndef _WIN32
  if (fd > search->most || search->wanted[fd] == 0) return;
  int32_t which = search->wanted[fd] - 1;
  int32_t index = take_place(search->data);
  if (index < 0) {
    search->places[which] = UV_ENOMEM;
    return;
  }
  read_options(search->options + (size_t)which * option_count, &options);
  int status = enable(search->data->places[index], (uv_tcp_t*)handle, &options);
  if (status != 0) give_back(search->data, index);
  search->places[which] = status == 0 ? index : status;
#endif
}

/* enlargeFind(descriptors: Int32Array, options: Float64Array, places: Int32Array): a place or an error for each. */
static napi_value find(napi_env env, napi_callback_info info) {
  enlarge_t* data;
  napi_value argv[3];
  void* memory[3];
  size_t bytes[3];
  if (!millrace_arguments(env, info, 3, argv, (void**)&data)) return NULL;
  for (int i = 0; i < 3; i++) {
    if (!millrace_bytes(env, argv[i], &memory[i], &bytes[i])) return NULL;
  }
  size_t count = bytes[0] / sizeof(int32_t);
  if (count > INT32_MAX || bytes[1] < count * option_count * sizeof(double) || bytes[2] < count * sizeof(int32_t)) {
    return millrace_throw(env, "MILLRACE_E_INVALID_ARGUMENT", "the arrays of enlargeFind() differ in length");
  }
  const int32_t* fds = memory[0];
  search_t search = {data, memory[1], memory[2], NULL, -1};
  for (size_t i = 0; i < count; i++) {
    search.places[i] = UV_EBADF;
    if (fds[i] > search.most) search.most = fds[i];
  }
  if (search.most < 0) return NULL;
  int32_t* wanted = calloc((size_t)search.most + 1, sizeof(*wanted));
  if (wanted == NULL) return millrace_throw(env, "MILLRACE_E_NATIVE", "out of memory");
  for (size_t i = 0; i < count; i++) {
    if (fds[i] >= 0) wanted[fds[i]] = (int32_t)i + 1;
  }
  search.wanted = wanted;
  uv_once(&keep_once, keep_freed_memory);
  uv_mutex_lock(&owners);
  uv_walk(data->loop, on_handle, &search);
  uv_mutex_unlock(&owners);
  free(wanted);
  return NULL;
}

/* The place that the first argument names, or NULL: it may have become another's, or nobody's. */
static place_t* place_of(napi_env env, napi_callback_info info, size_t count, napi_value argv[], enlarge_t** data,
                         int32_t* index) {
  if (!millrace_arguments(env, info, count, argv, (void**)data)) return NULL;
  if (!millrace_ok(env, napi_get_value_int32(env, argv[0], index))) return NULL;
  if (*index < 0 || *index >= (*data)->count || (*data)->places[*index]->tcp == NULL) return NULL;
  return (*data)->places[*index];
}

/* enlargeRestart(place): the handle reads, with Node's own callbacks since uv_read_start() was called for it. */
static napi_value restart(napi_env env, napi_callback_info info) {
  enlarge_t* data;
  napi_value argv[1];
  int32_t index;
  uv_largesocket_stats_t stats;
  place_t* place = place_of(env, info, 1, argv, &data, &index);
  if (place == NULL || !owns(place)) return NULL;
  uv_stream_t* stream = (uv_stream_t*)place->tcp;
  uv_alloc_cb alloc_cb = stream->alloc_cb;
  uv_read_cb read_cb = stream->read_cb;
  if (read_cb == NULL || read_cb == place->wrapper) return NULL;
  /* After the end of a stream there is nothing to wrap. */
  if (uv_tcp_largesocket_stats(place->tcp, &stats) != 0) return NULL;
  uv_read_stop(stream);
  if (uv_tcp_largesocket_read_start(place->tcp, alloc_cb, read_cb) == 0) place->wrapper = stream->read_cb;
  else uv_read_start(stream, alloc_cb, read_cb);
  return NULL;
}

/* enlargeEnd(place, open): gives an open handle its callbacks back; one that is not, is not looked at. */
static napi_value end(napi_env env, napi_callback_info info) {
  enlarge_t* data;
  napi_value argv[2];
  int32_t index;
  bool open = false;
  place_t* place = place_of(env, info, 2, argv, &data, &index);
  if (place == NULL) return NULL;
  CHECK(napi_get_value_bool(env, argv[1], &open));
  uv_mutex_lock(&owners);
  if (owns(place)) {
    if (open) uv_tcp_disable_largesocket(place->tcp);
    forget(place->tcp);
  }
  uv_mutex_unlock(&owners);
  give_back(data, index);
  return NULL;
}

/* enlargeStats(place, stats: Float64Array): whether there are any. */
static napi_value stats_of(napi_env env, napi_callback_info info) {
  enlarge_t* data;
  napi_value argv[2];
  napi_value result;
  int32_t index;
  void* memory;
  size_t bytes;
  uv_largesocket_stats_t stats;
  bool known = false;
  const place_t* place = place_of(env, info, 2, argv, &data, &index);
  if (place != NULL && owns(place)) {
    if (!millrace_bytes(env, argv[1], &memory, &bytes)) return NULL;
    if (bytes < stat_count * sizeof(double)) {
      return millrace_throw(env, "MILLRACE_E_INVALID_ARGUMENT", "the array of enlargeStats() is too short");
    }
    known = uv_tcp_largesocket_stats(place->tcp, &stats) == 0;
    if (known) {
      const double values[stat_count] = {
          (double)stats.read_size, (double)stats.reads,   (double)stats.full_reads,
          (double)stats.bytes,     (double)stats.grown,   (double)stats.shrunk,
          (double)stats.yielded,   stats.receive_buffer, stats.send_buffer,
      };
      memcpy(memory, values, sizeof(values));
    }
  }
  CHECK(napi_get_boolean(env, known, &result));
  return result;
}

static void free_enlarge(void* argument) {
  enlarge_t* data = argument;
  uv_mutex_lock(&owners);
  for (int32_t i = 0; i < data->count; i++) {
    if (owns(data->places[i])) forget(data->places[i]->tcp);
  }
  uv_mutex_unlock(&owners);
  for (int32_t i = 0; i < data->count; i++) free(data->places[i]);
  free(data->places);
  free(data);
}

int millrace_enlarge_register(napi_env env, napi_value exports) {
  uv_once(&once, make_owners);
  uv_loop_t* loop = millrace_loop(env);
  if (loop == NULL) return 0;
  enlarge_t* data = ready ? calloc(1, sizeof(*data)) : NULL;
  if (data == NULL) {
    millrace_throw(env, "MILLRACE_E_NATIVE", "out of memory");
    return 0;
  }
  data->loop = loop;
  data->first_free = -1;
  if (!millrace_ok(env, napi_add_env_cleanup_hook(env, free_enlarge, data))) {
    free(data);
    return 0;
  }
  return millrace_export(env, exports, "enlargeFind", find, data) &&
         millrace_export(env, exports, "enlargeRestart", restart, data) &&
         millrace_export(env, exports, "enlargeEnd", end, data) &&
         millrace_export(env, exports, "enlargeStats", stats_of, data);
}
