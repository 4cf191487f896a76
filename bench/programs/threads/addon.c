/* The two arms of the benchmark: threads give numbered events to a JavaScript function, through a ring of millrace or
 * through a napi_threadsafe_function. An event is a thread and a number, eight bytes in both. */
#include <millrace.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { most_threads = 16, most_at_once = 64 };

typedef struct run_s run_t;

typedef struct {
  run_t* run;
  pthread_t thread;
  uint32_t index;
} producer_t;

typedef struct {
  uint32_t number;
  uint32_t thread;
} event_t;

struct run_s {
  int (*post)(run_t* run, const event_t* events, uint32_t count);
  millrace_ring_t* ring;
  napi_threadsafe_function function;
  uint32_t threads;
  uint32_t each;
  uint32_t at_once;              /* events that a thread has at hand when it posts */
  uint32_t burst;                /* 0: as fast as it goes */
  atomic_uint_least32_t handled; /* by JavaScript, which sees it as an Uint32Array */
  producer_t producers[most_threads];
};

static int post_to_ring(run_t* run, const event_t* events, uint32_t count) {
  int status;
  while ((status = count == 1 ? millrace_post(run->ring, events) : millrace_post_many(run->ring, events, count)) ==
         MILLRACE_FULL) {
    sched_yield();
  }
  return status;
}

/* Without a bound it is never full. An event fits into the pointer, so nothing is allocated for it. */
static int post_to_function(run_t* run, const event_t* events, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    void* data = (void*)(uintptr_t)((uint64_t)events[i].thread << 32 | events[i].number);
    if (napi_call_threadsafe_function(run->function, data, napi_tsfn_nonblocking) != napi_ok) return -1;
  }
  return 0;
}

static void* produce(void* argument) {
  producer_t* producer = argument;
  run_t* run = producer->run;
  event_t events[most_at_once];
  for (uint32_t number = 0; number < run->each;) {
    for (uint32_t i = 0; i < run->at_once; i++) events[i] = (event_t){number++, producer->index};
    if (run->post(run, events, run->at_once) != 0) abort();
    if (run->burst > 0 && number % run->burst == 0) {
      while (atomic_load(&run->handled) < number) sched_yield();
    }
  }
  return NULL;
}

/* Everything has been handled, so the threads are at their ends. */
static void end(napi_env env, void* data) {
  run_t* run = data;
  (void)env;
  for (uint32_t i = 0; i < run->threads; i++) pthread_join(run->producers[i].thread, NULL);
}

static void end_function(napi_env env, void* data, void* hint) {
  (void)hint;
  end(env, data);
}

static void call_js(napi_env env, napi_value callback, void* context, void* data) {
  uint64_t event = (uint64_t)(uintptr_t)data;
  napi_value receiver, arguments[2];
  (void)context;
  if (env == NULL) return;
  if (napi_get_undefined(env, &receiver) != napi_ok ||
      napi_create_uint32(env, (uint32_t)(event >> 32), &arguments[0]) != napi_ok ||
      napi_create_uint32(env, (uint32_t)event, &arguments[1]) != napi_ok) {
    abort();
  }
  napi_call_function(env, receiver, callback, 2, arguments, NULL);
}

static void free_run(napi_env env, void* data, void* run) {
  (void)env;
  (void)data;
  free(run);
}

static napi_value fail(napi_env env, const char* message) {
  napi_throw_error(env, NULL, message);
  return NULL;
}

/* start(api or null, callback, threads, each, burst, atOnce): an ArrayBuffer of four bytes, where JavaScript writes how
 * much it has handled. */
static napi_value start(napi_env env, napi_callback_info info) {
  size_t count = 6;
  napi_value argv[6], name, handled;
  napi_valuetype type;
  run_t* run = calloc(1, sizeof(*run));
  if (run == NULL || napi_get_cb_info(env, info, &count, argv, NULL, NULL) != napi_ok || count != 6 ||
      napi_typeof(env, argv[0], &type) != napi_ok || napi_get_value_uint32(env, argv[2], &run->threads) != napi_ok ||
      napi_get_value_uint32(env, argv[3], &run->each) != napi_ok ||
      napi_get_value_uint32(env, argv[4], &run->burst) != napi_ok ||
      napi_get_value_uint32(env, argv[5], &run->at_once) != napi_ok || run->at_once < 1 ||
      run->at_once > most_at_once || run->each % run->at_once != 0 || run->threads > most_threads ||
      napi_create_external_arraybuffer(env, &run->handled, sizeof(run->handled), free_run, run, &handled) != napi_ok) {
    return fail(env, "start(api or null, callback, threads, each, burst, atOnce)");
  }
  if (type == napi_null) {
    run->post = post_to_function;
    if (napi_create_string_utf8(env, "bench", NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_create_threadsafe_function(env, argv[1], NULL, name, 0, 1, run, end_function, run, call_js,
                                        &run->function) != napi_ok) {
      return fail(env, "there is no threadsafe function");
    }
  } else {
    const millrace_api_t* api;
    millrace_ring_options_t options = {.record_size = sizeof(event_t), .closed = end, .data = run};
    run->post = post_to_ring;
    int status = millrace_api(env, argv[0], &api);
    if (status == 0) status = millrace_ring_open(api, env, &options, argv[1], &run->ring);
    if (status != 0) return fail(env, millrace_strerror(status));
  }
  for (uint32_t i = 0; i < run->threads; i++) {
    run->producers[i].run = run;
    run->producers[i].index = i;
    if (pthread_create(&run->producers[i].thread, NULL, produce, &run->producers[i]) != 0) abort();
  }
  return handled;
}

/* stop(handled): when everything has been handled. */
static napi_value stop(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value handled;
  void* memory;
  if (napi_get_cb_info(env, info, &count, &handled, NULL, NULL) != napi_ok ||
      napi_get_arraybuffer_info(env, handled, &memory, NULL) != napi_ok) {
    return fail(env, "stop(handled)");
  }
  run_t* run = (run_t*)((char*)memory - offsetof(run_t, handled));
  if (run->ring != NULL) millrace_ring_release(run->ring);
  else napi_release_threadsafe_function(run->function, napi_tsfn_release);
  return NULL;
}

NAPI_MODULE_INIT() {
  napi_value function;
  if (napi_create_function(env, "start", NAPI_AUTO_LENGTH, start, NULL, &function) != napi_ok ||
      napi_set_named_property(env, exports, "start", function) != napi_ok ||
      napi_create_function(env, "stop", NAPI_AUTO_LENGTH, stop, NULL, &function) != napi_ok ||
      napi_set_named_property(env, exports, "stop", function) != napi_ok) {
    return NULL;
  }
  return exports;
}
