/* Rings for the addons of others: records of their threads to a JavaScript function of theirs. See millrace.h. */
#ifndef _WIN32
#include <dlfcn.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "addon.h"
#include "millrace.h"
#include "ring_queue.h"

enum {
  default_capacity = 16384,
  default_max_batch = 1024,
  large_batch = 64,
  looks_in_vain = 64, /* turns of the loop: some 100 microseconds */
  largest_record = 65536,
  largest_capacity = 1 << 24,
};
static const uint64_t largest_buffer = 1 << 30;

typedef struct {
  millrace_ring_t head; /* what users see */
  ring_queue_t queue;
  atomic_uint_fast32_t references; /* of users; all together hold the memory once */
  atomic_uint_fast32_t holds;      /* of the memory: users, the loop, the ArrayBuffer */
  uv_mutex_t lock;
  int wakeable; /* under the lock: `async` is open */
  uv_async_t async;
  uv_timer_t timer;
  int handles; /* that are not closed yet */
  /* The rest belongs to the thread of the loop. */
  int delivering;
  int ended; /* no JavaScript can run any more */
  uint32_t max_batch;
  uint32_t in_vain; /* looks, one after the other, at a place that is claimed */
  napi_env env;
  millrace_callee_t callee;
  napi_ref buffer;
  napi_async_cleanup_hook_handle hook;
  void (*closed)(napi_env env, void* data);
  void* data;
} ring_t;

static ring_t* of(millrace_ring_t* ring) {
  return (ring_t*)ring;
}

/* Only the memory: everything else has gone before. */
static void let_go(ring_t* ring) {
  if (atomic_fetch_sub(&ring->holds, 1) > 1) return;
  ring_queue_destroy(&ring->queue);
  uv_mutex_destroy(&ring->lock);
  free(ring);
}

static void wake(ring_t* ring) {
  /* Against the end of the loop. It is taken once for each change from idle to busy, so nobody waits for it. */
  uv_mutex_lock(&ring->lock);
  if (ring->wakeable) uv_async_send(&ring->async);
  uv_mutex_unlock(&ring->lock);
}

/* ---- any thread */

static int post(millrace_ring_t* public, const void* records, size_t count) {
  ring_t* ring = of(public);
  if (count == 0) return 0;
  if (count > ring->queue.capacity) return MILLRACE_INVALID;
  int status = ring_queue_post(&ring->queue, records, count);
  if (status != ring_wakes) return status;
  wake(ring);
  return 0;
}

_Static_assert((int)ring_full == MILLRACE_FULL && (int)ring_closed == MILLRACE_CLOSED, "a post returns these codes");

static void close_ring(millrace_ring_t* ring) {
  if (ring_queue_close(&of(ring)->queue)) wake(of(ring));
}

static void acquire(millrace_ring_t* ring) {
  atomic_fetch_add_explicit(&of(ring)->references, 1, memory_order_relaxed);
}

static void release(millrace_ring_t* ring) {
  if (atomic_fetch_sub(&of(ring)->references, 1) > 1) return;
  close_ring(ring);
  let_go(of(ring));
}

/* ---- the thread of the loop */

static void deliver(ring_t* ring, uint32_t first, uint32_t count) {
  napi_env env = ring->env;
  napi_handle_scope scope;
  napi_value arguments[3];
  if (napi_open_handle_scope(env, &scope) != napi_ok) return;
  if (napi_get_reference_value(env, ring->buffer, &arguments[0]) == napi_ok &&
      napi_create_uint32(env, first, &arguments[1]) == napi_ok &&
      napi_create_uint32(env, count, &arguments[2]) == napi_ok) {
    millrace_callee_call(&ring->callee, 3, arguments);
  }
  napi_close_handle_scope(env, scope);
}

static void tell_closed(ring_t* ring) {
  napi_env env = ring->env;
  napi_handle_scope scope;
  napi_callback_scope callback_scope = NULL;
  if (ring->closed == NULL || napi_open_handle_scope(env, &scope) != napi_ok) return;
  /* So that promises that it settles are heard of; with no JavaScript to run there are none. */
  if (!ring->ended && napi_open_callback_scope(env, NULL, ring->callee.context, &callback_scope) != napi_ok) {
    callback_scope = NULL;
  }
  ring->closed(env, ring->data);
  millrace_report(env);
  if (callback_scope != NULL) napi_close_callback_scope(env, callback_scope);
  napi_close_handle_scope(env, scope);
}

