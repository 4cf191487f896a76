/* Millrace for authors of addons: records from any thread to one JavaScript function, a batch a call.
 *
 * The batched alternative to napi_threadsafe_function. Threads write records of one size into a ring, with
 * millrace_post(); JavaScript sees the ring's memory as one ArrayBuffer, made once, and is called once for all
 * records posted meanwhile: `callback(buffer, first, count)`. Nothing is allocated, copied to JavaScript or called
 * for a single record.
 *
 * Nothing is linked: the functions come from the addon of the package millrace, as a table that JavaScript hands over.
 *
 *     import { api } from 'millrace/threads';       // JavaScript
 *     addon.start(api(), (buffer, first, count) => { ... });
 *
 *     const millrace_api_t* api;                    // C, in start()
 *     int status = millrace_api(env, argv[0], &api);
 *     if (status == 0) status = millrace_ring_open(api, env, &options, argv[1], &ring);
 *
 * Functions return 0 or a negative code. docs/reference/threads.md is the reference. */
#ifndef MILLRACE_H
#define MILLRACE_H

#include <node_api.h>
#include <stddef.h>
#include <stdint.h>

#if NAPI_VERSION < 8
#error "millrace.h needs NAPI_VERSION 8 or newer"
#endif

/* Version of the table. A newer millrace serves addons compiled with an older version. */
#define MILLRACE_API_VERSION 1

enum {
  MILLRACE_FULL = -1,        /* the ring is full, and the record refused. Try again later, drop it, or raise
                                `capacity` */
  MILLRACE_CLOSED = -2,      /* the ring was closed, or its environment has ended: not taken */
  MILLRACE_INVALID = -3,     /* an argument or an option is wrong or out of its range */
  MILLRACE_NO_MEMORY = -4,
  MILLRACE_FAILED = -5,      /* Node-API or libuv refused; the environment may be ending */
  MILLRACE_UNSUPPORTED = -6  /* the package millrace is older than this header */
};

typedef struct millrace_api_s millrace_api_t;

/* Opaque ring, created by millrace_ring_open(). */
typedef struct millrace_ring_s {
  const millrace_api_t* api;
} millrace_ring_t;

/* Options of a ring. Zero the unset fields. */
typedef struct {
  uint32_t record_size; /* bytes; required, from 1 to 65,536. A multiple of 8 suits every typed array */
  uint32_t capacity;    /* records, at most 16,777,216 and 1 GiB; rounded up to a power of two. 0: 16,384 */
  uint32_t max_batch;   /* records in one turn of the loop, at most; more would delay other work. 0: 1,024 */
  uint32_t reserved_number;
  /* Called once, in the thread of the loop, when the last record has been delivered after millrace_ring_close(), or
   * when the environment ends; then records may be lost, and no JavaScript can run. Posts are refused by then: the
   * place to join threads and to free what they use. Not called when the main thread ends the process, by
   * process.exit() or an uncaught error. May be NULL. */
  void (*closed)(napi_env env, void* data);
  void* data; /* for `closed` */
  void* reserved[4];
} millrace_ring_options_t;

/* Table of functions that the wrappers below call. */
struct millrace_api_s {
  uint32_t version;
  int (*ring_open)(napi_env env, const millrace_ring_options_t* options, napi_value callback, millrace_ring_t** ring);
  int (*ring_post)(millrace_ring_t* ring, const void* records, size_t count);
  void (*ring_acquire)(millrace_ring_t* ring);
  void (*ring_release)(millrace_ring_t* ring);
  void (*ring_close)(millrace_ring_t* ring);
  void (*ring_ref)(millrace_ring_t* ring);
  void (*ring_unref)(millrace_ring_t* ring);
};

static const napi_type_tag millrace_api_tag = {0x6d696c6c72616365u, 0x93f1d5c07ae2486bu};

/* Reads the table from the result of api() of 'millrace/threads'. It stays valid until the process ends.
 * MILLRACE_INVALID: the value is something else. MILLRACE_UNSUPPORTED. */
