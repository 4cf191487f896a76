/*
 * Timers as events of type TIMER, counted as signals are: a timer that runs out again while its event waits raises the
 * count of that event.
 *
 * The state lives from uv_batch_timer_start() until the callback of uv_batch_timer_stop(), also for a timer that does
 * not repeat.
 */
#include "adapter.h"

typedef struct {
  uvb__counted_t source;
  uv_batch_timer_t* timer;
  uv_batch_timer_cb cb;
} state_t;

static state_t* state_of(const uv_batch_timer_t* timer) {
  return uvb__claimed(timer->private_);
}

static void ended(uvb__counted_t* source) {
  state_t* state = uvb__of(source, state_t, source);
  uv_batch_timer_t* timer = state->timer;
  uv_batch_timer_cb cb = state->cb;
  uvb__give_up(timer->private_);
  uvb__free(state);
  if (cb != NULL) cb(timer);
}

static void on_timer(uv_timer_t* handle) {
  uvb__counted_came(&state_of(uvb__of(handle, uv_batch_timer_t, handle))->source);
}

static void on_over(uv_batch_t* batch, uv_batch_event_t* event, int status) {
  (void)batch, (void)status;
  uvb__counted_over(&state_of(uvb__of(event, uv_batch_timer_t, event))->source);
}

int uv_batch_timer_start(uv_batch_t* batch, uv_batch_timer_t* timer, uint64_t timeout, uint64_t repeat) {
  if (batch == NULL || timer == NULL) return UV_EINVAL;
  int status = uvb__adapt_check(batch, timer->private_);
  if (status != 0) return status;
  state_t* state = uvb__calloc(1, sizeof(*state));
  if (state == NULL) return UV_ENOMEM;
  state->timer = timer;
  state->source.ended = ended;
  uvb__counted_init(&state->source, batch, &timer->event, &timer->count, (uv_handle_t*)&timer->handle);
  uv_batch_event_init(&timer->event, UV_BATCH_TIMER, timer);
  timer->event.callback = on_over;
  timer->batch = batch;
  uvb__claim(timer->private_, state);
  uv_timer_init(batch->loop, &timer->handle);
  uv_timer_start(&timer->handle, on_timer, timeout, repeat);
  return 0;
}

int uv_batch_timer_stop(uv_batch_timer_t* timer, uv_batch_timer_cb cb) {
  state_t* state = timer == NULL ? NULL : state_of(timer);
  if (state == NULL) return UV_EINVAL;
  if (state->source.stopped) return UV_EALREADY;
  state->cb = cb;
  uvb__counted_stop(&state->source);
  return 0;
}
