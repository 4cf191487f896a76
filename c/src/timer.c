/*
 * Timers as events of type TIMER, counted as signals are: a timer that runs out again while its event waits raises the
 * count of that event.
 *
 * The state lives from uv_batch_timer_start() until the callback of uv_batch_timer_stop(), also for a timer that does
 * not repeat.
 */
#include "adapter.h"

static void ended(const uvb__counted_t* source) {
  if (source->cb.timer != NULL) source->cb.timer(source->owner);
}

static void on_timer(uv_timer_t* handle) {
  uvb__counted_came(uvb__claimed(uvb__of(handle, uv_batch_timer_t, handle)->private_));
}

static void on_over(uv_batch_t* batch, uv_batch_event_t* event, int status) {
  (void)batch, (void)status;
  uvb__counted_over(uvb__claimed(uvb__of(event, uv_batch_timer_t, event)->private_));
}

int uv_batch_timer_start(uv_batch_t* batch, uv_batch_timer_t* timer, uint64_t timeout, uint64_t repeat) {
  if (batch == NULL || timer == NULL) return UV_EINVAL;
  const uvb__counted_t source = {batch, timer, timer->private_, &timer->event, &timer->count,
                                 (uv_handle_t*)&timer->handle, .ended = ended};
  int status = uvb__counted_start(&source, UV_BATCH_TIMER, on_over);
  if (status != 0) return status;
  timer->batch = batch;
  uv_timer_init(batch->loop, &timer->handle);
  uv_timer_start(&timer->handle, on_timer, timeout, repeat);
  return 0;
}

int uv_batch_timer_stop(uv_batch_timer_t* timer, uv_batch_timer_cb cb) {
  uvb__counted_t* source = timer == NULL ? NULL : uvb__claimed(timer->private_);
  int status = uvb__counted_stop(source);
  if (status == 0) source->cb.timer = cb;
  return status;
}
