/* Rings under the control of the tests. A ring is an external value; its threads and what they met are behind it. */
#include <millrace.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) \
  do { \
    if ((call) != napi_ok) abort(); \
  } while (0)

enum { most_threads = 8 };

typedef struct {
  uint32_t thread;
  uint32_t number;
  double value;
} record_t;

typedef struct probe_s probe_t;

typedef struct {
  probe_t* probe;
  pthread_t id;
  uint32_t index;
  uint32_t each; /* 0: until the ring is closed */
  uint32_t at_once;
} thread_t;

/* Outlives every environment: it is never freed. */
struct probe_s {
  millrace_ring_t* ring;
  napi_ref on_closed;
  int joins_late; /* by join(), not when the ring has closed */
  uint32_t threads;
  thread_t each[most_threads];
  atomic_uint_fast32_t taken, full, last_code, closed_calls;
};

static void* produce(void* argument) {
  thread_t* thread = argument;
  probe_t* probe = thread->probe;
  record_t records[64];
  uint32_t number = 0;
  int status = 0;
  while (status == 0 && (thread->each == 0 || number < thread->each)) {
    uint32_t count = 0;
    for (; count < thread->at_once && (thread->each == 0 || number + count < thread->each); count++) {
      records[count] = (record_t){thread->index, number + count, (number + count) * 0.5 + thread->index};
    }
    while ((status = thread->at_once == 1 ? millrace_post(probe->ring, records)
                                          : millrace_post_many(probe->ring, records, count)) == MILLRACE_FULL) {
      atomic_fetch_add(&probe->full, 1);
      sched_yield();
    }
    if (status == 0) atomic_fetch_add(&probe->taken, count);
    number += count;
  }
  atomic_store(&probe->last_code, (uint_fast32_t)-status);
  millrace_ring_release(probe->ring);
  return NULL;
}

/* One post that takes milliseconds: each of `each` records is as large as can be. */
static void* flood(void* argument) {
  enum { size = 65536 };
  thread_t* thread = argument;
  char* records = calloc(thread->each, size);
  if (records == NULL) abort();
  for (uint32_t i = 0; i < thread->each; i++) memcpy(records + (size_t)i * size, &i, sizeof(i));
  if (millrace_post_many(thread->probe->ring, records, thread->each) == 0) {
    atomic_store(&thread->probe->taken, thread->each);
  }
  free(records);
  millrace_ring_release(thread->probe->ring);
  return NULL;
}

static void join_threads(probe_t* probe) {
  for (uint32_t i = 0; i < probe->threads; i++) pthread_join(probe->each[i].id, NULL);
  probe->threads = 0;
}

static void closed(napi_env env, void* data) {
  probe_t* probe = data;
  napi_value callback, global;
  atomic_fetch_add(&probe->closed_calls, 1);
  if (!probe->joins_late) join_threads(probe);
  /* Fails without harm when the environment ends. */
  if (probe->on_closed != NULL && napi_get_reference_value(env, probe->on_closed, &callback) == napi_ok &&
      napi_get_global(env, &global) == napi_ok) {
    napi_call_function(env, global, callback, 0, NULL, NULL);
  }
}

static napi_value number(napi_env env, double value) {
  napi_value result;
  MUST(napi_create_double(env, value, &result));
  return result;
}

static napi_value refuse(napi_env env, int code) {
  static const char* const names[] = {"", "FULL", "CLOSED", "INVALID", "NO_MEMORY", "FAILED", "UNSUPPORTED"};
  napi_throw_error(env, names[-code], millrace_strerror(code));
  return NULL;
}

static size_t arguments(napi_env env, napi_callback_info info, napi_value argv[8]) {
  size_t count = 8;
  MUST(napi_get_cb_info(env, info, &count, argv, NULL, NULL));
  return count;
}

static uint32_t to_number(napi_env env, napi_value value) {
  uint32_t result;
  MUST(napi_get_value_uint32(env, value, &result));
  return result;
}

static probe_t* to_probe(napi_env env, napi_value value) {
  void* probe;
  MUST(napi_get_value_external(env, value, &probe));
  return probe;
}

/* open(api, callback, recordSize, capacity, maxBatch, reserved, onClosed or undefined, joinsLate) */
static napi_value open_ring(napi_env env, napi_callback_info info) {
  napi_value argv[8], result;
  napi_valuetype type;
  const millrace_api_t* api;
  arguments(env, info, argv);
  probe_t* probe = calloc(1, sizeof(*probe));
  millrace_ring_options_t options = {
      .record_size = to_number(env, argv[2]),
      .capacity = to_number(env, argv[3]),
      .max_batch = to_number(env, argv[4]),
      .reserved_number = to_number(env, argv[5]),
      .closed = closed,
      .data = probe,
  };
  MUST(napi_typeof(env, argv[6], &type));
  if (type == napi_function) MUST(napi_create_reference(env, argv[6], 1, &probe->on_closed));
  MUST(napi_typeof(env, argv[7], &type));
  probe->joins_late = type == napi_number;
  int status = millrace_api(env, argv[0], &api);
  if (status == 0) status = millrace_ring_open(api, env, &options, argv[1], &probe->ring);
  if (status != 0) return refuse(env, status);
  MUST(napi_create_external(env, probe, NULL, NULL, &result));
  return result;
}

