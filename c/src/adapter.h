/* The adapters share this. The state of a running adapter is on the heap; the user's struct points to it. See
 * adapter.c. */
#ifndef UVB_ADAPTER_H
#define UVB_ADAPTER_H

#include "engine.h"

/* Pieces of memory of one size, kept for reuse. */
typedef struct {
  void* first;
  size_t size;
} uvb__pool_t;

bool uvb__pool_reserve(uvb__pool_t* pool); /* then the next uvb__pool_get() succeeds; false: there is no memory */
void* uvb__pool_get(uvb__pool_t* pool);    /* NULL: there is no memory */
void uvb__pool_put(uvb__pool_t* pool, void* piece);
void uvb__pool_free(uvb__pool_t* pool);

/* Checks that an adapter can be started on the queue, and that its struct, which has these slots, is not in use: 0,
 * UV_ESHUTDOWN or UV_EBUSY. */
int uvb__adapt_check(const uv_batch_t* batch, void* const slots[]);
/* uv_batch_push(), but the queue may be over for good: then UV_ESHUTDOWN. */
int uvb__adapt_push(uv_batch_t* batch, uv_batch_event_t* event);
/* The same, or waits for room to try again; false: the queue is over, and the event stays its owner's. */
bool uvb__adapt_offer(uv_batch_t* batch, uv_batch_event_t* event, uvb__waiter_t* waiter);

/* A source that says only that something happened, again and again: a signal, a timer. Its one event is in the
 * user's struct; what happens while that cannot be pushed is counted for the next one. */
typedef struct uvb__counted_s uvb__counted_t;
struct uvb__counted_s {
  uv_batch_t* batch;
  void* owner; /* the user's struct, and of that: */
  void** slots;
  uv_batch_event_t* event;
  unsigned int* count;
  uv_handle_t* handle;
  /* Runs once it is stopped, its handle is closed and its event is not with the queue. The struct is the user's again,
   * and this is a copy. */
  void (*ended)(const uvb__counted_t* source);
  /* The callback of the stop. */
  union {
    uv_batch_signal_cb signal;
    uv_batch_timer_cb timer;
  } cb;
  uvb__waiter_t waiter;
  uvb__ending_t ending;
  unsigned int since; /* times that are in no event yet */
  bool out;           /* the event is with the queue */
  bool stopped;
  bool closed;
};

/* The user's struct is in use from here on, and its state is a copy of `source`. `over` calls uvb__counted_over(). What
 * uvb__adapt_check() returns, or UV_ENOMEM. */
int uvb__counted_start(const uvb__counted_t* source, int type, uv_batch_event_cb over);
void uvb__counted_came(uvb__counted_t* source); /* it has happened */
void uvb__counted_over(uvb__counted_t* source); /* the event is over */
/* Closes the handle, and takes the event back with what was counted. UV_EINVAL: `source` is NULL; UV_EALREADY. */
int uvb__counted_stop(uvb__counted_t* source);

#endif
