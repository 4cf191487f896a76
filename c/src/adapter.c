/*
 * The adapters share this. An adapter turns what a handle of libuv reports into events of a queue. Its struct is the
 * user's; its state, on the heap, is in use from the start until the callback of the stop. An adapter pushes by itself,
 * so nobody is there to see that the queue is full: it keeps the refused event, stops its source where that is
 * possible, and waits for room.
 *
 * The queue serves those who wait, in order, at the end of a call that made room. Each gets one try; afterwards what it
 * kept back is in the queue, or it waits again, behind the others. A queue that ends gives each a last try, which
 * fails. Only the functions here change the list of those who wait.
 *
 * The queue of a running adapter may be over, and its memory freed. So the table of addresses is asked before each
 * push.
 */
#include "adapter.h"

#include <limits.h>

/* ---- waiting for room */

void uvb__wait_for_room(uv_batch_t* batch, uvb__waiter_t* waiter) {
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || core->closing == uvb__closed || waiter->core != NULL) return;
  waiter->core = core;
  UVB__APPEND(core->first_waiter, core->last_waiter, waiter, next, prev);
  core->waiting++;
}

void uvb__stop_waiting(uvb__waiter_t* waiter) {
  uvb__core_t* core = waiter->core;
  if (core == NULL) return;
  UVB__REMOVE(core->first_waiter, core->last_waiter, waiter, next, prev);
  core->waiting--;
  waiter->core = NULL;
}

void uvb__run_waiters(uvb__core_t* core, bool all) {
  for (size_t tries = core->waiting; tries > 0 && core->first_waiter != NULL; tries--) {
    if (!all && core->queue.count >= core->options.max_queue) return;
    uvb__waiter_t* waiter = core->first_waiter;
    uvb__stop_waiting(waiter);
    waiter->retry(waiter);
  }
}

/* ---- pushing */

int uvb__adapt_check(const uv_batch_t* batch, void* const slots[]) {
  if (uvb__attached(batch, UVB__ATTACH_BATCH) == NULL || uv_batch_is_closing(batch)) return UV_ESHUTDOWN;
  return uvb__in_use(slots) ? UV_EBUSY : 0;
}

int uvb__adapt_push(uv_batch_t* batch, uv_batch_event_t* event) {
  if (uvb__attached(batch, UVB__ATTACH_BATCH) == NULL) return UV_ESHUTDOWN;
  return uv_batch_push(batch, event);
}

bool uvb__adapt_offer(uv_batch_t* batch, uv_batch_event_t* event, uvb__waiter_t* waiter) {
  int status = uvb__adapt_push(batch, event);
  if (status == UV_ENOBUFS) uvb__wait_for_room(batch, waiter);
  return status == 0 || status == UV_ENOBUFS;
}

/* ---- pieces of memory */

bool uvb__pool_reserve(uvb__pool_t* pool) {
  if (pool->first != NULL) return true;
  void* piece = uvb__malloc(pool->size);
  if (piece == NULL) return false;
  uvb__pool_put(pool, piece);
  return true;
}

void* uvb__pool_get(uvb__pool_t* pool) {
  if (!uvb__pool_reserve(pool)) return NULL;
  void* piece = pool->first;
  pool->first = *(void**)piece;
  return piece;
}

void uvb__pool_put(uvb__pool_t* pool, void* piece) {
  *(void**)piece = pool->first;
  pool->first = piece;
}

void uvb__pool_free(uvb__pool_t* pool) {
  while (pool->first != NULL) uvb__free(uvb__pool_get(pool));
}

/* ---- a source that is counted */

static unsigned int one_more(unsigned int count) {
  return count == UINT_MAX ? count : count + 1;
}

static void offer(uvb__counted_t* source) {
  unsigned int count = source->since;
  if (count == 0) return;
  /* Before the push: under the policy `direct` the event is over when it returns. */
  source->since = 0;
  *source->count = count;
  source->out = true;
  int status = uvb__adapt_push(source->batch, source->event);
  if (status == 0) return;
  source->out = false;
  if (status != UV_ENOBUFS) return;
  source->since = count;
  uvb__wait_for_room(source->batch, &source->waiter);
}

static void retry(uvb__waiter_t* waiter) {
  offer(uvb__of(waiter, uvb__counted_t, waiter));
}

static void end_if_over(uvb__counted_t* source) {
  if (!source->closed || source->out) return;
  uvb__counted_t last = *source;
  uvb__give_up(last.slots);
  uvb__free(source);
  last.ended(&last);
}

static void on_closed(uvb__ending_t* ending) {
  uvb__counted_t* source = uvb__of(ending, uvb__counted_t, ending);
  source->closed = true;
  end_if_over(source);
}

int uvb__counted_start(const uvb__counted_t* source, int type, uv_batch_event_cb over) {
  int status = uvb__adapt_check(source->batch, source->slots);
  if (status != 0) return status;
  uvb__counted_t* state = uvb__malloc(sizeof(*state));
  if (state == NULL) return UV_ENOMEM;
  *state = *source;
  state->waiter.retry = retry;
  uv_batch_event_init(state->event, type, state->owner);
  state->event->callback = over;
  *state->count = 0;
  uvb__claim(state->slots, state);
  return 0;
}

void uvb__counted_came(uvb__counted_t* source) {
  if (source->out && source->event->status == UV_BATCH_STATUS_QUEUED) {
    *source->count = one_more(*source->count);
    return;
  }
  /* An event that has left may have been read already: this time counts for the next one. */
  source->since = one_more(source->since);
  if (!source->out) offer(source);
}

void uvb__counted_over(uvb__counted_t* source) {
  source->out = false;
  if (source->stopped) end_if_over(source);
  else offer(source);
}

int uvb__counted_stop(uvb__counted_t* source) {
  if (source == NULL) return UV_EINVAL;
  if (source->stopped) return UV_EALREADY;
  source->stopped = true;
  source->since = 0;
  uvb__stop_waiting(&source->waiter);
  if (source->out) uv_batch_cancel(source->batch, source->event);
  uvb__end_handle(&source->ending, source->handle, on_closed);
  return 0;
}
