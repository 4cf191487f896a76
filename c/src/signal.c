/*
 * Signals as events of type SIGNAL. One event is in the user's struct: how often the signal came while that event waits
 * is in its count, what comes while it is with its handlers counts for the next one.
 *
 * The state lives from uv_batch_signal_start() until the callback of uv_batch_signal_stop(), which comes when the
 * handle is closed and the event is over. A start that fails leaves the struct as it was.
 */
#include "adapter.h"

static void ended(const uvb__counted_t* source) {
  if (source->cb.signal != NULL) source->cb.signal(source->owner);
}

static void on_signal(uv_signal_t* handle, int signum) {
  (void)signum;
  uvb__counted_came(uvb__claimed(uvb__of(handle, uv_batch_signal_t, handle)->private_));
}

static void on_over(uv_batch_t* batch, uv_batch_event_t* event, int status) {
  (void)batch, (void)status;
  uvb__counted_over(uvb__claimed(uvb__of(event, uv_batch_signal_t, event)->private_));
}

static void free_handle(uv_handle_t* handle) {
  uvb__free(handle);
}

static void ignore(uv_signal_t* handle, int signum) {
  (void)handle, (void)signum;
}

/* Tries on a handle of our own whether the signal is available: closing one takes a turn, and the user's
 * struct must not stay in use after a start that failed. Once one handle has the signal, another can have it as
 * well. */
static int try_signal(uv_loop_t* loop, uv_signal_t** tried, int signum) {
  uv_signal_t* handle = *tried = uvb__malloc(sizeof(*handle));
  if (handle == NULL) return UV_ENOMEM;
  int status = uv_signal_init(loop, handle);
  if (status != 0) {
    uvb__free(handle);
    return status;
  }
  status = uv_signal_start(handle, ignore, signum);
  if (status != 0) uv_close((uv_handle_t*)handle, free_handle);
  return status;
}

int uv_batch_signal_start(uv_batch_t* batch, uv_batch_signal_t* signal, int signum) {
  if (batch == NULL || signal == NULL) return UV_EINVAL;
  const uvb__counted_t source = {batch, signal, signal->private_, &signal->event, &signal->count,
                                 (uv_handle_t*)&signal->handle, .ended = ended};
  uv_signal_t* tried;
  int status = uvb__adapt_check(batch, signal->private_);
  if (status == 0) status = try_signal(batch->loop, &tried, signum);
  if (status != 0) return status;
  status = uvb__counted_start(&source, UV_BATCH_SIGNAL, on_over);
  if (status == 0) {
    signal->batch = batch;
    signal->signum = signum;
    uv_signal_init(batch->loop, &signal->handle);
    uv_signal_start(&signal->handle, on_signal, signum);
  }
  uv_close((uv_handle_t*)tried, free_handle);
  return status;
}

int uv_batch_signal_stop(uv_batch_signal_t* signal, uv_batch_signal_cb cb) {
  uvb__counted_t* source = signal == NULL ? NULL : uvb__claimed(signal->private_);
  int status = uvb__counted_stop(source);
  if (status == 0) source->cb.signal = cb;
  return status;
}