static void start(probe_t* probe, uint32_t index, thread_t what, void* (*run)(void* argument)) {
  probe->each[index] = what;
  millrace_ring_acquire(probe->ring);
  if (pthread_create(&probe->each[index].id, NULL, run, &probe->each[index]) != 0) abort();
}

/* produce(ring, threads, each or 0, recordsAtOnce) */
static napi_value start_threads(napi_env env, napi_callback_info info) {
  napi_value argv[8];
  arguments(env, info, argv);
  probe_t* probe = to_probe(env, argv[0]);
  probe->threads = to_number(env, argv[1]);
  for (uint32_t i = 0; i < probe->threads; i++) {
    thread_t what = {.probe = probe, .index = i, .each = to_number(env, argv[2]), .at_once = to_number(env, argv[3])};
    start(probe, i, what, produce);
  }
  return NULL;
}

/* flood(ring, records): one thread, one post */
static napi_value start_flood(napi_env env, napi_callback_info info) {
  napi_value argv[8];
  arguments(env, info, argv);
  probe_t* probe = to_probe(env, argv[0]);
  probe->threads = 1;
  start(probe, 0, (thread_t){.probe = probe, .each = to_number(env, argv[1])}, flood);
  return NULL;
}

/* post(ring, records of the ring's size, count or none for millrace_post()): what it returned */
static napi_value post(napi_env env, napi_callback_info info) {
  napi_value argv[8];
  void* records;
  size_t count = arguments(env, info, argv);
  probe_t* probe = to_probe(env, argv[0]);
  MUST(napi_get_typedarray_info(env, argv[1], NULL, NULL, &records, NULL, NULL));
  return number(env, count == 2 ? millrace_post(probe->ring, records)
                                : millrace_post_many(probe->ring, records, to_number(env, argv[2])));
}

/* stats(ring, statistics): taken, full, minus the last code of a thread, calls of closed() */
static napi_value stats(napi_env env, napi_callback_info info) {
  napi_value argv[8], result;
  arguments(env, info, argv);
  probe_t* probe = to_probe(env, argv[0]);
  const double values[] = {(double)atomic_load(&probe->taken), (double)atomic_load(&probe->full),
                           (double)atomic_load(&probe->last_code), (double)atomic_load(&probe->closed_calls)};
  MUST(napi_create_array_with_length(env, 4, &result));
  for (uint32_t i = 0; i < 4; i++) MUST(napi_set_element(env, result, i, number(env, values[i])));
  return result;
}

/* address(ring): a number by which another environment can speak of the ring. */
static napi_value address(napi_env env, napi_callback_info info) {
  napi_value argv[8];
  arguments(env, info, argv);
  return number(env, (double)(uintptr_t)to_probe(env, argv[0]));
}

/* at(address): the ring. */
static napi_value at(napi_env env, napi_callback_info info) {
  napi_value argv[8], result;
  double where;
  arguments(env, info, argv);
  MUST(napi_get_value_double(env, argv[0], &where));
  MUST(napi_create_external(env, (void*)(uintptr_t)where, NULL, NULL, &result));
  return result;
}

#define ON_RING(name, call) \
  static napi_value name(napi_env env, napi_callback_info info) { \
    napi_value argv[8]; \
    arguments(env, info, argv); \
    probe_t* probe = to_probe(env, argv[0]); \
    call; \
    return NULL; \
  }

ON_RING(close_ring, millrace_ring_close(probe->ring))
ON_RING(release, millrace_ring_release(probe->ring))
ON_RING(ref, millrace_ring_ref(probe->ring))
ON_RING(unref, millrace_ring_unref(probe->ring))
ON_RING(join, join_threads(probe))

/* oldTable(): what the package would give if its table were of version 0. */
static napi_value old_table(napi_env env, napi_callback_info info) {
  static millrace_api_t table;
  napi_value result;
  (void)info;
  MUST(napi_create_object(env, &result));
  MUST(napi_wrap(env, result, &table, NULL, NULL, NULL));
  MUST(napi_type_tag_object(env, result, &millrace_api_tag));
  return result;
}

NAPI_MODULE_INIT() {
  const struct {
    const char* name;
    napi_callback call;
  } functions[] = {
      {"open", open_ring}, {"produce", start_threads}, {"post", post},   {"stats", stats}, {"address", address},
      {"at", at},          {"flood", start_flood},     {"close", close_ring}, {"ref", ref},     {"unref", unref},
      {"release", release},
      {"join", join},      {"oldTable", old_table},
  };
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
    napi_value function;
    MUST(napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].call, NULL, &function));
    MUST(napi_set_named_property(env, exports, functions[i].name, function));
  }
  return exports;
}
