/* squares.start(api, count, callback): a thread computes squares, and JavaScript gets them in batches. */
#include <millrace.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* What JavaScript reads: 16 bytes. */
typedef struct {
  double root;
  double square;
} record_t;

typedef struct {
  millrace_ring_t* ring;
  pthread_t thread;
  int started;
  uint32_t count;
} work_t;

static void* run(void* argument) {
  work_t* work = argument;
  int status = 0;
  for (uint32_t i = 0; i < work->count && status == 0; i++) {
    record_t record = {i, (double)i * i};
    while ((status = millrace_post(work->ring, &record)) == MILLRACE_FULL) sched_yield();
  }
  /* The last reference: what was posted is delivered, then the ring closes. */
  millrace_ring_release(work->ring);
  return NULL;
}

static void closed(napi_env env, void* data) {
  work_t* work = data;
  (void)env;
  if (work->started) pthread_join(work->thread, NULL);
  free(work);
}

static napi_value fail(napi_env env, const char* message) {
  napi_throw_error(env, NULL, message);
  return NULL;
}

static napi_value start(napi_env env, napi_callback_info info) {
  size_t argc = 3;
  napi_value argv[3];
  const millrace_api_t* api;
  work_t* work = calloc(1, sizeof(*work));
  if (work == NULL) return fail(env, "there is no memory");
  if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok || argc < 3 ||
      napi_get_value_uint32(env, argv[1], &work->count) != napi_ok) {
    free(work);
    return fail(env, "usage: start(api, count, callback)");
  }
  millrace_ring_options_t options = {.record_size = sizeof(record_t), .closed = closed, .data = work};
  int status = millrace_api(env, argv[0], &api);
  if (status == 0) status = millrace_ring_open(api, env, &options, argv[2], &work->ring);
  if (status != 0) {
    free(work);
    return fail(env, millrace_strerror(status));
  }
  /* The reference of the opener goes to the thread. */
  work->started = pthread_create(&work->thread, NULL, run, work) == 0;
  if (work->started) return NULL;
  millrace_ring_release(work->ring);
  return fail(env, "there is no thread");
}

NAPI_MODULE_INIT() {
  napi_value function;
  if (napi_create_function(env, "start", NAPI_AUTO_LENGTH, start, NULL, &function) != napi_ok ||
      napi_set_named_property(env, exports, "start", function) != napi_ok) {
    return NULL;
  }
  return exports;
}