static inline int millrace_api(napi_env env, napi_value value, const millrace_api_t** api) {
  napi_valuetype type;
  bool is = false;
  void* table = NULL;
  *api = NULL;
  if (napi_typeof(env, value, &type) != napi_ok || type != napi_object) return MILLRACE_INVALID;
  if (napi_check_object_type_tag(env, value, &millrace_api_tag, &is) != napi_ok || !is) return MILLRACE_INVALID;
  if (napi_unwrap(env, value, &table) != napi_ok) return MILLRACE_INVALID;
  if (((const millrace_api_t*)table)->version < MILLRACE_API_VERSION) return MILLRACE_UNSUPPORTED;
  *api = (const millrace_api_t*)table;
  return 0;
}

/* Opens a ring, in the thread of the environment. `callback(buffer, first, count)` is called there with `count`
 * records from number `first` of the buffer on, from byte first * record_size; they never wrap around its end. When
 * it has returned, and the ticks and microtasks that it queued have run, their places are free and will be written
 * again: copy data that has to last. An error that it throws is an uncaught exception, as with every callback of
 * Node; the batch counts as delivered, and the next one comes.
 *
 * The caller has the first reference to the ring. Until it is closed the ring keeps the loop alive, as a
 * napi_threadsafe_function does; see millrace_ring_unref().
 *
 * MILLRACE_INVALID, MILLRACE_NO_MEMORY, MILLRACE_FAILED; no JavaScript exception is pending because of it. */
static inline int millrace_ring_open(const millrace_api_t* api, napi_env env, const millrace_ring_options_t* options,
                                     napi_value callback, millrace_ring_t** ring) {
  return api->ring_open(env, options, callback, ring);
}

/* Copies a record into the ring, on any thread that has a reference. Never blocks and never calls JavaScript. The
 * records of one thread arrive in its order. Costs tens of nanoseconds; microseconds for the one that has to wake
 * the loop. MILLRACE_FULL, MILLRACE_CLOSED. */
static inline int millrace_post(millrace_ring_t* ring, const void* record) {
  return ring->api->ring_post(ring, record, 1);
}

/* Copies an array of records into the ring: all, next to each other, or none. More than `capacity` never fit:
 * MILLRACE_INVALID. */
static inline int millrace_post_many(millrace_ring_t* ring, const void* records, size_t count) {
  return ring->api->ring_post(ring, records, count);
}

/* Adds or drops a reference, on any thread. A thread needs one for each ring that it uses: acquired before the
 * thread starts, by a holder of another, and released when it is done. Releasing the last one closes the ring and
 * frees its memory. */
static inline void millrace_ring_acquire(millrace_ring_t* ring) { ring->api->ring_acquire(ring); }
static inline void millrace_ring_release(millrace_ring_t* ring) { ring->api->ring_release(ring); }

/* Refuses later posts, on any thread that has a reference; accepted records are delivered, and then `closed` is
 * called. A second call does nothing. References stay as they are. */
static inline void millrace_ring_close(millrace_ring_t* ring) { ring->api->ring_close(ring); }

/* Sets whether the ring keeps the loop alive, on the thread of the environment. It does by default. */
static inline void millrace_ring_ref(millrace_ring_t* ring) { ring->api->ring_ref(ring); }
static inline void millrace_ring_unref(millrace_ring_t* ring) { ring->api->ring_unref(ring); }

/* Returns a sentence for a code. */
static inline const char* millrace_strerror(int code) {
  switch (code) {
    case 0:
      return "it worked";
    case MILLRACE_FULL:
      return "the ring is full: try again later, or raise its capacity";
    case MILLRACE_CLOSED:
      return "the ring is closed: end the thread that posts";
    case MILLRACE_INVALID:
      return "an argument or an option is wrong: see millrace.h for types and ranges";
    case MILLRACE_NO_MEMORY:
      return "there is no memory: a smaller capacity or record_size takes less";
    case MILLRACE_FAILED:
      return "Node-API or libuv refused: the environment may be ending";
    case MILLRACE_UNSUPPORTED:
      return "the package millrace is older than the millrace.h that this addon was compiled with: update the package";
    default:
      return "no code of millrace";
  }
}

#endif
