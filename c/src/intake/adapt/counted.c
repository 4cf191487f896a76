#include "intake/adapt/counted.h"

#include <limits.h>

static unsigned int sum(unsigned int a, unsigned int b) {
  return a > UINT_MAX - b ? UINT_MAX : a + b;
}

static void offer(uvb__counted_t* source) {
  unsigned int count = source->since;
  int status;
  if (count == 0) return;
  /* Before the push: under the policy `direct` the event is over when it returns. */
  source->since = 0;
  *source->count = count;
  source->out = true;
  status = uvb__adapt_push(source->batch, source->event);
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
  if (source->closed && !source->out) source->ended(source);
}

void uvb__counted_init(uvb__counted_t* source, uv_batch_t* batch, uv_batch_event_t* event, unsigned int* count,
                       uv_handle_t* handle) {
  source->waiter.retry = retry;
  source->batch = batch;
  source->event = event;
  source->count = count;
  source->handle = handle;
  *count = 0;
}

void uvb__counted_came(uvb__counted_t* source) {
  if (source->out && source->event->status == UV_BATCH_STATUS_QUEUED) {
    *source->count = sum(*source->count, 1);
    return;
  }
  /* An event that has left may have been read already: this time counts for the next one. */
  source->since = sum(source->since, 1);
  if (!source->out) offer(source);
}

void uvb__counted_over(uvb__counted_t* source) {
  source->out = false;
  if (source->stopped) {
    end_if_over(source);
  } else {
    offer(source);
  }
}

static void on_awaited(uvb__await_t* await) {
  uvb__counted_closed(uvb__of(await, uvb__counted_t, await));
}

void uvb__counted_stop(uvb__counted_t* source, uv_close_cb closed) {
  source->stopped = true;
  source->since = 0;
  uvb__stop_waiting(&source->waiter);
  if (source->out) uv_batch_cancel(source->batch, source->event);
  if (uv_is_closing(source->handle)) uvb__await(&source->await, source->handle, on_awaited);
  else uv_close(source->handle, closed);
}

void uvb__counted_closed(uvb__counted_t* source) {
  source->closed = true;
  end_if_over(source);
}