static void on_handle_closed(uv_handle_t* handle) {
  ring_t* ring = handle->data;
  if (--ring->handles > 0) return;
  tell_closed(ring);
  napi_delete_reference(ring->env, ring->buffer);
  millrace_callee_close(&ring->callee);
  napi_remove_async_cleanup_hook(ring->hook);
  let_go(ring);
}

static void finish(ring_t* ring) {
  uv_mutex_lock(&ring->lock);
  int open = ring->wakeable;
  ring->wakeable = 0;
  uv_mutex_unlock(&ring->lock);
  if (!open) return;
  uv_close((uv_handle_t*)&ring->async, on_handle_closed);
  uv_close((uv_handle_t*)&ring->timer, on_handle_closed);
}

static void on_timer(uv_timer_t* timer);

/* A thread is in the middle of a post. That takes it nanoseconds, unless it has been stopped there, by the scheduler
 * for milliseconds or by a debugger for ever: then the loop must not turn all the while. */
static void look_again(ring_t* ring) {
  if (ring->in_vain++ < looks_in_vain) uv_async_send(&ring->async);
  else uv_timer_start(&ring->timer, on_timer, 1, 0);
}

/* What comes while a large batch is delivered gathers for the next turn. After a small one it is taken at once, as a
 * turn would cost more than the batch; and so is the rest of a batch that was cut where the buffer ends. */
static void on_wake(uv_async_t* async) {
  ring_t* ring = async->data;
  /* The callback runs the loop itself, as some addons can: the batch in its hands is not delivered twice. */
  if (ring->delivering) return;
  ring->delivering = 1;
  uint32_t left = ring->max_batch;
  while (left > 0 && !ring->ended) {
    uint32_t first;
    uint32_t count = ring_queue_ready(&ring->queue, left, &first);
    if (count == 0) break;
    deliver(ring, first, count);
    ring_queue_free(&ring->queue, count);
    left -= count;
    ring->in_vain = 0;
    if (count >= large_batch && first + count < ring->queue.capacity) break;
  }
  ring->delivering = 0;
  if (ring->ended) return;
  if (ring_queue_finished(&ring->queue)) {
    finish(ring);
    return;
  }
  int state = ring_queue_sleep(&ring->queue);
  if (state == ring_more) uv_async_send(async);
  else if (state == ring_claimed) look_again(ring);
}

static void on_timer(uv_timer_t* timer) {
  on_wake(&((ring_t*)timer->data)->async);
}

/* The environment ends. What is still in the ring is lost: there is nobody to take it. */
static void on_environment_end(napi_async_cleanup_hook_handle hook, void* data) {
  ring_t* ring = data;
  (void)hook;
  ring->ended = 1;
  ring_queue_close(&ring->queue);
  finish(ring);
}

static void ref(millrace_ring_t* ring) {
  if (of(ring)->wakeable) uv_ref((uv_handle_t*)&of(ring)->async);
}

static void unref(millrace_ring_t* ring) {
  if (of(ring)->wakeable) uv_unref((uv_handle_t*)&of(ring)->async);
}

static void on_buffer_gone(napi_env env, void* records, void* ring) {
  (void)env;
  (void)records;
  let_go(ring);
}

/* Threads may post when the worker that opened the ring has ended, and Node unloads what only workers loaded. */
static void stay_loaded(void) {
#ifdef _WIN32
  HMODULE self;
  DWORD flags = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
  GetModuleHandleExA(flags, (LPCSTR)&stay_loaded, &self);
#else
  Dl_info self;
  if (dladdr((void*)(uintptr_t)&stay_loaded, &self) == 0) return;
  dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}

static uint32_t power_of_two(uint32_t least) {
  uint32_t power = 1;
  while (power < least) power *= 2;
  return power;
}

static const millrace_api_t api;

/* A ring with its two places in memory and without anything of the environment; NULL when there is no memory. */
static ring_t* allocate(const millrace_ring_options_t* options, uint32_t capacity) {
  ring_t* ring = calloc(1, sizeof(*ring));
  if (ring == NULL) return NULL;
  if (ring_queue_init(&ring->queue, options->record_size, capacity) != 0) {
    free(ring);
    return NULL;
  }
  if (uv_mutex_init(&ring->lock) != 0) {
    ring_queue_destroy(&ring->queue);
    free(ring);
    return NULL;
  }
  ring->head.api = &api;
  ring->max_batch = options->max_batch > 0 ? options->max_batch : default_max_batch;
  ring->closed = options->closed;
  ring->data = options->data;
  atomic_store(&ring->references, 1);
  atomic_store(&ring->holds, 1);
  return ring;
}

