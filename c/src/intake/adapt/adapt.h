/* What the adapters share. The state of a running adapter is on the heap; the user's struct points to it. */
#ifndef UVB_ADAPT_H
#define UVB_ADAPT_H

#include <stdbool.h>
#include <stddef.h>

#include "closer.h"
#include "dispatch/room.h"
#include "uv_batch.h"

/* A struct is in use while the first of its private slots points to that slot itself, which leftovers in memory never
 * do. The second slot is the state. */
static inline void uvb__claim(void* slots[], void* state) {
  slots[0] = slots;
  slots[1] = state;
}

static inline void uvb__give_up(void* slots[]) {
  slots[0] = NULL;
  slots[1] = NULL;
}

static inline void* uvb__claimed(void* const slots[]) {
  return slots[0] == (const void*)slots ? slots[1] : NULL;
}

/* Pieces of memory of one size, kept for reuse. */
typedef struct {
  void* first;
  size_t size;
} uvb__pool_t;

/* Makes sure that the next uvb__pool_get() succeeds; false: there is no memory. */
bool uvb__pool_reserve(uvb__pool_t* pool);
/* NULL: there is no memory. */
void* uvb__pool_get(uvb__pool_t* pool);
void uvb__pool_put(uvb__pool_t* pool, void* piece);
void uvb__pool_free(uvb__pool_t* pool);

/* Checks that an adapter can be started on the queue: 0, UV_EINVAL or UV_ESHUTDOWN. */
int uvb__adapt_check(const uv_batch_t* batch);

/* uv_batch_push(), but the queue may be over for good: then UV_ESHUTDOWN. */
int uvb__adapt_push(uv_batch_t* batch, uv_batch_event_t* event);

/* The same, or waits for room to try again; false: the queue is over, and the event stays its owner's. */
bool uvb__adapt_offer(uv_batch_t* batch, uv_batch_event_t* event, uvb__waiter_t* waiter);

#endif