/* Takes from the environment what the ring needs. What it got before a failure stays for give_back(). */
static int attach(ring_t* ring, napi_value callback) {
  napi_env env = ring->env;
  napi_value buffer;
  uv_loop_t* loop;
  size_t bytes = ring->queue.record_size * (size_t)ring->queue.capacity;
  /* Counted before: the finalizer may run as soon as there is a buffer. */
  atomic_fetch_add(&ring->holds, 1);
  if (napi_create_external_arraybuffer(env, ring->queue.records, bytes, on_buffer_gone, ring, &buffer) != napi_ok) {
    atomic_fetch_sub(&ring->holds, 1);
    return 0;
  }
  if (napi_create_reference(env, buffer, 1, &ring->buffer) != napi_ok ||
      !millrace_callee_open(env, &ring->callee, millrace_callee_bind(env, callback), "millrace_ring") ||
      napi_add_async_cleanup_hook(env, on_environment_end, ring, &ring->hook) != napi_ok) {
    return 0;
  }
  /* The last: a handle of libuv cannot be taken back at once. */
  if (napi_get_uv_event_loop(env, &loop) != napi_ok || uv_async_init(loop, &ring->async, on_wake) != 0) return 0;
  uv_timer_init(loop, &ring->timer); /* cannot fail */
  uv_unref((uv_handle_t*)&ring->timer);
  ring->async.data = ring->timer.data = ring;
  ring->handles = 2;
  ring->wakeable = 1;
  atomic_fetch_add(&ring->holds, 1);
  return 1;
}

static void give_back(ring_t* ring) {
  if (ring->hook != NULL) napi_remove_async_cleanup_hook(ring->hook);
  millrace_callee_close(&ring->callee);
  if (ring->buffer != NULL) napi_delete_reference(ring->env, ring->buffer);
  let_go(ring);
}

static int options_are_valid(const millrace_ring_options_t* options) {
  for (size_t i = 0; i < sizeof(options->reserved) / sizeof(options->reserved[0]); i++) {
    if (options->reserved[i] != NULL) return 0;
  }
  return options->reserved_number == 0 && options->record_size >= 1 && options->record_size <= largest_record &&
         options->capacity <= largest_capacity;
}

static int open_ring(napi_env env, const millrace_ring_options_t* options, napi_value callback,
                     millrace_ring_t** result) {
  napi_valuetype type;
  *result = NULL;
  if (!options_are_valid(options)) return MILLRACE_INVALID;
  uint32_t capacity = power_of_two(options->capacity > 0 ? options->capacity : default_capacity);
  if ((uint64_t)capacity * options->record_size > largest_buffer) return MILLRACE_INVALID;
  if (napi_typeof(env, callback, &type) != napi_ok) return MILLRACE_FAILED;
  if (type != napi_function) return MILLRACE_INVALID;
  ring_t* ring = allocate(options, capacity);
  if (ring == NULL) return MILLRACE_NO_MEMORY;
  ring->env = env;
  if (!attach(ring, callback)) {
    give_back(ring);
    return MILLRACE_FAILED;
  }
  stay_loaded();
  *result = &ring->head;
  return 0;
}

static const millrace_api_t api = {
    .version = MILLRACE_API_VERSION,
    .ring_open = open_ring,
    .ring_post = post,
    .ring_acquire = acquire,
    .ring_release = release,
    .ring_close = close_ring,
    .ring_ref = ref,
    .ring_unref = unref,
};

/* An object that only millrace_api() in the addon of somebody else can read. */
int millrace_ring_register(napi_env env, napi_value exports) {
  napi_value value;
  return millrace_ok(env, napi_create_object(env, &value)) &&
         millrace_ok(env, napi_wrap(env, value, (void*)(uintptr_t)&api, NULL, NULL, NULL)) &&
         millrace_ok(env, napi_type_tag_object(env, value, &millrace_api_tag)) &&
         millrace_ok(env, napi_object_freeze(env, value)) &&
         millrace_ok(env, napi_set_named_property(env, exports, "threads", value));
}
